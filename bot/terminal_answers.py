"""`poolkeeper agents`, `cgpu status` and `doctor`: the same answers as in Slack, for a terminal."""

import html
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from bot.access import Admins, Membership
from bot.agent_answers import hints, served_by, snippets
from bot.agent_requests import shared_cards
from bot.cgpu_lines import report
from bot.checkups import Ailment
from bot.compose import clock_on, doors, kubernetes_doors, new_reference
from bot.desk import Desk
from bot.doctor_answers import Findings, examine
from bot.naming import Unclear, resolve
from bot.operating import opened, settings
from bot.refusing import Refusal
from bot.settings import Settings
from bot.slack_door import Slack, web_client
from controller.cgpu_view import last_note, last_view
from controller.kubernetes_ports import PROBE_RULES, RESTART_RULES, RULES, KubernetesError
from controller.publishing import Viewer
from controller.survey import Surveyor
from domain.configuration import Configuration
from storage import configurations, queues
from storage.database import Database


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


def doctor() -> None:
    """Looks everything over, ClearML included; `Refusal` where something is wrong."""
    chosen = settings()
    with opened(chosen) as database:
        clock = clock_on(database)
        if chosen.clearml_host:
            Surveyor(doors(chosen), database, clock).run()
        found = examine(_desk(chosen, database, clock))
    found = replace(found, ailments=(*found.ailments, *_role_ailments(chosen)))
    _print(found)
    if found.ailments:
        raise Refusal([f"{len(found.ailments)} found; the remedies are said beside them."], code=1)


def _role_ailments(chosen: Settings) -> Iterator[Ailment]:
    """What Poolkeeper's role in Kubernetes lacks; only the terminal asks there."""
    door = kubernetes_doors(chosen)
    if door is None:
        return
    rules = [*RULES]
    rules += RESTART_RULES if chosen.cgpu_restarts else ()
    rules += PROBE_RULES if chosen.cgpu_probe == "exec" else ()
    remedy = "Give it the role in deploy/manifests/cgpu-role.yaml."
    try:
        for rule in door().missing(rules):
            yield Ailment(says=f"Poolkeeper's role in Kubernetes lacks: {rule}.", remedy=remedy)
    except KubernetesError as error:
        yield Ailment(
            says=str(error), remedy="See POOLKEEPER_KUBERNETES and POOLKEEPER_KUBECONFIG."
        )


def _print(found: Findings) -> None:
    lines: Iterable[str] = (f"{one.says}\n  {one.remedy}" for one in found.ailments)
    for number, line in enumerate(lines, 1):
        print(f"{number}. {html.unescape(line)}")
    print(f"Looked at: {html.unescape('; '.join(found.facts))}.")


def _desk(chosen: Settings, database: Database, clock: Callable[[], datetime]) -> Desk:
    """A desk at which nobody is answered."""
    token = chosen.slack_bot_token.get_secret_value()
    slack = Slack(web_client(token, chosen.slack_api)) if token else None
    admins = Admins(group=chosen.admin_group, users=chosen.admin_users)
    return Desk(
        database=database,
        viewer=Viewer(database),
        membership=Membership(slack.groups if slack else dict, clock, admins),
        settings=chosen,
        clock=clock,
        nudge=lambda: None,
        deliver=lambda: None,
        reference=new_reference,
        slack=slack,
    )
