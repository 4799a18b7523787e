"""What `poolkeeper doctor` checks, in the order of its report; the README's table is this one."""

from collections.abc import Callable
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

import requests

from bot.access import Admins, Membership
from bot.blocks import counted
from bot.checkups import (
    Ailment,
    SlackState,
    Standing,
    agent_ailments,
    clock_ailments,
    cluster_ailments,
    database_ailments,
    megabytes,
    queue_ailments,
    round_ailments,
    rule_ailments,
    slack_ailments,
)
from bot.compose import clock_on, doors, kubernetes_doors, new_reference, now
from bot.desk import Desk, age
from bot.doctor_answers import alert_ailments, rules_of, slack_state, wanted_groups
from bot.doctoring import Check, Findings, Once, Unknown
from bot.manifest import BOT_SCOPES
from bot.settings import Settings
from bot.slack_door import Later, Slack, SlackError, web_client
from bot.starting import api_hint, setting_problems
from controller.cgpu_view import last_note, last_view
from controller.kubernetes_ports import PROBE_RULES, RESTART_RULES, RULES, KubernetesError
from controller.ports import ClearMLError
from controller.publishing import Viewer
from controller.survey import Survey, Surveyor
from domain.configuration import Configuration
from domain.ledger import OwnedQueue
from storage import alerts, outbox, queues, switch
from storage.database import Database, StorageError, open_database
from storage.inspecting import Condition, condition

_CLOCK_ANSWER_S: Final = 5.0
_KUBERNETES_REMEDY: Final = "See POOLKEEPER_KUBERNETES and POOLKEEPER_KUBECONFIG."


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


def _settings(patient: Patient) -> Findings:
    remedy = "Correct it and start again; the README's table of settings says what it may be."
    problems = setting_problems(patient.settings)
    return Findings(
        fact=f"{counted(len(patient.settings.model_fields_set), 'setting')} given; they fit one "
        "another",
        ailments=[Ailment(says=problem, remedy=remedy) for problem in problems],
    )


def _database(patient: Patient) -> Findings:
    try:
        found = patient.condition()
    except StorageError as error:
        remedy = "Correct POOLKEEPER_DATABASE, or what keeps it from being reached."
        return Findings(fact="", ailments=[Ailment(says=str(error), remedy=remedy)])
    room = "" if found.disk is None else f", {megabytes(found.disk)} left on its disk"
    free = f" ({megabytes(found.free)} of it free)" if found.free else ""
    return Findings(
        fact=f"{found.name}, revision {found.revision}, {megabytes(found.size)}{free}{room}; led "
        f"by {found.leader}",
        ailments=list(database_ailments(found)),
    )


def _clocks(patient: Patient) -> Findings:
    """Each that can be asked; one that does not say is told apart."""
    settings = patient.settings
    asked: list[tuple[str, Callable[[], float | None]]] = []
    if settings.clearml_host:
        verify = settings.clearml_bundle
        asked.append(("ClearML's server", lambda: _by_http(settings.clearml_host, verify)))
    if settings.has_slack:
        asked.append(("Slack", lambda: _by_http(f"{settings.slack_api}api.test", True)))
    if settings.has_kubernetes:
        asked.append(("Kubernetes", lambda: _kubernetes_ahead(settings)))
    asked.append(("the database server", lambda: _database_ahead(patient)))
    ahead: dict[str, float] = {}
    unknown = []
    for whose, ask in asked:
        try:
            seconds = ask()
        except (requests.RequestException, KubernetesError, StorageError, Unknown) as error:
            unknown.append(_no_clock(whose, error))
        else:
            ahead |= {} if seconds is None else {whose: seconds}
    said = ", ".join(f"{whose} {seconds:+.0f} s" for whose, seconds in ahead.items())
    return Findings(
        fact=f"against this machine's: {said}" if said else "no other one to compare with",
        ailments=[*clock_ailments(ahead), *unknown],
    )


def _no_clock(whose: str, error: Exception) -> Ailment:
    kind = type(error).__name__ if isinstance(error, requests.RequestException) else error
    return Ailment(
        says=f"unknown: What time it is for {whose} was not said ({kind}).",
        remedy="See what is said of it elsewhere here.",
        standing=Standing.WARN,
    )


def _by_http(url: str, verify: bool | str) -> float | None:
    """By the Date of any answer, whatever it says; it has no parts of a second."""
    began = now()
    answer = requests.get(url, timeout=_CLOCK_ANSWER_S, verify=verify, allow_redirects=False)
    ended = now()
    date = answer.headers.get("Date")
    if date is None:
        raise Unknown("its answer has no Date")
    half = timedelta(seconds=0.5)
    return _ahead(parsedate_to_datetime(date) + half, began, ended)


def _kubernetes_ahead(settings: Settings) -> float | None:
    door = kubernetes_doors(settings)
    assert door is not None
    began, cluster = now(), door()
    cluster.missing(RULES[:1])
    said = cluster.server_time()
    if said is None:
        raise Unknown("its answer has no Date")
    return _ahead(said + timedelta(seconds=0.5), began, now())


def _database_ahead(patient: Patient) -> float | None:
    began = now()
    said = condition(patient.settings.database.get_secret_value()).server_time
    return None if said is None else _ahead(said, began, now())


def _ahead(said: datetime, began: datetime, ended: datetime) -> float:
    """By how many seconds it is ahead, at least; it was said between the two instants."""
    if began <= said <= ended:
        return 0.0
    return (said - (ended if said > ended else began)).total_seconds()


def _clearml(patient: Patient) -> Findings:
    try:
        version = doors(patient.settings)().server_version()
    except ClearMLError as error:
        hint = api_hint(patient.settings.clearml_host)
        remedy = hint or (
            "Check that its API server is up, CLEARML_API_HOST, and the access and secret key."
        )
        return Findings(fact="", ailments=[Ailment(says=str(error), remedy=remedy)])
    return Findings(fact=f"server {version} lets Poolkeeper in")


def _queues(patient: Patient) -> Findings:
    owned = patient.owned()
    if not owned:
        if patient.configuration().policies:
            remedy = "Start `poolkeeper run`: the next round that reaches ClearML makes them."
            says = "The configuration in force has no queues in ClearML yet."
            return _only(Ailment(says=says, remedy=remedy, standing=Standing.WARN))
        return Findings(fact="no configuration is in force, so there are none")
    ailments = tuple(queue_ailments(owned, patient.survey()))
    return Findings(
        fact=f"{counted(len(owned), 'queue')} there, with our metadata", ailments=ailments
    )


def _agents(patient: Patient) -> Findings:
    owned = patient.owned()
    if not owned:
        return Findings(fact="no queues, so none are needed")
    ailments = tuple(agent_ailments(patient.configuration(), owned, patient.survey()))
    return Findings(fact="every execution queue is served", ailments=ailments)


def _rounds(patient: Patient) -> Findings:
    desk = patient.desk()
    view, clock = desk.view(), desk.clock()
    with desk.database.reading() as session:
        enabled = switch.is_enabled(session)
    off = Ailment(
        says="Management is disabled: nothing is dispatched.",
        remedy="`poolkeeper enable`, when it is to go on.",
        standing=Standing.WARN,
    )
    seen = "never" if view is None else age(view.at, clock)
    return Findings(
        fact=f"the last one ended {seen}",
        ailments=[
            *round_ailments(None if view is None else clock - view.at, rules_of(desk)),
            *([] if enabled else [off]),
        ],
    )


def _alerts(patient: Patient) -> Findings:
    desk = patient.desk()
    with desk.database.reading() as session:
        raised = alerts.raised(session)
        waiting = outbox.heads(session, desk.clock())
    late = [one for one in waiting if one.attempts > 2]
    unsent = Ailment(
        says=f"Messages to {counted(len(late), 'channel')} could not be sent in several attempts.",
        remedy="See what is said of Slack, and the log of `poolkeeper run`.",
        standing=Standing.WARN,
    )
    return Findings(
        fact=f"none is raised; {counted(len(waiting), 'channel')} with unsent messages",
        ailments=[*alert_ailments(one.text for one in raised), *([unsent] if late else [])],
    )


_NO_SLACK: Final = Findings(fact="not set up: the controller runs without the bot")


def _slack(patient: Patient) -> Findings:
    """The tokens, and what the app may do."""
    slack, settings = patient.slack(), patient.settings
    if slack is None:
        return _NO_SLACK
    state = patient.slack_state()
    found = list(slack_ailments(SlackState(error=state.error, scopes=state.scopes), {}))
    if app_token := settings.slack_app_token.get_secret_value():
        try:
            slack.may_connect(app_token)
        except Later as error:
            found.append(_unknown_token(error))
        except SlackError as error:
            remedy = "Generate one with the scope `connections:write`, as the README says."
            found.append(
                Ailment(says=f"Slack refuses SLACK_APP_TOKEN: {error.code}.", remedy=remedy)
            )
    how = "Socket Mode" if app_token else "HTTP"
    return Findings(
        fact=f"{how}; {counted(len(state.scopes), 'scope')}, all that are needed", ailments=found
    )


def _unknown_token(error: Later) -> Ailment:
    return Ailment(
        says=f"unknown: Slack did not say now whether SLACK_APP_TOKEN is right ({error.code}).",
        remedy="Try again in a minute.",
        standing=Standing.WARN,
    )


def _people(patient: Patient) -> Findings:
    """Admins, user groups and channels."""
    if patient.slack() is None:
        return _NO_SLACK
    desk, state = patient.desk(), patient.slack_state()
    if state.error:
        raise Unknown("Slack could not be asked: see what is said of it.")
    groups = wanted_groups(desk.settings.admin_group, patient.configuration())
    every = frozenset(state.scopes) | {scope.name for scope in BOT_SCOPES}
    found = SlackState(
        scopes=every,
        groups=state.groups,
        groups_error=state.groups_error,
        channels=state.channels,
    )
    rules = rules_of(desk)
    return Findings(
        fact=f"{counted(len(rules.admins or ()), 'admin')}, {counted(len(groups), 'user group')}, "
        f"{counted(len(state.channels), 'channel')} with me in them",
        ailments=[*rule_ailments(rules), *slack_ailments(found, groups)],
    )


def _kubernetes(patient: Patient) -> Findings:
    settings = patient.settings
    door = kubernetes_doors(settings)
    if door is None:
        return Findings(fact="not set up")
    rules = [*RULES]
    rules += RESTART_RULES if settings.cgpu_restarts else ()
    rules += PROBE_RULES if settings.cgpu_probe == "exec" else ()
    try:
        missing = door().missing(rules)
    except KubernetesError as error:
        return _only(Ailment(says=str(error), remedy=_KUBERNETES_REMEDY))
    remedy = "Give it the role in deploy/manifests/cgpu-role.yaml."
    return Findings(
        fact=f"all {len(rules)} rules are granted",
        ailments=[
            Ailment(says=f"Poolkeeper's role in Kubernetes lacks: {rule}.", remedy=remedy)
            for rule in missing
        ],
    )


def _pools(patient: Patient) -> Findings:
    settings = patient.settings
    if not settings.has_kubernetes:
        return Findings(fact="not compared with nodes: Kubernetes is not set up")
    desk = patient.desk()
    with desk.database.reading() as session:
        note, view = last_note(session), last_view(session)
    looked = desk.clock() - note.looked_at if note.looks else None
    found = list(cluster_ailments(note.away, looked, settings.cgpu_seconds))
    remedy = "Change the pool's `resources`, or mend the nodes that are missing."
    found += [
        Ailment(says=sentence, remedy=remedy, standing=Standing.WARN)
        for sentence in (view.size_notes if view else ())
    ]
    compared = len(view.pools) if view else 0
    return Findings(fact=f"{counted(compared, 'pool')} as large as the nodes", ailments=found)


def _only(*ailments: Ailment) -> Findings:
    return Findings(fact="", ailments=ailments)


CHECKS: Final[tuple[Check[Patient], ...]] = (
    Check(
        name="settings",
        looks_at="whether every setting can be used, and they fit one another",
        make=_settings,
    ),
    Check(
        name="database",
        looks_at="whether it is reached, its revision, who leads, its size and its disk's room",
        make=_database,
    ),
    Check(
        name="clearml",
        looks_at="whether its API server lets Poolkeeper in, and is new enough",
        make=_clearml,
    ),
    Check(
        name="queues",
        looks_at="whether ours are there with our metadata, and no agent serves an intake queue",
        make=_queues,
    ),
    Check(
        name="agents",
        looks_at="whether every execution queue is served by one",
        make=_agents,
    ),
    Check(
        name="rounds",
        looks_at="when the last one ended, and whether management is enabled",
        make=_rounds,
    ),
    Check(
        name="alerts",
        looks_at="which are raised, and which messages cannot be sent",
        make=_alerts,
    ),
    Check(
        name="slack",
        looks_at="whether its tokens are taken, and which scopes the app lacks",
        make=_slack,
    ),
    Check(
        name="people",
        looks_at="whether there are admins enough, user groups, and the bot in its channels",
        make=_people,
    ),
    Check(
        name="kubernetes",
        looks_at="whether the role allows everything that the cGPU policy needs",
        make=_kubernetes,
    ),
    Check(
        name="pools",
        looks_at="whether they are as large as the nodes that they name",
        make=_pools,
    ),
    Check(
        name="clocks",
        looks_at="how far those of ClearML, Slack, Kubernetes and the database server are off",
        make=_clocks,
    ),
)
