"""Checks are made side by side, bounded in time, and what is not known is never fine."""

import re
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from bot.checkups import Ailment, Standing
from bot.checkups_servers import clock_ailments, database_ailments
from bot.doctor_checks import CHECKS
from bot.doctor_lines import lines
from bot.doctoring import Check, Findings, Once, Unknown, examined
from storage.inspecting import Condition
from storage.schema import revisions

README = (Path(__file__).parents[2] / "README.md").read_text()


def fine(_: object) -> Findings:
    return Findings(fact="as it should be")


def broken(_: object) -> NoReturn:
    raise ZeroDivisionError("a fault of the check's own")


def unasked(_: object) -> NoReturn:
    raise Unknown("It could not be asked.", "Ask again.")


def check(name: str, make: object) -> Check[None]:
    return Check(name=name, looks_at="", make=make)  # type: ignore[arg-type]


def test_a_check_that_hangs_or_breaks_keeps_no_other_from_being_made() -> None:
    never = threading.Event()
    hangs = check("hangs", lambda _: never.wait())

    found = examined(
        [hangs, check("breaks", broken), check("unasked", unasked), check("fine", fine)], None, 0.5
    )
    never.set()

    assert [(one.check, one.standing) for one in found] == [
        ("hangs", Standing.WARN),
        ("breaks", Standing.WARN),
        ("unasked", Standing.WARN),
        ("fine", Standing.OK),
    ]
    assert found[0].says == "unknown: There was no answer within 0.5 s."
    assert found[1].says == "unknown: ZeroDivisionError: a fault of the check's own"
    assert found[2].remedy == "Ask again."


def test_checks_are_made_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=5)

    def meets(_: object) -> Findings:
        both.wait()
        return Findings(fact="met")

    found = examined([check("one", meets), check("two", meets)], None)

    assert [one.says for one in found] == ["met", "met"]


def test_what_several_need_is_got_once_and_its_error_is_each_ones() -> None:
    asked = []

    def get() -> NoReturn:
        asked.append(1)
        raise Unknown("no")

    once = Once(get)
    for _ in range(2):
        with pytest.raises(Unknown):
            once()
    assert asked == [1]


def test_every_line_has_a_sign_and_a_word_and_what_is_wrong_a_remedy() -> None:
    ailing = Findings(
        fact="",
        ailments=[
            Ailment(says="It is &lt;so&gt;.", remedy="Mend it.", standing=Standing.WARN),
            Ailment(says="It is broken.", remedy="Replace it."),
        ],
    )

    shown = "\n".join(lines(examined([check("one", fine), check("two", lambda _: ailing)], None)))

    assert shown.splitlines() == [
        "✓ ok   one         as it should be",
        "! warn two         It is <so>.",
        "                   → Mend it.",
        "✗ fail two         It is broken.",
        "                   → Replace it.",
        "1 ok, 1 warn, 1 fail.",
    ]


@pytest.mark.parametrize(
    ("seconds", "standing"),
    [
        (0, None), (5, None), (-5, None), (5.1, Standing.WARN), (-60, Standing.WARN),
        (60.1, Standing.FAIL), (-3600, Standing.FAIL),
    ],
)  # fmt: skip
def test_a_clock_may_be_off_by_five_seconds(seconds: float, standing: Standing | None) -> None:
    found = [one.standing for one in clock_ailments({"Slack": seconds})]

    assert found == ([standing] if standing else [])


GOOD = Condition(name="x", revision=revisions()[-1], disk=10**12, leader="process 1")


@pytest.mark.parametrize(
    ("changes", "standing", "words"),
    [
        ({}, None, ""),
        ({"disk": None}, None, ""),
        ({"revision": "9999"}, Standing.FAIL, "newer Poolkeeper"),
        ({"revision": "0001"}, Standing.WARN, "older Poolkeeper"),
        ({"revision": None, "leader": None}, Standing.WARN, "no database"),
        ({"disk": 5 * 10**8}, Standing.WARN, "500.0 MB left"),
        ({"disk": 10**7}, Standing.FAIL, "10.0 MB left"),
        ({"leader": None}, Standing.WARN, "No process leads"),
    ],
)
def test_a_database_is_judged(
    changes: dict[str, object], standing: Standing | None, words: str
) -> None:
    from dataclasses import replace

    found = list(database_ailments(replace(GOOD, **changes)))  # type: ignore[arg-type]

    assert [one.standing for one in found] == ([standing] if standing else [])
    assert all(words in one.says and one.remedy for one in found)


def test_the_readmes_table_of_checks_is_the_checks() -> None:
    _, _, rest = README.partition("| check | looks at |\n|---|---|\n")
    table = rest.partition("\n\n")[0]

    assert re.findall(r"^\| `([a-z]+)` \| (.+) \|$", table, re.MULTILINE) == [
        (one.name, one.looks_at) for one in CHECKS
    ]
