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
    """The steps of the location that the body has; the others name alternatives of a union.

    A name may be both. The last step is a field if it can be, and else as many steps as possible are.
    """
    location = details["loc"]
    readings: list[tuple[Path, Any]] = [((), body)]
    for number, step in enumerate(location):
        is_last = number == len(location) - 1
        taken = [
            ((*path, step), value[step] if _has(value, step) else None)
            for path, value in readings
            if _has(value, step) or isinstance(step, int) or (is_last and details["type"] == "missing")
        ]
        readings = taken if is_last and taken else [*taken, *readings]
    return max((path for path, _ in readings), key=len)


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value)
    return isinstance(value, Mapping) and step in value


def _written(path: Path) -> str:
    written = ""
    for step in path:
        written += f"[{step}]" if isinstance(step, int) else f".{step}" if written else str(step)
    return written
