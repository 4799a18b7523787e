"""What a person reads: messages and views as plain text, with [buttons] and their fields.

For people who look at messages in a terminal or a failing test; mentions are shown as names.
"""

import html
import re
from collections.abc import Callable
from typing import Any

from sandbox.slack.fields import value_key
from sandbox.slack.views import View
from sandbox.slack.world import Message, World

Doc = dict[str, Any]

_LINK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
_TICKED = {True: "x", False: " "}


class Reader:
    """Reads blocks aloud; `values` is what the person has put into the fields so far."""

    def __init__(self, world: World, values: Doc | None = None, errors: Doc | None = None) -> None:
        self.world, self.values, self.errors = world, values or {}, errors or {}
        self._blocks: dict[str, Callable[[Doc], str]] = {
            "section": self._section,
            "header": lambda block: f"# {self.text(block['text'])}",
            "divider": lambda _block: "---",
            "context": lambda block: "  ".join(map(self._element, block["elements"])),
            "actions": self._actions,
            "context_actions": self._actions,
            "image": self._element,
            "input": self._input,
            "rich_text": lambda block: self._rich(block["elements"]),
            "markdown": lambda block: str(block["text"]),
            "table": self._table,
            "data_table": self._table,
            "alert": lambda block: f"({block.get('level', 'default')}) {self.text(block['text'])}",
            "data_visualization": lambda block: f"(chart: {block['title']})",
            "card": self._card,
            "container": self._card,
        }

    def blocks(self, blocks: list[Doc]) -> str:
        return "\n".join(self._block(block) for block in blocks)

    def _block(self, block: Doc) -> str:
        read = self._blocks.get(block["type"])
        return read(block) if read else f"({block['type']})"

    def markup(self, text: str) -> str:
        """Mrkdwn with its mentions, links and entities resolved."""
        return html.unescape(_LINK.sub(self._link, text))

    def text(self, part: Doc | None) -> str:
        if not part:
            return ""
        return self.markup(part["text"]) if part["type"] == "mrkdwn" else str(part["text"])

    def _link(self, found: re.Match[str]) -> str:
        target, label = found.groups()
        if target.startswith("@"):
            return self._name(target[1:])
        if target.startswith("!subteam^"):
            group = self.world.groups.get(target.removeprefix("!subteam^"))
            return f"@{group.handle}" if group else label or target
        if target.startswith("#"):
            channel = self.world.channels.get(target[1:])
            return f"#{channel.name}" if channel else label or target
        if target.startswith("!date"):
            return label or target
        return f"@{target[1:]}" if target.startswith("!") else label or target

    def _name(self, person_id: str) -> str:
        person = self.world.people.get(person_id)
        return f"@{person.name}" if person else f"@{person_id}"

    def _section(self, block: Doc) -> str:
        lines = [self.text(block["text"])] if block.get("text") else []
        lines += [f"  {self.text(field)}" for field in block.get("fields") or ()]
        if "accessory" in block:
            accessory = self._element(block["accessory"], block.get("block_id", ""))
            lines = [*lines[:-1], f"{lines[-1]}  {accessory}"] if lines else [accessory]
        return "\n".join(lines)

    def _actions(self, block: Doc) -> str:
        name = block.get("block_id", "")
        return " ".join(self._element(element, name) for element in block["elements"])

    def _input(self, block: Doc) -> str:
        name = block.get("block_id", "")
        optional = " (optional)" if block.get("optional") else ""
        element = self._element(block["element"], name)
        lines = [f"{self.text(block['label'])}{optional}: {element}"]
        if block.get("hint"):
            lines.append(f"  ({self.text(block['hint'])})")
        if name in self.errors:
            lines.append(f"  ! {self.errors[name]}")
        return "\n".join(lines)

    def _card(self, block: Doc) -> str:
        said = [self.text(block.get(name)) for name in ("title", "subtitle", "body")]
        buttons = " ".join(map(self._element, block.get("actions") or ()))
        inner = self.blocks(block.get("child_blocks") or [])
        return "\n".join(filter(None, [*said, buttons, inner]))

    def _table(self, block: Doc) -> str:
        rows = [" | ".join(map(self._cell, row)) for row in block["rows"]]
        return "\n".join([*filter(None, [block.get("caption", "")]), *rows])

    def _cell(self, cell: Doc) -> str:
        if cell["type"] == "rich_text":
            return self._rich(cell["elements"])
        return str(cell.get("text", cell.get("value", "")))

    def _rich(self, part: Any) -> str:
        if isinstance(part, list):
            return "".join(map(self._rich, part))
        kind = part.get("type")
        if kind == "user":
            return self._name(part["user_id"])
        if kind == "usergroup":
            return self._link_to(f"!subteam^{part['usergroup_id']}")
        if kind == "channel":
            return self._link_to(f"#{part['channel_id']}")
        if kind == "broadcast":
            return f"@{part['range']}"
        if kind == "emoji":
            return f":{part['name']}:"
        if kind == "rich_text_list":
            return "".join(f"- {self._rich(item)}\n" for item in part["elements"])
        return str(part.get("text") or part.get("url") or self._rich(part.get("elements") or []))

    def _link_to(self, target: str) -> str:
        return self.markup(f"<{target}>")

    def _element(self, element: Doc, block_id: str = "") -> str:
        kind = element["type"]
        if kind in ("mrkdwn", "plain_text"):
            return self.text(element)
        if kind == "image":
            return f"(image: {element['alt_text']})"
        if kind == "button":
            return f"[{self.text(element['text'])}]"
        if kind == "overflow":
            return f"[... {' / '.join(self.text(one['text']) for one in element['options'])}]"
        if kind in ("radio_buttons", "checkboxes"):
            return self._ticks(element, self._held(element, block_id))
        return self._field(element, self._held(element, block_id))

    def _held(self, element: Doc, block_id: str) -> Any:
        state = self.values.get(block_id, {}).get(element.get("action_id"), {})
        return state.get(value_key(element)) if state else None

    def _ticks(self, element: Doc, held: Any) -> str:
        chosen = [one["value"] for one in (held if isinstance(held, list) else [held]) if one]
        marks = "()" if element["type"] == "radio_buttons" else "[]"
        return " ".join(
            f"{marks[0]}{_TICKED[one['value'] in chosen]}{marks[1]} {self.text(one['text'])}"
            for one in element["options"]
        )

    def _field(self, element: Doc, held: Any) -> str:
        """A text field as [value___], a select as [value v]."""
        end = "v" if "select" in element["type"] else "___"
        several = held if isinstance(held, list) else [held]
        said = ", ".join(self._shown(one) for one in several if one not in (None, ""))
        return f"[{said or self.text(element.get('placeholder'))} {end}]".replace("[ ", "[")

    def _shown(self, value: Any) -> str:
        if isinstance(value, dict):
            return self.text(value["text"]) if "text" in value else str(value.get("name", value))
        if value in self.world.people:
            return self._name(value)
        return self._link_to(f"#{value}") if value in self.world.channels else str(value)


def read_message(world: World, message: Message, person: str = "") -> str:
    """A message as a person sees it: its blocks, or its text when it has none, then its files."""
    reader = Reader(world, message.states.get(person))
    said = reader.blocks(message.blocks) if message.blocks else reader.markup(message.text)
    files = [_file(world, file_id) for file_id in message.files]
    legacy = [reader.markup(one.get("text") or "") for one in message.attachments]
    return "\n".join(filter(None, [said, *legacy, *files]))


def _file(world: World, file_id: str) -> str:
    file = world.files[file_id]
    alt = f"; {file.alt_text}" if file.alt_text else ""
    return f"(file: {file.title or file.name}{alt})"


def read_view(world: World, view: View) -> str:
    """A modal or Home view with what is in its fields and the sentences below them."""
    reader = Reader(world, view.values, view.errors)
    body = reader.blocks(view.doc["blocks"])
    if view.doc["type"] == "home":
        return body
    names = [reader.text(view.doc.get(name)) for name in ("close", "submit")]
    buttons = [f"[{names[0] or 'Cancel'}]", f"[{names[1]}]" if names[1] else ""]
    title = f"== {reader.text(view.doc['title'])} =="
    return "\n".join([title, body, " ".join(filter(None, buttons))])
