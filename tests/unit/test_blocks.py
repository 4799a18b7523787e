"""The pieces of messages: what people typed is harmless in them, and they keep Slack's limits."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.bars import BORROWED, CELLS, FREE, RESERVED, bar
from bot.blocks import (
    MOST_BLOCKS,
    Reply,
    action,
    button,
    buttons,
    confirm,
    context,
    fits,
    header,
    name,
    names,
    page_in,
    page_of,
    plain,
    prose,
    quoted,
    section,
    sections,
    user,
)
from bot.carrying import bounded
from sandbox.slack.limits import check_blocks, check_message
from sandbox.slack.mentions import mentions

ODD = st.text(max_size=300) | st.sampled_from(
    ["<!channel>", "<@U_BEN>", "`x`", "*a*", "\u202eabc", "a\u2028b", "&amp;", "😀" * 120, "\ufeff"]
)


@given(ODD)
def test_a_name_is_code_on_one_line_that_pings_nobody(text: str) -> None:
    shown = name(text)

    assert re.fullmatch(r"`[^`\n\r]+`", shown)
    assert mentions(shown, [section(shown)]) == []
    assert len(plain(text)) <= 60


@given(ODD)
def test_a_sentence_with_a_name_in_it_pings_nobody(text: str) -> None:
    for blocks in ([section(quoted(text))], [prose(text)], [header(text)], [context(name(text))]):
        assert check_blocks(blocks) == []
        assert mentions("", blocks) == []


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("a\n\tb  c", "a b c"),
        ("\u202egpj.exe", "gpj.exe"),
        ("  ", "(blank)"),
        ("\u200b", "(blank)"),
        ("x" * 61, "x" * 59 + "…"),
        ("שלום", "שלום"),
        ("😀", "😀"),
    ],
)
def test_what_is_left_of_a_name(typed: str, shown: str) -> None:
    assert plain(typed) == shown


def test_a_person_is_mentioned_only_by_an_id() -> None:
    assert user("U024BE7LH") == "<@U024BE7LH>"
    assert user("<!channel>") == "`&lt;!channel&gt;`"
    assert user("root (command line)") == "`root (command line)`"


def test_several_names_are_counted_beyond_some() -> None:
    assert names(["a", "b"], 4) == "`a` and `b`"
    assert names(["a", "b", "c", "d"], 2) == "`a`, `b` and 2 more"


@given(st.lists(st.text(max_size=4000), max_size=30))
def test_lines_are_put_into_sections_that_hold_them(lines: list[str]) -> None:
    blocks = sections([line or "-" for line in lines])

    assert check_blocks(blocks) == [] or not blocks
    assert "\n".join(block["text"]["text"] for block in blocks).count("\n") >= len(lines) - 1


@given(ODD, ODD)
def test_buttons_and_dialogs_keep_the_limits(label: str, text: str) -> None:
    row = buttons(
        button(label, "status"), action(label, "act", "v", confirm=confirm(label, text, label))
    )

    assert check_blocks([row]) == []


def test_buttons_of_one_action_are_told_apart() -> None:
    row = buttons(button("a", "status"), button("b", "help"))

    assert [one["action_id"] for one in row["elements"]] == ["say:0", "say:1"]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 95])
def test_pages_hold_every_item_once(count: int) -> None:
    items = list(range(count))
    pages = page_of(items, 1, 10).pages

    found = [item for number in range(1, pages + 1) for item in page_of(items, number, 10).items]

    assert found == items
    assert page_of(items, 999, 10).number == pages
    assert page_of(items, 0, 10).number == 1


def test_a_page_says_where_one_is_and_how_to_go_on() -> None:
    page = page_of(list(range(25)), 2, 10)

    said, turns = page.footer("status")

    assert said["elements"][0]["text"] == "11-20 of 25, page 2 of 3"
    assert [one["value"] for one in turns["elements"]] == ["status page 1", "status page 3"]
    assert page_of([1], 1, 10).footer("status") == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("page", "3"), ((), 3)),
        (("h100", "Page", "2"), (("h100",), 2)),
        (("page",), (("page",), 1)),
        (("page", "x"), (("page", "x"), 1)),
        ((), ((), 1)),
    ],
)
def test_the_page_is_read_from_the_end_of_the_words(
    words: tuple[str, ...], found: tuple[tuple[str, ...], int]
) -> None:
    assert page_in(words) == found


def test_what_does_not_fit_is_left_out_and_said_to_be() -> None:
    many = Reply(text="Many.", blocks=tuple(section("x" * 200) for _ in range(100)))
    few = Reply(text="Few.", blocks=(section("x"),))

    shown = bounded(many)

    assert not fits(many.blocks)
    assert len(shown) <= MOST_BLOCKS
    assert "There is more than fits here" in str(shown[-1])
    assert check_message({"text": many.text, "blocks": shown}) == []
    assert bounded(few) == list(few.blocks)


amounts = st.fractions(min_value=0, max_value=20)


@given(st.lists(amounts, max_size=4), amounts)
def test_a_bar_has_its_cells_and_shows_whatever_is_in_use(
    parts: list[Fraction], whole: Fraction
) -> None:
    marks = ["a", "b", "c", "d"][: len(parts)]

    drawn = bar(list(zip(marks, parts, strict=True)), whole)

    assert len(drawn) == CELLS
    assert sorted(drawn.replace(FREE, "")) == list(drawn.replace(FREE, ""))
    assert all(mark in drawn for mark, part in zip(marks, parts, strict=True) if part)


@pytest.mark.parametrize(
    ("reserved", "borrowed", "whole", "drawn"),
    [
        (0, 0, 8, FREE * 20),
        (4, 0, 8, RESERVED * 10 + FREE * 10),
        (4, 2, 8, RESERVED * 10 + BORROWED * 5 + FREE * 5),
        (8, 0, 8, RESERVED * 20),
        (12, 0, 8, RESERVED * 20),
        (0, 0, 0, FREE * 20),
    ],
)
def test_bars(reserved: int, borrowed: int, whole: int, drawn: str) -> None:
    parts = ((RESERVED, Fraction(reserved)), (BORROWED, Fraction(borrowed)))

    assert bar(parts, Fraction(whole)) == drawn
