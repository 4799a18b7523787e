"""What people type becomes a typed command, or a helpful misreading."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.access import Actor
from bot.blocks import Reply
from bot.commands import Command, Misreading, Origin, Role, Verb, read
from bot.desk import Desk
from bot.helping import help_on, misread
from bot.naming import command
from bot.registry import SURFACES, TABLE


def _unanswered(_: Desk, __: Actor, ___: Command) -> Reply:
    return Reply(text="Not asked.")


def verb(words: str, takes: tuple[int, int | None] = (0, None), **more: str) -> Verb:
    return Verb(
        words=tuple(words.split()),
        role=Role.EVERYBODY,
        help="does.",
        answer=_unanswered,
        takes=takes,
        usage=more.get("usage", ""),
    )


SMALL = (
    verb("help"),
    verb("status"),
    verb("draft", (0, 0)),
    verb("draft save", (0, 0)),
    verb("draft show", (0, 1), usage="[profile]"),
    verb("why", (1, None), usage="TASK"),
    verb("digest show", (0, 0)),
    verb("propose", (3, None), usage="POLICY WHAT AMOUNT"),
)


@pytest.mark.parametrize(
    ("typed", "name", "words"),
    [
        pytest.param("status", "status", (), id="a verb"),
        pytest.param("  STATUS   h100 ", "status", ("h100",), id="any case and blanks"),
        pytest.param("", "help", (), id="nothing is help"),
        pytest.param("draft save", "draft save", (), id="the longest verb wins"),
        pytest.param("draft", "draft", (), id="the shorter one alone"),
        pytest.param('status "my pool"', "status", ("my pool",), id="quotes hold a name together"),
        pytest.param("status “my pool”", "status", ("my pool",), id="as a phone types them"),
        pytest.param("why it's", "why", ("it's",), id="a lone quote is a letter"),
        pytest.param("why a\nb", "why", ("a", "b"), id="lines are words"),
    ],
)
def test_what_is_typed_is_read(typed: str, name: str, words: tuple[str, ...]) -> None:
    found = read(SMALL, typed)

    assert isinstance(found, Command)
    assert (found.verb.name, found.words) == (name, words)


def test_the_rest_is_kept_as_it_was_typed() -> None:
    found = read(SMALL, 'propose dev  limit  12   because "we"  need it')

    assert isinstance(found, Command)
    assert found.rest == 'dev  limit  12   because "we"  need it'


def test_the_origin_is_passed_on() -> None:
    origin = Origin(channel="C1", trigger="t")

    found = read(SMALL, "status", origin)

    assert isinstance(found, Command)
    assert found.origin == origin


@pytest.mark.parametrize(
    ("typed", "sentence", "nearest"),
    [
        pytest.param(
            "statsu h100", "I do not know `statsu`", "status h100", id="a typo keeps words"
        ),
        pytest.param("draft sav", "`draft` has no `sav`", "draft save", id="in a group"),
        pytest.param("drft save", "I do not know `drft`", "draft save", id="before a group"),
        pytest.param("wyh dev 12", "I do not know `wyh`", "why dev 12", id="all that follows"),
        pytest.param("digset", "I do not know `digset`", "help digest", id="a group itself"),
        pytest.param("xyzzy", "I do not know `xyzzy`", "", id="nothing is near"),
        pytest.param(
            "why", "`why` was given too little: say `/pool why TASK`", "", id="too few words"
        ),
        pytest.param(
            "draft show a b",
            "`draft show` was given more than it takes: say `/pool draft show [profile]`",
            "",
            id="too many words",
        ),
        pytest.param("<!channel>", "I do not know `&lt;!channel&gt;`", "", id="markup"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_nearest(
    typed: str, sentence: str, nearest: str
) -> None:
    found = read(SMALL, typed)

    assert found == Misreading(said=typed, sentence=sentence, nearest=nearest)


def test_a_misreading_has_a_button_that_runs_the_nearest() -> None:
    found = read(SMALL, "statsu h100")
    assert isinstance(found, Misreading)

    reply = misread(found)

    assert reply.text == "I do not know `statsu`. Did you mean `/pool status h100`?"
    assert [one["value"] for one in reply.blocks[-1]["elements"]] == ["status h100", "help"]


@given(st.text(max_size=200))
def test_anything_typed_is_read_or_said_to_be_unknown(typed: str) -> None:
    found = read(TABLE, typed)

    assert isinstance(found, Command | Misreading)
    if isinstance(found, Misreading):
        assert misread(found).text


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=4))
def test_a_command_made_of_words_is_read_as_those_words(words: list[str]) -> None:
    words = [one for one in words if one.strip() and one.isprintable()] or ["x"]

    found = read(SMALL, command("why", *words))

    assert isinstance(found, Command)
    assert list(found.words) == words


def test_every_example_is_a_command_that_can_be_read() -> None:
    for one in TABLE:
        if one.example:
            found = read(TABLE, one.example)
            assert isinstance(found, Command), one.example
            assert found.verb is one


def test_no_two_verbs_are_the_same() -> None:
    names = [one.name for one in TABLE]

    assert len(names) == len(set(names))


def test_every_verb_has_one_line_of_help_that_ends() -> None:
    for one in TABLE:
        assert one.help.endswith("."), one.name
        assert "\n" not in one.help


def test_actions_are_told_apart_by_the_word_before_the_colon() -> None:
    for action in (*SURFACES.acts, *SURFACES.suggests):
        assert ":" not in action
        assert action not in ("say", "turn", "share")


@pytest.mark.parametrize("words", [(), ("why",), ("draft",), ("nonsense",), ("<!channel>",)])
def test_help_at_every_level_says_only_what_one_may(words: tuple[str, ...]) -> None:
    admin, nobody = Actor(user="U1", is_admin=True), Actor(user="U2")

    for actor in (admin, nobody):
        reply = help_on(TABLE, actor, words)
        assert reply.text
        assert "<!channel>" not in str(reply)
    assert "audit" in help_on(TABLE, admin, ()).text
    assert "audit" not in help_on(TABLE, nobody, ()).text
    assert "This is for admins" in str(help_on(TABLE, nobody, ("audit",)))
