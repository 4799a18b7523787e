"""Submitted windows: what a handler answers is the acknowledgement, which Slack wants within 3 s.

Where the handler takes longer (the database is busy), the window says so, and shows what became of
it as soon as that is known.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from slack_bolt import Ack

from bot import carrying
from bot.access import Actor
from bot.blocks import Block, Post, Reply, escape, plain, section
from bot.commands import Origin
from bot.desk import Desk
from bot.failing import Failing
from bot.registry import SURFACES
from bot.slack_door import Impossible, Slack
from bot.surfaces import Done, Errors, Show, Submission, fields_of, private_of

log = logging.getLogger(__name__)

PATIENCE_S: Final = 2.0
"""How long a window waits for its answer; Slack gives up after three seconds."""

OUTDATED: Final = "This is from an older version of me. Nothing was changed; say `/pool help`."

Result = Errors | Show | Done | None


@dataclass(frozen=True, kw_only=True)
class Submitting:
    """Carries what is submitted to its handler, and the handler's answer back."""

    desk: Desk
    slack: Slack
    failing: Failing
    workers: ThreadPoolExecutor
    is_first: Callable[[dict[str, Any]], bool]
    actor: Callable[[str], Actor]

    def submitted(self, ack: Ack, body: dict[str, Any], view: Block) -> None:
        work = self.workers.submit(self._result, body, view)
        try:
            result = work.result(PATIENCE_S)
        except TimeoutError:
            if work.done():
                raise  # it was the work's own
            ack(response_action="update", view=carrying.message_view(still_working()))
            work.add_done_callback(lambda done: self._show_late(done, body))
        else:
            self._acknowledge(ack, result, body)

    def _result(self, body: dict[str, Any], view: Block) -> Result:
        if not self.is_first(body):
            return None
        submit = SURFACES.submits.get(view["callback_id"])
        if submit is None:
            return Show(view=carrying.message_view(outdated()))
        submission = Submission(
            callback=view["callback_id"],
            fields=fields_of(view.get("state")),
            view=view,
            origin=Origin(trigger=body.get("trigger_id", "")),
        )
        return submit(self.desk, self.actor(body["user"]["id"]), submission)

    def _acknowledge(self, ack: Ack, result: Result, body: dict[str, Any]) -> None:
        if isinstance(result, Errors):
            ack(response_action="errors", errors=dict(result.by_block))
        elif isinstance(result, Show):
            ack(response_action="push" if result.push else "update", view=result.view)
        elif result is None or result.reply is None:
            ack(response_action="clear") if result and result.all_ else ack()
        else:
            ack(response_action="clear") if result.all_ else ack()
            self._tell(result.reply, body)
        if isinstance(result, Done) and result.below is not None:
            self._show_below(result.below, body)

    def _show_below(self, view: Block, body: dict[str, Any]) -> None:
        """In the window that is seen again, if it was not closed as well."""
        below = body["view"].get("previous_view_id") or body["view"].get("root_view_id")
        try:
            self.slack.update(below, view)
        except Impossible as error:
            log.info("the window below is gone", extra={"error": error.code})

    def closed(self, body: dict[str, Any], view: Block) -> None:
        """A window that asked to be told of was closed; it is said what became of its content."""
        close = SURFACES.closes.get(view["callback_id"])
        if close is None:
            return
        submission = Submission(callback=view["callback_id"], fields={}, view=view, origin=Origin())
        reply = close(self.desk, self.actor(body["user"]["id"]), submission)
        if reply is not None:
            self._tell(reply, body)

    def _tell(self, reply: Reply, body: dict[str, Any]) -> None:
        """What a closed window has led to, said where it was opened, or else directly."""
        user, channel = body["user"]["id"], private_of(body["view"]).get("channel")
        if channel:
            try:
                self.slack.whisper(carrying.posted(reply, Post(channel=channel, text="")), user)
            except Impossible:  # a channel that I am not in
                log.info("a window's answer is said directly", extra={"channel": channel})
            else:
                return
        place = Post(channel=self.slack.direct(user), text="")
        self.slack.post(carrying.posted(reply, place))

    def _show_late(self, work: Future[Result], body: dict[str, Any]) -> None:
        try:
            result = work.result()
            self.slack.update(body["view"]["id"], late_view(result))
            if isinstance(result, Done) and result.below is not None:
                self._show_below(result.below, body)
        except Exception as error:  # the boundary of what comes after the acknowledgement
            self.failing.after_ack(error, body, None)


def outdated() -> Reply:
    """The answer to what this version of the bot does not know any more."""
    return Reply(text=OUTDATED, blocks=(section(OUTDATED),))


def still_working() -> Reply:
    """What a window shows whose handler takes longer than Slack waits."""
    text = "This takes longer than usual. I go on; what becomes of it will be shown here."
    return Reply(text=text, blocks=(section(text),))


def late_view(result: Result) -> Block:
    """What that window shows when the handler has ended."""
    if isinstance(result, Show):
        return result.view
    if isinstance(result, Errors):
        wrong = "\n".join(f"• {escape(plain(one, 300))}" for one in result.by_block.values())
        text = f"Nothing was changed:\n{wrong}\nClose this window and try again."
        return carrying.message_view(Reply(text=text, blocks=(section(text),)))
    reply = result.reply if result is not None and result.reply is not None else None
    return carrying.message_view(reply or Reply(text="Done.", blocks=(section("Done."),)))
