"""Exact amounts of resources: rationals in, rationals out, never a float in between.

The rule is ALLOCATION.md's chapter "Amounts".
"""

import math
import re
from fractions import Fraction
from typing import Final, TypeAlias

Amount: TypeAlias = Fraction

ZERO: Final = Fraction(0)
LARGEST: Final = 1_000_000
"""Both the largest amount and the largest denominator."""

_LONGEST_TEXT: Final = 200
_LARGEST_EXPONENT: Final = 400
_TEXT: Final = re.compile(
    r"\s*(?P<sign>[+-]?)(?:(?P<numerator>[0-9]+)/(?P<denominator>[0-9]+)"
    r"|(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE](?P<exponent>[+-]?[0-9]+))?)\s*"
)


def parse_amount(raw: object, *, zero: bool = False) -> Amount | None:
    """The amount that a person or a task wrote, or None where it is no valid value.

    Accepts strings (`4`, `0.5`, `1/7`, `1e3`), integers, and floats by their shortest decimal
    form. Valid is 0 < x <= 1,000,000 with a denominator of at most 1,000,000; `zero` admits 0,
    as reservations and pools do. Booleans, text, blanks, NaN and infinities are no amounts.
    """
    amount = _exact(raw)
    if amount is None or amount.denominator > LARGEST or not 0 <= amount <= LARGEST:
        return None
    return amount if amount or zero else None


def format_amount(amount: Amount) -> str:
    """A decimal where there is a finite one (`0.5`), else a fraction (`1/7`); never an exponent.

    >>> format_amount(Fraction(1, 2)), format_amount(Fraction(1, 7)), format_amount(Fraction(16))
    ('0.5', '1/7', '16')
    """
    numerator, denominator = amount.numerator, amount.denominator
    if denominator == 1:
        return str(numerator)
    places = _decimal_places(denominator)
    if places is None:
        return f"{numerator}/{denominator}"
    digits = str(abs(numerator) * 10**places // denominator).rjust(places + 1, "0")
    sign = "-" if numerator < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _exact(raw: object) -> Amount | None:
    if isinstance(raw, bool):
        return None
    if isinstance(raw, Fraction):
        return raw
    if isinstance(raw, int):
        return Fraction(raw)
    if isinstance(raw, float):
        return Fraction(repr(raw)) if math.isfinite(raw) else None
    return _from_text(raw) if isinstance(raw, str) else None


def _from_text(text: str) -> Amount | None:
    # Length and exponent are bounded before any arithmetic: `1e999999999` must not be built.
    if len(text) > _LONGEST_TEXT or (match := _TEXT.fullmatch(text)) is None:
        return None
    if abs(int(match["exponent"] or 0)) > _LARGEST_EXPONENT:
        return None
    if match["denominator"] is not None and int(match["denominator"]) == 0:
        return None
    return Fraction(text)


def _decimal_places(denominator: int) -> int | None:
    """How many decimals a fraction of this denominator has, or None where they never end."""
    places = 0
    while denominator % 10 == 0:
        denominator //= 10
        places += 1
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
            places += 1
    return places if denominator == 1 else None
