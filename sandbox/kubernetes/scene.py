"""Setting the scene: a description becomes a world at rest."""

import uuid
from dataclasses import replace

from sandbox.kubernetes import control, helm, kubelets, node_status, workloads
from sandbox.kubernetes.documents import Doc
from sandbox.kubernetes.machines import Card, Machine
from sandbox.kubernetes.ownership import Writer
from sandbox.kubernetes.plans import BudgetPlan, DaemonSetPlan, NodePlan, PodPlan
from sandbox.kubernetes.resources import BUDGETS, DAEMON_SETS, NAMESPACES, NODES, PODS
from sandbox.kubernetes.storing import added, with_status
from sandbox.kubernetes.world import Knobs, World

STANDARD: Doc = {
    "nodes": [
        {"name": "gpu-1"},
        {"name": "gpu-2"},
        {"name": "gpu-3"},
        {"name": "cpu-1", "schedule": ""},
    ],
    "daemonsets": [{"name": "cgpu-installer", "policy": "1"}],
    "helm": {"policy": 1},
}


def build(description: Doc) -> World:
    """A world with everything described in it, settled: {version, nodes, daemonsets, pods,
    budgets, helm, namespaces, and the knobs pace, paused, taints}; unknown names raise TypeError.
    """
    scene = dict(description)
    knobs = {name: scene.pop(name) for name in ("pace", "paused", "taints") if name in scene}
    world = World()
    if "version" in scene:
        world.api.git_version = scene.pop("version")
    for name in scene.pop("namespaces", []):
        added(world.store, NAMESPACES, {"metadata": {"name": name}})
    nodes = [NodePlan(**one) for one in scene.pop("nodes", [])]
    pods = [PodPlan(**one) for one in scene.pop("pods", [])]
    world.knobs = Knobs(**{**knobs, "paused": False})
    for node in nodes:
        add_nodes(world, node)
    for one in scene.pop("daemonsets", []):
        add_daemon_set(world, DaemonSetPlan(**one))
    control.settle(world)
    for node in nodes:
        _set_policies(world, node)
    for pod in pods:
        add_pods(world, pod)
    for one in scene.pop("budgets", []):
        added(world.store, BUDGETS, BudgetPlan(**one).document())
    release = scene.pop("helm", None)
    if release is not None:
        helm.install(world, helm.Release(**release))
    if scene:
        raise TypeError(f"a scene has no {', '.join(scene)}")
    control.settle(world)
    world.knobs.paused = bool(knobs.get("paused"))
    return world


def add_nodes(world: World, plan: NodePlan) -> None:
    for one in _each(plan):
        machine = Machine(name=one.name, broken=not one.module, up=one.ready)
        machine.cards = [Card(max_inst=one.max_inst) for _ in range(one.cards_here())]
        world.machines[one.name] = machine
        spec: Doc = {"providerID": f"cn-hongkong.i-{one.name}"}
        if one.unschedulable:
            spec["unschedulable"] = True
        notes = {"node.alpha.kubernetes.io/ttl": "0", **one.annotations}
        metadata = {"name": one.name, "labels": one.all_labels(), "annotations": notes}
        status = node_status.first(machine, one.amounts(), one.kubelet)
        added(world.store, NODES, {"metadata": metadata, "spec": spec, "status": status})


def _each(plan: NodePlan) -> list[NodePlan]:
    if plan.count == 1:
        return [plan]
    return [replace(plan, name=f"{plan.name}-{n}", count=1) for n in range(1, plan.count + 1)]


def _set_policies(world: World, plan: NodePlan) -> None:
    """What was loaded before the present POLICY was set."""
    if plan.policy is None:
        return
    for one in _each(plan):
        cards = world.machines[one.name].cards
        given = plan.policy if isinstance(plan.policy, list) else [plan.policy] * len(cards)
        for card, policy in zip(cards, given, strict=True):
            card.policy = policy


def add_daemon_set(world: World, plan: DaemonSetPlan) -> None:
    added(world.store, DAEMON_SETS, plan.document(), Writer(plan.manager))


def add_pods(world: World, plan: PodPlan) -> list[str]:
    """The pods of a plan; those with a node run at once. Their names."""
    names = []
    for number in range(1, plan.count + 1):
        name = plan.name if plan.count == 1 else f"{plan.name}-{number}"
        names.append(name)
        metadata: Doc = {"name": name, "namespace": plan.namespace, "labels": dict(plan.labels)}
        metadata["annotations"] = plan.all_annotations()
        if plan.owner:
            metadata["ownerReferences"] = [_owner(plan)]
        container: Doc = {"name": "main", "image": "registry/train:1.0"}
        container["resources"] = {"limits": plan.limits()} if plan.limits() else {}
        if plan.weight:
            weight = {"name": "ALIYUN_COM_GPU_SCHD_WEIGHT", "value": str(plan.weight)}
            container["env"] = [weight]
        spec: Doc = {"containers": [container]}
        if plan.node:
            spec["nodeName"] = plan.node
        pod = added(world.store, PODS, {"metadata": metadata, "spec": spec})
        workloads.own(world, pod)
        if plan.node and world.machines[plan.node].up:
            with_status(world.store, PODS, pod, kubelets.running(pod, ready=plan.ready))
    return names


def _owner(plan: PodPlan) -> Doc:
    kind, _, name = plan.owner.partition("/")
    group = "batch/v1" if kind == "Job" else "apps/v1"
    uid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{plan.namespace}/{plan.owner}"))
    owner = {"apiVersion": group, "kind": kind, "name": name, "uid": uid}
    return {**owner, "controller": True, "blockOwnerDeletion": True}
