"""HTTP mode: the same payloads as signed POST requests (facts/slack.md 2.4)."""

import asyncio
import hashlib
import hmac
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import aiohttp

from sandbox.slack.errors import DoorError

Doc = dict[str, Any]
OLD = 6 * 60
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """`final` is the app's wish not to be asked again, the header X-Slack-No-Retry."""

    status: int
    payload: Doc
    final: bool


def signature(secret: str, timestamp: str, raw: str) -> str:
    """v0: HMAC-SHA256 over version, timestamp and the raw body."""
    said = f"v0:{timestamp}:{raw}".encode()
    return "v0=" + hmac.new(secret.encode(), said, hashlib.sha256).hexdigest()


class Endpoint:
    """Where an app listens; on loopback only, as the payloads are nobody else's business."""

    def __init__(self, url: str, secret: str) -> None:
        if urlsplit(url).hostname not in ("127.0.0.1", "localhost"):
            raise DoorError(f"not on loopback: {url}")
        self.url, self.secret = url, secret

    async def deliver(self, kind: str, payload: Doc, seconds: float, flaws: Doc) -> HttpAnswer:
        """POSTs one payload. `flaws`: {wrong_signature, old_timestamp, retry_num, retry_reason}."""
        raw, content_type = _encoded(kind, payload)
        moment = time.time() - (OLD if flaws.get("old_timestamp") else 0)
        secret = "another" if flaws.get("wrong_signature") else self.secret
        headers = {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": str(int(moment)),
            "X-Slack-Signature": signature(secret, str(int(moment)), raw),
        }
        if flaws.get("retry_num"):
            headers["X-Slack-Retry-Num"] = str(flaws["retry_num"])
            headers["X-Slack-Retry-Reason"] = flaws["retry_reason"]
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession() as session,
            session.post(self.url, data=raw.encode(), headers=headers) as response,
        ):
            text = await response.text()
            final = response.headers.get("X-Slack-No-Retry") == "1"
            return HttpAnswer(response.status, _decoded(text, response.content_type), final)


def _encoded(kind: str, payload: Doc) -> tuple[str, str]:
    if kind == "slash_commands":
        return urlencode(payload), FORM
    if kind == "interactive":
        return urlencode({"payload": json.dumps(payload)}), FORM
    return json.dumps(payload), "application/json"


def _decoded(text: str, content_type: str) -> Doc:
    if content_type == "application/json" and text.strip():
        return dict(json.loads(text))
    return {"text": text} if text.strip() else {}
