"""Simulated agents, over HTTP like real ones: they look at no status after the pop.

A daemon runs one task at a time per slot. A glue moves each task into its hidden pending queue,
and a pod then takes it from there.
"""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from sandbox.clearml.world import ADMIN_ACCESS_KEY, ADMIN_SECRET_KEY

Doc = dict[str, Any]

PENDING_QUEUE = "k8s_scheduler"
LOOK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Orders:
    """What a crew of agents does: which queues, by id and in order of preference, and how."""

    queues: list[str]
    style: str = "daemon"
    slots: int = 1
    run_seconds: float = 1.0
    poll_seconds: float = 0.2
    look_seconds: float = LOOK_SECONDS
    name: str = "sandbox"
    access_key: str = ADMIN_ACCESS_KEY
    secret_key: str = ADMIN_SECRET_KEY


@dataclass(slots=True)
class Pace:
    """How fast tasks run: how many of their seconds pass in one of the clock's; 0 stands still."""

    speed: float = 1.0


@dataclass(slots=True)
class Api:
    """The server as one worker sees it."""

    session: aiohttp.ClientSession
    url: str
    worker: str
    pace: Pace

    async def call(self, action: str, **body: Any) -> Doc:
        """One attempt: the answer's data, or {} when it was refused or did not arrive."""
        try:
            return await self._send(action, body)
        except (aiohttp.ClientError, TimeoutError):
            return {}

    async def insist(self, action: str, **body: Any) -> Doc:
        """Repeats until the server answers, as the real agent does; {} when it refuses."""
        while True:
            try:
                return await self._send(action, body)
            except (aiohttp.ClientError, TimeoutError):
                await asyncio.sleep(LOOK_SECONDS)

    async def _send(self, action: str, body: Doc) -> Doc:
        headers = {"X-ClearML-Worker": self.worker}
        url = f"{self.url}/{action}"
        async with self.session.post(url, json=body, headers=headers) as response:
            if response.status >= 500:
                response.raise_for_status()
            answer: Doc = await response.json()
            return answer["data"] if response.status == 200 else {}


@dataclass(slots=True)
class Crew:
    """Agents of one kind on one set of queues, started and stopped together."""

    url: str
    orders: Orders
    pace: Pace = field(default_factory=Pace)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self) -> None:
        self.tasks.append(asyncio.create_task(self._work()))

    async def stop(self) -> None:
        """Stops at once, as a killed agent does: what runs is left as it is."""
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        self.tasks.clear()

    async def _work(self) -> None:
        orders = self.orders
        auth = aiohttp.BasicAuth(orders.access_key, orders.secret_key)
        async with (
            aiohttp.ClientSession(auth=auth) as session,
            asyncio.TaskGroup() as group,
        ):
            if orders.style == "glue":
                worker = f"{orders.name}:glue"
                group.create_task(glue(Api(session, self.url, worker, self.pace), orders))
                return
            for slot in range(orders.slots):
                worker = f"{orders.name}:gpu{slot}"
                group.create_task(daemon(Api(session, self.url, worker, self.pace), orders))


async def daemon(api: Api, orders: Orders) -> None:
    """Polls the queues in order, and runs what it pops to its end."""
    while True:
        await _report(api, orders)
        queue, task = await _pop(api, orders)
        if task:
            message = "pulled by agent"
            await api.insist("tasks.started", task=task, force=True, status_message=message)
            await _run(api, orders, queue, task)
        else:
            await asyncio.sleep(orders.poll_seconds)


async def _pop(api: Api, orders: Orders) -> tuple[str, str]:
    """The first task that any of the queues gives, with its queue; ("", "") when all are empty."""
    for queue in orders.queues:
        popped = await api.call("queues.get_next_task", queue=queue)
        if "entry" in popped:
            return queue, popped["entry"]["task"]
    return "", ""


async def _report(api: Api, orders: Orders, queue: str = "", task: str = "") -> None:
    running = {"queue": queue, "task": task} if task else {}
    now = int(time.time() * 1000)
    await api.call("workers.status_report", worker=api.worker, timestamp=now,
                   queues=orders.queues, **running)  # fmt: skip


async def _run(api: Api, orders: Orders, queue: str, task: str) -> None:
    """Runs a started task: until its time is over, or until its status says to stop."""
    left = await _seconds(api, orders, task)
    since = time.monotonic()
    while left > 0:
        await _report(api, orders, queue, task)
        speed = api.pace.speed
        await asyncio.sleep(
            min(left / speed, orders.look_seconds) if speed else orders.look_seconds
        )
        now = time.monotonic()
        left, since = left - (now - since) * speed, now
        if await _told_to_stop(api, task):
            reason = "worker execution aborted"
            await api.insist("tasks.stopped", task=task, force=True, status_reason=reason)
            return
    await api.insist("tasks.completed", task=task, status_reason="worker execution done")


async def _seconds(api: Api, orders: Orders, task: str) -> float:
    """The run time: the task's parameter Args/seconds, or what the orders say."""
    fields = ["hyperparams.Args.seconds"]
    found = (await api.call("tasks.get_all", id=[task], only_fields=fields)).get("tasks") or [{}]
    section = found[0].get("hyperparams", {}).get("Args", {})
    try:
        return float(section["seconds"]["value"])
    except (KeyError, ValueError):
        return orders.run_seconds


async def _told_to_stop(api: Api, task: str) -> bool:
    fields = ["status", "status_message"]
    answer = await api.call("tasks.get_all", id=[task], only_fields=fields)
    if "tasks" not in answer:
        return False
    found = answer["tasks"]
    return (
        not found
        or found[0]["status"] != "in_progress"
        or found[0].get("status_message") == "stopping"
    )


async def glue(api: Api, orders: Orders) -> None:
    """Pops while there is room for pods; each pod is a worker of its own."""
    pending = await _pending_queue(api)
    names = await _names(api, orders.queues)
    pods: set[asyncio.Task[None]] = set()
    async with asyncio.TaskGroup() as group:
        while True:
            await _report(api, orders)
            pods = {pod for pod in pods if not pod.done()}
            queue, task = await _pop(api, orders) if len(pods) < orders.slots else ("", "")
            if task and await _move_to_pending(api, task, pending):
                launch = {"section": "properties", "name": "k8s-queue", "value": names[queue]}
                await api.insist("tasks.edit_hyper_params", task=task, hyperparams=[launch])
                pod = Api(api.session, api.url, f"{api.worker}:{task}", api.pace)
                pods.add(group.create_task(_pod(pod, orders, pending, task)))
            else:
                await asyncio.sleep(orders.poll_seconds)


async def _pending_queue(api: Api) -> str:
    body = {"name": f"^{PENDING_QUEUE}$", "search_hidden": True, "only_fields": ["id"]}
    found = (await api.insist("queues.get_all", **body)).get("queues")
    if found:
        return str(found[0]["id"])
    made = await api.insist("queues.create", name=PENDING_QUEUE, system_tags=["k8s-glue"])
    return str(made["id"])


async def _names(api: Api, queues: list[str]) -> dict[str, str]:
    answer = await api.insist("queues.get_all", id=queues, only_fields=["id", "name"])
    return {queue["id"]: queue["name"] for queue in answer.get("queues", ())}


async def _move_to_pending(api: Api, task: str, pending: str) -> bool:
    """Through `stopped` into the hidden queue, which becomes the task's execution.queue."""
    reason = "moving to k8s pending queue"
    await api.insist("tasks.stop", task=task, force=True, status_reason=reason)
    await api.call("queues.remove_task", queue=pending, task=task)
    reason = "k8s pending scheduler"
    moved = await api.insist("tasks.enqueue", task=task, queue=pending, status_reason=reason)
    return bool(moved)


async def _pod(api: Api, orders: Orders, pending: str, task: str) -> None:
    """Runs only what is still enqueued (or running) when the pod comes up."""
    taken = await api.insist("tasks.dequeue", task=task, new_status="in_progress")
    if taken.get("updated"):
        message = "starting execution soon"
        await api.insist("tasks.started", task=task, force=True, status_message=message)
        await _run(api, orders, pending, task)
