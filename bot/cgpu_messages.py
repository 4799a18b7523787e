"""What Slack shows of cGPU: the status, the questions before a deed, the cards. Pure."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from bot.blocks import (
    Block,
    Reply,
    bullets,
    button,
    buttons,
    confirm,
    context,
    counted,
    escape,
    name,
    page_of,
    plain,
    section,
    sections,
    turn,
    user,
)
from bot.cgpu_lines import (
    WORTH_A_RESTART,
    change_line,
    drift_line,
    headline,
    impact_lines,
    in_order,
    installer_line,
    next_line,
    node_facts,
    policies_lines,
    refusal_lines,
    seen_line,
    spread,
    states_line,
    unmanaged_lines,
)
from bot.naming import command
from controller.cgpu_view import Note, View
from domain.cgpu import described
from domain.cgpu_cluster import Pod
from domain.cgpu_nodes import FINE, NodeStatus
from domain.names import listing

_A_PAGE: Final = 8
_BUTTONS: Final = 3
_LINE: Final = 600


def said(view: View, text: str) -> str:
    """A line in a message's markup: nothing in it is followed but the people it speaks of."""
    people = {view.control.by, *(one.by for one in view.restarts)}
    if view.change is not None:
        people.add(view.change.by)
    shown = escape(plain(text, _LINE))
    for person in sorted(people - {""}, key=len, reverse=True):
        shown = shown.replace(escape(plain(person)), user(person))
    return shown


def not_seen(note: Note) -> Reply:
    """Nothing is known of the cluster yet."""
    why = f" {escape(plain(note.away, _LINE))}" if note.away else ""
    text = f"The Kubernetes cluster was not looked at yet; `poolkeeper run` does that.{why}"
    return Reply(text=text, blocks=(section(text),))


def by_hand(node: NodeStatus) -> Reply:
    """How an admin restarts a node where Poolkeeper may not prepare it."""
    text = (
        f"I may prepare no nodes here (POOLKEEPER_CGPU_RESTARTS is false). Cordon and drain "
        f"{name(node.node)}, restart its machine and uncordon it; that it restarted is recognised."
    )
    return Reply(text=text, blocks=(section(text), buttons(button("Status", "cgpu status"))))


def status_reply(view: View, now: datetime, number: int = 1) -> Reply:
    """`cgpu status`: what is wanted, what is, what comes next, and the table of nodes."""
    lead = headline(view)
    blocks: list[Block] = [section(f"*{escape(lead)}*")]
    if view.desired is None:
        blocks += sections(said(view, line) for line in unmanaged_lines(view))
        blocks.append(section("`/pool cgpu set N` asks for a policy:"))
        blocks.append(bullets(policies_lines()))
    else:
        blocks += sections(said(view, line) for line in _summary(view))
        blocks += _nodes(view, number)
        blocks += _differences(view)
        blocks.append(buttons(*_controls(view)))
    blocks.append(context(said(view, seen_line(view.note, now))))
    away = f" {said(view, seen_line(view.note, now))}" if view.note.away else ""
    return Reply(text=f"{escape(lead)}{away}", blocks=tuple(blocks), share=True)


def _summary(view: View) -> list[str]:
    lines = [f"Paused by {view.control.by}: nothing is done."] if view.control.paused else []
    lines += [change_line(view), next_line(view), *refusal_lines(view)]
    lines += [installer_line(one) for one in view.situation.cluster.installers]
    if view.installed:
        lines += [states_line(view.nodes), spread(view)]
    return [line for line in lines if line]


def _nodes(view: View, number: int) -> list[Block]:
    if not view.installed:
        return []
    page = page_of(in_order(view.nodes), number, _A_PAGE)
    lines = [f"{node_line(view, node)}\n{said(view, node_facts(node))}" for node in page.items]
    return [*sections(lines), *page.footer("cgpu status")]


def node_line(view: View, node: NodeStatus) -> str:
    """A node's name and state, and why it is not fine."""
    reason = "" if node.state in FINE else f": {said(view, node.reason)}"
    return f"{name(node.node)}  *{node.state}*{reason}"


def _differences(view: View) -> list[Block]:
    blocks = []
    if view.drifts:
        blocks.append(bullets(map(drift_line, view.drifts), "What differs", _LINE))
    if not view.installed:
        blocks.append(section(f"Install it with these Helm values:\n{code(view.values)}"))
    return blocks


def code(text: str) -> str:
    """A block that is read as it stands."""
    return f"```{escape(text.replace('`', 'ˋ'))}```"


def _controls(view: View) -> list[Block]:
    row = restart_buttons(view)
    if view.control.paused or (view.change is not None and view.change.stopped):
        row.append(button("Resume", "cgpu resume"))
    if not view.control.paused:
        row.append(button("Pause", "cgpu pause"))
    return [*row, turn("Again", "cgpu status")]


def restart_buttons(view: View) -> list[Block]:
    """A button for each of the first nodes that need a restart and have nobody's wish."""
    wished = {one.node for one in view.restarts}
    needing = [
        one.node
        for one in in_order(view.nodes)
        if one.state in WORTH_A_RESTART and one.node not in wished
    ]
    return [
        button(f"Restart {one}…", command("cgpu", "restart", one)) for one in needing[:_BUTTONS]
    ]


def which_policy(said_: str = "") -> Reply:
    """There is no such policy; these there are."""
    lead = f"There is no cGPU policy {name(said_)}; say one of 0 to 5."
    return Reply(text=lead, blocks=(section(lead), bullets(policies_lines())))


def set_question(view: View, policy: int) -> Reply:
    """What a policy would mean, and a button that asks for it."""
    lead = f"This is what cGPU {described(policy)} would mean."
    if not view.installed:
        lead += " cGPU is not installed yet."
    sure = confirm(
        f"Ask for policy {policy}?",
        "Another admin approves it. Then the installers are set to it; nodes get it by restarts "
        "that you ask for one by one.",
        "Ask for it",
    )
    ask = button(f"Ask for policy {policy}", f"cgpu set {policy} now", confirm=sure)
    blocks = (
        section(f"*{lead}*"),
        bullets(impact_lines(view.impact(policy)), most=_LINE),
        section(f"Keep in the values of its Helm release:\n{code(view.impact(policy).values)}"),
        buttons(ask),
    )
    return Reply(text=f"{lead} Nothing was asked for yet.", blocks=blocks)


def restart_question(view: View, node: NodeStatus) -> Reply:
    """What preparing a node means, and a button that begins it."""
    leaving = view.leaving(node.node)
    lead = f"{name(node.node)}: *{node.state}*; {said(view, node.reason)}."
    lines = list(_means(view, node, leaving))
    sure = confirm(
        f"Prepare {node.node} for its restart?",
        f"It is cordoned, and {counted(len(leaving), 'pod')} on it evicted. You restart the "
        "machine yourself when I say so.",
        "Prepare it",
    )
    go = button(f"Prepare {node.node}", command("cgpu", "restart", node.node, "now"),
                style="danger", confirm=sure)  # fmt: skip
    blocks = (section(lead), bullets(lines, most=_LINE), buttons(go))
    return Reply(text=f"{lead} Nothing was done yet.", blocks=blocks)


def _means(view: View, node: NodeStatus, leaving: Sequence[Pod]) -> Iterable[str]:
    if node.state in FINE:
        yield "It has the policy already: no restart is needed for it."
    yield f"Pods that are evicted: {listing(one.title for one in leaving) or 'none'}."
    if bare := [one.title for one in leaving if one.bare]:
        yield f"Nothing makes these again: {listing(bare)}."
    if node.cordoned:
        yield "Somebody has cordoned it already, and it stays cordoned afterwards."
    in_hand = view.situation.memory.in_hand
    if in_hand is not None and in_hand.node != node.node:
        yield f"{in_hand.node} is in hand now; this one waits until that is done."
    if view.control.paused:
        yield "cGPU is paused; nothing begins before it is resumed."


def wished(view: View, node: str, *, new: bool, channel: str) -> Reply:
    """The wish is kept, or was before."""
    if not new:
        state = next((one.state for one in view.nodes if one.node == node), "unknown")
        text = f"The restart of {name(node)} was asked for already. Its state: *{state}*."
        withdraw = button("Withdraw it", command("cgpu", "withdraw", node))
        return Reply(text=text, blocks=(section(text), buttons(withdraw)))
    where = f" in <#{channel}>" if channel else ""
    text = f"{name(node)} is being prepared; I say{where} what to do and when."
    if view.control.paused:
        text = f"The restart of {name(node)} is noted; it begins when cGPU is resumed."
    return Reply(text=text)
