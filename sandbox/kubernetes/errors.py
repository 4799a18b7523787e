"""Refusals as a real API server words them (the recordings): a Status with code and reason."""

from typing import Any

from sandbox.kubernetes.resources import Resource

Doc = dict[str, Any]

_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class ApiError(Exception):
    """A refused call; `details` None leaves the field out, as some refusals do."""

    def __init__(self, code: int, reason: str, message: str, details: Doc | None = None) -> None:
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details

    def body(self) -> Doc:
        status: Doc = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        status["message"] = self.message
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}


class PlainError(Exception):
    """An answer that is no Status but text, as for an unknown group (recording 25)."""

    def __init__(self, code: int = 404, text: str = "404 page not found\n") -> None:
        super().__init__(text)
        self.code, self.text = code, text


def named(resource: Resource, name: str) -> Doc:
    """The details of a refusal about one object."""
    details = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    return {**details, "kind": resource.plural}


def not_found(resource: Resource, name: str) -> ApiError:
    text = f'{resource.qualified} "{name}" not found'
    return ApiError(404, "NotFound", text, named(resource, name))


def already_exists(resource: Resource, name: str) -> ApiError:
    text = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, named(resource, name))


def conflict(resource: Resource, name: str, why: str = _MODIFIED) -> ApiError:
    text = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", text, named(resource, name))


def bad_request(text: str) -> ApiError:
    return ApiError(400, "BadRequest", text)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def cause(field: str, message: str, reason: str = "FieldValueInvalid") -> Doc:
    return {"reason": reason, "message": message, "field": field}


def invalid(resource: Resource, name: str, causes: list[Doc]) -> ApiError:
    """422 with one cause per field; a text said twice is said once in the message."""
    details = {**named(resource, name), "kind": resource.kind, "causes": causes}
    return _invalid(f'{resource.qualified_kind} "{name}"', details)


def invalid_options(kind: str, causes: list[Doc]) -> ApiError:
    details = {"group": "meta.k8s.io", "kind": kind, "causes": causes}
    return _invalid(f'{kind}.meta.k8s.io ""', details)


def invalid_patch(sent: str, problem: str) -> ApiError:
    """A patch whose result cannot be read as an object; the message echoes what was sent."""
    return _invalid(' ""', {"causes": [cause("patch", f'Invalid value: "{sent}": {problem}')]})


def unprocessable() -> ApiError:
    """A JSON patch with a failing `test`, or a missing path: the body does not say which."""
    text = "the server rejected our request due to an error in our request"
    return ApiError(422, "Invalid", text, {})


def _invalid(what: str, details: Doc) -> ApiError:
    said = list(dict.fromkeys(f"{one['field']}: {one['message']}" for one in details["causes"]))
    text = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    return ApiError(422, "Invalid", f"{what} is invalid: {text}", details)


def expired(text: str) -> ApiError:
    return ApiError(410, "Expired", text)
