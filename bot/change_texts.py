"""What a change means, in sentences: differences, queues, waiting tasks, guarantees. Pure.

Names stand in these sentences as they are; whoever shows them in Slack shows plain text.
"""

from collections.abc import Iterable, Mapping, Sequence

from controller.ports import QueueState
from controller.queue_plan import Act, QueueStep, plan_queues, renamed
from domain.amounts import format_amount
from domain.configuration import Configuration
from domain.findings import Finding
from domain.ledger import OwnedQueue
from domain.names import quoted
from domain.previewing import Effect
from domain.renames import Kind, Renames

_NAMED = 5
_STEPS: Mapping[Act, str] = {
    Act.CREATE: "'{name}' is created ({role} queue of {owner}).",
    Act.ADOPT: (
        "'{name}' exists already, with {tasks} waiting, and becomes the {role} queue of {owner}."
    ),
    Act.RENAME: "'{was}' becomes '{name}' ({role} queue of {owner}).",
    Act.RETIRE: "'{was}' is emptied and deleted ({role} queue of {owner}, {tasks} waiting).",
}


def queue_lines(
    configuration: Configuration,
    renames: Renames,
    owned: Iterable[OwnedQueue],
    listed: Mapping[str, QueueState],
) -> list[str]:
    """What would happen to ClearML's queues; nothing where none is touched."""
    steps = plan_queues(configuration, renamed(owned, renames), listed)
    return [line for line in map(step_line, steps) if line]


def step_line(step: QueueStep) -> str:
    """One queue's sentence, "" where nothing happens that anybody would see."""
    queue = step.queue
    tasks = f"{step.tasks} task" if step.tasks == 1 else f"{step.tasks} tasks"
    return _STEPS.get(step.act, "").format(
        name=queue.name, was=step.was, role=queue.role, owner=queue.owner, tasks=tasks
    )


def effect_lines(effect: Effect) -> list[str]:
    """What it means for the tasks that wait now; nothing where nothing changes for them."""
    said = (
        (effect.starts, "would start at once"),
        (effect.able, "could run at last"),
        (effect.never, "could never run"),
        (effect.homeless, "would become drafts, for their queue is removed"),
    )
    return [f"{len(tasks)} waiting {what}: {_some(tasks)}." for tasks, what in said if tasks]


def guarantee_lines(before: Configuration, after: Configuration, renames: Renames) -> list[str]:
    """The policies that would be guaranteed less than now."""
    lines = []
    for policy in before.policies:
        name = renames.current(Kind.POLICY, policy.name)
        kept = after.policy_by_name.get(name)
        now = kept.reservation if kept else policy.reservation * 0
        if now < policy.reservation:
            was = format_amount(policy.reservation)
            lines.append(f"{name} would be guaranteed {format_amount(now)} instead of {was}.")
    return lines


def finding_sentence(finding: Finding) -> str:
    """What is wrong with which object, and what to do about it."""
    return (
        f"{str(finding.kind).capitalize()} {quoted(finding.name)} {finding.message}; "
        f"{finding.remedy}."
    )


def _some(tasks: Sequence[str]) -> str:
    shown = ", ".join(task[:8] for task in tasks[:_NAMED])
    return f"{shown} and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else shown
