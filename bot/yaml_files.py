"""YAML text to plain values, with what PyYAML takes silently refused.

It keeps the last of two equal keys, reads `010` as 8, `1:30` as 90 and `1_000` as 1000, and lets
aliases multiply a few lines to millions of values.
"""

import re
from typing import Any, ClassVar, Final

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from storage.document_problems import DocumentError, Problem, shown

MOST_NODES: Final = 1_000_000
DEEPEST: Final = 50

_INTEGER: Final = "tag:yaml.org,2002:int"
_MERGE: Final = "tag:yaml.org,2002:merge"
_PLAIN_INTEGER: Final = re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$")

# The parser in C is ten times as fast; some platforms have none.
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]  # the base is chosen at run time
    """Reads as integers only what a person reads as the same one; the rest stays text."""

    yaml_implicit_resolvers: ClassVar = {
        first: [(tag, regexp) for tag, regexp in resolvers if tag != _INTEGER]
        for first, resolvers in _BASE.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(_INTEGER, _PLAIN_INTEGER, list("-+0123456789"))


def parse_yaml(text: str) -> object:
    """The one document that `text` spells. Raises DocumentError with what is wrong with it."""
    try:
        return _document(_Loader(text))
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error, text) from None
    except yaml.reader.ReaderError as error:
        what = f"has a character that YAML does not allow, at {error.position + 1}"
        raise _refused(None, what, "take it away") from None
    except RecursionError:
        raise _too_deep(None) from None
    except (ValueError, OverflowError):
        what = "has a number or date that cannot be"
        raise _refused(None, what, "put it in quotes or shorten it") from None


def _document(loader: Any) -> object:
    try:
        node = loader.get_single_node()
        if node is None:
            raise _refused(None, "has nothing but comments", "write the document")
        _inspect(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _inspect(root: Node) -> None:
    """Refuses keys that are there twice, too many values, too deep nesting, and loops."""
    problems: list[Problem] = []
    sizes: dict[int, int] = {}
    _measure(root, (), sizes, problems)
    if problems:
        raise DocumentError(problems)


def _measure(
    node: Node, above: tuple[int, ...], sizes: dict[int, int], problems: list[Problem]
) -> int:
    """How many values `node` stands for once its aliases are written out."""
    if isinstance(node, ScalarNode):
        return 1
    if id(node) in above:
        raise _refused(node, "contains itself", "take the alias away")
    if id(node) in sizes:
        return sizes[id(node)]
    if len(above) >= DEEPEST:
        raise _too_deep(node)
    if isinstance(node, MappingNode):
        problems += _repeated_keys(node)
        children = [part for pair in node.value for part in pair]
    else:
        children = node.value if isinstance(node, SequenceNode) else []
    size = 1 + sum(_measure(child, (*above, id(node)), sizes, problems) for child in children)
    if size > MOST_NODES:
        raise _refused(node, "has more than a million values", "write it without aliases")
    sizes[id(node)] = size
    return size


def _repeated_keys(node: MappingNode) -> list[Problem]:
    first: dict[tuple[str, str], Node] = {}
    problems: list[Problem] = []
    for key, _ in node.value:
        if not isinstance(key, ScalarNode):
            problems += _refused(key, "a key is no text", "write a word before the colon").problems
            continue
        if key.tag == _MERGE:
            problems += _refused(key, "merging with << is not read", "write it out").problems
        spelled = (key.tag, key.value)
        if spelled in first:
            line = first[spelled].start_mark.line + 1
            what = f"the key {shown(key.value)} is there already, in line {line}"
            problems += _refused(key, what, "leave one of them").problems
        first.setdefault(spelled, key)
    return problems


def _unreadable(error: yaml.MarkedYAMLError, text: str) -> DocumentError:
    mark = error.problem_mark or error.context_mark
    line = text.splitlines()[mark.line : mark.line + 1] if mark else []
    told = " ".join(filter(None, [error.problem, error.context])).replace("\n", " ")
    what, remedy = f"is no YAML that can be read ({told})", "correct it there"
    if "\t" in "".join(line):
        remedy = "indent with spaces, not with tabs"
    if "single document" in told or "<document start>" in told:
        what, remedy = "a second document begins", "leave one, without `---`"
    if "nesting depth" in told:
        what, remedy = "is nested too deeply", "nest it as shown in the README"
    where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return DocumentError([Problem(where, what, remedy)])


def _too_deep(node: Node | None) -> DocumentError:
    return _refused(node, "is nested too deeply", "nest it as shown in the README")


def _refused(node: Node | None, what: str, remedy: str) -> DocumentError:
    mark = node.start_mark if node is not None else None
    where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return DocumentError([Problem(where, what, remedy)])
