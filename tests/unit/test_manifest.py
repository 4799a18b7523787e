"""The Slack app's manifest: within Slack's limits, with the scopes that are needed and no more."""

import json
import re
from pathlib import Path

import yaml
from typer.testing import CliRunner

from bot.cli import app
from bot.manifest import APP_SCOPE, BOT_SCOPES, EVENTS, manifest
from sandbox.slack.api import METHODS

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
SCOPES = {scope.name for scope in BOT_SCOPES}

BY_EVENT = {
    "app_mention": {"app_mentions:read"},
    "message.im": {"im:history"},
    "app_home_opened": set[str](),
    "subteam_created": {"usergroups:read"},
    "subteam_updated": {"usergroups:read"},
    "subteam_members_changed": {"usergroups:read"},
}
# By the kind of channel: what a method needs beyond what the loopback lists for it.
BY_CHANNEL = {
    "conversations_info": {"channels:read", "groups:read"},
    "conversations_history": {"channels:history", "groups:history", "im:history"},
    "conversations_replies": {"channels:history", "groups:history", "im:history"},
}
UPLOAD = {"files_upload_v2": {"files:write"}}


def _called() -> set[str]:
    """The SDK's methods that the bot calls."""
    code = "".join(path.read_text() for path in (ROOT / "bot").glob("*.py"))
    return set(re.findall(r"_client\.(\w+)", code)) | {"commands"}


def _needed(method: str) -> set[str]:
    if method in BY_CHANNEL | UPLOAD:
        return (BY_CHANNEL | UPLOAD)[method]
    known = {name.replace(".", "_"): needs.scope for name, needs in METHODS.items()}
    return {known[method]} - {""} if method in known else set()


def test_every_scope_is_needed_and_none_is_missing() -> None:
    by_calls = {scope for method in _called() for scope in _needed(method)}
    by_events = {scope for event in EVENTS for scope in BY_EVENT[event]}

    assert by_calls | by_events | {"commands"} == SCOPES


def test_what_the_bot_listens_to_is_subscribed() -> None:
    code = (ROOT / "bot" / "app.py").read_text()
    heard = set(re.findall(r'app\.event\("(\w+)"\)', code))

    assert heard == {"app_mention", "message", "app_home_opened"}
    assert {event.split(".")[0] for event in EVENTS if "subteam" not in event} == heard


def test_the_manifest_keeps_slacks_limits() -> None:
    made = manifest()
    shown, command = made["display_information"], made["features"]["slash_commands"][0]

    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert len(command["command"]) <= 32
    assert len(command["description"]) <= 2000
    assert len(command["usage_hint"]) <= 1000
    assert re.fullmatch(r"[a-z0-9._-]{1,80}", made["features"]["bot_user"]["display_name"])
    assert len(SCOPES) == len(BOT_SCOPES) <= 255


def test_socket_mode_needs_no_address_and_http_has_one_everywhere() -> None:
    socket, http = json.dumps(manifest()), manifest("https://pool.example.org/")

    assert manifest()["settings"]["socket_mode_enabled"] is True
    assert "url" not in socket
    address = "https://pool.example.org/slack/events"
    assert http["settings"]["socket_mode_enabled"] is False
    assert http["settings"]["event_subscriptions"]["request_url"] == address
    assert http["settings"]["interactivity"]["request_url"] == address
    assert http["settings"]["interactivity"]["message_menu_options_url"] == address
    assert http["features"]["slash_commands"][0]["url"] == address


def test_the_command_prints_it_as_yaml_or_json() -> None:
    as_yaml, as_json = (
        CliRunner().invoke(app, ["manifest"]),
        CliRunner().invoke(app, ["manifest", "--json", "--url", "https://x.example.org"]),
    )

    assert yaml.safe_load(as_yaml.output) == manifest()
    assert json.loads(as_json.output) == manifest("https://x.example.org")


def test_the_readme_explains_each_scope_as_the_manifest_does() -> None:
    documented = dict(re.findall(r"^   \| `([a-z:._]+)` \| (.+) \|$", README, re.MULTILINE))

    assert documented == {scope.name: scope.purpose for scope in BOT_SCOPES}
    assert APP_SCOPE in README
