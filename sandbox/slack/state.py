"""All that the server holds, in one place: what API methods, people and the door work on."""

from sandbox.slack.clock import Clock
from sandbox.slack.delivery import Deliveries
from sandbox.slack.faults import Faults
from sandbox.slack.feed import Feed
from sandbox.slack.journal import Journal
from sandbox.slack.rates import Rates
from sandbox.slack.tickets import Tickets
from sandbox.slack.views import Views
from sandbox.slack.world import World

BOT_TOKEN = "xoxb-sandbox-bot"
APP_TOKEN = "xapp-sandbox-app"
SIGNING_SECRET = "sandbox-signing-secret"


class Slack:
    """The workspace is replaced at a reset; the sockets and the feed's numbers live on."""

    def __init__(self) -> None:
        self.url = ""
        self.feed = Feed()
        self.clock = Clock()
        self.faults = Faults(self.clock)
        self.journal = Journal()
        self.deliveries = Deliveries(self.clock, self.faults, self.journal)
        self.empty()

    def empty(self) -> None:
        """A workspace without people and channels; faults, logs and the offset are gone."""
        self.faults.clear()
        self.deliveries.forget()
        self.clock.advance(-self.clock.offset)
        self.journal = Journal()
        self.deliveries.journal = self.journal
        self.world = World(self.clock, self.feed, self.url)
        self.views = Views(self.world)
        self.tickets = Tickets(self.world)
        self.rates = Rates(self.clock)
        self.notices: list[dict[str, object]] = []

    def tell(self, person: str, error: str, about: str) -> None:
        """What Slack itself tells a person when the app did not answer as it should."""
        n = self.feed.note("notice", person=person, error=error, about=about)
        self.notices.append({"n": n, "person": person, "error": error, "about": about})
