"""From Slack's payloads to the bot's values. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from bot.blocks import plain
from bot.commands import Origin
from bot.surfaces import Press, fields_of

_OPTION: Final = 75
_VALUE: Final = 75


def press_of(body: Mapping[str, Any]) -> Press:
    action = body["actions"][0]
    option = action.get("selected_option") or {}
    value = action.get("value") or option.get("value") or action.get("selected_time") or ""
    container = body.get("container") or {}
    origin = Origin(
        channel=(body.get("channel") or {}).get("id", ""),
        trigger=body.get("trigger_id", ""),
        message=container.get("message_ts", ""),
    )
    view = body.get("view")
    state = (view or {}).get("state") or body.get("state")
    return Press(
        action=kind_of(action["action_id"]),
        value=value,
        origin=origin,
        fields=fields_of(state),
        view=view,
    )


def kind_of(action_id: str) -> str:
    return action_id.split(":", 1)[0]


def option_of(text: str, value: str) -> dict[str, Any]:
    assert len(value) <= _VALUE, "a value that was cut would mean something else"
    return {"text": {"type": "plain_text", "text": plain(text, _OPTION)}, "value": value}


def user_of(body: Mapping[str, Any]) -> str:
    """Whose deed a payload tells, "" where it is nobody's."""
    user = body.get("user")
    found = user.get("id") if isinstance(user, Mapping) else body.get("user_id")
    in_event = (body.get("event") or {}).get("user")
    return str(found or (in_event if isinstance(in_event, str) else "") or "")


def channel_of(body: Mapping[str, Any]) -> str:
    """Where it was done, "" where that is no channel."""
    in_event = (body.get("event") or {}).get("channel")
    found = body.get("channel_id") or (body.get("channel") or {}).get("id") or in_event
    return found if isinstance(found, str) else ""


def unescaped(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def delivery_key(body: Mapping[str, Any]) -> str:
    """What names a delivery whatever its number: "" where a repetition does no harm."""
    if body.get("type") == "event_callback":
        return f"event:{body.get('event_id', '')}"
    if body.get("type") == "block_suggestion":
        return ""
    trigger = body.get("trigger_id")
    return f"trigger:{trigger}" if trigger else ""
