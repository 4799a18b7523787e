"""The gallery's cGPU: the status through a change of the policy, questions, restarts, cards, and
what drifts; on looks at a cluster that are made up here."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, Final

from bot import cgpu_telling
from bot.gallery_examples import own_queues, worked
from bot.gallery_stage import ADA, BEN, NOW, Book, Stage, snapshot, staged
from bot.tending import tend
from controller.cgpu_view import Note, publish, publish_note
from domain.cgpu_cluster import (
    Cluster,
    Installer,
    InstallerPod,
    Node,
    Place,
    Pod,
    Reading,
    Release,
    Setting,
    Writer,
)
from domain.cgpu_learning import learn
from domain.cgpu_memory import Change, Outcome, Patch, Restart
from domain.cgpu_nodes import how_to_restart
from domain.configuration import CGPU, Configuration, Link, Pool, Profile
from domain.ledger import AuditRecord
from storage import audit, cgpu
from storage.database import Session

_GROUP: Final = "cGPU"
_WITH: Final = {"POOLKEEPER_KUBERNETES": "in-cluster"}
_LABELS: Final = {
    "ack.node.gpu.schedule": "core_mem", "aliyun.accelerator/nvidia_name": "Tesla-T4",
}  # fmt: skip
_FOUR: Final = tuple(f"gpu-{number}" for number in range(1, 5))


def scenes(book: Book) -> None:
    for scene in (
        _unmanaged, _asking, _changing, _restarting, _stopped, _drifting, _nasty, _ended,
        _by_hand, _agents,
    ):  # fmt: skip
        scene(book)


def _node(name: str, **given: Any) -> Node:
    """A ready node with two shared cards of 15 GiB."""
    usual = {
        "uid": f"uid-{name}", "boot": f"{name}-first", "created_at": NOW - timedelta(days=9),
        "labels": _LABELS, "memory": 30, "cards": 2, "provider": f"cn-hongkong.i-{name}",
    }  # fmt: skip
    return Node(name=name, **{**usual, **given})


def _installer(policy: str | None = "1", generation: int = 1, **given: Any) -> Installer:
    setting = Setting(
        container="installer", place=Place.CONTAINERS, container_index=0, index=0, value=policy
    )
    usual = {
        "namespace": "kube-system", "name": "cgpu-installer", "uid": "uid-installer",
        "observed_generation": generation, "desired": 4, "updated": 4, "available": 4,
        "images": ("registry/acs/cgpu-installer:v1.5.13",), "settings": (setting,),
        "revision": f"r{generation}",
    }  # fmt: skip
    return Installer(generation=generation, **{**usual, **given})


def _look(stage: Stage, policy: str | None = "1", generation: int = 1, **given: Any) -> Cluster:
    """Four nodes with an installer's pod each, as it is set now."""
    nodes = given.pop("nodes", tuple(_node(one) for one in _FOUR))
    number = int(policy) if policy and policy.isdecimal() else None
    pods = tuple(
        InstallerPod(
            name=f"cgpu-installer-{one.name}", namespace="kube-system", uid=f"uid-pod-{one.name}",
            installer="uid-installer", node=one.name, revision=f"r{generation}", policy=number,
            ready=True,
        )
        for one in nodes
    )  # fmt: skip
    usual = {
        "version": "v1.30.1-aliyun.1", "nodes": nodes, "installer_pods": pods,
        "installers": (_installer(policy, generation),),
    }  # fmt: skip
    return Cluster(at=stage.now, **{**usual, **given})


def _sees(stage: Stage, cluster: Cluster, **note: Any) -> None:
    """A look was taken, learnt from and published, and what is new of it told."""

    def work(session: Session) -> None:
        before = cgpu.memory(session)
        cgpu.learn(session, before, learn(before, cluster))
        publish(session, cluster, Note(looked_at=stage.now, **note))

    stage.change(work)
    cgpu_telling.tell(stage.desk)


def managed(policy: int | None) -> Configuration:
    """The worked example with a pool of the shared cards."""
    example = worked()
    shared = Pool(
        name="shared", resources=Fraction(6), profiles=("half",), nodes=tuple(_LABELS.items())[:1]
    )
    half = Profile(
        name="half", allotment=Fraction(1, 2), pools=(Link(pool="shared", name="half a T4"),)
    )
    return replace(
        example,
        pools=(*example.pools, shared),
        profiles=(*example.profiles, half),
        cgpu=None if policy is None else CGPU(policy=policy),
    )


_PODS: Final = (
    Pod(name="train-0", namespace="vision", node="gpu-1", memory=7, percentage=50),
    Pod(name="train-1", namespace="vision", node="gpu-1", memory=7, percentage=50),
    Pod(name="notebook", namespace="speech", node="gpu-2", memory=15, bare=True),
    Pod(name="exporter", namespace="kube-system", node="gpu-2", stays=True),
)


def _unmanaged(book: Book) -> None:
    with staged(book, _GROUP, **_WITH) as stage:
        for line in ("cgpu status", "cgpu set 3", "cgpu restart gpu-1", "cgpu resume"):
            stage.says(ADA, line, f"/pool {line}, before the cluster was looked at")
        note = Note(away="403: nodes is forbidden.", since=NOW, times=1)
        stage.change(lambda session: publish_note(session, note))
        stage.says(ADA, "cgpu status", "/pool cgpu status, without the right to look")
        stage.provision(managed(None))
        _sees(stage, _look(stage, installers=(), installer_pods=()))
        stage.says(ADA, "cgpu status", "/pool cgpu status, not managed and not installed")
        stage.says(ADA, "cgpu set 3", "/pool cgpu set, not installed")
        _sees(stage, _look(stage))
        stage.says(ADA, "cgpu status", "/pool cgpu status, not managed")
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, not managed")
        stage.provision(managed(3))
        _sees(stage, _look(stage, installers=(), installer_pods=()))
        stage.says(ADA, "cgpu status", "/pool cgpu status, to be installed")


def _asking(book: Book) -> None:
    with staged(book, _GROUP, **_WITH) as stage:
        stage.provision(managed(1))
        own_queues(stage, managed(1))
        stage.publish(snapshot(managed(1)))
        _sees(stage, _look(stage, pods=_PODS))
        _begin(stage, 1, Outcome.CONVERGED)
        stage.says(ADA, "status shared", "A pool that is not as large as its nodes")
        for line in ("cgpu set 9", "cgpu set fair", "cgpu set 1", "cgpu set 3", "cgpu set 2"):
            stage.says(ADA, line)
        stage.says(ADA, "cgpu set 3 now fairness", "/pool cgpu set, asked for")
        stage.posted("Card: set cGPU policy 3")
        stage.says(BEN, "approve r1", "A cGPU policy is approved")
        stage.says(ADA, "cgpu set 4 now", "/pool cgpu set, while another is applied")
        stage.provision(managed(3))
        tend(stage.desk)
        stage.posted("Card: applied, a cGPU policy", "In the thread: a vote", "In the thread: cGPU")
    with staged(book, _GROUP, **_WITH) as stage:
        bad = replace(managed(1), pools=tuple(replace(one, resources=Fraction(1)) for one in
                                              managed(1).pools))  # fmt: skip
        stage.provision(bad)
        _sees(stage, _look(stage))
        stage.says(ADA, "cgpu set 3 now", "/pool cgpu set, on what is not valid")


def _by_hand(book: Book) -> None:
    """Where Poolkeeper may not touch nodes."""
    with staged(book, _GROUP, POOLKEEPER_CGPU_RESTARTS="false", **_WITH) as stage:
        stage.provision(managed(3))
        _sees(stage, _look(stage))
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, where restarts are off")


def _begin(stage: Stage, policy: int, outcome: Outcome | None = None, **given: Any) -> Change:
    """A change that has begun, or ended so."""
    change = Change(id=0, policy=policy, version=2, by=BEN, started_at=stage.now)
    found: list[Change] = []

    def work(session: Session) -> None:
        begun = replace(cgpu.begin_change(session, change), **given)
        if outcome is not None:
            begun = replace(begun, ended_at=stage.now, outcome=outcome)
        cgpu.put_change(session, begun)
        found.append(begun)

    stage.change(work)
    return found[0]


def _changing(book: Book) -> None:
    with staged(book, _GROUP, **_WITH) as stage:
        stage.provision(managed(1))
        _sees(stage, _look(stage))
        stage.provision(managed(3))
        stage.later(minutes=1)
        change = _begin(stage, 3)
        rolling = _installer("3", 2, updated=2, available=4)
        _sees(stage, _look(stage, "3", 2, installers=(rolling,), pods=_PODS))
        stage.says(ADA, "cgpu status", "/pool cgpu status, while it is rolled out")
        stage.posted("Card: a change is rolled out")
        stage.later(minutes=1)
        _sees(stage, _look(stage, "3", 2, pods=_PODS))
        stage.says(ADA, "cgpu status", "/pool cgpu status, restarts are needed")
        stage.posted("Card: a change needs restarts")
        stage.says(ADA, "cgpu pause")
        stage.says(ADA, "cgpu pause", "/pool cgpu pause, once more")
        stage.says(ADA, "cgpu status", "/pool cgpu status, while it is paused")
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, while it is paused")
        stage.says(ADA, "cgpu restart gpu-4 now", "/pool cgpu restart, noted while paused")
        stage.says(ADA, "cgpu resume")
        stage.says(ADA, "cgpu resume", "/pool cgpu resume, once more")
        stage.says(ADA, "cgpu withdraw gpu-4")
        stage.says(ADA, "cgpu withdraw gpu-4", "/pool cgpu withdraw, once more")
        stage.says(ADA, "cgpu restart gpu-9", "/pool cgpu restart, of no such node")
        stage.says(ADA, "cgpu restart zzz", "/pool cgpu restart, of nothing like it")
        stage.says(ADA, "cgpu withdraw zzz", "/pool cgpu withdraw, of nothing like it")
        taken = (_node("gpu-1", unschedulable=True), *(_node(one) for one in _FOUR[1:]))
        _sees(stage, _look(stage, "3", 2, nodes=taken, pods=_PODS))
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, of a cordoned node")
        record = AuditRecord(
            at=stage.now, actor="poolkeeper", action="cgpu set", subject="cgpu", detail="set it"
        )
        stage.change(lambda session: audit.record(session, record))
        stage.later(minutes=1)
        _sees(
            stage, _look(stage, "3", 2), away="the API server does not answer.", since=NOW, times=1
        )
        stage.says(ADA, "cgpu status", "/pool cgpu status, while Kubernetes is away")
        many = tuple(_node(f"node-{n:02}") for n in range(20))
        _sees(stage, _look(stage, "3", 2, nodes=many))
        stage.says(ADA, "cgpu status", "/pool cgpu status, of many nodes")
        stage.says(ADA, "cgpu status page 3", "/pool cgpu status, its last page")
        _end(stage, change, Outcome.UNPROVEN)
        _sees(stage, _look(stage, "3", 2))
        stage.posted("Card: a change is done, as far as is known")


def _end(stage: Stage, change: Change, outcome: Outcome) -> None:
    ended = replace(change, ended_at=stage.now, outcome=outcome)
    stage.change(lambda session: cgpu.put_change(session, ended))


def _restarting(book: Book) -> None:
    """One node's restart, from the wish to its end, and one that fails."""
    with staged(book, _GROUP, **_WITH) as stage:
        stage.provision(managed(1))
        _sees(stage, _look(stage))
        stage.provision(managed(3))
        stage.later(minutes=1)
        _begin(stage, 3)
        stage.later(minutes=1)
        _sees(stage, _look(stage, "3", 2, pods=_PODS))
        for node in ("gpu-1", "gpu-2"):
            stage.says(ADA, f"cgpu restart {node}")
        stage.says(ADA, "cgpu restart gpu-1 now", "/pool cgpu restart, wished")
        stage.posted("Card: the change", "Card: a restart is wished", "In the thread: a wish")
        stage.says(BEN, "cgpu restart gpu-1", "/pool cgpu restart, wished by another")
        with stage.desk.database.reading() as session:
            wish = cgpu.restarts(session)[0]
        begun = replace(wish, uid="uid-gpu-1", boot="gpu-1-first", began_at=stage.now, memory=30,
                        cards=2)  # fmt: skip
        _keeps(stage, begun)
        held = _node("gpu-1", unschedulable=True, cordon_mark=wish.mark)
        others = tuple(_node(one) for one in _FOUR[1:])
        budget = "A disruption budget keeps vision/train-0 on gpu-1"
        _sees(stage, _look(stage, "3", 2, nodes=(held, *others), pods=_PODS), refusals=(budget,))
        stage.says(ADA, "cgpu status", "/pool cgpu status, while a node is drained")
        stage.says(ADA, "cgpu restart gpu-2", "/pool cgpu restart, while another is in hand")
        stage.posted("Card: a node is drained", "Card: the change, meanwhile")
        stage.later(minutes=4)
        _keeps(stage, replace(begun, drained_at=stage.now))
        due = AuditRecord(
            at=stage.now, actor="poolkeeper", action="cgpu restart", subject="gpu-1",
            detail=f"gpu-1 is empty; {how_to_restart(held)}",
        )  # fmt: skip
        stage.change(lambda session: audit.record(session, due))
        _sees(stage, _look(stage, "3", 2, nodes=(held, *others)))
        stage.says(ADA, "cgpu status", "/pool cgpu status, a node is to be restarted")
        stage.posted("Card: to be restarted now", "Card: the change waits", "In the thread: do it")
        stage.later(minutes=6)
        back = replace(held, boot="gpu-1-second", ready=False)
        _keeps(stage, replace(begun, drained_at=NOW, back_at=stage.now))
        _sees(stage, _look(stage, "3", 2, nodes=(back, *others)))
        stage.posted("Card: a node is verified", "Card: the change goes on")
        failed = replace(begun, drained_at=NOW, back_at=stage.now, failed="`it` has no cards")
        _keeps(stage, failed)
        stage.later(minutes=1)
        _sees(stage, _look(stage, "3", 2, nodes=(back, *others)))
        stage.says(ADA, "cgpu status", "/pool cgpu status, a restart has failed")
        stage.posted("Card: a restart has failed", "Card: the change stands")
        done = AuditRecord(
            at=stage.now, actor="poolkeeper", action="cgpu restart", subject="gpu-1",
            detail="gpu-1 has restarted and is verified: read from the node",
        )  # fmt: skip
        stage.change(lambda session: audit.record(session, done))
        stage.change(lambda session: cgpu.end_restart(session, failed))
        ready = replace(back, ready=True, unschedulable=False, cordon_mark="")
        stage.later(minutes=1)
        _sees(stage, _look(stage, "3", 2, nodes=(ready, *others)))
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, of a node that needs none")
        stage.posted("Card: a restart is over", "In the thread: it is verified", "Card: goes on")
        _ends_oddly(stage, ready)


def _ends_oddly(stage: Stage, ready: Node) -> None:
    """A node whose machine nobody knows how to restart from here, and one that is gone."""
    for name in ("gpu-2", "gpu-3"):
        stage.says(ADA, f"cgpu restart {name} now", f"/pool cgpu restart {name}, wished")
    with stage.desk.database.reading() as session:
        wish = next(one for one in cgpu.restarts(session) if one.node == "gpu-2")
    bare = _node("gpu-2", unschedulable=True, cordon_mark=wish.mark, provider="")
    drained = replace(wish, uid=bare.uid, boot=bare.boot, began_at=stage.now, memory=30, cards=2)
    _keeps(stage, replace(drained, drained_at=stage.now))
    stage.later(minutes=1)
    _sees(stage, _look(stage, "3", 2, nodes=(ready, bare, _node("gpu-4"))))
    stage.posted("Cards: a machine without an address, and a node that is gone")


def _keeps(stage: Stage, restart: Restart) -> None:
    stage.change(lambda session: cgpu.put_restart(session, restart))


def _stopped(book: Book) -> None:
    """Somebody else has written POLICY while a change goes on, and after it."""
    with staged(book, _GROUP, **_WITH) as stage:
        stage.provision(managed(3))
        _sees(stage, _look(stage, "3"))
        change = _begin(stage, 3, stopped="kubectl set POLICY of kube-system/cgpu-installer to 4")
        patch = Patch(change=change.id, installer="uid-installer", before=1, at=NOW, seen=NOW)
        stage.change(lambda session: cgpu.put_patch(session, patch))
        writer = Writer(manager="kubectl-edit", at=stage.now)
        stage.later(minutes=2)
        changed = _installer("4", 3, writer=writer)
        _sees(stage, _look(stage, "4", 3, installers=(changed,)))
        stage.says(ADA, "cgpu status", "/pool cgpu status, stopped")
        stage.posted("Card: a change is stopped", "Alert: the setting was changed")
        stage.says(ADA, "cgpu resume", "/pool cgpu resume, after a stop")
        stage.later(minutes=1)
        _sees(stage, _look(stage, "3", 4))
        stage.posted("Card: it goes on", "Alert: over", "In the thread: it is over")


def _drifting(book: Book) -> None:
    """What differs from what is provisioned, of every kind that a look can show."""
    with staged(book, _GROUP, **_WITH) as stage:
        names = ("up", "mixed", "drifted", "weighted", "unread", "older", "empty", "switched")
        nodes = tuple(_node(one) for one in names[:-1])
        stage.provision(managed(1))
        right = Reading(boot="drifted-first", version="1.5.13", policies=(1, 1))
        _sees(stage, _look(stage, nodes=nodes, readings={"drifted": right}))
        _begin(stage, 1, Outcome.CONVERGED)
        stage.later(minutes=5)
        nodes += (_node("switched", labels={"ack.node.gpu.schedule": "default"}),)
        read: dict[str, tuple[str, tuple[int | None, ...]]] = {
            "up": ("1.5.13", (1, 1)),
            "mixed": ("1.5.13", (1, 4)),
            "drifted": ("1.5.13", (5, 5)),
            "weighted": ("1.5.13", (2, 2)),
            "unread": ("1.5.13", (None, 1)),
            "older": ("1.5.2", (1, 1)),
            "empty": ("", ()),
            "switched": ("1.5.13", (1,)),
        }
        readings = {
            node: Reading(boot=f"{node}-first", version=version, policies=policies)
            for node, (version, policies) in read.items()
        }
        release = Release(
            namespace="kube-system", name="ack-ai-installer", revision=7, enabled=True, policy=5,
            pending="pending-upgrade",
        )  # fmt: skip
        bare = _installer(
            "1", uid="uid-second", name="second", settings=(), images=("x/cgpu-installer:v1.0.7",)
        )
        heavy = Pod(name="heavy", namespace="vision", node="weighted", memory=4, weighted=True)
        _sees(
            stage,
            _look(
                stage, nodes=nodes, readings=readings, releases=(release,), pods=(heavy,),
                installers=(_installer("1"), bare),
            ),
        )  # fmt: skip
        stage.says(ADA, "cgpu status", "/pool cgpu status, with much that differs")
        stage.posted("Alert: cGPU is not as provisioned")
        stage.says(ADA, "cgpu set 4", "/pool cgpu set, with much in the way")
        stage.says(ADA, "cgpu resume", "/pool cgpu resume, with a drift")


def _nasty(book: Book) -> None:
    with staged(book, "Names at their nastiest", **_WITH) as stage:
        pool = Pool(name="<!channel> *x*", resources=Fraction(9), nodes=tuple(_LABELS.items())[:1])
        configuration = Configuration(pools=(pool,), cgpu=CGPU(policy=3))
        stage.provision(configuration)
        stage.publish(snapshot(configuration))
        _sees(stage, _look(stage, "3", pods=(replace(_PODS[0], name="<!here>`x`"),)))
        _begin(stage, 3, stopped="<!channel> `kubectl` *x*")
        stage.later(minutes=2)
        _sees(stage, _look(stage, "<!channel>", 2), refusals=("<!everyone> *x*",))
        for line in ("status", "cgpu status", "cgpu set 4", "cgpu set <!channel>"):
            stage.says(ADA, line, f"/pool {line}, on Kubernetes")
        stage.posted("Cards of cGPU")


def _ended(book: Book) -> None:
    for outcome in (Outcome.CONVERGED, Outcome.REPLACED, Outcome.UNMANAGED):
        with staged(book, _GROUP, **_WITH) as stage:
            stage.provision(managed(3))
            _sees(stage, _look(stage, "3"))
            _begin(stage, 3, outcome)
            stage.later(minutes=1)
            _sees(stage, _look(stage, "3"))
            stage.says(ADA, "cgpu status", f"/pool cgpu status, after a change: {outcome.value}")
            stage.posted(f"Card: a change is over, {outcome.value}")
    with staged(book, _GROUP, **_WITH) as stage:
        stage.provision(managed(3))
        away = Note(
            away="the API server does not answer.", since=NOW - timedelta(minutes=3), times=3
        )
        stage.change(lambda session: publish_note(session, away))
        cgpu_telling.tell(stage.desk)
        stage.posted("Alert: Kubernetes cannot be worked with")
        stage.later(minutes=2)
        _sees(stage, _look(stage, "3"))
        stage.posted("Alert: Kubernetes answers again", "In the thread: Kubernetes answers again")


def _agents(book: Book) -> None:
    """What agents ask for on cards that are shared."""
    with staged(book, _GROUP, **_WITH) as stage:
        example = managed(3)
        whole = Profile(
            name="two", allotment=Fraction(2), pools=(Link(pool="shared", name="two whole T4"),)
        )
        thin = Profile(
            name="thin", allotment=Fraction(1, 7), pools=(Link(pool="shared", name="a 7th"),)
        )
        pools = (*example.pools[:2], replace(example.pools[2], profiles=("half", "two", "thin")))
        configuration = replace(example, pools=pools, profiles=(*example.profiles, whole, thin))
        stage.provision(configuration)
        own_queues(stage, configuration)
        stage.says(ADA, "agents half", "/pool agents, before the cards are known")
        _sees(stage, _look(stage, "3"))
        for link in ("half", "two", "7th", "H100"):
            stage.says(ADA, f"agents {link}", f"/pool agents {link}, beside shared cards")
