"""What a look adds to what is remembered: which policy each node's module has loaded.

A module reads POLICY once, when it is loaded; so its policy is known where it was read, where the
node booted or was made under a setting that did not change meanwhile, and nowhere else. A node that
is merely Ready again proves nothing: the boot id does (facts/cgpu.md, finding 10).
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from domain.cgpu import read_policy
from domain.cgpu_cluster import Cluster, Installer, InstallerPod, Node, Reading
from domain.cgpu_memory import InstallerMemory, Memory, NodeMemory, Patch, Proof

LAGGING: Final = -1
"""The generation that is remembered while an installer's newest one is not in force."""


def setting_of(installer: Installer) -> int | None:
    """The one policy that an installer sets; None where it is missing, said twice or no policy."""
    if len(installer.settings) != 1:
        return None
    return read_policy(installer.settings[0].value)


def one_policy(reading: Reading) -> int | None:
    """The policy that every GPU of a node has; None where they differ, or one has none."""
    policies = set(reading.policies)
    return policies.pop() if len(policies) == 1 else None


def images_text(installer: Installer) -> str:
    """Its images, in one text to be compared."""
    return " ".join(sorted(installer.images))


def selector_text(installer: Installer) -> str:
    """Its node selector, in one text to be compared."""
    return ",".join(f"{key}={value}" for key, value in sorted(installer.node_selector.items()))


def learn(memory: Memory, cluster: Cluster) -> Memory:
    """The memory after this look."""
    installers = learn_installers(memory.installers, cluster)
    return replace(
        memory,
        installers=installers,
        nodes=learn_nodes(memory.nodes, installers, cluster),
        patches=learn_patches(memory, cluster),
    )


def learn_patches(memory: Memory, cluster: Cluster) -> dict[str, Patch]:
    """The writes of the change: those whose answer was lost are known by what stands there."""
    change, patches = memory.change, dict(memory.patches)
    for installer in cluster.installers:
        patch = patches.get(installer.uid)
        if change and patch and patch.seen is None and setting_of(installer) == change.policy:
            patches[installer.uid] = replace(patch, seen=cluster.at)
    return patches


def learn_installers(
    known: Mapping[str, InstallerMemory], cluster: Cluster
) -> dict[str, InstallerMemory]:
    """The installers as they are now, by uid; those that are gone are forgotten."""
    return {
        installer.uid: _installer(known.get(installer.uid), installer, cluster.at)
        for installer in cluster.installers
    }


def learn_nodes(
    known: Mapping[str, NodeMemory], installers: Mapping[str, InstallerMemory], cluster: Cluster
) -> dict[str, NodeMemory]:
    """The nodes as they are now, by name, `installers` being what was learnt of those before.

    A node whose installer's pod is not ready keeps what was known of it; one that is gone is
    forgotten.
    """
    pods = pods_by_node(cluster)
    learnt = {}
    for node in cluster.nodes:
        before = known.get(node.name)
        if before is not None and before.uid != node.uid:
            before = None
        now = _node(before, node, pods.get(node.name), installers)
        now = _read(now, node, cluster)
        if now is not None:
            learnt[node.name] = now
    return learnt


def pods_by_node(cluster: Cluster) -> dict[str, InstallerPod]:
    """The installer's pod of each node; of several the one that stays and is ready."""
    ranked = sorted(cluster.installer_pods, key=lambda pod: (not pod.leaving, pod.ready))
    return {pod.node: pod for pod in ranked if pod.node}


def _installer(
    before: InstallerMemory | None, installer: Installer, at: datetime
) -> InstallerMemory:
    policy = setting_of(installer)
    # What the DaemonSet's controller has not seen is not in force: pods are made as before.
    seen = installer.observed_generation >= installer.generation
    generation = installer.generation if seen else LAGGING
    if before is not None and (before.generation, before.policy) == (generation, policy):
        return before
    fresh = InstallerMemory(uid=installer.uid, generation=generation, policy=policy, since=at)
    if before is None:
        return fresh
    return replace(fresh, images=before.images, selector=before.selector)


def _node(
    before: NodeMemory | None,
    node: Node,
    pod: InstallerPod | None,
    installers: Mapping[str, InstallerMemory],
) -> NodeMemory | None:
    if pod is None or not pod.ready or pod.leaving or not node.ready or not node.boot:
        return before
    installer = installers.get(pod.installer)
    if installer is None:
        return before
    now = NodeMemory(
        node=node.name,
        uid=node.uid,
        boot=node.boot,
        setting=pod.policy,
        generation=installer.generation,
    )
    if before is None:
        return _first_seen(now, node, installer)
    if before.boot == node.boot:
        return replace(now, loaded=before.loaded, proof=before.proof)
    # The pod must have had this setting before the boot as well as after it, and no other in
    # between: every change of the template makes a new generation, and a pod has one for life.
    held = before.setting == pod.policy
    same = before.generation == installer.generation != LAGGING
    if held and same and pod.policy is not None:
        return replace(now, loaded=pod.policy, proof=Proof.BOOTED)
    return now


def _first_seen(now: NodeMemory, node: Node, installer: InstallerMemory) -> NodeMemory:
    if now.setting is None:
        return now
    joined = (
        installer.generation != LAGGING
        and node.created_at > installer.since
        and now.setting == installer.policy
    )
    return replace(now, loaded=now.setting, proof=Proof.JOINED if joined else Proof.PRESUMED)


def _read(now: NodeMemory | None, node: Node, cluster: Cluster) -> NodeMemory | None:
    reading = cluster.readings.get(node.name)
    if now is None or not isinstance(reading, Reading) or reading.boot != now.boot:
        return now
    if now.proof in (Proof.BOOTED, Proof.JOINED, Proof.READ) and now.loaded is not None:
        return now  # what was proven once at this boot is what a later reading is held against
    read = one_policy(reading)
    return replace(now, loaded=read, proof=None if read is None else Proof.READ)
