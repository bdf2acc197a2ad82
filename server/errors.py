"""The errors a client can see, in the body shape of the OpenAI API."""

from __future__ import annotations

import logging

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from server.disconnect import ClientDisconnectedError

logger = logging.getLogger("syntagma")

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
    ) -> None:
        super().__init__(message)
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
        return JSONResponse(self.body(), status_code=self.status, headers=headers)


def invalid_request(message: str, *, param: str | None, code: str = "invalid_value") -> ApiError:
    return ApiError(400, message, param=param, code=code)


def overloaded(message: str) -> ApiError:
    return ApiError(503, message, type="overloaded_error", code="overloaded", retry_after_s=1)


def server_fault(message: str = "The server failed while it answered this request.") -> ApiError:
    return ApiError(500, message, type="server_error", code="internal_error")


def install_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ApiError, _answer_api_error)
    app.add_exception_handler(HTTPException, _answer_http_exception)
    app.add_exception_handler(ClientDisconnectedError, _answer_nobody)
    app.add_exception_handler(Exception, _answer_fault)


async def _answer_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error.response()


async def _answer_http_exception(request: Request, error: Exception) -> Response:
    """What the router itself refuses: an unknown path, or a known path with another method."""
    assert isinstance(error, HTTPException)
    message = f"{error.detail}: {request.method} {request.url.path}"
    return ApiError(error.status_code, message, code="unknown_url").response()


async def _answer_nobody(request: Request, error: Exception) -> Response:
    return Response(status_code=_CLIENT_CLOSED_REQUEST)


async def _answer_fault(request: Request, error: Exception) -> Response:
    """The traceback goes to the log (the server logs what it re-raises), never to the client."""
    return server_fault().response()
