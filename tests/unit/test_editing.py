"""Edits: what each does, what falls with it, what is refused, and what holds after any of them."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from domain.configuration import (
    CGPU,
    Configuration,
    IntakeQueue,
    Link,
    Policy,
    Pool,
    Profile,
    Team,
)
from domain.editing import (
    Edit,
    Edited,
    Order,
    Place,
    Refused,
    connect,
    create,
    delete,
    disconnect,
    edit,
    link,
    move,
    rename,
    reorder,
    set_cgpu,
    unlink,
)
from domain.edits import names_of
from domain.renames import Kind, Renames
from domain.validation import validate
from storage.documents import read_configuration, write_configuration
from tests.configurations import WORKED, amounts, configurations, laws, names, teams

DRAFT = Edited(WORKED)
BARE, H100 = WORKED.pools
FOUR = WORKED.profiles[0]
DEV, RESEARCH = WORKED.policies
ONE = Profile(name="1xGPU", allotment=Fraction(1))

Step = Callable[[Edited], Edit]


def done(result: Edit) -> Edited:
    assert isinstance(result, Edited), str(result)
    return result


def with_one() -> Edited:
    """The worked example and a second profile, linked to h100 and used by dev."""
    draft = done(create(DRAFT, ONE))
    draft = done(link(draft, "1xGPU", Link(pool="h100", name="1 GPU")))
    return done(connect(draft, "dev", IntakeQueue(profile="1xGPU", queue="dev-1gpu")))


def test_what_is_created_comes_last_and_has_no_connections() -> None:
    draft = done(create(DRAFT, replace(H100, name="aws")))
    draft = done(create(draft, replace(FOUR, name="8xGPU")))
    draft = done(create(draft, replace(DEV, name="ops")))

    assert draft.configuration.pools[-1] == replace(H100, name="aws", profiles=())
    assert draft.configuration.profiles[-1] == replace(FOUR, name="8xGPU", pools=(), policies=())
    assert draft.configuration.policies[-1] == replace(DEV, name="ops", queues=())


def test_an_edit_leaves_connections_as_they_are() -> None:
    draft = done(edit(DRAFT, Pool(name="h100", resources=Fraction(16))))
    draft = done(edit(draft, replace(FOUR, allotment=Fraction(2), pools=(), policies=())))
    draft = done(edit(draft, replace(DEV, lend=False, queues=())))

    assert draft.configuration.pools[1] == replace(H100, resources=Fraction(16))
    assert draft.configuration.profiles[0] == replace(FOUR, allotment=Fraction(2))
    assert draft.configuration.policies[0] == replace(DEV, lend=False)


def test_what_is_newly_connected_comes_last_in_every_priority() -> None:
    draft = with_one()
    draft = done(link(draft, "1xGPU", Link(pool="bare-metal", name="1 GPU cheap")))
    draft = done(connect(draft, "research", IntakeQueue(profile="1xGPU", queue="research-1gpu")))

    one = draft.configuration.profile_by_name["1xGPU"]
    assert [found.pool for found in one.pools] == ["h100", "bare-metal"]
    assert one.policies == ("dev", "research")
    assert draft.configuration.pool_by_name["h100"].profiles == ("4xGPU", "1xGPU")
    assert [queue.queue for queue in draft.configuration.policies[0].queues] == [
        "dev-4gpu",
        "dev-1gpu",
    ]
    assert validate(draft.configuration) == ()


def test_a_rename_is_made_wherever_the_name_stands() -> None:
    draft = DRAFT
    for kind, old, new in (
        (Kind.POOL, "h100", "superpod"),
        (Kind.PROFILE, "4xGPU", "quad"),
        (Kind.POLICY, "dev", "engineering"),
        (Kind.LINK, "4 GPU Low End", "cheap"),
        (Kind.QUEUE, "dev-4gpu", "engineering-quad"),
    ):
        draft = done(rename(draft, kind, old, new))

    assert draft.configuration == Configuration(
        pools=(
            replace(BARE, profiles=("quad",)),
            replace(H100, name="superpod", profiles=("quad",)),
        ),
        profiles=(
            replace(
                FOUR,
                name="quad",
                pools=(
                    Link(pool="bare-metal", name="cheap"),
                    Link(pool="superpod", name="4 GPU H100 link"),
                ),
                policies=("engineering", "research"),
            ),
        ),
        policies=(
            replace(
                DEV,
                name="engineering",
                queues=(IntakeQueue(profile="quad", queue="engineering-quad"),),
            ),
            replace(RESEARCH, queues=(IntakeQueue(profile="quad", queue="research-4gpu"),)),
        ),
    )
    assert draft.renames.current(Kind.POOL, "h100") == "superpod"
    assert draft.consequences == (
        "Who enqueues to 'dev-4gpu' by name has to use 'engineering-quad' from now on.",
    )


def test_a_name_may_change_its_case() -> None:
    draft = done(rename(DRAFT, Kind.POOL, "h100", "H100"))

    assert names_of(draft.configuration, Kind.POOL) == ["bare-metal", "H100"]


@pytest.mark.parametrize(
    ("step", "consequences"),
    [
        pytest.param(
            lambda: delete(with_one(), Kind.POOL, "h100"),
            (
                "The link '4 GPU H100 link' from profile '4xGPU' to pool 'h100' and its "
                "execution queue go; tasks that wait in it return to their intake queues.",
                "The link '1 GPU' from profile '1xGPU' to pool 'h100' and its execution queue "
                "go; tasks that wait in it return to their intake queues.",
                "Profile '1xGPU' is linked to no pool then: no job of it can run.",
            ),
            id="a pool",
        ),
        pytest.param(
            lambda: delete(with_one(), Kind.PROFILE, "1xGPU"),
            (
                "The link '1 GPU' from profile '1xGPU' to pool 'h100' and its execution queue "
                "go; tasks that wait in it return to their intake queues.",
                "The queue 'dev-1gpu' of policy 'dev' for profile '1xGPU' goes; tasks that wait "
                "in it become drafts.",
            ),
            id="a profile",
        ),
        pytest.param(
            lambda: delete(DRAFT, Kind.POLICY, "dev"),
            (
                "The queue 'dev-4gpu' of policy 'dev' for profile '4xGPU' goes; tasks that wait "
                "in it become drafts.",
            ),
            id="a policy",
        ),
        pytest.param(
            lambda: unlink(with_one(), "1 GPU"),
            (
                "The link '1 GPU' from profile '1xGPU' to pool 'h100' and its execution queue "
                "go; tasks that wait in it return to their intake queues.",
                "Profile '1xGPU' is linked to no pool then: no job of it can run.",
            ),
            id="a link",
        ),
        pytest.param(
            lambda: disconnect(DRAFT, "dev", "4xGPU"),
            (
                "The queue 'dev-4gpu' of policy 'dev' for profile '4xGPU' goes; tasks that wait "
                "in it become drafts.",
                "Policy 'dev' uses no profile then: nobody can enqueue to it.",
            ),
            id="a queue",
        ),
    ],
)
def test_what_falls_with_a_deletion_is_said(
    step: Callable[[], Edit], consequences: tuple[str, ...]
) -> None:
    assert done(step()).consequences == consequences


def test_orders_are_changed_as_a_whole_or_one_by_one() -> None:
    draft = with_one()
    draft = done(reorder(draft, Place(Order.POOLS), ["h100", "bare-metal"]))
    draft = done(reorder(draft, Place(Order.PROFILES), ["1xGPU", "4xGPU"]))
    draft = done(reorder(draft, Place(Order.POLICIES), ["research", "dev"]))
    draft = done(move(draft, Place(Order.EXECUTION_PRIORITY, "h100"), "1xGPU", 1))
    draft = done(move(draft, Place(Order.POOL_PRECEDENCE, "4xGPU"), "bare-metal", 2))
    draft = done(move(draft, Place(Order.POLICY_PRIORITY, "4xGPU"), "dev", 2))

    now = draft.configuration
    assert names_of(now, Kind.POOL) == ["h100", "bare-metal"]
    assert names_of(now, Kind.PROFILE) == ["1xGPU", "4xGPU"]
    assert names_of(now, Kind.POLICY) == ["research", "dev"]
    assert now.pool_by_name["h100"].profiles == ("1xGPU", "4xGPU")
    assert now.profile_by_name["4xGPU"].pools == FOUR.pools[::-1]
    assert now.profile_by_name["4xGPU"].policies == ("research", "dev")


def test_the_cgpu_policy_is_set_and_taken_away() -> None:
    draft = done(set_cgpu(DRAFT, 3))

    assert draft.configuration.cgpu == CGPU(policy=3)
    assert done(set_cgpu(draft, None)).configuration == WORKED


REFUSALS = [
    pytest.param(
        lambda: create(DRAFT, replace(H100, name="H100")),
        "there is a pool 'h100' already; take another name.",
        id="a name that is taken",
    ),
    pytest.param(
        lambda: create(DRAFT, replace(H100, name="a\nb")),
        "the name 'a\\nb' has a line break or another control character; write one line of 1 to "
        "200 characters.",
        id="a name with a line break",
    ),
    pytest.param(
        lambda: rename(DRAFT, Kind.QUEUE, "dev-4gpu", " x"),
        "the name ' x' begins or ends with a space; take it away.",
        id="a name that begins with a space",
    ),
    pytest.param(
        lambda: rename(DRAFT, Kind.LINK, "cheap", "x"),
        "there is no link 'cheap'; name an existing link.",
        id="a rename of nothing",
    ),
    pytest.param(
        lambda: edit(DRAFT, ONE),
        "there is no profile '1xGPU'; name an existing profile.",
        id="an edit of nothing",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(FOUR, allotment=Fraction(0))),
        "the allotment is no amount; say more than 0, at most 1000000.",
        id="an allotment of nothing",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(DEV, reservation=Fraction(-1))),
        "the reservation is no amount; say 0 or more, at most 1000000.",
        id="a negative reservation",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(DEV, limit=Fraction(0))),
        "the limit is no amount; say more than 0, at most 1000000.",
        id="a limit of nothing",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(H100, resources=Fraction(1, 2_000_000))),
        "the resources is no amount; say 0 or more, at most 1000000.",
        id="too fine resources",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(H100, description="x" * 2001)),
        "the description has 2001 characters, more than 2000; write at most 2,000 characters of "
        "plain text.",
        id="too long a description",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(H100, nodes=(("a", "1"), ("a", "2")))),
        "a node label is there twice; leave one of them.",
        id="a node label twice",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(FOUR, parameter=" ")),
        "the parameter ' ' is blank; write one line of text.",
        id="a blank parameter",
    ),
    pytest.param(
        lambda: edit(DRAFT, replace(DEV, team=Team(clearml_users=(("U1", ""),)))),
        "the ClearML user '' is blank; write one line of text.",
        id="a blank user",
    ),
    pytest.param(
        lambda: delete(DRAFT, Kind.POOL, "aws"),
        "there is no pool 'aws'; name an existing pool.",
        id="a deletion of nothing",
    ),
    pytest.param(
        lambda: delete(DRAFT, Kind.LINK, "4 GPU Low End"),
        "a link cannot be deleted by itself; disconnect what it connects.",
        id="a deletion of a link",
    ),
    pytest.param(
        lambda: link(DRAFT, "4xGPU", Link(pool="h100", name="another")),
        "profile '4xGPU' is linked to pool 'h100' already; rename that link or take another pool.",
        id="a second link between the same two",
    ),
    pytest.param(
        lambda: link(DRAFT, "4xGPU", Link(pool="aws", name="another")),
        "there is no pool 'aws'; name an existing pool.",
        id="a link to nothing",
    ),
    pytest.param(
        lambda: unlink(DRAFT, "another"),
        "there is no link 'another'; name an existing link.",
        id="no link to take away",
    ),
    pytest.param(
        lambda: connect(DRAFT, "dev", IntakeQueue(profile="4xGPU", queue="more")),
        "policy 'dev' has a queue for profile '4xGPU' already; rename that queue or take another "
        "profile.",
        id="a second queue for a profile",
    ),
    pytest.param(
        lambda: disconnect(DRAFT, "dev", "1xGPU"),
        "policy 'dev' has no queue for profile '1xGPU'; name a profile that it uses.",
        id="no queue to take away",
    ),
    pytest.param(
        lambda: reorder(DRAFT, Place(Order.POOLS), ["h100"]),
        "the order of pools has 'bare-metal' and 'h100'; name each of them exactly once.",
        id="an order that lacks one",
    ),
    pytest.param(
        lambda: reorder(DRAFT, Place(Order.POLICY_PRIORITY, "4xGPU"), ["dev", "dev"]),
        "the policy priority of '4xGPU' has 'dev' and 'research'; name each of them exactly once.",
        id="an order that has one twice",
    ),
    pytest.param(
        lambda: reorder(DRAFT, Place(Order.EXECUTION_PRIORITY, "aws"), []),
        "there is no pool 'aws'; name an existing pool.",
        id="an order of nothing",
    ),
    pytest.param(
        lambda: move(DRAFT, Place(Order.POOLS), "aws", 1),
        "the order of pools has no 'aws'; name one of 'bare-metal' and 'h100'.",
        id="a move of nothing",
    ),
    pytest.param(
        lambda: move(DRAFT, Place(Order.POOLS), "h100", 3),
        "there is no position 3 among 2; say 1 to 2.",
        id="a move too far",
    ),
    pytest.param(
        lambda: set_cgpu(DRAFT, 6),
        "6 is none of the cGPU policies; say a whole number from 0 to 5.",
        id="a cGPU policy that there is not",
    ),
]


@pytest.mark.parametrize(("step", "sentence"), REFUSALS)
def test_a_refusal_says_why_and_what_to_do(step: Callable[[], Edit], sentence: str) -> None:
    result = step()

    assert isinstance(result, Refused)
    assert str(result) == sentence


@laws
@given(configurations(), st.data())
def test_connecting_and_disconnecting_changes_nothing(
    configuration: Configuration, data: st.DataObject
) -> None:
    draft = done(create(Edited(configuration), Pool(name="the new pool", resources=Fraction(1))))
    draft = done(create(draft, replace(ONE, name="the new profile")))
    draft = done(create(draft, Policy(name="the new policy", reservation=Fraction(1))))
    pool = data.draw(st.sampled_from(names_of(draft.configuration, Kind.POOL)))
    policy = data.draw(st.sampled_from(names_of(draft.configuration, Kind.POLICY)))

    linked = done(link(draft, "the new profile", Link(pool=pool, name="the new link")))
    queue = IntakeQueue(profile="the new profile", queue="the new queue")
    connected = done(connect(linked, policy, queue))

    apart = done(disconnect(connected, policy, "the new profile"))
    assert apart.configuration == linked.configuration
    assert done(unlink(apart, "the new link")).configuration == draft.configuration
    assert done(delete(draft, Kind.POOL, "the new pool")).renames == Renames()


class AnyEdits(RuleBasedStateMachine):
    """Any sequence of edits, of what is there and what is not."""

    def __init__(self) -> None:
        super().__init__()
        self.draft = DRAFT

    def take(self, result: Edit) -> None:
        if isinstance(result, Edited):
            self.draft = result
        else:
            assert str(result).endswith(".")

    def some(self, data: st.DataObject, kind: Kind) -> str:
        there = names_of(self.draft.configuration, kind)
        return data.draw(st.sampled_from([*there, "nobody"]))

    @rule(name=names, resources=amounts)
    def create_pool(self, name: str, resources: Fraction) -> None:
        self.take(create(self.draft, Pool(name=name, resources=resources)))

    @rule(name=names, allotment=amounts)
    def create_profile(self, name: str, allotment: Fraction) -> None:
        self.take(create(self.draft, Profile(name=name, allotment=allotment)))

    @rule(name=names, reservation=amounts, team=st.none() | teams)
    def create_policy(self, name: str, reservation: Fraction, team: Team | None) -> None:
        self.take(create(self.draft, Policy(name=name, reservation=reservation, team=team)))

    @rule(data=st.data(), resources=amounts)
    def edit_pool(self, data: st.DataObject, resources: Fraction) -> None:
        name = self.some(data, Kind.POOL)
        self.take(edit(self.draft, Pool(name=name, resources=resources)))

    @rule(data=st.data(), kind=st.sampled_from(Kind), new=names)
    def rename(self, data: st.DataObject, kind: Kind, new: str) -> None:
        self.take(rename(self.draft, kind, self.some(data, kind), new))

    @rule(data=st.data(), kind=st.sampled_from(Kind))
    def delete(self, data: st.DataObject, kind: Kind) -> None:
        self.take(delete(self.draft, kind, self.some(data, kind)))

    @rule(data=st.data(), name=names)
    def link(self, data: st.DataObject, name: str) -> None:
        new = Link(pool=self.some(data, Kind.POOL), name=name)
        self.take(link(self.draft, self.some(data, Kind.PROFILE), new))

    @rule(data=st.data())
    def unlink(self, data: st.DataObject) -> None:
        self.take(unlink(self.draft, self.some(data, Kind.LINK)))

    @rule(data=st.data(), name=names)
    def connect(self, data: st.DataObject, name: str) -> None:
        new = IntakeQueue(profile=self.some(data, Kind.PROFILE), queue=name)
        self.take(connect(self.draft, self.some(data, Kind.POLICY), new))

    @rule(data=st.data())
    def disconnect(self, data: st.DataObject) -> None:
        policy, profile = self.some(data, Kind.POLICY), self.some(data, Kind.PROFILE)
        self.take(disconnect(self.draft, policy, profile))

    @rule(data=st.data(), order=st.sampled_from(Order), to=st.integers(0, 3))
    def move(self, data: st.DataObject, order: Order, to: int) -> None:
        owner = {Order.EXECUTION_PRIORITY: Kind.POOL}.get(order, Kind.PROFILE)
        moved = {
            Order.EXECUTION_PRIORITY: Kind.PROFILE,
            Order.PROFILES: Kind.PROFILE,
            Order.POLICIES: Kind.POLICY,
            Order.POLICY_PRIORITY: Kind.POLICY,
        }.get(order, Kind.POOL)
        place = Place(order, self.some(data, owner) if " of " not in order else "")
        self.take(move(self.draft, place, self.some(data, moved), to))

    @invariant()
    def can_be_written_and_read(self) -> None:
        configuration = self.draft.configuration
        assert read_configuration(write_configuration(configuration)) == configuration

    @invariant()
    def has_no_faults_that_edits_prevent(self) -> None:
        codes = {finding.code for finding in validate(self.draft.configuration)}
        assert not codes & {
            "name_duplicate",
            "name_invalid",
            "reference_unknown",
            "priority_mismatch",
            "link_duplicate",
            "queue_duplicate",
            "amount_invalid",
        }


TestAnyEdits = AnyEdits.TestCase
TestAnyEdits.settings = laws


class AnyRenames(RuleBasedStateMachine):
    """Renames beside a record of which object is which.

    An object that is created under the name of one that was deleted takes its place.
    """

    def __init__(self) -> None:
        super().__init__()
        self.renames = Renames()
        self.now = {"a": "a", "b": "b", "c": "c"}
        """Object, by its name in the base version or a number → its present name."""
        self.born = 0

    def free(self, name: str) -> bool:
        return name not in self.now.values()

    @rule(data=st.data(), new=st.sampled_from("abcdef"))
    def rename(self, data: st.DataObject, new: str) -> None:
        if not self.now:
            return
        which = data.draw(st.sampled_from(sorted(self.now)))
        if self.free(new) or new == self.now[which]:
            self.renames = self.renames.then(Kind.POOL, self.now[which], new)
            self.now[which] = new

    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        if not self.now:
            return
        which = data.draw(st.sampled_from(sorted(self.now)))
        self.renames = self.renames.without(Kind.POOL, self.now.pop(which))

    @rule(name=st.sampled_from("abcdef"))
    def create(self, name: str) -> None:
        if self.free(name):
            self.born += 1
            self.now[f"new {self.born}"] = name

    @invariant()
    def each_object_keeps_its_own(self) -> None:
        base = {was: now for was, now in self.now.items() if was in "abc"}
        for was in "abc":
            current = self.renames.current(Kind.POOL, was)
            if was in base:
                assert current == base[was]
            else:
                assert current not in base.values()

    @invariant()
    def no_two_lead_to_one(self) -> None:
        led = [self.renames.current(Kind.POOL, was) for was in "abc"]
        assert len(set(led)) == len(led)


TestAnyRenames = AnyRenames.TestCase
TestAnyRenames.settings = laws


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        pytest.param([("a", "b"), ("b", "c")], {"a": "c"}, id="twice"),
        pytest.param([("a", "b"), ("b", "a")], {}, id="and back"),
        pytest.param(
            [("a", "x"), ("b", "a"), ("x", "b")], {"a": "b", "b": "a"}, id="two that swap"
        ),
    ],
)
def test_renames_are_composed(steps: list[tuple[str, str]], names: dict[str, str]) -> None:
    renames = Renames()
    for old, new in steps:
        renames = renames.then(Kind.POOL, old, new)

    led = renames.by_kind.get(Kind.POOL, {})
    assert {was: now for was, now in led.items() if "\t" not in now} == names
