"""What counts as wrong: found in a round as it was published, and in nothing else."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from controller.alerts import Facts, Kind, Thresholds, Trouble, troubles
from domain.allocation import allocate
from domain.configuration import Configuration, Membership, Queueing, Team
from domain.ledger import LedgerEntry, Stage
from domain.snapshot import Snapshot, Task, Tier, WaitingQueue
from domain.tasks import TaskFacts
from tests.bot_support import allocation, waiting_queue, with_teams
from tests.poolkeeper_support import one_profile

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
RULES = Thresholds()
FULL = one_profile({"metal": 4}, {"dev": (4, 8), "research": (0, None)})


def found(facts: Facts, kind: Kind) -> list[Trouble]:
    return [one for one in troubles(facts, RULES) if one.kind is kind]


def seen(
    configuration: Configuration = FULL,
    queues: Sequence[WaitingQueue] = (),
    used_by: str = "",
    **more: object,
) -> Facts:
    """A round in which a policy uses all four of `metal`, if one is named."""
    allocations = [allocation(f"r{n}", used_by, "metal") for n in range(4 if used_by else 0)]
    snapshot = Snapshot(
        taken_at=NOW,
        configuration=configuration,
        queues=tuple(queues),
        allocations=tuple(allocations),
    )
    snapshot = replace(snapshot, **more)  # type: ignore[arg-type]
    return Facts(snapshot=snapshot, plan=allocate(snapshot))


def test_a_task_waits_too_long_from_the_threshold_on() -> None:
    almost = seen(queues=[waiting_queue("dev", ["t"], NOW - 4 * HOUR + MINUTE)], used_by="dev")
    exactly = seen(queues=[waiting_queue("dev", ["t"], NOW - 4 * HOUR)], used_by="dev")

    assert found(almost, Kind.WAITS) == []
    (trouble,) = found(exactly, Kind.WAITS)
    assert trouble.cause == "waits:dev"
    assert trouble.since == NOW - 4 * HOUR
    assert "t of dev has waited longer than 4 h, since 01 Dec 08:00 UTC" in trouble.text
    assert "metal has 0 of 4 free" in trouble.text


def test_a_hundred_tasks_that_wait_too_long_are_one_trouble_of_their_team() -> None:
    tasks = [f"t{n:03}" for n in range(100)]
    facts = seen(queues=[waiting_queue("dev", tasks, NOW - 5 * HOUR)], used_by="dev")

    (trouble,) = found(facts, Kind.WAITS)

    assert "100 tasks of dev have waited longer than 4 h. The longest is t000" in trouble.text


def test_a_reservation_is_not_honoured_only_where_what_waits_would_fit_into_it() -> None:
    waits = [waiting_queue("dev", ["t"], NOW)]
    by_others = seen(queues=waits, used_by="research")
    by_itself = seen(queues=waits, used_by="dev")
    nothing_waits = seen(used_by="research")

    (trouble,) = found(by_others, Kind.RESERVATION)
    assert trouble.cause == "reservation:dev"
    assert "it uses 0 of 4, and 1 task waits that would fit into the rest" in trouble.text
    assert trouble.after == RULES.reservation
    assert found(by_itself, Kind.RESERVATION) == []
    assert found(nothing_waits, Kind.RESERVATION) == []


def test_a_task_larger_than_what_is_owed_is_no_breach() -> None:
    dynamic = one_profile(
        {"metal": 4}, {"dev": (2, 8), "research": (0, None)}, parameter="runtime.gpus"
    )
    task = Task(id="t", first_seen=NOW, parameter="3")
    queues = [WaitingQueue(policy="dev", profile="job", tasks=(task,))]

    assert found(seen(dynamic, queues, "research"), Kind.RESERVATION) == []


def test_dispatched_tasks_that_stay_in_their_queue_are_missed_by_agents() -> None:
    facts = seen(used_by="dev")
    entries = (entry("old", NOW - 15 * MINUTE), entry("new", NOW - 14 * MINUTE))

    taken = replace(facts, entries=entries, queued=frozenset({"new"}))
    waiting = replace(facts, entries=entries, queued=frozenset({"old", "new"}))
    unknown = replace(facts, entries=entries, queued=None)

    assert found(taken, Kind.UNTAKEN) == []
    assert found(unknown, Kind.UNTAKEN) == []
    (trouble,) = found(waiting, Kind.UNTAKEN)
    assert trouble.cause == "untaken:job on metal"
    assert trouble.since == NOW - 15 * MINUTE


def test_a_pool_is_full_of_foreign_use_where_no_profile_of_its_fits_beside_it() -> None:
    two_each = one_profile({"metal": 4}, {"dev": (0, None)}, allotment=2)

    assert found(seen(two_each, foreign={"metal": Fraction(2)}), Kind.FOREIGN) == []
    (trouble,) = found(seen(two_each, foreign={"metal": Fraction(3)}), Kind.FOREIGN)
    assert "they use 3 of 4" in trouble.text


def test_each_task_that_can_never_run_is_told_with_its_reason() -> None:
    unlinked = one_profile({}, {"dev": (0, None)}, queueing=Queueing.STRICT)
    facts = seen(unlinked, [waiting_queue("dev", ["a", "b"], NOW - 9 * HOUR)])

    never = found(facts, Kind.NEVER)

    assert [(one.about, one.policy) for one in never] == [("a", "dev"), ("b", "dev")]
    assert never[0].text.startswith("Can never run: profile job is linked to no pool.")
    assert found(facts, Kind.WAITS) == [], "what never runs is told as that"


def test_a_stranger_is_somebody_who_is_not_on_a_list_that_is_given() -> None:
    listed = with_teams(FULL, {"dev": Team(clearml_users=(("U_CLEO", "cleo"), ("", "zoe")))})
    queues = [waiting_queue("dev", ["mine", "hers", "theirs", "nobodys"], NOW)]
    users = {"mine": "cleo", "hers": "zoe", "theirs": "mallory", "nobodys": ""}
    known = {task: TaskFacts(task=task, name="", user=user) for task, user in users.items()}

    reported = found(replace(seen(listed, queues), known=known), Kind.STRANGER)
    unlisted = found(replace(seen(FULL, queues), known=known), Kind.STRANGER)
    returning = replace(
        listed,
        policies=tuple(replace(one, membership=Membership.RETURN) for one in listed.policies),
    )

    assert [one.about for one in reported] == ["theirs"]
    assert "mallory" in reported[0].text
    assert unlisted == []
    assert found(replace(seen(returning, queues), known=known), Kind.STRANGER) == []


def entry(task: str, dispatched_at: datetime) -> LedgerEntry:
    return LedgerEntry(
        task=task,
        policy="dev",
        profile="job",
        pool="metal",
        link="job on metal",
        intake="in",
        execution="out",
        amount=Fraction(1),
        tier=Tier.SHARED,
        stage=Stage.DISPATCHED,
        first_seen=dispatched_at,
        intended_at=dispatched_at,
        dispatched_at=dispatched_at,
    )
