"""One call on its way through the server: who makes it, and on which world."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.clearml.world import User, World

Doc = dict[str, Any]


def _nothing(_gap: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Call:
    """`name` is service.action; `worker` is the X-ClearML-Worker header, "" when there is none.

    The real server's reads and writes are not synchronised. Endpoints name the gaps between them:
    `gap("before_status")` and `gap("before_entry")`, where a fault may let somebody else act.
    """

    name: str
    world: World
    user: User
    worker: str = ""
    ip: str = "127.0.0.1"
    gap: Callable[[str], None] = _nothing


Endpoint = Callable[[Call, Doc], Doc]
