"""Two people's changes brought together: what each did is there, and what clashes is named."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given

from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile
from domain.editing import Edit, Edited, connect, create, delete, edit, link, move, rename, unlink
from domain.editing_order import Order, Place
from domain.rebasing import Rebased, Side, after, rebase, then
from domain.renames import Kind, Renames
from storage.documents import read_configuration, write_configuration
from tests.configurations import WORKED, configurations, laws

START = Edited(WORKED)


def done(edited: Edit) -> Edited:
    assert isinstance(edited, Edited), edited
    return edited


def side(edited: Edited) -> Side:
    return Side(edited.configuration, edited.renames)


def brought(mine: Edited, theirs: Edited) -> Rebased:
    return rebase(side(START), side(mine), side(theirs))


def sentences(result: Rebased) -> str:
    return "\n".join(conflict.sentence for conflict in result.conflicts)


def resized(draft: Edited, pool: str, resources: int) -> Edited:
    its = draft.configuration.pool_by_name[pool]
    return done(edit(draft, replace(its, resources=Fraction(resources))))


@laws
@given(configurations(), configurations())
def test_with_one_side_unchanged_the_result_is_the_other(
    origin: Configuration, other: Configuration
) -> None:
    mine = rebase(Side(origin), Side(other), Side(origin))
    theirs = rebase(Side(origin), Side(origin), Side(other))

    assert mine == Rebased(Side(other))
    assert theirs == Rebased(Side(other))


@laws
@given(configurations(), configurations())
def test_the_same_change_on_both_sides_is_no_conflict(
    origin: Configuration, other: Configuration
) -> None:
    assert rebase(Side(origin), Side(other), Side(other)) == Rebased(Side(other))


@laws
@given(configurations(), configurations(), configurations())
def test_whatever_is_brought_together_can_be_read_again(
    origin: Configuration, mine: Configuration, theirs: Configuration
) -> None:
    merged = rebase(Side(origin), Side(mine), Side(theirs)).side.configuration

    assert read_configuration(write_configuration(merged)) == merged


def test_both_changes_of_one_object_are_kept() -> None:
    pool = WORKED.pool_by_name["h100"]
    mine = done(edit(START, replace(pool, description="new racks")))
    theirs = resized(START, "h100", 16)

    result = brought(mine, theirs)

    assert result.conflicts == ()
    merged = result.side.configuration.pool_by_name["h100"]
    assert merged == replace(pool, description="new racks", resources=Fraction(16))


def test_a_value_that_both_changed_stays_theirs_and_is_named() -> None:
    result = brought(resized(START, "h100", 12), resized(START, "h100", 16))

    assert result.side.configuration.pool_by_name["h100"].resources == 16
    told = "Pool 'h100': resources is 12 in yours and 16 in theirs; it stays 16."
    assert sentences(result) == told


def test_my_change_follows_their_rename() -> None:
    theirs = done(rename(START, Kind.POOL, "h100", "H100 SXM"))

    result = brought(resized(START, "h100", 12), theirs)

    assert result.side.configuration.pool_by_name["H100 SXM"].resources == 12
    assert "h100" not in result.side.configuration.pool_by_name
    assert result.side.renames.current(Kind.POOL, "h100") == "H100 SXM"
    assert result.conflicts == ()


def test_my_rename_is_said_against_the_common_version() -> None:
    mine = done(rename(START, Kind.POLICY, "dev", "engineering"))
    theirs = done(rename(START, Kind.POLICY, "research", "science"))

    result = brought(mine, theirs)

    renames = result.side.renames
    assert [renames.current(Kind.POLICY, name) for name in ("dev", "research")] == [
        "engineering",
        "science",
    ]
    assert result.side.configuration.profiles[0].policies == ("engineering", "science")


def test_two_names_for_one_object_are_a_conflict() -> None:
    mine = done(rename(START, Kind.POOL, "h100", "mine"))
    theirs = done(rename(START, Kind.POOL, "h100", "theirs"))

    result = brought(mine, theirs)

    assert "theirs" in result.side.configuration.pool_by_name
    assert sentences(result) == (
        "Pool 'theirs': you renamed it to 'mine' and they otherwise; it stays theirs."
    )


def test_what_they_changed_and_i_deleted_stays_with_its_links() -> None:
    mine = done(delete(START, Kind.POOL, "h100"))

    result = brought(mine, resized(START, "h100", 16))

    assert result.side.configuration.pool_by_name["h100"].profiles == ("4xGPU",)
    assert sentences(result) == "Pool 'h100': you deleted it and they changed it; it stays."


def test_what_i_changed_and_they_deleted_is_gone() -> None:
    theirs = done(delete(START, Kind.POOL, "h100"))

    result = brought(resized(START, "h100", 16), theirs)

    assert "h100" not in result.side.configuration.pool_by_name
    assert sentences(result) == ("Pool 'h100': you changed it and they deleted it; it is deleted.")


def test_my_link_to_what_they_deleted_is_left_out_and_named() -> None:
    mine = done(create(START, Profile(name="small", allotment=Fraction(1))))
    mine = done(link(mine, "small", Link(pool="h100", name="small on h100")))

    result = brought(mine, done(delete(START, Kind.POOL, "h100")))

    assert result.side.configuration.profile_by_name["small"].pools == ()
    assert "'small on h100': what it connects was deleted by them" in sentences(result)


def test_what_both_created_is_there_after_what_was_there() -> None:
    mine = done(create(START, Pool(name="mine", resources=Fraction(1))))
    theirs = done(create(START, Pool(name="theirs", resources=Fraction(2))))

    result = brought(mine, theirs)

    names = [pool.name for pool in result.side.configuration.pools]
    assert names == ["bare-metal", "h100", "mine", "theirs"]
    assert result.conflicts == ()


def test_two_creations_of_one_name_are_one_object_and_differ_by_value() -> None:
    mine = done(create(START, Pool(name="new", resources=Fraction(1))))
    theirs = done(create(START, Pool(name="new", resources=Fraction(2))))

    result = brought(mine, theirs)

    assert result.side.configuration.pool_by_name["new"].resources == 2
    assert "resources is 1 in yours and 2 in theirs" in sentences(result)


def test_a_name_that_both_gave_to_different_objects_is_told_apart() -> None:
    mine = done(create(START, Pool(name="new", resources=Fraction(1))))
    theirs = done(rename(START, Kind.POOL, "h100", "new"))

    result = brought(mine, theirs)

    assert result.side.configuration.pool_by_name["new (2)"].resources == 1
    assert result.side.renames.current(Kind.POOL, "h100") == "new"
    assert "they have a pool of that name; yours is called 'new (2)'" in sentences(result)


def test_an_order_that_one_made_is_kept_with_what_the_other_added() -> None:
    mine = done(move(START, Place(Order.POOL_PRECEDENCE, "4xGPU"), "h100", 1))
    theirs = done(create(START, Policy(name="ops", reservation=Fraction(0))))
    theirs = done(connect(theirs, "ops", IntakeQueue(profile="4xGPU", queue="ops-q")))

    result = brought(mine, theirs)

    profile = result.side.configuration.profile_by_name["4xGPU"]
    assert [link.pool for link in profile.pools] == ["h100", "bare-metal"]
    assert profile.policies == ("dev", "research", "ops")
    assert result.conflicts == ()


def test_two_orders_of_three_are_a_conflict() -> None:
    pools = [Pool(name=name, resources=Fraction(1)) for name in ("a", "b", "c")]
    start = Edited(Configuration(pools=tuple(pools)))
    mine = done(move(start, Place(Order.POOLS), "c", 1))
    theirs = done(move(start, Place(Order.POOLS), "a", 3))
    theirs = done(move(theirs, Place(Order.POOLS), "c", 1))

    result = rebase(side(start), side(mine), side(theirs))

    assert [pool.name for pool in result.side.configuration.pools] == ["c", "b", "a"]
    assert sentences(result) == "Both changed the order of the pools; theirs stays."


def test_the_same_two_connected_twice_are_connected_once() -> None:
    start = done(unlink(START, "4 GPU H100 link"))
    mine = done(link(start, "4xGPU", Link(pool="h100", name="my link")))
    theirs = done(link(start, "4xGPU", Link(pool="h100", name="their link")))

    result = rebase(side(start), side(mine), side(theirs))

    names = [link.name for link in result.side.configuration.profiles[0].pools]
    assert names == ["4 GPU Low End", "their link"]
    assert "'my link': they connected the same two; yours is left out" in sentences(result)


def test_renames_are_carried_over_to_the_version_that_came_between() -> None:
    first = Renames.of({Kind.POOL: {"a": "b"}})
    both = Renames.of({Kind.POOL: {"a": "c"}})

    rest = after(first, both)

    assert rest.current(Kind.POOL, "b") == "c"
    assert then(first, rest).current(Kind.POOL, "a") == "c"
