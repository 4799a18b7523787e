"""The door to Slack's Web API: reading groups, posting, editing, uploading, finding again.

Slack's errors stop here, chained: `Later` is worth another try, `Impossible` is not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.parse import urlsplit

import requests
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_handlers import ConnectionErrorRetryHandler

from bot.access import Groups
from bot.blocks import Block, Post

_TIMEOUT_S = 10
_HISTORY_PAGE = 200
_HISTORY_PAGES = 5
"""How far back a message is looked for: what a channel says while Poolkeeper is away."""
_PASSING = frozenset(
    {"ratelimited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
)
Found = TypeVar("Found")


class SlackError(Exception):
    """Something went wrong between Poolkeeper and Slack; `code` is Slack's word for it."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(f"Slack answered {code}{f': {detail}' if detail else ''}")
        self.code = code


class Later(SlackError):
    """Slack cannot now, or did not answer: what was asked may even have happened.

    `after_s` is how long Slack wants to be left alone, 0 where it did not say.
    """

    def __init__(self, code: str, detail: str = "", after_s: float = 0) -> None:
        super().__init__(code, detail)
        self.after_s = after_s


class Impossible(SlackError):
    """Slack will never do this: no such channel, not invited, a message that is gone."""


@dataclass(frozen=True, kw_only=True)
class File:
    """A file to upload; of a picture, `alt` says in words what it shows."""

    name: str
    title: str
    alt: str
    content: bytes


@dataclass(frozen=True, kw_only=True)
class Place:
    """A channel as the bot sees it."""

    name: str
    archived: bool
    joined: bool


def web_client(token: str, api: str) -> WebClient:
    """A client that resends nothing but what never left; rate limits are the outbox's to honour."""
    retries = [ConnectionErrorRetryHandler(max_retry_count=0)]
    return WebClient(token=token, base_url=api, timeout=_TIMEOUT_S, retry_handlers=[*retries])


class Slack:
    """Calls of the Web API, for the outbox and for reading; thread-safe as WebClient is."""

    def __init__(self, client: WebClient) -> None:
        self._client = client

    def groups(self) -> Groups:
        """All user groups with their members, in one call."""
        answer = self._ask(lambda: self._client.usergroups_list(include_users=True))
        groups = answer.get("usergroups") or []
        return {group["id"]: frozenset(group.get("users") or ()) for group in groups}

    def post(self, post: Post, metadata: Mapping[str, Any] | None = None) -> str:
        """A new message; its ts."""
        body: dict[str, Any] = {"channel": post.channel, "text": post.text, "unfurl_links": False}
        if post.blocks:
            body["blocks"] = list(post.blocks)
        if post.thread:
            body["thread_ts"] = post.thread
        if metadata:
            body["metadata"] = dict(metadata)
        return str(self._ask(lambda: self._client.chat_postMessage(**body))["ts"])

    def edit(self, post: Post, ts: str) -> None:
        """Another text for a message of ours."""
        blocks = list(post.blocks)
        self._ask(
            lambda: self._client.chat_update(
                channel=post.channel, ts=ts, text=post.text, blocks=blocks
            )
        )

    def upload(self, post: Post, file: File) -> None:
        """Shares a file in the post's channel, with its text if it has one."""
        self._ask(
            lambda: self._client.files_upload_v2(
                channel=post.channel,
                thread_ts=post.thread or None,
                initial_comment=post.text or None,
                content=file.content,
                filename=file.name,
                title=file.title,
                alt_txt=file.alt or None,
                request_file_info=False,
            )
        )

    def download(self, file: str, most: int) -> bytes:
        """A file that somebody has sent, by its id: its first `most` bytes and one more."""
        found = self._ask(lambda: self._client.files_info(file=file))["file"]
        url = str(found.get("url_private_download") or found.get("url_private") or "")
        host, ours = urlsplit(url).hostname or "", urlsplit(self._client.base_url).hostname
        if host != ours and not host.endswith(".slack.com"):
            raise Impossible("file_elsewhere", host)  # no other host is shown the token
        headers = {"Authorization": f"Bearer {self._client.token}"}
        try:
            with requests.get(url, headers=headers, timeout=_TIMEOUT_S, stream=True) as got:
                got.raise_for_status()
                return got.raw.read(most + 1, decode_content=True)
        except requests.RequestException as error:
            raise Later("no_file", str(error)) from error

    def find(self, post: Post, key: str, file: str) -> str:
        """The ts of our message with this key in its metadata, or with this file; "" if none."""
        for message in self._messages(post):
            payload = (message.get("metadata") or {}).get("event_payload") or {}
            if payload.get("key") == key:
                return str(message["ts"])
            if any(shared.get("name") == file for shared in message.get("files") or ()):
                return str(message["ts"])
        return ""

    def _messages(self, post: Post) -> Iterator[Mapping[str, Any]]:
        """What the channel or the thread said lately."""
        where: dict[str, Any] = {"channel": post.channel, "limit": _HISTORY_PAGE}
        where["include_all_metadata"] = True
        history: Callable[..., Any] = self._client.conversations_history
        if post.thread:
            history, where = self._client.conversations_replies, {**where, "ts": post.thread}
        cursor = ""
        for _ in range(_HISTORY_PAGES):
            page = partial(history, **where, **({"cursor": cursor} if cursor else {}))
            answer = self._ask(page)
            yield from answer.get("messages") or ()
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return

    def whisper(self, post: Post, user: str) -> None:
        """A message that only one person in the channel sees."""
        more: dict[str, Any] = {"thread_ts": post.thread} if post.thread else {}
        self._ask(
            lambda: self._client.chat_postEphemeral(
                channel=post.channel,
                user=user,
                text=post.text,
                blocks=list(post.blocks) or None,
                **more,
            )
        )

    def direct(self, user: str) -> str:
        """The id of the channel for direct messages with a person."""
        return str(self._ask(lambda: self._client.conversations_open(users=user))["channel"]["id"])

    def home(self, user: str, view: Block) -> None:
        self._ask(lambda: self._client.views_publish(user_id=user, view=view))

    def open(self, trigger: str, view: Block) -> str:
        """Opens a modal; the id of the view."""
        return str(
            self._ask(lambda: self._client.views_open(trigger_id=trigger, view=view))["view"]["id"]
        )

    def push(self, trigger: str, view: Block) -> str:
        return str(
            self._ask(lambda: self._client.views_push(trigger_id=trigger, view=view))["view"]["id"]
        )

    def update(self, view_id: str, view: Block, hash_: str = "") -> None:
        more: dict[str, Any] = {"hash": hash_} if hash_ else {}
        self._ask(lambda: self._client.views_update(view_id=view_id, view=view, **more))

    def scopes(self) -> frozenset[str]:
        """What the bot token may do; it is known by this call that Slack knows the token."""
        response = self._answered(self._client.auth_test)
        headers = {key.lower(): value for key, value in response.headers.items()}
        granted = str(headers.get("x-oauth-scopes") or "")
        return frozenset(scope.strip() for scope in granted.split(",") if scope.strip())

    def may_connect(self, app_token: str) -> None:
        """Whether Socket Mode takes the token; raises as every call. The address is not used."""
        self._ask(lambda: self._client.apps_connections_open(app_token=app_token))

    def place(self, channel: str) -> Place:
        """What a channel is to the bot; `Impossible` where it may not even know of it."""
        found = self._ask(lambda: self._client.conversations_info(channel=channel))["channel"]
        return Place(
            name=str(found.get("name") or channel),
            archived=bool(found.get("is_archived")),
            joined=bool(found.get("is_member")),
        )

    def _ask(self, call: Callable[[], Any]) -> Any:
        return self._answered(call).data

    def _answered(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except SlackApiError as error:
            raise _translated(error) from error
        except (SlackClientError, HTTPException, OSError) as error:
            raise Later("no_answer", str(error)) from error


def _translated(error: SlackApiError) -> SlackError:
    response = error.response
    code = str(response.get("error") or response.status_code)
    messages = (response.get("response_metadata") or {}).get("messages") or ()
    detail = "; ".join(str(message) for message in messages)
    if response.status_code == 429 or code in _PASSING or response.status_code >= 500:
        after = response.headers.get("Retry-After") or response.headers.get("retry-after") or 0
        return Later(code, detail, float(after))
    return Impossible(code, detail)
