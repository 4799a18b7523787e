"""What a digest says, in words and in a picture. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

from bot import charts
from bot.blocks import Block, Post, button, buttons, context, escape, header, name, plain, sections
from bot.charts import Chart, Line, Series
from bot.desk import span
from bot.naming import command
from bot.posts import Picture
from bot.task_names import Names
from controller.digests import Digest, PolicyDigest
from domain.amounts import Amount, format_amount
from domain.schedule_words import schedule_text
from domain.schedules import Schedule

_IN_FULL = 6
_IN_SHORT = 30


@dataclass(frozen=True, kw_only=True)
class Told:
    """A digest with what its telling needs: the schedule, the pools' size, names of tasks."""

    digest: Digest
    schedule: Schedule
    whole: Amount
    names: Names
    now: datetime


def message(told: Told) -> Post:
    """The digest in words; one line where nothing happened."""
    channel = told.schedule.channel
    if told.digest.is_idle:
        text = f"Nothing ran and nothing waited for {_whose(told)} {_period(told)}."
        return Post(channel=channel, text=text, blocks=(context(text),))
    said = " ".join(_sentence(policy) for policy in told.digest.policies[:10])
    blocks: list[Block] = [
        header(f"Digest for {_title(told)}"),
        context(f"F{_period(told)[1:]}, times in {told.schedule.zone}"),
        *sections(_all_lines(told)),
        buttons(
            button("Who waits and why", _queue_command(told)),
            button("Status of the pools", "status"),
        ),
        context(
            f"Sent at {schedule_text(told.schedule)}; `/pool digest off` ends it, "
            "`/pool digest at` changes it."
        ),
    ]
    text = f"Digest for {_whose(told)} {_period(told)}. {said}"
    return Post(channel=channel, text=text, blocks=tuple(blocks))


def _all_lines(told: Told) -> list[str]:
    """Each team in full; of many, their first lines, and of very many those that used most."""
    policies = told.digest.policies
    if len(policies) <= _IN_FULL:
        return [line for policy in policies for line in _lines(policy, told)]
    by_use = sorted(policies, key=lambda policy: (-policy.hours, policy.name))
    lines = [_lines(policy, told)[0] for policy in by_use[:_IN_SHORT]]
    more = len(policies) - _IN_SHORT
    return [*lines, f"and {more} teams more, which used less"] if more > 0 else lines


def _lines(policy: PolicyDigest, told: Told) -> list[str]:
    if policy.is_idle:
        return [f"*{name(policy.name)}*  nothing ran and nothing waited."]
    lines = [
        f"*{name(policy.name)}*  *{_number(policy.hours)} GPU-hours*: {_number(policy.average)} "
        f"GPUs on average, {_number(policy.peak)} at most ({_allowed(policy)})",
        f"• {_tasks(policy.started)} started, {_endings(policy)}",
    ]
    if policy.median is not None and policy.p95 is not None:
        lines.append(
            f"• Those that started had waited {span(policy.median)} in the median, 95 % of them "
            f"at most {span(policy.p95)}"
        )
    if policy.waiting_now:
        lines.append(f"• {_tasks(policy.waiting_now)} waiting now, the longest:")
        lines += [
            f"      ◦ {told.names.label(wait.task)} for {span(told.now - wait.since)}: "
            f"{escape(plain(told.names.sentence(wait.reason), 300))}"
            for wait in policy.longest
        ]
    return lines


def _sentence(policy: PolicyDigest) -> str:
    if policy.is_idle:
        return f"{name(policy.name)}: nothing."
    return (
        f"{name(policy.name)}: {_number(policy.hours)} GPU-hours, {_number(policy.average)} GPUs "
        f"on average ({_allowed(policy)}); {_tasks(policy.started)} started, {_endings(policy)}, "
        f"{policy.waiting_now} waiting now."
    )


def _endings(policy: PolicyDigest) -> str:
    if not policy.ended:
        return "none ended"
    stopped = policy.ended - policy.completed - policy.failed
    parts = [
        f"{count} {word}"
        for count, word in (
            (policy.completed, "completed"), (policy.failed, "failed"), (stopped, "stopped"),
        )
        if count
    ]  # fmt: skip
    return f"{policy.ended} ended ({', '.join(parts)})"


def _allowed(policy: PolicyDigest) -> str:
    limit = "no limit" if policy.limit is None else f"limit {format_amount(policy.limit)}"
    return f"{format_amount(policy.reservation)} reserved, {limit}"


def picture(told: Told) -> Picture:
    """The chart's document, its title, and in words what it shows."""
    chart = _chart(told)
    title = f"GPUs in use by {_title(told)}, {_period(told)}"
    return Picture(document=charts.document(chart), title=title, alt=_alt(told))


def _chart(told: Told) -> Chart:
    found, one = told.digest, told.digest.policies[0]
    series = [
        Series(name=policy.name, note=_note(policy), values=policy.use) for policy in found.policies
    ]
    lines = [Line(label=f"all pools {format_amount(told.whole)}", value=float(told.whole))]
    against = "against all pools"
    if len(found.policies) == 1:
        lines = [] if one.limit is None else [
            Line(label=f"limit {format_amount(one.limit)}", value=float(one.limit))
        ]  # fmt: skip
        reserved = f"reserved {format_amount(one.reservation)}"
        lines += [Line(label=reserved, value=float(one.reservation), soft=True)]
        against = "against reservation" if one.limit is None else "against reservation and limit"
    return Chart(
        name=_title(told),
        instead="Team",
        shown=f"GPUs in use {_period(told)}",
        subtitle=f"Average of each {span(found.step)}, {against}; times in {told.schedule.zone}",
        zone=told.schedule.zone,
        start=found.start,
        step=found.step,
        series=charts.folded(series),
        lines=tuple(lines),
        waiting=_waiting(found.policies),
    )


def _note(policy: PolicyDigest) -> str:
    return f"{_number(policy.average)} avg, {format_amount(policy.reservation)} reserved"


def _waiting(policies: Sequence[PolicyDigest]) -> tuple[int | None, ...]:
    """All their waiting tasks, step by step; None where nothing is known."""
    steps = zip(*(policy.waiting for policy in policies), strict=True)
    return tuple(
        sum(count or 0 for count in counts) if any(count is not None for count in counts) else None
        for counts in steps
    )


def _alt(told: Told) -> str:
    parts = [
        f"{plain(policy.name)} used {_number(policy.average)} GPUs on average and "
        f"{_number(policy.peak)} at most, {_allowed(policy)}"
        for policy in told.digest.policies[:20]
    ]
    counts = [count for count in _waiting(told.digest.policies) if count is not None]
    waited = f" At most {_tasks(max(counts))} waited at a time." if counts else ""
    return f"Areas of GPUs in use {_period(told)}: {'; '.join(parts)}.{waited}"


def _title(told: Told) -> str:
    names = [plain(policy.name) for policy in told.digest.policies]
    return names[0] if len(names) == 1 else f"{len(names)} teams"


def _whose(told: Told) -> str:
    names = [name(policy.name) for policy in told.digest.policies]
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _queue_command(told: Told) -> str:
    policies = told.digest.policies
    return command("queue", policies[0].name) if len(policies) == 1 else "queue"


def _period(told: Told) -> str:
    """From when to when, by the clock there."""
    zone = ZoneInfo(told.schedule.zone)
    start, end = (at.astimezone(zone) for at in (told.digest.start, told.digest.end))
    return f"from {start:%a} {start.day} {start:%b %H:%M} to {end:%a} {end.day} {end:%b %H:%M}"


def _tasks(count: int) -> str:
    return "1 task" if count == 1 else f"{count} tasks"


def _number(amount: Amount) -> str:
    """A rounded number: exact ones have too many digits for a sentence."""
    places = 0 if amount >= 100 else 1 if amount >= 1 else 2
    return format_amount(Fraction(round(amount, places)))
