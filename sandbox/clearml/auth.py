"""Who calls: Basic keys or a Bearer token, signed so that it outlives the server's memory."""

import base64
import binascii
import hashlib
import hmac
import json
import time

from sandbox.clearml import body as given
from sandbox.clearml import errors
from sandbox.clearml.calls import Call, Doc, Endpoint
from sandbox.clearml.world import COMPANY, COMPANY_NAME, User, World, new_id

_SIGNING_KEY = b"the sandbox signs with a published key"
_DEFAULT_LIFE = 2_592_000
_LONGEST_LIFE = 31_536_000


def caller(world: World, header: str | None) -> User:
    """The user that an Authorization header names; 401 with ClearML's subcodes otherwise."""
    if not header:
        raise errors.unauthorized(20, "Unauthorized (missing credentials)")
    scheme, _, value = header.partition(" ")
    if scheme == "Basic":
        return _by_keys(world, value)
    if scheme == "Bearer":
        return _by_token(world, value)
    raise errors.unauthorized(10, "Unauthorized (bad authentication header type)")


def _by_keys(world: World, value: str) -> User:
    try:
        access_key, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise errors.unauthorized(21, "Unauthorized (malformed credentials)") from None
    user = world.user_by_key.get(access_key)
    if user is None or not hmac.compare_digest(user.secret_key.encode(), secret.encode()):
        text = "Unauthorized (invalid credentials) (failed to locate provided credentials)"
        raise errors.unauthorized(22, text)
    return user


def _by_token(world: World, token: str) -> User:
    try:
        signed, _, signature = token.rpartition(".")
        payload = json.loads(_decoded(signed.partition(".")[2]))
        genuine = hmac.compare_digest(signature, _signature(signed))
    except (ValueError, binascii.Error):
        raise _invalid_token("Not enough segments") from None
    if not genuine:
        raise _invalid_token("Signature verification failed")
    if payload["exp"] <= time.time() or payload["iat"] < world.tokens_valid_from:
        raise _invalid_token("Signature has expired")
    user = world.users.get(payload["identity"]["user"])
    if user is None:
        raise _invalid_token("unknown user")
    return user


def _invalid_token(reason: str) -> errors.ApiError:
    return errors.unauthorized(30, f"Invalid token (invalid jwt token): reason={reason}")


def basic(access_key: str, secret_key: str) -> str:
    """The Authorization header for a pair of keys."""
    return f"Basic {base64.b64encode(f'{access_key}:{secret_key}'.encode()).decode()}"


def login(call: Call, body: Doc) -> Doc:
    life = given.optional(body, "expiration_sec", int) or _DEFAULT_LIFE
    if life > _LONGEST_LIFE:
        raise errors.validation(f"expiration_sec must not be above {_LONGEST_LIFE}")
    now = time.time()
    user = call.user
    identity = {"company": COMPANY, "role": "user", "user": user.id}
    identity |= {"user_name": user.name, "company_name": COMPANY_NAME}
    payload = {
        "iat": now, "env": "<unknown>", "exp": now + life, "session_id": new_id(),
        "auth_type": "Bearer", "identity": identity, "api_version": call.world.api_version,
        "server_version": call.world.server_version, "server_build": "", "feature_set": "basic",
    }  # fmt: skip
    signed = f"{_encoded({'alg': 'HS256', 'typ': 'JWT'})}.{_encoded(payload)}"
    return {"token": f"{signed}.{_signature(signed)}"}


def _encoded(part: Doc) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _signature(signed: str) -> str:
    digest = hmac.new(_SIGNING_KEY, signed.encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


ENDPOINTS: dict[str, Endpoint] = {"auth.login": login}
