"""What the admins are told of cGPU by itself: cards of changes and restarts, drifts, outages.

Level-triggered as the reconciler is: what is to be shown is derived from the last look and from
the audit, and compared with what was told, which is kept beside; so a crash repeats and loses
nothing. One transaction.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Final

from pydantic import TypeAdapter

from bot import announcements, posts
from bot.blocks import Post, escape, plain, user
from bot.cgpu_cards import change_card, ended_card, restart_card
from bot.cgpu_lines import drift_line
from bot.desk import Desk
from controller.alerts import Kind, Trouble
from controller.cgpu_view import Note, View, last_note, last_view
from domain.cgpu_memory import Restart
from domain.cgpu_nodes import how_to_restart
from domain.ledger import AuditRecord
from storage import audit, cgpu, configurations, views
from storage.database import Session

_TOLD: Final = "cgpu-told"
_AWAY_AFTER: Final = 3
"""After so many runs that could not go on, admins are told (DESIGN.md, "The flows")."""

_RECORDS: Final = 300
_RESTART: Final = "cgpu restart"
_ACTIONS: Final = frozenset({"cgpu change", "cgpu set", _RESTART, "cgpu pause", "cgpu resume"})


@dataclass(frozen=True, kw_only=True)
class Told:
    """What was told by now. `seen` names the look that it was told of, `over` is the change whose
    end is shown; `restarts` have cards that still change; `shown` are hashes of cards by key."""

    seen: str = ""
    over: int = 0
    restarts: tuple[Restart, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)
    until: datetime | None = None


@cache
def _adapter() -> TypeAdapter[Told]:
    return TypeAdapter(Told)


def tell(desk: Desk) -> None:
    """Brings everything that is told of cGPU up to date; nothing where no cluster is set."""
    if not desk.settings.has_kubernetes:
        return
    with desk.database.reading() as session:
        if _told(session).seen == _seen(session):
            return
    with desk.database.transaction() as session:
        told, view, note = _told(session), last_view(session), last_note(session)
        _tell_troubles(desk, session, view, note)
        if view is not None and desk.settings.admin_channel:
            told = _Teller(desk, session, view, told).told_now()
        told = replace(told, seen=_seen(session))
        views.publish(session, _TOLD, _adapter().dump_json(told).decode(), desk.clock())
    desk.deliver()


def _told(session: Session) -> Told:
    found = views.published(session, _TOLD)
    return _adapter().validate_json(found[0]) if found else Told()


def _seen(session: Session) -> str:
    """Which look and which words there are: another text when there is something new to tell."""
    note, version = last_note(session), configurations.provisioned(session)
    number = version.number if version else 0
    return f"{note.looked_at} {note.times} {cgpu.control(session).revision} {number}"


def _tell_troubles(desk: Desk, session: Session, view: View | None, note: Note) -> None:
    away = note.times >= _AWAY_AFTER
    found = [*_drifts(view)] if view is not None and not note.away else []
    kinds = {Kind.KUBERNETES} if note.away else {Kind.KUBERNETES, Kind.CGPU}
    if away:
        text = f"Nothing is known or done about cGPU meanwhile. {note.away}"
        found = [Trouble(kind=Kind.KUBERNETES, about="cgpu", text=text, since=note.since)]
    announcements.compare(desk, session, found, kinds)


def _drifts(view: View) -> Iterator[Trouble]:
    for drift in view.drifts:
        if drift.alarms:
            about = drift.cause.removeprefix("cgpu-")
            yield Trouble(kind=Kind.CGPU, about=about, text=drift_line(drift))


class _Teller:
    """Tells of the change and the restarts, in one transaction."""

    def __init__(self, desk: Desk, session: Session, view: View, told: Told) -> None:
        self._desk = desk
        self._session = session
        self._view = view
        self._told = told
        self._shown = dict(told.shown)
        self._channel = desk.settings.admin_channel
        self._now = desk.clock()

    def told_now(self) -> Told:
        """Shows what has changed, and what was told with that."""
        records = self._records()
        over = self._change()
        self._restarts(records)
        for record in records:
            self._entry(record)
        keys = {self._change_key(), *map(_restart_key, self._view.restarts)}
        return Told(
            over=over,
            restarts=self._view.restarts,
            shown={key: value for key, value in self._shown.items() if key in keys},
            until=max((one.at for one in records), default=self._told.until),
        )

    def _records(self) -> list[AuditRecord]:
        """What was done since, the oldest first."""
        change = self._view.change
        since = self._told.until or (change.started_at if change else self._now)
        found = audit.records(self._session, _RECORDS, "cgpu")
        return [one for one in reversed(found) if one.action in _ACTIONS and one.at >= since]

    def _change_key(self) -> str:
        change = self._view.change
        return f"cgpu-change:{change.id}" if change else ""

    def _change(self) -> int:
        change = self._view.change
        if change is None or self._told.over == change.id:
            return self._told.over
        self._show(self._change_key(), change_card(self._view, change, self._channel))
        return self._told.over if change.is_open else change.id

    def _restarts(self, records: Iterable[AuditRecord]) -> None:
        now = {_restart_key(one) for one in self._view.restarts}
        for restart in self._view.restarts:
            card = restart_card(self._view, restart, self._channel)
            self._show(_restart_key(restart), card)
        last = {one.subject: one.detail for one in records if one.action == _RESTART}
        for restart in self._told.restarts:
            if _restart_key(restart) not in now:
                how = _sentence(last.get(restart.node, "it is over"))
                card = ended_card(restart, how, user(restart.by), self._channel)
                self._show(_restart_key(restart), card)

    def _show(self, key: str, post: Post) -> None:
        shown = sha256(repr(post).encode()).hexdigest()
        if self._shown.get(key) != shown:
            self._shown[key] = shown
            posts.show_card(self._session, key, post, self._now)

    def _entry(self, record: AuditRecord) -> None:
        """A line in the thread of the restart, or else of the change, that it belongs to."""
        restart = self._restart_of(record)
        card = _restart_key(restart) if restart else self._change_key()
        if not card:
            return
        key = f"cgpu-entry:{record.at.isoformat()}:{record.subject}:{record.action}"
        post = Post(channel=self._channel, text=self._spoken(record, restart))
        posts.tell_in_thread(self._session, card, key, post, self._now)

    def _spoken(self, record: AuditRecord, restart: Restart | None) -> str:
        """What was done and by whom; who is to restart a machine now is called."""
        if record.actor != "poolkeeper":
            return f"{user(record.actor)} {escape(plain(record.detail, 600))}."
        nodes = {one.name: one for one in self._view.situation.cluster.nodes}
        node = nodes.get(record.subject)
        is_due = node is not None and how_to_restart(node) in record.detail
        said = _sentence(record.detail)
        return f"{user(restart.by)}: {said}" if restart and is_due else said

    def _restart_of(self, record: AuditRecord) -> Restart | None:
        if record.action != _RESTART:
            return None
        known = (*self._view.restarts, *self._told.restarts)
        fitting = (one for one in known if one.node == record.subject and one.at <= record.at)
        return max(fitting, key=lambda one: one.at, default=None)


def _restart_key(restart: Restart) -> str:
    return f"cgpu-restart:{restart.node}:{restart.at.isoformat()}"


def _sentence(text: str) -> str:
    """A detail of the audit as a sentence of markup; names keep their small letters."""
    shown = escape(plain(text, 600)).removesuffix(".")
    first = shown.partition(" ")[0]
    return (
        f"{shown[:1].upper()}{shown[1:]}." if first.isalpha() and first.islower() else f"{shown}."
    )
