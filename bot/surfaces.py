"""What people do other than typing: modals, buttons with a handler of their own, selects.

Handlers are plain functions of the desk, the actor and one of these values; `bot.app` carries what
they give to Slack. A module offers them in a `Surfaces`, and `bot.registry` joins those.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.access import Actor
from bot.blocks import Block, Reply
from bot.commands import Origin
from bot.desk import Desk

Fields = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Press:
    """A pressed button or a changed select.

    `value` is the button's, or the chosen option's; `fields` are the inputs of the surface it
    stands in, by block id; `view` is that modal or Home, None in a message.
    """

    action: str
    value: str
    origin: Origin
    fields: Fields = field(default_factory=dict)
    view: Block | None = None

    @property
    def private(self) -> dict[str, Any]:
        return private_of(self.view)


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A submitted modal: its inputs by block id, each as text, a list of texts, or None."""

    callback: str
    fields: Fields
    view: Block
    origin: Origin

    @property
    def private(self) -> dict[str, Any]:
        return private_of(self.view)


@dataclass(frozen=True, kw_only=True)
class Errors:
    """The submission is refused: a sentence for each wrong input, by its block id."""

    by_block: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Show:
    """The modal stays open and shows this instead; `push` puts it on top."""

    view: Block
    push: bool = False


@dataclass(frozen=True, kw_only=True)
class Done:
    """The modal closes; `all_` closes those below it, too. `reply` is said where it began.

    `below` is what the modal below, which is seen again, shows from now on.
    """

    reply: Reply | None = None
    all_: bool = False
    below: Block | None = None


@dataclass(frozen=True, kw_only=True)
class Typed:
    """What is typed into an external select, and the surface it stands in."""

    action: str
    text: str
    view: Block | None = None

    @property
    def private(self) -> dict[str, Any]:
        return private_of(self.view)


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One option of a select; `text` is shown, `value` is at most 75 characters."""

    text: str
    value: str


Submit = Callable[[Desk, Actor, Submission], "Errors | Show | Done"]
Act = Callable[[Desk, Actor, Press], "Reply | Show | None"]
Suggest = Callable[[Desk, Actor, Typed], "list[Choice]"]
Close = Callable[[Desk, Actor, Submission], "Reply | None"]


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """A module's handlers: modals by callback id, actions and selects by the beginning of their
    action id, up to the colon. `closes` hear of modals that asked to be told of."""

    submits: Mapping[str, Submit] = field(default_factory=dict)
    acts: Mapping[str, Act] = field(default_factory=dict)
    suggests: Mapping[str, Suggest] = field(default_factory=dict)
    closes: Mapping[str, Close] = field(default_factory=dict)


def private_of(view: Block | None) -> dict[str, Any]:
    """What a modal carries for its handler: ids and revisions, never what it shows."""
    text = (view or {}).get("private_metadata") or "{}"
    found: dict[str, Any] = json.loads(text)
    return found


def modal(title: str, blocks: list[Block], callback: str, **more: Any) -> Block:
    """A modal; `submit` and `close` are texts, `private` a small mapping."""
    private = more.pop("private", {})
    texts = {
        key: {"type": "plain_text", "text": str(more.pop(key))[:24]}
        for key in ("submit", "close")
        if more.get(key)
    }
    return {
        "type": "modal",
        "callback_id": callback,
        "title": {"type": "plain_text", "text": title[:24]},
        "blocks": blocks,
        "private_metadata": json.dumps(private, separators=(",", ":")),
        **texts,
        **more,
    }


def fields_of(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """The inputs of a view's or message's state, by block id."""
    found: dict[str, Any] = {}
    for block, actions in ((state or {}).get("values") or {}).items():
        for element in actions.values():
            found[block] = _input(element)
    return found


def _input(element: Mapping[str, Any]) -> Any:
    if "selected_options" in element:
        return [option["value"] for option in element["selected_options"]]
    if "selected_option" in element:
        option = element["selected_option"]
        return option["value"] if option else None
    for key in ("value", "selected_user", "selected_conversation", "selected_time"):
        if key in element:
            return element[key]
    return next(
        (element[key] for key in ("selected_users", "files", "selected_date") if key in element),
        None,
    )
