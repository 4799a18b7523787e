"""A process as its probes and Prometheus see it: its three pages, over HTTP."""

import re
from dataclasses import dataclass
from typing import Any

import requests

from tests.poolkeeper_support import Process
from tests.sandbox_support import wait_until

Labels = tuple[tuple[str, str], ...]

_SAMPLE = re.compile(r"^(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)$")
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Sample:
    """One line of `/metrics`."""

    name: str
    labels: Labels
    value: float


def samples_of(page: str) -> list[Sample]:
    """All samples; fails at a line that is none."""
    found = []
    for line in page.splitlines():
        if not line.startswith("#"):
            match = _SAMPLE.match(line)
            assert match is not None, line
            labels = tuple(sorted(_LABEL.findall(match["labels"] or "")))
            found.append(Sample(match["name"], labels, float(match["value"])))
    return found


@dataclass(frozen=True)
class Outside:
    """The pages of one process, at `url`."""

    url: str

    def get(self, path: str, method: str = "GET") -> requests.Response:
        return requests.request(method, f"{self.url}{path}", timeout=10)

    def ready(self) -> tuple[int, dict[str, Any]]:
        """The status of `/readyz`, and its checks by name."""
        answer = self.get("/readyz")
        document = answer.json()
        assert document["ready"] == (answer.status_code == 200)
        return answer.status_code, {check["name"]: check for check in document["checks"]}

    def samples(self) -> list[Sample]:
        answer = self.get("/metrics")
        assert answer.status_code == 200, answer.text
        return samples_of(answer.text)

    def value(self, name: str, **labels: str) -> float | None:
        """The one sample with that name and these labels; None where there is none."""
        of = {sample.labels: sample.value for sample in self.samples() if sample.name == name}
        return of.get(tuple(sorted(labels.items())))


def outside_of(process: Process) -> Outside:
    """Once it listens; it is to be started with POOLKEEPER_METRICS_PORT=0."""
    words = "listening for probes and Prometheus"
    wait_until(lambda: words in process.log or process.popen.poll() is not None, words, 60)
    assert process.popen.poll() is None, process.log
    found = re.search(r"Prometheus\W+host\W+([\d.]+)\W+port\W+(\d+)", process.log)
    assert found is not None
    return Outside(f"http://{found[1]}:{found[2]}")
