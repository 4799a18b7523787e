"""A reconcile over 500 nodes and 2,000 pods: within 3 s, and at most 10 calls, nothing changed."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.cgpu_steps import Rest
from tests.cgpu_support import Keeper, keeping
from tests.kubernetes_support import Cluster

MOST_SECONDS = 3.0
MOST_CALLS = 10
SCENE = {
    "nodes": [{"name": "gpu", "count": 500}],
    "daemonsets": [{"policy": "3"}],
    "helm": {"policy": 3},
    "pods": [
        {"name": f"train-{number}", "node": f"gpu-{number}", "gpu_mem": 4, "count": 3}
        for number in range(1, 501)
    ],
}


@pytest.fixture
def keeper(kubernetes: Cluster, tmp_path: Path) -> Iterator[Keeper]:
    kubernetes.reset(SCENE)
    with keeping(kubernetes, tmp_path) as keeper:
        keeper.set(3)
        yield keeper


def test_a_reconcile_in_which_nothing_changed(keeper: Keeper) -> None:
    before = keeper.cluster.last_call()
    began = time.monotonic()

    report = keeper.reconciler.run()

    took = time.monotonic() - began
    calls = keeper.cluster.calls(since=before)
    print(f"reconcile: {took:.2f} s, {len(calls)} calls")  # noqa: T201  a figure for the reader
    assert isinstance(report.last, Rest)
    assert len(keeper.view.nodes) == 500
    assert len(calls) <= MOST_CALLS
    assert took < MOST_SECONDS
