"""Forgetting what nobody asks for any more, so that the database does not grow for ever."""

from datetime import timedelta

from bot.desk import Desk
from storage import alerts, cards, deliveries, ledger, outbox, people, samples, tasks

KEPT = timedelta(days=40)
"""A digest tells of a week at most; a month can be asked for by whoever reads the database."""


def prune(desk: Desk) -> None:
    """Each table in a transaction of its own: rounds write in between."""
    now = desk.clock()
    for forget, kept in (
        (samples.prune, KEPT),
        (ledger.prune_ended, KEPT),
        (outbox.prune, KEPT),
        (cards.prune, KEPT),
        (alerts.prune, KEPT),
        (tasks.prune, KEPT),
        (people.prune_viewers, KEPT),
        (deliveries.prune, deliveries.KEPT),
    ):
        with desk.database.transaction() as session:
            forget(session, now - kept)
