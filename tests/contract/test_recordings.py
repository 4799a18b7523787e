"""The sandbox answers as the recorded ClearML did: every line of every recording, in order."""

import functools

import pytest

from tests.contract.arranged import ARRANGED, AUTHORIZATION, ONLY_CODES
from tests.contract.replay import FOLDER, Replay, lines
from tests.sandbox_support import Sandbox

STEPS = [
    pytest.param(name, number, id=f"{name}:{number + 1} {line['step']}")
    for name in ARRANGED
    for number, line in enumerate(lines(name))
    if "call" in line or "snapshot" in line
]


@functools.cache
def replayed(name: str) -> dict[int, list[str]]:
    """The differences of one recording, by line; replayed once, in a server of its own."""
    with Sandbox() as sandbox:
        replay = Replay(sandbox, name)
        replay.run(ARRANGED[name], AUTHORIZATION.get(name, {}))
    return replay.differences


@pytest.mark.parametrize(("name", "number"), STEPS)
def test_a_recorded_step_goes_the_same_way(name: str, number: int) -> None:
    differences = replayed(name)[number]

    if (name, number) in ONLY_CODES:
        differences = [text for text in differences if not text.startswith("data")]
    assert differences == []


def test_every_recording_is_replayed() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == set(ARRANGED)
