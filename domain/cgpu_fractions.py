"""What a profile that consumes a part of a GPU asks of cGPU, and whether it gets that.

The arithmetic is facts/cgpu.md, 3.1 and 3.2: memory in whole GiB, computing power in steps of 5 %,
at most 20 pods a card. Amounts are exact, for floor(100 * 0.29) is 28 in floats.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from domain.amounts import Amount, format_amount
from domain.cgpu import POLICIES, Honesty, described
from domain.cgpu_cluster import GPU_COUNT, GPU_MEMORY, GPU_PERCENTAGE, isolates
from domain.configuration import Configuration, Pool, Profile
from domain.findings import Finding, warning
from domain.names import quoted
from domain.renames import Kind

MOST_PODS: Final = 20
STEP: Final = 5
"""Percents of computing power that are given out at a time."""

CORE_AND_MEMORY: Final = "core_mem"


@dataclass(frozen=True, kw_only=True)
class Share:
    """What one job asks for on cards of one size: `memory` in GiB and `percentage` of computing
    power, both over all its `cards`. `fits` is how many such jobs one card takes, `meant` how many
    the profile's amount promises; `notes` are sentences.
    """

    amount: Amount
    cards: int
    memory: int
    percentage: int
    weight: int
    fits: int
    meant: int
    notes: tuple[str, ...] = ()

    @property
    def is_feasible(self) -> bool:
        """Whether as many jobs fit as the accounting says."""
        return self.fits >= self.meant

    def limits(self, label: str) -> dict[str, str]:
        """The container's `resources.limits` on nodes of this label.

        Asking for both on nodes that share memory only, or for memory only where both are shared,
        is refused by the scheduler (facts/cgpu.md, 3.3).
        """
        memory = {GPU_MEMORY: str(self.memory)}
        if label == CORE_AND_MEMORY:
            return {**memory, GPU_PERCENTAGE: str(self.percentage)}
        return memory

    def pod_labels(self) -> dict[str, str]:
        """The pod's labels, for a job on several cards."""
        return {GPU_COUNT: str(self.cards)} if self.cards > 1 else {}


def share_of(amount: Amount, card_memory: int) -> Share | None:
    """What a job of this amount asks for on cards of so many GiB; None for whole GPUs.

    An amount above 1 is spread evenly over as many cards as it takes, all on one node.
    """
    if amount.denominator == 1 or card_memory < 1:
        return None
    cards = -floor(-amount)
    part = amount / cards
    memory = max(1, floor(part * card_memory))
    percentage = max(STEP, STEP * floor(part * (100 // STEP)))
    meant = floor(1 / part)
    fits = min(card_memory // memory, 100 // percentage, MOST_PODS)
    return Share(
        amount=amount,
        cards=cards,
        memory=memory * cards,
        percentage=percentage * cards,
        weight=max(1, round(part * MOST_PODS)),
        fits=fits,
        meant=meant,
        notes=tuple(_notes(part, card_memory, (memory, percentage, meant, fits))),
    )


def _notes(part: Amount, card_memory: int, asked: tuple[int, int, int, int]) -> Iterator[str]:
    memory, percentage, meant, fits = asked
    if fits < meant:
        yield f"only {fits} of these fit a card, not {meant}"
    if (idle := card_memory - memory * meant) > 0:
        yield f"{idle} GiB of each card stay unused"
    if percentage != part * 100:
        exact = format_amount(Fraction(round(part * 1000), 10))
        yield f"computing power is {percentage} % of a card instead of {exact} %"
    if part < Fraction(1, MOST_PODS):
        yield f"a card takes at most {MOST_PODS} pods, {STEP} % each"


def is_shared(pool: Pool) -> bool:
    """Whether a pool is marked as one of cGPU nodes, by the labels that select its nodes."""
    return isolates(dict(pool.nodes))


def shared_pools(configuration: Configuration, profile: Profile) -> tuple[Pool, ...]:
    """The pools of cGPU nodes that a profile is linked to, where it consumes parts of GPUs."""
    if profile.allotment.denominator == 1 and not profile.is_dynamic:
        return ()
    pools = (configuration.pool_by_name.get(link.pool) for link in profile.pools)
    return tuple(pool for pool in pools if pool is not None and is_shared(pool))


def dishonoured(configuration: Configuration, policy: int) -> tuple[str, ...]:
    """The fractional profiles on cGPU nodes whose part of the computing power is not as asked."""
    if POLICIES[policy].honesty is Honesty.EXACT:
        return ()
    return tuple(
        profile.name
        for profile in configuration.profiles
        if shared_pools(configuration, profile) and profile.allotment.denominator != 1
    )


def fraction_findings(configuration: Configuration) -> Iterator[Finding]:
    """A warning for each profile whose fraction is not what its pods get under the cGPU policy."""
    if configuration.cgpu is None:
        return
    facts = POLICIES[configuration.cgpu.policy]
    kept = "only its memory is" if facts.honesty is Honesty.MEMORY_ONLY else "only its ratio is"
    for profile in configuration.profiles:
        if profile.name in dishonoured(configuration, facts.number):
            yield warning(
                "fraction_not_honoured",
                (Kind.PROFILE, profile.name),
                f"consumes {format_amount(profile.allotment)} GPU, but under cGPU "
                f"{described(facts.number)} {kept} what its pods get: {facts.gives}",
                "choose policy 3, or know that computing power is shared otherwise",
            )


def fit_findings(configuration: Configuration, card_memory: Mapping[str, int]) -> Iterator[Finding]:
    """A warning for each profile of which fewer fit a card than its fraction promises.

    `card_memory` are the GiB of the smallest card of a pool's nodes, by pool, where known.
    """
    for profile in configuration.profiles:
        for pool in shared_pools(configuration, profile):
            share = share_of(profile.allotment, card_memory.get(pool.name, 0))
            if share is not None and not share.is_feasible:
                yield warning(
                    "fraction_does_not_fit",
                    (Kind.PROFILE, profile.name),
                    f"consumes {format_amount(profile.allotment)}, but on the cards of pool "
                    f"{quoted(pool.name)} {'; '.join(share.notes)}",
                    "choose an amount that divides their memory, or another pool",
                )
