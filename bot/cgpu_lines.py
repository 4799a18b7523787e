"""What is said of cGPU, in Slack and in the terminal: whole sentences of plain text. Pure.

They hold what others have named, and people by their id; whoever shows them in Slack escapes them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from bot.blocks import counted
from bot.desk import age, span
from controller.cgpu_view import Note, View
from domain.cgpu import POLICIES, described
from domain.cgpu_cluster import Installer
from domain.cgpu_drift import helm_values
from domain.cgpu_drift_kinds import Drift
from domain.cgpu_impact import Impact
from domain.cgpu_memory import Outcome
from domain.cgpu_nodes import FINE, NodeState, NodeStatus
from domain.cgpu_steps import Pace, Rest
from domain.cgpu_versions import Unknown, image_version
from domain.names import listing

_NAMED: Final = 8

_PACES: Final = {
    Pace.DONE: "Nothing is to be done",
    Pace.CLUSTER: "Under way",
    Pace.ADMIN: "Waits for an admin",
    Pace.BLOCKED: "Nothing is done until this is put right",
}

_FIRST: Final = (
    *(NodeState.FAILED, NodeState.AWAITS_RESTART, NodeState.DRAINING, NodeState.VERIFYING),
    *(NodeState.DRIFTED, NodeState.MIXED, NodeState.WISHED, NodeState.RESTART_REQUIRED),
    *(NodeState.UNKNOWN, NodeState.NOT_READY, NodeState.NOT_LOADED, NodeState.WAITS_FOR_INSTALLER),
)

WORTH_A_RESTART: Final = frozenset(
    {NodeState.RESTART_REQUIRED, NodeState.MIXED, NodeState.DRIFTED, NodeState.UNKNOWN}
)
"""The states of nodes that a restart would put right."""


def headline(view: View) -> str:
    """Which policy is wanted, and how many nodes have it."""
    if view.desired is None:
        return "cGPU is not managed: the configuration names no policy."
    if not view.installed:
        return f"cGPU {described(view.desired)} is provisioned, but cGPU is not installed yet."
    fine = sum(one.state in FINE for one in view.nodes)
    have = "has" if fine == 1 else "have"
    nodes = counted(len(view.nodes), "node")
    return (
        f"cGPU {described(view.desired)} is provisioned; {fine} of {nodes} {have} it for certain."
    )


def seen_line(note: Note, now: datetime) -> str:
    """How old it all is, and why nothing newer is known."""
    if not note.away:
        return f"Seen {age(note.looked_at, now)}."
    since = f" for {span(now - note.since)}" if note.since else ""
    return (
        f"Kubernetes cannot be worked with{since}: {note.away} What is shown was seen "
        f"{age(note.looked_at, now)}."
    )


def seen_moment(note: Note) -> str:
    """The same for a message that stays: no ages."""
    away = f"Kubernetes cannot be worked with: {note.away} " if note.away else ""
    return f"{away}The cluster was seen at {moment(note.looked_at)}."


def spread(view: View) -> str:
    """How the policies are spread over the nodes: all sharing nodes are to have the same one."""
    loaded = Counter(one.loaded for one in view.nodes)
    policies = sorted(one for one in loaded if one is not None)
    known = [f"policy {one} on {loaded[one]}" for one in policies]
    unknown = [f"not known of {loaded[None]}"] if loaded[None] else []
    said = listing([*known, *unknown]) or "no node shares its cards by cGPU"
    return f"Loaded on the nodes now: {said}."


def change_line(view: View) -> str:
    """How the last change stands; "" before the first."""
    change = view.change
    if change is None:
        return ""
    begun = f"The change to policy {change.policy}, begun at {moment(change.started_at)}"
    by = f", asked for by {change.by} as version {change.version}" if change.version else ""
    if change.ended_at is None:
        return f"{begun}{by}, is {'stopped' if change.stopped else 'under way'}."
    ended = {
        Outcome.CONVERGED: "is done: every node has it, and that is proven",
        Outcome.UNPROVEN: (
            "is done: every installer has it and no node is known to have another, "
            "but not every node is proven to have it"
        ),
        Outcome.REPLACED: "was replaced by another before it was done",
        Outcome.UNMANAGED: "was given up, for cGPU is not managed any more",
    }[change.outcome or Outcome.UNPROVEN]
    return f"{begun}{by}, {ended} (since {moment(change.ended_at)})."


def next_line(view: View) -> str:
    """What is done next, or waited for."""
    step = view.step
    lead = _PACES[step.pace if isinstance(step, Rest) else Pace.CLUSTER]
    return f"{lead}: {step.says.removesuffix('.')}."


def refusal_lines(view: View) -> list[str]:
    """The disruption budgets that keep pods from leaving."""
    return [f"{one.removesuffix('.')}." for one in view.note.refusals]


def installer_line(installer: Installer) -> str:
    """What an installer installs, with which policy, and how far its pods are."""
    versions = (image_version(image) for image in installer.images)
    named = (f"cGPU {one}" for one in versions if not isinstance(one, Unknown))
    version = listing(named) or "a cGPU of unknown version"
    values = [
        one.value if one.value is not None else "from elsewhere" for one in installer.settings
    ]
    policy = f"POLICY {listing(values)}" if values else "no POLICY"
    pods = f"{installer.updated} of {installer.desired} pods are new"
    return f"{installer.title} installs {version} with {policy}; {pods}."


def in_order(nodes: Sequence[NodeStatus]) -> list[NodeStatus]:
    """Those first that somebody has to see to."""
    places = {state: place for place, state in enumerate(_FIRST)}
    return sorted(nodes, key=lambda one: (places.get(one.state, len(places)), one.node))


def states_line(nodes: Sequence[NodeStatus]) -> str:
    """How many nodes are in which state."""
    counts = Counter(one.state for one in in_order(nodes))
    return f"Nodes: {listing(f'{count} {state}' for state, count in counts.items())}."


def node_facts(node: NodeStatus) -> str:
    """What is known of a node, in one line."""
    cards = "cards unknown" if node.cards is None else counted(node.cards, "card")
    parts = [f"label {node.label}", f"{cards} {node.card}".rstrip()]
    parts.append(f"module {node.module}" if node.module else "module not read")
    parts.append("policy unknown" if node.loaded is None else f"policy {node.loaded}")
    parts.append(
        {None: "restart unknown", True: "restarted since", False: "not restarted since"}[
            node.restarted
        ]
    )
    if node.sharing_pods:
        parts.append(f"{counted(node.sharing_pods, 'pod')} on its cards")
    return ", ".join([*parts, *(["cordoned"] if node.cordoned else [])])


def table(nodes: Sequence[NodeStatus]) -> Iterator[str]:
    """The nodes in columns, for a terminal, with the reasons below."""
    head = ("node", "label", "cards", "module", "policy", "restarted", "state")
    rows = [
        (
            one.node, one.label, f"{'?' if one.cards is None else one.cards} {one.card}".strip(),
            one.module or "not read", "unknown" if one.loaded is None else str(one.loaded),
            {None: "unknown", True: "yes", False: "no"}[one.restarted], str(one.state),
        )
        for one in nodes
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    for one in nodes:
        if one.state not in FINE:
            yield f"{one.node}: {one.reason}."


def drift_line(drift: Drift) -> str:
    """A difference and what to do about it, on one line."""
    remedy = drift.remedy
    if "\n" in remedy:  # Helm's values, as they stand in a file
        lead, _, values = remedy.partition("\n")
        remedy = f"{lead} {'; '.join(_flat(values))}"
    return f"{drift.text} To put it right: {remedy}."


def _flat(values: str) -> Iterator[str]:
    parent, *below = values.splitlines()
    for line in below:
        yield f"{parent.rstrip(':')}.{line.strip()}"


def policies_lines() -> list[str]:
    """The six policies and what each gives."""
    return [f"{one.number} ({one.name}): {one.gives}." for one in POLICIES.values()]


def impact_lines(found: Impact) -> list[str]:
    """What setting a policy would mean for nodes, pods and profiles."""
    before = "what is set now is not one policy"
    if found.before is not None:
        before = f"now it is {described(found.before)}"
    lines = [f"{described(found.policy).capitalize()}: {POLICIES[found.policy].gives}; {before}."]
    lines += _node_lines(found)
    if found.crowded:
        pods = counted(len(found.crowded), "pod shares", "pods share")
        lines.append(f"{pods} cards with others on their nodes: {_some(found.crowded)}.")
    if found.alone:
        own = counted(len(found.alone), "pod has its node's", "pods have their nodes'")
        lines.append(f"{own} cards without company: {_some(found.alone)}.")
    if found.dishonoured:
        newly = f"; newly {_some(found.newly)}" if found.newly else ""
        lines.append(
            "Profiles whose part of the computing power is not what they ask for: "
            f"{_some(found.dishonoured)}{newly}."
        )
    else:
        lines.append("Every profile's part of the computing power is honoured.")
    lines += [f"In the way now: {blocker}" for blocker in found.blockers]
    return [*lines, *found.warnings]


def _node_lines(found: Impact) -> Iterator[str]:
    for nodes, what in (
        (found.restarts, "to be restarted, one at a time"),
        (found.at_once, "with no module loaded, which take it when it is loaded"),
        (found.unclear, "not ready, so that what they need is not known"),
    ):
        if nodes:
            yield f"{counted(len(nodes), 'node')} {what}: {_some(nodes)}."
    if found.restarts:
        yield "Until the last of them has restarted, nodes have different policies."
    if not (found.restarts or found.at_once or found.unclear):
        yield "No node needs a restart."


def _some(names: Sequence[str]) -> str:
    return listing(names, _NAMED)


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M UTC")


def unmanaged_lines(view: View) -> list[str]:
    """What there is where no policy is provisioned."""
    found = [installer_line(one) for one in view.situation.cluster.installers]
    return found or ["cGPU is not installed: no DaemonSet installs it."]


def report(view: View, now: datetime) -> Iterator[str]:
    """`poolkeeper cgpu status`: all of it, in lines."""
    yield headline(view)
    yield seen_line(view.note, now)
    if view.desired is None:
        yield from unmanaged_lines(view)
        return
    if view.control.paused:
        yield f"Paused by {view.control.by}: nothing is done about cGPU."
    for line in (change_line(view), next_line(view)):
        if line:
            yield line
    yield from refusal_lines(view)
    yield from (installer_line(one) for one in view.situation.cluster.installers)
    if view.installed:
        yield from ("", states_line(view.nodes), spread(view), "", *table(in_order(view.nodes)))
    if view.drifts:
        yield from ("", *(f"- {drift_line(one)}" for one in view.drifts))
    if not view.installed:
        yield from ("", "Install it with these Helm values:", helm_values(view.desired))
