"""The wire to ClearML: the SDK's session with its patience taken away.

The SDK keeps the token and renews it in time. By default it sends everything as GET, resends
writes silently up to 240 times and hangs on a refused connection (facts/clearml.md M7, decision
4); here every request is one POST with short timeouts, and every failure has a type.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import requests
from pydantic import SecretStr
from requests.auth import AuthBase, HTTPBasicAuth
from requests.exceptions import InvalidHeader, InvalidSchema, InvalidURL, MissingSchema

from controller.calls import Call, Heard, Result, result_of, unheard
from controller.clearml_answers import data_of, token_of
from controller.ports import ClearMLError, OutcomeUnknown, Unavailable, Unsuitable

if TYPE_CHECKING:
    from clearml.backend_api.session import Session

API_VERSION = "2.31"
"""The first whose `tasks.enqueue` knows `update_execution_queue` (server 1.17)."""

OLDEST_SERVER = "1.17"
_log = logging.getLogger(__name__)
_TIMEOUT_S = (5.0, 30.0)
_READ_ATTEMPTS = 3
_PAUSE_S = 0.2
_CONFIGURATION = {"api": {"http": {"max_req_size": 15728640}}}


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Where the API server is and whom Poolkeeper is there."""

    host: str
    access_key: str
    secret_key: SecretStr
    verify: bool | str = True
    """False, or a bundle's path, for servers with certificates of their own."""


class ClearMLSession:
    """Calls of ClearML's API for one thread; `Unsuitable` where it cannot log in.

    `heard` is told of every request, the logins included. `check` is asked before every write, and
    raises where it may not be made.
    """

    def __init__(
        self,
        credentials: Credentials,
        pause: Callable[[float], object],
        heard: Heard = unheard,
        *,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._credentials = credentials
        self._pause = pause
        self._heard = heard
        self._check = check
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
        session = self._connected()
        if session.get_token_valid_period_sec() <= 0:
            session.refresh_token()
        self._check()
        try:
            return self._send(call, body)
        except Unavailable as error:
            raise OutcomeUnknown(str(error)) from error

    @property
    def server_version(self) -> str:
        return _version(self._connected())

    def _send(self, call: str, body: Mapping[str, object]) -> dict[str, Any]:
        service, action = call.split(".", 1)
        response = self._connected().send_request(
            service, action, version=API_VERSION, method="post", json=dict(body)
        )
        return data_of(call, response)

    def _connected(self) -> "Session":
        if self._session is None:
            self._session = _connect(self._credentials, self._heard)
        return self._session


def _claims(token: str) -> dict[str, Any] | None:
    try:
        return cast("dict[str, Any]", _session_class().get_decoded_token(token))
    except Exception:  # PyJWT's own errors; nothing that a login answers may end the program
        return None


def _version(session: "Session") -> str:
    # From the session's own token: the SDK keeps the version of whoever logged in last, anywhere.
    return str((_claims(session.raw_token) or {}).get("server_version") or "0")


def _connect(credentials: Credentials, heard: Heard) -> "Session":
    given = {
        "CLEARML_API_HOST": credentials.host,
        "CLEARML_API_ACCESS_KEY": credentials.access_key,
        "CLEARML_API_SECRET_KEY": credentials.secret_key.get_secret_value(),
    }
    if missing := [name for name, value in given.items() if not value.strip()]:
        # The SDK would look for them elsewhere, and find its maker's server in the end.
        raise Unsuitable(f"Set {' and '.join(missing)}: Poolkeeper does not know its ClearML yet.")
    try:
        session = cast("Session", _session_class()(credentials, heard))
    except ClearMLError:
        raise
    except Exception as error:  # whatever else the SDK makes of these settings
        raise Unsuitable(f"The ClearML SDK cannot work with {credentials.host}: {error}") from error
    version = _version(session)
    if _numbers(version) < _numbers(OLDEST_SERVER):
        raise Unsuitable(
            f"ClearML server {version} is too old: {OLDEST_SERVER} is the first that can refuse "
            "to move a task that was aborted in the meantime; upgrade the server."
        )
    return session


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

        # CLEARML_OFFLINE_MODE and its like are for training scripts.
        _offline_mode = False

        def __init__(self, credentials: Credentials, heard: Heard) -> None:
            self._credentials = credentials
            self._heard = heard
            self._http = requests.Session()
            super().__init__(
                api_key=credentials.access_key,
                secret_key=credentials.secret_key.get_secret_value(),
                host=credentials.host,
                # Its own configuration: a ~/clearml.conf on this machine must not matter.
                config=ConfigFactory.from_dict(_CONFIGURATION),  # type: ignore[no-untyped-call]
                http_retries_config={"total": 0},
                logger=_log,
            )

        def _load_vaults(self) -> None:
            """Nothing: settings that the server keeps for users' scripts are not for us."""

        def _do_refresh_token(
            self,
            old_token: str | None,  # noqa: ARG002  the keys are asked for anew
            exp: int | None = None,  # noqa: ARG002  the server's default will do
        ) -> str:
            basic = HTTPBasicAuth(
                self._credentials.access_key.encode(),
                self._credentials.secret_key.get_secret_value().encode(),
            )
            answer = self._post("auth.login", {}, {"auth": basic, "json": {}})
            return token_of(self.host, answer, lambda token: _claims(token) is not None)

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
            response = self._post(path, headers or {}, sent)
            if (
                refresh_token_if_unauthorized
                and response.status_code == requests.codes.unauthorized
            ):
                # A refused call did nothing, so it may be sent again with a new token.
                self.refresh_token()
                response = self._post(path, self.add_auth_headers(dict(headers or {})), sent)
            return response

        def _post(
            self, path: str, headers: dict[str, str], sent: dict[str, Any]
        ) -> requests.Response:
            begun, result = time.perf_counter(), Result.UNANSWERED
            try:
                response = self._http.post(
                    f"{self.host}/{path}",
                    headers={**headers, "X-ClearML-Client": self.client},
                    timeout=_TIMEOUT_S,
                    verify=self._credentials.verify,
                    allow_redirects=False,  # it would turn a POST into a GET
                    **sent,
                )
                result = result_of(response.status_code)
            except (InvalidURL, MissingSchema, InvalidSchema, InvalidHeader) as error:
                raise Unsuitable(f"CLEARML_API_HOST cannot be used: {error}") from error
            except requests.RequestException as error:
                raise Unavailable(f"ClearML did not answer {path}: {error}") from error
            finally:
                name = path.rpartition("/")[2]
                self._heard(Call(name, result, time.perf_counter() - begun))
            if response.is_redirect:
                target = urlsplit(response.headers["Location"])
                raise Unsuitable(
                    f"{self.host} redirects to {target.scheme}://{target.netloc}; set "
                    "CLEARML_API_HOST to the address that answers itself."
                )
            return response

    return OneAttemptSession
