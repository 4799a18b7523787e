"""What recurs: each job so often, with the desk. The one clock is `controller.loop`'s.

All of it is the leader's. What is told, digested, reminded of or pruned is done once, wherever
people speak; Homes too, for who opened one and what it shows are in the database, and Slack counts
views for the whole workspace. A replica's own are only its connection to Slack and its answers.

A job's fault is recorded under a reference, and the job runs again at its next time; so a job
looks at what is, and does what is to be done by now, rather than counting on having run before.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bot import announcements, cgpu_telling, digest_posting, home, notices, tending
from bot.desk import Desk


@dataclass(frozen=True, kw_only=True)
class Recurring:
    """A job and how often it runs; it runs once at the start, too."""

    seconds: float
    run: Callable[[Desk], None]


RECURRING: tuple[Recurring, ...] = (
    Recurring(seconds=15, run=announcements.look),
    Recurring(seconds=15, run=digest_posting.put_due),
    Recurring(seconds=5, run=notices.tell),
    Recurring(seconds=2, run=cgpu_telling.tell),
    Recurring(seconds=1, run=tending.tend),
    Recurring(seconds=3, run=home.refresh),
)
