"""What people mean by a name, or the beginning of one."""

import pytest

from bot.naming import Unclear, ask_which, command, resolve

POOLS = ["bare-metal", "h100", "h100-spot", "Team “A”", "two  words", "ÄRGER"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        pytest.param("h100", "h100", id="as it stands, though another begins so"),
        pytest.param("H100", "h100", id="in another case"),
        pytest.param("bare", "bare-metal", id="its beginning"),
        pytest.param("spot", "h100-spot", id="a part of it"),
        pytest.param('team "a"', "Team “A”", id="other quotes"),
        pytest.param("two words", "two  words", id="other blanks"),
        pytest.param("ärger", "ÄRGER", id="beyond ASCII"),
    ],
)
def test_a_name_is_understood(said: str, meant: str) -> None:
    assert resolve(said, POOLS) == meant


def test_what_fits_several_is_asked_for() -> None:
    found = resolve("h1", POOLS)

    assert found == Unclear(said="h1", candidates=("h100", "h100-spot"), several=True)


def test_what_fits_none_offers_the_nearest() -> None:
    assert resolve("h10o", ["h100", "metal"]) == Unclear(said="h10o", candidates=("h100",))
    assert resolve("xyz", ["h100", "metal"]) == Unclear(said="xyz")
    assert resolve("", ["h100"]) == Unclear(said="")


def test_candidates_are_buttons_and_the_rest_is_counted() -> None:
    many = Unclear(said="h", candidates=tuple(f"h{n}" for n in range(20)), several=True)

    reply = ask_which("pool", many, lambda one: command("status", one))

    values = [one["value"] for one in reply.blocks[1]["elements"]]
    assert values == [f"status h{n}" for n in range(8)]
    assert "There are 12 more; say more of the name." in reply.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("status", "h100"), "status h100"),
        (("status", "my pool"), "status 'my pool'"),
        (("queue", "it's"), "queue 'it'\"'\"'s'"),
        (("queue", "“a”"), "queue '“a”'"),
    ],
)
def test_a_command_quotes_what_needs_it(words: tuple[str, ...], said: str) -> None:
    assert command(*words) == said
