"""`agents LINK`: the execution queue of a link, and how agents are to be set up to serve it.

The forms are those of facts/clearml.md 4.3: the Enterprise chart takes a template per queue, the
open-source chart one queue and one template per release, the daemon a queue and GPU numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.access import Actor
from bot.agent_requests import Shared, cgpu_hints, cgpu_snippets, shared_cards, shared_in
from bot.blocks import Block, Reply, button, buttons, cut, escape, name, section
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.naming import Unclear, ask_which, command, resolve
from domain.amounts import format_amount
from domain.configuration import Configuration, Link, Pool, Profile
from domain.ledger import OwnedQueue
from domain.ledger import Role as QueueRole
from domain.names import listing
from storage import queues

_SHOWN_GPUS = 16


@dataclass(frozen=True, kw_only=True)
class Served:
    """A link with all that its agents' configuration depends on."""

    link: Link
    profile: Profile
    pool: Pool
    queue: OwnedQueue | None
    shared: Shared | None = None
    """What a task asks for where the pool's nodes share their cards by cGPU."""

    @property
    def gpus(self) -> int:
        """How many GPUs an agent needs for one task; a fraction needs a part of one."""
        return -(-self.profile.allotment.numerator // self.profile.allotment.denominator)

    @property
    def most(self) -> int:
        """How many tasks the pool holds at a time, if it held nothing else."""
        return int(self.pool.resources // self.profile.allotment)


def agents(desk: Desk, actor: Actor, asked: Command) -> Reply:
    """The link that is named, or which there are."""
    configuration = desk.configuration() or Configuration()
    names = [link.name for profile in configuration.profiles for link in profile.pools]
    if not names:
        text = "There are no links yet: connect a profile with a pool first."
        return Reply(text=text, blocks=(section(text),))
    said = " ".join(asked.words)
    link = resolve(said, names) if said else Unclear(said="", candidates=tuple(names), several=True)
    if isinstance(link, Unclear):
        return _ask(link)
    with desk.database.reading() as session:
        owned = queues.owned_queues(session)
        cards = shared_cards(session, desk.settings)
    return agent_configuration(served_by(configuration, link, owned, cards))


def _ask(link: Unclear) -> Reply:
    reply = ask_which("link", link, lambda one: command("agents", one))
    if link.said:
        return reply
    text = f"Which link? There are {listing([name(one) for one in link.candidates], 8)}."
    return Reply(text=text, blocks=(section(text), *reply.blocks[1:]))


def served_by(
    configuration: Configuration,
    link: str,
    owned: Sequence[OwnedQueue],
    cards: Mapping[str, int] | None = None,
) -> Served:
    """The link of that name, which the configuration has; `cards` as of `shared_cards`."""
    profile, found = next(
        (profile, one)
        for profile in configuration.profiles
        for one in profile.pools
        if one.name == link
    )
    queue = next(
        (
            queue
            for queue in owned
            if queue.role is QueueRole.EXECUTION
            and not queue.retired
            and (queue.profile, queue.pool) == (profile.name, found.pool)
        ),
        None,
    )
    pool = configuration.pool_by_name[found.pool]
    shared = None if cards is None else shared_in(pool, profile, cards.get(pool.name))
    return Served(link=found, profile=profile, pool=pool, queue=queue, shared=shared)


def agent_configuration(served: Served) -> Reply:
    """The queue's id and three ways to serve it."""
    title = f"Agents for link {name(served.link.name)}"
    lead = (
        f"{title}: profile {name(served.profile.name)} in pool {name(served.pool.name)}, "
        f"{_consumes(served.profile)}"
    )
    if served.queue is None:
        text = (
            f"{lead}. Its queue does not exist yet; the next round that reaches ClearML makes it."
        )
        return Reply(text=text, blocks=(section(text),))
    blocks: list[Block] = [
        section(f"*{title}*\nProfile {name(served.profile.name)} in pool {name(served.pool.name)}, "
                f"{_consumes(served.profile)}; the pool holds {served.most} of them at most."),
        section(f"Queue id: `{escape(served.queue.id)}`\nQueue name: {name(served.queue.name)}"),
        *(_code(what, text) for what, text in snippets(served)),
        *(section(f"Note: {hint}") for hint in hints(served)),
        buttons(button("Its pool", command("status", served.pool.name))),
    ]  # fmt: skip
    text = f"{lead}. Its queue's id is `{escape(served.queue.id)}`."
    return Reply(text=text, blocks=tuple(blocks), share=True)


def _consumes(profile: Profile) -> str:
    gpus = "GPU" if profile.allotment <= 1 else "GPUs"
    amount = f"{format_amount(profile.allotment)} {gpus} per task"
    return f"{amount} unless the task says otherwise" if profile.is_dynamic else amount


def snippets(served: Served) -> list[tuple[str, str]]:
    """(what it is, its text) of each way to serve the queue."""
    assert served.queue is not None, "a queue that there is"
    if served.shared is not None and served.shared.share is not None:
        return cgpu_snippets(served.queue.id, served.shared, served.most)
    queue, gpus = served.queue.id, served.gpus
    limits = f"nvidia.com/gpu: {gpus}"
    numbers = ",".join(str(number) for number in range(min(gpus, _SHOWN_GPUS)))
    if gpus > _SHOWN_GPUS:
        numbers += ",…"
    enterprise = f"""\
agentk8sglue:
  queues:
    {queue}:
      templateOverrides:
        resources:
          limits:
            {limits}
      queueSettings:
        maxPods: {max(1, served.most)}"""
    open_source = f"""\
agentk8sglue:
  queue: "{queue}"
  createQueueIfNotExists: false
  basePodTemplate:
    resources:
      limits:
        {limits}"""
    daemon = f"clearml-agent daemon --queue {queue} --gpus {numbers} --detached"
    return [
        ("ClearML Enterprise chart, values", enterprise),
        ("Open-source chart `clearml-agent`, values of a release of its own", open_source),
        ("Daemon, one for each task that may run at a time", daemon),
    ]


def hints(served: Served) -> list[str]:
    """What the snippets cannot say by themselves."""
    found = ["Poolkeeper does the accounting, agents the hardware: keep both numbers the same."]
    allotment = served.profile.allotment
    if served.shared is not None:
        found += cgpu_hints(served.shared)
    elif allotment.denominator != 1:
        found.append(
            f"A task counts {format_amount(allotment)} of a GPU, but `nvidia.com/gpu` is whole "
            "numbers only. Share the GPU in hardware or driver (MIG slices, cGPU, fractional GPU "
            "containers), ask for that resource here instead, and let as many agents share one "
            f"GPU as fit: {1 / allotment // 1}."
        )
    if served.profile.is_dynamic:
        found.append(
            f"This profile is dynamic: {name(str(served.profile.parameter))} of a task counts. "
            "What is shown fits the default; give agents what the largest task asks for."
        )
    return found


def _code(what: str, text: str) -> Block:
    return section(f"*{what}*\n```{cut(escape(text.replace('`', 'ˋ')), 2_500)}```")


VERBS = (
    Verb(
        words=("agents",),
        role=Role.ADMIN,
        help="shows a link's queue id and ready-made configurations of agents.",
        usage="LINK",
        takes=(0, None),
        answer=agents,
    ),
)
