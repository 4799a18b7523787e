"""ClearML's refusals: an HTTP code with a subcode. Callers match on the pair, never on the text."""

from typing import Any


class ApiError(Exception):
    """Ends a call with an answer that is not 200; `data` is shown by the batch calls only."""

    def __init__(self, code: int, subcode: int, text: str, **data: Any) -> None:
        details = ", ".join(f"{name}={value}" for name, value in data.items())
        self.message = f"{text}: {details}" if details else text
        super().__init__(self.message)
        self.code, self.subcode, self.data = code, subcode, data


def validation(text: str) -> ApiError:
    return ApiError(400, 12, f"Validation error ({text})")


def lookup(path: str) -> ApiError:
    return ApiError(
        400,
        14,
        "Lookup error (probably an invalid field name or unsupported nested field): "
        f'err=Cannot resolve field "{path}"',
    )


def too_short(field: str) -> ApiError:
    return ApiError(400, 800, f"Data validation error: {field}=String value is too short")


def bad_regex(err: object) -> ApiError:
    return ApiError(400, 21, "Malformed regular expression", err=err, extra_info=None)


def invalid_queue(queue: str, company: str) -> ApiError:
    return ApiError(400, 701, "Invalid queue id", id=queue, company=company)


def not_in_queue(task: str, queue: str, company: str) -> ApiError:
    text = "Invalid queue id or task not in queue"
    return ApiError(400, 703, text, task=task, id=queue, company=company)


def already_queued(task: str) -> ApiError:
    text = "Failed adding task to queue since task is already queued"
    return ApiError(400, 706, text, task=task)


def invalid_task(task: str, company: str) -> ApiError:
    return ApiError(400, 101, "Invalid task id", id=task, company=company)


def invalid_status(expected: str, status: str) -> ApiError:
    return ApiError(400, 110, "Invalid task status", expected=expected, status=status)


def invalid_change(current: str, new: str) -> ApiError:
    text = "Invalid task status (Invalid status change)"
    return ApiError(400, 110, text, current_status=current, new_status=new)


def unauthorized(subcode: int, text: str) -> ApiError:
    return ApiError(401, subcode, text)
