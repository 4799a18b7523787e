"""What is known of a task besides its allocation."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskFacts:
    """A task's id, its name in ClearML, and the ClearML id of the user it belongs to."""

    task: str
    name: str
    user: str
