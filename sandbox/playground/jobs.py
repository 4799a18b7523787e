"""The jobs of the company: what they are called, whose they are, and how long they take.

The same seed gives the same jobs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from sandbox.playground.company import PEOPLE

_SMALL_NAMES = {
    "vision": (
        "eval-coco-val2017", "distill-mobilenet", "augment-imagenet", "finetune-vit-b16",
        "export-onnx-detector",
    ),
    "language": (
        "eval-mmlu", "tokenize-wikitext", "embed-support-docs", "distill-bert-tiny",
        "sweep-lora-rank",
    ),
}  # fmt: skip
_LARGE_NAMES = {
    "vision": (
        "train-resnet-50", "segment-cityscapes", "train-yolo-aerial", "pretrain-mae-large",
    ),
    "language": (
        "pretrain-bert-base", "finetune-llama-8b", "align-dpo-round", "pretrain-t5-small",
    ),
}  # fmt: skip
_OTHER = ("train-baseline", "evaluate-checkpoint", "sweep-learning-rate")
_WEIGHTS = {Fraction(1, 2): 3, Fraction(1): 5, Fraction(2): 4, Fraction(4): 2}
_OTHER_WEIGHT = 2
_LARGE = 2
_SHORTEST_S, _LONGEST_S = 25, 110


@dataclass(frozen=True, slots=True)
class Job:
    """`user` is a ClearML user's id; `seconds` is how long it runs at the speed of 1."""

    name: str
    user: str
    seconds: int


@dataclass(frozen=True, slots=True)
class Opening:
    """A job that is there at the start; `size` is what its profile consumes."""

    policy: str
    size: Fraction
    job: Job


def _opening(policy: str, size: str, name: str, user: str, seconds: int) -> Opening:
    return Opening(policy, Fraction(size), Job(name, user, seconds))


OPENING = (
    _opening("vision", "4", "pretrain-mae-large-1", "dana", 150),
    _opening("language", "4", "finetune-llama-8b-1", "grace", 95),
    _opening("language", "2", "pretrain-bert-base-1", "hiro", 60),
    _opening("vision", "2", "train-resnet-50-1", "emil", 45),
    _opening("vision", "1", "finetune-vit-b16-1", "fatima", 35),
    _opening("language", "1/2", "eval-mmlu-1", "ines", 50),
    _opening("vision", "1/2", "eval-coco-val2017-1", "dana", 70),
    _opening("vision", "2", "train-yolo-aerial-1", "emil", 80),
    _opening("language", "4", "align-dpo-round-1", "grace", 60),
    _opening("vision", "4", "segment-cityscapes-1", "fatima", 75),
    _opening("language", "1", "sweep-lora-rank-1", "hiro", 40),
    _opening("vision", "1", "distill-mobilenet-1", "dana", 55),
)
"""More than both pools hold, so that something waits from the first second on."""


class Jobs:
    """An endless stream of jobs."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311  jobs of a sandbox, not secrets
        self._number = 1

    def job(self, policy: str, size: Fraction, user: str = "") -> Job:
        """The next job of a team, of one of its people unless a user is named."""
        self._number += 1
        people = [one.clearml for one in PEOPLE if one.team == policy and one.clearml]
        chosen = self._random.choice(people or ["ada"])
        names = (_LARGE_NAMES if size >= _LARGE else _SMALL_NAMES).get(policy, _OTHER)
        name = f"{self._random.choice(names)}-{self._number}"
        return Job(name, user or chosen, self._random.randint(_SHORTEST_S, _LONGEST_S))

    def queue(self, sizes: Mapping[str, Fraction]) -> str:
        """One of these queues, the usual sizes more often."""
        queues = list(sizes)
        weights = [_WEIGHTS.get(size, _OTHER_WEIGHT) for size in sizes.values()]
        return self._random.choices(queues, weights)[0]
