"""The cards of cGPU: one for each change, one for each restart, edited in place. Pure.

They show moments and no ages, so that they change only when something did.
"""

from collections.abc import Iterator

from bot.blocks import Block, Post, bullets, button, buttons, confirm, escape, name, section
from bot.blocks import sections as in_sections
from bot.cgpu_lines import (
    change_line,
    drift_line,
    installer_line,
    moment,
    next_line,
    refusal_lines,
    spread,
    states_line,
)
from bot.cgpu_messages import code, restart_buttons, said
from bot.naming import command
from controller.cgpu_view import View
from domain.cgpu import described
from domain.cgpu_cluster import Node
from domain.cgpu_memory import Change, Restart
from domain.cgpu_nodes import NodeState, NodeStatus, how_to_restart

_LINE = 600


def change_card(view: View, change: Change, channel: str) -> Post:
    """How the change of the policy stands; what it was, once it is over."""
    title = f"cGPU {described(change.policy)}"
    lines = [change_line(view)]
    blocks: list[Block] = []
    if change.is_open:
        lines += [next_line(view), *refusal_lines(view)]
        lines += [installer_line(one) for one in view.situation.cluster.installers]
        lines += [states_line(view.nodes), spread(view)] if view.nodes else []
        if alarming := [drift_line(one) for one in view.drifts if one.alarms]:
            blocks.append(bullets(alarming, "What differs", _LINE))
        stopped = [button("Resume", "cgpu resume")] if change.stopped else []
        row = [*restart_buttons(view), *stopped, button("Status", "cgpu status")]
        blocks.append(buttons(*row))
    head = section(f"*{escape(title)} on all nodes*")
    shown = in_sections(said(view, line) for line in lines)
    step = "" if not change.is_open else f" {said(view, next_line(view))}"
    text = f"{escape(title)}: {said(view, change_line(view))}{step}"
    return Post(channel=channel, text=text, blocks=(head, *shown, *blocks))


def restart_card(view: View, restart: Restart, channel: str) -> Post:
    """How far the restart of one node is, and what its admin is to do now."""
    status = next((one for one in view.nodes if one.node == restart.node), None)
    node = next((one for one in view.situation.cluster.nodes if one.name == restart.node), None)
    state = str(status.state) if status else "not seen"
    reason = said(view, status.reason) if status else "it was not seen at the last look"
    by = said(view, restart.by)
    blocks: list[Block] = [
        section(f"*Restart of {name(restart.node)}: {state}*"),
        section(f"Asked for by {by} at {moment(restart.at)}."),
        *in_sections(f"• {said(view, line)}" for line in _steps(view, restart, status)),
    ]
    text = f"Restart of {name(restart.node)}, asked for by {by}: {state}; {reason}."
    if status is not None and status.state is NodeState.AWAITS_RESTART and node is not None:
        blocks.append(section(f"*To do now*, by you: {_what_to_do(node)}"))
    elif status is not None and status.state is NodeState.FAILED:
        blocks.append(section(f"*It failed*, and is left as it is: {reason}."))
    blocks.append(buttons(*_restart_controls(restart)))
    return Post(channel=channel, text=text, blocks=tuple(blocks))


def _what_to_do(node: Node) -> str:
    lead, colon, line = how_to_restart(node).partition(": ")
    return f"{lead}\n{code(line)}" if colon else f"{escape(lead)}."


def _steps(view: View, restart: Restart, status: NodeStatus | None) -> Iterator[str]:
    """The three steps, each with how far it is in words."""
    state = status.state if status else None
    drained = restart.drained_at is not None or restart.back_at is not None
    yield f"Cordon it and evict its pods: {_done(drained, state is NodeState.DRAINING)}."
    if state in (NodeState.WISHED, NodeState.DRAINING):
        yield next_line(view)
        yield from refusal_lines(view)
    back = restart.back_at is not None
    yield f"Restart the machine, by an admin: {_done(back, state is NodeState.AWAITS_RESTART)}."
    yield f"Verify it and give it back: {_done(False, state is NodeState.VERIFYING)}."


def _done(done: bool, now: bool) -> str:
    return "done" if done else "now" if now else "to come"


def _restart_controls(restart: Restart) -> Iterator[Block]:
    if restart.failed:
        yield button("Try again…", command("cgpu", "restart", restart.node))
    if not restart.withdrawn:
        sure = confirm(
            f"Withdraw the restart of {restart.node}?",
            "The node is given back as it was, unless it has restarted already.",
            "Withdraw it",
        )
        yield button("Withdraw", command("cgpu", "withdraw", restart.node), confirm=sure)
    yield button("Status", "cgpu status")


def ended_card(restart: Restart, how: str, by: str, channel: str) -> Post:
    """A restart that is over, and how it ended; `how` and `by` are markup."""
    title = f"Restart of {name(restart.node)}: over"
    blocks = (
        section(f"*{title}*"),
        section(f"Asked for by {by} at {moment(restart.at)}. {how}"),
    )
    return Post(channel=channel, text=f"{title}. {how}", blocks=blocks)
