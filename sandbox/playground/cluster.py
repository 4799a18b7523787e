"""The cluster as the company uses it: jobs come in, agents serve whatever queues there are.

Jobs are created and enqueued by their users, as ClearML's clients do it; agents are those of
`sandbox.agents`, met over HTTP.
"""

import asyncio
import time
from fractions import Fraction

from sandbox.agents import PENDING_QUEUE, Crew, Orders, Pace
from sandbox.clearml import errors, task_lifecycle, task_queueing, tasks
from sandbox.clearml.calls import Call
from sandbox.clearml.server import ClearMLServer
from sandbox.clearml.world import HIDDEN_QUEUE_TAG, User
from sandbox.playground import company, marks
from sandbox.playground.configured import Configured
from sandbox.playground.jobs import OPENING, Job, Jobs
from sandbox.playground.marks import EXECUTION, INTAKE, Marked
from sandbox.playground.wishes import Addition, Refused, Tempo

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
    """Drives one ClearML server; `changed` is called after everything that it does."""

    def __init__(self, server: ClearMLServer) -> None:
        self.server = server
        self.configured = Configured()
        self.speed = 1.0
        self.paused = False
        self.streaming = True
        self.forgotten = {"completed": 0, "aborted": 0}
        self._pace = Pace()
        self._crews: dict[str, Crew] = {}
        self._jobs = Jobs(SEED)
        self._opened: set[str] = set()
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

    # By itself ----------------------------------------------------------------------------------

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
            crew = self._crews[queue_id] = Crew(self.server.url, orders, self._pace)
            crew.start()

    def _enqueue_due(self, policy: str, queues: list[Marked]) -> None:
        if policy not in self._opened:
            self._opened.add(policy)
            self._due[policy] = time.monotonic() + _EVERY_S
            self._open(policy, queues)
        if not self.streaming or self.paused or time.monotonic() < self._due[policy]:
            return
        self._due[policy] = time.monotonic() + _EVERY_S / self.speed
        if sum(len(one.queue.entries) for one in queues) < _BACKLOG:
            sizes = {one.id: self._size(one) for one in queues}
            self._enqueue(self._jobs.queue(sizes), self._jobs.job(policy))

    def _open(self, policy: str, queues: list[Marked]) -> None:
        by_size = {self._size(one): one.id for one in queues}
        for first in OPENING:
            if first.policy == policy and first.size in by_size:
                self._enqueue(by_size[first.size], first.job)

    def _size(self, queue: Marked) -> Fraction:
        return self.configured.profiles.get(queue.profile, Fraction(0))

    def _enqueue(self, queue: str, job: Job, parameters: dict[str, str] | None = None) -> str:
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

    # What people want ---------------------------------------------------------------------------

    def add(self, wanted: Addition) -> list[str]:
        """Enqueues jobs; their tasks' ids. Raises `Refused`."""
        user = self._user(wanted.user)
        queue = self._queue(wanted)
        made = []
        for number in range(1, wanted.count + 1):
            job = self._jobs.job(queue.policy, user)
            if wanted.name:
                name = wanted.name if wanted.count == 1 else f"{wanted.name}-{number}"
                job = Job(name, user, job.seconds)
            made.append(self._enqueue(queue.id, job, self._parameters(queue, wanted)))
        return made

    def _parameters(self, queue: Marked, wanted: Addition) -> dict[str, str]:
        """What a profile that reads the task's own number is told, if that is an argument."""
        parameter = self.configured.parameters.get(queue.profile, "")
        prefix = "hyperparams.Args."
        if wanted.size is None or not parameter.startswith(prefix):
            return {}
        return {parameter.removeprefix(prefix): str(wanted.size)}

    def _user(self, said: str) -> str:
        """A ClearML user by Slack's id, by the name, or by the id in ClearML."""
        for person in company.PEOPLE:
            if said in (person.id, person.name, person.handle):
                if not person.clearml:
                    raise Refused(f"{person.name} is a guest and has no user in ClearML.")
                return person.clearml
        if said in self.server.world.users:
            return said
        raise Refused(f"ClearML has no user {said!r}.")

    def _queue(self, wanted: Addition) -> Marked:
        found = marks.marked(self.server.world)
        if wanted.queue:
            named = [one for one in found if wanted.queue in (one.id, one.queue.doc["name"])]
            if not named:
                raise Refused(f"ClearML has no queue {wanted.queue!r}.")
            return named[0]
        of_team = [one for one in found if one.role == INTAKE and one.policy == wanted.policy]
        if not of_team:
            raise Refused(f"There is no policy {wanted.policy!r} with a queue.")
        fitting = [one for one in of_team if wanted.profile in ("", one.profile)]
        if wanted.size is not None:
            fitting = [one for one in fitting if self._takes(one, wanted.size)]
        if not fitting:
            offered = ", ".join(one.profile for one in of_team)
            raise Refused(f"{wanted.policy} has no such queue; its profiles are: {offered}.")
        return fitting[0]

    def _takes(self, queue: Marked, size: Fraction) -> bool:
        return self._size(queue) == size or queue.profile in self.configured.parameters

    def abort(self, task_id: str) -> None:
        """As its user does in ClearML's web page."""
        world = self.server.world
        task = world.tasks.get(task_id)
        if task is None:
            raise Refused(f"ClearML has no task {task_id!r}.")
        if task["status"] not in ("queued", "in_progress"):
            raise Refused(f"{task['name']} is {task['status']}; there is nothing to abort.")
        call = Call("tasks.stop", world, world.users[task["user"]])
        try:
            task_lifecycle.stop(call, {"task": task_id, "force": True})
        except errors.ApiError as refusal:
            raise Refused(refusal.message) from refusal

    def set_tempo(self, wanted: Tempo) -> None:
        if wanted.speed is not None:
            self.speed = wanted.speed
        if wanted.paused is not None:
            self.paused = wanted.paused
        self._pace.speed = 0.0 if self.paused else self.speed
