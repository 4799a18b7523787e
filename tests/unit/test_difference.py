"""Differences: one sentence for each, none where there is none, none left out."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from domain.configuration import (
    CGPU,
    Configuration,
    IntakeQueue,
    Link,
    Membership,
    Policy,
    Pool,
    Profile,
    Queueing,
    Team,
)
from domain.difference import Act, difference
from domain.editing import (
    Edit,
    Edited,
    Order,
    Place,
    connect,
    create,
    delete,
    link,
    rename,
    reorder,
    set_cgpu,
    unlink,
)
from domain.editing import edit as changed
from domain.renames import Kind
from tests.configurations import WORKED, configurations, laws

BARE, H100 = WORKED.pools
FOUR = WORKED.profiles[0]
DEV, RESEARCH = WORKED.policies

Step = Callable[[Edited], Edit]


def after(*steps: Step) -> Edited:
    draft = Edited(WORKED)
    for step in steps:
        result = step(draft)
        assert isinstance(result, Edited), result
        draft = result
    return draft


STRICT = Queueing.STRICT
CHANGES = [
    pytest.param(
        [lambda d: changed(d, replace(H100, resources=Fraction(33, 2)))],
        ["Pool h100: resources 8 → 16.5."],
        id="resources",
    ),
    pytest.param(
        [lambda d: changed(d, replace(H100, description="new", nodes=(("gpu", "h100"),)))],
        ["Pool h100: description '' → 'new'.", "Pool h100: nodes any → gpu=h100."],
        id="a description and node labels",
    ),
    pytest.param(
        [
            lambda d: changed(
                d, replace(FOUR, allotment=Fraction(1, 7), parameter="runtime.x", queueing=STRICT)
            )
        ],
        [
            "Profile 4xGPU: allotment 4 → 1/7.",
            "Profile 4xGPU: parameter none → runtime.x.",
            "Profile 4xGPU: queueing backfill → strict.",
        ],
        id="a profile",
    ),
    pytest.param(
        [
            lambda d: changed(
                d,
                replace(
                    DEV,
                    reservation=Fraction(0),
                    limit=None,
                    lend=False,
                    membership=Membership.RETURN,
                ),
            )
        ],
        [
            "Policy dev: reservation 8 → 0.",
            "Policy dev: limit 16 → none.",
            "Policy dev: lend yes → no.",
            "Policy dev: membership report → return.",
        ],
        id="a policy",
    ),
    pytest.param(
        [
            lambda d: changed(
                d, replace(DEV, team=Team(channel="C1", users=("U1",), clearml_users=(("", "c"),)))
            )
        ],
        [
            "Policy dev: team none → given.",
            "Policy dev: channel none → C1.",
            "Policy dev: users none → U1.",
            "Policy dev: ClearML users none → nobody as c.",
        ],
        id="a team",
    ),
    pytest.param(
        [
            lambda d: create(d, Pool(name="aws", resources=Fraction(4))),
            lambda d: link(d, "4xGPU", Link(pool="aws", name="cloud")),
        ],
        [
            "Pool aws is new: resources 4.",
            "Link cloud connects profile 4xGPU with pool aws.",
        ],
        id="a pool and its link",
    ),
    pytest.param(
        [
            lambda d: create(d, Profile(name="1x", allotment=Fraction(1), parameter="runtime.y")),
            lambda d: create(d, Policy(name="ops", reservation=Fraction(1))),
            lambda d: connect(d, "ops", IntakeQueue(profile="1x", queue="ops-1")),
        ],
        [
            "Profile 1x is new: allotment 1, parameter runtime.y.",
            "Policy ops is new: reservation 1.",
            "Queue ops-1 connects policy ops with profile 1x.",
        ],
        id="a profile, a policy and their queue",
    ),
    pytest.param(
        [lambda d: unlink(d, "4 GPU Low End")],
        ["Link 4 GPU Low End of profile 4xGPU with pool bare-metal is removed."],
        id="a link taken away",
    ),
    pytest.param(
        [lambda d: delete(d, Kind.POLICY, "research")],
        [
            "Policy research is deleted.",
            "Queue research-4gpu of policy research with profile 4xGPU is removed.",
        ],
        id="a policy deleted",
    ),
    pytest.param(
        [lambda d: rename(d, Kind.POOL, "h100", "superpod")],
        ["Pool h100 is renamed to superpod."],
        id="a pool renamed",
    ),
    pytest.param(
        [
            lambda d: rename(d, Kind.POLICY, "dev", "x"),
            lambda d: rename(d, Kind.POLICY, "research", "dev"),
            lambda d: rename(d, Kind.POLICY, "x", "research"),
        ],
        ["Policy dev is renamed to research.", "Policy research is renamed to dev."],
        id="two policies that swap names",
    ),
    pytest.param(
        [
            lambda d: delete(d, Kind.POLICY, "dev"),
            lambda d: rename(d, Kind.POLICY, "research", "dev"),
        ],
        [
            "Policy research is renamed to dev.",
            "Policy dev is deleted.",
            "Queue dev-4gpu of policy dev with profile 4xGPU is removed.",
        ],
        id="a policy deleted and another under its name",
    ),
    pytest.param(
        [
            lambda d: reorder(d, Place(Order.POOLS), ["h100", "bare-metal"]),
            lambda d: reorder(d, Place(Order.POOL_PRECEDENCE, "4xGPU"), ["h100", "bare-metal"]),
            lambda d: reorder(d, Place(Order.POLICY_PRIORITY, "4xGPU"), ["research", "dev"]),
        ],
        [
            "Profile 4xGPU: pool precedence bare-metal, h100 → h100, bare-metal.",
            "Profile 4xGPU: policy priority dev, research → research, dev.",
            "Order of pools: bare-metal, h100 → h100, bare-metal.",
        ],
        id="orders",
    ),
    pytest.param(
        [lambda d: set_cgpu(d, 3)], ["cGPU: not managed → policy 3."], id="the cGPU policy"
    ),
    pytest.param(
        [lambda d: changed(d, replace(H100, profiles=()))],
        [],
        id="connections are not for an edit to change",
    ),
]


@pytest.mark.parametrize(("steps", "sentences"), CHANGES)
def test_changes_are_sentences(steps: list[Step], sentences: list[str]) -> None:
    draft = after(*steps)

    changes = difference(WORKED, draft.configuration, draft.renames)

    assert [change.sentence for change in changes] == sentences


def test_without_renames_another_name_is_another_object() -> None:
    draft = after(lambda d: rename(d, Kind.POOL, "h100", "superpod"))

    changes = difference(WORKED, draft.configuration)

    assert [(change.act, change.name) for change in changes[:2]] == [
        (Act.REMOVED, "h100"),
        (Act.ADDED, "superpod"),
    ]


@laws
@given(configurations(), configurations())
def test_there_are_changes_exactly_where_there_is_a_difference(
    one: Configuration, other: Configuration
) -> None:
    assert difference(one, one) == ()
    assert (difference(one, other) == ()) == (one == other)


@laws
@given(configurations())
def test_every_single_value_is_compared(configuration: Configuration) -> None:
    alone = [
        replace(configuration, cgpu=CGPU(policy=5 if configuration.cgpu is None else 0)),
        *(
            replace(configuration, policies=(*configuration.policies[:-1], policy))
            for last in configuration.policies[-1:]
            for policy in (
                replace(last, reservation=last.reservation + 1),
                replace(last, limit=(last.limit or 0) + Fraction(1)),
                replace(last, lend=not last.lend),
                replace(last, team=Team() if last.team is None else None),
                replace(last, team=Team(users=("U1",) * 9)),
                replace(last, team=Team(clearml_users=(("U1", "c"),) * 9)),
            )
        ),
        *(
            replace(configuration, pools=(*configuration.pools[:-1], pool))
            for last in configuration.pools[-1:]
            for pool in (
                replace(last, description="x" * 61 + last.description),
                replace(last, nodes=(*last.nodes, ("another", "label"))),
            )
        ),
    ]

    for other in alone:
        assert (difference(configuration, other) == ()) == (other == configuration)
