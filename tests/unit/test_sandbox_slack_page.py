"""What a page asks of the loopback Slack's door: it knows ids, where people know words."""

import struct
import zlib
from typing import Any

import pytest
import requests

from tests.slack_endpoint import Endpoint
from tests.slack_support import Message, Workspace
from tests.unit.test_sandbox_slack_people import Doc, app, asked, button, modal, text

__all__ = ["app"]
PEOPLE = ("U_CLEO", "U_DAN")


def option(name: str, value: str) -> Doc:
    return {"text": text(name), "value": value}


def card(slack: Workspace, *elements: Doc) -> Message:
    blocks = [{"type": "actions", "block_id": "row", "elements": list(elements)}]
    slack.ok("chat.postMessage", channel="C_VISION", text="A card.", blocks=blocks)
    return slack.channel("C_VISION").messages()[-1]


def does(slack: Workspace, deed: str, where: Doc, action: str, **body: Any) -> Doc:
    """Cleo does something to what has these ids."""
    entry = {"option": body.pop("option")} if "option" in body else {}
    spot = {"block": "row", "action": action, **entry}
    return slack.door(deed, person="U_CLEO", where=where, spot=spot, **body)


def test_elements_of_one_name_are_told_apart_by_their_ids(slack: Workspace, app: Endpoint) -> None:
    one = card(slack, button("Go"), {**button("Go"), "action_id": "other", "value": "2"})

    does(slack, "press", one.where, "other")

    assert [body["actions"][0]["action_id"] for body in app.heard] == ["other"]


def test_a_menus_entry_is_pressed_by_its_value(slack: Workspace, app: Endpoint) -> None:
    menu = {"type": "overflow", "action_id": "more"}
    one = card(slack, {**menu, "options": [option("Same", "1"), option("Same", "2")]})

    does(slack, "press", one.where, "more", option="2")

    assert app.heard[0]["actions"][0]["selected_option"]["value"] == "2"


def test_what_is_not_there_any_more_is_refused_and_the_app_hears_nothing(
    slack: Workspace, app: Endpoint
) -> None:
    one = card(slack, button("Go"))

    with pytest.raises(AssertionError, match="nothing with the ids 'row', 'gone'"):
        does(slack, "press", one.where, "gone")
    assert app.heard == []


def test_an_option_is_chosen_as_it_was_offered_and_seen_by_who_chose_it(
    slack: Workspace, app: Endpoint
) -> None:
    same = [option("Same", "1"), option("Same", "2")]
    one = card(slack, {"type": "static_select", "action_id": "pick", "options": same})

    does(slack, "choose", one.where, "pick", chosen=same[1])

    assert app.heard[0]["actions"][0]["selected_option"] == same[1]
    values = {person: slack.messages("C_VISION", person)[-1].doc["values"] for person in PEOPLE}
    assert values["U_CLEO"]["row"]["pick"]["selected_option"] == same[1]
    assert values["U_DAN"] == {}


def test_the_app_hears_of_a_text_once_it_is_sent_not_while_it_is_typed(
    slack: Workspace, app: Endpoint
) -> None:
    slack.person("U_ADA").command("/pool go")
    view = modal("One", {**asked("name"), "dispatch_action": True})
    slack.ok("views.open", trigger_id=app.heard[-1]["trigger_id"], view=view)
    window, spot = slack.person("U_ADA").view(), {"block": "name", "action": "name_typed"}
    heard = len(app.heard)

    slack.door("fill", person="U_ADA", where=window.where, spot=spot, value="vi", typing=True)
    typed = len(app.heard)
    slack.door("fill", person="U_ADA", where=window.where, spot=spot, value="vision")

    assert typed == heard
    assert app.heard[-1]["actions"][0]["value"] == "vision"
    assert "[vision ___]" in window.now().plain


def test_offered_options_come_whole_with_their_groups(slack: Workspace, app: Endpoint) -> None:
    select = {"type": "external_select", "action_id": "find", "min_query_length": 0}
    one = card(slack, select)
    groups = [{"label": text("Pools"), "options": [option("h100", "1")]}]
    app.answers.append({"option_groups": groups})

    said = does(slack, "options", one.where, "find", typed="h")

    assert said == {"options": ["h100"], "offered": {"option_groups": groups}}


def test_changes_are_told_with_the_feeds_number(slack: Workspace) -> None:
    before = slack.door("changed", person="U_CLEO")["last"]
    slack.person("U_CLEO").say("good morning", channel="C_VISION")

    said = slack.door("changed", person="U_CLEO", after=before)

    assert [one["text"] for one in said["messages"]] == ["good morning"]
    assert said["last"] == said["messages"][0]["n"]


def test_a_picture_has_its_size_and_anything_else_has_none(slack: Workspace) -> None:
    assert sizes(slack, picture(3, 2)) == (3, 2)
    assert sizes(slack, b"pools: {}") == (None, None)
    assert sizes(slack, picture(3, 2)[:20]) == (None, None)


def sizes(slack: Workspace, content: bytes) -> tuple[int | None, int | None]:
    """Width and height of an uploaded file, as Slack's document of it says them."""
    place = slack.ok("files.getUploadURLExternal", filename="use.png", length=len(content))
    requests.post(place["upload_url"], data=content, timeout=5)
    file = slack.ok("files.completeUploadExternal", files=[{"id": place["file_id"]}])["files"][0]
    return file.get("original_w"), file.get("original_h")


def picture(width: int, height: int) -> bytes:
    """A black PNG."""
    rows = b"".join(b"\0" * (width + 1) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        for kind, part in parts
    )
