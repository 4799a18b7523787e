"""The gallery's doctor, with everything that it may find."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

from bot.checkups import (
    Channel,
    Rules,
    SlackState,
    cluster_ailments,
    round_ailments,
    rule_ailments,
    slack_ailments,
)
from bot.checkups_servers import ClearMLState, clearml_ailments
from bot.doctor_answers import Findings, diagnosis, examine
from bot.gallery_book import Book
from bot.gallery_examples import with_afternoon, worked
from bot.gallery_stage import ADA, NOW, TEAM, staged, task_id
from bot.slack_door import Impossible, Later
from controller.alerts import Kind
from controller.survey import Survey
from domain.ledger import OwnedQueue, Role
from storage import alerts
from storage.alerts import Alert


def scenes(book: Book) -> None:
    _doctor(book)


def _doctor(book: Book) -> None:
    with staged(book, "Doctor", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        with_afternoon(stage)
        stage.says(ADA, "doctor")
        stage.slack.ailing = True
        stage.slack.fails = {"groups": Impossible("missing_scope"), TEAM: Later("ratelimited"),
                             "C_LANGUAGE": Impossible("channel_not_found")}  # fmt: skip
        raised = Alert(
            cause="foreign:h100", kind=Kind.FOREIGN, since=NOW, text="h100 is full of `others`."
        )
        stage.change(lambda session: alerts.raise_(session, raised))
        stage.later(hours=2)
        stage.says(ADA, "doctor", "/pool doctor, with much that is wrong")
        stage.says(ADA, "doctor page 2")
        stage.slack.fails = {"scopes": Impossible("invalid_auth")}
        stage.says(ADA, "doctor", "/pool doctor, while Slack refuses it")
        offline = replace(stage.desk, slack=None)
        book.reply((stage.group, "/pool doctor, without Slack"), diagnosis(examine(offline)))
        for title, found in _findings().items():
            book.reply((stage.group, title), diagnosis(found))


_OWNED: Final = tuple(
    OwnedQueue(
        id=task_id(7000 + n), role=Role.EXECUTION, profile="4xGPU", owner=link, pool=pool,
        name=f"pool {pool} · {link}",
    )
    for n, (link, pool) in enumerate(
        (("4 GPU Low End", "bare-metal"), ("4 GPU H100 link", "h100"))
    )
)  # fmt: skip


def _findings() -> dict[str, Findings]:
    """What the doctor says of each part, by title."""
    rules = Rules(
        admins=frozenset({ADA}), admin_group="S_ADMINS", admin_channel="", approvals=1,
        lone_admin=False, round_s=5,
    )  # fmt: skip
    groups = {"S_ADMINS": "the admins", "S_GONE": "policy `dev`"}
    faults = ("channel_not_found", "is_archived", "not_in_channel", "restricted_action")
    channels = [Channel(id=f"C_{n}", whose="policy `dev`", fault=f) for n, f in enumerate(faults)]
    every = frozenset({"chat:write"})
    survey = Survey(
        at=NOW, server_version="1.17.0", missing=frozenset({task_id(7000)}),
        unserved=frozenset({task_id(7001)}), unmarked=frozenset({task_id(7001)}),
        intruders={task_id(7000): ("worker-1:gpu0", "<!channel>")}, error="<html> 502 Bad Gateway",
    )  # fmt: skip
    with_queues = ClearMLState(configuration=worked(), owned=_OWNED, survey=survey)
    found = {
        "Nothing is wrong": [],
        "Slack does not answer": [*slack_ailments(SlackState(error="invalid_auth"), groups)],
        "Groups and channels in Slack": [
            *slack_ailments(SlackState(scopes=every, channels=channels), groups),
        ],
        "User groups cannot be read": [
            *slack_ailments(
                SlackState(scopes=every, groups=None, groups_error="missing_scope"), groups
            ),
        ],
        "Too few admins": [*rule_ailments(rules)],
        "No admin": [*rule_ailments(replace(rules, admins=frozenset()))],
        "Admins cannot be read": [*rule_ailments(replace(rules, admins=None))],
        "ClearML was not looked at": [*clearml_ailments(ClearMLState(configuration=worked()))],
        "ClearML's queues and agents": [*clearml_ailments(with_queues)],
        "No round": [*round_ailments(None, rules)],
        "An old round": [*round_ailments(timedelta(minutes=7), rules)],
        "Kubernetes is away": [*cluster_ailments("403 <Forbidden>", None, 60)],
        "Kubernetes was not looked at": [*cluster_ailments("", None, 60)],
        "An old look at Kubernetes": [*cluster_ailments("", timedelta(hours=2), 60)],
    }
    facts = ("Slack (12 scopes, 2 user groups, 3 channels)", "ClearML 1.17.0")
    return {
        title: Findings(ailments=tuple(ailments), facts=facts) for title, ailments in found.items()
    }
