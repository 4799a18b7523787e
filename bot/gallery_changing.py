"""The gallery's changes: requests of every kind in every state, their cards and threads, votes and
what refuses them, history and rollback, and the shared draft's life by commands."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from bot import approvals
from bot.gallery_examples import (
    LONGEST,
    company,
    own_queues,
    rush,
    with_afternoon,
    with_mess,
    worked,
)
from bot.gallery_stage import ADA, BEN, DANA, NOW, Book, Stage, snapshot, staged
from bot.request_messages import decision_reply
from bot.tending import resume, tend
from domain.configuration import CGPU, Configuration, IntakeQueue, Link, Pool, Profile
from domain.editing import Edited, delete, rename
from domain.ledger import Draft
from domain.renames import Kind, Renames
from domain.requests import Request, Vote, failed
from domain.voting import AlreadyVoted, Counted, Decision, NotAdmin
from storage import configurations, requests, working_copies
from storage.configurations import DraftContent
from storage.database import Session
from storage.working_copies import WorkingCopy

_THREE: Final = {"POOLKEEPER_ADMINS": "U_ADA,U_BEN,U_CHIARA", "POOLKEEPER_APPROVALS": "2"}


def scenes(book: Book) -> None:
    for scene in (
        _nothing_asked, _switch, _provisioning, _large, _nasty, _proposals, _votes, _ends,
        _rollbacks, _drafts, _meanwhile, _nothing_drafted,
    ):  # fmt: skip
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


def larger(configuration: Configuration) -> Configuration:
    """The worked example with another pool and profile, and less for research."""
    new = Pool(name="superpod", resources=Fraction(32), profiles=("8xGPU",), description="May")
    wide = Profile(
        name="8xGPU", allotment=Fraction(8), pools=(Link(pool="superpod", name="8 on superpod"),),
        policies=("dev",),
    )  # fmt: skip
    dev, research = configuration.policies
    dev = replace(dev, queues=(*dev.queues, IntakeQueue(profile="8xGPU", queue="dev-8gpu")))
    research = replace(research, reservation=Fraction(4))
    return replace(
        configuration,
        pools=(*configuration.pools, new),
        profiles=(*configuration.profiles, wide),
        policies=(dev, research),
    )


def smaller(configuration: Configuration) -> Configuration:
    """Without research, and with a pool too few."""
    gone = delete(Edited(configuration), Kind.POLICY, "research")
    assert isinstance(gone, Edited), "it is there"
    gone = delete(gone, Kind.POOL, "h100")
    assert isinstance(gone, Edited), "it is there"
    return gone.configuration


def save(
    stage: Stage, configuration: Configuration, base: int, renames: Renames | None = None
) -> None:
    """The shared draft, as another admin has just saved it."""

    def work(session: Session) -> None:
        now = configurations.draft(session)
        content = DraftContent(
            configuration=configuration, renames=renames or Renames(), base=base, by=BEN,
            at=stage.now,
        )  # fmt: skip
        saved = configurations.save_draft(session, content, now.revision if now else None)
        assert isinstance(saved, Draft), "nobody else saves"
        approvals.void_stale(stage.desk, session)

    stage.change(work)


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


def _votes(book: Book) -> None:
    """Two approvals are needed, of three admins."""
    with staged(book, "Requests", **_THREE) as stage:
        with_afternoon(stage)
        stage.says(ADA, "disable now maintenance", "Asked for, where two have to approve")
        stage.posted("Card: waits for two approvals")
        stage.says(BEN, "approve r1", "The first of two approvals")
        stage.posted("Card: waits for one more", "In the thread: more are needed")
        stage.says(BEN, "approve r1", "The same admin again")
        stage.says(ADA, "approve r1", "One's own, where two have to approve")
        stage.says(ADA, "approve r99", "A request that there is not")
        stage.says(DANA, "reject r1", "A member rejects another's")
        stage.later(hours=9)
        tend(stage.desk)
        stage.posted("Card: reminded of", "In the thread: a reminder")
        stage.later(hours=20)
        stage.says(BEN, "approve r1", "Approved too late")
        stage.posted("Card: expired", "In the thread: expired")
        request = _request(stage)
    vote = Vote(by=BEN, approve=False, at=NOW)
    decisions: dict[str, Decision] = {
        "Who is an admin cannot be read": NotAdmin(request=request, unknown=True),
        "Rejected twice": AlreadyVoted(request=request, vote=vote, missing=2),
        "Two more approvals are needed": Counted(request=request, missing=2),
    }
    for title, decision in decisions.items():
        book.reply(("Requests", title), decision_reply(decision, request.name, approve=True))
    with staged(book, "Requests", POOLKEEPER_ADMINS=ADA) as stage:
        with_afternoon(stage)
        stage.says(ADA, "disable now", "Asked for by an only admin")
        stage.says(ADA, "approve r1", "An only admin may not approve")


def _request(stage: Stage) -> Request:
    with stage.desk.database.reading() as session:
        return requests.requests(session, 1)[0]


def _ends(book: Book) -> None:
    """How requests end that nobody decides."""
    with staged(book, "Requests", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        configuration = with_afternoon(stage)
        stage.says(ADA, "disable now")
        stage.posted("Card: before its end")
        stage.later(hours=25)
        tend(stage.desk)
        stage.posted("Card: nobody decided", "In the thread: nobody decided")
        save(stage, replace(configuration, cgpu=CGPU(policy=3)), 1)
        stage.says(ADA, "draft provision", "/pool draft provision, with a cGPU policy")
        stage.posted("Card: a cGPU policy before the cluster was looked at")
        stage.says(BEN, "approve r2", "A draft with a cGPU policy is approved")
        stage.posted(
            "Card: approved and not applied yet", "In the thread: a vote", "In the thread: next"
        )

        def give_up(session: Session) -> None:
            now = requests.request(session, 2)
            assert now is not None, "it was asked for"
            approvals.keep(stage.desk, session, failed(now, "ClearML refused to make `a queue`"))

        stage.change(give_up)
        stage.posted("Card: approved, but not applied", "In the thread: not applied")


def _rollbacks(book: Book) -> None:
    with staged(book, "Requests") as stage:
        configuration = with_afternoon(stage)
        stage.says(ADA, "history", "/pool history, of one version")
        stage.later(hours=3)
        stage.provision(larger(configuration), BEN, "r4: the new SuperPOD")
        for line in ("rollback 2", "rollback one", "rollback 7", "rollback 1 it was better"):
            stage.says(ADA, line)
        stage.posted("Card: roll back")
        dev, research = configuration.policies
        too_much = replace(dev, reservation=Fraction(99), limit=None)
        bad = replace(configuration, policies=(too_much, research))
        stage.provision(bad, BEN)
        stage.provision(configuration, BEN)
        stage.says(ADA, "rollback 3", "/pool rollback, to what is not valid")
        stage.provision(noted(configuration), BEN, "r9: overtakes it")
        stage.says(BEN, "approve r1", "Approved, and void meanwhile")
        stage.posted("Card: void by another version", "In the thread: void by another version")
        for number in range(9):
            stage.later(hours=30)
            there = noted(configuration) if number % 2 else configuration
            stage.provision(there, ADA, f"r{number}: <!here>")
            stage.answered(ADA, "disable now")
            stage.answered(BEN if number % 2 else ADA, f"reject r{number + 2}")
        for line in ("history", "history page 2", "requests", "requests page 2"):
            stage.says(ADA, line, f"/pool {line}, after a while")


def _drafts(book: Book) -> None:
    with staged(book, "Drafts") as stage:
        configuration = with_afternoon(stage)
        for line in (
            "draft show", "draft diff", "draft save", "draft validate", "draft provision",
            "draft reset", "draft rebase", "draft discard", "draft export",
            "draft export saved", "draft export in-force",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {line}, without a draft")
        keep(stage, ADA, larger(configuration))
        for line in (
            "draft show", "draft diff", "draft validate", "draft discard", "draft reset",
            "draft export",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {line}, with unsaved changes")
        stage.says(ADA, "draft discard c99", "/pool draft discard, of what has moved on")
        stage.says(ADA, "draft save")
        for line in ("draft show", "draft diff", "draft validate", "draft save", "draft export"):
            stage.says(ADA, line, f"/pool {line}, of what is saved")
        stage.later(minutes=3)
        keep(stage, BEN, smaller(larger(configuration)), draft=1, origin=larger(configuration))
        for line in (
            "draft show",
            "draft diff",
            "draft validate",
            "draft reset",
            "draft provision",
        ):
            stage.says(BEN, line, f"/pool {line}, with changes beside it")
        stage.posted("Card: a draft while there are unsaved changes")
        stage.says(ADA, "draft reset 7-x", "/pool draft reset, of what has moved on")
        stage.says(BEN, "draft discard c1", "/pool draft discard, done")
        stage.says(ADA, "draft reset 1-d1.v1", "/pool draft reset, done")


def keep(
    stage: Stage,
    person: str,
    configuration: Configuration,
    draft: int | None = None,
    origin: Configuration | None = None,
) -> None:
    """What a person has in the editor, made from a revision of the draft, or from version 1."""
    copy = WorkingCopy(
        user=person,
        configuration=configuration,
        base=1,
        draft=draft,
        changed_at=stage.now,
        origin=origin or worked(),
    )
    stage.change(lambda session: working_copies.put(session, copy))


def _meanwhile(book: Book) -> None:
    """Somebody saved, reset or provisioned while another one was editing."""
    ours: dict[str, Callable[[Configuration], Configuration]] = {
        "without conflict": noted,
        "in conflict": larger,
        "with nothing of one's own": lambda configuration: configuration,
    }
    for how, change in ours.items():
        with staged(book, "Drafts") as stage:
            configuration = with_afternoon(stage)
            keep(stage, ADA, change(configuration))
            stage.later(minutes=5)
            dev = replace(configuration.policies[0], limit=Fraction(12))
            research = replace(configuration.policies[1], reservation=Fraction(6))
            save(stage, replace(configuration, policies=(dev, research)), 1)
            stage.says(ADA, "draft save", f"/pool draft save, overtaken {how}")
            stage.says(ADA, "draft rebase", f"/pool draft rebase, {how}")
    with staged(book, "Drafts") as stage:
        configuration = with_afternoon(stage)
        keep(stage, ADA, noted(configuration))
        stage.later(minutes=5)
        stage.provision(larger(configuration), BEN)
        stage.says(ADA, "draft save", "/pool draft save, after another version came into force")
        save(stage, configuration, 2)
        keep(stage, BEN, larger(configuration), draft=1)
        stage.change(configurations.delete_draft)
        stage.says(BEN, "draft save", "/pool draft save, after a reset")


def noted(configuration: Configuration) -> Configuration:
    """With a description, which conflicts with nothing."""
    pool = replace(configuration.pools[0], description="Second floor")
    return replace(configuration, pools=(pool, *configuration.pools[1:]))


def _nothing_drafted(book: Book) -> None:
    with staged(book, "Drafts") as stage:
        for line in ("draft show", "draft diff", "draft reset", "draft export", "draft provision"):
            stage.says(ADA, line, f"/pool {line}, before anything is provisioned")
        stage.change(
            lambda session: working_copies.put(
                session,
                WorkingCopy(
                    user=ADA, configuration=worked(), base=0, changed_at=NOW,
                    origin=Configuration(),
                ),
            )
        )  # fmt: skip
        stage.says(ADA, "draft save", "/pool draft save, for the first time")
        stage.says(ADA, "draft provision", "/pool draft provision, for the first time")
        stage.posted("Card: the first configuration")
        stage.says(ADA, "draft reset", "/pool draft reset, before the first version")
        stage.says(ADA, "draft reset 1-d1.v0", "/pool draft reset, with nothing in force")
        stage.posted("Card: the first configuration is void", "In the thread: reset")
