"""The Slack app's manifest: what the app is, may do, and is told (facts/slack.md 2.6)."""

import json
from dataclasses import dataclass
from typing import Any, Final

NAME: Final = "Poolkeeper"
COMMAND: Final = "/pool"
EVENTS_PATH: Final = "/slack/events"


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What the app may do, and what it does with that."""

    name: str
    purpose: str


BOT_SCOPES: Final = (
    Scope(name="commands", purpose="offers `/pool`."),
    Scope(name="chat:write", purpose="answers, and posts requests, alerts and digests."),
    Scope(name="app_mentions:read", purpose="hears `@poolkeeper status` in channels it is in."),
    Scope(name="im:history", purpose="hears what people write to it directly."),
    Scope(name="im:write", purpose="opens direct messages, for what concerns one person."),
    Scope(name="usergroups:read", purpose="reads who is an admin or in a team by user group."),
    Scope(name="channels:read", purpose="lets `doctor` see whether it is in a public channel."),
    Scope(name="groups:read", purpose="lets `doctor` see whether it is in a private channel."),
    Scope(name="channels:history", purpose="finds its own post again after a crash, in public."),
    Scope(name="groups:history", purpose="finds its own post again after a crash, in private."),
    Scope(name="files:read", purpose="reads the YAML file that an admin uploads to import."),
    Scope(name="files:write", purpose="uploads the digests' pictures."),
)
"""The least that works."""

APP_SCOPE: Final = "connections:write"
"""Of the app-level token, for Socket Mode."""

EVENTS: Final = (
    "app_home_opened",
    "app_mention",
    "message.im",
    "subteam_created",
    "subteam_members_changed",
    "subteam_updated",
)


def manifest(url: str = "") -> dict[str, Any]:
    """The manifest for Socket Mode, or for HTTP where Slack reaches the bot at `url`."""
    address = f"{url.rstrip('/')}{EVENTS_PATH}" if url else ""
    reached: dict[str, Any] = {"request_url": address} if url else {}
    command = {
        "command": COMMAND,
        "description": "GPU pools: who uses what, why a task waits, and changes for admins.",
        "usage_hint": "status | queue | why TASK | policies | help",
        "should_escape": True,
    }
    return {
        "display_information": {
            "name": NAME,
            "description": "Keeps GPU pools fair for teams that share a self-hosted ClearML.",
            "background_color": "#1f3a2d",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "poolkeeper", "always_online": True},
            "slash_commands": [{**command, **({"url": address} if url else {})}],
        },
        "oauth_config": {"scopes": {"bot": [scope.name for scope in BOT_SCOPES]}},
        "settings": {
            "event_subscriptions": {**reached, "bot_events": list(EVENTS)},
            "interactivity": {
                "is_enabled": True,
                **reached,
                **({"message_menu_options_url": address} if url else {}),
            },
            "org_deploy_enabled": False,
            "socket_mode_enabled": not url,
            "token_rotation_enabled": False,
        },
    }


def as_json(url: str = "") -> str:
    """The manifest as the API takes it."""
    return json.dumps(manifest(url), indent=2, ensure_ascii=False) + "\n"


def as_yaml(url: str = "") -> str:
    """The manifest as Slack's *Create an app from a manifest* takes it."""
    import yaml

    return str(yaml.safe_dump(manifest(url), sort_keys=False, allow_unicode=True))
