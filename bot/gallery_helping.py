"""The gallery's help, typos and refusals."""

from bot.access import Actor, refusal
from bot.blocks import Reply, section
from bot.gallery_book import Book
from bot.gallery_examples import with_afternoon
from bot.gallery_stage import ADA, DANA, GUS, staged
from bot.helping import refused, shared
from bot.registry import TABLE


def scenes(book: Book) -> None:
    _helping(book)


def _helping(book: Book) -> None:
    with staged(book, "Help and refusals", POOLKEEPER_KUBERNETES="in-cluster") as stage:
        with_afternoon(stage)
        for person, who in ((ADA, "an admin"), (DANA, "a member"), (GUS, "somebody in no team")):
            stage.says(person, "help", f"Help for {who}")
        groups = dict.fromkeys(verb.words[0] for verb in TABLE if len(verb.words) > 1)
        for group in groups:
            stage.says(ADA, f"help {group}")
        stage.says(DANA, "help draft", "Help on what is for others")
        stage.says(ADA, "help nonsense")
        stage.says(ADA, "staus", "A typo")
        stage.says(ADA, "draft vaildate", "A typo in the second word")
        stage.says(ADA, "drfat show", "A typo in the first of two words")
        stage.says(ADA, "digest", "A word too few")
        stage.says(ADA, "approve", "Too little for a verb")
        stage.says(ADA, "notify on please", "More than a verb takes")
        stage.says(ADA, "digets", "A typo in a group")
        stage.says(ADA, "<!channel> `x` *y*", "Markup instead of a verb")
        stage.says(ADA, "draft zzzzz", "A second word that is like none")
        for verb in TABLE:
            words = " ".join(["x"] * verb.takes[0])
            if not stage.actor(GUS).may(verb.role):
                stage.says(GUS, f"{verb.name} {words}".strip(), f"Refused to others: {verb.name}")
        text = shared(DANA, "status <!channel> `x`")
        seen = stage.answered(DANA, "status")
        blocks = (section(text), *seen.blocks)
        book.reply((stage.group, "An answer that is shared"), Reply(text=seen.text, blocks=blocks))
    unread = Actor(user=DANA, unread=True)
    requests = next(verb for verb in TABLE if verb.words == ("requests",))
    book.reply(
        ("Help and refusals", "User groups cannot be read"), refused(refusal(unread, requests))
    )
