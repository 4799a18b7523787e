"""One call on its way through the server: who makes it, and on which world."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.clearml.world import User, World

Doc = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """`name` is service.action; `worker` is the X-ClearML-Worker header, "" when there is none."""

    name: str
    world: World
    user: User
    worker: str = ""
    ip: str = "127.0.0.1"


Endpoint = Callable[[Call, Doc], Doc]
