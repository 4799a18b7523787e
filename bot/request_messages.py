"""What is shown of a request: its card, the lines of its thread, the answers to votes. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.blocks import (
    Block,
    Post,
    Reply,
    bullets,
    button,
    buttons,
    confirm,
    context,
    escape,
    header,
    name,
    plain,
    section,
    user,
)
from bot.change_texts import effect_lines, finding_sentence, guarantee_lines, queue_lines
from controller.publishing import View
from domain.configuration import Configuration
from domain.difference import difference
from domain.findings import Finding, Severity
from domain.ledger import OwnedQueue
from domain.names import listing
from domain.previewing import Effect
from domain.requests import ApprovalRules, Request, RequestKind, RequestState
from domain.voting import (
    AlreadyDecided,
    AlreadyVoted,
    Counted,
    Decision,
    Expired,
    NotAdmin,
    OwnRequest,
    Stale,
)

_LINES = 12
_LINE = 200


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a request would mean, as far as it is known now; `view` None before the first round."""

    before: Configuration
    view: View | None
    now: datetime
    owned: Sequence[OwnedQueue] = ()
    effect: Effect | None = field(default=None)
    findings: Sequence[Finding] = ()
    cgpu: Sequence[str] = ()
    """What another cGPU policy means for nodes, pods and profiles."""


def title(request: Request) -> str:
    """What is asked for, in a few words of plain text."""
    return {
        RequestKind.PROVISION: "provision the draft",
        RequestKind.ROLLBACK: f"roll back to version {request.subject}",
        RequestKind.ENABLE: "enable management",
        RequestKind.DISABLE: "disable management",
        RequestKind.PROPOSAL: f"other terms for {plain(request.subject)}",
        RequestKind.CGPU: f"set cGPU policy {plain(request.subject)} on all nodes",
    }[request.kind]


def card_post(request: Request, preview: Preview, rules: ApprovalRules) -> Post:
    """The one message that shows how a request stands; its channel is the caller's."""
    asked = f"{user(request.by)} asks to {escape(_asks(request))}."
    blocks: list[Block] = [header(f"{request.name}: {title(request)}"), section(asked)]
    if request.reason:
        blocks.append(bullets([f"Reason: {request.reason}"]))
    blocks += _meaning(request, preview)
    blocks.append(section(f"*{state_text(request, rules)}*"))
    if request.state is RequestState.OPEN:
        blocks.append(_decision_buttons(request, preview))
        blocks.append(context(_terms(request, preview)))
    return Post(
        channel="",
        text=f"{request.name}: {user(request.by)} asks to {escape(_asks(request))}. "
        f"{state_text(request, rules)}",
        blocks=tuple(blocks),
    )


def _asks(request: Request) -> str:
    if request.kind is RequestKind.PROPOSAL:
        return f"change the terms of {plain(request.subject)}"
    return title(request)


def state_text(request: Request, rules: ApprovalRules) -> str:
    """How it stands, in one sentence."""
    by = user(request.decision.by) if request.decision else "nobody"
    note = f": {escape(plain(request.note, 200))}" if request.note else ""
    missing = rules.approvals - sum(vote.approve for vote in request.votes)
    return {
        RequestState.OPEN: f"Waits for {_approvals(max(missing, 1))}.",
        RequestState.APPROVED: f"Approved by {_approvers(request)}; it is being applied.",
        RequestState.APPLIED: f"Approved by {_approvers(request)} and applied{_version(request)}.",
        RequestState.REJECTED: f"Rejected by {by}{note}.",
        RequestState.VOIDED: f"Void{note}.",
        RequestState.EXPIRED: "Expired: nobody decided in time.",
        RequestState.FAILED: f"Approved, but not applied{note}.",
    }[request.state]


def _approvals(count: int) -> str:
    return "one approval" if count == 1 else f"{count} approvals"


def _approvers(request: Request) -> str:
    return " and ".join(user(vote.by) for vote in request.votes if vote.approve) or "nobody"


def _version(request: Request) -> str:
    return f" as version {request.version}" if request.version else ""


def _meaning(request: Request, preview: Preview) -> list[Block]:
    if request.configuration is None:
        return [bullets(switch_lines(request, preview.view))]
    found = difference(preview.before, request.configuration, request.renames)
    blocks = [_titled("Changes", [change.sentence for change in found] or ["nothing differs now"])]
    if request.state is not RequestState.OPEN:
        return blocks if request.state is RequestState.REJECTED else []
    queues = preview.view.queues if preview.view else {}
    warnings = [
        finding_sentence(finding)
        for finding in preview.findings
        if finding.severity is Severity.WARNING
    ]
    if preview.cgpu:
        blocks.append(bullets(preview.cgpu, "cGPU on the nodes", 500))
    parts: Mapping[str, list[str]] = {
        "Queues in ClearML": queue_lines(
            request.configuration, request.renames, preview.owned, queues
        ),
        "Lower guarantees": guarantee_lines(preview.before, request.configuration, request.renames),
        "Tasks that wait now": effect_lines(preview.effect) if preview.effect else [],
        "Warnings": warnings,
    }
    return [*blocks, *(_titled(title_, lines) for title_, lines in parts.items() if lines)]


def switch_lines(request: Request, view: View | None) -> list[str]:
    """What enabling or disabling means now."""
    waiting = waiting_by_policy(view)
    if request.kind is RequestKind.ENABLE:
        return [f"The teams' queues are served again; {sum(waiting.values())} tasks wait in them."]
    who = listing([f"{policy} ({count})" for policy, count in waiting.items()], 8)
    return [
        "Nothing is dispatched for any team until it is enabled again; what runs, runs on.",
        f"Waiting tasks stay pending: {who or 'none waits now'}.",
    ]


def waiting_by_policy(view: View | None) -> dict[str, int]:
    """How many tasks wait in each policy's queues, those of policies with none left out."""
    waiting: dict[str, int] = {}
    for queue in view.snapshot.queues if view else ():
        if queue.tasks:
            waiting[queue.policy] = waiting.get(queue.policy, 0) + len(queue.tasks)
    return waiting


def _titled(title_: str, lines: Sequence[str]) -> Block:
    return bullets([*lines[:_LINES], *_more(lines)], title_)


def _more(lines: Sequence[str]) -> Iterable[str]:
    if len(lines) > _LINES:
        yield f"and {len(lines) - _LINES} more; `/pool draft diff` shows all."


def _decision_buttons(request: Request, preview: Preview) -> Block:
    means = f"{title(request)[:1].upper()}{title(request)[1:]}. "
    lost = preview.effect.homeless if preview.effect else ()
    drafts = f"{len(lost)} waiting tasks become drafts. " if lost else ""
    sure = confirm("Approve this?", f"{means}{drafts}It is applied at once.", "Approve")
    return buttons(
        button("Approve", f"approve {request.name}", style="primary", confirm=sure),
        button("Reject", f"reject {request.name}", style="danger"),
    )


def _terms(request: Request, preview: Preview) -> str:
    until = int(request.expires_at.timestamp())
    iso = request.expires_at.strftime("%Y-%m-%d %H:%M UTC")
    base = f"Made against version {request.base}. " if request.configuration else ""
    when = f" What it means was seen at {_clock(preview.view.at)}." if preview.view else ""
    return f"{base}Open until <!date^{until}^{{date_short_pretty}} {{time}}|{iso}>.{when}"


def _clock(at: datetime) -> str:
    """A time of day, in the reader's own zone where Slack knows it."""
    return f"<!date^{int(at.timestamp())}^{{time}}|{at.strftime('%H:%M UTC')}>"


def thread_text(request: Request) -> str:
    """A line of its history for what has just happened; "" where the card says all."""
    last = request.votes[-1] if request.votes else None
    if request.state is RequestState.OPEN and last is not None:
        return f"{user(last.by)} approved; more approvals are needed."
    if request.state is RequestState.APPROVED and request.version:
        return f"It became version {request.version}, which is being applied."
    if request.state is RequestState.APPROVED and last is not None:
        return f"{user(last.by)} approved."
    if request.state is RequestState.APPLIED:
        return f"Done{_version(request)}."
    if request.state in (RequestState.VOIDED, RequestState.FAILED, RequestState.EXPIRED):
        note = escape(plain(request.note, 200))
        return f"{str(request.state).capitalize()}: {note}."
    return f"{user(last.by)} rejected it." if last is not None else ""


def decision_reply(decision: Decision | None, said: str, approve: bool) -> Reply:
    """The answer to a vote: what it did, or what had happened before."""
    if decision is None:
        return Reply(text=f"There is no request {name(said)}; `/pool requests` shows them.")
    request = decision.request
    return Reply(text=f"{request.name}: {_decided(decision, approve)}")


def _decided(decision: Decision, approve: bool) -> str:
    request = decision.request
    match decision:
        case Counted(missing=missing) if approve and missing:
            return f"you approved. {_approvals(missing).capitalize()} more will do."
        case Counted() if approve:
            return "you approved, and it is being applied."
        case Counted():
            return (
                "you withdrew it." if request.state is RequestState.VOIDED else "you rejected it."
            )
        case AlreadyVoted(vote=vote, missing=missing):
            word = "approved" if vote.approve else "rejected"
            return f"you have {word} it before; it waits for {_approvals(missing)} of others."
        case AlreadyDecided():
            at = request.decided_at.strftime("%Y-%m-%d %H:%M UTC") if request.decided_at else ""
            return f"nothing was done. {state_text(request, ApprovalRules())} ({at})"
        case OwnRequest(alone=alone):
            only = " You are the only admin; the operator can allow that." if alone else ""
            return f"nobody approves their own request; another admin has to.{only}"
        case NotAdmin(unknown=True):
            return "Slack does not say right now who the admins are, so nothing was done."
        case NotAdmin():
            return "only admins decide; nothing was done."
        case Stale():
            return f"nothing was done, it is void: {escape(plain(request.note, 200))}."
        case Expired():
            return "nothing was done, its time was over."
