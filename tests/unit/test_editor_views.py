"""The editor's pages and forms: within Slack's limits whatever is in them, and read as shown."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.editing_bench import Bench
from bot.editing_deeds import removed
from bot.editing_fields import thing_of
from bot.editing_forms import join_form, label_form, place_form, sure_form, thing_form
from bot.editing_pages import Window, page
from bot.editing_spots import KINDS, Deed, Listing, Spot, entries, things_of
from bot.editing_words import count
from bot.surfaces import Errors, fields_of
from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile, Team
from domain.editing import Edited
from domain.edits import Thing, kind_of, names_of
from domain.renames import Kind
from sandbox.slack.fields import initial_values
from sandbox.slack.limits import check_view
from storage.working_copies import WorkingCopy
from tests.configurations import WORKED, configurations, laws

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def bench(configuration: Configuration, others: int = 0) -> Bench:
    copy = WorkingCopy(
        user="U_ADA",
        configuration=configuration,
        base=0,
        changed_at=NOW,
        revision=1,
        origin=Configuration(),
    )
    else_ = tuple(replace(copy, user=f"U_{n}") for n in range(others))
    return Bench(copy=copy, draft=None, version=None, others=else_, now=NOW)


def spots(configuration: Configuration) -> Iterator[Spot]:
    """Every page there is."""
    for kind in KINDS:
        yield Spot(kind, None, 99)
        yield from (Spot(kind, index) for index in range(len(names_of(configuration, kind))))


def crowd(size: int) -> Configuration:
    """As many of everything, all connected, with the longest names."""
    called = {kind: [f"{kind} {n:03} ".ljust(200, "&") for n in range(size)] for kind in Kind}
    pools, profiles, policies = (called[kind] for kind in KINDS)
    hub, user = profiles[0], policies[0]
    return Configuration(
        pools=tuple(
            Pool(name=n, resources=Fraction(1), profiles=(hub,), description="d" * 2000)
            for n in pools
        ),
        profiles=tuple(
            Profile(
                name=n,
                allotment=Fraction(1, 7),
                parameter="runtime." + "p" * 190,
                pools=tuple(
                    Link(pool=pool, name=link)
                    for pool, link in zip(pools, called[Kind.LINK], strict=True)
                )
                if n == hub
                else (),
                policies=(user,),
            )
            for n in profiles
        ),
        policies=tuple(
            Policy(
                name=n,
                reservation=Fraction(0),
                queues=tuple(
                    IntakeQueue(profile=profile, queue=queue)
                    for profile, queue in zip(profiles, called[Kind.QUEUE], strict=True)
                )
                if n == user
                else (),
                team=Team(
                    users=tuple(f"U{n:09}" for n in range(size)),
                    clearml_users=tuple((f"U{n:09}", "c" * 32) for n in range(size)),
                ),
            )
            for n in policies
        ),
    )


CROWD = crowd(150)
PRIVATE = {"s": "c1", "at": "pool.149.1", "channel": "C" * 12}


def shown(view: dict[str, Any]) -> dict[str, Any]:
    """What a form's fields hold before anybody types."""
    return fields_of({"values": initial_values(view["blocks"])})


@laws
@given(configurations())
def test_every_page_is_within_the_limits_of_slack(configuration: Configuration) -> None:
    for spot in spots(configuration):
        assert check_view(page(Window(bench=bench(configuration), spot=spot))) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [None, 0, 149])
def test_pages_of_a_hundred_and_fifty_are_within_the_limits(kind: Kind, index: int | None) -> None:
    window = Window(bench=bench(CROWD, others=9), spot=Spot(kind, index, 2), channel="C" * 12)

    view = page(window)

    assert check_view(view) == []
    assert len(str(view)) < 60_000


@pytest.mark.parametrize("thing", [CROWD.pools[0], CROWD.profiles[0], CROWD.policies[0]])
def test_forms_of_the_longest_things_are_within_the_limits(thing: Thing) -> None:
    kind = kind_of(thing)
    deed, spot = Deed("delete"), Spot(kind, 0)
    gone = removed(spot, deed, CROWD)(Edited(CROWD))
    assert isinstance(gone, Edited)

    for view in (
        thing_form(kind, thing, PRIVATE),
        thing_form(kind, None, PRIVATE),
        join_form(kind, thing.name, PRIVATE),
        label_form("link", thing.name, PRIVATE),
        place_form(150, 150, PRIVATE),
        sure_form(deed, "?", gone.consequences, PRIVATE),
    ):
        assert check_view(view) == []


@laws
@given(configurations())
def test_a_form_that_is_not_touched_says_what_was_there(configuration: Configuration) -> None:
    for kind in KINDS:
        for thing in map(_sensible, things_of(configuration, kind)):
            view = thing_form(kind, thing, PRIVATE)
            assert check_view(view) == []

            said = thing_of(kind, shown(view), thing, configuration)

            assert said == _unconnected(thing)


def _sensible(thing: Thing) -> Thing:
    """Without what a form refuses to keep, whoever wrote it."""
    if isinstance(thing, Profile) and thing.parameter is not None:
        return replace(thing, parameter=f"runtime.{thing.parameter}")
    if isinstance(thing, Policy) and thing.limit is not None and thing.limit < thing.reservation:
        return replace(thing, limit=None)
    return thing


def _unconnected(thing: Thing) -> Thing:
    match thing:
        case Pool():
            return replace(thing, profiles=())
        case Profile():
            return replace(thing, pools=(), policies=())
    return replace(thing, queues=())


def test_what_is_too_long_to_be_shown_is_kept() -> None:
    policy = CROWD.policies[0]
    view = thing_form(Kind.POLICY, policy, PRIVATE)

    said = thing_of(Kind.POLICY, shown(view), policy, CROWD)

    assert isinstance(said, Policy)
    assert said.team == policy.team
    texts = [block["elements"][0]["text"] for block in view["blocks"] if block["type"] == "context"]
    assert len(texts) == 2
    assert all("to be edited here" in text for text in texts)


@pytest.mark.parametrize(
    ("typed", "pairs"),
    [
        ("U0123=ann", (("U0123", "ann"),)),
        ("ann\n\n  bob ", (("", "ann"), ("", "bob"))),
        ("a=b", (("", "a=b"),)),
        ("U0123 = x=y", (("U0123", "x=y"),)),
    ],
)
def test_clearml_users_are_read_line_by_line(
    typed: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    fields = {"name": "x", "reservation": "0", "clearml_users": typed}

    said = thing_of(Kind.POLICY, fields, None, WORKED)

    assert isinstance(said, Policy)
    assert said.team == Team(clearml_users=pairs)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("dev", "There is a policy 'dev' already; take another name."),
        ("DEV", "There is a policy 'dev' already; take another name."),
        ("   ", "The name '' is blank; write one line of 1 to 200 characters."),
    ],
)
def test_names_that_cannot_be_are_refused_at_the_name(name: str, error: str) -> None:
    said = thing_of(Kind.POLICY, {"name": name, "reservation": "0"}, None, WORKED)

    assert said == Errors(by_block={"name": error})


@given(
    st.sampled_from(KINDS),
    st.none() | st.integers(0, 10_000),
    st.integers(1, 10_000),
    st.sampled_from(list(Listing)),
)
def test_what_buttons_carry_is_short_and_read_again(
    kind: Kind, index: int | None, number: int, listing: Listing
) -> None:
    spot, deed = Spot(kind, index, number), Deed("relabel", listing, number)

    assert Spot.read(str(spot)) == spot
    assert Deed.read(str(deed)) == deed
    assert max(len(str(spot)), len(str(deed))) <= 75


@pytest.mark.parametrize("text", ["", "pool", "pool..x", "pool.x.1", "link..1", "pool.1"])
def test_what_is_no_spot_is_the_list_of_pools(text: str) -> None:
    assert Spot.read(text) == Spot()


def test_a_page_of_what_is_gone_is_its_list() -> None:
    view = page(Window(bench=bench(WORKED), spot=Spot(Kind.POOL, 7)))

    assert view["title"]["text"] == "Configuration"


def test_entries_are_those_of_the_page() -> None:
    assert entries(Spot(Kind.POOL, 1), Listing.PRIORITY, WORKED) == ["4xGPU"]
    assert entries(Spot(Kind.PROFILE, 0), Listing.PRECEDENCE, WORKED) == ["bare-metal", "h100"]
    assert entries(Spot(Kind.PROFILE, 0), Listing.POLICIES, WORKED) == ["dev", "research"]
    assert entries(Spot(Kind.POLICY, 1), Listing.QUEUES, WORKED) == ["4xGPU"]


def test_numbers_are_said_with_their_noun() -> None:
    assert [count(n, "policy") for n in (0, 1, 2)] == ["0 policies", "1 policy", "2 policies"]
