"""What of the bot's telling is run, and what it gives, while the gallery is made."""

import ast
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from bot.blocks import Post, Reply
from tests.sandbox_support import ROOT

BOT = ROOT / "bot"
_VISIBLE = frozenset({"Reply", "Post", "Block", "Show", "Done", "Errors", "Picture"})


def tells(path: Path) -> bool:
    """Whether a module has a function that gives something for people to see."""
    functions = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)
    ]
    return any(one.returns is not None and _names(one.returns) & _VISIBLE for one in functions)


def _names(annotation: ast.expr) -> set[str]:
    """The names in an annotation, also where it is a string."""
    found = set()
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= _names(ast.parse(node.value, mode="eval").body)
    return found


def functions(path: Path) -> Iterator[tuple[str, set[int]]]:
    """(qualified name, its lines) of every function of a module, nested ones apart."""
    yield from _below(compile(path.read_text(), str(path), "exec"), "")


def _below(code: CodeType, prefix: str) -> Iterator[tuple[str, set[int]]]:
    for constant in code.co_consts:
        if not isinstance(constant, CodeType):
            continue
        name = f"{prefix}{constant.co_name}"
        is_class = "__qualname__" in constant.co_names
        if not is_class and not constant.co_name.startswith("<"):
            first = constant.co_firstlineno
            yield name, {line for _, _, line in constant.co_lines() if line and line != first}
        yield from _below(constant, f"{name}.")


@dataclass
class Traced:
    """What was run: `lines` by file, and the `told` texts that functions gave, by who gave them."""

    lines: dict[str, set[int]] = field(default_factory=dict)
    told: dict[str, set[str]] = field(default_factory=dict)

    def missed(self, path: Path) -> dict[str, list[int]]:
        """The lines that were not run, by function."""
        ran = self.lines.get(str(path), set())
        return {name: sorted(lines - ran) for name, lines in functions(path) if lines - ran}


def traced(run: Callable[[], Any], paths: list[Path]) -> tuple[Any, Traced]:
    """What it gives, and what of these files was run for that."""
    found = Traced(lines={str(path): set() for path in paths})

    def enter(frame: FrameType, event: str, _: object) -> Any:
        lines = found.lines.get(frame.f_code.co_filename)
        if lines is None:
            return None
        module = Path(frame.f_code.co_filename).stem

        def inside(frame: FrameType, event: str, value: object) -> Any:
            if event == "line":
                lines.add(frame.f_lineno)
            elif event == "return" and isinstance(value, Reply | Post):
                name = f"{module}.{frame.f_code.co_qualname}"
                found.told.setdefault(name, set()).add(value.text)
            return inside

        return inside

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        return run(), found
    finally:
        sys.settrace(before)
