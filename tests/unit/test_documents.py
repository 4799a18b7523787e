"""Documents: what is read, what is refused with which sentence, and that nothing is lost."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from domain.configuration import CGPU, Configuration, Membership, Queueing, Team
from storage.documents import (
    DocumentError,
    configuration_hash,
    read_configuration,
    read_snapshot,
    write_configuration,
)
from tests.configurations import WORKED, configurations, laws

EXAMPLES = Path(__file__).parents[1] / "examples"
Tree = dict[str, Any]


def worked() -> Tree:
    tree: Tree = json.loads(json.dumps(write_configuration(WORKED)))
    return tree


def snapshot() -> Tree:
    tree: Tree = json.loads((EXAMPLES / "worked_example_snapshot.json").read_text())
    return tree


def refused(read: Callable[[], object]) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read()
    return [str(problem) for problem in caught.value.problems]


def at(path: str, value: object) -> Callable[[Tree], None]:
    """Sets what stands at a path such as `pools.0.name`; a value of `...` takes it away."""
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]

    def change(tree: Tree) -> None:
        inner: Any = tree
        for step in steps:
            inner = inner[step]
        if value is ...:
            del inner[last]
        elif isinstance(inner, list) and last == len(inner):
            inner.append(value)
        else:
            inner[last] = value

    return change


CONFIGURATION_FAULTS = [
    pytest.param(
        at("pools.0.name", True),
        "pools[0].name: true is no text, as YAML reads on, yes, off and no; put it in quotes.",
        id="a name that YAML reads as a boolean",
    ),
    pytest.param(
        at("pools.0.description", 8),
        "pools[0].description: 8 is no text; put it in quotes.",
        id="a number for a text",
    ),
    pytest.param(
        at("policies.0.team", {"channel": "a\nb"}),
        "policies[0].team.channel: 'a\\nb' has a line break or another control character; "
        "write one line of at most 200 characters.",
        id="a line break in a name",
    ),
    pytest.param(
        at("policies.0.team", {"channel": "x" * 300}),
        f"policies[0].team.channel: '{'x' * 58}… has 300 characters, more than 200; "
        "write one line of at most 200 characters.",
        id="a name of 300 characters",
    ),
    pytest.param(
        at("policies.0.team", {"channel": "\ud800"}),
        "policies[0].team.channel: '\\ud800' has a line break or another control character; "
        "write one line of at most 200 characters.",
        id="half a character, which JSON can spell",
    ),
    pytest.param(
        at("policies.0.team", {"channel": " "}),
        "policies[0].team.channel: ' ' is blank; write one line of at most 200 characters.",
        id="a blank name",
    ),
    pytest.param(
        at("pools.0.profils", []),
        "pools[0].profils: is an unknown key; did you mean profiles?",
        id="an unknown key near a known one",
    ),
    pytest.param(
        at("colour", "red"),
        "colour: is an unknown key; take it away; known are pools, profiles, policies and cgpu.",
        id="an unknown key near none",
    ),
    pytest.param(
        at("profiles.0.pools.0.lnk", "x"),
        "profiles[0].pools[0].lnk: is an unknown key; did you mean link?",
        id="an unknown key deep inside",
    ),
    pytest.param(
        at("policies.0.team", {"a\nb": 1}),
        "policies[0].team.'a\\nb': is an unknown key; take it away; known are channel, "
        "usergroup, users and clearml_users.",
        id="an unknown key with a line break",
    ),
    pytest.param(
        at("pools.0.resources", ...),
        "pools[0].resources: is missing; add it, as in `resources: 8`.",
        id="a missing key",
    ),
    pytest.param(
        at("profiles.0.allotment", "four"),
        "profiles[0].allotment: 'four' is no amount; say a number such as 4, 0.5 or 1/7, "
        "at most 1000000.",
        id="an amount that is none",
    ),
    pytest.param(
        at("profiles.0.allotment", 0),
        "profiles[0].allotment: 0 is no amount; say a number such as 4, 0.5 or 1/7, "
        "at most 1000000.",
        id="an allotment of zero",
    ),
    pytest.param(
        at("policies.0.reservation", -1),
        "policies[0].reservation: -1 is no amount; say a number such as 0, 4, 0.5 or 1/7, "
        "at most 1000000.",
        id="a negative reservation",
    ),
    pytest.param(
        at("policies.0.reservation", 10**5000),
        "policies[0].reservation: a number of thousands of digits is no amount; say a number "
        "such as 0, 4, 0.5 or 1/7, at most 1000000.",
        id="a reservation of thousands of digits",
    ),
    pytest.param(
        at("policies.0.lend", "no"),
        "policies[0].lend: 'no' is neither true nor false; write true or false.",
        id="text for a switch",
    ),
    pytest.param(
        at("profiles.0.queueing", "fifo"),
        "profiles[0].queueing: 'fifo' is not known here; write 'backfill' or 'strict'.",
        id="an unknown word",
    ),
    pytest.param(
        at("policies.0.queues", {"profile": "4xGPU"}),
        "policies[0].queues: a mapping is no list; write one entry a line after `- `, or [a, b].",
        id="a mapping for a list",
    ),
    pytest.param(
        at("policies.0.team", "dev"),
        "policies[0].team: 'dev' is no mapping; write keys and values, such as `name: h100`.",
        id="text for a mapping",
    ),
    pytest.param(
        at("policies.0.team", {"clearml_users": {"U1": 7}}),
        "policies[0].team.clearml_users: 7 is no user; list ClearML user ids in quotes, or map "
        "each Slack user id to one.",
        id="a number for a user",
    ),
    pytest.param(
        at("cgpu", {"policy": 6}),
        "cgpu.policy: 6 is none of the cGPU policies; say a whole number from 0 to 5.",
        id="a cGPU policy that there is not",
    ),
    pytest.param(
        at("pools.2", {"name": "h100", "resources": 1}),
        "pools[2].name: the pool 'h100' is there already, as pools[1].name; give one of them "
        "another name.",
        id="a pool twice",
    ),
    pytest.param(
        at("profiles.0.pools.1.link", "4 GPU Low End"),
        "profiles[0].pools[1].link: the link '4 GPU Low End' is there already, as "
        "profiles[0].pools[0].link; give one of them another name.",
        id="a link twice",
    ),
    pytest.param(
        at("policies.1.queues.0.queue", "dev-4gpu"),
        "policies[1].queues[0].queue: the queue 'dev-4gpu' is there already, as "
        "policies[0].queues[0].queue; give one of them another name.",
        id="a queue twice",
    ),
    pytest.param(
        at("policies.0.queues.1", {"profile": "4xGPU", "queue": "dev-more"}),
        "policies[0].queues[1].profile: the policy has another queue for the profile '4xGPU'; "
        "leave one queue a profile.",
        id="two queues of a policy for a profile",
    ),
    pytest.param(
        at("pools.0.profiles", ["4xGPU", "4xGPU"]),
        "pools[0].profiles: the profile '4xGPU' stands here 2 times; name it once.",
        id="a profile twice in an execution priority",
    ),
    pytest.param(
        at("pools.0.profiles", []),
        "pools[0].profiles: the profile '4xGPU', linked to this pool, is not in the list; name "
        "each exactly once, in the order of priority.",
        id="a linked profile that its pool's priority lacks",
    ),
    pytest.param(
        at("profiles.0.policies", ["dev", "research", "sales"]),
        "profiles[0].policies: there is no policy 'sales'; add it or take profiles[0].policies "
        "away.",
        id="an unknown policy in a priority",
    ),
    pytest.param(
        at("profiles.0.policies", ["dev"]),
        "profiles[0].policies: the policy 'research', using this profile, is not in the list; "
        "name each exactly once, in the order of priority.",
        id="a policy that a priority lacks",
    ),
    pytest.param(
        at("policies.2", {"name": "x", "reservation": 0, "queues": [{"profile": "4xGP"}]}),
        "policies[2].queues[0].profile: there is no profile '4xGP'; did you mean '4xGPU'?",
        id="an unknown profile",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), CONFIGURATION_FAULTS)
def test_a_fault_is_named_with_its_place_and_remedy(
    change: Callable[[Tree], None], sentence: str
) -> None:
    tree = worked()

    change(tree)

    assert sentence in refused(lambda: read_configuration(tree))


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        pytest.param(None, "the document: is empty; write it as shown in the README.", id="null"),
        pytest.param(
            [],
            "the document: a list is no mapping; write keys and values, such as `name: h100`.",
            id="a list",
        ),
    ],
)
def test_a_document_is_a_mapping(tree: object, sentence: str) -> None:
    assert refused(lambda: read_configuration(tree)) == [sentence]


def test_all_problems_are_named_at_once_and_none_follows_from_another() -> None:
    tree = worked()
    tree["pools"][0]["name"] = 8
    tree["profiles"][0]["allotment"] = "x"
    tree["policies"][0]["queues"][0]["profile"] = "y"

    problems = refused(lambda: read_configuration(tree))

    # That the link's pool is unknown is not said: its name may be the unreadable one.
    assert [problem.split(":")[0] for problem in problems] == [
        "pools[0].name",
        "profiles[0].allotment",
        "policies[0].queues[0].profile",
        "profiles[0].policies",
    ]


def test_the_example_document_is_the_worked_example() -> None:
    tree = yaml.safe_load((EXAMPLES / "worked_example.yaml").read_text())

    configuration = read_configuration(tree)

    pools = tuple(replace(pool, description="") for pool in configuration.pools)
    assert replace(configuration, pools=pools) == WORKED


def test_every_key_of_the_format_is_read() -> None:
    tree = worked()
    tree["pools"][0] |= {"description": "two\nlines", "nodes": {"gpu": "a100", "zone": ""}}
    tree["profiles"][0] |= {"parameter": "runtime.gpus", "queueing": "strict"}
    tree["policies"][0] |= {
        "limit": None,
        "lend": False,
        "membership": "return",
        "team": {
            "channel": "C1",
            "usergroup": "S1",
            "users": ["U1"],
            "clearml_users": {"U1": "c1", "U2": "c2"},
        },
    }
    tree["policies"][1]["team"] = {"clearml_users": ["c3", {"U4": "c4"}]}
    tree["cgpu"] = {"policy": 3}

    configuration = read_configuration(tree)

    dev, research = configuration.policies
    assert configuration.pools[0].description == "two\nlines"
    assert configuration.pools[0].nodes == (("gpu", "a100"), ("zone", ""))
    assert configuration.profiles[0].parameter == "runtime.gpus"
    assert configuration.profiles[0].queueing is Queueing.STRICT
    assert (dev.limit, dev.lend, dev.membership) == (None, False, Membership.RETURN)
    assert dev.team == Team(
        channel="C1",
        usergroup="S1",
        users=("U1",),
        clearml_users=(("U1", "c1"), ("U2", "c2")),
    )
    assert research.team == Team(clearml_users=(("", "c3"), ("U4", "c4")))
    assert configuration.cgpu == CGPU(policy=3)


def test_what_validation_finds_does_not_keep_a_document_from_being_read() -> None:
    tree = {
        "pools": [{"name": "small", "resources": 0, "profiles": ["big"]}],
        "profiles": [
            {
                "name": "big",
                "allotment": 8,
                "parameter": "nonsense",
                "pools": [{"pool": "small", "link": "a"}, {"pool": "small", "link": "A"}],
                "policies": ["team"],
            },
            {"name": "unlinked", "allotment": "1/7"},
        ],
        "policies": [
            {
                "name": "team",
                "reservation": 9,
                "limit": 1,
                "queues": [{"profile": "big", "queue": "q"}],
            }
        ],
    }

    configuration = read_configuration(tree)

    assert configuration.profiles[1].allotment == Fraction(1, 7)
    assert len(configuration.profiles[0].pools) == 2


@laws
@given(configurations())
def test_what_is_written_is_read_as_the_same(configuration: Configuration) -> None:
    document = write_configuration(configuration)

    again = json.loads(json.dumps(document))

    assert read_configuration(again) == configuration
    assert (
        read_configuration(yaml.safe_load(yaml.safe_dump(document, sort_keys=False)))
        == configuration
    )


@laws
@given(configurations(), configurations())
def test_the_hash_tells_configurations_apart_and_nothing_else(
    one: Configuration, other: Configuration
) -> None:
    same = read_configuration(write_configuration(one))
    shuffled = json.loads(json.dumps(write_configuration(one), sort_keys=True))

    assert configuration_hash(same) == configuration_hash(one)
    assert configuration_hash(read_configuration(shuffled)) == configuration_hash(one)
    assert (configuration_hash(one) == configuration_hash(other)) == (
        json.dumps(write_configuration(one), sort_keys=True)
        == json.dumps(write_configuration(other), sort_keys=True)
    )


def test_a_snapshot_is_read_with_its_defaults() -> None:
    tree = {"taken_at": "2026-12-01T10:00:00Z", "queues": []}

    seen = read_snapshot(tree, WORKED)

    assert seen.taken_at == datetime(2026, 12, 1, 10, tzinfo=UTC)
    assert seen.configuration is WORKED
    assert (seen.enabled, seen.hold_after) == (True, timedelta(seconds=1800))
    assert (seen.queues, seen.allocations, dict(seen.foreign)) == ((), (), {})


def test_a_snapshot_is_read_with_all_that_it_may_say() -> None:
    tree = snapshot()
    tree["hold_after_s"] = None
    tree["enabled"] = False
    tree["queues"][0]["tasks"][0]["parameter"] = ["any", {"thing": 1}]
    tree["allocations"] = [
        {"task": "r1", "policy": "dev", "profile": "4xGPU", "pool": "h100", "amount": "1/7"}
    ]
    tree["foreign"] = {"h100": 2, "bare-metal": "0"}

    seen = read_snapshot(tree, WORKED)

    assert (seen.enabled, seen.hold_after) == (False, None)
    assert [task.id for task in seen.queues[0].tasks] == ["dev-1", "dev-2", "dev-3", "dev-4"]
    assert seen.queues[0].tasks[0].parameter == ["any", {"thing": 1}]
    assert seen.allocations[0].amount == Fraction(1, 7)
    assert seen.foreign == {"h100": 2, "bare-metal": 0}


SNAPSHOT_FAULTS = [
    pytest.param(
        at("taken_at", "yesterday"),
        "taken_at: 'yesterday' is no time; write it as 2026-12-01T10:00:00Z.",
        id="no time",
    ),
    pytest.param(
        at("queues.0.tasks.0.first_seen", "2026-12-01T10:00:00"),
        "queues[0].tasks[0].first_seen: '2026-12-01T10:00:00' has no time zone; write it as "
        "2026-12-01T10:00:00Z.",
        id="a time without zone",
    ),
    pytest.param(
        at("hold_after_s", -1),
        "hold_after_s: -1 seconds cannot be; say 0 to 1000000000, or null.",
        id="negative seconds",
    ),
    pytest.param(
        at("hold_after_s", True),
        "hold_after_s: true is no number of seconds; say a number such as 1800, or null.",
        id="a switch for seconds",
    ),
    pytest.param(
        at("queues", ...), "queues: is missing; add it, as in `queues: []`.", id="no queues"
    ),
    pytest.param(
        at("queues.0.policy", "devs"),
        "queues[0].policy: the configuration has no policy 'devs'; did you mean 'dev'?",
        id="an unknown policy",
    ),
    pytest.param(
        at("foreign", {"z": 1}),
        "foreign.z: the configuration has no pool 'z'; take the entry away.",
        id="an unknown pool",
    ),
    pytest.param(
        at("queues.1.policy", "dev"),
        "queues: 'dev' with '4xGPU' stands here 2 times; join the entries.",
        id="a queue twice",
    ),
    pytest.param(
        at("queues.1.tasks.0.id", "dev-1"),
        "queues and allocations: the task 'dev-1' is there 2 times; leave one of them.",
        id="a task twice",
    ),
    pytest.param(
        at(
            "allocations.0",
            {"task": "dev-1", "policy": "dev", "profile": "4xGPU", "pool": "h100", "amount": 4},
        ),
        "queues and allocations: the task 'dev-1' is there 2 times; leave one of them.",
        id="a task that waits and runs",
    ),
    pytest.param(
        at("allocations.0", {"task": "r", "amount": 0}),
        "allocations[0].amount: 0 is no amount; say a number such as 4, 0.5 or 1/7, "
        "at most 1000000.",
        id="an allocation of nothing",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), SNAPSHOT_FAULTS)
def test_a_fault_of_a_snapshot_is_named(change: Callable[[Tree], None], sentence: str) -> None:
    tree = snapshot()

    change(tree)

    assert sentence in refused(lambda: read_snapshot(tree, WORKED))


def test_a_snapshot_needs_a_queue_that_the_configuration_has() -> None:
    dev, research = WORKED.policies
    profile = replace(WORKED.profiles[0], policies=("dev",))
    without = replace(WORKED, profiles=(profile,), policies=(dev, replace(research, queues=())))

    assert refused(lambda: read_snapshot(snapshot(), without)) == [
        "queues[1]: the policy 'research' has no queue for the profile '4xGPU'; give it one in "
        "the configuration or take the entry away."
    ]
