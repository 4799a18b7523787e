"""`help` at every level, and the answer to a misreading, from the table itself."""

from collections.abc import Iterator, Sequence
from typing import Final

from bot.access import Actor
from bot.blocks import Reply, button, buttons, context, escape, plain, section, sections, user
from bot.commands import Misreading, Role, Verb


def help_on(table: Sequence[Verb], actor: Actor, words: Sequence[str]) -> Reply:
    """All verbs that the actor may say, or those that begin with the words."""
    asked = tuple(word.lower() for word in words)
    verbs = [
        verb for verb in table if verb.words[: len(asked)] == asked and verb.words != ("help",)
    ]
    mine = [verb for verb in verbs if actor.may(verb.role)]
    if not verbs:
        return Reply(
            text=f"There is no `{escape(plain(' '.join(asked)))}`; say `/pool help`.",
            blocks=(section(f"There is no `{escape(plain(' '.join(asked)))}`."), _all()),
        )
    lines = list(_lines(mine or verbs, grouped=not asked))
    title = f"What you can say about `{' '.join(asked)}`" if asked else "What you can say to me"
    note = "Only you see my answers, unless you share them."
    if not mine:
        note = f"This is for {verbs[0].role}; you are not one of them, as far as I can tell."
    examples = [button(verb.example, verb.example) for verb in mine if verb.example][:5]
    row = [buttons(*examples)] if examples else []
    return Reply(
        text=f"{title}: {', '.join(verb.name for verb in mine or verbs)}.",
        blocks=(section(f"*{title}*"), *sections(lines), *row, context(note)),
    )


_HEADINGS: Final = {
    Role.EVERYBODY: "*For everybody*",
    Role.MEMBER: "*For members of a team*",
    Role.ADMIN: "*For admins*",
}


def _lines(verbs: Sequence[Verb], *, grouped: bool) -> Iterator[str]:
    """A line for each verb under its role; `grouped` tells a group by its members only."""
    for role in Role:
        of_role = [verb for verb in verbs if verb.role is role]
        if of_role:
            yield _HEADINGS[role]
        for first in dict.fromkeys(verb.words[0] for verb in of_role):
            group = [verb for verb in of_role if verb.words[0] == first]
            if grouped and len(group) > 1:
                yield _group_line(first, group)
            else:
                yield from map(_line, group)


def _group_line(first: str, group: Sequence[Verb]) -> str:
    below = ", ".join(" ".join(verb.words[1:]) or "alone" for verb in group)
    return f"`/pool {first}` with {below}: `/pool help {first}` says more."


def misread(misreading: Misreading) -> Reply:
    """A sentence, and a button that runs what was probably meant."""
    blocks = [section(f"{misreading.sentence}.")]
    if misreading.nearest:
        says = plain(misreading.nearest, 60)
        blocks[0] = section(f"{misreading.sentence}. Did you mean `{escape(says)}`?")
        blocks.append(buttons(button(f"Run: {says}", misreading.nearest), button("Help", "help")))
        return Reply(
            text=f"{misreading.sentence}. Did you mean `/pool {escape(says)}`?",
            blocks=tuple(blocks),
        )
    return Reply(text=f"{misreading.sentence}. Say `/pool help`.", blocks=(*blocks, _all()))


def refused(why: str) -> Reply:
    """What somebody may not say, and what they may."""
    return Reply(text=why, blocks=(section(why), buttons(button("What I can say", "help"))))


def shared(who: str, said: str) -> str:
    """Who shares an answer, and what they had asked."""
    return f"{user(who)} shared what `/pool {escape(plain(said, 200)).replace('`', 'ˋ')}` says:"


def _all() -> dict[str, object]:
    return buttons(button("Help", "help"))


def _line(verb: Verb) -> str:
    usage = f" {escape(verb.usage)}" if verb.usage else ""
    return f"`/pool {verb.name}{usage}` {verb.help}"
