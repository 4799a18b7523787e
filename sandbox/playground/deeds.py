"""What the page asks of the cluster, done as ClearML's users do it; raises `Refused`."""

from sandbox.clearml import errors, task_lifecycle
from sandbox.clearml.calls import Call
from sandbox.playground import company, marks
from sandbox.playground.cluster import Cluster
from sandbox.playground.jobs import Job
from sandbox.playground.marks import INTAKE, Marked
from sandbox.playground.wishes import Addition, Refused, Tempo

_ARGUMENTS = "hyperparams.Args."


def add(cluster: Cluster, wanted: Addition) -> list[str]:
    """Enqueues jobs; their tasks' ids."""
    user = _user(cluster, wanted.user)
    queue = _queue(cluster, wanted)
    made = []
    for number in range(1, wanted.count + 1):
        job = cluster.jobs.job(queue.policy, wanted.size or cluster.size(queue), user)
        if wanted.name:
            name = wanted.name if wanted.count == 1 else f"{wanted.name}-{number}"
            job = Job(name, user, job.seconds)
        made.append(cluster.enqueue(queue.id, job, _parameters(cluster, queue, wanted)))
    return made


def _parameters(cluster: Cluster, queue: Marked, wanted: Addition) -> dict[str, str]:
    """What a profile that reads the task's own number is told, if that is an argument."""
    parameter = cluster.configured.parameters.get(queue.profile, "")
    if wanted.size is None or not parameter.startswith(_ARGUMENTS):
        return {}
    return {parameter.removeprefix(_ARGUMENTS): str(wanted.size)}


def _user(cluster: Cluster, said: str) -> str:
    """A ClearML user by Slack's id, by the name, or by the id in ClearML."""
    for person in company.PEOPLE:
        if said in (person.id, person.name, person.handle):
            if not person.clearml:
                raise Refused(f"{person.name} is a guest and has no user in ClearML.")
            return person.clearml
    if said in cluster.server.world.users:
        return said
    raise Refused(f"ClearML has no user {said!r}.")


def _queue(cluster: Cluster, wanted: Addition) -> Marked:
    found = marks.marked(cluster.server.world)
    if wanted.queue:
        named = [one for one in found if wanted.queue in (one.id, one.queue.doc["name"])]
        if not named:
            raise Refused(f"ClearML has no queue {wanted.queue!r}.")
        return named[0]
    of_team = [one for one in found if one.role == INTAKE and one.policy == wanted.policy]
    if not of_team:
        raise Refused(f"There is no policy {wanted.policy!r} with a queue.")
    fitting = [one for one in of_team if _fits(cluster, one, wanted)]
    if not fitting:
        offered = ", ".join(one.profile for one in of_team)
        raise Refused(f"{wanted.policy} has no such queue; its profiles are: {offered}.")
    return fitting[0]


def _fits(cluster: Cluster, queue: Marked, wanted: Addition) -> bool:
    if wanted.profile not in ("", queue.profile):
        return False
    reads_size = queue.profile in cluster.configured.parameters
    return wanted.size is None or reads_size or cluster.size(queue) == wanted.size


def abort(cluster: Cluster, task_id: str) -> None:
    """As its user does in ClearML's web page."""
    world = cluster.server.world
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


def set_tempo(cluster: Cluster, wanted: Tempo) -> None:
    if wanted.speed is not None:
        cluster.speed = wanted.speed
    if wanted.paused is not None:
        cluster.paused = wanted.paused
    cluster.pace.speed = 0.0 if cluster.paused else cluster.speed
