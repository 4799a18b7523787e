"""Requests for changes: made, decided, applied, and told on their card in the admin channel.

Every step is one transaction that looks first, so that a late click, a second click and a restart
find what is. The domain decides (domain.voting); the controller applies (controller.round).
"""

from dataclasses import replace
from datetime import timedelta

from bot.access import Actor
from bot.blocks import Post
from bot.cgpu_lines import impact_lines, seen_moment
from bot.desk import Desk
from bot.posts import show_card, tell_in_thread
from bot.request_messages import Preview, card_post, thread_text
from bot.settings import Settings
from controller.cgpu_view import last_view
from controller.validating import findings
from domain.configuration import Configuration
from domain.previewing import effect
from domain.requests import (
    ApprovalRules,
    NewRequest,
    Request,
    RequestKind,
    RequestState,
    applied,
    stale,
    void_for,
    voided,
)
from domain.voting import Ballot, Counted, Decision, Expired, Stale, vote
from storage import cards, configurations, queues, requests, switch
from storage.configurations import Approval, Pending
from storage.database import Session
from storage.requests import AlreadyOpen

_DRAIN_S = 20.0
_SWITCHES = (RequestKind.ENABLE, RequestKind.DISABLE)


def rules_of(settings: Settings) -> ApprovalRules:
    """What an approval takes, as the operator set it."""
    return ApprovalRules(
        approvals=settings.approvals,
        lone_admin_may_approve=settings.lone_admin,
        expires_after=timedelta(hours=settings.request_hours),
        remind_after=timedelta(hours=settings.request_hours / 3),
    )


def ask(desk: Desk, asked: NewRequest) -> Request | AlreadyOpen:
    """Makes a request and its card; of a kind there is one at a time."""
    with desk.database.transaction() as session:
        made = requests.add(session, asked)
        if isinstance(made, AlreadyOpen):
            return made
        desk.record(session, asked.by, "asked", made.name, f"{asked.kind}: {asked.reason}".strip())
        show(desk, session, made)
    desk.deliver()
    return made


def decide(desk: Desk, actor: Actor, number: int, *, approve: bool) -> Decision | None:
    """Counts one vote; None where there is no such request. The change begins with the last."""
    admins = desk.membership.admins()
    with desk.database.transaction() as session:
        request = requests.request(session, number)
        if request is None:
            return None
        ballot = Ballot(by=actor.user, approve=approve, at=desk.clock())
        decision = vote(
            request, ballot, requests.standing(session, admins), rules_of(desk.settings)
        )
        if isinstance(decision, Counted | Stale | Expired):
            kept = keep(desk, session, decision.request)
            if kept.state is RequestState.APPROVED:
                _begin(desk, session, kept)
        if isinstance(decision, Counted):
            word = "approved" if approve else "rejected"
            desk.record(session, actor.user, word, request.name, "")
    _after(desk, decision)
    return decision


def void_stale(desk: Desk, session: Session) -> None:
    """Called by whoever changes the draft, in the same transaction: what was asked for is void."""
    standing = requests.standing(session, frozenset())
    for request in void_for(requests.open_requests(session), standing, desk.clock()):
        keep(desk, session, request)


def finish(desk: Desk, request: Request) -> None:
    """Says of an approved request that it is done, once it is; begins what could not begin."""
    if request.kind is RequestKind.DISABLE and not desk.database.drain_moves(_DRAIN_S):
        return  # a move that had begun is not over: not done yet, and not said to be
    with desk.database.transaction() as session:
        now = requests.request(session, request.id)
        if now is None or now.state is not RequestState.APPROVED:
            return
        if now.kind in _SWITCHES:
            _done(desk, session, applied(now))
        elif now.version is None:
            standing = requests.standing(session, frozenset())
            reason = stale(now, standing)
            if reason:
                keep(desk, session, voided(now, reason, desk.clock()))
            else:
                _begin(desk, session, now)
        elif (version := configurations.provisioned(session)) and version.number >= now.version:
            _done(desk, session, applied(now, now.version))
    desk.deliver()


def show(desk: Desk, session: Session, request: Request) -> None:
    """The request's card is to show how it stands."""
    channel = channel_of(desk, session, request)
    if channel:
        post = card_post(request, preview_of(desk, session, request), rules_of(desk.settings))
        at = desk.clock()
        show_card(session, card_key(request), replace(post, channel=channel), at)


def tell(desk: Desk, session: Session, request: Request, key: str, text: str) -> None:
    """A line in the thread of the request's card, once for its key."""
    channel = channel_of(desk, session, request)
    if channel:
        card = card_key(request)
        post = Post(channel=channel, text=text)
        tell_in_thread(session, card, f"{card}:{key}", post, desk.clock())


def card_key(request: Request) -> str:
    return f"request:{request.id}"


def channel_of(desk: Desk, session: Session, request: Request) -> str:
    """Where its card is, or is to be."""
    card = cards.card(session, card_key(request))
    return card.channel if card else desk.settings.admin_channel


def preview_of(desk: Desk, session: Session, request: Request) -> Preview:
    """What it would mean now; the switch has no configuration, and means what waits."""
    base = configurations.provisioned(session)
    before = base.configuration if base else Configuration()
    view = desk.view()
    if request.configuration is None or request.state is not RequestState.OPEN:
        return Preview(before=before, view=view, now=desk.clock())
    return Preview(
        before=before,
        view=view,
        now=desk.clock(),
        owned=queues.owned_queues(session),
        effect=effect(view.snapshot, request.configuration, request.renames) if view else None,
        findings=findings(session, request.configuration, connected=desk.settings.has_kubernetes),
        cgpu=_cgpu_lines(desk, session, before, request.configuration),
    )


def _cgpu_lines(
    desk: Desk, session: Session, before: Configuration, after: Configuration
) -> list[str]:
    """What it would mean for the nodes; nothing where the cGPU policy stays as it is."""
    if after.cgpu is None or after.cgpu == before.cgpu or not desk.settings.has_kubernetes:
        return []
    view = last_view(session)
    if view is None:
        return ["The cluster was not looked at yet: what it means for its nodes is not known."]
    seen = seen_moment(view.note)
    return [*impact_lines(view.impact(after.cgpu.policy, after)), seen]


def _begin(desk: Desk, session: Session, request: Request) -> None:
    """In the transaction of the last approval: what was approved is what will be applied."""
    if request.kind in _SWITCHES:
        on = request.kind is RequestKind.ENABLE
        switch.set_enabled(session, on, request.by, desk.clock())
        desk.record(session, request.by, str(request.kind), "management", f"by {request.name}")
        return
    assert request.configuration is not None, "only the switch has none"
    approval = Approval(by=request.by, at=desk.clock(), note=f"{request.name}: {request.reason}")
    version = configurations.add_version(session, request.configuration, request.renames, approval)
    if isinstance(version, Pending):
        return  # another is being applied; this one begins after it, or turns out to be stale
    if request.kind is RequestKind.PROVISION:
        configurations.delete_draft(session)
    keep(desk, session, replace(request, version=version.number))
    desk.record(session, request.by, "apply", f"version {version.number}", f"by {request.name}")
    void_stale(desk, session)


def keep(desk: Desk, session: Session, request: Request) -> Request:
    """Keeps it, shows it on its card and tells it in its thread; gives it as it is kept."""
    kept = requests.replace(session, request)
    assert kept, "it was read in this transaction"
    show(desk, session, request)
    text = thread_text(request)
    if text:
        tell(
            desk, session, request, f"{request.state}:{len(request.votes)}:{request.version}", text
        )
    return replace(request, revision=request.revision + 1)


def _done(desk: Desk, session: Session, request: Request) -> None:
    keep(desk, session, request)
    desk.record(session, request.by, str(request.state), request.name, request.note)


def _after(desk: Desk, decision: Decision) -> None:
    """Out of the transaction: what was decided takes its course."""
    if isinstance(decision, Counted) and decision.request.state is RequestState.APPROVED:
        desk.nudge()
        if decision.request.kind in _SWITCHES:
            finish(desk, decision.request)
    desk.deliver()
