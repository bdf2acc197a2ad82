"""Tool calls in responses."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class FunctionPart(BaseModel):
    """In a stream, `name` comes once and `arguments` in pieces."""

    name: str = ""
    arguments: str = ""


class CustomInputPart(BaseModel):
    """In a stream, `name` comes once and `input` in pieces."""

    name: str = ""
    input: str = ""


class FunctionCallAnswer(BaseModel):
    id: str
    type: Literal["function"]
    function: FunctionPart


class CustomCallAnswer(BaseModel):
    id: str
    type: Literal["custom"]
    custom: CustomInputPart


class ToolCallDelta(BaseModel):
    """Only the fields that were set are sent."""

    index: int
    id: str = ""
    type: Literal["function", "custom"] = "function"
    function: FunctionPart = FunctionPart()
    custom: CustomInputPart = CustomInputPart()
