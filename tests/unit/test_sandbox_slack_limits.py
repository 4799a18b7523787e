"""The table of limits: what is just allowed passes, one more is refused, and says where."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.slack import limits
from sandbox.slack.shape import Problem
from tests.slack_support import Workspace

Doc = dict[str, Any]
Made = Callable[[int], Doc]


def plain(size: int) -> Doc:
    return {"type": "plain_text", "text": "x" * size}


def marked(size: int) -> Doc:
    return {"type": "mrkdwn", "text": "x" * size}


def section(**fields: Any) -> Doc:
    return {"type": "section", "text": marked(1), **fields}


def button(**fields: Any) -> Doc:
    return {"type": "button", "text": plain(1), "action_id": "go", **fields}


def actions(*elements: Doc) -> Doc:
    return {"type": "actions", "elements": list(elements)}


def option(text: int = 1, value: int = 1, **fields: Any) -> Doc:
    return {"text": plain(text), "value": "v" * value, **fields}


def select(**fields: Any) -> Doc:
    return {"type": "static_select", "action_id": "pick", "options": [option()], **fields}


def confirm(**fields: Any) -> Doc:
    sized = {"title": plain(1), "text": plain(1), "confirm": plain(1), "deny": plain(1)}
    return {**sized, **fields}


def image(**fields: Any) -> Doc:
    return {"type": "image", "image_url": "https://a.example/b.png", "alt_text": "x", **fields}


def asked(**fields: Any) -> Doc:
    element = {"type": "plain_text_input", "action_id": "typed"}
    return {"type": "input", "label": plain(1), "element": element, **fields}


def table(rows: int, cells: int = 1) -> Doc:
    cell = {"type": "raw_text", "text": "x"}
    return {"type": "table", "rows": [[cell] * cells for _ in range(rows)]}


def chart(title: int) -> Doc:
    return {"type": "data_visualization", "title": "x" * title, "chart": {"type": "bar"}}


BLOCKS: list[tuple[str, int, Made, str]] = [
    ("section text", 3000, lambda n: section(text=marked(n)), "/text/text"),
    ("section fields", 10, lambda n: section(fields=[marked(1)] * n), "/fields"),
    ("section field", 2000, lambda n: section(fields=[marked(n)]), "/fields/0/text"),
    ("header", 150, lambda n: {"type": "header", "text": plain(n)}, "/text/text"),
    ("context", 10, lambda n: {"type": "context", "elements": [marked(1)] * n}, "/elements"),
    ("actions", 25, lambda n: actions(*(button(action_id=f"a{i}") for i in range(n))), "/elements"),
    ("block id", 255, lambda n: section(block_id="b" * n), "/block_id"),
    ("action id", 255, lambda n: actions(button(action_id="a" * n)), "/elements/0/action_id"),
    ("button text", 75, lambda n: actions(button(text=plain(n))), "/elements/0/text/text"),
    ("button value", 2000, lambda n: actions(button(value="v" * n)), "/elements/0/value"),
    ("button url", 3000, lambda n: actions(button(url="u" * n)), "/elements/0/url"),
    (
        "label for screen readers", 75,
        lambda n: actions(button(accessibility_label="l" * n)), "/elements/0/accessibility_label",
    ),
    ("options", 100, lambda n: actions(select(options=[option()] * n)), "/elements/0/options"),
    (
        "option text", 75,
        lambda n: actions(select(options=[option(text=n)])), "/elements/0/options/0/text/text",
    ),
    (
        "option value", 75,
        lambda n: actions(select(options=[option(value=n)])), "/elements/0/options/0/value",
    ),
    (
        "option description", 75,
        lambda n: actions(select(options=[option(description=plain(n))])),
        "/elements/0/options/0/description/text",
    ),
    (
        "placeholder", 150,
        lambda n: actions(select(placeholder=plain(n))), "/elements/0/placeholder/text",
    ),
    (
        "overflow", 5,
        lambda n: section(accessory={"type": "overflow", "options": [option()] * n}),
        "/accessory/options",
    ),
    (
        "radio buttons", 10,
        lambda n: actions({"type": "radio_buttons", "options": [option()] * n}),
        "/elements/0/options",
    ),
    (
        "checkboxes", 10,
        lambda n: actions({"type": "checkboxes", "options": [option()] * n}),
        "/elements/0/options",
    ),
    (
        "confirm title", 100,
        lambda n: actions(button(confirm=confirm(title=plain(n)))),
        "/elements/0/confirm/title/text",
    ),
    (
        "confirm text", 300,
        lambda n: actions(button(confirm=confirm(text=plain(n)))), "/elements/0/confirm/text/text",
    ),
    (
        "confirm button", 30,
        lambda n: actions(button(confirm=confirm(confirm=plain(n)))),
        "/elements/0/confirm/confirm/text",
    ),
    ("alt text", 2000, lambda n: image(alt_text="x" * n), "/alt_text"),
    ("image title", 2000, lambda n: image(title=plain(n)), "/title/text"),
    ("image url", 3000, lambda n: image(image_url="u" * n), "/image_url"),
    ("input label", 2000, lambda n: asked(label=plain(n)), "/label/text"),
    ("input hint", 2000, lambda n: asked(hint=plain(n)), "/hint/text"),
    ("markdown", 12000, lambda n: {"type": "markdown", "text": "x" * n}, "/text"),
    ("table rows", 100, table, "/rows"),
    ("table cells", 20, lambda n: table(1, n), "/rows/0"),
    ("chart title", 50, chart, "/title"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("most", "made", "pointer"),
    [case[1:] for case in BLOCKS],
    ids=[case[0] for case in BLOCKS],
)
def test_a_block_may_have_so_much_and_no_more(most: int, made: Made, pointer: str) -> None:
    assert limits.check_blocks([made(most)]) == []

    problems = limits.check_blocks([made(most + 1)])

    assert [problem.pointer for problem in problems] == [f"/blocks/0{pointer}"]


REFUSED: list[tuple[str, list[Doc], str, str]] = [
    ("no such block", [{"type": "sparkle"}], "/blocks/0", "unsupported type: sparkle"),
    ("no alt text", [image(alt_text=None)], "/blocks/0", "missing required field: alt_text"),
    ("empty section", [{"type": "section"}], "/blocks/0", "at least one of: text, fields"),
    ("empty text", [section(text=plain(0))], "/blocks/0/text/text", "more than 0 characters"),
    ("no buttons", [actions()], "/blocks/0/elements", "no less than 1"),
    ("a typo", [section(acessory=button())], "/blocks/0", "additional property: acessory"),
    ("a marked button", [actions(button(text=marked(1)))], "/blocks/0/elements/0/text", "mrkdwn"),
    ("no options", [actions(select(options=[]))], "/blocks/0/elements/0/options", "no less than 1"),
    ("ids twice", [section(block_id="b"), section(block_id="b")], "/blocks/1/block_id", "exists"),
    ("actions twice", [actions(button(), button())], "/blocks/0/elements/1", "exists: go"),
    ("two tables", [table(1), table(1)], "/blocks", "only_one_table_allowed"),
    ("three charts", [chart(1)] * 3, "/blocks", "no more than 2 data_visualization"),
    ("no block", [], "/blocks", "no less than 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("blocks", "pointer", "words"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_blocks_are_refused_with_the_place(blocks: list[Doc], pointer: str, words: str) -> None:
    problems = limits.check_blocks(blocks)

    assert [problem.pointer for problem in problems] == [pointer]
    assert words in problems[0].message


def modal(**fields: Any) -> Doc:
    return {"type": "modal", "title": plain(1), "blocks": [section()], **fields}


VIEWS: list[tuple[str, int, Made, str]] = [
    ("title", 24, lambda n: modal(title=plain(n)), "/view/title/text"),
    ("submit", 24, lambda n: modal(submit=plain(n)), "/view/submit/text"),
    ("close", 24, lambda n: modal(close=plain(n)), "/view/close/text"),
    ("metadata", 3000, lambda n: modal(private_metadata="m" * n), "/view/private_metadata"),
    ("callback id", 255, lambda n: modal(callback_id="c" * n), "/view/callback_id"),
    ("blocks", 100, lambda n: modal(blocks=[section()] * n), "/view/blocks"),
    ("home", 100, lambda n: {"type": "home", "blocks": [section()] * n}, "/view/blocks"),
]


@pytest.mark.parametrize(
    ("most", "made", "pointer"), [case[1:] for case in VIEWS], ids=[case[0] for case in VIEWS]
)
def test_a_view_may_have_so_much_and_no_more(most: int, made: Made, pointer: str) -> None:
    assert limits.check_view(made(most)) == []

    problems = limits.check_view(made(most + 1))

    assert [problem.pointer for problem in problems] == [pointer]


def test_a_modal_that_asks_must_have_a_submit_button() -> None:
    problems = limits.check_view(modal(blocks=[asked()]))

    assert "submit" in problems[0].message
    assert limits.check_view(modal(blocks=[asked()], submit=plain(4))) == []


MESSAGES: list[tuple[str, Doc, str]] = [
    ("text", {"text": "x" * 40_001}, "msg_too_long"),
    ("nothing", {}, "no_text"),
    ("blocks without a sentence", {"blocks": [section()]}, "no_text"),
    ("51 blocks", {"text": "x", "blocks": [section()] * 51}, "invalid_blocks"),
    (
        "all text",
        {"text": "x", "blocks": [section(text=marked(3000))] * 4 + [section(text=marked(1173))]},
        "msg_blocks_too_long",
    ),
]


@pytest.mark.parametrize(
    ("message", "code"), [case[1:] for case in MESSAGES], ids=[case[0] for case in MESSAGES]
)
def test_a_message_is_refused_with_slacks_code(message: Doc, code: str) -> None:
    assert limits.check_message(message)[0].code == code


def test_a_message_at_all_its_limits_passes() -> None:
    blocks = [section(text=marked(3000))] * 4 + [section(text=marked(1127))] + [section()] * 45

    fits = limits.check_message({"text": "x" * 40_000, "blocks": blocks})

    assert fits == []


@pytest.mark.parametrize(
    ("method", "body", "code", "pointer"),
    [
        ("chat.postMessage", {"channel": "C_VISION", "text": "x"}, "invalid_blocks", "/blocks/0"),
        ("views.publish", {"user_id": "U_ADA"}, "invalid_arguments", "/view/blocks/0"),
        ("blocks.validate", {}, "invalid_blocks", "/blocks/0"),
    ],
    ids=["message", "view", "validate"],
)
def test_every_door_checks_and_says_where(
    slack: Workspace, method: str, body: Doc, code: str, pointer: str
) -> None:
    blocks = [{"type": "sparkle"}]
    given = (
        {"view": {"type": "home", "blocks": blocks}} if "user_id" in body else {"blocks": blocks}
    )

    reply = slack.call(method, **body, **given)

    assert reply.error == code
    said = str(Problem(pointer, "unsupported type: sparkle"))
    assert reply.problems == [said]
