"""The editor's forms: what is filled in about a pool, a profile, a policy, or a connection. Pure.

Block ids are the fields' names; `bot.editing_fields` reads what was filled in.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.blocks import Block, bullets, context, name, section
from bot.editing_controls import finder
from bot.editing_spots import Deed
from bot.surfaces import modal
from domain.amounts import format_amount
from domain.configuration import Membership, Policy, Pool, Profile, Queueing, Team
from domain.edits import Thing
from domain.names import LONGEST_NAME, LONGEST_TEXT
from domain.renames import Kind

THING, JOIN, LABEL, PLACE, SURE = "ed-thing", "ed-join", "ed-label", "ed-place", "ed-sure"
PICK = "ed-pick"
_LONGEST_INPUT = 3_000
_MOST_PEOPLE = 100
_CHANNEL = ("C", "G")


def thing_form(kind: Kind, thing: Thing | None, private: Mapping[str, str]) -> Block:
    """To create one of a kind, or with a `thing` to edit it."""
    blocks = [text_input("name", "Name", thing.name if thing else "", most=LONGEST_NAME)]
    if kind is Kind.POOL:
        blocks += _pool_inputs(thing if isinstance(thing, Pool) else None)
    elif kind is Kind.PROFILE:
        blocks += _profile_inputs(thing if isinstance(thing, Profile) else None)
    else:
        blocks += _policy_inputs(thing if isinstance(thing, Policy) else None)
    title, submit = (f"Edit {kind}", "Keep") if thing else (f"Add a {kind}", "Create")
    return modal(title, blocks, THING, submit=submit, close="Cancel", private=private)


def _pool_inputs(pool: Pool | None) -> list[Block]:
    hint = "Whole GPUs of its machines, also where jobs use fractions of them."
    nodes = nodes_text(pool.nodes) if pool else ""
    return [
        text_input(
            "resources", "Number of resources", format_amount(pool.resources) if pool else "",
            hint=hint,
        ),
        text_input(
            "description", "Description", pool.description if pool else "",
            most=LONGEST_TEXT, optional=True, lines=True,
        ),
        text_input(
            "nodes", "Labels of its Kubernetes nodes", nodes, optional=True, lines=True,
            hint="One label=value a line. Then I tell when the number of resources differs.",
        ),
    ]  # fmt: skip


def _profile_inputs(profile: Profile | None) -> list[Block]:
    return [
        text_input(
            "allotment", "Resources for one job",
            format_amount(profile.allotment) if profile else "", hint="Such as 4, 0.5 or 1/7.",
        ),
        text_input(
            "parameter", "Task parameter that says how many", (profile and profile.parameter) or "",
            most=LONGEST_NAME, optional=True,
            hint="runtime.*, hyperparams.<section>.<name> or configuration.*. The number above "
            "counts where a task has none. Empty: the same for every job.",
        ),
        select(
            "queueing", "May a smaller job pass a larger one that waits before it?",
            {Queueing.BACKFILL: "Yes, if it fits (backfill)", Queueing.STRICT: "No (strict)"},
            profile.queueing if profile else Queueing.BACKFILL,
        ),
    ]  # fmt: skip


def _policy_inputs(policy: Policy | None) -> list[Block]:
    limit = policy.limit if policy else None
    return [
        text_input(
            "reservation", "Reserved resources",
            format_amount(policy.reservation) if policy else "",
            hint="Guaranteed to the team; 0 for none.",
        ),
        text_input(
            "limit", "Limit", "" if limit is None else format_amount(limit), optional=True,
            hint="The most it may use at a time, in all pools together. Empty: no limit.",
        ),
        select(
            "lend", "While the reservation is idle",
            {"yes": "Lend it to other teams", "no": "Keep it free for this team"},
            "no" if policy and not policy.lend else "yes",
        ),
        *_team_inputs(policy.team if policy and policy.team else Team()),
        select(
            "membership", "A task of somebody who is none of the ClearML users",
            {Membership.REPORT: "Report it", Membership.RETURN: "Send it back to draft"},
            policy.membership if policy else Membership.REPORT,
        ),
    ]  # fmt: skip


def _team_inputs(team: Team) -> list[Block]:
    channel = team.channel if (team.channel or "").startswith(_CHANNEL) else None
    people = [user for user in team.users if is_user(user)]
    pairs = users_text(team.clearml_users)
    return [
        input_block(
            "channel", "The team's channel",
            {
                "type": "conversations_select",
                "filter": {"include": ["public", "private"], "exclude_bot_users": True},
                **({"initial_conversation": channel} if channel else {}),
            },
            optional=True,
        ),
        text_input(
            "usergroup", "The team's Slack user group", team.usergroup or "", optional=True,
            hint="Its id, such as S0123ABCD: open the group in Slack, then ⋮, Copy group ID.",
        ),
        _people_input(people),
        text_input(
            "clearml_users", "The team's ClearML users", pairs, optional=True, lines=True,
            hint="One ClearML user id a line, or U0123=id for a person in Slack.",
        ),
    ]  # fmt: skip


def _people_input(people: Sequence[str]) -> Block:
    label = "The team's people, besides"
    if len(people) > _MOST_PEOPLE:
        return context(f"{label}: {len(people)}, too many to be edited here.")
    element = {"type": "multi_users_select", **({"initial_users": people} if people else {})}
    return input_block("users", label, element, optional=True)


def nodes_text(nodes: Iterable[tuple[str, str]]) -> str:
    return "\n".join("=".join(pair) for pair in nodes)


def users_text(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{slack}={user}" if slack else user for slack, user in pairs)


def is_user(text: str) -> bool:
    """Whether it looks like a Slack user's id; Slack refuses to show others in a select."""
    return text[:1] in ("U", "W") and text.isascii() and text.replace("_", "").isalnum()


def join_form(kind: Kind, owner: str, private: Mapping[str, str]) -> Block:
    """To connect what is seen on a page of `kind` with something else."""
    other = Kind.POOL if kind is Kind.PROFILE else Kind.PROFILE
    named = "queue" if kind is Kind.POLICY else "link"
    hint = {
        "queue": "Its users enqueue to this queue in ClearML; an existing one is adopted.",
        "link": "What this connection is called, such as '4 GPUs on H100'.",
    }[named]
    blocks = [
        section(f"Connect the {kind} {name(owner)} with"),
        input_block("other", other.capitalize(), finder(PICK, f"Find a {other}")),
        text_input("label", f"Name of the {named}", "", most=LONGEST_NAME, hint=hint),
    ]
    title = f"Connect a {other}"
    return modal(title, blocks, JOIN, submit="Connect", close="Cancel", private=private)


def label_form(what: str, now: str, private: Mapping[str, str]) -> Block:
    """To rename a link or a queue."""
    blocks = [text_input("label", f"Name of the {what}", now, most=LONGEST_NAME)]
    title = f"Rename the {what}"
    return modal(title, blocks, LABEL, submit="Rename", close="Cancel", private=private)


def place_form(now: int, whole: int, private: Mapping[str, str]) -> Block:
    """To move something to a place of its list; both are counted from 1."""
    element = {
        "type": "number_input",
        "is_decimal_allowed": False,
        "min_value": "1",
        "max_value": str(whole),
        "initial_value": str(now),
    }
    blocks = [input_block("place", f"Place, 1 to {whole}", element)]
    return modal("Move to place", blocks, PLACE, submit="Move", close="Cancel", private=private)


def sure_form(
    deed: Deed, question: str, consequences: Sequence[str], private: Mapping[str, str]
) -> Block:
    """To confirm what takes something away, with what falls with it."""
    word = {"delete": "Delete", "cut": "Disconnect", "reset": "Reset"}[deed.verb]
    blocks = [section(question)]
    if consequences:
        blocks += pages_of_bullets(consequences)
    return modal(f"{word}?", blocks, SURE, submit=word, close="Cancel", private=private)


def pages_of_bullets(lines: Sequence[str], title: str = "", most: int = 60) -> list[Block]:
    """Lines as plain text; those beyond `most` are counted."""
    shown = list(lines[:most])
    if len(lines) > most:
        shown.append(f"and {len(lines) - most} more")
    return [bullets(shown, title, 500)]


def text_input(block: str, label: str, initial: str, **more: Any) -> Block:
    """A text field; `most` characters, `hint`, `optional`, several `lines`.

    What is too long for Slack is not cut but left alone: the field is not there then.
    """
    if len(initial) > more.get("most", _LONGEST_INPUT):
        return context(f"{label}: too long to be edited here; export the draft and import it.")
    element: Block = {
        "type": "plain_text_input",
        "action_id": block,
        "max_length": more.get("most", _LONGEST_INPUT),
        "multiline": bool(more.get("lines")),
    }
    if initial:
        element["initial_value"] = initial
    return input_block(
        block, label, element, optional=bool(more.get("optional")), hint=more.get("hint", "")
    )


def select(block: str, label: str, options: Mapping[Any, str], chosen: str) -> Block:
    """A choice of a few; one is always made."""
    texts = {
        str(value): {"text": {"type": "plain_text", "text": text}, "value": str(value)}
        for value, text in options.items()
    }
    element = {
        "type": "static_select",
        "options": list(texts.values()),
        "initial_option": texts[str(chosen)],
    }
    return input_block(block, label, element)


def input_block(
    block: str, label: str, element: Block, *, optional: bool = False, hint: str = ""
) -> Block:
    return {
        "type": "input",
        "block_id": block,
        "label": {"type": "plain_text", "text": label},
        "element": {"action_id": block, **element},
        "optional": optional,
        **({"hint": {"type": "plain_text", "text": hint}} if hint else {}),
    }
