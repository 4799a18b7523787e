"""What is read in the gallery's windows, to press and fill in what they show. Pure."""

from typing import Any

from bot.blocks import Block


def pressed(view: Block, label: str, near: str) -> tuple[str, str]:
    """The action and the value of what has this label, in the first block with that text."""
    for block in view["blocks"]:
        if near and near not in str(block):
            continue
        for element in [*block.get("elements", ()), block.get("accessory") or {}]:
            if element.get("type") == "button" and element["text"]["text"] == label:
                return element["action_id"], element["value"]
            for option in element.get("options", ()):
                if option["text"]["text"] == label:
                    return element["action_id"], option["value"]
    raise LookupError(f"no {label!r} near {near!r} in the window {view['title']['text']!r}")


def initial(view: Block) -> dict[str, Any]:
    """What a window's inputs hold before anybody types, by block id."""
    found: dict[str, Any] = {}
    for block in view["blocks"]:
        if block["type"] == "input":
            element = block["element"]
            chosen = element.get("initial_option") or {}
            found[block["block_id"]] = (
                element.get("initial_value")
                or chosen.get("value")
                or element.get("initial_users")
                or element.get("initial_conversation")
            )
    return found
