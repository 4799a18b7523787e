"""What the page shows of the cluster: one JSON document, made of what ClearML and Kubernetes hold.

Amounts are text, times ISO 8601 in UTC, durations whole seconds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from sandbox.clearml.lives import GLUE_REASONS
from sandbox.kubernetes.documents import Doc, labels_of
from sandbox.kubernetes.resources import NODES
from sandbox.kubernetes.server import KubernetesServer
from sandbox.playground import marks
from sandbox.playground.cluster import ENDED, Cluster
from sandbox.playground.marks import EXECUTION, INTAKE, Marked, Use, written

_LAST_ENDED = 20


@dataclass(slots=True)
class State:
    """The document as of now; remembers whose a task was, which ClearML does not tell later."""

    cluster: Cluster
    machines: KubernetesServer
    _origin: dict[str, tuple[str, str]] = field(default_factory=dict)

    def document(self) -> Doc:
        world = self.cluster.server.world
        queues = marks.marked(world)
        used = {one.id: marks.uses(one) for one in queues if one.role == EXECUTION}
        self._remember(queues, used)
        return {
            "paused": self.cluster.paused,
            "speed": self.cluster.speed,
            "stream": self.cluster.streaming,
            "pools": self._pools(queues, used),
            "queues": [self._queue(one) for one in queues],
            "agents": [self._agents(one, used[one.id]) for one in queues if one.id in used],
            "nodes": nodes(self.machines),
            "done": self._done(),
            "counts": self._counts(queues),
        }

    def _remember(self, queues: Iterable[Marked], used: dict[str, list[Use]]) -> None:
        tasks = self.cluster.server.world.tasks
        for one in queues:
            if one.role == INTAKE:
                self._origin |= dict.fromkeys(one.queue.entries, (one.policy, one.profile))
        for found in used.values():
            self._origin |= {use.task: (use.policy, use.profile) for use in found}
        for task in self._origin.keys() - tasks.keys():
            del self._origin[task]

    def _pools(self, queues: list[Marked], used: dict[str, list[Use]]) -> list[Doc]:
        sizes = self.cluster.configured.pools
        names = dict.fromkeys([*sizes, *(one.pool for one in queues if one.role == EXECUTION)])
        return [
            self._pool(name, sizes.get(name), [one for one in queues if one.pool == name], used)
            for name in names
        ]

    def _pool(
        self, name: str, size: Fraction | None, links: list[Marked], used: dict[str, list[Use]]
    ) -> Doc:
        uses = [use for link in links for use in used[link.id]]
        return {
            "name": name,
            "resources": None if size is None else written(size),
            "used": written(sum((use.amount for use in uses), Fraction(0))),
            "links": [
                {"link": one.link, "queue_id": one.id, "profile": one.profile} for one in links
            ],
            "running": [self._running(use) for use in sorted(uses, key=lambda use: use.since)],
        }

    def _running(self, use: Use) -> Doc:
        task = self.cluster.server.world.tasks.get(use.task, {})
        return {
            "task": use.task,
            "name": task.get("name", use.task),
            "user": self._user(task),
            "policy": use.policy,
            "profile": use.profile,
            "amount": written(use.amount),
            "status": status(task),
            "since": self._started(use.task) or use.since,
        }

    def _queue(self, one: Marked) -> Doc:
        return {
            "id": one.id,
            "name": one.queue.doc["name"],
            "role": one.role,
            "policy": one.policy,
            "profile": one.profile,
            "pool": one.pool,
            "link": one.link,
            "tasks": [self._waiting(one, entry) for entry in one.queue.entries.values()],
        }

    def _waiting(self, queue: Marked, entry: Doc) -> Doc:
        task = self.cluster.server.world.tasks.get(entry["task"], {})
        policy, profile = self._origin.get(entry["task"], (queue.policy, queue.profile))
        return {
            "id": entry["task"],
            "name": task.get("name", entry["task"]),
            "user": self._user(task),
            "status": status(task),
            "policy": policy,
            "profile": profile,
            "waiting_s": int((datetime.now(UTC) - _instant(entry["added"])).total_seconds()),
        }

    def _agents(self, queue: Marked, uses: list[Use]) -> Doc:
        tasks = self.cluster.server.world.tasks
        running = [
            use.task for use in uses if tasks.get(use.task, {}).get("status") == "in_progress"
        ]
        slots = self.cluster.configured.slots(queue.pool, queue.profile)
        name = f"agents of {queue.link}"
        return {"name": name, "queue": queue.id, "slots": slots, "running": running}

    def _done(self) -> list[Doc]:
        """The last that ended, the latest first."""
        ended = [
            task
            for task in self.cluster.server.world.tasks.values()
            if status(task) in ENDED and task["id"] in self._origin
        ]
        latest = sorted(ended, key=lambda task: str(task["last_change"]), reverse=True)
        return [self._ended(task) for task in latest[:_LAST_ENDED]]

    def _ended(self, task: Doc) -> Doc:
        policy, profile = self._origin[task["id"]]
        started, over = self._started(task["id"]), task.get("completed") or task["last_change"]
        ran = (_instant(over) - _instant(started)).total_seconds() if started else 0
        return {
            "id": task["id"],
            "name": task["name"],
            "user": self._user(task),
            "policy": policy,
            "profile": profile,
            "status": task["status"],
            "ran_s": max(0, round(ran)),
        }

    def _started(self, task: str) -> str:
        """When an agent ran it last; ClearML tells no start of tasks that run in pods."""
        life = self.cluster.server.world.lives.get(task)
        return str(life.runs[-1]["time"]) if life and life.runs else ""

    def _counts(self, queues: list[Marked]) -> Doc:
        statuses = [status(task) for task in self.cluster.server.world.tasks.values()]
        gone = self.cluster.forgotten
        completed = statuses.count("completed")
        ended = sum(one in ENDED for one in statuses)
        return {
            "waiting": sum(len(one.queue.entries) for one in queues if one.role == INTAKE),
            "running": statuses.count("in_progress"),
            "completed": completed + gone["completed"],
            "aborted": ended - completed + gone["aborted"],
        }

    def _user(self, task: Doc) -> str:
        user = self.cluster.server.world.users.get(task.get("user", ""))
        return user.name if user else ""


def status(task: Doc) -> str:
    """As people see it: a task that agents move to a pod passes through `stopped`, unnoticed."""
    if task.get("status") == "stopped" and task.get("status_reason", "").startswith(GLUE_REASONS):
        return "queued"
    return str(task.get("status", "deleted"))


def nodes(server: KubernetesServer) -> list[Doc]:
    """The machines with GPUs."""
    found = []
    for node in server.world.store.all(NODES):
        machine = server.world.machines.get(node["metadata"]["name"])
        if machine is None or not machine.cards:
            continue
        policies = {card.policy for card in machine.cards if machine.module}
        found.append(
            {
                "name": machine.name,
                "gpus": len(machine.cards),
                "labels": labels_of(node),
                "ready": machine.up,
                "schedulable": not node["spec"].get("unschedulable", False),
                "cgpu_policy": policies.pop() if len(policies) == 1 else None,
            }
        )
    return found


def _instant(text: Any) -> datetime:
    return datetime.fromisoformat(str(text))
