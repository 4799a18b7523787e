"""The Web API's rules: who may call, what is refused and by which code, and how often."""

from typing import Any

import pytest
import requests

from tests.slack_support import Reply, Workspace

Doc = dict[str, Any]


def home(said: str = "hello") -> Doc:
    return {"type": "home", "blocks": [{"type": "section", "text": text(said)}]}


def text(said: str) -> Doc:
    return {"type": "plain_text", "text": said}


@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("xoxb-1234567890-real", "invalid_auth"),
        ("xapp-sandbox-app", "not_allowed_token_type"),
    ],
    ids=["a real token", "the app's token"],
)
def test_only_the_sandboxs_own_bot_token_is_taken(slack: Workspace, token: str, error: str) -> None:
    assert slack.call("auth.test", token=token).error == error
    assert slack.ok("auth.test")["user_id"] == "U_BOT"


def test_no_token_at_all_is_said_so(slack: Workspace) -> None:
    assert slack.post(f"{slack.api}auth.test", {}).error == "not_authed"


def test_tokens_are_not_kept_in_the_log(slack: Workspace) -> None:
    slack.post(f"{slack.api}auth.test", {"token": "xoxb-1234567890-real"})

    assert "xoxb" not in str(slack.calls())


def test_forms_and_json_are_read_alike(slack: Workspace) -> None:
    fields = {"channel": "C_VISION", "text": "hello", "token": slack.bot_token, "blocks": "[]"}

    done = requests.post(f"{slack.api}chat.postMessage", data=fields, timeout=10).json()

    assert slack.channel("C_VISION").messages()[0].ts == done["ts"]


@pytest.mark.parametrize(
    ("lost", "method", "body"),
    [
        ("chat:write", "chat.postMessage", {"channel": "C_VISION", "text": "x"}),
        ("usergroups:read", "usergroups.list", {}),
        ("users:read.email", "users.lookupByEmail", {"email": "ben@example.com"}),
        ("groups:read", "conversations.info", {"channel": "C_ADMINS"}),
        ("im:write", "conversations.open", {"users": "U_ADA"}),
        ("files:write", "files.getUploadURLExternal", {"filename": "a", "length": 1}),
    ],
    ids=lambda value: value if isinstance(value, str) and ":" in value else "",
)
def test_a_missing_scope_is_named(slack: Workspace, lost: str, method: str, body: Doc) -> None:
    granted = slack.call("auth.test").headers["X-OAuth-Scopes"].split(",")
    slack.ok(method, **body)

    slack.configure(scopes=[scope for scope in granted if scope != lost])
    reply = slack.call(method, **body)

    assert (reply.error, reply.body["needed"]) == ("missing_scope", lost)
    assert lost not in reply.body["provided"].split(",")


MODAL = {**home(), "type": "modal", "title": text("t")}
NO_MESSAGE = {"channel": "C_VISION", "ts": "1.2"}
REFUSED: list[tuple[str, str, Doc, str]] = [
    ("no channel", "chat.postMessage", {"channel": "C_NONE", "text": "x"}, "channel_not_found"),
    ("no text", "chat.postMessage", {"channel": "C_VISION"}, "no_text"),
    ("no message", "chat.update", {**NO_MESSAGE, "text": "x"}, "message_not_found"),
    ("no message to delete", "chat.delete", NO_MESSAGE, "message_not_found"),
    (
        "an outsider", "chat.postEphemeral",
        {"channel": "C_VISION", "user": "U_EVE", "text": "x"}, "user_not_in_channel",
    ),
    ("nobody", "users.info", {"user": "U_NONE"}, "user_not_found"),
    ("no address", "users.lookupByEmail", {"email": "x@example.com"}, "users_not_found"),
    ("no group", "usergroups.users.list", {"usergroup": "S_NONE"}, "no_such_subteam"),
    ("no view", "views.update", {"view_id": "V_NONE", "view": home()}, "not_found"),
    ("no trigger", "views.open", {"trigger_id": "1.2", "view": MODAL}, "invalid_trigger_id"),
    ("no thread", "conversations.replies", NO_MESSAGE, "thread_not_found"),
    ("no method", "chat.whisper", {}, "unknown_method"),
    ("a field is missing", "users.info", {}, "invalid_arguments"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "body", "error"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_call_is_refused_by_slacks_code(
    slack: Workspace, method: str, body: Doc, error: str
) -> None:
    assert slack.call(method, **body).error == error


def test_a_channel_must_be_one_that_the_bot_may_write_in(slack: Workspace) -> None:
    public = {"channel": "C_SPEECH", "text": "x"}
    slack.ok("chat.postMessage", **public)

    slack.configure(scopes=["chat:write"])
    elsewhere = slack.call("chat.postMessage", **public)
    slack.channel("C_ADMINS").remove_bot()
    private = slack.call("chat.postMessage", channel="C_ADMINS", text="x")
    slack.channel("C_VISION").archive()
    archived = slack.call("chat.postMessage", channel="C_VISION", text="x")

    errors = [elsewhere.error, private.error, archived.error]
    assert errors == ["not_in_channel", "channel_not_found", "is_archived"]


def test_user_groups_are_a_matter_of_the_plan(slack: Workspace) -> None:
    groups = slack.ok("usergroups.list", include_users=True)["usergroups"]
    slack.configure(has_paid_plan=False)

    assert groups[0]["users"] == ["U_ADA", "U_BEN"]
    assert slack.call("usergroups.list").error == "paid_teams_only"


def test_only_the_bots_own_messages_are_edited(slack: Workspace) -> None:
    said = slack.person("U_CLEO").say("mine", channel="C_VISION")

    reply = slack.call("chat.update", channel="C_VISION", ts=said.ts, text="yours")

    assert reply.error == "cant_update_message"


def test_an_edit_keeps_the_blocks_that_it_does_not_name(slack: Workspace) -> None:
    blocks = home("kept")["blocks"]
    posted = slack.ok("chat.postMessage", channel="C_VISION", text="old", blocks=blocks)
    where = {"channel": "C_VISION", "ts": posted["ts"]}

    slack.ok("chat.update", **where, text="new")
    kept = slack.channel("C_VISION").messages()[0]
    slack.ok("chat.update", **where, text="newer", blocks=[])
    removed = slack.channel("C_VISION").messages()[0]

    assert (kept.text, kept.plain) == ("new", "kept")
    assert (removed.text, removed.plain) == ("newer", "newer")
    assert [edit["text"] for edit in removed.edits] == ["old", "new"]


def test_an_ephemeral_message_is_for_one_and_is_not_edited_by_its_ts(slack: Workspace) -> None:
    sent = slack.ok("chat.postEphemeral", channel="C_VISION", user="U_CLEO", text="psst")

    edited = slack.call("chat.update", channel="C_VISION", ts=sent["message_ts"], text="x")

    seen = {who: slack.person(who).messages("C_VISION") for who in ("U_CLEO", "U_DAN")}
    assert [len(found) for found in seen.values()] == [1, 0]
    assert slack.channel("C_VISION").messages() == []
    assert edited.error == "message_not_found"


def test_history_is_newest_first_and_without_replies(slack: Workspace) -> None:
    first = slack.ok("chat.postMessage", channel="C_VISION", text="first")["ts"]
    slack.ok("chat.postMessage", channel="C_VISION", text="reply", thread_ts=first)
    slack.ok("chat.postMessage", channel="C_VISION", text="second")

    history = slack.ok("conversations.history", channel="C_VISION", limit=1)
    cursor = history["response_metadata"]["next_cursor"]
    rest = slack.ok("conversations.history", channel="C_VISION", cursor=cursor)
    replies = slack.ok("conversations.replies", channel="C_VISION", ts=first)

    assert [one["text"] for one in history["messages"] + rest["messages"]] == ["second", "first"]
    assert [one["text"] for one in replies["messages"]] == ["first", "reply"]


def test_a_stale_hash_does_not_overwrite_a_home(slack: Workspace) -> None:
    first = slack.ok("views.publish", user_id="U_ADA", view=home("one"))["view"]["hash"]
    slack.ok("views.publish", user_id="U_ADA", view=home("two"), hash=first)

    late = slack.call("views.publish", user_id="U_ADA", view=home("three"), hash=first)

    assert late.error == "hash_conflict"
    assert slack.person("U_ADA").home().plain == "two"


def posted(slack: Workspace, channel: str = "C_VISION") -> Reply:
    return slack.call("chat.postMessage", channel=channel, text="x")


def test_a_channel_takes_one_message_a_second_after_a_burst(slack: Workspace) -> None:
    slack.configure(rate_limits=True, burst=3)

    burst = [posted(slack).status for _ in range(3)]
    refused = posted(slack)
    elsewhere = posted(slack, "C_GENERAL")
    slack.advance(1)
    later = posted(slack)

    assert burst == [200, 200, 200]
    assert (refused.status, refused.error) == (429, "ratelimited")
    assert refused.headers["Retry-After"] == "1"
    assert (elsewhere.status, later.status) == (200, 200)
    assert len(slack.channel("C_VISION").messages()) == 4


def test_a_tiers_calls_are_counted_by_the_minute(slack: Workspace) -> None:
    slack.configure(rate_limits=True)

    allowed = [slack.call("usergroups.list").status for _ in range(20)]
    refused = slack.call("usergroups.list")
    slack.advance(61)

    assert set(allowed) == {200}
    assert (refused.status, int(refused.headers["Retry-After"]) in range(55, 61)) == (429, True)
    assert slack.call("usergroups.list").status == 200


def test_a_picture_block_may_show_only_a_shared_file(slack: Workspace) -> None:
    made = slack.ok("files.getUploadURLExternal", filename="a.png", length=3, alt_txt="use")
    requests.post(made["upload_url"], data=b"abc", timeout=10).raise_for_status()
    picture = {"type": "image", "slack_file": {"id": made["file_id"]}, "alt_text": "use"}
    message: Doc = {"channel": "C_VISION", "text": "x", "blocks": [picture]}
    files = [{"id": made["file_id"], "title": "Use"}]

    slack.ok("files.completeUploadExternal", files=files)
    unshared = slack.call("chat.postMessage", **message)
    slack.ok("files.completeUploadExternal", files=files, channel_id="C_VISION")
    slack.ok("chat.postMessage", **message)

    assert unshared.error == "invalid_blocks"
    assert "invalid slack file" in unshared.problems[0]
    assert slack.ok("files.info", file=made["file_id"])["file"]["shares"]["public"]


def marked(said: str) -> Doc:
    return {"type": "mrkdwn", "text": said}


def blocks(*given: Doc) -> Doc:
    return {"text": "x", "blocks": list(given)}


VISION = ["U_ADA", "U_CLEO", "U_DAN"]
PINGS: list[tuple[str, Doc, list[str]]] = [
    ("a person", {"text": "<@U_CLEO> look"}, ["U_CLEO"]),
    ("a labelled person", {"text": "<@U_CLEO|cleo> look"}, ["U_CLEO"]),
    ("the channel", {"text": "<!channel>"}, VISION),
    ("here", {"text": "<!here|here>"}, VISION),
    ("a group", {"text": "<!subteam^S_VISION>"}, ["U_CLEO", "U_DAN"]),
    ("escaped", {"text": "&lt;!channel&gt;"}, []),
    ("only typed", {"text": "@cleo @channel"}, []),
    ("typed, with link_names", {"text": "@cleo", "link_names": True}, ["U_CLEO"]),
    ("markup", blocks({"type": "section", "text": marked("<@U_DAN>")}), ["U_DAN"]),
    ("no markup", blocks({"type": "section", "text": text("<!channel>")}), []),
    ("context", blocks({"type": "context", "elements": [marked("<@U_ADA>")]}), ["U_ADA"]),
    ("markdown", blocks({"type": "markdown", "text": "<!here>"}), VISION),
    (
        "rich text",
        blocks({"type": "rich_text", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "user", "user_id": "U_DAN"}]}]}),
        ["U_DAN"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "people"), [case[1:] for case in PINGS], ids=[case[0] for case in PINGS]
)
def test_a_mention_notifies_these_people(slack: Workspace, body: Doc, people: list[str]) -> None:
    slack.ok("chat.postMessage", channel="C_VISION", **body)

    assert slack.channel("C_VISION").messages()[0].pings == people
    assert [ping["person"] for ping in slack.pings()] == people


def test_a_private_channels_mention_reaches_members_only(slack: Workspace) -> None:
    slack.ok("chat.postMessage", channel="C_ADMINS", text="<@U_EVE> <!subteam^S_ADMINS>")

    assert slack.channel("C_ADMINS").messages()[0].pings == ["U_ADA", "U_BEN"]


def test_an_ephemeral_message_notifies_nobody_but_shows_its_mentions(slack: Workspace) -> None:
    slack.ok("chat.postEphemeral", channel="C_VISION", user="U_CLEO", text="<!channel>")

    message = slack.person("U_CLEO").messages("C_VISION")[0]
    assert (message.pings, message.mentions) == ([], ["!channel"])
