"""`queue` and `why`: what waits, in order, each with its reason and what would let it start."""

from collections.abc import Sequence

from bot.access import Actor
from bot.blocks import (
    Block,
    Page,
    Reply,
    button,
    buttons,
    counted,
    escape,
    name,
    page_in,
    page_of,
    plain,
    prose,
    section,
    sections,
    with_button,
)
from bot.commands import Command, Role, Verb
from bot.desk import Desk, span
from bot.naming import Named, Unclear, ask_which, command, find_task, named, resolve, task_buttons
from bot.policy_answers import visible, waiting_of
from bot.reading import Look, look, nothing_yet
from domain.amounts import format_amount
from domain.explain import PoolUse, Why, why_by
from domain.names import listing
from domain.snapshot import NEVER, Waiting

_A_PAGE = 8
_POLICIES = 20
_USERS = 6


def queue(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """The waiting tasks of one policy in order, or which of the actor's policies have some."""
    words, number = page_in(asked.words)
    seen = look(desk)
    if seen is None:
        return nothing_yet()
    mine = visible(seen, actor)
    if not words and len(mine) != 1:
        return queues(seen, mine, number)
    policy = resolve(" ".join(words), mine) if words else mine[0]
    if isinstance(policy, Unclear):
        return ask_which("policy of yours", policy, lambda one: command("queue", one))
    page = page_of(seen.waiting_of(policy), number, _A_PAGE)
    known = named(desk, seen.index, actor, [task.task for task in page.items])
    return one_queue(seen, policy, page, known)


def queues(seen: Look, mine: Sequence[str], number: int) -> Reply:
    """Which policies have waiting tasks, those with the most first."""
    counts = {policy: waiting_of(seen, policy) for policy in mine}
    busy = sorted((one for one in mine if counts[one]), key=lambda one: (-counts[one], one))
    total = sum(counts.values())
    page = page_of(busy, number, _POLICIES)
    policies = counted(len(busy), "policy", "policies")
    waits = "task waits" if total == 1 else "tasks wait"
    text = f"{total} {waits} in the queues of {policies}."
    blocks: list[Block] = [*seen.notice(), section(f"*{text[:-1]}*")]
    blocks += [
        with_button(section(f"{name(one)}: {counts[one]} waiting"), _show(one))
        for one in page.items
    ]
    blocks += [*page.footer("queue"), seen.footer()]
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def _show(policy: str) -> Block:
    return button("Show", command("queue", policy))


def one_queue(seen: Look, policy: str, page: Page, known: Named) -> Reply:
    """A policy's waiting tasks, each with its place and its reason."""
    if not page.whole:
        text = f"No task of {name(policy)} waits."
        return Reply(text=seen.warned(text), blocks=(*seen.notice(), section(text), seen.footer()))
    tasks = "1 task waits" if page.whole == 1 else f"{page.whole} tasks wait"
    blocks: list[Block] = [*seen.notice(), section(f"*{tasks} in the queues of* {name(policy)}")]
    for waiting in page.items:
        why_ = button("Why?", command("why", waiting.task))
        blocks.append(with_button(section(_task_line(seen, known, waiting)), why_))
        blocks.append(prose(known.sentence(seen.index.explainer.detail(waiting))))
    blocks += [*page.footer(command("queue", policy)), seen.footer()]
    return Reply(
        text=seen.warned(f"{tasks} in the queues of {name(policy)}."),
        blocks=tuple(blocks),
        share=True,
    )


def _task_line(seen: Look, known: Named, waiting: Waiting) -> str:
    place = seen.index.places[waiting.task]
    never = " · *can never run*" if waiting.reason in NEVER else ""
    return (
        f"*{place.position}.* {known.label(waiting.task)}\n"
        f"{format_amount(waiting.amount)} as {name(waiting.profile)} · "
        f"waits {span(seen.at - seen.index.first_seen[waiting.task])}{never}"
    )


def why(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """Why one task waits; by id, the beginning of one, or name."""
    seen = look(desk)
    if seen is None:
        return nothing_yet()
    said = " ".join(asked.words)
    task = find_task(desk, seen.index, actor, said)
    if isinstance(task, Unclear):
        return _which_task(desk, seen, actor, task)
    known = named(desk, seen.index, actor, [task])
    answer = why_by(seen.index.explainer, task)
    return running(seen, task, known) if answer is None else one_task(seen, answer, known)


def _which_task(desk: Desk, seen: Look, actor: Actor, unclear: Unclear) -> Reply:
    if not unclear.candidates:
        reply = ask_which("waiting or running task of yours", unclear, str)
        hint = "Say its id, the beginning of its id, or its name."
        return Reply(
            text=seen.warned(f"{reply.text} {hint}"),
            blocks=(
                *seen.notice(),
                *reply.blocks,
                section(hint),
                buttons(button("What waits", "queue")),
                seen.footer(),
            ),
        )
    known = named(desk, seen.index, actor, unclear.candidates[:8])
    some = unclear.candidates[:8]
    more = len(unclear.candidates) - len(some)
    note = f" and {more} more; say more of it" if more > 0 else ""
    text = f"That fits {len(unclear.candidates)} tasks{note}. Which one do you mean?"
    row = task_buttons(known, some, lambda task: command("why", task))
    return Reply(text=text, blocks=(section(text), row))


def running(seen: Look, task: str, known: Named) -> Reply:
    """What there is to say of a task that does not wait."""
    use = seen.index.uses[task]
    text = (
        f"{known.label(task)} does not wait: it has {format_amount(use.amount)} of "
        f"{name(use.pool)} as {name(use.profile)} of {name(use.policy)}."
    )
    return Reply(
        text=seen.warned(text),
        blocks=(*seen.notice(), section(text), seen.footer()),
        share=True,
    )


def one_task(seen: Look, answer: Why, known: Named) -> Reply:
    """Its reason, who holds what it waits for, and what would unblock it first."""
    place = f"{answer.position} of {answer.queue_length} in the queue of {name(answer.policy)}"
    head = (
        f"{known.label(answer.task)}\n{place} for {name(answer.profile)}, "
        f"needs *{format_amount(answer.amount)}*, waits "
        f"{span(seen.at - seen.index.first_seen[answer.task])}"
    )
    blocks: list[Block] = [
        *seen.notice(),
        section(head),
        section("*Why*" if answer.reason else "*Starts now*"),
        prose(known.sentence(answer.sentence)),
    ]
    if answer.reason is not None:
        uses = [_use_line(use) for use in answer.uses]
        pools = ["*Its pools in precedence*", *uses[:12]]
        pools += [f"and {len(uses) - 12} more pools"] if len(uses) > 12 else []
        blocks += sections(pools) if uses else []
        blocks += [section("*What would let it start first*")]
        blocks += [prose(known.sentence(answer.unblocked_by))]
    blocks += [
        buttons(button("Its queue", command("queue", answer.policy)), button("Pools", "status")),
        seen.footer(),
    ]
    text = f"{known.label(answer.task)} is {place}. {_safe(known.sentence(answer.sentence))}"
    return Reply(text=seen.warned(text), blocks=tuple(blocks), share=True)


def _use_line(use: PoolUse) -> str:
    held = [f"{name(policy)} {format_amount(amount)}" for policy, amount in use.policies]
    if use.elsewhere:
        held.append(f"others {format_amount(use.elsewhere)}")
    by = f"in use by {listing(held, _USERS)}" if held else "in use by nobody"
    free = f"{format_amount(use.free)} of {format_amount(use.resources)} free"
    return f"• {name(use.pool)}: {free}; {by}"


def _safe(sentence: str) -> str:
    return escape(plain(sentence, 600))


VERBS = (
    Verb(
        words=("queue",),
        role=Role.MEMBER,
        help="shows waiting tasks in order, each with its reason.",
        usage="[policy]",
        takes=(0, None),
        example="queue",
        answer=queue,
    ),
    Verb(
        words=("why",),
        role=Role.MEMBER,
        help="says why a task waits, and what would let it start.",
        usage="TASK",
        takes=(1, None),
        answer=why,
    ),
)
