"""The cluster as the company uses it: jobs come in, agents serve whatever queues there are.

Jobs are created and enqueued by their users, as ClearML's clients do it; agents are those of
`sandbox.agents`, met over HTTP.
"""

import asyncio
import time
from fractions import Fraction

from sandbox.agents import PENDING_QUEUE, Crew, Orders, Pace
from sandbox.clearml import task_queueing, tasks
from sandbox.clearml.calls import Call
from sandbox.clearml.server import ClearMLServer
from sandbox.clearml.world import HIDDEN_QUEUE_TAG, User
from sandbox.playground import company, marks
from sandbox.playground.configured import Configured
from sandbox.playground.jobs import OPENING, Job, Jobs
from sandbox.playground.marks import EXECUTION, INTAKE, Marked

SEED = 20
TICK_S = 0.1
_EVERY_S = 6.0
_BACKLOG = 5
_POLL_S, _LOOK_S = 0.4, 1.0
_MOST_AT_ONCE = 64
_KEPT_ENDED = 500
_SHORT_RUN_S = 40
ENDED = ("completed", "stopped", "failed", "closed", "published")


class Cluster:
    """Drives one ClearML server: its users, the stream of jobs, the agents."""

    def __init__(self, server: ClearMLServer) -> None:
        self.server = server
        self.configured = Configured()
        self.speed = 1.0
        self.paused = False
        self.streaming = True
        self.forgotten = {"completed": 0, "aborted": 0}
        self.pace = Pace()
        self._crews: dict[str, Crew] = {}
        self.jobs = Jobs(SEED)
        self._due: dict[str, float] = {}
        # Made once and beforehand: a crew that finds it being made by another one gives up.
        server.world.add_queue(PENDING_QUEUE, {"system_tags": [HIDDEN_QUEUE_TAG]})
        for person in company.PEOPLE:
            if person.clearml:
                self._admit(person.clearml, person.name)
        self.key = self._admit(company.POOLKEEPER, "Poolkeeper")

    def _admit(self, user: str, name: str) -> User:
        added = User(user, name, f"{user.upper()}KEY", f"{user}-secret")
        self.server.world.add_user(added)
        return added

    async def run(self) -> None:
        """Until it is cancelled; the agents end with it."""
        try:
            while True:
                await self.turn()
                await asyncio.sleep(TICK_S)
        finally:
            for crew in self._crews.values():
                await crew.stop()

    async def turn(self) -> None:
        found = marks.marked(self.server.world)
        await self._serve({one.id: one for one in found if one.role == EXECUTION})
        by_policy: dict[str, list[Marked]] = {}
        for one in found:
            if one.role == INTAKE:
                by_policy.setdefault(one.policy, []).append(one)
        if self.configured.profiles:
            for policy, queues in by_policy.items():
                self._enqueue_due(policy, queues)
        self._forget()

    async def _serve(self, queues: dict[str, Marked]) -> None:
        """Agents for every execution queue, also for those that a change has just made."""
        for gone in self._crews.keys() - queues.keys():
            await self._crews.pop(gone).stop()
        for queue_id in queues.keys() - self._crews.keys():
            name = f"agents of {queues[queue_id].link}"
            orders = Orders([queue_id], "glue", _MOST_AT_ONCE, _SHORT_RUN_S, _POLL_S, _LOOK_S, name)
            crew = self._crews[queue_id] = Crew(self.server.url, orders, self.pace)
            crew.start()

    def _enqueue_due(self, policy: str, queues: list[Marked]) -> None:
        """All of the beginning at once, and then a job now and then."""
        if not self.streaming or self.paused:
            return
        now = time.monotonic()
        if policy not in self._due:
            if not self.configured.intakes.get(policy, set()) <= {one.profile for one in queues}:
                return  # they are being made one by one
            self._due[policy] = now + _EVERY_S
            self._open(policy, queues)
        if now < self._due[policy]:
            return
        self._due[policy] = now + _EVERY_S / self.speed
        if sum(len(one.queue.entries) for one in queues) < _BACKLOG:
            sizes = {one.id: self.size(one) for one in queues}
            queue = self.jobs.queue(sizes)
            self.enqueue(queue, self.jobs.job(policy, sizes[queue]))

    def _open(self, policy: str, queues: list[Marked]) -> None:
        by_size = {self.size(one): one.id for one in queues}
        for first in OPENING:
            if first.policy == policy and first.size in by_size:
                self.enqueue(by_size[first.size], first.job)

    def size(self, queue: Marked) -> Fraction:
        """What the jobs in an intake queue take; 0 where that is not known."""
        return self.configured.profiles.get(queue.profile, Fraction(0))

    def enqueue(self, queue: str, job: Job, parameters: dict[str, str] | None = None) -> str:
        """As the job's user does it; the task's id."""
        world = self.server.world
        user = world.users[job.user]
        given = {"seconds": str(job.seconds), **(parameters or {})}
        section = {
            name: {"section": "Args", "name": name, "value": value} for name, value in given.items()
        }
        body = {"name": job.name, "type": "training", "hyperparams": {"Args": section}}
        task: str = tasks.create(Call("tasks.create", world, user), body)["id"]
        call = Call("tasks.enqueue", world, user)
        task_queueing.enqueue(call, {"task": task, "queue": queue})
        return task

    def _forget(self) -> None:
        """The oldest of many ended tasks, so that a playground can run for a night."""
        world = self.server.world
        if len(world.tasks) <= 2 * _KEPT_ENDED:
            return
        used = {use.task for one in marks.marked(world) for use in marks.uses(one)}
        ended = [task for task in world.tasks.values() if task["status"] in ENDED]
        for task in ended[:-_KEPT_ENDED]:
            if task["id"] not in used:
                del world.tasks[task["id"]]
                world.lives.pop(task["id"], None)
                how = "completed" if task["status"] == "completed" else "aborted"
                self.forgotten[how] += 1
