"""The day that the playground's company has behind it obeys the rules that it tells about."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from bot.playground_company import read
from bot.playground_past import Past
from domain.ledger import Ended
from domain.validation import validate

END = datetime(2026, 3, 4, 10, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def past() -> Past:
    return Past(read(), END)


def test_the_configuration_of_the_demo_has_no_findings() -> None:
    assert not validate(read())


def test_it_lies_within_a_day_and_is_over(past: Past) -> None:
    for one in past.ended:
        assert END - timedelta(hours=25) < one.first_seen <= one.dispatched_at < one.ended_at <= END
    assert {sample.policy for sample in past.samples} == {"vision", "language"}


def test_no_pool_and_no_limit_was_exceeded(past: Past) -> None:
    pools = {pool.name: pool.resources for pool in past.configuration.pools}
    limits = {policy.name: policy.limit for policy in past.configuration.policies}

    for now in {one.dispatched_at for one in past.ended}:
        runs = [one for one in past.ended if one.dispatched_at <= now < one.ended_at]
        for pool, used in _sums(runs, "pool").items():
            assert used <= pools[pool]
        for policy, used in _sums(runs, "policy").items():
            assert used <= (limits[policy] or 0)


def _sums(runs: list[Ended], by: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for one in runs:
        found[getattr(one, by)] += one.amount  # type: ignore[assignment]  # a sum of fractions
    return found


@pytest.mark.parametrize("hour", range(24))
def test_there_is_something_to_tell_of_every_team_at_any_hour(hour: int) -> None:
    past = Past(read(), END.replace(hour=hour))
    hours: dict[str, Fraction] = {}
    for one in past.ended:
        lasted = Fraction((one.ended_at - one.dispatched_at) // timedelta(seconds=1), 3600)
        hours[one.policy] = hours.get(one.policy, Fraction(0)) + lasted * one.amount

    assert set(hours) == {"vision", "language"}
    assert min(hours.values()) > 60
    assert max(hours.values()) < 12 * 24
    assert max(sample.waiting for sample in past.samples) > 0
    assert len({one.outcome for one in past.ended}) > 1


def test_it_is_the_same_whenever_it_is_made() -> None:
    assert Past(read(), END).ended == Past(read(), END).ended
