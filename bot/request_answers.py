"""`requests`, `approve`, `reject`, `history`, `rollback`, `enable`, `disable`, `propose`,
`draft provision`: changes asked for and decided. Each checks, changes, commits, nudges, answers."""

from dataclasses import replace
from datetime import timedelta

from bot import approvals
from bot.access import Actor
from bot.blocks import (
    Reply,
    button,
    buttons,
    confirm,
    context,
    counted,
    escape,
    name,
    page_in,
    page_of,
    plain,
    section,
    sections,
    user,
)
from bot.change_texts import finding_sentence
from bot.commands import Command, Role, Verb
from bot.desk import Desk, age
from bot.naming import Unclear, ask_which, command, resolve
from bot.request_messages import decision_reply, state_text, title, waiting_by_policy
from controller.validating import findings
from domain.amounts import format_amount, parse_amount
from domain.configuration import Configuration, Policy
from domain.editing import edit
from domain.edits import Edited, Refused
from domain.findings import Severity
from domain.ledger import Version
from domain.names import listing
from domain.requests import NewRequest, Request, RequestKind, request_number
from domain.validation import is_valid
from storage import configurations, requests, switch, working_copies
from storage.documents import configuration_hash
from storage.requests import AlreadyOpen

_A_PAGE = 8


def list_requests(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Open requests first, then what became of the latest ones."""
    _, number = page_in(asked.words)
    with desk.database.reading() as session:
        found = requests.requests(session, 500)
    if not found:
        return Reply(text="Nothing has been asked for yet.")
    still = [one for one in found if one.decided_at is None]
    page = page_of([*still, *(one for one in found if one not in still)], number, _A_PAGE)
    rules = approvals.rules_of(desk.settings)
    lines = [_request_line(desk, one, state_text(one, rules)) for one in page.items]
    text = f"{len(still)} of {len(found)} requests wait for a decision."
    blocks = [section(f"*{text}*"), *sections(lines), *page.footer("requests")]
    return Reply(text=text, blocks=tuple(blocks))


def _request_line(desk: Desk, request: Request, state: str) -> str:
    when = age(request.at, desk.clock())
    return f"*{request.name}* {escape(title(request))}, by {user(request.by)} {when}. {state}"


def approve(desk: Desk, actor: Actor, asked: Command) -> Reply:
    return _vote(desk, actor, asked, approve=True)


def reject(desk: Desk, actor: Actor, asked: Command) -> Reply:
    return _vote(desk, actor, asked, approve=False)


def _vote(desk: Desk, actor: Actor, asked: Command, *, approve: bool) -> Reply:
    number = request_number(asked.words[0])
    decision = None if number is None else approvals.decide(desk, actor, number, approve=approve)
    return decision_reply(decision, asked.words[0], approve)


def provision(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Asks that the saved draft be provisioned as it stands."""
    with desk.database.reading() as session:
        draft = configurations.draft(session)
        base = configurations.provisioned(session)
        mine = working_copies.get(session, actor.user)
    if draft is None:
        return Reply(text="There is no saved draft; `/pool edit` begins one, and Save keeps it.")
    if draft.base != (base.number if base else 0):
        return Reply(
            text=f"The draft was made from version {draft.base}, and version "
            f"{base.number if base else 0} is in force by now. Open `/pool edit` and save it anew."
        )
    refused = invalid(desk, draft.configuration, "The draft")
    if refused is not None:
        return refused
    unsaved = mine is not None and mine.configuration != draft.configuration
    new = new_request(desk, actor, RequestKind.PROVISION, draft.configuration)
    new = replace(new, renames=draft.renames, base=draft.base, reason=asked.rest)
    note = " Your unsaved changes are not part of it." if unsaved else ""
    return ask_for(desk, new, note)


def invalid(desk: Desk, configuration: Configuration, what: str) -> Reply | None:
    """Why `what`, with this configuration, may not be asked for; None where it may."""
    with desk.database.reading() as session:
        found = findings(session, configuration, connected=desk.settings.has_kubernetes)
    if is_valid(found):
        return None
    errors = [one for one in found if one.severity is Severity.ERROR]
    text = f"{what} is not valid, so nothing was asked for: {counted(len(errors), 'error')}."
    lines = [f"• {escape(plain(finding_sentence(found), 300))}" for found in errors[:15]]
    return Reply(text=text, blocks=(section(f"*{text}*"), *sections(lines)))


def new_request(
    desk: Desk, actor: Actor, kind: RequestKind, configuration: Configuration | None = None
) -> NewRequest:
    at = desk.clock()
    with desk.database.reading() as session:
        base = requests.standing(session, frozenset()).provisioned
    return NewRequest(
        kind=kind,
        hash=configuration_hash(configuration) if configuration else "",
        base=base,
        configuration=configuration,
        by=actor.user,
        at=at,
        expires_at=at + timedelta(hours=desk.settings.request_hours),
    )


def overtaken(base: int) -> Reply:
    """What is in force is about to change: a request made from it would take that back."""
    return Reply(text=f"Version {base} is being applied; ask again when it is in force.")


def ask_for(desk: Desk, new: NewRequest, note: str = "") -> Reply:
    if not desk.settings.admin_channel:
        return Reply(
            text="I have no channel to ask the admins in; the operator sets "
            "POOLKEEPER_ADMIN_CHANNEL. Nothing was asked for."
        )
    made = approvals.ask(desk, new)
    if isinstance(made, AlreadyOpen):
        other = made.request
        text = (
            f"{other.name} asks for the same and waits already, since "
            f"{age(other.at, desk.clock())}; it is to be decided or withdrawn first."
        )
        withdraw = button("Withdraw it", f"reject {other.name}")
        return Reply(text=text, blocks=(section(text), buttons(withdraw)))
    text = f"{made.name} is in <#{desk.settings.admin_channel}> and waits for approval.{note}"
    return Reply(text=text)


def history(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """The versions that were in force, the latest first."""
    _, number = page_in(asked.words)
    with desk.database.reading() as session:
        versions = configurations.versions(session)[::-1]
    if not versions:
        return Reply(text="Nothing has been provisioned yet.")
    page = page_of(versions, number, _A_PAGE)
    lines = [_version_line(desk, version) for version in page.items]
    count = "is one version" if len(versions) == 1 else f"are {len(versions)} versions"
    text = f"There {count}; {versions[0].number} is the latest."
    blocks = [section(f"*{text}*"), *sections(lines), *page.footer("history")]
    return Reply(text=text, blocks=(*blocks, context("`/pool rollback V` asks for an older one.")))


def _version_line(desk: Desk, version: Version) -> str:
    note = f" ({escape(plain(version.note, 120))})" if version.note.strip(": ") else ""
    by = user(version.by)
    when = age(version.at, desk.clock())
    return f"*{version.number}* by {by} {when}, {version.state}{note}"


def rollback(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Asks for an older version's configuration, through the same door as every change."""
    said = asked.words[0]
    with desk.database.reading() as session:
        old = configurations.version(session, int(said)) if said.isdecimal() else None
        now = configurations.provisioned(session)
    if old is None:
        return Reply(text=f"There is no version {name(said)}; `/pool history` shows them.")
    if now is not None and now.hash == old.hash:
        return Reply(text=f"Version {old.number} is what is in force; nothing was asked for.")
    refused = invalid(desk, old.configuration, f"Version {old.number}")
    if refused is not None:
        return refused
    new = new_request(desk, actor, RequestKind.ROLLBACK, old.configuration)
    return ask_for(desk, replace(new, subject=str(old.number), reason=" ".join(asked.words[1:])))


def enable(desk: Desk, actor: Actor, asked: Command) -> Reply:
    return _toggle(desk, actor, asked, RequestKind.ENABLE)


def disable(desk: Desk, actor: Actor, asked: Command) -> Reply:
    return _toggle(desk, actor, asked, RequestKind.DISABLE)


def _toggle(desk: Desk, actor: Actor, asked: Command, kind: RequestKind) -> Reply:
    with desk.database.reading() as session:
        enabled = switch.is_enabled(session)
    if enabled is (kind is RequestKind.ENABLE):
        return Reply(text=f"Management is {'enabled' if enabled else 'disabled'} already.")
    if asked.words[:1] != ("now",):
        return _are_you_sure(desk, kind)
    return ask_for(desk, replace(new_request(desk, actor, kind), reason=" ".join(asked.words[1:])))


def _are_you_sure(desk: Desk, kind: RequestKind) -> Reply:
    waiting = waiting_by_policy(desk.view())
    word = str(kind)
    if kind is RequestKind.ENABLE:
        text = (
            f"Enabling serves the teams' queues again; {sum(waiting.values())} tasks wait in them."
        )
    else:
        who = listing([f"{name(policy)} ({count})" for policy, count in waiting.items()], 8)
        text = (
            "Disabling stops dispatching for every team until it is enabled again; what runs, runs "
            f"on. Waiting tasks stay pending: {who or 'none waits now'}."
        )
    sure = confirm(f"{word.capitalize()} management?", plain(text, 300), "Ask for it")
    row = buttons(button(f"Ask to {word}", f"{word} now", confirm=sure))
    return Reply(text=text, blocks=(section(text), row))


def propose(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """A member asks for another reservation or limit of their policy, with a reason."""
    with desk.database.reading() as session:
        version = configurations.provisioned(session)
    if version is None:
        return Reply(text="Nothing is provisioned yet.")
    configuration = version.configuration
    said, what, amount, *reason = asked.words
    mine = [policy.name for policy in configuration.policies if actor.sees(policy.name)]
    found = resolve(said, mine)
    if isinstance(found, Unclear):
        rest = asked.words[1:]
        return ask_which("policy of yours", found, lambda one: command("propose", one, *rest))
    policy = _with_terms(configuration.policy_by_name[found], what.lower(), amount)
    if isinstance(policy, str):
        return Reply(text=policy)
    if not reason:
        return Reply(text="Say why, so that the admins can decide: add a reason at the end.")
    edited = edit(Edited(configuration), policy)
    if isinstance(edited, Refused):
        return Reply(text=escape(f"{edited.message} {edited.remedy}"))
    refused = invalid(desk, edited.configuration, "What you propose")
    if refused is not None:
        return refused
    new = new_request(desk, actor, RequestKind.PROPOSAL, edited.configuration)
    if new.base != version.number:
        return overtaken(new.base)
    return ask_for(desk, replace(new, subject=found, reason=" ".join(reason)))


def _with_terms(policy: Policy, what: str, said: str) -> Policy | str:
    if what == "limit" and said.lower() in ("none", "no"):
        return replace(policy, limit=None)
    amount = parse_amount(said, zero=what == "reservation")
    if amount is None:
        return f"{name(said)} is no amount; say a number such as 4, 0.5 or 1/7."
    if what == "reservation":
        same = amount == policy.reservation
        changed = replace(policy, reservation=amount)
    elif what == "limit":
        same = amount == policy.limit
        changed = replace(policy, limit=amount)
    else:
        return "Say `reservation` or `limit`: `/pool propose POLICY limit 12 REASON`."
    return f"Its {what} is {format_amount(amount)} already." if same else changed


VERBS = (
    Verb(
        words=("requests",),
        role=Role.ADMIN,
        help="lists what waits for approval, and what became of the rest.",
        takes=(0, 2),
        example="requests",
        answer=list_requests,
    ),
    Verb(
        words=("approve",),
        role=Role.ADMIN,
        help="approves a change that another asked for.",
        usage="N",
        takes=(1, 1),
        answer=approve,
    ),
    Verb(
        words=("reject",),
        role=Role.MEMBER,
        help="rejects a change, or withdraws your own.",
        usage="N",
        takes=(1, None),
        answer=reject,
    ),
    Verb(
        words=("history",),
        role=Role.ADMIN,
        help="lists the versions of the configuration.",
        takes=(0, 2),
        example="history",
        answer=history,
    ),
    Verb(
        words=("rollback",),
        role=Role.ADMIN,
        help="asks for an older version of the configuration.",
        usage="V [reason]",
        takes=(1, None),
        answer=rollback,
    ),
    Verb(
        words=("enable",),
        role=Role.ADMIN,
        help="asks to serve the teams' queues again.",
        takes=(0, None),
        answer=enable,
    ),
    Verb(
        words=("disable",),
        role=Role.ADMIN,
        help="asks to stop dispatching for every team.",
        takes=(0, None),
        answer=disable,
    ),
    Verb(
        words=("propose",),
        role=Role.MEMBER,
        help="asks the admins for another reservation or limit of your policy.",
        usage="POLICY reservation|limit AMOUNT REASON",
        takes=(3, None),
        answer=propose,
    ),
    Verb(
        words=("draft", "provision"),
        role=Role.ADMIN,
        help="asks for approval of the saved draft as it stands.",
        usage="[reason]",
        takes=(0, None),
        answer=provision,
    ),
)
