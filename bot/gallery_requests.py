"""The gallery's requests for changes of every kind: asked for, refused, shown on their cards."""

from dataclasses import replace
from fractions import Fraction

from bot.gallery_book import Book
from bot.gallery_changes import larger, noted, save, smaller
from bot.gallery_company import company, rush
from bot.gallery_examples import own_queues, with_afternoon, worked
from bot.gallery_nasty import LONGEST, with_mess
from bot.gallery_stage import ADA, BEN, DANA, snapshot, staged
from bot.tending import resume, tend
from domain.configuration import Configuration
from domain.editing import Edited, delete, rename
from domain.renames import Kind, Renames


def scenes(book: Book) -> None:
    for scene in (_nothing_asked, _switch, _provisioning, _large, _nasty, _proposals):
        scene(book)


def _nothing_asked(book: Book) -> None:
    with staged(book, "Requests") as stage:
        for line in ("requests", "history", "rollback 3", "propose dev limit 12 more"):
            stage.says(ADA, line, f"/pool {line}, before anything is provisioned")
    with staged(book, "Requests", POOLKEEPER_ADMIN_CHANNEL="") as stage:
        with_afternoon(stage)
        stage.says(ADA, "disable now", "No channel to ask the admins in")


def _switch(book: Book) -> None:
    with staged(book, "Requests") as stage:
        stage.provision(Configuration())
        stage.says(ADA, "disable", "/pool disable, while nothing waits")
        with_afternoon(stage)
        stage.says(ADA, "enable", "/pool enable, while it is on")
        stage.says(ADA, "disable")
        stage.says(ADA, "disable now for the move of the racks", "/pool disable, asked for")
        stage.posted("Card: disable management")
        stage.says(ADA, "disable now again", "/pool disable, asked for twice")
        stage.says(BEN, "approve r1", "The other admin approves")
        stage.posted(
            "Card: management is disabled", "In the thread: approved", "In the thread: done"
        )
        stage.says(ADA, "disable", "/pool disable, while it is off")
        stage.says(ADA, "enable")
        stage.says(ADA, "enable now", "/pool enable, asked for")
        stage.posted("Card: enable management")
        stage.says(ADA, "reject r2", "Who asked withdraws")
        stage.posted("Card: withdrawn", "In the thread: withdrawn")


def _provisioning(book: Book) -> None:
    with staged(book, "Requests") as stage:
        configuration = with_afternoon(stage)
        save(stage, larger(configuration), 1)
        stage.says(ADA, "draft provision the new SuperPOD", "/pool draft provision")
        stage.posted("Card: provision the draft")
        stage.says(ADA, "requests")
        stage.says(ADA, "approve r1", "Approval refused to who asked")
        stage.says(BEN, "approve R1", "Approved")
        stage.posted(
            "Card: approved, being applied",
            "In the thread: approved by",
            "In the thread: a version",
        )
        stage.says(BEN, "approve #1", "Approved twice")
        stage.says(ADA, "rollback 1 back", "/pool rollback, while a version is being applied")
        resume(stage.desk)
        stage.posted("In the thread: going on after a restart")
        stage.provision(larger(configuration))
        tend(stage.desk)
        stage.posted("Card: applied", "In the thread: done as a version")
        stage.later(minutes=2)
        stage.says(BEN, "approve r1", "A late click")
        stage.says(BEN, "reject r1", "A late rejection")
        stage.publish(snapshot(larger(configuration), (), (), taken_at=stage.now))
        save(stage, smaller(larger(configuration)), 2)
        stage.says(ADA, "draft provision", "/pool draft provision, without a reason")
        stage.posted("Card: teams lose guarantees and queues")
        save(stage, worked(), 2)
        stage.posted("Card: void by another save", "In the thread: void")
        stage.says(ADA, "approve r2", "Voted on what is void")
        save(stage, noted(configuration), 1)
        stage.says(ADA, "draft provision", "/pool draft provision, of an older version")
        stage.says(ADA, "draft show", "/pool draft show, of a draft of an older version")


def _large(book: Book) -> None:
    """A change with more of everything than a card shows."""
    with staged(book, "Requests") as stage:
        configuration = company()
        stage.provision(configuration)
        own_queues(stage, configuration)
        stage.publish(rush(configuration))
        half = company(pools=11, teams=9)
        renames = Renames({Kind.POLICY: {"team-stork": "team-crane"}})
        renamed = rename(Edited(half), Kind.POLICY, "team-stork", "team-crane")
        assert isinstance(renamed, Edited), "the name is free"
        save(stage, renamed.configuration, 1, renames)
        stage.says(ADA, "draft diff", "/pool draft diff, of a large change")
        stage.says(ADA, "draft diff page 2", "/pool draft diff, its second page")
        stage.says(ADA, "draft show", "/pool draft show, of a large change")
        stage.says(ADA, "draft validate", "/pool draft validate, with many findings")
        stage.says(ADA, "draft validate page 2")
        stage.says(ADA, f"draft provision {LONGEST}", "/pool draft provision, of a large change")
        stage.posted("Card: a large change")
        bad = replace(
            half,
            policies=tuple(replace(one, reservation=Fraction(999)) for one in half.policies),
        )
        save(stage, bad, 1)
        stage.posted("Card: the large change is void", "In the thread: the large change is void")
        stage.says(ADA, "draft validate", "/pool draft validate, with many errors")
        stage.says(ADA, "draft provision", "/pool draft provision, of what is not valid")
        stage.says(ADA, "draft reset", "/pool draft reset, of a large change")


def _nasty(book: Book) -> None:
    with staged(book, "Names at their nastiest") as stage:
        configuration = with_mess(stage)
        gone = delete(Edited(configuration), Kind.POLICY, configuration.policies[0].name)
        assert isinstance(gone, Edited), "it is there"
        save(stage, gone.configuration, 1)
        for line in ("draft show", "draft diff", "draft validate", "draft reset", "history"):
            stage.says(ADA, line)
        stage.says(ADA, "draft provision <!channel> `x` *y* \u202e", "/pool draft provision")
        stage.posted("Card: a draft")
        name = configuration.policies[1].name
        stage.says(DANA, f"propose '{name}' limit 9 <!everyone> `why`", "/pool propose")
        stage.posted("Card: a proposal")
        stage.says(ADA, "requests")
        for line in ("approve <!channel>", "rollback <!channel>", "propose <!x> limit 1 x"):
            stage.says(ADA, line)
        stage.says(DANA, f"propose '{name}' limit <!channel> x", "/pool propose, of no amount")


def _proposals(book: Book) -> None:
    with staged(book, "Requests") as stage:
        with_afternoon(stage)
        for line, title in {
            "propose dev limit 20 the deadline of NeurIPS": "",
            "propose dev limit 24 more": "/pool propose, while one is open",
            "propose dev limit 22": "/pool propose, without a reason",
            "propose dev reservation 8 the same": "/pool propose, of what is so already",
            "propose dev reservation lots please": "/pool propose, of no amount",
            "propose dev colour 3 why": "/pool propose, of something else",
            "propose research limit 20 why": "/pool propose, for another team",
            "propose dev reservation 99 why": "/pool propose, of what is not valid",
            "propose dev limit 2 why": "/pool propose, of a limit below the reservation",
        }.items():
            stage.says(DANA, line, title)
        stage.posted("Card: other terms for a policy")
        stage.says(BEN, "approve r1", "A proposal is approved")
        stage.posted(
            "Card: a proposal that is applied", "In the thread: a yes", "In the thread: its version"
        )
        stage.says(DANA, "propose dev limit none why", "/pool propose, while one is applied")
        stage.provision(worked())
        tend(stage.desk)
        stage.posted("Card: a proposal, applied", "In the thread: a proposal, done")
        stage.says(DANA, "propose dev limit none for ever", "/pool propose, no limit")
        stage.posted("Card: no limit is proposed")
        stage.says(BEN, "reject r2 not this month", "Rejected")
        stage.posted("Card: rejected", "In the thread: rejected")
