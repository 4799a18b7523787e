"""Alibaba's cGPU sharing policies, 0 to 5, and what each gives (facts/cgpu.md, 1.6 and 3.2).

A policy is known by its number only: its names differ by language and vendor. `0` is a policy, not
an absence.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Honesty(StrEnum):
    """How far a container's part of a card's computing power is the fraction it asks for."""

    EXACT = "exact"
    """Half a card is half its power, no more and no less."""
    RATIO = "ratio"
    """Shares relate to one another as the fractions do; their size depends on the neighbours."""
    MEMORY_ONLY = "memory only"
    """The memory is as asked; the computing power is not."""


@dataclass(frozen=True, kw_only=True)
class PolicyFacts:
    """One policy: `name` as the documentation's first English page calls it, and what it gives."""

    number: int
    name: str
    gives: str
    honesty: Honesty


POLICIES: Final[Mapping[int, PolicyFacts]] = {
    facts.number: facts
    for facts in (
        PolicyFacts(
            number=0,
            name="fair share",
            gives="every container gets a fixed slice, 1/max_inst, whatever it asks for",
            honesty=Honesty.MEMORY_ONLY,
        ),
        PolicyFacts(
            number=1,
            name="preemptive",
            gives="every container gets 1/N of the N that run: all of the card when it is alone",
            honesty=Honesty.MEMORY_ONLY,
        ),
        PolicyFacts(
            number=2,
            name="weighted preemptive",
            gives="every container gets its weight's part of the weights of those that run",
            honesty=Honesty.RATIO,
        ),
        PolicyFacts(
            number=3,
            name="fixed percentage",
            gives="every container gets the fixed percentage that it asks for",
            honesty=Honesty.EXACT,
        ),
        PolicyFacts(
            number=4,
            name="soft",
            gives="every container gets about its part, and may take more",
            honesty=Honesty.MEMORY_ONLY,
        ),
        PolicyFacts(
            number=5,
            name="native",
            gives="the GPU's driver shares out computing power by itself; only memory is isolated",
            honesty=Honesty.MEMORY_ONLY,
        ),
    )
}

WEIGHTED: Final = 2
"""Loaded by itself under policy 1 where a container has a weight above 1 (seed 004)."""

_LONE_DIGIT: Final = re.compile(r"[0-5]")


def read_policy(raw: object) -> int | None:
    """The policy that an environment variable, a Helm value or /proc says, or None for anything
    else.

    Blanks around it do not matter; `01`, `1.0`, booleans and the empty text are no policies.
    """
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    text = str(raw).strip()
    return int(text) if _LONE_DIGIT.fullmatch(text) else None


def described(policy: int) -> str:
    """
    >>> described(3)
    'policy 3 (fixed percentage)'
    """
    return f"policy {policy} ({POLICIES[policy].name})"
