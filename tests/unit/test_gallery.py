"""The gallery shows all that the bot can show, and all of it can be shown in Slack.

What there is to be shown is read from the code: every module with a function that gives something
for people to see, line by line. What is not run while the gallery is made is listed here, with why.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot import alert_messages
from bot.registry import SURFACES, TABLE
from controller.alerts import Kind
from domain.cgpu_nodes import NodeState
from domain.requests import RequestKind, RequestState
from domain.snapshot import Reason
from tests.gallery_support import BOT, Traced, functions, tells, traced
from tests.sandbox_support import ROOT
from tests.slack_endpoint import Endpoint, listening
from tests.slack_support import Workspace

Doc = dict[str, Any]

ELSEWHERE = {
    "app": "carries between Slack and the handlers; what it carries is made by them",
    "answering": "gives what the handlers give",
    "posts": "puts what was made into the outbox, and takes it out again",
}
"""Modules that tell nothing of their own."""

SENTENCES = (
    "agent_requests", "bars", "cgpu_lines", "change_texts", "checkups", "checkups_servers",
    "editing_words", "task_names",
)  # fmt: skip
"""Modules that make the words for those that tell."""

_CARRIES = "carries what others have made to Slack"
_GUARD = "nothing that is pressed leads there; two windows at the same instant may"
_CHOICES = "a select's choices, which are no document"
NOT_SHOWN = {
    "bars.bar": "a bar whose shares round to one cell more than it has",
    "carrying.bounded": "a guard against answers that are too long; none is, or it would be logged",
    "carrying.whisper": _CARRIES,
    "carrying.publish": _CARRIES,
    "carrying._check": _CARRIES,
    "carrying.open_window": _CARRIES,
    "carrying.show_in_view": _CARRIES,
    "carrying.push": _CARRIES,
    "carrying.carry": _CARRIES,
    "checkups_servers.clock_ailments": "the terminal's",
    "checkups_servers.database_ailments": "the terminal's",
    "checkups_servers.megabytes": "the terminal's",
    "cgpu_lines.table": "the terminal's",
    "cgpu_lines.report": "the terminal's",
    "digest_messages.picture": "a file, drawn when it is sent; no document",
    "digest_messages._chart": "the picture's",
    "digest_messages._note": "the picture's",
    "digest_messages._waiting": "the picture's",
    "digest_messages._alt": "the picture's",
    "editing_guard.act": "wraps a handler when the module is read",
    "editing_guard.submit": "wraps a handler when the module is read",
    "editing_renames.keep_renames": _GUARD,
    "editing_submits.changed": _GUARD,
    "editor.find": _CHOICES,
    "editor.suggest": _CHOICES,
    "editor._choices": _CHOICES,
    "notices.tell": "where nobody is to be told",
    "notices._notices": "where there was no round yet",
    "request_answers.propose": "an amount that could be read is refused by nobody",
    "submitting.Submitting.submitted": _CARRIES,
    "submitting.Submitting._result": _CARRIES,
    "submitting.Submitting._acknowledge": _CARRIES,
    "submitting.Submitting._show_below": _CARRIES,
    "submitting.Submitting.closed": _CARRIES,
    "submitting.Submitting._tell": _CARRIES,
    "submitting.Submitting._show_late": _CARRIES,
    "surfaces.Typed.private": _CHOICES,
    "surfaces.fields_of": "reads what was filled in",
    "surfaces._input": "reads what was filled in",
}
"""Functions of which some lines are not run."""


def telling() -> list[Path]:
    found = [path for path in sorted(BOT.glob("*.py")) if tells(path)]
    own = [path for path in found if not path.stem.startswith("gallery")]
    return [path for path in own if path.stem not in ELSEWHERE]


PATHS = [*telling(), *(BOT / f"{name}.py" for name in SENTENCES)]
MADE = "import json, sys; from bot.gallery import documents; json.dump(documents(), sys.stdout)"


@pytest.fixture(scope="module")
def made() -> tuple[list[Doc], Traced]:
    from bot.gallery import documents

    documented, trace = traced(documents, PATHS)
    return documented["entries"], trace


@pytest.fixture(scope="module")
def entries(made: tuple[list[Doc], Traced]) -> list[Doc]:
    return made[0]


@pytest.fixture(scope="module")
def everything(entries: list[Doc]) -> str:
    return json.dumps(entries, ensure_ascii=False)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_line_that_makes_something_to_see_is_run(
    made: tuple[list[Doc], Traced], path: Path
) -> None:
    missed = {f"{path.stem}.{name}": lines for name, lines in made[1].missed(path).items()}

    assert {name: lines for name, lines in missed.items() if name not in NOT_SHOWN} == {}


def test_what_is_excused_is_there_and_is_not_shown(made: tuple[list[Doc], Traced]) -> None:
    missed = {f"{path.stem}.{name}" for path in PATHS for name in made[1].missed(path)}

    assert NOT_SHOWN.keys() - missed == set()
    assert [name for name in ELSEWHERE if not tells(BOT / f"{name}.py")] == []


def test_what_each_function_gave_can_be_seen(made: tuple[list[Doc], Traced]) -> None:
    shown = [str(entry["document"].get("text")) for entry in made[0] if entry["kind"] == "message"]
    windows = json.dumps([entry["document"] for entry in made[0]], ensure_ascii=False)
    unseen = {
        name
        for name, texts in made[1].told.items()
        if not any(text in one for text in texts for one in shown)
        and not any(json.dumps(text, ensure_ascii=False)[1:-1] in windows for text in texts)
    }

    # Its window is what is seen of it.
    assert unseen <= {"editor.open_editor", "importing.open_import"}


def test_there_is_enough_that_is_measured() -> None:
    assert sum(len(lines) for path in PATHS for _, lines in functions(path)) > 2500


@pytest.mark.parametrize("verb", TABLE, ids=lambda verb: verb.name)
def test_every_verb_is_shown_and_refused(entries: list[Doc], verb: Any) -> None:
    said = {(entry.get("said"), entry["title"]) for entry in entries}
    refused = f"Refused to others: {verb.name}"

    assert [title for line, title in said if is_of(verb.name, line) and title != refused]
    assert verb.role == "everybody" or refused in {title for _, title in said}


def is_of(verb: str, line: str | None) -> bool:
    return line is not None and f"{line} ".startswith(f"{verb} ")


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_alert_is_shown(everything: str, kind: Kind) -> None:
    title = alert_messages._TITLES.get(kind)
    once = {Kind.NEVER: "can never run as things are", Kind.STRANGER: "people not on its list"}

    assert (title or once[kind]) in everything


@pytest.mark.parametrize("callback", sorted(SURFACES.submits))
def test_every_window_of_the_editor_is_shown(entries: list[Doc], callback: str) -> None:
    views = [entry["document"] for entry in entries if entry["kind"] == "modal"]

    assert callback in {view.get("callback_id") for view in views}


def test_every_state_of_a_request_is_shown(everything: str) -> None:
    stages = {
        RequestState.OPEN: "Waits for one approval",
        RequestState.APPROVED: "it is being applied",
        RequestState.REJECTED: "Rejected by",
        RequestState.VOIDED: "Void: ",
        RequestState.EXPIRED: "Expired: ",
        RequestState.APPLIED: "and applied as version",
        RequestState.FAILED: "Approved, but not applied",
    }
    kinds = {
        RequestKind.PROVISION: "provision the draft",
        RequestKind.ROLLBACK: "roll back to version",
        RequestKind.ENABLE: "enable management",
        RequestKind.DISABLE: "disable management",
        RequestKind.PROPOSAL: "other terms for",
        RequestKind.CGPU: "set cGPU policy",
    }

    assert [state for state in RequestState if stages[state] not in everything] == []
    assert [kind for kind in RequestKind if f": {kinds[kind]}" not in everything] == []


def test_every_reason_why_a_task_waits_is_shown(entries: list[Doc]) -> None:
    titles = {entry["title"] for entry in entries}

    assert {f"Because: {reason.value.replace('_', ' ')}" for reason in Reason} <= titles


def test_every_state_of_a_node_is_shown(everything: str) -> None:
    # A node is in these between two looks only.
    passing = {NodeState.WAITS_FOR_INSTALLER, NodeState.NOT_READY}

    unseen = {state for state in NodeState if f"*{state}*" not in everything}
    assert {one for one in unseen if f": {one}*" not in everything} <= passing


def test_the_gallery_is_the_same_every_time(entries: list[Doc]) -> None:
    env = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Shanghai"}
    again = subprocess.run(
        [sys.executable, "-c", MADE], cwd=ROOT, env=env, capture_output=True, check=True, text=True
    )

    assert json.loads(again.stdout)["entries"] == json.loads(json.dumps(entries))
    assert again.stderr == ""


def test_slugs_name_one_entry_each(entries: list[Doc]) -> None:
    slugs = [entry["slug"] for entry in entries]

    assert len(set(slugs)) == len(slugs)
    assert [slug for slug in slugs if not slug.isascii() or " " in slug] == []


def test_every_message_says_in_a_whole_sentence_what_it_is(entries: list[Doc]) -> None:
    texts = {e["slug"]: e["document"]["text"] for e in entries if e["kind"] == "message"}

    short = {
        slug: text for slug, text in texts.items() if len(text.split()) < 2 and text != "Done."
    }
    open_ = {slug: text for slug, text in texts.items() if text[-1] not in ".?!:)`…"}
    assert (short, open_) == ({}, {})


def test_nothing_in_it_would_ping_a_channel(entries: list[Doc]) -> None:
    for entry in entries:
        # Text that Slack does not read for markup may say anything.
        for text in marked(entry["document"]):
            assert "<!" not in text.replace("<!date", "").replace("<!subteam", ""), entry["slug"]


def marked(part: object) -> Iterator[str]:
    """Every text that is read for markup."""
    if isinstance(part, dict):
        if isinstance(part.get("text"), str) and part.get("type") in (None, "mrkdwn"):
            yield part["text"]
        yield from (text for value in part.values() for text in marked(value))
    elif isinstance(part, list):
        yield from (text for value in part for text in marked(value))


@pytest.fixture
def app(slack: Workspace) -> Iterator[Endpoint]:
    yield from listening(slack)


def test_slack_takes_all_of_it(slack: Workspace, app: Endpoint, entries: list[Doc]) -> None:
    slack.configure(rate_limits=False)
    window = open_window(slack, app, entries)
    refused = {}
    for entry in entries:
        if entry["kind"] == "message":
            answer = slack.call("chat.postMessage", channel="C_VISION", **entry["document"])
        elif entry["kind"] == "home":
            answer = slack.call("views.publish", user_id="U_ADA", view=entry["document"])
        else:
            answer = slack.call("views.update", view_id=window, view=entry["document"])
        if answer.error:
            refused[entry["slug"]] = (answer.error, answer.problems)
    assert refused == {}
    mentions = {one for message in slack.messages("C_VISION") for one in message.mentions}
    assert {one for one in mentions if one.startswith("!")} == set()


def open_window(slack: Workspace, app: Endpoint, entries: list[Doc]) -> str:
    """A window that is open, by its id."""
    first = next(entry["document"] for entry in entries if entry["kind"] == "modal")
    slack.person("U_ADA").command("/pool edit")
    trigger = str(app.heard[-1]["trigger_id"])
    return str(slack.ok("views.open", trigger_id=trigger, view=first)["view"]["id"])
