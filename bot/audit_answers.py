"""`audit`: who did what, newest first; what failed is found by its reference."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from bot.access import Actor
from bot.blocks import (
    Block,
    Reply,
    buttons,
    context,
    counted,
    escape,
    name,
    page_in,
    plain,
    prose,
    section,
    turn,
    user,
)
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.naming import command
from domain.ledger import AuditRecord
from storage import audit

_A_PAGE: Final = 10
_DETAIL: Final = 350
_FURTHEST: Final = 1_000
"""A page beyond this is not read; a filter finds what is older."""


def records(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """The latest records, or those in which the words stand."""
    words, number = page_in(asked.words)
    number = min(max(number, 1), _FURTHEST)
    contains = " ".join(words)
    with desk.database.reading() as session:
        found = audit.records(session, number * _A_PAGE + 1, contains)
    return audit_page(found, contains, number)


def audit_page(found: Sequence[AuditRecord], contains: str, number: int) -> Reply:
    """One page of `found`, which holds one record more than the pages so far where there is."""
    number = min(number, max(1, -(-len(found) // _A_PAGE)))
    shown = found[(number - 1) * _A_PAGE : number * _A_PAGE]
    about = f" with “{escape(plain(contains))}”" if contains else ""
    if not shown:
        text = f"Nothing is recorded{about}."
        return Reply(text=text, blocks=(section(text),))
    blocks: list[Block] = [section(f"*What was done{about}, newest first*")]
    for record in shown:
        blocks.append(section(_line(record)))
        if record.detail:
            blocks.append(prose(plain(record.detail, _DETAIL)))
    turns = _turns(command("audit", *contains.split()), number, len(found) > number * _A_PAGE)
    text = f"The latest {counted(len(shown), 'record')}{about}, page {number}."
    return Reply(text=text, blocks=(*blocks, *turns))


def _turns(says: str, number: int, more: bool) -> list[Block]:
    row = [turn("Newer", f"{says} page {number - 1}")] if number > 1 else []
    row += [turn("Older", f"{says} page {number + 1}")] if more else []
    note = context(f"Page {number} · as a file: `poolkeeper audit --csv`")
    return [note, buttons(*row)] if row else [note]


def _line(record: AuditRecord) -> str:
    who = user(record.actor) if record.actor != "poolkeeper" else "Poolkeeper"
    what = f"*{escape(plain(record.action)).replace('*', '')}*"
    reference = f" · reference {name(record.reference)}" if record.reference else ""
    return f"{moment(record.at)}  {who} {what} {name(record.subject)}{reference}"


def moment(at: datetime) -> str:
    """A time as each reader's own clock shows it."""
    utc = at.strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{int(at.timestamp())}^{{date_short}} {{time_secs}}|{utc}>"


VERBS = (
    Verb(
        words=("audit",),
        role=Role.ADMIN,
        help="shows who did what; with words or a reference, the records that hold them.",
        usage="[words or reference]",
        takes=(0, None),
        example="audit",
        answer=records,
    ),
)
