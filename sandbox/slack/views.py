"""Modals and Home views: each person's stack, what was put into the fields, and the race guard."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack import limits
from sandbox.slack.errors import SlackError
from sandbox.slack.fields import initial_values
from sandbox.slack.posting import numbered, refuse
from sandbox.slack.world import APP, TEAM, World, new_id

Doc = dict[str, Any]
DEEPEST_STACK = 3


@dataclass(slots=True)
class View:
    """`doc` is what the app sent; `values` is the state, {block: {action: value}}."""

    id: str
    person: str
    doc: Doc
    hash: str
    root: str = ""
    previous: str = ""
    values: Doc = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    n: int = 0


class Views:
    """All open modals, bottom first for each person, and everybody's Home view."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.stacks: dict[str, list[View]] = {}
        self.homes: dict[str, View] = {}

    def stack(self, person: str) -> list[View]:
        return self.stacks.setdefault(person, [])

    def open(self, person: str, doc: Doc) -> View:
        """A new stack; a modal that was open before is gone."""
        view = self._made(person, doc)
        self.stacks[person] = [view]
        return self._noted(view, "opened")

    def push(self, person: str, doc: Doc) -> View:
        stack = self.stack(person)
        if len(stack) >= DEEPEST_STACK:
            raise SlackError("push_limit_reached")
        view = self._made(person, doc)
        if stack:
            view.previous, view.root = stack[-1].id, stack[0].id
        stack.append(view)
        return self._noted(view, "pushed")

    def update(self, view: View, doc: Doc, seen_hash: str = "") -> View:
        """Replaces a view; fields that keep their block and action id keep their value."""
        if seen_hash and seen_hash != view.hash:
            raise SlackError("hash_conflict")
        fresh = self._checked(doc, view)
        before = view.values
        view.doc, view.hash, view.errors = fresh, self._hash(), {}
        view.values = initial_values(fresh["blocks"])
        for block, actions in view.values.items():
            for action in actions:
                kept = before.get(block, {}).get(action)
                if kept is not None and kept["type"] == actions[action]["type"]:
                    actions[action] = kept
        return self._noted(view, "updated")

    def publish(self, person: str, doc: Doc, seen_hash: str = "") -> View:
        home = self.homes.get(person)
        if home is not None:
            return self.update(home, doc, seen_hash)
        home = self.homes[person] = self._made(person, doc)
        return self._noted(home, "published")

    def find(self, view_id: str = "", external_id: str = "") -> View:
        """An open view by either id; one that was closed is not found any more."""
        every = [view for stack in self.stacks.values() for view in stack] + [*self.homes.values()]
        for view in every:
            external = view.doc.get("external_id")
            if view.id == view_id or (external_id and external == external_id):
                return view
        raise SlackError("not_found")

    def close(self, view: View) -> None:
        """Takes one view off its stack; the one below is seen again."""
        self.stack(view.person).remove(view)
        self._noted(view, "closed")

    def clear(self, person: str) -> None:
        for view in reversed(self.stacks.pop(person, [])):
            self._noted(view, "closed")

    def refuse_input(self, view: View, errors: dict[str, str]) -> None:
        """Shows these sentences below the fields, by block id."""
        view.errors = dict(errors)
        self._noted(view, "errors")

    def touched(self, view: View) -> None:
        self._noted(view, "filled")

    def _made(self, person: str, doc: Doc) -> View:
        checked = self._checked(doc)
        view = View(new_id("V"), person, checked, self._hash())
        view.root, view.values = view.id, initial_values(checked["blocks"])
        return view

    def _checked(self, doc: Doc, replaced: View | None = None) -> Doc:
        refuse(limits.check_view(doc), "invalid_arguments")
        external = doc.get("external_id")
        others = (view for stack in self.stacks.values() for view in stack if view is not replaced)
        if external and any(view.doc.get("external_id") == external for view in others):
            raise SlackError("duplicate_external_id")
        return {**doc, "blocks": numbered(doc["blocks"])}

    def _hash(self) -> str:
        return f"{int(self.world.clock.now())}.{secrets.token_hex(4)}"

    def _noted(self, view: View, what: str) -> View:
        modal = view.doc["type"] == "modal"
        view.n = self.world.feed.note(
            "view" if modal else "home", what=what, view=view.id, person=view.person
        )
        return view


def shown(view: View) -> Doc:
    """The view as the API and payloads carry it."""
    defaults: Doc = {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "clear_on_close": False,
        "notify_on_close": False,
        "close": None,
        "submit": None,
    }
    ids = {"id": view.id, "team_id": TEAM, "app_id": APP, "app_installed_team_id": TEAM}
    stack = {"root_view_id": view.root, "previous_view_id": view.previous or None}
    state = {"state": {"values": view.values}, "hash": view.hash, "bot_id": "B_BOT"}
    return {**defaults, **view.doc, **ids, **stack, **state}
