"""Who may ask: API keys as bearer tokens."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from server.errors import ApiError

# What load balancers, browsers and Prometheus ask for, which tells no secrets.
_OPEN_PATHS = frozenset({"/health", "/ping", "/version", "/metrics"})
_LONGEST_KEY = 1024


class ApiKeyFileError(Exception):
    """The file with keys cannot be used; the message says why."""


@dataclass(frozen=True)
class ApiKey:
    """`name` is what logs and limits know it by; the key itself is only kept as its hash."""

    name: str
    digest: bytes


def api_key(key: str, name: str | None = None) -> ApiKey:
    digest = hashlib.sha256(key.encode()).digest()
    return ApiKey(name or f"key-{digest.hex()[:8]}", digest)


def read_api_keys(file: Path) -> list[ApiKey]:
    """The keys in `file`: on each line a key, or a name and a key. Lines that begin with # are comments.

    Raises:
        ApiKeyFileError: The file cannot be read, or has no keys, or a line with more than two words.
    """
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ApiKeyFileError(f"cannot read the API keys in {file}: {error}") from None
    keys = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) > 2:
            raise ApiKeyFileError(f"line {number} of {file} has more than a name and a key")
        keys.append(api_key(words[-1], words[0] if len(words) == 2 else None))
    if not keys:
        raise ApiKeyFileError(f"the file {file} has no API keys")
    return keys


class ApiKeyMiddleware:
    """Lets requests through that have one of `keys`; others get a 401. What a request's key is called is
    in its state."""

    def __init__(self, app: ASGIApp, *, keys: Iterable[ApiKey]) -> None:
        self._app = app
        self._keys = tuple(keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] == "OPTIONS" or scope["path"] in _OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        name = self._name_of(Headers(scope=scope).get("authorization", ""))
        if name is None:
            await _unauthorized().response()(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["api_key_name"] = name
        state.setdefault("log_fields", {})["api_key"] = name
        await self._app(scope, receive, send)

    def _name_of(self, authorization: str) -> str | None:
        scheme, _, key = authorization.partition(" ")
        if scheme.lower() != "bearer" or len(key) > _LONGEST_KEY:
            return None
        digest = hashlib.sha256(key.strip().encode()).digest()
        # All of them are compared, so that the time tells nothing.
        found = [known.name for known in self._keys if hmac.compare_digest(known.digest, digest)]
        return found[0] if found else None


def _unauthorized() -> ApiError:
    message = "The request has no valid API key: send it as 'Authorization: Bearer KEY'."
    return ApiError(401, message, code="invalid_api_key", headers={"WWW-Authenticate": "Bearer"})
