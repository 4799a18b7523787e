"""What Slack refuses, by its own codes; and what the door refuses, in words."""

from typing import Any

Doc = dict[str, Any]


class SlackError(Exception):
    """Answered as {"ok": false, "error": code, ...details}; `status` is the HTTP status."""

    def __init__(self, code: str, status: int = 200, retry_after: int = 0, **details: Any) -> None:
        super().__init__(code)
        self.code, self.status, self.retry_after, self.details = code, status, retry_after, details

    def answer(self) -> Doc:
        return {"ok": False, "error": self.code, **self.details}


class DoorError(Exception):
    """What a person cannot do or the scene does not hold; the text says what there is instead."""
