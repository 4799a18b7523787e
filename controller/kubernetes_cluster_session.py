"""The wire to Kubernetes: the official client's connection, without its retries and its models.

The client brings credentials, certificates and their renewal. Its models take a millisecond a pod
to build, so answers are read as JSON. Connections that fail raise urllib3's errors and not the
client's (facts/kubernetes.md); here every failure has a type.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, urlencode

from controller.kubernetes_cluster_errors import refusal
from controller.kubernetes_ports import (
    Declined,
    KubernetesAway,
    KubernetesError,
    Misconfigured,
    WriteUnknown,
)

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Doc = dict[str, Any]

MANAGER: Final = "poolkeeper"
JSON_PATCH: Final = "application/json-patch+json"
STRATEGIC_MERGE: Final = "application/strategic-merge-patch+json"
_TIMEOUT_S: Final = (5.0, 30.0)
_EXEC_TIMEOUT_S: Final = 15.0
_READ_ATTEMPTS: Final = 3
_PAUSE_S: Final = 0.2
_EXPIRED: Final = 410
_HANDSHAKE: Final = re.compile(r"Handshake status (\d{3})")


@dataclass(frozen=True, kw_only=True)
class Access:
    """How the cluster is reached: by a kubeconfig's path, or as a pod of it where that is ""."""

    kubeconfig: str = ""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One request; `query` values of None are left out."""

    method: str
    path: str
    query: Mapping[str, str | int | None] | None = None
    body: object = None
    content_type: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def target(self) -> str:
        given = {key: value for key, value in (self.query or {}).items() if value is not None}
        return f"{quote(self.path)}?{urlencode(given)}" if given else quote(self.path)


class KubernetesSession:
    """Calls of one API server for one thread; `Misconfigured` where it cannot be reached at all.

    `check` is asked before every write, and raises where it may not be made.
    """

    def __init__(
        self,
        access: Access,
        pause: Callable[[float], object],
        *,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._access = access
        self._pause = pause
        self._check = check
        self._client: ApiClient | None = None
        self.server_time: datetime | None = None
        """The API server's own clock, as of its last answer that said."""

    def read(self, path: str, **query: str | int | None) -> Doc:
        """One GET, tried a few times while there is no answer."""
        for attempt in range(1, _READ_ATTEMPTS + 1):
            try:
                return self._send(Call(method="GET", path=path, query=query))
            except KubernetesAway:
                if attempt == _READ_ATTEMPTS:
                    raise
                self._pause(_PAUSE_S * attempt)
        raise AssertionError("unreachable")

    def pages(self, path: str, limit: int, **query: str | int | None) -> Iterator[list[Doc]]:
        """Every object of a list, a page at a time.

        A list whose next page has expired raises `KubernetesAway`: a half of it is no list.
        """
        more: str | None = None
        while True:
            try:
                answer = self.read(path, limit=limit, **query, **{"continue": more})
            except Declined as error:
                if error.code == _EXPIRED:
                    raise KubernetesAway(f"The list {path} changed while it was read.") from error
                raise
            yield answer.get("items") or []
            more = (answer.get("metadata") or {}).get("continue")
            if not more:
                return

    def write(self, call: Call) -> Doc:
        """One request that changes something: sent once, `WriteUnknown` without an answer."""
        self._connected()  # apart, so that what could not even be sent is not in doubt
        self._check()
        try:
            return self._send(call)
        except KubernetesAway as error:
            raise WriteUnknown(str(error)) from error

    def run(self, namespace: str, pod: str, container: str, command: list[str]) -> str:
        """The standard output of a command in a pod's container, by exec; "" for its only one."""
        from kubernetes.client import ApiException, CoreV1Api
        from kubernetes.stream import stream

        core = CoreV1Api(self._connected())
        try:
            output = stream(
                core.connect_get_namespaced_pod_exec,
                pod,
                namespace,
                command=command,
                **({"container": container} if container else {}),
                stdout=True,
                stderr=False,
                stdin=False,
                tty=False,
                _request_timeout=_EXEC_TIMEOUT_S,
            )
        except ApiException as error:
            raise _handshake_refused(f"exec in {namespace}/{pod}", error) from error
        except Exception as error:  # the websocket library's own errors, and the connection's
            raise KubernetesAway(f"exec in {namespace}/{pod} had no answer: {error}") from error
        return str(output)

    def _send(self, call: Call) -> Doc:
        client = self._connected()
        try:
            status, text, date = _exchange(client, call)
        except KubernetesError:
            raise
        except Exception as error:  # urllib3's many errors; nothing here may end the program
            raise KubernetesAway(f"Kubernetes did not answer {call}: {error}") from error
        self._note_time(date)
        if status == 401:
            self._client = None  # a kubeconfig or a token that was renewed is read anew
        if not 200 <= status < 300:
            raise refusal(str(call), status, text)
        try:
            return cast("Doc", json.loads(text))
        except ValueError as error:
            raise KubernetesAway(f"The answer to {call} cannot be read: {error}") from error

    def _note_time(self, date: str | None) -> None:
        try:
            self.server_time = parsedate_to_datetime(date) if date else self.server_time
        except ValueError:
            return

    def _connected(self) -> "ApiClient":
        if self._client is None:
            self._client = _connect(self._access)
        return self._client


def _exchange(client: "ApiClient", call: Call) -> tuple[int, str, str | None]:
    headers = {"Accept": "application/json"}
    if call.body is not None:
        headers["Content-Type"] = call.content_type or "application/json"
    method, url, headers, body, _ = client.param_serialize(
        call.method,
        call.target,
        header_params=headers,
        body=call.body,
        auth_settings=["BearerToken"],
    )
    response = client.call_api(method, url, headers, body, None, _request_timeout=_TIMEOUT_S)
    raw: bytes = response.response.data  # urllib3's own, for the client's wrapper has no types
    return response.status, raw.decode(errors="replace"), response.headers.get("Date")


def _handshake_refused(call: str, error: Any) -> KubernetesError:
    """The websocket client puts the answer into its own sentence: the status, and the body last."""
    said = str(error.body or error.reason)
    match = _HANDSHAKE.match(said)
    if match is None:
        return refusal(call, int(error.status or 0), said)
    return refusal(call, int(match[1]), said[said.find('{"kind"') :])


def _connect(access: Access) -> "ApiClient":
    # Late, for the import takes seconds.
    from kubernetes import client, config

    settings = client.Configuration()
    try:
        if access.kubeconfig:
            config.load_kube_config(  # type: ignore[no-untyped-call]  # the client's
                access.kubeconfig, client_configuration=settings
            )
        else:
            config.load_incluster_config(  # type: ignore[no-untyped-call]  # the client's
                client_configuration=settings
            )
    except Exception as error:  # the client raises many kinds for what is wrong in a file
        where = access.kubeconfig or "the pod's service account"
        raise Misconfigured(f"{where} gives no access to Kubernetes: {error}") from error
    settings.retries = 0  # urllib3's default of three would resend what may have happened
    return client.ApiClient(settings)
