"""What is wrong with a body, as the path of one field of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

FIELD_CONFLICT = "field_conflict"
Path = tuple[str | int, ...]


def field_conflict(param: str, message: str) -> PydanticCustomError:
    """For validators of whole bodies: what is wrong with `param` beside the other fields."""
    return PydanticCustomError(FIELD_CONFLICT, "{message}", {"param": param, "message": message})


def first_violation(error: ValidationError, body: Mapping[str, Any]) -> tuple[str, ErrorDetails]:
    """The path (``messages[0].content``) of the first field that is wrong, and what is wrong with it.

    Where a value fits none of several forms, the form counts of which the most is there.
    """
    found = [
        (_field_path(details, body), details)
        for details in error.errors(include_url=False, include_input=False)
    ]
    first = found[0][0]
    inside = [(path, details) for path, details in found if path[: len(first)] == first]
    path, details = max(inside, key=lambda item: len(item[0]))
    return _written(path), details


def _field_path(details: ErrorDetails, body: Any) -> Path:
    """The steps of the location without those that name alternatives of a union, which the body lacks."""
    path: list[str | int] = []
    location = details["loc"]
    value = body
    for number, step in enumerate(location):
        is_there = isinstance(value, list if isinstance(step, int) else Mapping) and _has(value, step)
        is_missing = details["type"] == "missing" and number == len(location) - 1
        if is_there or is_missing or isinstance(step, int):
            path.append(step)
            value = value[step] if is_there else None
    return tuple(path)


def _has(value: Any, step: str | int) -> bool:
    return step < len(value) if isinstance(step, int) else step in value


def _written(path: Path) -> str:
    written = ""
    for step in path:
        written += f"[{step}]" if isinstance(step, int) else f".{step}" if written else str(step)
    return written
