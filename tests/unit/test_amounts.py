"""Amounts: ALLOCATION.md, chapter "Amounts"."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.amounts import LARGEST, format_amount, parse_amount
from tests.configurations import laws

VALID = [
    pytest.param(4, Fraction(4), id="an integer"),
    pytest.param("4", Fraction(4), id="digits"),
    pytest.param("0.5", Fraction(1, 2), id="a decimal"),
    pytest.param(".5", Fraction(1, 2), id="a decimal without its zero"),
    pytest.param("4.", Fraction(4), id="a decimal without decimals"),
    pytest.param("1/7", Fraction(1, 7), id="a fraction"),
    pytest.param("2/14", Fraction(1, 7), id="a fraction that can be reduced"),
    pytest.param("1e3", Fraction(1000), id="an exponent"),
    pytest.param("1E-3", Fraction(1, 1000), id="a negative exponent"),
    pytest.param("+2", Fraction(2), id="a plus sign"),
    pytest.param(" 2 ", Fraction(2), id="spaces around"),
    pytest.param(0.1, Fraction(1, 10), id="a float by its shortest decimal form"),
    pytest.param(Fraction(1, 3), Fraction(1, 3), id="an amount"),
    pytest.param("007", Fraction(7), id="leading zeros"),
    pytest.param(LARGEST, Fraction(LARGEST), id="the largest"),
    pytest.param("0.000001", Fraction(1, LARGEST), id="the smallest"),
]

INVALID = [
    pytest.param(0, id="zero"),
    pytest.param("-1", id="a negative"),
    pytest.param(float("nan"), id="NaN"),
    pytest.param("nan", id="NaN in words"),
    pytest.param(float("inf"), id="infinity"),
    pytest.param("inf", id="infinity in words"),
    pytest.param(True, id="a boolean"),
    pytest.param("four", id="text"),
    pytest.param("4 GPUs", id="text after a number"),
    pytest.param("", id="nothing"),
    pytest.param("  ", id="blanks"),
    pytest.param(None, id="absent"),
    pytest.param([4], id="a list"),
    pytest.param({"gpus": 4}, id="a mapping"),
    pytest.param("1/0", id="a division by zero"),
    pytest.param("1/7/2", id="two fractions"),
    pytest.param("0.5/2", id="a decimal in a fraction"),
    pytest.param("1_000", id="an underscore"),
    pytest.param("1,5", id="a comma"),
    pytest.param("0x10", id="hexadecimal"),
    pytest.param("٣", id="digits of another script"),
    pytest.param(LARGEST + 1, id="more than the largest"),
    pytest.param("1/1000001", id="too large a denominator"),
    pytest.param(0.1 + 0.2, id="a float with its rounding error"),
    pytest.param("1e999999999", id="an exponent that would fill the memory"),
    pytest.param("9" * 100_000, id="a hundred thousand digits"),
    pytest.param(10**5000, id="an integer of five thousand digits"),
]


@pytest.mark.parametrize(("raw", "amount"), VALID)
def test_what_is_an_amount(raw: object, amount: Fraction) -> None:
    assert parse_amount(raw) == amount


@pytest.mark.parametrize("raw", INVALID)
def test_what_is_none(raw: object) -> None:
    assert parse_amount(raw) is None


@pytest.mark.parametrize("raw", [0, "0", "0.0", "-0", 0.0])
def test_zero_is_one_where_it_is_admitted(raw: object) -> None:
    assert parse_amount(raw, zero=True) == 0
    assert parse_amount("-1", zero=True) is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        pytest.param(Fraction(16), "16", id="whole"),
        pytest.param(Fraction(1, 2), "0.5", id="a finite decimal"),
        pytest.param(Fraction(1, 40), "0.025", id="zeros after the point"),
        pytest.param(Fraction(1, LARGEST), "0.000001", id="never an exponent"),
        pytest.param(Fraction(1, 7), "1/7", id="no finite decimal"),
        pytest.param(Fraction(-1, 4), "-0.25", id="a negative difference"),
    ],
)
def test_amounts_are_printed_as_decimals_where_there_is_one(amount: Fraction, text: str) -> None:
    assert format_amount(amount) == text


@laws
@given(st.fractions(min_value=Fraction(1, LARGEST), max_value=LARGEST, max_denominator=LARGEST))
def test_what_is_printed_is_read_as_the_same(amount: Fraction) -> None:
    assert parse_amount(format_amount(amount)) == amount


@laws
@given(st.text() | st.floats() | st.integers() | st.binary())
def test_anything_is_an_amount_or_none(raw: object) -> None:
    amount = parse_amount(raw)

    assert amount is None or (0 < amount <= LARGEST and amount.denominator <= LARGEST)


@laws
@given(st.floats(min_value=0.001, max_value=1000).map(lambda x: round(x, 3)))
def test_a_float_is_what_its_document_says(number: float) -> None:
    assert parse_amount(number) == parse_amount(json.dumps(number))
