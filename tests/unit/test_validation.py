"""Validation: every finding has its case, and promises are checked against their definition."""

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from domain.configuration import Configuration, IntakeQueue, Link, Policy, Pool, Profile
from domain.findings import Severity
from domain.promises import Shortfall, pools_of, promised, shortfalls
from domain.renames import Kind
from domain.validation import Observed, is_valid, validate
from domain.validation_amounts import largest_sum, unrounded
from tests.configurations import WORKED, configurations, laws

BARE, H100 = WORKED.pools
FOUR = WORKED.profiles[0]
DEV, RESEARCH = WORKED.policies


def with_pools(*pools: Pool) -> Configuration:
    return replace(WORKED, pools=pools)


def with_profile(profile: Profile) -> Configuration:
    return replace(WORKED, profiles=(profile,))


def with_dev(policy: Policy) -> Configuration:
    return replace(WORKED, policies=(policy, RESEARCH))


def amount(number: str) -> Fraction:
    return Fraction(number)


FINDINGS = [
    pytest.param(
        with_pools(BARE, replace(H100, name="BARE-METAL")),
        ("name_duplicate", Kind.POOL, "BARE-METAL"),
        "has a name that is told from 'bare-metal' by case only",
        id="pools that differ in case only",
    ),
    pytest.param(
        with_pools(BARE, H100, H100),
        ("name_duplicate", Kind.POOL, "h100"),
        "has a name that is there already",
        id="a pool twice",
    ),
    pytest.param(
        with_dev(replace(DEV, queues=(IntakeQueue(profile="4xGPU", queue="Research-4gpu"),))),
        ("name_duplicate", Kind.QUEUE, "research-4gpu"),
        "has a name that is told from 'Research-4gpu' by case only",
        id="queues that differ in case only",
    ),
    pytest.param(
        with_profile(replace(FOUR, pools=(FOUR.pools[0], Link(pool="h100", name="4 gpu low end")))),
        ("name_duplicate", Kind.LINK, "4 gpu low end"),
        "has a name that is told from '4 GPU Low End' by case only",
        id="links that differ in case only",
    ),
    pytest.param(
        with_dev(
            replace(
                DEV, queues=(IntakeQueue(profile="4xGPU", queue="Pool h100 · 4 GPU H100 link"),)
            )
        ),
        ("name_duplicate", Kind.QUEUE, "Pool h100 · 4 GPU H100 link"),
        "has the name of the execution queue of link '4 GPU H100 link'",
        id="an intake queue that is an execution queue",
    ),
    pytest.param(
        with_dev(replace(DEV, queues=(IntakeQueue(profile="4xGPU", queue="q4"),))),
        ("queue_name_short", Kind.QUEUE, "q4"),
        "has a name of fewer than 3 characters",
        id="a queue name of two characters",
    ),
    pytest.param(
        with_dev(replace(DEV, queues=(IntakeQueue(profile="4xGPU", queue="dev-4gpu "),))),
        ("name_invalid", Kind.QUEUE, "dev-4gpu "),
        "begins or ends with a space, which nobody sees",
        id="a name that ends with a space",
    ),
    pytest.param(
        with_pools(BARE, H100, Pool(name="a\nb", resources=amount("1"))),
        ("name_invalid", Kind.POOL, "a\nb"),
        "has a line break or another control character",
        id="a name with a line break",
    ),
    pytest.param(
        replace(WORKED, pools=(BARE,)),
        ("reference_unknown", Kind.PROFILE, "4xGPU"),
        "is linked to 'h100', which is no pool",
        id="a link to no pool",
    ),
    pytest.param(
        replace(WORKED, profiles=()),
        ("reference_unknown", Kind.POLICY, "dev"),
        "has a queue for '4xGPU', which is no profile",
        id="a queue for no profile",
    ),
    pytest.param(
        with_profile(replace(FOUR, pools=())),
        ("profile_unlinked", Kind.PROFILE, "4xGPU"),
        "is linked to no pool, so its jobs can never run",
        id="an unlinked profile",
    ),
    pytest.param(
        with_profile(replace(FOUR, pools=(*FOUR.pools, Link(pool="h100", name="again")))),
        ("link_duplicate", Kind.PROFILE, "4xGPU"),
        "is linked to pool 'h100' 2 times",
        id="a link twice between the same two",
    ),
    pytest.param(
        with_dev(replace(DEV, queues=(*DEV.queues, IntakeQueue(profile="4xGPU", queue="more")))),
        ("queue_duplicate", Kind.POLICY, "dev"),
        "has 2 queues for profile '4xGPU'",
        id="two queues for a profile",
    ),
    pytest.param(
        with_pools(BARE, replace(H100, profiles=("other", "other"))),
        ("priority_mismatch", Kind.POOL, "h100"),
        "has a wrong execution priority: it lacks '4xGPU', repeats 'other', names without a "
        "connection 'other'",
        id="an execution priority that does not match",
    ),
    pytest.param(
        with_profile(replace(FOUR, policies=("dev",))),
        ("priority_mismatch", Kind.PROFILE, "4xGPU"),
        "has a wrong policy priority: it lacks 'research'",
        id="a policy priority that does not match",
    ),
    pytest.param(
        with_pools(BARE, replace(H100, resources=amount("-8"))),
        ("amount_invalid", Kind.POOL, "h100"),
        "has the resources -8, which is no amount",
        id="negative resources",
    ),
    pytest.param(
        with_profile(replace(FOUR, allotment=amount("0"))),
        ("amount_invalid", Kind.PROFILE, "4xGPU"),
        "has the allotment 0, which is no amount",
        id="an allotment of nothing",
    ),
    pytest.param(
        with_dev(replace(DEV, reservation=amount("8"), limit=amount("7.5"))),
        ("reservation_above_limit", Kind.POLICY, "dev"),
        "reserves 8, more than its limit of 7.5",
        id="a reservation above the limit",
    ),
    pytest.param(
        with_profile(replace(FOUR, allotment=amount("9"))),
        ("allotment_above_pools", Kind.PROFILE, "4xGPU"),
        "takes 9 a job, more than any of its pools has: the largest, 'bare-metal', has 8",
        id="an allotment larger than its pools",
    ),
    pytest.param(
        with_dev(replace(DEV, reservation=amount("0"), limit=amount("3"))),
        ("allotment_above_limit", Kind.PROFILE, "4xGPU"),
        "takes 4 a job, more than policy 'dev', which uses it, may use at all: 3",
        id="an allotment larger than a limit",
    ),
    pytest.param(
        with_profile(replace(FOUR, parameter="hyperparams.gpus")),
        ("parameter_invalid", Kind.PROFILE, "4xGPU"),
        "has the parameter 'hyperparams.gpus', which no task can have",
        id="a parameter that no task has",
    ),
    pytest.param(
        with_dev(replace(DEV, reservation=amount("12"))),
        ("promises_cannot_be_kept", Kind.POLICY, "dev"),
        "is guaranteed together with 'research' 20, but all that can be used for it are 16 of "
        "'bare-metal' and 'h100': 4 too few",
        id="more promised than there is",
    ),
    pytest.param(
        replace(
            WORKED,
            policies=(DEV, RESEARCH, Policy(name="sales", reservation=amount("1"))),
        ),
        ("promises_cannot_be_kept", Kind.POLICY, "sales"),
        "is guaranteed 1, but its profiles lead to no pool",
        id="a promise of no pool",
    ),
    pytest.param(
        replace(
            WORKED,
            policies=(DEV, RESEARCH, Policy(name="sales", reservation=amount("0"))),
        ),
        ("policy_without_profile", Kind.POLICY, "sales"),
        "uses no profile, so nobody can enqueue to it",
        id="a policy with no profile",
    ),
    pytest.param(
        with_pools(BARE, H100, Pool(name="spare", resources=amount("1"))),
        ("pool_without_link", Kind.POOL, "spare"),
        "is linked to no profile, so nothing can run in it",
        id="a pool with no link",
    ),
    pytest.param(
        with_dev(replace(DEV, reservation=amount("6"))),
        ("reservation_no_multiple", Kind.POLICY, "dev"),
        "reserves 6, which jobs of 4 cannot use up: 2 of it always stays idle",
        id="a reservation that is no multiple",
    ),
    pytest.param(
        with_dev(replace(DEV, limit=amount("17"))),
        ("limit_above_pools", Kind.POLICY, "dev"),
        "has a limit of 17, but its pools have 16 together",
        id="a limit above what there is",
    ),
    pytest.param(
        with_profile(replace(FOUR, allotment=amount("0.143"))),
        ("amount_rounded", Kind.PROFILE, "4xGPU"),
        "has the allotment 0.143, which looks like 1/7 rounded: 7 of it are 1.001, not 1",
        id="a rounded fraction",
    ),
]

WARNINGS = {
    "policy_without_profile",
    "pool_without_link",
    "reservation_no_multiple",
    "limit_above_pools",
    "amount_rounded",
}


@pytest.mark.parametrize(("configuration", "subject", "message"), FINDINGS)
def test_a_finding_names_its_object_and_the_numbers(
    configuration: Configuration, subject: tuple[str, Kind, str], message: str
) -> None:
    findings = validate(configuration)

    found = [f for f in findings if (f.code, f.kind, f.name) == subject]
    assert [f.message for f in found] == [message]
    assert (found[0].severity is Severity.WARNING) == (found[0].code in WARNINGS)
    assert "\n" not in str(found[0])
    assert is_valid(findings) == all(f.code in WARNINGS for f in findings)


def test_the_worked_example_has_no_findings() -> None:
    assert validate(WORKED) == ()


def test_errors_come_before_warnings() -> None:
    odd = replace(
        with_dev(replace(DEV, reservation=amount("6"))),
        profiles=(FOUR, Profile(name="unlinked", allotment=amount("1"))),
    )

    assert [finding.code for finding in validate(odd)] == [
        "profile_unlinked",
        "reservation_no_multiple",
    ]


@pytest.mark.parametrize(
    "parameter",
    [
        "runtime.gpus_request",
        "runtime.a.b",
        "hyperparams.Args.cost",
        "hyperparams.General.a/b",
        "configuration.test",
    ],
)
def test_parameters_that_a_task_can_have(parameter: str) -> None:
    assert validate(with_profile(replace(FOUR, parameter=parameter))) == ()


@pytest.mark.parametrize(
    "parameter",
    ["runtime", "runtime.", "hyperparams.Args", "hyperparams..x", "script.x", "Runtime.gpus", "*"],
)
def test_parameters_that_none_can_have(parameter: str) -> None:
    findings = validate(with_profile(replace(FOUR, parameter=parameter)))

    assert [finding.code for finding in findings] == ["parameter_invalid"]


def test_what_is_observed_adds_warnings() -> None:
    observed = Observed(
        unserved=frozenset({"4 GPU Low End", "of another configuration"}),
        allocatable={"h100": Fraction(6), "bare-metal": Fraction(8)},
    )

    findings = validate(WORKED, observed)

    assert [str(finding) for finding in findings] == [
        "Link '4 GPU Low End' to pool 'bare-metal' has an execution queue no agent serves; start "
        "an agent for it, as `/pool agents` shows.",
        "Pool 'h100' has 8 resources, but its nodes have 6 allocatable GPUs; set its resources "
        "to 6 or correct its node labels.",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("0.143", "1/7", id="rounded up"),
        pytest.param("0.14", "1/7", id="two digits"),
        pytest.param("0.142", "1/7", id="cut off"),
        pytest.param("0.142857", "1/7", id="six digits"),
        pytest.param("0.33", "1/3", id="a third"),
        pytest.param("0.667", "2/3", id="two thirds"),
        pytest.param("0.0833", "1/12", id="a small part"),
        pytest.param("1.33", "4/3", id="more than one"),
        pytest.param("0.010101", "1/99", id="a very small part"),
    ],
)
def test_decimals_that_were_fractions(written: str, meant: str) -> None:
    assert unrounded(Fraction(written)) == Fraction(meant)


@pytest.mark.parametrize(
    "written", ["4", "0.5", "0.3", "0.25", "0.75", "0.125", "0.375", "0.05", "0.35", "1/7", "1.5"]
)
def test_decimals_that_are_themselves(written: str) -> None:
    assert unrounded(Fraction(written)) is None


@laws
@given(st.integers(0, 60), st.lists(st.integers(1, 12), min_size=1, max_size=3))
def test_the_largest_sum_is_the_largest(most: int, parts: list[int]) -> None:
    reached = {0}
    for total in range(1, most + 1):
        if any(total - part in reached for part in parts):
            reached.add(total)
    sevenths = [Fraction(part, 7) for part in parts]

    assert largest_sum(Fraction(most), [Fraction(part) for part in parts]) == max(reached)
    assert largest_sum(Fraction(most, 7), sevenths) == Fraction(max(reached), 7)


def _network(
    resources: Sequence[int], reservations: Sequence[int], links: Sequence[Sequence[bool]]
) -> Configuration:
    """One profile a policy, linked to the pools where `links` says so."""
    pools = [f"pool{index}" for index in range(len(resources))]
    reach = [[pool for pool, on in zip(pools, row, strict=True) if on] for row in links]
    return Configuration(
        pools=tuple(
            Pool(name=pool, resources=Fraction(amount, 7))
            for pool, amount in zip(pools, resources, strict=True)
        ),
        profiles=tuple(
            Profile(
                name=f"profile{index}",
                allotment=Fraction(1),
                pools=tuple(Link(pool=pool, name=f"{index} {pool}") for pool in its),
            )
            for index, its in enumerate(reach)
        ),
        policies=tuple(
            Policy(
                name=f"policy{index}",
                reservation=Fraction(amount, 7),
                queues=(IntakeQueue(profile=f"profile{index}", queue=f"queue{index}"),),
            )
            for index, amount in enumerate(reservations)
        ),
    )


@st.composite
def networks(draw: st.DrawFn) -> Configuration:
    pools, policies = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    few = st.integers(0, 9)
    return _network(
        draw(st.lists(few, min_size=pools, max_size=pools)),
        draw(st.lists(few, min_size=policies, max_size=policies)),
        [draw(st.lists(st.booleans(), min_size=pools, max_size=pools)) for _ in range(policies)],
    )


def _lacking(configuration: Configuration, policies: Sequence[Policy]) -> Fraction:
    """How much more these policies were promised than all pools they can use have."""
    pools = {name for policy in policies for name in pools_of(configuration, policy)}
    there = sum(configuration.pool_by_name[name].resources for name in pools)
    return sum((promised(policy) for policy in policies), Fraction(0)) - there


def _short_by(short: Shortfall) -> Fraction:
    return short.promised - short.there


# Whoever was placed first has to make room, once and through another.
@example(_network([5, 5], [5, 5], [[True, True], [True, False]]))
@example(_network([5, 9], [2, 7], [[True, True], [True, False]]))
@example(
    _network([3, 3, 3], [3, 3, 3], [[True, True, False], [True, True, True], [True, False, False]])
)
@example(
    _network([4, 4, 4], [4, 4, 4], [[True, True, False], [True, False, True], [True, False, False]])
)
@settings(laws, max_examples=300)
@given(networks())
def test_promises_can_be_kept_unless_some_policies_have_too_few_pools(
    configuration: Configuration,
) -> None:
    policies = configuration.policies
    subsets = chain.from_iterable(
        combinations(policies, size) for size in range(1, len(policies) + 1)
    )
    worst = max(_lacking(configuration, subset) for subset in subsets)

    found = shortfalls(configuration)

    # Hall's theorem: what cannot be placed is the worst lack of any set of policies.
    assert sum(map(_short_by, found)) == max(worst, 0)
    for short in found:
        named = [configuration.policy_by_name[name] for name in short.policies]
        assert _lacking(configuration, named) == _short_by(short) > 0
        assert set(short.pools) == {p for policy in named for p in pools_of(configuration, policy)}


@laws
@given(configurations())
def test_any_configuration_that_can_be_written_is_validated(configuration: Configuration) -> None:
    findings = validate(configuration)

    assert len(set(findings)) == len(findings)
    assert all("\n" not in str(finding) for finding in findings)


def test_a_large_configuration_is_validated_at_once() -> None:
    pools, policies = 60, 200
    links = [[(row * 7 + column) % 3 > 0 for column in range(pools)] for row in range(policies)]
    configuration = _network(
        [100 + index for index in range(pools)], [41 + row % 5 for row in range(policies)], links
    )

    start = time.perf_counter()
    found = shortfalls(configuration)

    # Half a second at most on the slowest machine; a plain search over paths takes minutes.
    assert time.perf_counter() - start < 5
    assert [_short_by(short) for short in found] == [
        Fraction(sum(41 + row % 5 for row in range(policies)) - sum(range(100, 160)), 7)
    ]
