"""The body of every error."""

from __future__ import annotations

from pydantic import BaseModel


class ErrorDetails(BaseModel):
    """`param` is the field that the error is about."""

    message: str
    type: str
    param: str | None
    code: str | None


class ErrorBody(BaseModel):
    error: ErrorDetails
