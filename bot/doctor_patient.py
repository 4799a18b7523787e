"""What the doctor's checks look at: each thing is got once, by the first check that needs it."""

from bot.access import Admins, Membership
from bot.checkups import SlackState
from bot.compose import clock_on, doors, new_reference, now
from bot.desk import Desk
from bot.doctor_answers import slack_state
from bot.doctoring import Once, Unknown
from bot.settings import Settings
from bot.slack_door import Slack, web_client
from controller.ports import ClearMLError
from controller.publishing import Viewer
from controller.survey import Survey, Surveyor
from domain.configuration import Configuration
from domain.ledger import OwnedQueue
from storage import queues
from storage.database import Database, StorageError, open_database
from storage.inspecting import Condition, condition


class Patient:
    """What the checks look at; each thing is got once, by the first check that needs it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.condition = Once(self._condition)
        self.desk = Once(self._desk)
        self.survey = Once(self._survey)
        self.slack_state = Once(self._slack_state)

    def configuration(self) -> Configuration:
        """The configuration in force, an empty one where there is none."""
        return self.desk().configuration() or Configuration()

    def owned(self) -> tuple[OwnedQueue, ...]:
        with self.desk().database.reading() as session:
            return tuple(one for one in queues.owned_queues(session) if not one.retired)

    def slack(self) -> Slack | None:
        token = self.settings.slack_bot_token.get_secret_value()
        return Slack(web_client(token, self.settings.slack_api)) if token else None

    def _condition(self) -> Condition:
        return condition(self.settings.database.get_secret_value())

    def _desk(self) -> Desk:
        """A desk at which nobody is answered; only on a database that needs no migration."""
        try:
            found = self.condition()
            if found.revision is None or found.revision != found.newest:
                raise Unknown("The database cannot be read: see what is said of it.")
            database = open_database(self.settings.database.get_secret_value())
        except StorageError as error:
            raise Unknown("The database cannot be read: see what is said of it.") from error
        return _desk(self.settings, database)

    def _survey(self) -> Survey:
        try:
            return Surveyor(doors(self.settings), self.desk().database, now).look()
        except ClearMLError as error:
            raise Unknown("ClearML could not be asked: see what is said of it.") from error

    def _slack_state(self) -> SlackState:
        try:
            configuration = self.configuration()
        except Unknown:
            configuration = Configuration()
        return slack_state(self.slack(), configuration, self.settings.admin_channel)


def _desk(settings: Settings, database: Database) -> Desk:
    token = settings.slack_bot_token.get_secret_value()
    slack = Slack(web_client(token, settings.slack_api)) if token else None
    admins = Admins(group=settings.admin_group, users=settings.admin_users)
    clock = clock_on(database)
    return Desk(
        database=database,
        viewer=Viewer(database),
        membership=Membership(slack.groups if slack else dict, clock, admins),
        settings=settings,
        clock=clock,
        nudge=lambda: None,
        deliver=lambda: None,
        reference=new_reference,
        slack=slack,
    )
