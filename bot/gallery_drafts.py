"""The gallery's shared draft, from its first save to its reset, by commands."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from bot.gallery_book import Book
from bot.gallery_changes import keep, larger, noted, save, smaller
from bot.gallery_examples import with_afternoon, worked
from bot.gallery_stage import ADA, BEN, NOW, staged
from domain.configuration import Configuration
from storage import configurations, working_copies
from storage.working_copies import WorkingCopy


def scenes(book: Book) -> None:
    for scene in (_drafts, _meanwhile, _nothing_drafted):
        scene(book)


def _drafts(book: Book) -> None:
    with staged(book, "Drafts") as stage:
        configuration = with_afternoon(stage)
        for line in (
            "draft show", "draft diff", "draft save", "draft validate", "draft provision",
            "draft reset", "draft rebase", "draft discard", "draft export",
            "draft export saved", "draft export in-force",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {line}, without a draft")
        keep(stage, ADA, larger(configuration))
        for line in (
            "draft show", "draft diff", "draft validate", "draft discard", "draft reset",
            "draft export",
        ):  # fmt: skip
            stage.says(ADA, line, f"/pool {line}, with unsaved changes")
        stage.says(ADA, "draft discard c99", "/pool draft discard, of what has moved on")
        stage.says(ADA, "draft save")
        for line in ("draft show", "draft diff", "draft validate", "draft save", "draft export"):
            stage.says(ADA, line, f"/pool {line}, of what is saved")
        stage.later(minutes=3)
        keep(stage, BEN, smaller(larger(configuration)), draft=1, origin=larger(configuration))
        for line in (
            "draft show",
            "draft diff",
            "draft validate",
            "draft reset",
            "draft provision",
        ):
            stage.says(BEN, line, f"/pool {line}, with changes beside it")
        stage.posted("Card: a draft while there are unsaved changes")
        stage.says(ADA, "draft reset 7-x", "/pool draft reset, of what has moved on")
        stage.says(BEN, "draft discard c1", "/pool draft discard, done")
        stage.says(ADA, "draft reset 1-d1.v1", "/pool draft reset, done")


def _meanwhile(book: Book) -> None:
    """Somebody saved, reset or provisioned while another one was editing."""
    ours: dict[str, Callable[[Configuration], Configuration]] = {
        "without conflict": noted,
        "in conflict": larger,
        "with nothing of one's own": lambda configuration: configuration,
    }
    for how, change in ours.items():
        with staged(book, "Drafts") as stage:
            configuration = with_afternoon(stage)
            keep(stage, ADA, change(configuration))
            stage.later(minutes=5)
            dev = replace(configuration.policies[0], limit=Fraction(12))
            research = replace(configuration.policies[1], reservation=Fraction(6))
            save(stage, replace(configuration, policies=(dev, research)), 1)
            stage.says(ADA, "draft save", f"/pool draft save, overtaken {how}")
            stage.says(ADA, "draft rebase", f"/pool draft rebase, {how}")
    with staged(book, "Drafts") as stage:
        configuration = with_afternoon(stage)
        keep(stage, ADA, noted(configuration))
        stage.later(minutes=5)
        stage.provision(larger(configuration), BEN)
        stage.says(ADA, "draft save", "/pool draft save, after another version came into force")
        save(stage, configuration, 2)
        keep(stage, BEN, larger(configuration), draft=1)
        stage.change(configurations.delete_draft)
        stage.says(BEN, "draft save", "/pool draft save, after a reset")


def _nothing_drafted(book: Book) -> None:
    with staged(book, "Drafts") as stage:
        for line in ("draft show", "draft diff", "draft reset", "draft export", "draft provision"):
            stage.says(ADA, line, f"/pool {line}, before anything is provisioned")
        stage.change(
            lambda session: working_copies.put(
                session,
                WorkingCopy(
                    user=ADA, configuration=worked(), base=0, changed_at=NOW,
                    origin=Configuration(),
                ),
            )
        )  # fmt: skip
        stage.says(ADA, "draft save", "/pool draft save, for the first time")
        stage.says(ADA, "draft provision", "/pool draft provision, for the first time")
        stage.posted("Card: the first configuration")
        stage.says(ADA, "draft reset", "/pool draft reset, before the first version")
        stage.says(ADA, "draft reset 1-d1.v0", "/pool draft reset, with nothing in force")
        stage.posted("Card: the first configuration is void", "In the thread: reset")
