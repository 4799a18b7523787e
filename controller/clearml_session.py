"""The wire to ClearML: the SDK's session with its patience taken away.

The SDK gives authentication and token renewal. By default it sends everything as GET, resends
writes silently up to 240 times and hangs on a refused connection (facts/clearml.md M7, decision
4); here every request is one POST with short timeouts, and every failure has a type.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import requests
from pydantic import SecretStr
from requests.auth import AuthBase

from controller.ports import ClearMLError, OutcomeUnknown, Refused, Unavailable, Unsuitable

if TYPE_CHECKING:
    from clearml.backend_api.session import Session

API_VERSION = "2.31"
"""The first whose `tasks.enqueue` knows `update_execution_queue` (server 1.17)."""

OLDEST_SERVER = "1.17"
_TIMEOUT_S = (5.0, 30.0)
_READ_ATTEMPTS = 3
_PAUSE_S = 0.2
_CONFIGURATION = {"api": {"http": {"max_req_size": 15728640}}}
_LATER = frozenset({429, 502, 503, 504, 509})


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Where the API server is and whom Poolkeeper is there."""

    host: str
    access_key: str
    secret_key: SecretStr
    verify: bool | str = True
    """False, or a bundle's path, for servers with certificates of their own."""


class ClearMLSession:
    """Calls of ClearML's API for one thread; `Unsuitable` where it cannot log in."""

    def __init__(self, credentials: Credentials, pause: Callable[[float], object]) -> None:
        self._credentials = credentials
        self._pause = pause
        self._session: Session | None = None

    def read(self, call: str, body: Mapping[str, object]) -> dict[str, Any]:
        """A call that changes nothing: tried a few times while ClearML does not answer."""
        for attempt in range(1, _READ_ATTEMPTS + 1):
            try:
                return self._send(call, body)
            except Unavailable:
                if attempt == _READ_ATTEMPTS:
                    raise
                self._pause(_PAUSE_S * attempt)
        raise AssertionError("unreachable")

    def write(self, call: str, body: Mapping[str, object]) -> dict[str, Any]:
        """A call that changes something: sent once, `OutcomeUnknown` without a usable answer."""
        # The login happens apart, so that a write that could not even be sent is not in doubt.
        self._connected()
        try:
            return self._send(call, body)
        except Unavailable as error:
            raise OutcomeUnknown(str(error)) from error

    @property
    def server_version(self) -> str:
        return str(type(self._connected()).server_version or "0")

    def _send(self, call: str, body: Mapping[str, object]) -> dict[str, Any]:
        service, action = call.split(".", 1)
        try:
            response = self._connected().send_request(
                service, action, version=API_VERSION, method="post", json=dict(body)
            )
        except requests.RequestException as error:
            raise Unavailable(f"ClearML did not answer {call}: {error}") from error
        return _data(call, response)

    def _connected(self) -> "Session":
        if self._session is None:
            self._session = _connect(self._credentials)
        return self._session


def _data(call: str, response: requests.Response) -> dict[str, Any]:
    if response.status_code in _LATER:
        raise Unavailable(f"ClearML answered {call} with {response.status_code}.")
    try:
        answer = response.json()
        meta = answer["meta"]
        code, subcode = int(meta["result_code"]), int(meta.get("result_subcode") or 0)
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(f"What answered {call} is no ClearML API server.") from error
    if code == requests.codes.ok:
        data = answer.get("data")
        return data if isinstance(data, dict) else {}
    message = str(meta.get("result_msg", ""))
    if code >= requests.codes.server_error:
        # A 500 may mean "done": queue metrics are written after the queue itself.
        raise Unavailable(f"ClearML answered {call} with {code}/{subcode}: {message}")
    if code in (requests.codes.unauthorized, requests.codes.forbidden):
        raise Unsuitable(f"ClearML denies {call} to these credentials: {message}")
    raise Refused(call, code, subcode, message)


def _connect(credentials: Credentials) -> "Session":
    session_class = _session_class()
    try:
        session = session_class(credentials)
    except requests.RequestException as error:
        raise Unavailable(f"ClearML at {credentials.host} did not answer: {error}") from error
    except ClearMLError:
        raise
    except Exception as error:  # the SDK raises its own LoginError, ValueError and others here
        raise Unsuitable(
            f"ClearML at {credentials.host} did not let Poolkeeper in ({error}); check "
            "CLEARML_API_HOST, CLEARML_API_ACCESS_KEY and CLEARML_API_SECRET_KEY."
        ) from error
    version = str(session_class.server_version or "0")
    if _numbers(version) < _numbers(OLDEST_SERVER):
        raise Unsuitable(
            f"ClearML server {version} is too old: {OLDEST_SERVER} is the first that can refuse "
            "to move a task that was aborted in the meantime; upgrade the server."
        )
    return cast("Session", session)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-")[0].split(".") if part.isdigit())


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


_class_lock = threading.Lock()
_class_cache: list[Any] = []


def _session_class() -> Any:
    """The SDK's Session, one attempt a request; made late, for the import takes a second."""
    with _class_lock:
        if not _class_cache:
            _class_cache.append(_make_session_class())
        return _class_cache[0]


def _make_session_class() -> Any:
    from clearml.backend_api.session import Session
    from clearml.utilities.pyhocon import ConfigFactory

    class OneAttemptSession(Session):
        """Replaces the SDK's loop over timeouts, cut answers and 503 by one plain POST."""

        def __init__(self, credentials: Credentials) -> None:
            self._http = requests.Session()
            self._http.verify = credentials.verify
            super().__init__(
                api_key=credentials.access_key,
                secret_key=credentials.secret_key.get_secret_value(),
                host=credentials.host,
                # Its own configuration: a ~/clearml.conf on this machine must not matter.
                config=ConfigFactory.from_dict(_CONFIGURATION),  # type: ignore[no-untyped-call]
                http_retries_config={"total": 0},
            )

        def _send_request(
            self,
            service: str,
            action: str,
            version: str | None = None,
            method: str | None = None,  # noqa: ARG002  always POST
            headers: dict[str, str] | None = None,
            auth: AuthBase | None = None,
            data: object = None,
            json: object = None,
            refresh_token_if_unauthorized: bool = True,
            params: object = None,
        ) -> requests.Response:
            path = f"v{version}/{service}.{action}" if version else f"{service}.{action}"
            # Without an auth of ours, requests would put a ~/.netrc's in the token's place.
            sent = {"auth": auth or _as_it_is, "data": data, "json": json, "params": params}
            headers = {**(headers or {}), "X-ClearML-Client": self.client}
            response = self._post(f"{self.host}/{path}", headers, sent)
            if (
                refresh_token_if_unauthorized
                and response.status_code == requests.codes.unauthorized
            ):
                # A refused call did nothing, so it may be sent again with a new token.
                self.refresh_token()
                response = self._post(f"{self.host}/{path}", self.add_auth_headers(headers), sent)
            return response

        def _post(
            self, url: str, headers: dict[str, str], sent: dict[str, Any]
        ) -> requests.Response:
            return self._http.post(url, headers=headers, timeout=_TIMEOUT_S, **sent)

    return OneAttemptSession
