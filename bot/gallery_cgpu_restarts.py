"""A node's restart, from the wish to its end, for the gallery."""

from dataclasses import replace

from bot.gallery_book import Book
from bot.gallery_cgpu_looks import (
    FOUR,
    GROUP,
    PODS,
    WITH,
    a_look,
    a_node,
    begins,
    keeps,
    managed,
    sees,
)
from bot.gallery_stage import ADA, BEN, NOW, Stage, staged
from domain.cgpu_cluster import (
    Node,
)
from domain.cgpu_nodes import how_to_restart
from domain.ledger import AuditRecord
from storage import audit, cgpu


def scenes(book: Book) -> None:
    _restarting(book)


def _restarting(book: Book) -> None:
    """One node's restart, from the wish to its end, and one that fails."""
    with staged(book, GROUP, **WITH) as stage:
        stage.provision(managed(1))
        sees(stage, a_look(stage))
        stage.provision(managed(3))
        stage.later(minutes=1)
        begins(stage, 3)
        stage.later(minutes=1)
        sees(stage, a_look(stage, "3", 2, pods=PODS))
        for node in ("gpu-1", "gpu-2"):
            stage.says(ADA, f"cgpu restart {node}")
        stage.says(ADA, "cgpu restart gpu-1 now", "/pool cgpu restart, wished")
        stage.posted("Card: the change", "Card: a restart is wished", "In the thread: a wish")
        stage.says(BEN, "cgpu restart gpu-1", "/pool cgpu restart, wished by another")
        with stage.desk.database.reading() as session:
            wish = cgpu.restarts(session)[0]
        begun = replace(wish, uid="uid-gpu-1", boot="gpu-1-first", began_at=stage.now, memory=30,
                        cards=2)  # fmt: skip
        keeps(stage, begun)
        held = a_node("gpu-1", unschedulable=True, cordon_mark=wish.mark)
        others = tuple(a_node(one) for one in FOUR[1:])
        budget = "A disruption budget keeps vision/train-0 on gpu-1"
        sees(stage, a_look(stage, "3", 2, nodes=(held, *others), pods=PODS), refusals=(budget,))
        stage.says(ADA, "cgpu status", "/pool cgpu status, while a node is drained")
        stage.says(ADA, "cgpu restart gpu-2", "/pool cgpu restart, while another is in hand")
        stage.posted("Card: a node is drained", "Card: the change, meanwhile")
        stage.later(minutes=4)
        keeps(stage, replace(begun, drained_at=stage.now))
        due = AuditRecord(
            at=stage.now, actor="poolkeeper", action="cgpu restart", subject="gpu-1",
            detail=f"gpu-1 is empty; {how_to_restart(held)}",
        )  # fmt: skip
        stage.change(lambda session: audit.record(session, due))
        sees(stage, a_look(stage, "3", 2, nodes=(held, *others)))
        stage.says(ADA, "cgpu status", "/pool cgpu status, a node is to be restarted")
        stage.posted("Card: to be restarted now", "Card: the change waits", "In the thread: do it")
        stage.later(minutes=6)
        back = replace(held, boot="gpu-1-second", ready=False)
        keeps(stage, replace(begun, drained_at=NOW, back_at=stage.now))
        sees(stage, a_look(stage, "3", 2, nodes=(back, *others)))
        stage.posted("Card: a node is verified", "Card: the change goes on")
        failed = replace(begun, drained_at=NOW, back_at=stage.now, failed="`it` has no cards")
        keeps(stage, failed)
        stage.later(minutes=1)
        sees(stage, a_look(stage, "3", 2, nodes=(back, *others)))
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
        sees(stage, a_look(stage, "3", 2, nodes=(ready, *others)))
        stage.says(ADA, "cgpu restart gpu-1", "/pool cgpu restart, of a node that needs none")
        stage.posted("Card: a restart is over", "In the thread: it is verified", "Card: goes on")
        _ends_oddly(stage, ready)


def _ends_oddly(stage: Stage, ready: Node) -> None:
    """A node whose machine nobody knows how to restart from here, and one that is gone."""
    for name in ("gpu-2", "gpu-3"):
        stage.says(ADA, f"cgpu restart {name} now", f"/pool cgpu restart {name}, wished")
    with stage.desk.database.reading() as session:
        wish = next(one for one in cgpu.restarts(session) if one.node == "gpu-2")
    bare = a_node("gpu-2", unschedulable=True, cordon_mark=wish.mark, provider="")
    drained = replace(wish, uid=bare.uid, boot=bare.boot, began_at=stage.now, memory=30, cards=2)
    keeps(stage, replace(drained, drained_at=stage.now))
    stage.later(minutes=1)
    sees(stage, a_look(stage, "3", 2, nodes=(ready, bare, a_node("gpu-4"))))
    stage.posted("Cards: a machine without an address, and a node that is gone")
