"""Findings about numbers: what is no amount, what does not fit, what can never be used up."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import floor, gcd, lcm
from typing import Final

from domain.amounts import ZERO, Amount, format_amount, parse_amount
from domain.configuration import Configuration, Policy, Profile
from domain.findings import Finding, error, warning
from domain.names import listing, quoted
from domain.promises import policies_by_profile, pools_of
from domain.renames import Kind

_MOST_UNITS: Final = 100_000
"""Up to how many common units all sums of allotments are tried; beyond, only their divisor is."""

_TELLING: Final = {2: 7, 3: 15, 4: 50, 5: 100, 6: 100}
"""Decimal places → the largest denominator that so few digits identify."""

_Subject = tuple[Kind, str]


def amount_findings(configuration: Configuration) -> Iterator[Finding]:
    """What an amount is not fit for, by itself and beside the others."""
    for subject, what, amount, may_be_zero in _amounts(configuration):
        yield from _own_findings(subject, what, amount, zero=may_be_zero)
    using = policies_by_profile(configuration)
    for profile in configuration.profiles:
        yield from _fitting_findings(profile, configuration)
        yield from _usable_findings(profile, using.get(profile.name, ()))
    for policy in configuration.policies:
        yield from _limit_findings(policy, configuration)
        yield from _reservation_findings(policy, configuration)


def _amounts(configuration: Configuration) -> Iterator[tuple[_Subject, str, Amount, bool]]:
    for pool in configuration.pools:
        yield (Kind.POOL, pool.name), "resources", pool.resources, True
    for profile in configuration.profiles:
        yield (Kind.PROFILE, profile.name), "allotment", profile.allotment, False
    for policy in configuration.policies:
        yield (Kind.POLICY, policy.name), "reservation", policy.reservation, True
        if policy.limit is not None:
            yield (Kind.POLICY, policy.name), "limit", policy.limit, False


def _own_findings(subject: _Subject, what: str, amount: Amount, *, zero: bool) -> Iterator[Finding]:
    shown = format_amount(amount)
    if parse_amount(amount, zero=zero) is None:
        message = f"has the {what} {shown}, which is no amount"
        remedy = f"say {'0 or ' if zero else ''}more than 0 and at most 1000000"
        yield error("amount_invalid", subject, message, remedy)
    elif (meant := unrounded(amount)) is not None:
        parts = meant.denominator
        message = (
            f"has the {what} {shown}, which looks like {format_amount(meant)} rounded: "
            f"{parts} of it are {format_amount(amount * parts)}, not {meant.numerator}"
        )
        remedy = f"say {format_amount(meant)}"
        yield warning("amount_rounded", subject, message, remedy)


def unrounded(amount: Amount) -> Amount | None:
    """The fraction that a decimal of 2 to 6 places was rounded or cut from, as 1/7 was to 0.143.

    None where it is none: 0.25 is itself, and 0.35 is near no fraction of a small denominator.
    """
    text = format_amount(amount)
    places = len(text.partition(".")[2])
    if places not in _TELLING:
        return None
    meant = amount.limit_denominator(_TELLING[places])
    if meant == amount or "/" not in format_amount(meant):
        return None
    scaled = meant * 10**places
    return meant if amount * 10**places in (floor(scaled), round(scaled)) else None


def _fitting_findings(profile: Profile, configuration: Configuration) -> Iterator[Finding]:
    pools = [configuration.pool_by_name.get(link.pool) for link in profile.pools]
    known = [pool for pool in pools if pool is not None]
    if known and all(pool.resources < profile.allotment for pool in known):
        largest = max(known, key=lambda pool: pool.resources)
        message = (
            f"takes {format_amount(profile.allotment)} a job, more than any of its pools has: "
            f"the largest, {quoted(largest.name)}, has {format_amount(largest.resources)}"
        )
        remedy = "lower its allotment or link it to a larger pool"
        yield error("allotment_above_pools", (Kind.PROFILE, profile.name), message, remedy)


def _usable_findings(profile: Profile, using: Iterable[Policy]) -> Iterator[Finding]:
    for policy in using:
        if policy.limit is not None and policy.limit < profile.allotment:
            allotment, limit = format_amount(profile.allotment), format_amount(policy.limit)
            message = (
                f"takes {allotment} a job, more than policy {quoted(policy.name)}, which uses it, "
                f"may use at all: {limit}"
            )
            remedy = "raise the limit, lower the allotment or disconnect the two"
            subject = (Kind.PROFILE, profile.name)
            yield error("allotment_above_limit", subject, message, remedy)


def _limit_findings(policy: Policy, configuration: Configuration) -> Iterator[Finding]:
    if policy.limit is None:
        return
    subject = (Kind.POLICY, policy.name)
    limit = format_amount(policy.limit)
    if policy.reservation > policy.limit:
        message = f"reserves {format_amount(policy.reservation)}, more than its limit of {limit}"
        remedy = "raise the limit or lower the reservation"
        yield error("reservation_above_limit", subject, message, remedy)
    pools = pools_of(configuration, policy)
    there = sum((configuration.pool_by_name[name].resources for name in pools), ZERO)
    if pools and policy.limit > there:
        message = f"has a limit of {limit}, but its pools have {format_amount(there)} together"
        remedy = f"lower the limit to {format_amount(there)} or take it away"
        yield warning("limit_above_pools", subject, message, remedy)


def _reservation_findings(policy: Policy, configuration: Configuration) -> Iterator[Finding]:
    """A rest of the reservation that no job of the policy's fixed profiles ever fits."""
    profiles = [configuration.profile_by_name.get(queue.profile) for queue in policy.queues]
    known = [profile for profile in profiles if profile is not None]
    # A dynamic job takes what it says, so any rest may be used.
    if not known or any(profile.is_dynamic for profile in known):
        return
    allotments = sorted({profile.allotment for profile in known if profile.allotment > 0})
    usable = largest_sum(policy.reservation, allotments)
    if usable == policy.reservation:
        return
    rest = format_amount(policy.reservation - usable)
    jobs = listing(map(format_amount, allotments))
    message = (
        f"reserves {format_amount(policy.reservation)}, which jobs of {jobs} cannot use up: "
        f"{rest} of it always stays idle"
    )
    remedy = f"reserve {format_amount(usable)}, or more by whole jobs"
    yield warning("reservation_no_multiple", (Kind.POLICY, policy.name), message, remedy)


def largest_sum(most: Amount, parts: Sequence[Amount]) -> Amount:
    """The largest sum of `parts`, each taken any number of times, that is at most `most`.

    Where the common unit is very small, only what all parts have in common is looked at, which
    may find a sum that is a little too large.
    """
    if not parts or most <= 0:
        return ZERO
    scale = lcm(most.denominator, *(part.denominator for part in parts))
    units = [int(part * scale) for part in parts]
    common = gcd(*units)
    target = int(most * scale) // common
    units = [unit // common for unit in units]
    if len(units) == 1 or target > _MOST_UNITS:
        reached = target
    else:
        reached = _reachable(target, units).bit_length() - 1
    return Fraction(reached * common, scale)


def _reachable(target: int, units: Iterable[int]) -> int:
    """A number whose bit n is set where n, at most `target`, is a sum of `units`."""
    sums, within = 1, (1 << target + 1) - 1
    for unit in units:
        step = unit
        while step <= target:
            sums |= sums << step & within
            step *= 2
    return sums
