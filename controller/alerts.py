"""What is wrong, as far as a published round and the ledger show it. Pure.

A trouble has a cause that stays the same as long as it is the same trouble; who tells it remembers
since when, and tells it once, and once more when it is over (DESIGN.md, "Alerts"). Waiting is told
by team, not by task: a hundred tasks behind one full pool are one trouble.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from controller.membership import is_stranger
from domain.amounts import ZERO, format_amount
from domain.configuration import Membership, Profile
from domain.explain import Explainer
from domain.ledger import LedgerEntry, Stage
from domain.snapshot import NEVER, Plan, Reason, Snapshot, Waiting
from domain.tasks import TaskFacts

_FULL = frozenset({Reason.NO_CAPACITY, Reason.HELD, Reason.KEPT})


class Kind(StrEnum):
    """What sort of trouble; the first word of its cause."""

    WAITS = "waits"
    RESERVATION = "reservation"
    UNTAKEN = "untaken"
    FOREIGN = "foreign"
    NEVER = "never"
    STRANGER = "stranger"
    CLEARML = "clearml"
    BOOKS = "books"
    CGPU = "cgpu"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """How long each trouble lasts before it is told."""

    waits: timedelta = timedelta(hours=4)
    reservation: timedelta = timedelta(minutes=30)
    untaken: timedelta = timedelta(minutes=15)
    foreign: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """One trouble; `since` is None where only who remembers it knows.

    `after` is how long it has to last before it is told; `policy` is whose it is, "" for nobody's.
    `text` is a sentence of plain text, with task ids where it speaks of tasks.
    """

    kind: Kind
    about: str
    text: str
    policy: str = ""
    since: datetime | None = None
    after: timedelta = timedelta()
    tasks: tuple[str, ...] = ()

    @property
    def cause(self) -> str:
        return f"{self.kind}:{self.about}"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is looked at. `queued` are the tasks in execution queues, None where that is not known;
    `known` what ClearML says of waiting tasks."""

    snapshot: Snapshot
    plan: Plan
    entries: Sequence[LedgerEntry] = ()
    queued: frozenset[str] | None = None
    known: Mapping[str, TaskFacts] = field(default_factory=dict)

    @property
    def now(self) -> datetime:
        return self.snapshot.taken_at


def troubles(facts: Facts, thresholds: Thresholds) -> tuple[Trouble, ...]:
    """All that is wrong now."""
    explainer = Explainer(facts.snapshot, facts.plan)
    waiting: defaultdict[str, list[Waiting]] = defaultdict(list)
    for one in facts.plan.waiting:
        waiting[one.policy].append(one)
    return (
        *_long_waits(facts, explainer, waiting, thresholds),
        *_unhonoured(facts, explainer, waiting, thresholds),
        *_untaken(facts, thresholds),
        *_foreign(facts, thresholds),
        *_never(facts, explainer),
        *_strangers(facts),
    )


def _long_waits(
    facts: Facts,
    explainer: Explainer,
    waiting: Mapping[str, Sequence[Waiting]],
    thresholds: Thresholds,
) -> Iterator[Trouble]:
    since = {task.id: task.first_seen for queue in facts.snapshot.queues for task in queue.tasks}
    for policy, every in waiting.items():
        long = [
            one
            for one in every
            if one.reason not in NEVER and facts.now - since[one.task] >= thresholds.waits
        ]
        if long:
            first = min(long, key=lambda one: (since[one.task], one.task))
            lasts = f"longer than {hours(thresholds.waits)}"
            at = f"since {clock(since[first.task])}. {explainer.detail(first)}"
            text = f"{first.task} of {policy} has waited {lasts}, {at}"
            if len(long) > 1:
                text = f"{len(long)} tasks of {policy} have waited {lasts}. The longest is "
                text += f"{first.task}, {at}"
            yield Trouble(
                kind=Kind.WAITS,
                about=policy,
                policy=policy,
                text=text,
                since=since[first.task],
                tasks=(first.task,),
            )


def _unhonoured(
    facts: Facts,
    explainer: Explainer,
    waiting: Mapping[str, Sequence[Waiting]],
    thresholds: Thresholds,
) -> Iterator[Trouble]:
    """A team below its reservation whose tasks would fit into what it lacks."""
    for state in facts.plan.policies:
        owed = state.reservation if state.limit is None else min(state.reservation, state.limit)
        owed -= state.usage
        fitting = [
            one for one in waiting.get(state.name, ()) if one.reason in _FULL and one.amount <= owed
        ]
        if fitting:
            yield Trouble(
                kind=Kind.RESERVATION,
                about=state.name,
                policy=state.name,
                text=f"The reservation of {state.name} is not honoured: it uses "
                f"{format_amount(state.usage)} of {format_amount(state.reservation)}, and "
                f"{_wait(len(fitting))} that would fit into the rest. "
                f"{explainer.detail(fitting[0])}",
                after=thresholds.reservation,
                tasks=(fitting[0].task,),
            )


def _untaken(facts: Facts, thresholds: Thresholds) -> Iterator[Trouble]:
    links: defaultdict[str, list[LedgerEntry]] = defaultdict(list)
    for entry in facts.entries:
        if entry.stage is not Stage.DISPATCHED or entry.task not in (facts.queued or ()):
            continue
        if facts.now - (entry.dispatched_at or facts.now) >= thresholds.untaken:
            links[entry.link].append(entry)
    for link, entries in links.items():
        first = min(entries, key=lambda entry: entry.dispatched_at or entry.intended_at)
        since = first.dispatched_at or first.intended_at
        yield Trouble(
            kind=Kind.UNTAKEN,
            about=link,
            text=f"{_wait(len(entries))} for an agent of {first.pool}, where {link} sent them, the "
            f"first since {clock(since)}. Does an agent serve that queue?",
            since=since,
        )


def _foreign(facts: Facts, thresholds: Thresholds) -> Iterator[Trouble]:
    """A pool in which what Poolkeeper did not dispatch leaves no room for any of its profiles."""
    configuration = facts.snapshot.configuration
    for pool in configuration.pools:
        used = facts.snapshot.foreign.get(pool.name, ZERO)
        linked = [profile for profile in configuration.profiles if _serves(profile, pool.name)]
        least = min((profile.allotment for profile in linked), default=None)
        if used > 0 and least is not None and pool.resources - used < least:
            yield Trouble(
                kind=Kind.FOREIGN,
                about=pool.name,
                text=f"{pool.name} is full of tasks that came through no intake queue: they use "
                f"{format_amount(used)} of {format_amount(pool.resources)}.",
                after=thresholds.foreign,
            )


def _serves(profile: Profile, pool: str) -> bool:
    return any(link.pool == pool for link in profile.pools)


def _never(facts: Facts, explainer: Explainer) -> Iterator[Trouble]:
    for one in facts.plan.waiting:
        if one.reason in NEVER:
            yield Trouble(
                kind=Kind.NEVER,
                about=one.task,
                policy=one.policy,
                text=explainer.detail(one),
                tasks=(one.task,),
            )


def _strangers(facts: Facts) -> Iterator[Trouble]:
    policies = facts.snapshot.configuration.policy_by_name
    for queue in facts.snapshot.queues:
        policy = policies.get(queue.policy)
        if policy is None or policy.membership is not Membership.REPORT:
            continue
        for task in queue.tasks:
            known = facts.known.get(task.id)
            if known is not None and is_stranger(policy, known):
                yield Trouble(
                    kind=Kind.STRANGER,
                    about=task.id,
                    policy=policy.name,
                    text=f"It was put into the queue of {policy.name} by {known.user}, who is not "
                    "among its ClearML users.",
                    tasks=(task.id,),
                )


def _wait(count: int) -> str:
    return "1 task waits" if count == 1 else f"{count} tasks wait"


def hours(length: timedelta) -> str:
    """A threshold as people set it: `4 h`, `1.5 h`."""
    return f"{length / timedelta(hours=1):g} h"


def clock(at: datetime) -> str:
    return f"{at.astimezone(UTC):%d %b %H:%M} UTC"
