"""What a person does in a message, a modal or their Home: press, choose, fill, submit, close."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sandbox.slack import fields, limits, payloads, posting
from sandbox.slack.delivery import Outcome, Payload
from sandbox.slack.errors import DoorError, SlackError
from sandbox.slack.fields import Spot, spots
from sandbox.slack.plain import Reader
from sandbox.slack.state import Slack
from sandbox.slack.views import View
from sandbox.slack.world import Message, Person

Doc = dict[str, Any]
TROUBLE = "We had some trouble connecting. Try again?"


class Choice(NamedTuple):
    """Something to press: an element, with the option if it is one of a menu's."""

    spot: Spot
    option: Doc | None = None


@dataclass(slots=True)
class Place:
    """Where a person acts: a message or a view, with the blocks as that person sees them."""

    slack: Slack
    person: Person
    blocks: list[Doc]
    message: Message | None = None
    view: View | None = None

    @property
    def values(self) -> Doc:
        """What the fields hold; in messages each person has their own."""
        if self.view is not None:
            return self.view.values
        assert self.message is not None
        fresh = fields.initial_values(self.blocks)
        return self.message.states.setdefault(self.person.id, fresh)

    def origin(self) -> Doc:
        if self.view is not None:
            return payloads.in_view(self.view)
        assert self.message is not None
        return payloads.in_message(self.slack, self.person, self.message)

    def find(self, what: str, near: str = "") -> Choice:
        """The one element with this action id, text, label or placeholder, near some other text."""
        found = [one for one in self._choices(near) if what in _names(one)]
        if len(found) == 1:
            return found[0]
        there = "; ".join(sorted({" = ".join(_names(one)) for one in self._choices(near)}))
        raise DoorError(f"{len(found)} elements are {what!r} near {near!r}; there are: {there}")

    def at(self, spot: Doc) -> Choice:
        """The element {block, action} by its ids, with the entry of a menu that has this `option`.

        A page knows them, where people know texts only.
        """
        for one in spots(self.blocks):
            if one.ids == (spot["block"], spot["action"]):
                entries = fields.options(one.element) if one.element["type"] == "overflow" else []
                chosen = [entry for entry in entries if entry.get("value") == spot.get("option")]
                return Choice(one, chosen[0] if chosen else None)
        raise DoorError(f"nothing with the ids {spot['block']!r}, {spot['action']!r} is here")

    def _choices(self, near: str) -> Iterator[Choice]:
        reader = Reader(self.slack.world, self.values)
        for spot in spots(self.blocks):
            if near and near not in reader.blocks([spot.block]):
                continue
            yield Choice(spot)
            if spot.element["type"] == "overflow":
                yield from (Choice(spot, one) for one in spot.element["options"])

    def hold(self, spot: Spot, value: Any) -> None:
        """Puts a value into a field."""
        block_id, action_id = spot.ids
        held = fields.with_value(spot.element, value)
        self.values.setdefault(block_id, {})[action_id] = held
        if self.view is not None:
            self.view.errors.pop(block_id, None)
            self.slack.views.touched(self.view)
        elif self.message is not None:
            posting.touch(self.slack.world, self.message)


def _names(choice: Choice) -> list[str]:
    """All by which a person or a test may call an element."""
    if choice.option is not None:
        return [str(choice.option["text"]["text"])]
    spot = choice.spot
    texts = [spot.element.get(name, {}).get("text", "") for name in ("text", "placeholder")]
    block_id, action_id = spot.ids
    ids = [action_id, block_id] if spot.block["type"] == "input" else [action_id]
    return [str(name) for name in (spot.label, *texts, *ids) if name]


def confirmation(slack: Slack, choice: Choice) -> str:
    """The dialog that comes before the press, as read; "" when there is none."""
    dialog = choice.spot.element.get("confirm")
    if not dialog:
        return ""
    read = Reader(slack.world).text
    buttons = f"[{read(dialog['deny'])}] [{read(dialog['confirm'])}]"
    return f"{read(dialog['title'])}\n{read(dialog['text'])}\n{buttons}"


async def press(place: Place, choice: Choice) -> Outcome:
    """A button, or an entry of an overflow menu."""
    element = choice.spot.element
    if element["type"] not in ("button", "overflow") or (
        element["type"] == "overflow" and choice.option is None
    ):
        raise DoorError(f"a {element['type']} is not to be pressed")
    names = ("text", "value", "style", "url") if element["type"] == "button" else ()
    said = {name: element[name] for name in names if name in element}
    if choice.option is not None:
        said["selected_option"] = choice.option
    return await _act(place, choice.spot, said)


async def choose(place: Place, spot: Spot, value: Any, *, silently: bool = False) -> Outcome:
    """Puts a value into a field; the app is told at once unless it is a silent input block.

    `silently` is a text that is still being typed.
    """
    place.hold(spot, value)
    if silently or (spot.block["type"] == "input" and not spot.block.get("dispatch_action")):
        return Outcome()
    return await _act(place, spot, {fields.value_key(spot.element): value})


async def _act(place: Place, spot: Spot, said: Doc) -> Outcome:
    slack = place.slack
    block_id, action_id = spot.ids
    action = {
        "type": spot.element["type"], "action_id": action_id, "block_id": block_id,
        "action_ts": slack.clock.ts(), **said,
    }  # fmt: skip
    body = payloads.interaction(slack, "block_actions", place.person, **place.origin())
    outcome = await slack.deliveries.send(Payload("interactive", body | {"actions": [action]}))
    if outcome.error:
        slack.tell(place.person.id, outcome.error, action_id)
    return outcome


async def suggestions(place: Place, spot: Spot, typed: str) -> Doc:
    """What the app offers for what was typed into an external select: options, or groups."""
    least = spot.element.get("min_query_length", 3)
    if len(typed) < least:
        raise DoorError(f"type at least {least} characters; {typed!r} has {len(typed)}")
    block_id, action_id = spot.ids
    about = {"action_id": action_id, "block_id": block_id, "value": typed}
    body = payloads.interaction(
        place.slack, "block_suggestion", place.person, **place.origin(), **about
    )
    outcome = await place.slack.deliveries.send(Payload("interactive", body))
    problems = limits.check_suggestions(outcome.payload) if not outcome.error else []
    if outcome.error or problems:
        error = outcome.error or str(problems[0])
        place.slack.tell(place.person.id, error, action_id)
        raise DoorError(f"no options for {typed!r}: {error}")
    return outcome.payload


async def submit(slack: Slack, view: View) -> Doc:
    """{error, errors}: `errors` are the sentences below the fields, by block id."""
    complaints = fields.complaints(view.doc["blocks"], view.values)
    if complaints:
        slack.views.refuse_input(view, complaints)
        return {"error": "", "errors": complaints}
    person = slack.world.person(view.person)
    body = payloads.interaction(slack, "view_submission", person, **payloads.in_view(view))
    outcome = await slack.deliveries.send(Payload("interactive", body | {"response_urls": []}))
    error = outcome.error or _apply(slack, view, outcome.payload)
    if error:
        slack.tell(view.person, error, TROUBLE)
    return {"error": error, "errors": dict(view.errors), "status": outcome.status}


def _apply(slack: Slack, view: View, answer: Doc) -> str:
    """Does what the app answered to a submission; "" or why Slack could not."""
    if view not in slack.views.stack(view.person):
        return ""
    action = answer.get("response_action")
    try:
        if action == "errors":
            return _show_errors(slack, view, answer.get("errors"))
        if action == "update":
            slack.views.update(view, answer.get("view") or {})
        elif action == "push":
            slack.views.push(view.person, answer.get("view") or {})
        elif action == "clear":
            slack.views.clear(view.person)
        elif action is None:
            slack.views.close(view)
        else:
            return f"invalid response_action: {action}"
    except SlackError as refusal:
        return f"{refusal.code}: {refusal.details}"
    return ""


def _show_errors(slack: Slack, view: View, errors: Any) -> str:
    """Sentences can stand only below input blocks (facts/slack.md 2.1)."""
    inputs = {block["block_id"] for block in view.doc["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        return f"errors must name input blocks ({sorted(inputs)}), not {errors}"
    slack.views.refuse_input(view, errors)
    return ""


async def close(slack: Slack, view: View, whole_stack: bool) -> Outcome:
    """Cancel closes the view on top, the cross all; the app hears of it when it asked to."""
    stack = slack.views.stack(view.person)
    closed = list(reversed(stack)) if whole_stack or view.doc.get("clear_on_close") else [view]
    outcome = Outcome()
    for one in closed:
        slack.views.close(one)
        if one.doc.get("notify_on_close"):
            person = slack.world.person(view.person)
            about = payloads.in_view(one) | {"is_cleared": len(closed) > 1}
            body = payloads.interaction(slack, "view_closed", person, **about)
            outcome = await slack.deliveries.send(Payload("interactive", body))
    return outcome
