"""What is good for a while and then no more: trigger ids and response URLs (facts/slack.md 2.1)."""

from dataclasses import dataclass, replace
from typing import Any

from sandbox.slack import posting
from sandbox.slack.errors import SlackError
from sandbox.slack.world import Message, World, new_id

Doc = dict[str, Any]
TRIGGER_SECONDS = 3.0
RESPONSE_SECONDS = 30 * 60.0
RESPONSE_USES = 5


@dataclass(slots=True)
class Trigger:
    person: str
    issued: float
    used: bool = False


@dataclass(slots=True)
class Response:
    """Where a response URL leads; `original` is the message that was pressed, if there is one."""

    person: str
    channel: str
    issued: float
    original: Message | None = None
    thread_ts: str = ""
    uses: int = 0


class Tickets:
    def __init__(self, world: World) -> None:
        self.world = world
        self.triggers: dict[str, Trigger] = {}
        self.responses: dict[str, Response] = {}

    def trigger(self, person: str) -> str:
        """A new trigger id for what a person just did."""
        name = new_id("trigger.")
        self.triggers[name] = Trigger(person, self.world.clock.now())
        return name

    def take_trigger(self, name: str) -> str:
        """Uses a trigger id up; whose it is."""
        trigger = self.triggers.get(name)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if self.world.clock.now() - trigger.issued > TRIGGER_SECONDS:
            raise SlackError("expired_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        trigger.used = True
        return trigger.person

    def response_url(self, person: str, channel: str, original: Message | None = None) -> str:
        name = new_id("R")
        thread_ts = original.thread_ts if original else ""
        now = self.world.clock.now()
        self.responses[name] = Response(person, channel, now, original, thread_ts)
        return f"{self.world.url}/response/{name}"

    def respond(self, name: str, body: Doc) -> None:
        """One use of a response URL."""
        response = self.responses.get(name)
        if response is None:
            raise SlackError("no_service", status=404)
        if self.world.clock.now() - response.issued > RESPONSE_SECONDS:
            raise SlackError("expired_url", status=404)
        if response.uses >= RESPONSE_USES:
            raise SlackError("used_url", status=404)
        response.uses += 1
        show_answer(self.world, response, body)


def show_answer(world: World, response: Response, body: Doc) -> None:
    """Shows what an app answers to a command or a press: a new message, an edit or a deletion.

    Only the person sees it unless response_type is in_channel, even where the bot is no member.
    """
    original = response.original
    alive = original is not None and original.ts in world.thread(original.channel)
    if body.get("delete_original") in (True, "true"):
        if original is not None and alive:
            posting.delete(world, original)
        return
    in_channel = body.get("response_type") == "in_channel"
    draft = posting.drafted(body, world.bot.id, "" if in_channel else response.person)
    if body.get("replace_original") in (True, "true") and original is not None and alive:
        posting.edit(world, original, draft)
        return
    channel = world.channels[response.channel]
    thread_ts = draft.thread_ts or response.thread_ts
    posting.post(world, channel, replace(draft, thread_ts=thread_ts))
