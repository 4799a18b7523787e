"""What keeps `poolkeeper run` from starting, as far as the settings tell: every problem at once.

Looked at are files, directories and ports of this machine; nothing is opened, made or called.
"""

import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bot.settings import Settings
from storage.database import why_unusable

_SLACK_KINDS: Final[Mapping[str, str]] = {
    "xoxb-": "a bot token",
    "xoxe.xoxb-": "a bot token",
    "xapp-": "an app-level token",
    "xoxp-": "a user's token",
    "xoxe.xoxp-": "a user's token",
    "xoxe-": "a refresh token",
    "xoxa-": "a workspace token",
}
_WEB_PORT, _FILES_PORT, _API_PORT = 8080, 8081, 8008


def start_problems(settings: Settings) -> list[str]:
    """A sentence for everything that has to be mended first, in the order of the README's table."""
    return [*setting_problems(settings), *_ports(settings)]


def setting_problems(settings: Settings) -> list[str]:
    """The same but for ports, which a process that runs has taken itself."""
    return [
        *_database(settings),
        *_clearml(settings),
        *_kubernetes(settings),
        *_slack(settings),
    ]


def _database(settings: Settings) -> Iterator[str]:
    if problem := why_unusable(settings.database.get_secret_value()):
        yield problem


def _clearml(settings: Settings) -> Iterator[str]:
    given = {
        "CLEARML_API_HOST": settings.clearml_host,
        "CLEARML_API_ACCESS_KEY": settings.clearml_access_key,
        "CLEARML_API_SECRET_KEY": settings.clearml_secret_key.get_secret_value(),
    }
    for name, value in given.items():
        if not value.strip():
            yield f"{name} is not set; the README says where it comes from."
    if settings.clearml_host.strip() and not _is_address(settings.clearml_host):
        yield (
            f"CLEARML_API_HOST is {settings.clearml_host}, which is no address; write it as "
            "https://api.clearml.example.org or http://clearml.example.org:8008."
        )
    bundle = settings.clearml_bundle
    if isinstance(bundle, str) and not os.path.exists(bundle):
        yield (
            f"CLEARML_API_HOST_VERIFY_CERT is {bundle}, which does not exist; say true, false, or "
            "the path of a bundle of certificates."
        )


def _is_address(host: str) -> bool:
    try:
        parts = urlsplit(host.strip())
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def api_hint(host: str) -> str:
    """What to try where this address is, by its looks, ClearML's web or file server; "" if not."""
    try:
        parts = urlsplit(host.strip())
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    what = {"app": "web UI", "files": "file server"}.get(name.split(".")[0], "")
    if what:
        likely = f"{parts.scheme}://api.{name.partition('.')[2]}"
    elif port in (_WEB_PORT, _FILES_PORT):
        what = "web UI" if port == _WEB_PORT else "file server"
        likely = f"{parts.scheme}://{name}:{_API_PORT}"
    else:
        return ""
    return f"{host} looks like ClearML's {what}; its API server is often at {likely}."


def _kubernetes(settings: Settings) -> Iterator[str]:
    if settings.kubernetes == "kubeconfig" and settings.kubeconfig:
        # The client takes a list of paths, as KUBECONFIG does.
        paths = [path for path in settings.kubeconfig.split(os.pathsep) if path]
        for path in paths:
            if not Path(path).expanduser().is_file():
                yield f"POOLKEEPER_KUBECONFIG names {path}, which is no file."
    elif settings.cgpu_probe == "exec" and not settings.has_kubernetes:
        yield (
            "POOLKEEPER_CGPU_PROBE is exec, but POOLKEEPER_KUBERNETES is off; set the one or take "
            "the other away."
        )


def _slack(settings: Settings) -> Iterator[str]:
    bot, app = (
        token.get_secret_value() for token in (settings.slack_bot_token, settings.slack_app_token)
    )
    secret = settings.slack_signing_secret.get_secret_value()
    yield from _wrong_kind("SLACK_BOT_TOKEN", bot, "a bot token", "xoxb-")
    yield from _wrong_kind("SLACK_APP_TOKEN", app, "an app-level token", "xapp-")
    if secret and _kind(secret):
        yield (
            f"SLACK_SIGNING_SECRET holds {_kind(secret)}; it wants the Signing Secret of the app's "
            "Basic Information."
        )
    if bot and not app and not secret:
        yield (
            "SLACK_BOT_TOKEN is set, but nothing says how Slack reaches the bot: set "
            "SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for HTTP."
        )


def _ports(settings: Settings) -> Iterator[str]:
    by_http = settings.slack_signing_secret.get_secret_value() and not (
        settings.slack_app_token.get_secret_value()
    )
    slack, metrics = settings.slack_port, settings.metrics_port
    if settings.has_slack and by_http and (reason := why_not_listening(settings.slack_host, slack)):
        yield (
            f"The address {settings.slack_host}:{slack} cannot listen for Slack: {reason}; see "
            "POOLKEEPER_SLACK_HOST and POOLKEEPER_SLACK_PORT."
        )
    if metrics is not None and (reason := why_not_listening(settings.metrics_host, metrics)):
        yield (
            f"The address {settings.metrics_host}:{metrics} cannot listen for probes and "
            f"Prometheus: {reason}; see POOLKEEPER_METRICS_HOST and POOLKEEPER_METRICS_PORT."
        )


def _wrong_kind(name: str, token: str, wanted: str, prefix: str) -> Iterator[str]:
    kind = _kind(token)
    if kind and kind != wanted:
        yield f"{name} holds {kind}; it wants {wanted}, which begins with {prefix}."


def _kind(token: str) -> str:
    """What Slack calls a token that begins so, "" where that is not known."""
    return next((kind for start, kind in _SLACK_KINDS.items() if token.startswith(start)), "")


def why_not_listening(host: str, port: int) -> str:
    """Why nothing can listen there, "" where something can; it is tried for an instant."""
    try:
        (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, kind, protocol) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind(address)
    except OSError as error:
        return error.strerror or str(error)
    return ""
