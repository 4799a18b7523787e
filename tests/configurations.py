"""Configurations for tests: the documentation's example, and arbitrary consistent ones."""

from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

from domain.amounts import LARGEST
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

laws = settings(derandomize=True, deadline=None, max_examples=60)
"""The same examples in every run, whatever the machine's speed."""

WORKED = Configuration(
    pools=(
        Pool(name="bare-metal", resources=Fraction(8), profiles=("4xGPU",)),
        Pool(name="h100", resources=Fraction(8), profiles=("4xGPU",)),
    ),
    profiles=(
        Profile(
            name="4xGPU",
            allotment=Fraction(4),
            pools=(
                Link(pool="bare-metal", name="4 GPU Low End"),
                Link(pool="h100", name="4 GPU H100 link"),
            ),
            policies=("dev", "research"),
        ),
    ),
    policies=tuple(
        Policy(
            name=name,
            reservation=Fraction(8),
            limit=Fraction(16),
            queues=(IntakeQueue(profile="4xGPU", queue=f"{name}-4gpu"),),
        )
        for name in ("dev", "research")
    ),
)
"""ClearML's worked example, as tests/examples/worked_example.yaml has it."""

# What Slack, YAML, ClearML or a terminal might stumble over, among ordinary letters.
_CHARACTERS = "aBc0ß日·'\"*<!>:#- \u202e\U0001f600"
names = st.text(_CHARACTERS, min_size=1, max_size=8).map(lambda text: f"n{text}n")
"""Names of anything, as odd as they may be."""

amounts = st.builds(
    Fraction, st.integers(1, LARGEST), st.sampled_from([1, 2, 3, 7, 10, 64, LARGEST])
)
"""Amounts of more than 0."""

teams = st.builds(
    Team,
    channel=st.none() | names,
    usergroup=st.none() | names,
    users=st.lists(names, max_size=3).map(tuple),
    clearml_users=st.lists(st.tuples(st.just("") | names, names), max_size=3).map(tuple),
)


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    """Configurations whose references and priority lists fit, whether or not they make sense."""
    called = draw(st.lists(names, min_size=9, max_size=9, unique_by=str.casefold))
    pools, profiles, policies = (
        called[start : start + draw(st.integers(0, 3))] for start in (0, 3, 6)
    )
    linked = [(pool, profile) for pool in pools for profile in profiles if draw(st.booleans())]
    using = [(policy, name) for policy in policies for name in profiles if draw(st.booleans())]
    joined = draw(
        st.lists(
            names,
            min_size=len(linked) + len(using),
            max_size=len(linked) + len(using),
            unique_by=str.casefold,
        )
    )
    link_names = dict(zip(linked, joined, strict=False))
    queue_names = dict(zip(using, joined[len(linked) :], strict=True))

    def shuffled(wanted: list[str]) -> tuple[str, ...]:
        return tuple(draw(st.permutations(wanted)))

    return Configuration(
        pools=tuple(
            Pool(
                name=pool,
                resources=draw(amounts | st.just(Fraction(0))),
                description=draw(st.text(_CHARACTERS, max_size=10)),
                profiles=shuffled([profile for its, profile in linked if its == pool]),
                nodes=tuple(draw(st.dictionaries(names, names, max_size=2)).items()),
            )
            for pool in pools
        ),
        profiles=tuple(
            Profile(
                name=profile,
                allotment=draw(amounts),
                parameter=draw(st.none() | st.just("runtime.gpus") | names),
                queueing=draw(st.sampled_from(Queueing)),
                pools=tuple(
                    Link(pool=pool, name=link_names[pool, profile])
                    for pool in shuffled([pool for pool, its in linked if its == profile])
                ),
                policies=shuffled([policy for policy, its in using if its == profile]),
            )
            for profile in profiles
        ),
        policies=tuple(
            Policy(
                name=policy,
                reservation=draw(amounts | st.just(Fraction(0))),
                limit=draw(st.none() | amounts),
                lend=draw(st.booleans()),
                queues=tuple(
                    IntakeQueue(profile=profile, queue=queue_names[policy, profile])
                    for profile in shuffled([profile for its, profile in using if its == policy])
                ),
                team=draw(st.none() | teams),
                membership=draw(st.sampled_from(Membership)),
            )
            for policy in policies
        ),
        cgpu=draw(st.none() | st.builds(CGPU, policy=st.integers(0, 5))),
    )
