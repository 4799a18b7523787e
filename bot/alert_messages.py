"""What alerts say. Pure.

What they quote may hold anything that people have named, so it is shown as plain text.
"""

from collections.abc import Sequence
from datetime import datetime

from bot.blocks import (
    Block,
    Post,
    button,
    buttons,
    context,
    escape,
    name,
    plain,
    section,
    sections,
)
from bot.desk import span
from bot.naming import command
from bot.task_names import Names
from controller.alerts import Kind, Trouble, clock
from storage.alerts import Alert

_MOST = 700
_LISTED = 10

_TITLES = {
    Kind.WAITS: "Waiting too long",
    Kind.RESERVATION: "Reservation not honoured",
    Kind.UNTAKEN: "No agent takes dispatched tasks",
    Kind.FOREIGN: "Pool full of foreign tasks",
    Kind.CLEARML: "ClearML is away",
    Kind.BOOKS: "A check of the books failed",
    Kind.CGPU: "cGPU is not as provisioned",
    Kind.KUBERNETES: "Kubernetes cannot be worked with",
}
_OVER = {
    Kind.WAITS: "no task of {} waits that long any more.",
    Kind.RESERVATION: "the reservation of {} is honoured, or nothing of theirs that fits waits.",
    Kind.UNTAKEN: "what {} dispatched is taken by agents, or gone.",
    Kind.FOREIGN: "{} has room again beside foreign tasks.",
    Kind.CLEARML: "ClearML answers again, and rounds run.",
    Kind.BOOKS: "a round's books are right again.",
    Kind.CGPU: "that difference is gone ({}).",
    Kind.KUBERNETES: "Kubernetes answers again, and cGPU is looked after.",
}


def standing(channel: str, trouble: Trouble, alert: Alert) -> Post:
    """The card of a trouble that lasts; the alert has its text with names."""
    title = _TITLES[trouble.kind]
    said = plain(alert.text, _MOST)
    blocks = [section(f":warning: *{title}*"), _as_it_stands(said), *_actions(trouble)]
    blocks.append(context(f"Since {clock(alert.since)}. I say so here when it is over."))
    return Post(channel=channel, text=f"{title}: {escape(said)}", blocks=tuple(blocks))


def over(channel: str, alert: Alert, at: datetime) -> Post:
    """The card of a trouble that is over: what it was stays to be read."""
    title = _TITLES[Kind(alert.kind)]
    lasted = f"over since {clock(at)}, it lasted {span(at - alert.since)}"
    was = plain(alert.text, _MOST)
    blocks = (
        section(f":white_check_mark: *{title}*: {lasted}."),
        context(f"It was: {escape(was)}"),
    )
    return Post(channel=channel, text=f"{title}: {lasted}.", blocks=blocks)


def entry(channel: str, alert: Alert) -> Post:
    """The word in the thread when it is over."""
    about = name(alert.cause.partition(":")[2])
    return Post(channel=channel, text=f"Over: {_OVER[Kind(alert.kind)].format(about)}")


def grouped(channel: str, found: Sequence[Trouble], names: Names) -> Post:
    """Tasks of one team about which there is one thing to say, once."""
    first, count = found[0], len(found)
    those = "1 task" if count == 1 else f"{count} tasks"
    title = f"{those} of {name(first.policy)} can never run as things are"
    if first.kind is Kind.STRANGER:
        title = f"{those} in the queues of {name(first.policy)} from people not on its list"
    lines = [
        f"• {names.label(one.about)}: {escape(plain(names.sentence(_reason(one)), 300))}"
        for one in found[:_LISTED]
    ]
    more = [f"and {count - _LISTED} more"] if count > _LISTED else []
    blocks = [section(f":warning: *{title}*"), *sections([*lines, *more])]
    blocks += _actions(first)
    text = f"{title}. {lines[0].removeprefix('• ')}"
    return Post(channel=channel, text=text, blocks=tuple(blocks))


def _reason(trouble: Trouble) -> str:
    """Without what the title says of all of them."""
    reason = trouble.text.removeprefix("Can never run: ")
    return reason[0].upper() + reason[1:]


def sent_back(channel: str, policy: str, details: Sequence[str]) -> Post:
    """Tasks that were taken out of a team's queue."""
    count = len(details)
    those = "1 task was" if count == 1 else f"{count} tasks were"
    title = f"{those} taken out of the queues of {name(policy)}"
    lines = [f"• {escape(plain(detail, 300))}" for detail in details[:_LISTED]]
    more = [f"and {count - _LISTED} more"] if count > _LISTED else []
    blocks = (section(f":leftwards_arrow_with_hook: *{title}*"), *sections([*lines, *more]))
    return Post(channel=channel, text=f"{title}. {lines[0].removeprefix('• ')}.", blocks=blocks)


def _actions(trouble: Trouble) -> list[Block]:
    row = []
    if trouble.kind in (Kind.WAITS, Kind.RESERVATION, Kind.NEVER) and trouble.tasks:
        row.append(button("Why", command("why", trouble.tasks[0])))
    if trouble.policy:
        row.append(button("The queue", command("queue", trouble.policy)))
    if trouble.kind is Kind.UNTAKEN:
        row.append(button("What an agent needs", command("agents", trouble.about)))
    if trouble.kind is Kind.FOREIGN:
        row.append(button("The pool", command("status", trouble.about)))
    if trouble.kind is Kind.CGPU:
        row.append(button("cGPU status", "cgpu status"))
    return [buttons(*row)] if row else []


def _as_it_stands(text: str) -> Block:
    """A section in which nothing is markup."""
    return {"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}
