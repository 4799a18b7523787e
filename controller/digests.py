"""What happened in a period, team by team, from the ledger, its history and usage. Pure.

Use and GPU-hours come from when each task was dispatched and ended, exactly; usage only says how
many tasks waited when. A task that never ran (taken back during its move) counts nowhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from math import ceil

from domain.amounts import ZERO, Amount
from domain.configuration import Policy
from domain.explain import Explainer
from domain.ledger import Ended, LedgerEntry, Stage
from domain.snapshot import Plan, Snapshot
from domain.usage import Usage

_LONGEST = 3
_NEVER_RAN = "aborted during its move"
_COMPLETED = frozenset({"completed", "published", "publishing", "closed"})
_HOUR = timedelta(hours=1)
_STEPS = (
    (timedelta(hours=26), timedelta(minutes=15)),
    (timedelta(days=4), timedelta(hours=1)),
)
_LONG_STEP = timedelta(hours=2)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a digest is made from: `ended` since `start`, usage in the period, and the present.

    `snapshot` and `plan` are those of the last round; None where there was none.
    """

    start: datetime
    end: datetime
    entries: Sequence[LedgerEntry] = ()
    ended: Sequence[Ended] = ()
    usage: Sequence[Usage] = ()
    snapshot: Snapshot | None = None
    plan: Plan | None = None


@dataclass(frozen=True, kw_only=True)
class LongWait:
    """A task that waits now, since when, and why in a sentence."""

    task: str
    since: datetime
    reason: str


@dataclass(frozen=True, kw_only=True)
class PolicyDigest:
    """One policy in the period.

    `use` and `waiting` have one number for each step: the average use, and the most tasks that
    waited, None where nothing was sampled. `median` and `p95` are of the tasks that started,
    None where none did. Of those that `ended`, what neither completed nor failed was stopped.
    """

    name: str
    reservation: Amount
    limit: Amount | None
    hours: Amount
    average: Amount
    peak: Amount
    started: int
    ended: int
    completed: int
    failed: int
    median: timedelta | None
    p95: timedelta | None
    waiting_now: int
    longest: tuple[LongWait, ...]
    use: tuple[float, ...]
    waiting: tuple[int | None, ...]

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to tell."""
        nothing_waited = not any(self.waiting) and not self.waiting_now
        return not self.hours and not self.started and not self.ended and nothing_waited


@dataclass(frozen=True, kw_only=True)
class Digest:
    """The period in steps of `step`, beginning at `start`; one entry per policy."""

    start: datetime
    end: datetime
    step: timedelta
    policies: tuple[PolicyDigest, ...]

    @property
    def is_idle(self) -> bool:
        return all(policy.is_idle for policy in self.policies)


@dataclass(frozen=True, kw_only=True)
class _Span:
    """An amount in use; `end` is None while it lasts."""

    policy: str
    amount: Amount
    first_seen: datetime
    start: datetime
    end: datetime | None
    outcome: str = ""


def digest(facts: Facts, policies: Iterable[Policy]) -> Digest:
    """What the period was for these policies, in their order."""
    step = step_for(facts.end - facts.start)
    spans = defaultdict(list)
    for span in _spans(facts):
        spans[span.policy].append(span)
    return Digest(
        start=facts.start,
        end=facts.end,
        step=step,
        policies=tuple(_of(policy, spans[policy.name], facts, step) for policy in policies),
    )


def step_for(length: timedelta) -> timedelta:
    """How finely a period of that length is shown."""
    return next((step for longest, step in _STEPS if length <= longest), _LONG_STEP)


def _spans(facts: Facts) -> Iterator[_Span]:
    for entry in facts.entries:
        if entry.stage is Stage.DISPATCHED and entry.dispatched_at is not None:
            yield _Span(
                policy=entry.policy,
                amount=entry.amount,
                first_seen=entry.first_seen,
                start=entry.dispatched_at,
                end=None,
            )
    for over in facts.ended:
        if over.outcome != _NEVER_RAN:
            yield _Span(
                policy=over.policy,
                amount=over.amount,
                first_seen=over.first_seen,
                start=over.dispatched_at,
                end=over.ended_at,
                outcome=over.outcome,
            )


def _of(policy: Policy, spans: Sequence[_Span], facts: Facts, step: timedelta) -> PolicyDigest:
    started = [span for span in spans if facts.start <= span.start < facts.end]
    ended = [span for span in spans if span.end and facts.start <= span.end < facts.end]
    waits = sorted(span.start - span.first_seen for span in started)
    hours = sum((span.amount * _hours(_within(span, facts)) for span in spans), ZERO)
    waiting, longest = _waiting_now(policy.name, facts)
    return PolicyDigest(
        name=policy.name,
        reservation=policy.reservation,
        limit=policy.limit,
        hours=hours,
        average=hours / _hours(facts.end - facts.start),
        peak=_peak(spans, facts),
        started=len(started),
        ended=len(ended),
        completed=sum(span.outcome in _COMPLETED for span in ended),
        failed=sum(span.outcome == "failed" for span in ended),
        median=_median(waits),
        p95=waits[ceil(len(waits) * 0.95) - 1] if waits else None,
        waiting_now=waiting,
        longest=longest,
        use=_use(spans, facts, step),
        waiting=_waiting(policy.name, facts, step),
    )


def _median(waits: Sequence[timedelta]) -> timedelta | None:
    """Of sorted ones; of an even number the mean of the two in the middle."""
    if not waits:
        return None
    return (waits[(len(waits) - 1) // 2] + waits[len(waits) // 2]) / 2


def _within(span: _Span, facts: Facts) -> timedelta:
    """How much of the period the span covers."""
    end = facts.end if span.end is None else min(span.end, facts.end)
    return max(end - max(span.start, facts.start), timedelta())


def _hours(length: timedelta) -> Fraction:
    return Fraction(length // timedelta(microseconds=1), _HOUR // timedelta(microseconds=1))


def _peak(spans: Iterable[_Span], facts: Facts) -> Amount:
    """The most that was in use at any instant; what ends frees before what starts takes."""
    changes: list[tuple[datetime, Amount]] = []
    for span in spans:
        if _within(span, facts) > timedelta():
            changes.append((max(span.start, facts.start), span.amount))
            changes += [(span.end, -span.amount)] if span.end else []
    now = most = ZERO
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


def _use(spans: Iterable[_Span], facts: Facts, step: timedelta) -> tuple[float, ...]:
    """The average amount in each step."""
    count = ceil((facts.end - facts.start) / step)
    totals = [0.0] * count
    for span in spans:
        start = max(span.start, facts.start)
        end = facts.end if span.end is None else min(span.end, facts.end)
        while start < end:
            place = (start - facts.start) // step
            until = min(end, facts.start + (place + 1) * step)
            totals[place] += float(span.amount) * ((until - start) / step)
            start = until
    last = facts.end - facts.start - (count - 1) * step
    totals[-1] *= step / last  # the last step may be cut short by the period's end
    return tuple(totals)


def _waiting(policy: str, facts: Facts, step: timedelta) -> tuple[int | None, ...]:
    """The most that waited in each step, or in the hour or the day where no more is kept."""
    most: list[int | None] = [None] * ceil((facts.end - facts.start) / step)
    for one in facts.usage:
        if one.policy == policy and one.pool == "":
            first = last = (one.at - facts.start) // step
            if one.length > step:
                last = (one.at + one.length - facts.start - timedelta.resolution) // step
            for place in range(max(first, 0), min(last + 1, len(most))):
                most[place] = max(most[place] or 0, one.waiting)
    return tuple(most)


def _waiting_now(policy: str, facts: Facts) -> tuple[int, tuple[LongWait, ...]]:
    if facts.snapshot is None or facts.plan is None:
        return 0, ()
    explainer = Explainer(facts.snapshot, facts.plan)
    since = {task.id: task.first_seen for queue in facts.snapshot.queues for task in queue.tasks}
    waiting = [one for one in facts.plan.waiting if one.policy == policy]
    waiting.sort(key=lambda one: (since[one.task], one.task))
    longest = tuple(
        LongWait(task=one.task, since=since[one.task], reason=explainer.detail(one))
        for one in waiting[:_LONGEST]
    )
    return len(waiting), longest
