"""The listener for probes and Prometheus: three pages over HTTP, for reading only."""

import json
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from waitress.server import create_server

from bot.readiness import Check, is_ready

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

log = logging.getLogger(__name__)

_THREADS: Final = 4
"""So that a slow page holds up no probe."""
_LARGEST_BODY: Final = 1024
_TEXT: Final = "text/plain; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class Pages:
    """What is shown; each is asked at every request, by several threads.

    `stuck` is why the process is to be started anew, "" while it lives; `metrics` gives its
    content type and the page.
    """

    stuck: Callable[[], str]
    checks: Callable[[], tuple[Check, ...]]
    metrics: Callable[[], tuple[str, bytes]]

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> list[bytes]:
        answer = self._answer(environ["REQUEST_METHOD"], environ.get("PATH_INFO", ""))
        headers = {
            "Content-Type": answer.kind,
            "Content-Length": str(len(answer.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **answer.more,
        }
        start_response(answer.status, list(headers.items()))
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [answer.body]

    def _answer(self, method: str, path: str) -> "_Answer":
        page = {"/healthz": self._health, "/readyz": self._readiness, "/metrics": self._metrics}
        if path not in page:
            return _Answer("404 Not Found", b"Here are /healthz, /readyz and /metrics.\n")
        if method not in ("GET", "HEAD"):
            allow = {"Allow": "GET, HEAD"}
            return _Answer("405 Method Not Allowed", b"These pages are only read.\n", more=allow)
        return page[path]()

    def _health(self) -> "_Answer":
        if reason := self.stuck():
            return _Answer(_UNAVAILABLE, f"{reason}\n".encode())
        return _Answer(_OK, b"Alive.\n")

    def _readiness(self) -> "_Answer":
        checks = self.checks()
        ready = is_ready(checks)
        document = {"ready": ready, "checks": [_shown(check) for check in checks]}
        body = json.dumps(document, indent=1).encode() + b"\n"
        return _Answer(_OK if ready else _UNAVAILABLE, body, "application/json")

    def _metrics(self) -> "_Answer":
        kind, body = self.metrics()
        return _Answer(_OK, body, kind)


_OK: Final = "200 OK"
_UNAVAILABLE: Final = "503 Service Unavailable"


@dataclass(frozen=True)
class _Answer:
    status: str
    body: bytes
    kind: str = _TEXT
    more: Mapping[str, str] = field(default_factory=dict)


def _shown(check: Check) -> dict[str, object]:
    return {
        "name": check.name,
        "ok": check.ok,
        "counts": check.counts,
        "reason": check.reason,
    }


class Listener:
    """Listens from its making on, for a port that is taken is to end the start: `OSError`."""

    def __init__(self, pages: Pages, host: str, port: int) -> None:
        self._server: Any = create_server(
            pages,
            host=host,
            port=port,
            threads=_THREADS,
            max_request_body_size=_LARGEST_BODY,
            clear_untrusted_proxy_headers=True,
            ident="poolkeeper",
        )
        self._ended = False
        self._thread = threading.Thread(target=self._serve, name="probes", daemon=True)

    def start(self) -> None:
        self._thread.start()
        for host, port in self._addresses():
            log.info("listening for probes and Prometheus", extra={"host": host, "port": port})

    def stop(self) -> None:
        if not self._ended:
            self._ended = True
            self._server.close()
            self._server.task_dispatcher.shutdown()

    def _addresses(self) -> Iterable[tuple[str, int]]:
        # A name such as `localhost` may mean several addresses, and then several sockets.
        if hasattr(self._server, "effective_listen"):
            return [(host, int(port)) for host, port in self._server.effective_listen]
        return [(self._server.effective_host, int(self._server.effective_port))]

    def _serve(self) -> None:
        try:
            self._server.run()
        except OSError as error:
            log.debug("the socket for probes was closed", extra={"error": error})
