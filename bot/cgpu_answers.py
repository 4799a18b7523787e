"""`cgpu`: status, set, restart, withdraw, pause, resume. Each checks, changes, commits, answers.

Handlers never call Kubernetes: they read the last published look, and write words that the
reconciler acts on.
"""

from dataclasses import replace
from typing import Final

from bot import cgpu_telling
from bot.access import Actor
from bot.blocks import Reply, button, buttons, name, page_in, section
from bot.cgpu_lines import in_order, next_line
from bot.cgpu_messages import (
    by_hand,
    not_seen,
    restart_question,
    said,
    set_question,
    status_reply,
    which_policy,
    wished,
)
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.naming import Unclear, ask_which, command, resolve
from bot.request_answers import ask_for, invalid, new_request, overtaken
from controller.cgpu_view import View, last_note, last_view
from domain.cgpu import described, read_policy
from domain.cgpu_drift_kinds import DriftKind
from domain.cgpu_nodes import NodeStatus
from domain.configuration import CGPU, Configuration
from domain.requests import RequestKind
from storage import cgpu, configurations

_NOW: Final = "now"
_REWRITTEN: Final = frozenset({DriftKind.SETTING, DriftKind.IMAGE, DriftKind.SELECTOR})
"""What resume puts right, or accepts."""


def status(desk: Desk, _: Actor, asked: Command) -> Reply:
    """The table of nodes, and what comes next."""
    number = page_in(asked.words)[1]
    view = _view(desk)
    return view if isinstance(view, Reply) else status_reply(view, desk.clock(), number)


def _view(desk: Desk) -> View | Reply:
    with desk.database.reading() as session:
        view, note = last_view(session), last_note(session)
    return view if view is not None else not_seen(note)


def set_policy(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """What a policy would mean; with `now`, asks that it be provisioned."""
    policy = read_policy(asked.words[0])
    if policy is None:
        return which_policy(asked.words[0])
    view = _view(desk)
    if isinstance(view, Reply):
        return view
    if view.desired == policy:
        text = f"cGPU {described(policy)} is provisioned already; nothing was asked for."
        return Reply(text=text, blocks=(section(text), buttons(button("Status", "cgpu status"))))
    if asked.words[1:2] != (_NOW,):
        return set_question(view, policy)
    with desk.database.reading() as session:
        version = configurations.provisioned(session)
    number = version.number if version else 0
    now = version.configuration if version else Configuration()
    wanted = replace(now, cgpu=CGPU(policy=policy))
    refused = invalid(desk, wanted, f"The configuration with {described(policy)}")
    if refused is not None:
        return refused
    new = new_request(desk, actor, RequestKind.CGPU, wanted)
    if new.base != number:
        return overtaken(new.base)
    return ask_for(desk, replace(new, subject=str(policy), reason=" ".join(asked.words[2:])))


def restart(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """What preparing a node means; with `now`, the wish that it be done."""
    found = _node(desk, asked, "restart")
    if isinstance(found, Reply):
        return found
    if not desk.settings.cgpu_restarts:
        return by_hand(found[1])
    view, node = found
    wish = next((one for one in view.restarts if one.node == node.node), None)
    channel = desk.settings.admin_channel
    if wish is not None and not (wish.failed or wish.withdrawn):
        return wished(view, node.node, new=False, channel=channel)
    if asked.words[1:2] != (_NOW,):
        return restart_question(view, node)
    with desk.database.transaction() as session:
        new = cgpu.wish_restart(session, node.node, actor.user, desk.clock())
        if new:
            desk.record(session, actor.user, "cgpu restart", node.node, "wants it restarted")
    cgpu_telling.tell(desk)
    return wished(view, node.node, new=new, channel=channel)


def withdraw(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """A node's restart is not wanted any more."""
    found = _node(desk, asked, "withdraw")
    if isinstance(found, Reply):
        return found
    node = found[1].node
    with desk.database.transaction() as session:
        done = cgpu.withdraw_restart(session, node, actor.user, desk.clock())
        if done:
            desk.record(session, actor.user, "cgpu restart", node, "withdrew its restart")
    if not done:
        return Reply(text=f"Nobody wants {name(node)} restarted; nothing was done.")
    return Reply(
        text=f"The restart of {name(node)} is withdrawn. If it has not restarted yet, it is given "
        "back as it was; otherwise it is verified first."
    )


def _node(desk: Desk, asked: Command, verb: str) -> tuple[View, NodeStatus] | Reply:
    """The node that is named, of those that share cards."""
    view = _view(desk)
    if isinstance(view, Reply):
        return view
    if view.desired is None:
        return Reply(text="cGPU is not managed: `/pool cgpu set N` asks for a policy first.")
    nodes = {one.node: one for one in in_order(view.nodes)}
    node = resolve(asked.words[0], nodes)
    if isinstance(node, Unclear):
        return ask_which("cGPU node", node, lambda one: command("cgpu", verb, one))
    return view, nodes[node]


def pause(desk: Desk, actor: Actor, _: Command) -> Reply:
    """Nothing is done about cGPU until it is resumed."""
    with desk.database.transaction() as session:
        done = cgpu.pause(session, actor.user, desk.clock())
        if done:
            desk.record(session, actor.user, "cgpu pause", "cgpu", "paused")
    resume_ = buttons(button("Resume", "cgpu resume"))
    text = (
        "Paused: nothing is done about cGPU until somebody resumes it. It is looked at as before."
    )
    text = text if done else "It is paused already."
    return Reply(text=text, blocks=(section(text), resume_))


def resume(desk: Desk, actor: Actor, _: Command) -> Reply:
    """Go on after a pause or a stop, or write again what somebody has changed."""
    view = _view(desk)
    if isinstance(view, Reply):
        return view
    off = any(one.kind in _REWRITTEN for one in view.drifts)
    stopped = view.change is not None and view.change.is_open and bool(view.change.stopped)
    if not (view.control.paused or stopped or off):
        return Reply(text=f"Nothing is paused or stopped. {said(view, next_line(view))}")
    with desk.database.transaction() as session:
        cgpu.resume(session, actor.user, desk.clock(), again=off)
        desk.record(session, actor.user, "cgpu resume", "cgpu", "resumed")
    writes = f" POLICY is set to {view.desired} again where it is not." if stopped or off else ""
    return Reply(text=f"Resumed: the cluster is looked at again at once.{writes}")


VERBS = (
    Verb(
        words=("cgpu", "status"),
        role=Role.ADMIN,
        help="shows the cGPU policy, how every node stands to it, and what comes next.",
        takes=(0, 2),
        example="cgpu status",
        answer=status,
    ),
    Verb(
        words=("cgpu", "set"),
        role=Role.ADMIN,
        help="shows what a cGPU policy (0 to 5) would mean, and asks for it.",
        usage="N",
        takes=(1, None),
        answer=set_policy,
    ),
    Verb(
        words=("cgpu", "restart"),
        role=Role.ADMIN,
        help="prepares a node for the restart that gives it the cGPU policy.",
        usage="NODE",
        takes=(1, 2),
        answer=restart,
    ),
    Verb(
        words=("cgpu", "withdraw"),
        role=Role.ADMIN,
        help="takes back the wish that a node be restarted.",
        usage="NODE",
        takes=(1, 1),
        answer=withdraw,
    ),
    Verb(
        words=("cgpu", "pause"),
        role=Role.ADMIN,
        help="stops all that is done about cGPU; it is looked at as before.",
        answer=pause,
    ),
    Verb(
        words=("cgpu", "resume"),
        role=Role.ADMIN,
        help="goes on after a pause or a stop, and sets again what somebody else has changed.",
        answer=resume,
    ),
)
