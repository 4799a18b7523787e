"""The gallery's cGPU: the status through a change of the policy, questions, and what drifts."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

from bot import cgpu_telling
from bot.gallery_book import Book
from bot.gallery_cgpu_looks import (
    FOUR,
    GROUP,
    LABELS,
    PODS,
    WITH,
    a_look,
    a_node,
    an_installer,
    begins,
    ends,
    managed,
    sees,
)
from bot.gallery_examples import own_queues
from bot.gallery_stage import ADA, BEN, NOW, snapshot, staged
from bot.tending import tend
from controller.cgpu_view import Note, publish_note
from domain.cgpu_cluster import (
    Pod,
    Reading,
    Release,
    Writer,
)
from domain.cgpu_memory import Outcome, Patch
from domain.configuration import CGPU, Configuration, Link, Pool, Profile
from domain.ledger import AuditRecord
from storage import audit, cgpu


def scenes(book: Book) -> None:
    for scene in (
        _unmanaged,
        _asking,
        _by_hand,
        _changing,
        _stopped,
        _drifting,
        _nasty,
        _ended,
        _agents,
    ):
        scene(book)


def _unmanaged(book: Book) -> None:
    with staged(book, GROUP, **WITH) as stage:
        for line in ("cgpu status", "cgpu set 3", "cgpu restart gpu-1", "cgpu resume"):
            stage.says(ADA, line, f"/pool {line}, before the cluster was looked at")
        note = Note(away="403: nodes is forbidden.", since=NOW, times=1)
        stage.change(lambda session: publish_note(session, note))
        stage.says(ADA, "cgpu status", "/pool cgpu status, without the right to look")
        stage.provision(managed(None))
        sees(stage, a_look(stage, installers=(), installer_pods=()))
        stage.says(ADA, "cgpu status", "/pool cgpu status, not managed and not installed")
        stage.says(ADA, "cgpu set 3", "/pool cgpu set, not installed")
        sees(stage, a_look(stage))
        stage.says(ADA, "cgpu status", "/pool cgpu status, not managed")
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, not managed")
        stage.provision(managed(3))
        sees(stage, a_look(stage, installers=(), installer_pods=()))
        stage.says(ADA, "cgpu status", "/pool cgpu status, to be installed")


def _asking(book: Book) -> None:
    with staged(book, GROUP, **WITH) as stage:
        stage.provision(managed(1))
        own_queues(stage, managed(1))
        stage.publish(snapshot(managed(1)))
        sees(stage, a_look(stage, pods=PODS))
        begins(stage, 1, Outcome.CONVERGED)
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
    with staged(book, GROUP, **WITH) as stage:
        bad = replace(managed(1), pools=tuple(replace(one, resources=Fraction(1)) for one in
                                              managed(1).pools))  # fmt: skip
        stage.provision(bad)
        sees(stage, a_look(stage))
        stage.says(ADA, "cgpu set 3 now", "/pool cgpu set, on what is not valid")


def _by_hand(book: Book) -> None:
    """Where Poolkeeper may not touch nodes."""
    with staged(book, GROUP, POOLKEEPER_CGPU_RESTARTS="false", **WITH) as stage:
        stage.provision(managed(3))
        sees(stage, a_look(stage))
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, where restarts are off")


def _changing(book: Book) -> None:
    with staged(book, GROUP, **WITH) as stage:
        stage.provision(managed(1))
        sees(stage, a_look(stage))
        stage.provision(managed(3))
        stage.later(minutes=1)
        change = begins(stage, 3)
        rolling = an_installer("3", 2, updated=2, available=4)
        sees(stage, a_look(stage, "3", 2, installers=(rolling,), pods=PODS))
        stage.says(ADA, "cgpu status", "/pool cgpu status, while it is rolled out")
        stage.posted("Card: a change is rolled out")
        stage.later(minutes=1)
        sees(stage, a_look(stage, "3", 2, pods=PODS))
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
        taken = (a_node("gpu-1", unschedulable=True), *(a_node(one) for one in FOUR[1:]))
        sees(stage, a_look(stage, "3", 2, nodes=taken, pods=PODS))
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, of a cordoned node")
        record = AuditRecord(
            at=stage.now, actor="poolkeeper", action="cgpu set", subject="cgpu", detail="set it"
        )
        stage.change(lambda session: audit.record(session, record))
        stage.later(minutes=1)
        sees(
            stage, a_look(stage, "3", 2), away="the API server does not answer.", since=NOW, times=1
        )
        stage.says(ADA, "cgpu status", "/pool cgpu status, while Kubernetes is away")
        many = tuple(a_node(f"node-{n:02}") for n in range(20))
        sees(stage, a_look(stage, "3", 2, nodes=many))
        stage.says(ADA, "cgpu status", "/pool cgpu status, of many nodes")
        stage.says(ADA, "cgpu status page 3", "/pool cgpu status, its last page")
        ends(stage, change, Outcome.UNPROVEN)
        sees(stage, a_look(stage, "3", 2))
        stage.posted("Card: a change is done, as far as is known")


def _stopped(book: Book) -> None:
    """Somebody else has written POLICY while a change goes on, and after it."""
    with staged(book, GROUP, **WITH) as stage:
        stage.provision(managed(3))
        sees(stage, a_look(stage, "3"))
        change = begins(stage, 3, stopped="kubectl set POLICY of kube-system/cgpu-installer to 4")
        patch = Patch(change=change.id, installer="uid-installer", before=1, at=NOW, seen=NOW)
        stage.change(lambda session: cgpu.put_patch(session, patch))
        writer = Writer(manager="kubectl-edit", at=stage.now)
        stage.later(minutes=2)
        changed = an_installer("4", 3, writer=writer)
        sees(stage, a_look(stage, "4", 3, installers=(changed,)))
        stage.says(ADA, "cgpu status", "/pool cgpu status, stopped")
        stage.posted("Card: a change is stopped", "Alert: the setting was changed")
        stage.says(ADA, "cgpu resume", "/pool cgpu resume, after a stop")
        stage.later(minutes=1)
        sees(stage, a_look(stage, "3", 4))
        stage.posted("Card: it goes on", "Alert: over", "In the thread: it is over")


def _drifting(book: Book) -> None:
    """What differs from what is provisioned, of every kind that a look can show."""
    with staged(book, GROUP, **WITH) as stage:
        names = ("up", "mixed", "drifted", "weighted", "unread", "older", "empty", "switched")
        nodes = tuple(a_node(one) for one in names[:-1])
        stage.provision(managed(1))
        right = Reading(boot="drifted-first", version="1.5.13", policies=(1, 1))
        sees(stage, a_look(stage, nodes=nodes, readings={"drifted": right}))
        begins(stage, 1, Outcome.CONVERGED)
        stage.later(minutes=5)
        nodes += (a_node("switched", labels={"ack.node.gpu.schedule": "default"}),)
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
        bare = an_installer(
            "1", uid="uid-second", name="second", settings=(), images=("x/cgpu-installer:v1.0.7",)
        )
        heavy = Pod(name="heavy", namespace="vision", node="weighted", memory=4, weighted=True)
        sees(
            stage,
            a_look(
                stage, nodes=nodes, readings=readings, releases=(release,), pods=(heavy,),
                installers=(an_installer("1"), bare),
            ),
        )  # fmt: skip
        stage.says(ADA, "cgpu status", "/pool cgpu status, with much that differs")
        stage.posted("Alert: cGPU is not as provisioned")
        stage.says(ADA, "cgpu set 4", "/pool cgpu set, with much in the way")
        stage.says(ADA, "cgpu resume", "/pool cgpu resume, with a drift")


def _nasty(book: Book) -> None:
    with staged(book, "Names at their nastiest", **WITH) as stage:
        pool = Pool(name="<!channel> *x*", resources=Fraction(9), nodes=tuple(LABELS.items())[:1])
        configuration = Configuration(pools=(pool,), cgpu=CGPU(policy=3))
        stage.provision(configuration)
        stage.publish(snapshot(configuration))
        sees(stage, a_look(stage, "3", pods=(replace(PODS[0], name="<!here>`x`"),)))
        begins(stage, 3, stopped="<!channel> `kubectl` *x*")
        stage.later(minutes=2)
        sees(stage, a_look(stage, "<!channel>", 2), refusals=("<!everyone> *x*",))
        for line in ("status", "cgpu status", "cgpu set 4", "cgpu set <!channel>"):
            stage.says(ADA, line, f"/pool {line}, on Kubernetes")
        stage.posted("Cards of cGPU")


def _ended(book: Book) -> None:
    for outcome in (Outcome.CONVERGED, Outcome.REPLACED, Outcome.UNMANAGED):
        with staged(book, GROUP, **WITH) as stage:
            stage.provision(managed(3))
            sees(stage, a_look(stage, "3"))
            begins(stage, 3, outcome)
            stage.later(minutes=1)
            sees(stage, a_look(stage, "3"))
            stage.says(ADA, "cgpu status", f"/pool cgpu status, after a change: {outcome.value}")
            stage.posted(f"Card: a change is over, {outcome.value}")
    with staged(book, GROUP, **WITH) as stage:
        stage.provision(managed(3))
        away = Note(
            away="the API server does not answer.", since=NOW - timedelta(minutes=3), times=3
        )
        stage.change(lambda session: publish_note(session, away))
        cgpu_telling.tell(stage.desk)
        stage.posted("Alert: Kubernetes cannot be worked with")
        stage.later(minutes=2)
        sees(stage, a_look(stage, "3"))
        stage.posted("Alert: Kubernetes answers again", "In the thread: Kubernetes answers again")


def _agents(book: Book) -> None:
    """What agents ask for on cards that are shared."""
    with staged(book, GROUP, **WITH) as stage:
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
        sees(stage, a_look(stage, "3"))
        for link in ("half", "two", "7th", "H100"):
            stage.says(ADA, f"agents {link}", f"/pool agents {link}, beside shared cards")
