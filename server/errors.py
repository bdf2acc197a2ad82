"""The errors a client can see, in the body shape of the OpenAI API."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from server.disconnect import ClientDisconnectedError

# The codes of what can be wrong with a constraint.
CONSTRAINT_ERRORS = frozenset(
    {
        "conflicting_constraints",
        "grammar_dead_end",
        "grammar_limit",
        "grammar_timeout",
        "grammar_too_large",
        "invalid_grammar",
        "no_token_left",
        "unknown_grammar",
    }
)
_CLIENT_CLOSED_REQUEST = 499
# Messages quote what the client sent, which may be megabytes.
_MAX_MESSAGE_CHARS = 4000


class ApiError(Exception):
    """An answer of status `status` with the body ``{"error": {message, type, param, code}}``."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after_s: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.headers = dict(headers or {})
        self.status = status
        self.message = message if len(message) <= _MAX_MESSAGE_CHARS else message[:_MAX_MESSAGE_CHARS] + "…"
        self.type = type
        self.param = param
        self.code = code
        self.retry_after_s = retry_after_s

    def body(self) -> dict[str, object]:
        return {"error": {"message": self.message, "type": self.type, "param": self.param, "code": self.code}}

    def response(self) -> JSONResponse:
        headers = {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}
        return JSONResponse(self.body(), status_code=self.status, headers=headers | self.headers)


def invalid_request(message: str, *, param: str | None, code: str = "invalid_value") -> ApiError:
    return ApiError(400, message, param=param, code=code)


def overloaded(message: str) -> ApiError:
    return ApiError(503, message, type="overloaded_error", code="overloaded", retry_after_s=1)


def server_fault(message: str = "The server failed while it answered this request.") -> ApiError:
    return ApiError(500, message, type="server_error", code="internal_error")


def install_error_handlers(app: FastAPI, note_refusal: Callable[[ApiError], None]) -> None:
    """`note_refusal` is told of every error that a client is answered with."""

    async def answer_api_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, ApiError)
        note_refusal(error)
        return error.response()

    app.add_exception_handler(ApiError, answer_api_error)
    app.add_exception_handler(HTTPException, _answer_http_exception)
    app.add_exception_handler(RequestValidationError, _answer_bad_option)
    app.add_exception_handler(ClientDisconnectedError, _answer_nobody)


async def _answer_http_exception(request: Request, error: Exception) -> Response:
    """What the router itself refuses: an unknown path, or a known path with another method."""
    assert isinstance(error, HTTPException)
    message = f"{error.detail}: {request.method} {request.url.path}"
    return ApiError(error.status_code, message, code="unknown_url").response()


async def _answer_bad_option(request: Request, error: Exception) -> Response:
    """An option in the URL that is not what it may be."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = str(first["loc"][-1])
    return invalid_request(f"Invalid '{name}': {first['msg']}.", param=name).response()


async def _answer_nobody(request: Request, error: Exception) -> Response:
    return Response(status_code=_CLIENT_CLOSED_REQUEST)
