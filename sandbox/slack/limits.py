"""Slack's limits on blocks, messages and views, in one table (facts/slack.md 2.2).

They moved within 2026: AS_OF says which state this is. Where first-party sources disagree the
smaller number stands.
"""

from collections.abc import Iterator
from datetime import date
from typing import Any

from sandbox.slack.shape import (
    Problem,
    Rule,
    anything,
    at_least_one,
    choice,
    exactly_one,
    flag,
    kinds,
    many,
    number,
    shape,
    text,
    words,
)

Doc = dict[str, Any]

AS_OF = date(2026, 6, 16)
MESSAGE_BLOCKS = 50
VIEW_BLOCKS = 100
MESSAGE_TEXT = 40_000
EDITED_TEXT = 4_000  # chat.update is stricter than chat.postMessage (unverified)
MARKDOWN_TEXT = 12_000
ALL_BLOCK_TEXT = 13_172
TABLES_PER_MESSAGE = 1
CHARTS_PER_MESSAGE = 2
OPTIONS = 100
IDENTIFIER = 255

_BOTH = ("plain_text", "mrkdwn")
_ID = words(IDENTIFIER)
_CONFIRM = shape(
    {
        "title!": text(100),
        "text!": text(300, *_BOTH),
        "confirm!": text(30),
        "deny!": text(30),
        "style": choice("primary", "danger"),
    }
)
_OPTION = {"text!": text(75, *_BOTH), "value!": words(75), "description": text(75, *_BOTH)}
option = shape(_OPTION)
_OPTION_GROUP = shape({"label!": text(75), "options!": many(option, OPTIONS)})
_COMMON: dict[str, Rule] = {"action_id": _ID, "confirm": _CONFIRM, "focus_on_load": flag}
_SELECT: dict[str, Rule] = {**_COMMON, "placeholder": text(150)}
_SEVERAL: dict[str, Rule] = {**_SELECT, "max_selected_items": number(1, OPTIONS)}
_TYPED: dict[str, Rule] = {
    **_COMMON,
    "placeholder": text(150),
    "dispatch_action_config": anything,
    "initial_value": words(3000, 0),
}
_STATIC: dict[str, Rule] = {
    "options": many(option, OPTIONS),
    "option_groups": many(_OPTION_GROUP, OPTIONS),
}
_ONE_INITIAL: dict[str, Rule] = {"initial_option": option}
_SOME_INITIAL: dict[str, Rule] = {"initial_options": many(option, OPTIONS)}
_EXTERNAL: dict[str, Rule] = {"min_query_length": number(0, 150)}
_ID_INITIAL = {kind: {f"initial_{kind}": _ID} for kind in ("user", "channel", "conversation")}
_IDS_INITIAL = {
    kind: {f"initial_{kind}s": many(_ID, OPTIONS)} for kind in ("user", "channel", "conversation")
}
_CONVERSATIONS: dict[str, Rule] = {
    "default_to_current_conversation": flag,
    "filter": anything,
    "response_url_enabled": flag,
}


def _static(fields: dict[str, Rule]) -> Rule:
    return exactly_one(shape({**fields, **_STATIC}), "options", "option_groups")


SELECTS: dict[str, Rule] = {
    "static_select": _static({**_SELECT, **_ONE_INITIAL}),
    "external_select": shape({**_SELECT, **_ONE_INITIAL, **_EXTERNAL}),
    "users_select": shape({**_SELECT, **_ID_INITIAL["user"]}),
    "channels_select": shape({**_SELECT, **_ID_INITIAL["channel"], "response_url_enabled": flag}),
    "conversations_select": shape({**_SELECT, **_ID_INITIAL["conversation"], **_CONVERSATIONS}),
    "multi_static_select": _static({**_SEVERAL, **_SOME_INITIAL}),
    "multi_external_select": shape({**_SEVERAL, **_SOME_INITIAL, **_EXTERNAL}),
    "multi_users_select": shape({**_SEVERAL, **_IDS_INITIAL["user"]}),
    "multi_channels_select": shape({**_SEVERAL, **_IDS_INITIAL["channel"]}),
    "multi_conversations_select": shape(
        {**_SEVERAL, **_IDS_INITIAL["conversation"], **_CONVERSATIONS}
    ),
}
PICKERS: dict[str, Rule] = {
    "datepicker": shape({**_SELECT, "initial_date": words(10, 10)}),
    "timepicker": shape({**_SELECT, "initial_time": words(5, 5), "timezone": words(IDENTIFIER)}),
    "datetimepicker": shape({**_COMMON, "initial_date_time": number(10**9, 10**10 - 1)}),
    "radio_buttons": shape({**_COMMON, "options!": many(option, 10), **_ONE_INITIAL}),
    "checkboxes": shape({**_COMMON, "options!": many(option, 10), **_SOME_INITIAL}),
}
_IMAGE_SOURCE: dict[str, Rule] = {
    "alt_text!": words(2000),
    "image_url": words(3000),
    "slack_file": shape({"id": _ID, "url": words(3000)}),
}
_IMAGE_ELEMENT = exactly_one(shape(_IMAGE_SOURCE), "image_url", "slack_file")
BUTTONS: dict[str, Rule] = {
    "button": shape(
        {
            "text!": text(75),
            "action_id": _ID,
            "value": words(2000),
            "url": words(3000),
            "style": choice("primary", "danger"),
            "confirm": _CONFIRM,
            "accessibility_label": words(75),
        }
    ),
    "overflow": shape(
        {
            "action_id": _ID,
            "options!": many(shape({**_OPTION, "url": words(3000)}), 5),
            "confirm": _CONFIRM,
        }
    ),
}
_LENGTHS: dict[str, Rule] = {"min_length": number(0, 3000), "max_length": number(1, 3000)}
INPUTS: dict[str, Rule] = {
    **SELECTS,
    **PICKERS,
    "plain_text_input": shape({**_TYPED, **_LENGTHS, "multiline": flag}),
    "email_text_input": shape(_TYPED),
    "url_text_input": shape(_TYPED),
    "number_input": shape(
        {
            **_TYPED,
            "is_decimal_allowed!": flag,
            "min_value": words(50),
            "max_value": words(50),
        }
    ),
    "rich_text_input": shape({**_TYPED, "initial_value": anything}),
    "file_input": shape(
        {"action_id": _ID, "filetypes": many(words(20), 50), "max_files": number(1, 10)}
    ),
}
_ACTIONS = {**SELECTS, **PICKERS, **BUTTONS}
_WORKFLOW: dict[str, Rule] = {"workflow_button": anything}
_FEEDBACK: dict[str, Rule] = {"feedback_buttons": anything, "icon_button": anything}
_CELL = kinds({"raw_text": anything, "raw_number": anything, "rich_text": anything})
_COLUMN = shape({"align": choice("left", "center", "right"), "is_wrapped": flag})


def _block(fields: dict[str, Rule]) -> Rule:
    return shape({**fields, "block_id": _ID})


BLOCKS: dict[str, Rule] = {
    "section": at_least_one(
        _block(
            {
                "text": text(3000, *_BOTH),
                "fields": many(text(2000, *_BOTH), 10),
                "accessory": kinds({**_ACTIONS, **_WORKFLOW, "image": _IMAGE_ELEMENT}),
                "expand": flag,
            }
        ),
        "text",
        "fields",
    ),
    "header": _block({"text!": text(150), "level": number(1, 6)}),
    "divider": _block({}),
    "context": _block(
        {
            "elements!": many(
                kinds(
                    {
                        "plain_text": shape({"text!": words(3000), "emoji": flag}),
                        "mrkdwn": shape({"text!": words(3000), "verbatim": flag}),
                        "image": _IMAGE_ELEMENT,
                    }
                ),
                10,
            )
        }
    ),
    "actions": _block({"elements!": many(kinds({**_ACTIONS, **_WORKFLOW}), 25)}),
    "context_actions": _block({"elements!": many(kinds(_FEEDBACK), 5)}),
    "image": exactly_one(_block({**_IMAGE_SOURCE, "title": text(2000)}), "image_url", "slack_file"),
    "input": _block(
        {
            "label!": text(2000),
            "element!": kinds(INPUTS),
            "hint": text(2000),
            "optional": flag,
            "dispatch_action": flag,
        }
    ),
    "rich_text": _block({"elements!": many(anything, 1000)}),
    "markdown": _block({"text!": words(MARKDOWN_TEXT)}),
    "video": _block(
        dict.fromkeys(("alt_text!", "title!", "thumbnail_url!", "video_url!"), anything)
    ),
    "file": _block(dict.fromkeys(("external_id!", "source!"), anything)),
    "table": _block({"rows!": many(many(_CELL, 20), 100), "column_settings": many(_COLUMN, 20, 0)}),
    "data_table": _block(
        {
            "caption!": words(2000),
            "rows!": many(many(_CELL, 20), 101),
            "page_size": number(1, 100),
            "columns": anything,
        }
    ),
    "data_visualization": _block({"title!": words(50), "chart!": anything}),
    "alert": _block(
        {
            "text!": text(3000, *_BOTH),
            "level": choice("default", "info", "warning", "error", "success"),
        }
    ),
    "card": _block(
        {
            "title": text(150, *_BOTH),
            "subtitle": text(150, *_BOTH),
            "body": text(200, *_BOTH),
            "icon": anything,
            "hero_image": anything,
            "actions": many(kinds(BUTTONS), 25),
        }
    ),
    "carousel": _block({"elements!": many(anything, 10)}),
    "container": _block(
        {
            "title": text(150, *_BOTH),
            "subtitle": text(150, *_BOTH),
            "child_blocks!": many(anything, 10),
            "width": anything,
            "is_collapsible": flag,
            "default_collapsed": flag,
            "icon": anything,
        }
    ),
    "task_card": anything,
    "plan": anything,
}
_VIEW: dict[str, Rule] = {
    "blocks!": many(kinds(BLOCKS), VIEW_BLOCKS),
    "private_metadata": words(3000, 0),
    "callback_id": words(IDENTIFIER, 0),
    "external_id": words(IDENTIFIER, 0),
}
_MODAL: dict[str, Rule] = {
    "title!": text(24),
    "submit": text(24),
    "close": text(24),
    "clear_on_close": flag,
    "notify_on_close": flag,
    "submit_disabled": flag,
}
VIEWS: dict[str, Rule] = {"modal": shape({**_VIEW, **_MODAL}), "home": shape(_VIEW)}


def check_blocks(blocks: Any, most: int = MESSAGE_BLOCKS, at: str = "/blocks") -> list[Problem]:
    """What Slack would refuse in a list of blocks; nothing for a list that is fine."""
    found = list(many(kinds(BLOCKS), most)(blocks, at))
    if not isinstance(blocks, list):
        return found
    known = [block for block in blocks if isinstance(block, dict)]
    return [*found, *_repeated_ids(known, at), *_too_many(known, at)]


def check_message(message: Doc) -> list[Problem]:
    """Problems of {text, blocks, attachments, markdown_text}; the first one's code is the answer.

    A message with blocks must also have text: Slack would take it, but a screen reader and a
    notification would have nothing to say. The sandbox is stricter here on purpose.
    """
    said, blocks = message.get("text") or "", message.get("blocks") or []
    marked = message.get("markdown_text") or ""
    found = []
    if not isinstance(said, str) or len(said) > MESSAGE_TEXT:
        found.append(Problem("/text", f"must be {MESSAGE_TEXT} characters or less", "msg_too_long"))
    if len(marked) > MARKDOWN_TEXT:
        found.append(Problem("/markdown_text", "is too long", "msg_too_long"))
    if not said and not marked and (blocks or not message.get("attachments")):
        found.append(Problem("/text", "must not be empty", "no_text"))
    if blocks:
        found += check_blocks(blocks)
        found += _too_much_text(blocks)
    return found


def check_view(view: Any) -> list[Problem]:
    """Problems of a modal or a Home view; pointers start at /view."""
    found = list(kinds(VIEWS)(view, "/view"))
    blocks = view.get("blocks") if isinstance(view, dict) else None
    if not isinstance(blocks, list):
        return found
    known = [block for block in blocks if isinstance(block, dict)]
    found += [*_repeated_ids(known, "/view/blocks"), *_too_many(known, "/view/blocks")]
    asks = any(block.get("type") == "input" for block in known)
    if view.get("type") == "modal" and asks and not view.get("submit"):
        found.append(Problem("/view", "missing required field: submit (there are input blocks)"))
    return found


def check_suggestions(answer: Any) -> list[Problem]:
    """Problems of the options given to an external select."""
    groups = many(_OPTION_GROUP, OPTIONS, 0)
    fields = shape({"options": many(option, OPTIONS, 0), "option_groups": groups})
    return list(exactly_one(fields, "options", "option_groups")(answer, ""))


def _repeated_ids(blocks: list[Doc], at: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        name = block.get("block_id")
        if isinstance(name, str) and name in seen:
            yield Problem(f"{at}/{index}/block_id", f"block_id already exists: {name}")
        seen.add(str(name))
        yield from _repeated_actions(block, f"{at}/{index}")


def _repeated_actions(block: Doc, at: str) -> Iterator[Problem]:
    elements = block.get("elements")
    seen: set[str] = set()
    for index, element in enumerate(elements if isinstance(elements, list) else ()):
        name = element.get("action_id") if isinstance(element, dict) else None
        if name and name in seen:
            yield Problem(f"{at}/elements/{index}", f"action_id already exists: {name}")
        seen.add(str(name))


def _too_many(blocks: list[Doc], at: str) -> Iterator[Problem]:
    types = [block.get("type") for block in blocks]
    if types.count("table") > TABLES_PER_MESSAGE:
        yield Problem(at, "only_one_table_allowed")
    if types.count("data_visualization") > CHARTS_PER_MESSAGE:
        yield Problem(at, f"no more than {CHARTS_PER_MESSAGE} data_visualization blocks allowed")


def _too_much_text(blocks: Any) -> Iterator[Problem]:
    size = text_size(blocks)
    if size > ALL_BLOCK_TEXT:
        message = f"all text of the blocks is {size} characters, {ALL_BLOCK_TEXT} allowed"
        yield Problem("/blocks", message, "msg_blocks_too_long")


def text_size(part: Any) -> int:
    """The characters of all texts in blocks, however deep: what the budget counts."""
    if isinstance(part, list):
        return sum(map(text_size, part))
    if not isinstance(part, dict):
        return 0
    own = part.get("text")
    size = len(own) if isinstance(own, str) else 0
    return size + sum(text_size(value) for value in part.values())
