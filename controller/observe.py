"""Looking at ClearML: the queues with their entries, and the tasks of the ledger.

The number of calls does not grow with the number of queues: one listing holds all entries, one
the tasks that the execution queues' agents have, and only what neither shows is read by id.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from controller.ports import Queues, QueueState, Status, TaskState
from domain.ledger import LedgerEntry, OwnedQueue, Role

_GLUE_QUEUE = "k8s_scheduler"
_ALIVE = (Status.QUEUED, Status.IN_PROGRESS)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What ClearML showed at one time.

    `states` are the tasks that the ledger or an execution queue knows; `gone` those of the
    ledger that do not exist any more, each read by its id.
    """

    at: datetime
    queues: Mapping[str, QueueState]
    states: Mapping[str, TaskState] = field(default_factory=dict)
    gone: frozenset[str] = frozenset()

    @cached_property
    def places(self) -> Mapping[str, tuple[str, ...]]:
        """For each task in a queue, the ids of the queues that hold it."""
        places: dict[str, tuple[str, ...]] = {}
        for queue in self.queues.values():
            for entry in queue.entries:
                places[entry.task] = (*places.get(entry.task, ()), queue.id)
        return places

    def is_glue_queue(self, queue: str, ours: Collection[str]) -> bool:
        """Whether a queue is where the k8s glue keeps what it took from us (chapter 4.2)."""
        state = self.queues.get(queue)
        if state is None or queue in ours:
            return False
        return state.hidden or state.name == _GLUE_QUEUE  # agents before 1.9.3 do not hide it


def observe(
    door: Queues, ledger: Iterable[LedgerEntry], owned: Iterable[OwnedQueue], at: datetime
) -> Observation:
    """Queues first, then tasks: who leaves a queue in between is seen running, not missing."""
    queues = {queue.id: queue for queue in door.queues()}
    execution = [queue.id for queue in owned if queue.role is Role.EXECUTION and queue.id in queues]
    states = {task.id: task for task in door.tasks_in(execution, _ALIVE)}
    wanted = {entry.task for entry in ledger} - states.keys()
    if wanted:
        states |= door.task_states(wanted)
    # That a listing lacks a task proves nothing (decision 3): it is read by itself.
    gone = frozenset(task for task in wanted - states.keys() if not door.exists(task))
    return Observation(at=at, queues=queues, states=states, gone=gone)
