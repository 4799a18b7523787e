"""How the code logs: constant sentences with fields, of which text and JSON are made alike."""

import ast
import logging
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def _log_calls() -> Iterator[tuple[str, ast.Call]]:
    for folder in ("bot", "controller", "storage"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Name)
                    and node.func.value.id in ("log", "_log")
                ):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_every_record_of_ours_is_a_constant_sentence_whose_values_are_fields() -> None:
    found = list(_log_calls())
    standard = set(vars(logging.makeLogRecord({}))) | {
        "message",
        "asctime",
        "time",
        "level",
        "logger",
    }

    wrong = []
    for place, call in found:
        sentence = call.args[1:] if getattr(call.func, "attr", "") == "log" else call.args
        constant = len(sentence) == 1 and isinstance(sentence[0], ast.Constant)
        words = {word.arg: word.value for word in call.keywords}
        extra = words.get("extra")
        keys = extra.keys if isinstance(extra, ast.Dict) else []
        names = [key.value for key in keys if isinstance(key, ast.Constant)]
        if not constant or "%" in str(getattr(sentence[0], "value", "")) or standard & set(names):
            wrong.append(place)

    assert len(found) > 30
    assert wrong == [], 'say log.info("a sentence", extra={"field": value})'
