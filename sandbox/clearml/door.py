"""The scripting door, /sandbox/...: users, bulk tasks, faults, the log, the state, agents.

It is not part of ClearML: tests and the demo set their scenes through it.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from sandbox.agents import Orders
from sandbox.clearml import errors, tasks
from sandbox.clearml.calls import Call
from sandbox.clearml.server import ClearMLServer
from sandbox.clearml.statuses import change
from sandbox.clearml.world import User

Doc = dict[str, Any]
Action = Callable[[ClearMLServer, Doc], Awaitable[Doc]]


async def reset(server: ClearMLServer, body: Doc) -> Doc:
    await server.reset(**body)
    return {}


async def add_user(server: ClearMLServer, body: Doc) -> Doc:
    server.world.add_user(User(**body))
    return {}


async def bulk_enqueue(server: ClearMLServer, body: Doc) -> Doc:
    """Creates `count` tasks of `user` in `queue`, named and with `fields` as tasks.create takes."""
    world = server.world
    call = Call("tasks.enqueue", world, world.users[body.get("user", "admin")])
    queue = world.queue(body["queue"])
    ids = []
    for number in range(body["count"]):
        task = tasks.add(call, f"{body.get('name', 'bulk')}-{number}", body.get("fields", {}))
        change(call, task, "queued", {}, enqueue_status="created")
        world.push(queue, task["id"])
        task["execution"]["queue"] = queue.doc["id"]
        ids.append(task["id"])
    return {"ids": ids}


async def add_fault(server: ClearMLServer, body: Doc) -> Doc:
    return server.faults.add(body).shown()


async def list_faults(server: ClearMLServer, _body: Doc) -> Doc:
    return {"faults": [fault.shown() for fault in server.faults.rules.values()]}


async def release_fault(server: ClearMLServer, body: Doc) -> Doc:
    fault = server.faults.rules[body["id"]]
    fault.release(body.get("outcome", "continue"))
    return fault.shown()


async def clear_faults(server: ClearMLServer, _body: Doc) -> Doc:
    server.faults.clear()
    return {}


async def list_calls(server: ClearMLServer, body: Doc) -> Doc:
    journal = server.journal
    found = journal.since(body.get("since", 0), body.get("call", ""), body.get("user", ""))
    return {"calls": found, "counts": dict(journal.counts), "last": journal.last}


async def reset_calls(server: ClearMLServer, _body: Doc) -> Doc:
    server.journal.clear()
    return {}


async def set_outage(server: ClearMLServer, body: Doc) -> Doc:
    """`mode`: "refuse" cuts every connection, "503" answers so, "" ends the outage."""
    server.outage = body.get("mode", "")
    return {}


async def set_clock(server: ClearMLServer, body: Doc) -> Doc:
    """`ahead` seconds, also negative: what the Date of every answer says."""
    server.ahead_s = body["ahead"]
    return {}


async def expire_tokens(server: ClearMLServer, _body: Doc) -> Doc:
    server.world.tokens_valid_from = time.time()
    return {}


async def lives(server: ClearMLServer, _body: Doc) -> Doc:
    """Per task, also a deleted one: its runs, its changes of status, and whether it is aborted."""
    known = server.world.lives.items()
    return {
        task_id: {"runs": life.runs, "history": life.history, "aborted": life.aborted}
        for task_id, life in known
    }


async def dump(server: ClearMLServer, body: Doc) -> Doc:
    """Everything: queues with their entries, tasks, workers, and the lives of the tasks."""
    world = server.world
    queues = {queue_id: queue.shown() for queue_id, queue in world.queues.items()}
    state = {"queues": queues, "tasks": world.tasks, "workers": world.workers}
    return {**state, "lives": await lives(server, body)}


async def start_agents(server: ClearMLServer, body: Doc) -> Doc:
    return {"id": server.start_agents(Orders(**body))}


async def stop_agents(server: ClearMLServer, body: Doc) -> Doc:
    await server.stop_agents(body.get("id", ""))
    return {}


ACTIONS: dict[str, Action] = {
    action.__name__: action
    for action in (
        reset, add_user, bulk_enqueue, add_fault, list_faults, release_fault, clear_faults,
        list_calls, reset_calls, set_outage, set_clock, expire_tokens, dump, lives,
        start_agents, stop_agents,
    )
}  # fmt: skip


def routes(server: ClearMLServer) -> web.RouteTableDef:
    """POST /sandbox/<action> with a JSON body; errors are {"error": text} with 400 or 404."""
    table = web.RouteTableDef()

    @table.post("/sandbox/{action}")
    async def act(http: web.Request) -> web.Response:
        action = ACTIONS.get(http.match_info["action"])
        if action is None:
            return web.json_response({"error": f"no such door: {http.path}"}, status=404)
        body = await http.json() if http.can_read_body else {}
        try:
            return web.json_response(await action(server, body))
        except (errors.ApiError, KeyError, TypeError) as err:
            return web.json_response({"error": f"{type(err).__name__}: {err}"}, status=400)

    return table
