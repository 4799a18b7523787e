"""A process that runs packs what was sampled and forgets what is old, with Slack or without."""

from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from domain.ledger import AuditRecord, Sample
from domain.usage import DAY, HOUR
from storage import audit, samples, usage
from tests.poolkeeper_support import Installation, installed, one_profile
from tests.sandbox_support import Sandbox, wait_until


@pytest.fixture
def there(clearml: Sandbox, tmp_path: Path) -> Iterator[Installation]:
    with installed(clearml, tmp_path / "here") as installation:
        yield installation


def lengths(there: Installation) -> set[timedelta]:
    """By what usage of the last hundred days is known."""
    now = there.clock()
    with there.database.reading() as session:
        return {one.length for one in usage.between(session, now - 100 * DAY, now - 3 * HOUR)}


def test_it_is_done_by_the_settings_without_slack(there: Installation) -> None:
    there.apply(one_profile({"metal": 1}, {"dev": (0, None)}))
    now = there.clock()
    taken = [
        Sample(at=now - ago, policy="dev", pool="metal", used=Fraction(1), running=1, waiting=0)
        for ago in (60 * DAY, 20 * DAY, 5 * HOUR)
    ]
    with there.database.transaction() as session:
        samples.add(session, taken)
        for ago in (9 * DAY, DAY):
            audit.record(
                session, AuditRecord(at=now - ago, actor="x", action="y", subject=str(ago.days))
            )

    there.start("run", POOLKEEPER_KEEP_HOURS_DAYS="30", POOLKEEPER_KEEP_AUDIT_DAYS="8")

    kept = {DAY, HOUR, timedelta(seconds=60)}
    wait_until(lambda: lengths(there) == kept, "the day, the hour and the minute", 60)
    wait_until(lambda: not there.audit("y\n9"), "the old record is gone", 60)
    assert len(there.audit("y\n1")) == 1
