"""What is answered to what somebody says: read, checked against the table, and answered."""

from bot import helping
from bot.access import Actor, refusal
from bot.blocks import Reply
from bot.commands import Misreading, Origin, read
from bot.desk import Desk
from bot.registry import table_for


def answer(desk: Desk, actor: Actor, text: str, origin: Origin) -> Reply:
    """The answer to one line, whichever way it was said."""
    command = read(table_for(desk.settings), text, origin)
    if isinstance(command, Misreading):
        return helping.misread(command)
    refused = refusal(actor, command.verb)
    if refused:
        return helping.refused(refused)
    return command.verb.answer(desk, actor, command)
