"""The outbox's worker: one thread that carries messages to Slack, each once, in their order.

An attempt is written down before it is made. Whoever finds an unsent message with attempts looks
for it in Slack first; so a crash at any instant neither loses a message nor posts it twice.
"""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from bot.pacing import Pace, backoff
from bot.posts import card_key
from bot.sending import Sender, Sent
from bot.slack_door import Impossible, Later, SlackError
from domain.ledger import AuditRecord
from storage import audit, cards, outbox
from storage.database import Database
from storage.errors import LeadershipLost, StorageError
from storage.outbox import Message

log = logging.getLogger(__name__)

_LEASE = timedelta(seconds=60)
"""How long a sending may take before another worker takes it for dead."""

_LAST_CALL = timedelta(seconds=12)
"""Longer than a call to Slack may take (`bot.slack_door`)."""

_LOOK_S = 1.0
_END_S = 15.0
_PATIENCE = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))
"""A channel may be made, unarchived or joined; so what is impossible is tried so often more."""

_OPERATORS = frozenset(
    {"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive",
     "missing_scope", "not_allowed_token_type", "access_denied"}
)  # fmt: skip
"""What only the operator can mend: nothing is given up for it."""

_OURS = frozenset(
    {"invalid_blocks", "msg_too_long", "no_text", "invalid_arguments", "msg_blocks_too_long",
     "invalid_arg_name", "metadata_too_large", "invalid_metadata_format", "broken"}
)  # fmt: skip
"""What is wrong with the message itself, and stays so."""


class Worker:
    """`turn` sends what may go now; `start` does so in a thread until `stop`."""

    def __init__(self, database: Database, sender: Sender, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._sender = sender
        self._clock = clock
        self._pace = Pace()
        self._refused: set[tuple[str, int, int]] = set()
        self._wake = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)

    def start(self) -> None:
        """For the one process that leads: what another began, it died of, or is done with soon.

        Where the one before may live on without its leadership, it may have been asked for the last
        time right before it lost that; so it is looked for only when that call is over.
        """
        now = self._clock()
        with self._database.transaction() as session:
            for message in outbox.begun(session, now):
                wait = _last_calls(message) if self._database.is_shared else timedelta()
                outbox.free(session, message, now + wait)
        self._thread.start()

    def deliver(self) -> None:
        """Something was put in; it is looked for at once."""
        self._wake.set()

    def stop(self) -> None:
        """Ends after the message that is being sent."""
        self._ended.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_END_S)

    def turn(self) -> int:
        """Sends of every channel the first message that may go; how many were tried."""
        now = self._clock()
        with self._database.reading() as session:
            heads = outbox.heads(session, now)
        tried = 0
        for head in heads:
            message = self._before(head)
            if self._ended.is_set() or message.not_before > now:
                continue
            if not self._pace.is_free(message, now):
                continue
            tried += 1
            self._try(message)
        return tried

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self.turn()
            except LeadershipLost as error:
                log.info("the outbox is left to whoever leads", extra={"reason": error})
                return
            except StorageError as error:
                log.warning("the outbox cannot be read, it is tried again", extra={"error": error})
            except Exception:  # the boundary: the thread must not end
                log.exception("a turn of the outbox failed")
            self._wake.wait(self._pause_s())
            self._wake.clear()

    def _pause_s(self) -> float:
        now = self._clock()
        first = self._pace.next(now)
        return _LOOK_S if first is None else min(_LOOK_S, (first - now).total_seconds())

    def _before(self, message: Message) -> Message:
        """An entry waits for its card: where that is still to be posted, it goes first."""
        card = message.payload.get("thread_of")
        if not isinstance(card, str):
            return message
        with self._database.reading() as session:
            if cards.card(session, card) is not None:
                return message
            first = outbox.find(session, card_key(card))
        return first if first is not None and first.sent_at is None else message

    def _try(self, message: Message) -> None:
        now = self._clock()
        with self._database.transaction() as session:
            if not outbox.begin(session, message, now + _LEASE):
                return
        attempt = (message.key, message.edition, message.attempts)
        maybe_sent = message.attempts > 0 and attempt not in self._refused
        self._refused.discard(attempt)
        try:
            sent = self._sender.send(message, now, maybe_sent=maybe_sent)
        except Later as error:
            self._put_off(message, error, error.code == "ratelimited")
        except Impossible as error:
            self._refuse(message, error)
        except StorageError:
            raise
        except Exception as error:  # the boundary: one message must not stop the others
            log.exception("a message could not be made", extra={"key": message.key})
            self._refuse(message, Impossible("broken", f"{type(error).__name__}: {error}"))
        else:
            self._keep(message, sent)

    def _keep(self, message: Message, sent: Sent) -> None:
        now = self._clock()
        with self._database.transaction() as session:
            if sent.card is not None:
                cards.put(session, sent.card)
            outbox.mark_sent(session, message, now, {"channel": sent.channel, "ts": sent.ts})
        self._pace.used(message, now)

    def _put_off(self, message: Message, error: SlackError, certainly_not: bool) -> None:
        """Slack says how long, or it is tried again after ever longer pauses."""
        after = timedelta(seconds=error.after_s) if isinstance(error, Later) else timedelta()
        until = self._clock() + (after or backoff(message.attempts))
        log.warning("a message has to wait", extra={"key": message.key, "error": error})
        if certainly_not:
            self._refused.add((message.key, message.edition, message.attempts + 1))
            self._pace.limited(message, until)
        self._postpone(message, until)

    def _refuse(self, message: Message, error: SlackError) -> None:
        if error.code in _OPERATORS:
            log.error(
                "Slack refuses the app, its token or scopes are to be mended",
                extra={"error": error},
            )
            self._put_off(message, error, certainly_not=True)
        elif error.code in _OURS or message.attempts >= len(_PATIENCE):
            self._drop(message, error)
        else:
            log.warning("a message is refused", extra={"key": message.key, "error": error})
            self._refused.add((message.key, message.edition, message.attempts + 1))
            self._postpone(message, self._clock() + _PATIENCE[message.attempts])

    def _postpone(self, message: Message, until: datetime) -> None:
        self._pace.wait(message, until)
        with self._database.transaction() as session:
            outbox.postpone(session, message, until)

    def _drop(self, message: Message, error: SlackError) -> None:
        """Given up, and on record with what it said."""
        now = self._clock()
        text = str(message.payload.get("text", ""))
        record = AuditRecord(
            at=now,
            actor="poolkeeper",
            action="message dropped",
            subject=message.channel,
            detail=f"{error}; it was {message.key}: {text}",
        )
        log.error("a message is given up", extra={"key": message.key, "error": error})
        with self._database.transaction() as session:
            outbox.mark_sent(session, message, now, {"dropped": error.code})
            audit.record(session, record)


def _last_calls(message: Message) -> timedelta:
    """How long it takes at the longest to send it; a picture takes three calls."""
    return 3 * _LAST_CALL if "picture" in message.payload else _LAST_CALL
