"""Replays a recording against the sandbox, and tells line by line what differs.

Ids and times are recorded ones of another server: each is learned at its first appearance, and
must be the same thing ever after. So an unchanged `last_update` is checked as unchanged.
"""

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.sandbox_support import NO_SUCH_ID, Person, Sandbox

Doc = dict[str, Any]

FOLDER = Path(__file__).parent.parent / "recordings" / "clearml"
RECORDED_USER = "__tests__"
SNAPSHOT_FIELDS = [
    "id", "status", "status_reason", "status_message", "status_changed", "enqueue_status",
    "execution.queue", "last_update", "last_change", "last_changed_by", "started", "completed",
    "system_tags",
]  # fmt: skip
_ID = re.compile(r"[0-9a-f]{32}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
_LISTS = ("get_all", "get_all_ex", "get_by_id_ex")
# The recorded user is called "tests" by the token and "Default User" by the database.
_FREE = frozenset(("token", "running_time", "Default User"))


def lines(name: str) -> list[Doc]:
    """The recording's lines; the first holds the labels of ids."""
    text = (FOLDER / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def basic(access_key: str, secret_key: str) -> str:
    return "Basic " + base64.b64encode(f"{access_key}:{secret_key}".encode()).decode()


@dataclass
class Replay:
    """One recording on its way through the sandbox; `ids` maps recorded ids to ours."""

    sandbox: Sandbox
    name: str
    ids: dict[str, str] = field(default_factory=lambda: {NO_SUCH_ID: NO_SUCH_ID})
    times: dict[str, str] = field(default_factory=dict)
    differences: dict[int, list[str]] = field(default_factory=dict)
    latest_task: str = ""

    def __post_init__(self) -> None:
        self.lines = lines(self.name)
        self.labels: dict[str, str] = {
            label: recorded for recorded, label in self.lines[0]["labels"].items()
        }
        self.person: Person = self.sandbox.add_user(RECORDED_USER, "tests")

    def ours(self, label: str) -> str:
        """Our id of what the recording labels so."""
        return self.ids[self.labels[label]]

    def learn(self, label: str, ours: str) -> None:
        self.ids[self.labels[label]] = ours

    def run(
        self,
        arrange: dict[int, Callable[["Replay"], None]],
        authorization: dict[int, str | None],
    ) -> None:
        """Goes through all lines; `arrange` does what the recording left out before a line."""
        for number, line in enumerate(self.lines[1:], 1):
            if number in arrange:
                arrange[number](self)
            if "snapshot" in line:
                self.differences[number] = self._snapshot(line["snapshot"])
            elif "call" in line:
                header = authorization.get(number, self._own_keys())
                self.differences[number] = self._call(line, header)

    def _own_keys(self) -> str:
        return basic(self.person.access_key, self.person.secret_key)

    def _call(self, line: Doc, authorization: str | None) -> list[str]:
        body = self._translated(line["body"])
        raw = b"{not json" if body is None else json.dumps(body).encode()
        headers = {} if authorization is None else {"Authorization": authorization}
        method = line.get("method") or "POST"
        status, answer = self.sandbox.wire.exchange(method, f"/{line['call']}", raw, headers)
        self.latest_task = (body or {}).get("task", self.latest_task)
        meta = answer["meta"]
        recorded = {"status": line.get("status", line["code"])}
        recorded |= {"code": line["code"], "subcode": line["subcode"]}
        actual = {"status": status, "code": meta["result_code"], "subcode": meta["result_subcode"]}
        if recorded != actual:
            return [f"recorded {recorded}, got {actual} {meta['result_msg']}"]
        expected, got = self._comparable(line, body or {}, answer["data"])
        return list(self._compared(expected, got, "data"))

    def _comparable(self, line: Doc, body: Doc, data: Doc) -> tuple[Doc, Doc]:
        """Without order_by there is no order, and other files' tasks were on the server too."""
        expected = dict(line["data"])
        for key in ("tasks", "queues", "workers"):
            items = expected.get(key)
            if items is None or not line["call"].endswith(_LISTS):
                continue
            if key == "tasks":
                items = [item for item in items if item.get("id", NO_SUCH_ID) in self.ids]
            if not body.get("order_by"):
                items = sorted(items, key=self._recorded_key)
                data[key] = sorted(data[key], key=_key)
            expected[key] = items
        return expected, data

    def _recorded_key(self, item: Doc) -> str:
        return _key({**item, "id": self.ids.get(item.get("id", ""), item.get("id"))})

    def _snapshot(self, recorded: Doc) -> list[str]:
        task = recorded["task"]
        wanted = self.ids[task["id"]] if task else self.latest_task
        found = self.person.ok("tasks.get_all", id=[wanted], only_fields=SNAPSHOT_FIELDS)["tasks"]
        got = found[0] if found else None
        if got and task and "system_tags" not in task:
            unasked = ("system_tags", "started", "completed", "last_update", "last_changed_by")
            got = {name: value for name, value in got.items() if name not in unasked}
        return [
            *self._compared(task, got, "task"),
            *self._compared(
                recorded.get("in_queues"), self._holders(recorded, wanted), "in_queues"
            ),
            *self._entries(recorded.get("queue_entries") or recorded.get("entries") or {}),
        ]

    def _holders(self, recorded: Doc, task: str) -> list[str] | None:
        if "in_queues" not in recorded:
            return None
        letters = recorded["queue_entries"]
        return [letter for letter in letters if task in self.person.entries(self._queue(letter))]

    def _entries(self, recorded: Doc) -> Iterator[str]:
        for letter, expected in recorded.items():
            got = self.person.entries(self._queue(letter))
            yield from self._compared(expected, got, f"entries of {letter}")

    def _queue(self, letter: str) -> str:
        return self.ours(letter if letter in self.labels else f"Q{letter}")

    def _translated(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._translated(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._translated(inner) for inner in value]
        return self.ids.get(value, value) if isinstance(value, str) else value

    def _compared(self, recorded: Any, got: Any, path: str) -> Iterator[str]:
        """What differs, recursively: keys, types, lengths, and all values that are not free."""
        if type(recorded) is not type(got):
            yield f"{path}: recorded {recorded!r}, got {got!r}"
        elif isinstance(recorded, dict):
            if recorded.keys() != got.keys():
                yield f"{path}: recorded keys {sorted(recorded)}, got {sorted(got)}"
            for key in recorded.keys() & got.keys():
                if key not in _FREE:
                    yield from self._compared(recorded[key], got[key], f"{path}.{key}")
        elif isinstance(recorded, list):
            if len(recorded) != len(got):
                yield f"{path}: recorded {len(recorded)} items, got {len(got)}: {got}"
            for number, (one, other) in enumerate(zip(recorded, got, strict=False)):
                yield from self._compared(one, other, f"{path}[{number}]")
        elif not self._same(recorded, got):
            yield f"{path}: recorded {recorded!r}, got {got!r}"

    def _same(self, recorded: Any, got: Any) -> bool:
        if not isinstance(recorded, str) or recorded in _FREE:
            return bool(recorded == got or recorded in _FREE)
        if _ID.fullmatch(recorded) and _ID.fullmatch(got):
            return bool(self.ids.setdefault(recorded, got) == got)
        if _TIME.fullmatch(recorded):
            return bool(_TIME.fullmatch(got)) and self._same_time(recorded, got)
        ours: str = _ID.sub(lambda found: self.ids.get(found[0], found[0]), recorded)
        return bool(ours == got)

    def _same_time(self, recorded: str, got: str) -> bool:
        """The same instant as before; stored times have milliseconds, echoes microseconds."""
        if recorded.endswith("000+00:00") and not got.endswith("000+00:00"):
            return False
        return self.times.setdefault(recorded[:23], got[:23]) == got[:23]


def _key(item: Doc) -> str:
    return str(item.get("name") or item.get("id") or item)
