"""What is changed in the gallery's worlds: other configurations, drafts, unsaved copies."""

from dataclasses import replace
from fractions import Fraction

from bot import approvals
from bot.gallery_examples import worked
from bot.gallery_stage import BEN, Stage
from domain.configuration import Configuration, IntakeQueue, Link, Pool, Profile
from domain.editing import Edited, delete
from domain.ledger import Draft
from domain.renames import Kind, Renames
from storage import configurations, working_copies
from storage.configurations import DraftContent
from storage.database import Session
from storage.working_copies import WorkingCopy


def larger(configuration: Configuration) -> Configuration:
    """The worked example with another pool and profile, and less for research."""
    new = Pool(name="superpod", resources=Fraction(32), profiles=("8xGPU",), description="May")
    wide = Profile(
        name="8xGPU", allotment=Fraction(8), pools=(Link(pool="superpod", name="8 on superpod"),),
        policies=("dev",),
    )  # fmt: skip
    dev, research = configuration.policies
    dev = replace(dev, queues=(*dev.queues, IntakeQueue(profile="8xGPU", queue="dev-8gpu")))
    research = replace(research, reservation=Fraction(4))
    return replace(
        configuration,
        pools=(*configuration.pools, new),
        profiles=(*configuration.profiles, wide),
        policies=(dev, research),
    )


def smaller(configuration: Configuration) -> Configuration:
    """Without research, and with a pool too few."""
    gone = delete(Edited(configuration), Kind.POLICY, "research")
    assert isinstance(gone, Edited), "it is there"
    gone = delete(gone, Kind.POOL, "h100")
    assert isinstance(gone, Edited), "it is there"
    return gone.configuration


def save(
    stage: Stage, configuration: Configuration, base: int, renames: Renames | None = None
) -> None:
    """The shared draft, as another admin has just saved it."""

    def work(session: Session) -> None:
        now = configurations.draft(session)
        content = DraftContent(
            configuration=configuration, renames=renames or Renames(), base=base, by=BEN,
            at=stage.now,
        )  # fmt: skip
        saved = configurations.save_draft(session, content, now.revision if now else None)
        assert isinstance(saved, Draft), "nobody else saves"
        approvals.void_stale(stage.desk, session)

    stage.change(work)


def keep(
    stage: Stage,
    person: str,
    configuration: Configuration,
    draft: int | None = None,
    origin: Configuration | None = None,
) -> None:
    """What a person has in the editor, made from a revision of the draft, or from version 1."""
    copy = WorkingCopy(
        user=person,
        configuration=configuration,
        base=1,
        draft=draft,
        changed_at=stage.now,
        origin=origin or worked(),
    )
    stage.change(lambda session: working_copies.put(session, copy))


def noted(configuration: Configuration) -> Configuration:
    """With a description, which conflicts with nothing."""
    pool = replace(configuration.pools[0], description="Second floor")
    return replace(configuration, pools=(pool, *configuration.pools[1:]))
