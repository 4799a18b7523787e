"""The loopback Slack for tests: a process of its own, and people in it who act as people do."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import requests

from tests.sandbox_support import PATIENCE, ROOT, Wire

Doc = dict[str, Any]
Found = TypeVar("Found")

PEOPLE: list[Doc] = [
    {"id": "U_ADA", "name": "ada", "real_name": "Ada", "is_admin": True, "tz": "Europe/Berlin"},
    {"id": "U_BEN", "name": "ben", "real_name": "Ben", "email": "ben@example.com"},
    {"id": "U_CLEO", "name": "cleo", "real_name": "Cleo", "tz": "Asia/Shanghai"},
    {"id": "U_DAN", "name": "dan", "real_name": "Dan"},
    {"id": "U_EVE", "name": "eve", "real_name": "Eve"},
]
EVERYBODY = [person["id"] for person in PEOPLE]
CHANNELS: list[Doc] = [
    {"id": "C_ADMINS", "name": "gpu-admins", "is_private": True, "members": ["U_ADA", "U_BEN"]},
    {"id": "C_VISION", "name": "vision", "members": ["U_ADA", "U_CLEO", "U_DAN"]},
    {"id": "C_SPEECH", "name": "speech", "members": ["U_BEN", "U_DAN"], "bot": False},
    {"id": "C_GENERAL", "name": "general", "members": EVERYBODY},
]
GROUPS: list[Doc] = [
    {"id": "S_ADMINS", "handle": "gpu-admins", "users": ["U_ADA", "U_BEN"]},
    {"id": "S_VISION", "handle": "vision-team", "users": ["U_CLEO", "U_DAN"]},
]


class Reply(NamedTuple):
    """What an API call got: the HTTP status, the document, and the headers."""

    status: int
    body: Doc
    headers: dict[str, str]

    @property
    def error(self) -> str:
        return "" if self.body.get("ok") else str(self.body.get("error"))

    @property
    def problems(self) -> list[str]:
        return list(self.body.get("response_metadata", {}).get("messages", []))


@dataclass(frozen=True, repr=False)
class Message:
    """A message as it was when it was read; `seen_by` is "" for what everybody sees."""

    slack: "Workspace"
    doc: Doc
    seen_by: str = ""

    def __repr__(self) -> str:
        edited = ", edited" if self.edits else ""
        only = f", only for {self.only_for}" if self.only_for else ""
        return f"<{self.doc['author_name']} in {self.channel}{edited}{only}:\n{self.plain}\n>"

    @property
    def ts(self) -> str:
        return str(self.doc["ts"])

    @property
    def channel(self) -> str:
        return str(self.doc["channel"])

    @property
    def author(self) -> str:
        return str(self.doc["author"])

    @property
    def only_for(self) -> str:
        """Who sees this ephemeral message; "" for one that all see."""
        return str(self.doc["only_for"])

    @property
    def thread_ts(self) -> str:
        return str(self.doc["thread_ts"])

    @property
    def text(self) -> str:
        """The top-level text, with its markup: what notifications and screen readers get."""
        return str(self.doc["text"])

    @property
    def blocks(self) -> list[Doc]:
        return list(self.doc["blocks"])

    @property
    def plain(self) -> str:
        """Everything that a person reads in it, buttons as [Button]."""
        return str(self.doc["plain"])

    @property
    def edits(self) -> list[Doc]:
        """What it said before, {text, blocks, at} each, oldest first."""
        return list(self.doc["edits"])

    @property
    def files(self) -> list[Doc]:
        return list(self.doc["files"])

    @property
    def pings(self) -> list[str]:
        """The people whom its mentions notified."""
        return list(self.doc["pings"])

    @property
    def mentions(self) -> list[str]:
        """All mention markup in it, also where it notifies nobody: "@U_ADA", "!channel"."""
        return list(self.doc["mentions"])

    @property
    def reactions(self) -> dict[str, list[str]]:
        return dict(self.doc["reactions"])

    @property
    def where(self) -> Doc:
        return {"channel": self.channel, "ts": self.ts}

    def thread(self) -> "list[Message]":
        """Its replies as they are now, oldest first."""
        return self.slack.messages(self.channel, self.seen_by, self.ts)

    def now(self) -> "Message":
        """The same message as it is now; fails when it was deleted."""
        for one in self.slack.messages(self.channel, self.seen_by, self.thread_ts):
            if one.ts == self.ts:
                return one
        raise AssertionError(f"it is gone: {self!r}")


@dataclass(frozen=True, repr=False)
class View:
    """A modal, or a Home, as it was when it was read; what is done to it goes to the app."""

    person: "Person"
    doc: Doc

    def __repr__(self) -> str:
        return f"<{self.doc['type']} of {self.person.id}:\n{self.plain}\n>"

    @property
    def id(self) -> str:
        return str(self.doc["id"])

    @property
    def title(self) -> str:
        return str(self.doc["title"])

    @property
    def blocks(self) -> list[Doc]:
        return list(self.doc["blocks"])

    @property
    def plain(self) -> str:
        """All that is read in it, with what is in the fields and the errors below them."""
        return str(self.doc["plain"])

    @property
    def values(self) -> Doc:
        """{block: {action: {type, value or selected_...}}}."""
        return dict(self.doc["values"])

    @property
    def errors(self) -> dict[str, str]:
        return dict(self.doc["errors"])

    @property
    def private_metadata(self) -> str:
        return str(self.doc["private_metadata"])

    @property
    def where(self) -> Doc:
        return {"home": True} if self.doc["type"] == "home" else {"view": self.id}

    def fill(self, what: str, value: object, near: str = "") -> "Exchange":
        """Types into the field with this label, action id, block id or placeholder."""
        return self.person.fill(what, value, in_=self, near=near)

    def choose(self, what: str, value: object, typed: str = "", near: str = "") -> "Exchange":
        """Chooses an option by its text (a list for several); people and channels by id."""
        return self.person.choose(what, value, in_=self, typed=typed, near=near)

    def options(self, what: str, typed: str = "") -> list[str]:
        return self.person.options(what, in_=self, typed=typed)

    def press(self, what: str, near: str = "", confirm: bool = True) -> "Exchange":
        return self.person.press(what, in_=self, near=near, confirm=confirm)

    def submit(self) -> dict[str, str] | None:
        """The sentences below the fields by block id, or None when it was taken."""
        said = self.try_submit()
        assert not said["error"], f"{said['error']} on submitting {self!r}"
        return said["errors"] or None

    def try_submit(self) -> Doc:
        """{error, errors}: `error` is set when the app did not answer, or not as it must."""
        return self.person.slack.door("submit", person=self.person.id, view=self.id)

    def close(self, whole_stack: bool = False) -> None:
        """Cancel, or with `whole_stack` the cross."""
        self.person.slack.door(
            "close_view", person=self.person.id, view=self.id, whole_stack=whole_stack
        )

    def now(self) -> "View":
        """The same view as it is now; fails when it is closed."""
        for one in [*self.person.views(), *self.person.homes()]:
            if one.id == self.id:
                return one
        raise AssertionError(f"it is closed: {self!r}")


@dataclass(frozen=True)
class Exchange:
    """One deed of a person and what came of it, up to the moment of asking.

    `error` is what Slack told the person ("operation_timeout"), "" when the app acknowledged;
    `answer` is the acknowledgement's payload, `confirm` the dialog before a press.
    """

    person: "Person"
    after: int
    error: str = ""
    answer: Doc = field(default_factory=dict)
    status: int = 0
    confirm: str = ""
    ts: str = ""

    @property
    def messages(self) -> list[Message]:
        """What is new or edited for the person since, in the order of the last change."""
        found = self.person.slack.door("changed", person=self.person.id, after=self.after)
        return [Message(self.person.slack, doc, self.person.id) for doc in found["messages"]]

    @property
    def plain(self) -> str:
        """All that is new or changed for the person, to read: messages, modals and Home."""
        views = [*self.person.views(), *self.person.homes()]
        fresh = [one.plain for one in views if one.doc["n"] > self.after]
        return "\n\n".join([*(one.plain for one in self.messages), *fresh])

    def reply(self, containing: str = "", timeout: float = PATIENCE) -> Message:
        """The bot's newest message since, once one contains this text."""

        def found() -> Message | None:
            news = [one for one in self.messages if one.doc["by_bot"] and containing in one.plain]
            return news[-1] if news else None

        what = f"a reply to {self.person.id} with {containing!r}"
        return self.person.slack.wait_for(found, what, timeout, lambda: self.plain)

    def view(self, titled: str = "", timeout: float = PATIENCE) -> View:
        """The modal on top, once it is new or changed and has this in its title."""

        def found() -> View | None:
            stack = self.person.views()
            fresh = stack and stack[-1].doc["n"] > self.after and titled in stack[-1].title
            return stack[-1] if fresh else None

        what = f"a modal {titled!r} for {self.person.id}"
        return self.person.slack.wait_for(found, what, timeout, lambda: self.plain)

    def home(self, containing: str = "", timeout: float = PATIENCE) -> View:
        """The Home view, once it was published since and contains this text."""

        def found() -> View | None:
            news = [one for one in self.person.homes() if one.doc["n"] > self.after]
            return news[0] if news and containing in news[0].plain else None

        what = f"a Home of {self.person.id} with {containing!r}"
        return self.person.slack.wait_for(found, what, timeout, lambda: self.plain)


Place = Message | View


@dataclass(frozen=True)
class Person:
    """Somebody in the workspace, who sees and does only what that person can."""

    slack: "Workspace"
    id: str

    def command(self, line: str, channel: str = "C_GENERAL", thread: str = "") -> Exchange:
        """A slash command, typed as a person types it ("@ben" is completed to a mention)."""
        return self._do("command", text=line, channel=channel, thread=thread)

    def say(self, text: str, channel: str, thread: str = "", files: Sequence[Doc] = ()) -> Exchange:
        """A message, with files of {name, content}; the exchange has its `ts`."""
        return self._do("say", text=text, channel=channel, thread=thread, files=list(files))

    def mention(self, text: str, channel: str, thread: str = "") -> Exchange:
        """A message that begins with the bot's name."""
        return self.say(f"@{self.slack.bot_name} {text}", channel, thread)

    def dm(self, text: str, files: Sequence[Doc] = ()) -> Exchange:
        return self.say(text, self.dm_channel, files=files)

    @property
    def dm_channel(self) -> str:
        return f"D{self.id[1:]}"

    def open_home(self) -> Exchange:
        return self._do("open_home")

    def press(
        self, what: str, in_: Place, near: str = "", confirm: bool = True, stale: bool = False
    ) -> Exchange:
        """A button or an overflow entry by its text or action id; `near` tells equals apart.

        confirm=False answers the dialog with no. stale=True presses what the message showed when
        it was read, though it may have changed since.
        """
        blocks = in_.blocks if stale else None
        return self._do(
            "press", where=in_.where, what=what, near=near, confirm=confirm, blocks=blocks
        )

    def choose(
        self, what: str, value: object, in_: Place, typed: str = "", near: str = ""
    ) -> Exchange:
        return self._do("choose", where=in_.where, what=what, value=value, typed=typed, near=near)

    def fill(self, what: str, value: object, in_: Place, near: str = "") -> Exchange:
        return self._do("fill", where=in_.where, what=what, value=value, near=near)

    def options(self, what: str, in_: Place, typed: str = "", near: str = "") -> list[str]:
        """The texts of what a select offers, for an external one after typing this."""
        said = self.slack.door(
            "options", person=self.id, where=in_.where, what=what, typed=typed, near=near
        )
        return list(said["options"])

    def view(self, titled: str = "", timeout: float = PATIENCE) -> View:
        """The modal on top, once there is one with this in its title."""

        def found() -> View | None:
            stack = self.views()
            return stack[-1] if stack and titled in stack[-1].title else None

        what = f"a modal {titled!r} for {self.id}"
        return self.slack.wait_for(found, what, timeout, lambda: repr(self.views()))

    def views(self) -> list[View]:
        """The open modals, the one on top last."""
        return [View(self, doc) for doc in self.slack.door("views", person=self.id)["views"]]

    def home(self, containing: str = "", timeout: float = PATIENCE) -> View:
        """The Home view as published, once it contains this text."""

        def found() -> View | None:
            return next((one for one in self.homes() if containing in one.plain), None)

        what = f"a Home of {self.id} with {containing!r}"
        return self.slack.wait_for(found, what, timeout, lambda: repr(self.homes()))

    def homes(self) -> list[View]:
        """The Home view, if anything was published."""
        doc = self.slack.door("home", person=self.id)["home"]
        return [View(self, doc)] if doc else []

    def messages(self, channel: str) -> list[Message]:
        """A channel as this person sees it, with what only they see."""
        return self.slack.messages(channel, self.id)

    def dms(self) -> list[Message]:
        """The direct messages with the bot."""
        known = [one["id"] for one in self.slack.door("workspace")["channels"]]
        return self.messages(self.dm_channel) if self.dm_channel in known else []

    def pings(self) -> list[Doc]:
        """The notifications {channel, ts, text} that mentions gave this person."""
        return [one for one in self.slack.pings() if one["person"] == self.id]

    def notices(self) -> list[Doc]:
        """What Slack itself told this person, {error, about}: timeouts and broken answers."""
        return list(self.slack.door("notices", person=self.id)["notices"])

    def _do(self, deed: str, **body: Any) -> Exchange:
        said = self.slack.door(deed, person=self.id, **body)
        names = ("after", "error", "answer", "status", "confirm", "ts")
        return Exchange(self, **{name: said[name] for name in names if name in said})


@dataclass(frozen=True)
class Channel:
    slack: "Workspace"
    id: str

    def messages(self) -> list[Message]:
        """What everybody in it sees, without replies in threads, oldest first."""
        return self.slack.messages(self.id)

    def set_members(self, *people: str, bot: bool = True) -> None:
        """Who is in the channel from now on; the app hears of it where Slack would tell it."""
        members = [*people, *([self.slack.bot_id] if bot else [])]
        self.slack.door("set_members", channel=self.id, members=members)

    def remove_bot(self) -> None:
        every = self.slack.door("workspace")["channels"]
        members = next(one["members"] for one in every if one["id"] == self.id)
        self.set_members(*(one for one in members if one != self.slack.bot_id), bot=False)

    def archive(self) -> None:
        self.slack.door("archive", channel=self.id)

    def delete(self, message: Message) -> None:
        """Behind the bot's back."""
        self.slack.door("delete_message", channel=self.id, ts=message.ts)


@dataclass(frozen=True)
class Fault:
    """A rule in force in the server."""

    slack: "Workspace"
    id: str

    def state(self) -> Doc:
        """{seen, fired, holding, ...}."""
        rules: list[Doc] = self.slack.door("list_faults")["faults"]
        return next(rule for rule in rules if rule["id"] == self.id)

    def fired(self) -> int:
        return int(self.state()["fired"])

    def wait_until_fired(self, times: int = 1, timeout: float = PATIENCE) -> None:
        self.slack.wait_for(
            lambda: self.fired() >= times, f"{self.id} has fired", timeout, step=0.02
        )

    def wait_until_holding(self, timeout: float = PATIENCE) -> None:
        what = f"{self.id} holds something"
        self.slack.wait_for(lambda: self.state()["holding"], what, timeout, step=0.02)

    def release(self, outcome: str = "continue") -> None:
        """ "continue" lets what is held go on; "drop" cuts it off instead."""
        self.slack.door("release_fault", id=self.id, outcome=outcome)


class Workspace:
    """A Slack in a process of its own."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "sandbox", "slack", "--with-parent", *options]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        ready = json.loads(self.process.stdout.readline() or b"{}")
        assert "slack" in ready, "the sandbox did not start"
        self.url, self.api = str(ready["slack"]), str(ready["api"])
        self.bot_token, self.app_token = str(ready["bot_token"]), str(ready["app_token"])
        self.signing_secret = str(ready["signing_secret"])
        self.bot_id, self.bot_name = "U_BOT", "poolkeeper"
        self.wire = Wire(self.url)
        self.reset()

    def __repr__(self) -> str:
        return f"Workspace({self.url})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self.wire.close()
        self.process.terminate()
        self.process.communicate(timeout=10)

    def door(self, action: str, /, **body: Any) -> Doc:
        """One request at the scripting door."""
        status, answer = self.wire.send(f"/sandbox/{action}", body)
        assert status == 200, f"{action} {body}: {answer['error']}"
        return answer

    def reset(
        self,
        people: Sequence[Doc] = PEOPLE,
        channels: Sequence[Doc] = CHANNELS,
        groups: Sequence[Doc] = GROUPS,
        **settings: Any,
    ) -> None:
        """A fresh workspace; whatever was held or broken is undone, sockets stay.

        Settings: has_paid_plan, scopes, events, should_escape, rate_limits, burst, ack_seconds,
        redeliveries.
        """
        body = {"people": list(people), "channels": list(channels), "groups": list(groups)}
        self.door("reset", **body, settings=settings)

    def configure(self, **settings: Any) -> None:
        """The settings of `reset`, changed while things go on."""
        self.door("configure", **settings)

    def person(self, person_id: str) -> Person:
        return Person(self, person_id)

    def channel(self, channel_id: str) -> Channel:
        return Channel(self, channel_id)

    def messages(self, channel: str, person: str = "", thread: str = "") -> list[Message]:
        """A channel without replies, or one thread's replies; for a person with what only they
        see."""
        found = self.door("messages", channel=channel, person=person, thread=thread)
        return [Message(self, doc, person) for doc in found["messages"]]

    def wait_for(
        self,
        condition: Callable[[], Found | None],
        what: str,
        timeout: float = PATIENCE,
        instead: Callable[[], str] = lambda: "",
        step: float = 1.0,
    ) -> Found:
        """Asks again at every change in the workspace, and at least once per `step` seconds.

        Gives what the condition gave; fails at the deadline with what there was instead.
        """
        deadline = time.monotonic() + timeout
        last = int(self.door("wait", after=-1)["last"])
        while not (found := condition()):
            left = deadline - time.monotonic()
            if left <= 0:
                raise AssertionError(f"not within {timeout} s: {what}\n{instead()}")
            last = int(self.door("wait", after=last, seconds=min(step, left))["last"])
        return found

    def wait_for_message(
        self,
        channel: str,
        containing: str = "",
        timeout: float = PATIENCE,
        person: str = "",
        thread: str = "",
    ) -> Message:
        """The newest message of a channel or thread that contains this text, once there is one."""

        def found() -> Message | None:
            every = self.messages(channel, person, thread)
            return next((one for one in reversed(every) if containing in one.plain), None)

        def instead() -> str:
            return repr(self.messages(channel, person, thread))

        return self.wait_for(found, f"{containing!r} in {channel}", timeout, instead)

    def wait_for_bot(self, connections: int = 1, timeout: float = PATIENCE) -> None:
        """Until so many sockets are open and not about to be closed."""
        what = f"{connections} sockets"
        self.wait_for(lambda: self.connections()["ready"] >= connections, what, timeout, step=0.02)

    def connections(self) -> Doc:
        """{open, ready, made}."""
        return self.door("connections")

    def set_group(self, group: str, *users: str) -> None:
        """Who is in a user group from now on."""
        self.door("set_group", group=group, users=users)

    def pings(self) -> list[Doc]:
        """Every notification {person, channel, ts, text} that a mention has caused."""
        return list(self.door("pings")["pings"])

    def call(self, method: str, /, token: str = "", **body: Any) -> Reply:
        """One API call as the bot, or with another token, whatever it answers."""
        headers = {"Authorization": f"Bearer {token or self.bot_token}"}
        return self.post(f"{self.api}{method}", body, headers)

    def post(self, url: str, body: object, headers: dict[str, str] | None = None) -> Reply:
        """JSON to any URL of the server, such as a response URL."""
        got = requests.post(url, json=body, headers=headers, timeout=30)
        is_json = got.headers["Content-Type"].startswith("application/json")
        return Reply(
            got.status_code, got.json() if is_json else {"text": got.text}, dict(got.headers)
        )

    def ok(self, method: str, /, **body: Any) -> Doc:
        """The document of a call that must succeed."""
        reply = self.call(method, **body)
        assert reply.body.get("ok"), f"{method} {body}: {reply.body}"
        return reply.body

    def calls(self, method: str = "", since: int = 0) -> list[Doc]:
        """The log of API calls: {n, at, call, body, ok, error, retry}."""
        return list(self.door("calls", call=method, since=since)["calls"])

    def deliveries(self, kind: str = "", since: int = 0) -> list[Doc]:
        """The log of payloads: {n, at, kind, body, attempt, acked, seconds, answer, status}."""
        return list(self.door("deliveries", kind=kind, since=since)["deliveries"])

    def download(self, file: Doc) -> bytes:
        """The content of a file that a message shows."""
        headers = {"Authorization": f"Bearer {self.bot_token}"}
        got = requests.get(file["url_private"], headers=headers, timeout=30)
        assert got.status_code == 200, got.text
        return got.content

    def advance(self, seconds: float) -> None:
        """Moves the workspace's clock."""
        self.door("advance", seconds=seconds)

    def fault(self, action: str, call: str = "*", **rule: Any) -> Fault:
        """What shall go wrong with API calls: see sandbox/slack/faults.py.

        action: delay (seconds), hold, refuse, drop_response, error (error), rate_limit
        (retry_after), status. Further: match, nth (0: every), times, when (before or after).
        """
        return Fault(self, self.door("add_fault", action=action, call=call, **rule)["id"])

    def delivery_fault(self, action: str, kind: str = "*", **rule: Any) -> Fault:
        """What shall go wrong on the way to the app: delay, hold, twice, lose, wrong_signature,
        old_timestamp; kind: slash_commands, interactive or events_api."""
        return self.fault(action, f"deliver.{kind}", **rule)

    def clear_faults(self) -> None:
        self.door("clear_faults")

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Asks the bot to connect anew."""
        self.door("disconnect", reason=reason)

    def drop(self, how: str = "reset") -> None:
        """Ends all sockets: close, reset, hang_up or silent (see sandbox/slack/sockets.py).

        The stock client connects anew within its ping_interval (10 s), or several of them.
        """
        self.door("drop", how=how)

    def refuse_connections(self, refuse: bool = True) -> None:
        self.door("refuse_connections", refuse=refuse)

    def deliver_to(self, url: str) -> None:
        """HTTP mode, to this URL; "" goes back to sockets."""
        self.door("deliver_to", url=url)

    def verify_url(self) -> bool:
        return bool(self.door("verify_url")["verified"])
