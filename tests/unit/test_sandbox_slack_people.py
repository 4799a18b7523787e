"""What happens between a person and an app: acknowledgements, triggers, response URLs, modals.

The app here is an endpoint that answers what the test tells it to.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.slack_endpoint import Endpoint, listening
from tests.slack_support import Message, Workspace

Doc = dict[str, Any]


@pytest.fixture
def app(slack: Workspace) -> Iterator[Endpoint]:
    yield from listening(slack)


def text(said: str) -> Doc:
    return {"type": "plain_text", "text": said}


def button(name: str, **fields: Any) -> Doc:
    return {"type": "button", "text": text(name), "action_id": name.lower(), **fields}


def asked(name: str, **element: Any) -> Doc:
    whole = {"type": "plain_text_input", "action_id": f"{name}_typed", **element}
    return {"type": "input", "block_id": name, "label": text(name.title()), "element": whole}


def modal(title: str = "One", *blocks: Doc, **fields: Any) -> Doc:
    given = list(blocks) or [asked("name")]
    return {
        "type": "modal",
        "title": text(title),
        "submit": text("Save"),
        "blocks": given,
        **fields,
    }


def trigger(slack: Workspace, app: Endpoint) -> str:
    """A fresh trigger id of Ada's."""
    slack.person("U_ADA").command("/pool go")
    return str(app.heard[-1]["trigger_id"])


def opened(slack: Workspace, app: Endpoint, view: Doc) -> Doc:
    return dict(slack.ok("views.open", trigger_id=trigger(slack, app), view=view)["view"])


def post(slack: Workspace, *elements: Doc, **fields: Any) -> Message:
    blocks = [{"type": "actions", "block_id": "row", "elements": list(elements)}]
    slack.ok("chat.postMessage", channel="C_VISION", text="A card.", blocks=blocks, **fields)
    return slack.channel("C_VISION").messages()[-1]


@pytest.mark.parametrize(
    ("typed", "escaped", "raw"),
    [
        ("show @ben", "show <@U_BEN>", "show @ben"),
        ("show @vision-team", "show <!subteam^S_VISION|@vision-team>", "show @vision-team"),
        ("to #vision", "to <#C_VISION|vision>", "to #vision"),
        ("a & b <c>", "a &amp; b &lt;c&gt;", "a & b <c>"),
        ("<!channel>", "&lt;!channel&gt;", "<!channel>"),
        ("@channel", "<!channel>", "@channel"),
        ("see http://a.example/x", "see <http://a.example/x>", "see http://a.example/x"),
        ("@nobody", "@nobody", "@nobody"),
    ],
)
def test_a_commands_text_is_escaped_if_the_app_asked_for_it(
    slack: Workspace, app: Endpoint, typed: str, escaped: str, raw: str
) -> None:
    slack.person("U_ADA").command(f"/pool {typed}")
    slack.configure(should_escape=False)
    slack.person("U_ADA").command(f"/pool {typed}")

    assert [body["text"] for body in app.heard] == [escaped, raw]


def test_what_an_acknowledgement_says_is_shown_to_the_person_or_to_all(
    slack: Workspace, app: Endpoint
) -> None:
    app.answers = [{"text": "for you"}, {"text": "for all", "response_type": "in_channel"}]

    slack.person("U_ADA").command("/pool one", channel="C_VISION")
    slack.person("U_ADA").command("/pool two", channel="C_VISION")

    assert [one.plain for one in slack.channel("C_VISION").messages()] == ["for all"]
    seen = slack.person("U_ADA").messages("C_VISION")
    assert [(one.plain, one.only_for) for one in seen] == [("for you", "U_ADA"), ("for all", "")]


def test_an_answer_that_cannot_be_shown_is_an_error_to_the_person(
    slack: Workspace, app: Endpoint
) -> None:
    app.answers = [{"text": "x", "blocks": [{"type": "sparkle"}]}]

    said = slack.person("U_ADA").command("/pool one")

    assert said.error.startswith("invalid_command_response: invalid_blocks")
    assert slack.person("U_ADA").notices()[0]["about"] == "/pool"


def test_commands_do_not_work_in_threads(slack: Workspace, app: Endpoint) -> None:
    parent = post(slack, button("Go"))

    said = slack.person("U_ADA").command("/pool one", channel="C_VISION", thread=parent.ts)

    assert said.error == "not_supported_in_threads"
    assert app.heard == []


def test_a_channel_is_out_of_reach_for_who_is_not_in_it(slack: Workspace, app: Endpoint) -> None:
    with pytest.raises(AssertionError, match="U_EVE is in no channel 'C_ADMINS'"):
        slack.person("U_EVE").command("/pool one", channel="C_ADMINS")


def test_a_trigger_id_is_good_once_and_for_three_seconds(slack: Workspace, app: Endpoint) -> None:
    used, old = trigger(slack, app), trigger(slack, app)
    slack.ok("views.open", trigger_id=used, view=modal())
    again = slack.call("views.open", trigger_id=used, view=modal())
    slack.advance(3.1)

    late = slack.call("views.open", trigger_id=old, view=modal())

    assert (again.error, late.error) == ("exchanged_trigger_id", "expired_trigger_id")


def test_a_response_url_is_good_for_five_answers(slack: Workspace, app: Endpoint) -> None:
    said = slack.person("U_ADA").command("/pool go")
    url = app.heard[0]["response_url"]

    replies = [slack.post(url, {"text": f"answer {number}"}) for number in range(6)]

    assert [reply.status for reply in replies] == [200] * 5 + [404]
    assert replies[5].error == "used_url"
    assert len(said.messages) == 5


def test_a_response_url_is_good_for_half_an_hour(slack: Workspace, app: Endpoint) -> None:
    slack.person("U_ADA").command("/pool go")
    url = app.heard[0]["response_url"]

    slack.advance(29 * 60)
    in_time = slack.post(url, {"text": "in time"})
    slack.advance(2 * 60)
    late = slack.post(url, {"text": "late"})

    assert in_time.status == 200
    assert (late.status, late.error) == (404, "expired_url")


def test_a_response_url_edits_and_deletes_what_was_pressed(slack: Workspace, app: Endpoint) -> None:
    slack.person("U_ADA").command("/pool go", channel="C_VISION")
    row = [{"type": "actions", "elements": [button("Share")]}]
    slack.post(app.heard[0]["response_url"], {"text": "Only for you.", "blocks": row})
    ada = slack.person("U_ADA")
    ada.press("Share", in_=ada.messages("C_VISION")[0])
    pressed = app.heard[1]

    slack.post(pressed["response_url"], {"text": "Shared.", "blocks": [], "replace_original": True})
    replaced = ada.messages("C_VISION")
    slack.post(pressed["response_url"], {"delete_original": True})

    assert pressed["container"]["is_ephemeral"]
    assert "message" not in pressed
    assert [(one.plain, one.only_for) for one in replaced] == [("Shared.", "U_ADA")]
    assert ada.messages("C_VISION") == []


def test_a_press_carries_the_button_and_its_message(slack: Workspace, app: Endpoint) -> None:
    card = post(slack, button("Go", value="7"), button("Stop"))

    slack.person("U_CLEO").press("Go", in_=card)

    body = app.heard[0]
    assert (body["type"], body["user"]["id"]) == ("block_actions", "U_CLEO")
    assert body["actions"][0]["value"] == "7"
    assert body["container"]["message_ts"] == body["message"]["ts"] == card.ts


def test_equal_buttons_are_told_apart_by_what_is_near(slack: Workspace, app: Endpoint) -> None:
    rows = [
        {"type": "section", "text": text(name), "accessory": button("Edit", value=name)}
        for name in ("vision", "speech")
    ]
    slack.ok("chat.postMessage", channel="C_VISION", text="Two.", blocks=rows)
    card, cleo = slack.channel("C_VISION").messages()[0], slack.person("U_CLEO")

    with pytest.raises(AssertionError, match="2 elements are 'Edit'"):
        cleo.press("Edit", in_=card)
    cleo.press("Edit", in_=card, near="speech")

    assert [body["actions"][0]["value"] for body in app.heard] == ["speech"]
    assert card.plain == "vision  [Edit]\nspeech  [Edit]"


def test_a_confirmation_is_shown_and_can_be_declined(slack: Workspace, app: Endpoint) -> None:
    dialog = {
        "title": text("Sure?"), "text": text("8 jobs stop."),
        "confirm": text("Stop"), "deny": text("Keep"),
    }  # fmt: skip
    card, cleo = post(slack, button("Go", confirm=dialog)), slack.person("U_CLEO")

    declined = cleo.press("Go", in_=card, confirm=False)
    heard_then = len(app.heard)
    cleo.press("Go", in_=card)

    assert declined.confirm == "Sure?\n8 jobs stop.\n[Keep] [Stop]"
    assert (heard_then, len(app.heard)) == (0, 1)


def test_a_menu_and_a_select_send_the_option(slack: Workspace, app: Endpoint) -> None:
    options = [{"text": text(name), "value": name.lower()} for name in ("Rename", "Delete")]
    menu = {"type": "overflow", "action_id": "more", "options": options}
    select = {"type": "static_select", "action_id": "pick", "options": options}
    card, cleo = post(slack, menu, select), slack.person("U_CLEO")

    cleo.press("Delete", in_=card)
    cleo.choose("pick", "Rename", in_=card)

    chosen = [body["actions"][0]["selected_option"]["value"] for body in app.heard]
    assert chosen == ["delete", "rename"]
    assert app.heard[1]["state"]["values"]["row"]["pick"]["selected_option"] == options[0]
    assert cleo.messages("C_VISION")[0].plain == "[... Rename / Delete] [Rename v]"


def test_a_view_keeps_what_was_typed_when_it_is_updated(slack: Workspace, app: Endpoint) -> None:
    first = opened(slack, app, modal("One", asked("name"), asked("size")))
    view = slack.person("U_ADA").view()
    view.fill("Name", "vision")

    fresh = modal("Two", asked("name"), asked("size", action_id="other", initial_value="8"))
    slack.ok("views.update", view_id=view.id, hash=first["hash"], view=fresh)
    late = slack.call("views.update", view_id=view.id, hash=first["hash"], view=fresh)

    assert view.now().plain == "== Two ==\nName: [vision ___]\nSize: [8 ___]\n[Cancel] [Save]"
    assert late.error == "hash_conflict"


def test_a_stack_has_three_views_at_most(slack: Workspace, app: Endpoint) -> None:
    opened(slack, app, modal("One"))
    pushed = [
        slack.call("views.push", trigger_id=trigger(slack, app), view=modal(title))
        for title in ("Two", "Three", "Four")
    ]

    ada = slack.person("U_ADA")
    titles = [view.title for view in ada.views()]
    ada.view("Three").close()

    assert [reply.error for reply in pushed] == ["", "", "push_limit_reached"]
    assert titles == ["One", "Two", "Three"]
    assert pushed[1].body["view"]["previous_view_id"] == pushed[0].body["view"]["id"]
    assert ada.view().title == "Two"


def test_an_external_id_names_one_view(slack: Workspace, app: Endpoint) -> None:
    named = modal("One", external_id="editor")
    opened(slack, app, named)

    twice = slack.call("views.push", trigger_id=trigger(slack, app), view=named)
    slack.ok("views.update", external_id="editor", view=modal("New", external_id="editor"))

    assert twice.error == "duplicate_external_id"
    assert slack.person("U_ADA").view().title == "New"


RESPONSES: list[tuple[str, Doc, list[str]]] = [
    ("nothing", {}, ["One"]),
    ("update", {"response_action": "update", "view": modal("New")}, ["One", "New"]),
    ("push", {"response_action": "push", "view": modal("New")}, ["One", "Two", "New"]),
    ("clear", {"response_action": "clear"}, []),
]


@pytest.mark.parametrize(
    ("answer", "titles"), [case[1:] for case in RESPONSES], ids=[case[0] for case in RESPONSES]
)
def test_a_submission_is_followed_by_what_the_app_answers(
    slack: Workspace, app: Endpoint, answer: Doc, titles: list[str]
) -> None:
    opened(slack, app, modal("One"))
    slack.ok("views.push", trigger_id=trigger(slack, app), view=modal("Two"))
    view = slack.person("U_ADA").view("Two")
    view.fill("Name", "vision")
    app.answers = [answer]

    assert view.submit() is None
    assert [one.title for one in slack.person("U_ADA").views()] == titles


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {"elsewhere": "No."}},
        {"response_action": "errors", "errors": {}},
        {"response_action": "update", "view": {"type": "modal"}},
        {"response_action": "dance"},
    ],
    ids=["not an input", "no errors", "a bad view", "no such action"],
)
def test_a_wrong_answer_to_a_submission_is_trouble_to_the_person(
    slack: Workspace, app: Endpoint, answer: Doc
) -> None:
    opened(slack, app, modal())
    view = slack.person("U_ADA").view()
    view.fill("Name", "vision")
    app.answers = [answer]

    assert view.try_submit()["error"]
    assert slack.person("U_ADA").notices()[0]["about"].startswith("We had some trouble")
    assert view.now().title == "One"


@pytest.mark.parametrize(
    ("element", "value", "complaint"),
    [
        ({}, "", "Please complete this required field."),
        ({"max_length": 3}, "four", "Please enter 0 to 3 characters."),
        ({"min_length": 3}, "x", "Please enter 3 to 3000 characters."),
        ({"type": "number_input", "is_decimal_allowed": False}, "1.5", "Please enter a number."),
        (
            {"type": "number_input", "is_decimal_allowed": True, "min_value": "1"}, "0.5",
            "Please enter a number of at least 1.",
        ),
    ],
    ids=["empty", "too long", "too short", "not whole", "too small"],
)  # fmt: skip
def test_slack_itself_refuses_input_before_the_app_hears_of_it(
    slack: Workspace, app: Endpoint, element: Doc, value: str, complaint: str
) -> None:
    opened(slack, app, modal("One", asked("name", **element)))
    view = slack.person("U_ADA").view()
    view.fill("Name", value)
    heard = len(app.heard)

    assert view.submit() == {"name": complaint}
    assert len(app.heard) == heard


def test_a_file_can_be_said_and_put_into_a_field(slack: Workspace, app: Endpoint) -> None:
    content = {"name": "pools.yaml", "content": "pools: {}"}
    field = {"type": "file_input", "action_id": "file"}
    opened(slack, app, modal("One", {**asked("name"), "element": field}))
    ada = slack.person("U_ADA")

    ada.dm("import this", files=[content])
    view = ada.view()
    view.fill("Name", [content])
    view.submit()

    said, submitted = app.heard[1]["event"], app.heard[2]["view"]["state"]["values"]
    assert (said["subtype"], said["channel_type"]) == ("file_share", "im")
    assert slack.download(said["files"][0]) == b"pools: {}"
    assert submitted["name"]["file"]["files"][0]["name"] == "pools.yaml"


def test_changes_of_people_are_events(slack: Workspace, app: Endpoint) -> None:
    slack.set_group("S_VISION", "U_CLEO", "U_EVE")
    slack.channel("C_VISION").set_members("U_ADA", "U_CLEO", "U_EVE")

    changed, joined, left = (body["event"] for body in app.heard)
    assert (changed["added_users"], changed["removed_users"]) == (["U_EVE"], ["U_DAN"])
    assert (joined["type"], joined["user"]) == ("member_joined_channel", "U_EVE")
    assert (left["type"], left["user"]) == ("member_left_channel", "U_DAN")


def test_an_app_hears_only_what_it_subscribed_to(slack: Workspace, app: Endpoint) -> None:
    slack.person("U_CLEO").say("good morning", channel="C_VISION")
    slack.person("U_CLEO").say("@poolkeeper help", channel="C_GENERAL")
    slack.person("U_DAN").say("@poolkeeper where are you", channel="C_SPEECH")
    slack.configure(events=["message.channels"])
    slack.person("U_CLEO").say("good night", channel="C_VISION")

    heard = [(body["event"]["type"], body["event"]["text"]) for body in app.heard]
    assert heard == [("app_mention", "<@U_BOT> help"), ("message", "good night")]
