"""`status`: pools with their use, in words and bars. Pure rendering of the published view."""

from bot.access import Actor
from bot.blocks import Reply, name, section
from bot.commands import Command, Role, Verb
from bot.desk import Desk, age
from domain.amounts import format_amount


def status(desk: Desk, actor: Actor, command: Command) -> Reply:
    """All pools, or the one that is named."""
    view = desk.view()
    if view is None:
        return Reply(text="No round has run yet: nothing is provisioned, or ClearML is away.")
    lines = [
        f"{name(pool.name)} {format_amount(pool.used)} of {format_amount(pool.resources)} in use"
        for pool in view.plan.pools
    ]
    text = f"{len(lines)} pools, seen {age(view.at, desk.clock())}."
    return Reply(text=text, blocks=(section("\n".join(lines) or "no pools"),), share=True)


VERBS = (
    Verb(
        words=("status",),
        role=Role.EVERYBODY,
        help="shows pools with their use and execution priority.",
        usage="[pool]",
        takes=(0, None),
        example="status",
        answer=status,
    ),
)
