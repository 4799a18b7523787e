"""What `poolkeeper doctor` checks, in the order of its report; the README's table is this one."""

from typing import Final

from bot.blocks import counted
from bot.checkups import (
    Ailment,
    SlackState,
    Standing,
    cluster_ailments,
    round_ailments,
    rule_ailments,
    slack_ailments,
)
from bot.checkups_servers import agent_ailments, database_ailments, megabytes, queue_ailments
from bot.compose import doors, kubernetes_doors
from bot.desk import age
from bot.doctor_answers import alert_ailments, rules_of, wanted_groups
from bot.doctor_clocks import clocks
from bot.doctor_patient import Patient
from bot.doctoring import Check, Findings, Unknown
from bot.manifest import BOT_SCOPES
from bot.slack_door import Later, SlackError
from bot.starting import api_hint, setting_problems
from controller.cgpu_view import last_note, last_view
from controller.kubernetes_ports import PROBE_RULES, RESTART_RULES, RULES, KubernetesError
from controller.ports import ClearMLError
from storage import alerts, outbox, switch
from storage.database import StorageError

_KUBERNETES_REMEDY: Final = "See POOLKEEPER_KUBERNETES and POOLKEEPER_KUBECONFIG."


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
        f"I am in {counted(len(state.channels), 'channel')}",
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
        make=clocks,
    ),
)
