"""Interactive elements: where they are in blocks, what they hold, and what Slack itself refuses."""

from collections.abc import Iterator
from typing import Any, NamedTuple

Doc = dict[str, Any]

# The key under which a payload or a state carries the value of an element.
_VALUE_KEYS = {
    "plain_text_input": "value",
    "number_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "rich_text_input": "rich_text_value",
    "file_input": "files",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "overflow": "selected_option",
    "users_select": "selected_user",
    "channels_select": "selected_channel",
    "conversations_select": "selected_conversation",
    "checkboxes": "selected_options",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "multi_users_select": "selected_users",
    "multi_channels_select": "selected_channels",
    "multi_conversations_select": "selected_conversations",
}
TYPED = ("plain_text_input", "number_input", "email_text_input", "url_text_input")
_STATELESS = ("button", "overflow", "image", "workflow_button")


class Spot(NamedTuple):
    """An element with the block that holds it."""

    block: Doc
    element: Doc

    @property
    def ids(self) -> tuple[str, str]:
        return self.block["block_id"], self.element["action_id"]

    @property
    def label(self) -> str:
        return str(self.block.get("label", {}).get("text", ""))


def spots(blocks: list[Doc]) -> Iterator[Spot]:
    """Every interactive element, in the order in which it is shown."""
    for index, block in enumerate(blocks):
        named = {"block_id": f"b{index}", **block}
        for element in _elements(named):
            if element.get("type") in _VALUE_KEYS or element.get("type") == "button":
                yield Spot(named, element)
        yield from spots(named.get("child_blocks") or [])


def _elements(block: Doc) -> Iterator[Doc]:
    if block["type"] in ("actions", "context_actions"):
        yield from block["elements"]
    elif block["type"] == "card":
        yield from block.get("actions") or []
    else:
        yield from (block[key] for key in ("accessory", "element") if key in block)


def value_key(element: Doc) -> str:
    return _VALUE_KEYS[element["type"]]


def initial_values(blocks: list[Doc]) -> Doc:
    """The state of freshly shown blocks, {block: {action: {type, value}}}."""
    values: Doc = {}
    for spot in spots(blocks):
        if spot.element["type"] not in _STATELESS:
            block_id, action_id = spot.ids
            values.setdefault(block_id, {})[action_id] = with_value(
                spot.element, _initial(spot.element)
            )
    return values


def with_value(element: Doc, value: Any) -> Doc:
    return {"type": element["type"], value_key(element): value}


def _initial(element: Doc) -> Any:
    """The initial_* field of the element; selects of several start with an empty list."""
    key = value_key(element)
    name = key.replace("selected_", "initial_").replace("rich_text_value", "initial_value")
    found = element.get("initial_value" if key == "value" else name)
    if found is None and (key.endswith("s") or key == "files"):
        return []
    return found


def options(element: Doc) -> list[Doc]:
    """All options of a static element, those of its groups too."""
    grouped = (group["options"] for group in element.get("option_groups") or ())
    return [*(element.get("options") or ()), *(option for group in grouped for option in group)]


def complaints(blocks: list[Doc], values: Doc) -> dict[str, str]:
    """What the client says by block id before it lets anybody submit."""
    found = {}
    for spot in spots(blocks):
        if spot.block["type"] == "input":
            block_id, action_id = spot.ids
            value = values[block_id][action_id][value_key(spot.element)]
            if said := _complaint(spot, value):
                found[block_id] = said
    return found


def _complaint(spot: Spot, value: Any) -> str:
    if value in (None, "", []):
        return "" if spot.block.get("optional") else "Please complete this required field."
    element = spot.element
    if element["type"] == "plain_text_input":
        least, most = element.get("min_length", 0), element.get("max_length", 3000)
        if not least <= len(value) <= most:
            return f"Please enter {least} to {most} characters."
    return _number_complaint(element, value) if element["type"] == "number_input" else ""


def _number_complaint(element: Doc, value: str) -> str:
    try:
        number = float(value) if element.get("is_decimal_allowed") else int(value)
    except ValueError:
        return "Please enter a number."
    least, most = element.get("min_value"), element.get("max_value")
    if least is not None and number < float(least):
        return f"Please enter a number of at least {least}."
    if most is not None and number > float(most):
        return f"Please enter a number of at most {most}."
    return ""
