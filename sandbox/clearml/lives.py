"""The books of the sandbox, not of ClearML: how often an agent ran a task, and if after an abort.

A run is a pop followed by `tasks.started`, or a pod's dequeue to in_progress. A glue that pops and
puts the task into its pending queue has not run it.
"""

from sandbox.clearml.calls import Call
from sandbox.clearml.world import Doc, Life, instant

GLUE_REASONS = ("moving to k8s pending queue", "k8s pending scheduler", "k8s max pod limit")
MOVER_REASON = "policy manager"


def popped(call: Call, task_id: str) -> None:
    call.world.life(task_id).popped_by.append(call.worker)


def started(call: Call, task_id: str) -> None:
    """Counts a run if somebody holds an entry of the task that he has not started yet."""
    life = call.world.life(task_id)
    if life.popped_by:
        holder = call.worker if call.worker in life.popped_by else life.popped_by[0]
        life.popped_by.remove(holder)
        _run(life, holder)


def pod_started(call: Call, task_id: str) -> None:
    _run(call.world.life(task_id), call.worker)


def enqueued(call: Call, task_id: str, reason: str) -> None:
    """A user's enqueue takes an abort back; the words of a mover or a glue do not."""
    life = call.world.life(task_id)
    if reason.startswith(GLUE_REASONS):
        life.popped_by = [worker for worker in life.popped_by if worker != call.worker]
    elif MOVER_REASON not in reason:
        life.aborted = False


def aborted(call: Call, task_id: str, reason: str = "") -> None:
    """A glue passes through `stopped`, and a mover through a draft; neither is an abort."""
    if not reason.startswith(GLUE_REASONS) and MOVER_REASON not in reason:
        call.world.life(task_id).aborted = True


def changed(call: Call, task: Doc, before: str) -> None:
    entry = {"time": instant(), "call": call.name, "user": call.user.id, "worker": call.worker}
    entry |= {"from": before, "to": task["status"], "reason": task.get("status_reason", "")}
    call.world.life(task["id"]).history.append(entry)


def _run(life: Life, worker: str) -> None:
    life.runs.append({"time": instant(), "worker": worker, "after_abort": life.aborted})
