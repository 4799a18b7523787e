"""An app that the loopback Slack delivers to over HTTP; it answers what a test tells it to."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from tests.slack_support import Workspace

Doc = dict[str, Any]


class Endpoint:
    """`answers` are given in turn, then nothing; `heard` are the payloads, `headers` theirs."""

    def __init__(self) -> None:
        self.answers: list[Doc] = []
        self.heard: list[Doc] = []
        self.headers: list[dict[str, str]] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"])).decode()
                endpoint.headers.append(dict(self.headers.items()))
                endpoint.heard.append(_read(raw))
                answer = endpoint.answers.pop(0) if endpoint.answers else None
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode() if answer else b"")

            def log_message(self, *_arguments: object) -> None:
                """Says nothing."""

        return Handler


def _read(raw: str) -> Doc:
    if raw.startswith("{"):
        return dict(json.loads(raw))
    form = {name: values[0] for name, values in parse_qs(raw, keep_blank_values=True).items()}
    return dict(json.loads(form["payload"])) if "payload" in form else form


def listening(slack: Workspace) -> Iterator[Endpoint]:
    """The app of this workspace, for as long as it is wanted."""
    endpoint = Endpoint()
    thread = threading.Thread(target=endpoint.server.serve_forever, args=(0.02,))
    thread.start()
    slack.deliver_to(endpoint.url)
    yield endpoint
    slack.deliver_to("")
    endpoint.server.shutdown()
    thread.join()
    endpoint.server.server_close()
