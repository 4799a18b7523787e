"""only_fields: which parts of a document an answer shows."""

from functools import lru_cache
from typing import Any

from sandbox.clearml import errors
from sandbox.clearml.body import words

Doc = dict[str, Any]
Path = tuple[str, ...]

TASK_FIELDS = words(
    "id company company_origin user name type status status_reason status_message status_changed "
    "comment report report_assets created started completed published active_duration parent "
    "project output execution tags system_tags script last_update last_change last_iteration "
    "last_worker last_worker_report last_metrics unique_metrics metric_stats hyperparams "
    "configuration runtime models container enqueue_status last_changed_by docker_init"
)
QUEUE_FIELDS = words(
    "id name display_name company created tags system_tags entries last_update metadata"
)
PROJECT_FIELDS = words(
    "id name basename company user description created last_update tags system_tags "
    "default_output_destination featured parent path"
)
_NESTED = {
    "execution": words(
        "test_split parameters model_desc model_labels artifacts queue framework model dataset"
    ),
    "script": words(
        "binary repository tag branch version_num entry_point working_dir requirements diff"
    ),
}


def shown(doc: Doc, fields: list[str] | None, known: frozenset[str], hidden: Path = ()) -> Doc:
    """The document as an answer shows it; `hidden` fields appear only when named."""
    if not fields:
        return {name: value for name, value in doc.items() if name not in hidden}
    includes, excludes = _parsed(tuple(fields), known)
    if not includes:
        rest = {name: value for name, value in doc.items() if name not in hidden}
        return {name: value for name, value in rest.items() if (name,) not in excludes}
    result: Doc = {}
    for path in includes:
        _copy(doc, result, path)
    return result


def check(fields: list[str] | None, known: frozenset[str]) -> None:
    """Raises for unknown fields even where no document will be shown."""
    if fields:
        _parsed(tuple(fields), known)


def value_at(doc: Doc, path: Path) -> Any:
    value: Any = doc
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def parsed_path(field: str, known: frozenset[str]) -> Path:
    """A dotted field as a path; a dot inside a name is written %2E."""
    path = tuple(part.replace("%2E", ".").replace("%24", "$") for part in field.split("."))
    nested = _NESTED.get(path[0])
    if path[0] not in known or (nested and len(path) > 1 and path[1] not in nested):
        raise errors.lookup(field)
    return path


@lru_cache(maxsize=512)
def _parsed(fields: tuple[str, ...], known: frozenset[str]) -> tuple[list[Path], set[Path]]:
    includes: list[Path] = []
    excludes: set[Path] = set()
    for field in fields:
        path = parsed_path(field.removeprefix("-"), known)
        if field.startswith("-"):
            excludes.add(path)
        elif path not in includes:
            includes.append(path)
    _refuse_collisions(includes)
    return includes, excludes


def _refuse_collisions(paths: list[Path]) -> None:
    """MongoDB refuses a path together with one inside it; parameters live in hyperparams."""
    real = [("hyperparams",) if path[:2] == ("execution", "parameters") else path for path in paths]
    for path in real:
        for other in real:
            if path is not other and other[: len(path)] == path:
                raise ApiPathCollision(path)


class ApiPathCollision(errors.ApiError):
    def __init__(self, path: Path) -> None:
        text = f"Internal server error: err=Path collision at {'.'.join(path)}"
        super().__init__(500, 1, text)


def _copy(source: Doc, target: Doc, path: Path) -> None:
    name, rest = path[0], path[1:]
    value = source.get(name)
    if value is None:
        return
    if not rest:
        target[name] = value
    elif isinstance(value, list):
        parts: list[Doc] = target.setdefault(name, [{} for _ in value])
        for item, part in zip(value, parts, strict=True):
            if isinstance(item, dict):
                _copy(item, part, rest)
    elif isinstance(value, dict):
        _copy(value, target.setdefault(name, {}), rest)
