"""What happens to requests with time: expiry, reminders, and going on after a restart."""

from bot import approvals
from bot.blocks import user
from bot.desk import Desk
from domain.requests import Request, due_reminders, expire
from storage import requests


def tend(desk: Desk) -> None:
    """Looks at every open and every approved request, and does what is due by now."""
    with desk.database.reading() as session:
        still = requests.open_requests(session)
        begun = requests.approved_requests(session)
    for request in begun:
        approvals.finish(desk, request)
    if still:
        with desk.database.transaction() as session:
            approvals.void_stale(desk, session)
            for over in expire(requests.open_requests(session), desk.clock()):
                approvals.keep(desk, session, over)
            rules = approvals.rules_of(desk.settings)
            for due in due_reminders(requests.open_requests(session), desk.clock(), rules):
                approvals.keep(desk, session, due)
                text = f"A reminder: this still waits for a decision, {user(due.by)} asked for it."
                approvals.tell(desk, session, due, f"reminder:{due.reminded}", text)
        desk.deliver()


def resume(desk: Desk) -> None:
    """Said whenever somebody begins to lead, for what was approved and is not yet applied."""
    with desk.database.reading() as session:
        begun = requests.approved_requests(session)
    for request in begun:
        _say_resumed(desk, request)


def _say_resumed(desk: Desk, request: Request) -> None:
    with desk.database.transaction() as session:
        text = "Whoever led ended before this was applied; it goes on now."
        approvals.tell(desk, session, request, f"resumed:{desk.reference()}", text)
        desk.record(
            session, "poolkeeper", "resumed", request.name, "by another leader, or after a restart"
        )
    desk.nudge()
    desk.deliver()
