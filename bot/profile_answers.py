"""`profiles`: what jobs consume, where they may run, and who comes first."""

from bot.access import Actor
from bot.blocks import (
    Block,
    Reply,
    button,
    buttons,
    counted,
    name,
    names,
    page_in,
    page_of,
    section,
    sections,
)
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.naming import Unclear, ask_which, command, resolve
from bot.reading import Look, look, nothing_yet
from domain.amounts import format_amount
from domain.configuration import Profile, Queueing

_A_PAGE = 10
_NAMED = 4


def profiles(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """All profiles, or the one that is named."""
    words, number = page_in(asked.words)
    seen = look(desk)
    if seen is None:
        return nothing_yet()
    if not words:
        return overview(seen, number)
    profile = resolve(" ".join(words), seen.configuration.profile_by_name)
    if isinstance(profile, Unclear):
        return ask_which("profile", profile, lambda one: command("profiles", one))
    return one_profile(seen, actor, seen.configuration.profile_by_name[profile], number)


def overview(seen: Look, number: int) -> Reply:
    """Every profile in a few lines, paged."""
    every = seen.configuration.profiles
    count = counted(len(every), "profile")
    page = page_of(every, number, _A_PAGE)
    blocks: list[Block] = [*seen.notice(), section(f"*{count}*")]
    blocks += [section("\n".join(_lines(seen, profile))) for profile in page.items]
    blocks += [*page.footer("profiles"), seen.footer()]
    running, waiting = len(seen.index.uses), len(seen.view.plan.waiting)
    text = f"{count} with {running} running and {counted(waiting, 'waiting task')}."
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def _lines(seen: Look, profile: Profile) -> list[str]:
    pools, policies = [link.pool for link in profile.pools], profile.policies
    where = f"Pools in precedence: {names(pools, _NAMED)}" if pools else "Linked to no pool"
    whose = f"policies in priority: {names(policies, _NAMED)}" if policies else "used by no policy"
    return [
        f"{name(profile.name)}  {allotment(profile)} · {_tasks(seen, profile)}",
        f"{where} · {whose}",
    ]


def allotment(profile: Profile) -> str:
    """What a job consumes, in words."""
    amount = format_amount(profile.allotment)
    if profile.parameter is None:
        return f"*{amount}* per task"
    return f"as the task's {name(profile.parameter)} says, *{amount}* where it says nothing"


def _tasks(seen: Look, profile: Profile) -> str:
    running, waiting = seen.index.running_by_profile, seen.index.waiting_by_profile
    return f"{running[profile.name]} running, {waiting[profile.name]} waiting"


def one_profile(seen: Look, actor: Actor, profile: Profile, number: int) -> Reply:
    """A profile with its links in precedence and its policies in priority, paged."""
    links = [
        f"{place}. {name(link.pool)} by link {name(link.name)}"
        for place, link in enumerate(profile.pools, 1)
    ]
    policies = [
        f"{place}. {_policy_line(seen, actor, profile.name, policy)}"
        for place, policy in enumerate(profile.policies, 1)
    ]
    page = page_of(
        [
            "*Pools in precedence*",
            *(links or ["none: its tasks can never run"]),
            "*Policies in priority*",
            *(policies or ["none"]),
        ],
        number,
        30,
    )
    passing = (
        "Strict: nobody passes an earlier task of their queue."
        if profile.queueing is Queueing.STRICT
        else "A smaller task may pass an earlier one that does not fit."
    )
    blocks: list[Block] = [
        *seen.notice(),
        section(f"{name(profile.name)}  {allotment(profile)}\n{_tasks(seen, profile)}\n{passing}"),
        *sections(page.items),
        *page.footer(command("profiles", profile.name)),
        buttons(button("All profiles", "profiles"), button("Pools", "status")),
        seen.footer(),
    ]
    text = f"Profile {name(profile.name)}: {allotment(profile)}; {_tasks(seen, profile)}."
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def _policy_line(seen: Look, actor: Actor, profile: str, policy: str) -> str:
    if not actor.sees(policy):
        return name(policy)
    key = (policy, profile)
    return f"{name(policy)}: {seen.index.running[key]} running, {seen.index.waiting[key]} waiting"


VERBS = (
    Verb(
        words=("profiles",),
        role=Role.EVERYBODY,
        help="shows what jobs consume, their pools in precedence and policies in priority.",
        usage="[profile]",
        takes=(0, None),
        example="profiles",
        answer=profiles,
    ),
)
