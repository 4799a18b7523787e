"""All verbs and surfaces, joined: each module offers its own, and this is the list of modules."""

from bot import (
    agent_answers,
    audit_answers,
    cgpu_answers,
    digest_answers,
    doctor_answers,
    editing_answers,
    editor,
    helping,
    policy_answers,
    profile_answers,
    queue_answers,
    request_answers,
    status_answers,
)
from bot.access import Actor
from bot.blocks import Reply
from bot.commands import Command, Role, Verb
from bot.desk import Desk
from bot.settings import Settings
from bot.surfaces import Surfaces


def _help(desk: Desk, actor: Actor, command: Command) -> Reply:
    return helping.help_on(table_for(desk.settings), actor, command.words)


_HELP = Verb(
    words=("help",),
    role=Role.EVERYBODY,
    help="shows what you can say.",
    usage="[verb]",
    takes=(0, None),
    answer=_help,
)

TABLE: tuple[Verb, ...] = (
    _HELP,
    *status_answers.VERBS,
    *profile_answers.VERBS,
    *policy_answers.VERBS,
    *queue_answers.VERBS,
    *agent_answers.VERBS,
    *audit_answers.VERBS,
    *digest_answers.VERBS,
    *doctor_answers.VERBS,
    *request_answers.VERBS,
    *editor.VERBS,
    *editing_answers.VERBS,
    *cgpu_answers.VERBS,
)
"""Every verb that there is."""

_WITHOUT_KUBERNETES = tuple(verb for verb in TABLE if verb not in cgpu_answers.VERBS)


def table_for(settings: Settings) -> tuple[Verb, ...]:
    """The verbs that there are with these settings."""
    return TABLE if settings.has_kubernetes else _WITHOUT_KUBERNETES


_SURFACES: tuple[Surfaces, ...] = (editor.SURFACES,)

SURFACES = Surfaces(
    submits={key: value for part in _SURFACES for key, value in part.submits.items()},
    acts={key: value for part in _SURFACES for key, value in part.acts.items()},
    suggests={key: value for part in _SURFACES for key, value in part.suggests.items()},
    closes={key: value for part in _SURFACES for key, value in part.closes.items()},
)
