"""The gallery's votes, and how requests end; history and rollback."""

from dataclasses import replace
from fractions import Fraction
from typing import Final

from bot import approvals
from bot.gallery_book import Book
from bot.gallery_changes import larger, noted, save
from bot.gallery_examples import with_afternoon
from bot.gallery_stage import ADA, BEN, DANA, NOW, Stage, staged
from bot.request_messages import decision_reply
from bot.tending import tend
from domain.configuration import CGPU
from domain.requests import Request, Vote, failed
from domain.voting import AlreadyVoted, Counted, Decision, NotAdmin
from storage import requests
from storage.database import Session

_THREE: Final = {"POOLKEEPER_ADMINS": "U_ADA,U_BEN,U_CHIARA", "POOLKEEPER_APPROVALS": "2"}


def scenes(book: Book) -> None:
    for scene in (_votes, _ends, _rollbacks):
        scene(book)


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
