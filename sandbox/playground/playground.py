"""The three stand-in servers with the company in them, and what has changed in it."""

import asyncio
import contextlib
from typing import Any

from sandbox.clearml.server import ClearMLServer
from sandbox.kubernetes.server import KubernetesServer
from sandbox.playground import company
from sandbox.playground.cluster import Cluster
from sandbox.playground.machine_room import MachineRoom
from sandbox.playground.state import State
from sandbox.slack import scene
from sandbox.slack.state import Slack

Doc = dict[str, Any]

LOOK_S = 0.25


class Playground:
    """`document` is the state at the last look; its `n` grows with every change."""

    def __init__(self, gallery: Doc | None = None) -> None:
        self.slack = Slack()
        self.clearml = ClearMLServer()
        self.machines = KubernetesServer()
        self.cluster = Cluster(self.clearml)
        self.gallery: Doc = gallery or {"entries": []}
        self.document: Doc = {"n": 0}
        self._state = State(self.cluster, self.machines)
        self._changed = asyncio.Event()

    async def settle(self) -> None:
        """The people move in; the servers listen by now."""
        await scene.reset(self.slack, company.workspace())
        await self.machines.reset(company.cluster())

    async def run(self) -> None:
        """Until it is cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.cluster.run())
            group.create_task(self._watch())
            group.create_task(MachineRoom().run(lambda: self.machines.world))

    async def _watch(self) -> None:
        while True:
            self.look()
            await asyncio.sleep(LOOK_S)

    def look(self) -> Doc:
        """The state as of now."""
        now = self._state.document()
        if now != {key: value for key, value in self.document.items() if key != "n"}:
            self.document = {"n": self.document["n"] + 1, **now}
            self._changed.set()
            self._changed = asyncio.Event()
        return self.document

    async def changed(self, after: int, seconds: float) -> bool:
        """Whether there is something newer than `after`, within so many seconds."""
        if self.document["n"] > after:
            return True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)
        return bool(self.document["n"] > after)
