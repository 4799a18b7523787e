"""What the editor's forms lead to: each changes the working copy and shows the page again."""

from collections.abc import Mapping

from bot.access import Actor
from bot.blocks import Block, bullets
from bot.desk import Desk
from bot.editing_bench import Bench, Outdated, bench_of, change
from bot.editing_deeds import (
    Change,
    connectable,
    connected,
    label_of,
    moved,
    relabelled,
    removed,
    stored,
)
from bot.editing_fields import queue_fault, sentence, thing_of
from bot.editing_guard import outdated
from bot.editing_life import reset_here
from bot.editing_pages import Window, page
from bot.editing_spots import Deed, Listing, Spot, things_of
from bot.surfaces import Done, Errors, Submission
from domain.editing import Edited
from domain.edits import Refused, Thing, names_of
from domain.renames import Kind


def changed(
    desk: Desk, actor: Actor, private: Mapping[str, str], edit: Change, spot: Spot | None = None
) -> Block:
    """The page after an edit; a refusal stands on it as a notice."""
    done = change(desk, actor.user, private.get("s", ""), edit)
    if isinstance(done, Outdated):
        return page(outdated(done.bench, private))
    here = spot or Spot.read(private.get("at", ""))
    channel, notice = private.get("channel", ""), tuple[Block, ...]()
    if isinstance(done, Refused):
        notice = (bullets([sentence(done)], "Nothing was done"),)
        done = bench_of(desk, actor.user)
    return page(Window(bench=done, spot=here, channel=channel, notice=notice))


def thing_at(bench: Bench, spot: Spot) -> Thing:
    assert spot.index is not None, "a form to edit was opened on a thing's page"
    return things_of(bench.configuration, spot.kind)[spot.index]


def keep_thing(desk: Desk, actor: Actor, said: Submission) -> Errors | Done:
    """A thing was created or edited; its page is shown."""
    private, bench = said.private, bench_of(desk, actor.user)
    if bench.stamp != private.get("s"):
        return Done(below=page(outdated(bench, private)))
    spot, deed = Spot.read(private["at"]), Deed.read(private["do"])
    before = None if deed.verb == "new" else thing_at(bench, spot)
    thing = thing_of(spot.kind, said.fields, before, bench.configuration)
    if isinstance(thing, Errors):
        return thing
    if before is None:
        spot = Spot(spot.kind, len(names_of(bench.configuration, spot.kind)))
    return _kept(desk, actor, said, "name", stored(before, thing), spot)


def _kept(
    desk: Desk, actor: Actor, said: Submission, block: str, edit: Change, spot: Spot | None = None
) -> Errors | Done:
    """The form closes over the changed page; a refusal stands below the form's field."""
    bench = bench_of(desk, actor.user)
    if bench.stamp == said.private.get("s"):
        tried = edit(Edited(bench.configuration, bench.copy.renames))
        if isinstance(tried, Refused):
            return Errors(by_block={block: sentence(tried)})
    return Done(below=changed(desk, actor, said.private, edit, spot))


def join(desk: Desk, actor: Actor, said: Submission) -> Errors | Done:
    """A connection was named."""
    bench, spot = bench_of(desk, actor.user), Spot.read(said.private["at"])
    if bench.stamp != said.private.get("s"):
        return Done(below=page(outdated(bench, said.private)))
    kind, _ = connectable(spot, bench.configuration)
    other = names_of(bench.configuration, kind)[int(said.fields["other"])]
    label = str(said.fields["label"]).strip()
    if spot.kind is Kind.POLICY and (fault := queue_fault(Kind.QUEUE, label)):
        return fault
    return _kept(desk, actor, said, "label", connected(spot, other, label, bench.configuration))


def relabel(desk: Desk, actor: Actor, said: Submission) -> Errors | Done:
    """A link or a queue got another name."""
    bench, spot = bench_of(desk, actor.user), Spot.read(said.private["at"])
    if bench.stamp != said.private.get("s"):
        return Done(below=page(outdated(bench, said.private)))
    label, deed = str(said.fields["label"]).strip(), Deed.read(said.private["do"])
    kind, _ = label_of(spot, deed, bench.configuration)
    if (fault := queue_fault(kind, label)) is not None:
        return fault
    return _kept(desk, actor, said, "label", relabelled(spot, deed, bench.configuration, label))


def put_in_place(desk: Desk, actor: Actor, said: Submission) -> Errors | Done:
    """An entry was given a place in its list."""
    bench, spot = bench_of(desk, actor.user), Spot.read(said.private["at"])
    if bench.stamp != said.private.get("s"):
        return Done(below=page(outdated(bench, said.private)))
    deed, to = Deed.read(said.private["do"]), int(said.fields["place"])
    edit = moved(spot, deed, bench.configuration, to)
    if deed.listing is Listing.THINGS:
        spot = Spot(spot.kind, to - 1)
    return _kept(desk, actor, said, "place", edit, spot)


def confirmed(desk: Desk, actor: Actor, said: Submission) -> Done:
    """What takes something away was confirmed."""
    deed, spot = Deed.read(said.private["do"]), Spot.read(said.private["at"])
    if deed.verb == "reset":
        return reset_here(desk, actor, said)
    bench = bench_of(desk, actor.user)
    if bench.stamp != said.private.get("s"):
        return Done(below=page(outdated(bench, said.private)))
    edit = removed(spot, deed, bench.configuration)
    after = Spot(spot.kind) if deed.verb == "delete" else spot
    return Done(below=changed(desk, actor, said.private, edit, after))
