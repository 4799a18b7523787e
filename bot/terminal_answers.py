"""`poolkeeper agents` and `cgpu status`: the same answers as in Slack, for a terminal."""

import html

from bot.agent_answers import hints, served_by, snippets
from bot.agent_requests import shared_cards
from bot.cgpu_lines import report
from bot.compose import clock_on
from bot.naming import Unclear, resolve
from bot.operating import opened, settings
from bot.refusing import Refusal
from controller.cgpu_view import last_note, last_view
from domain.configuration import Configuration
from storage import configurations, queues


def agents(link: str) -> None:
    """Prints the link's queue and how agents may serve it."""
    chosen = settings()
    with opened(chosen) as database, database.reading() as session:
        version = configurations.provisioned(session)
        owned = queues.owned_queues(session)
        cards = shared_cards(session, chosen)
    configuration = version.configuration if version else Configuration()
    names = [one.name for profile in configuration.profiles for one in profile.pools]
    found = resolve(link, names)
    if isinstance(found, Unclear):
        near = ", ".join(found.candidates or names) or "none yet"
        raise Refusal([f"{link} names no single link; there are: {near}."])
    served = served_by(configuration, found, owned, cards)
    if served.queue is None:
        raise Refusal([f"{found} has no queue yet; the next round that reaches ClearML makes it."])
    print(f"{found}: queue {served.queue.id} ({served.queue.name})")
    for what, text in snippets(served):
        print(f"\n# {what}\n{text}")
    print("", *(f"# {html.unescape(hint)}" for hint in hints(served)), sep="\n")


def cgpu_status() -> None:
    """Prints what the last look at Kubernetes saw; `Refusal` where there is none."""
    chosen = settings()
    if not chosen.has_kubernetes:
        raise Refusal(["No cluster is set; set POOLKEEPER_KUBERNETES, as the README says."])
    with opened(chosen) as database, database.reading() as session:
        view, note, now = last_view(session), last_note(session), clock_on(database)()
    if view is None:
        away = f" {note.away}" if note.away else ""
        raise Refusal([f"The cluster was not looked at yet; start `poolkeeper run`.{away}"], code=1)
    print(*report(view, now), sep="\n")
