"""Definitions of tools as a client sends them: many, with fields of all ordinary kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

COUNT = 128
FIELDS = 20
_REQUIRED = 10
_SUBJECTS = (
    *("order", "user", "ticket", "invoice", "product", "shipment", "session", "report"),
    *("branch", "device", "message", "payment", "project", "contact", "calendar", "article"),
)
_VERBS = ("create", "update", "find", "list", "delete", "export", "assign", "close")
_FIELDS = (
    *("name", "title", "amount", "count", "is_active", "state", "tags", "price", "city", "language"),
    *("start", "limit", "is_public", "kind", "codes", "weight", "owner", "offset", "is_draft", "priority"),
)


class Tool(NamedTuple):
    """A function's name and the schema of its arguments."""

    name: str
    parameters: dict[str, Any]


def tools() -> list[Tool]:
    """All tools; no two have the same arguments."""
    names = [f"{verb}_{subject}" for verb in _VERBS for subject in _SUBJECTS]
    return [Tool(name, _parameters(name, index)) for index, name in enumerate(names[:COUNT])]


def arguments(index: int) -> dict[str, Any]:
    """Arguments of a tool that meet its schema: the required ones and a few more."""
    name, schema = tools()[index]
    wanted = [*schema["required"], *list(schema["properties"])[_REQUIRED : _REQUIRED + 4]]
    return {key: _example(name, schema["properties"][key]) for key in wanted}


def _parameters(tool: str, index: int) -> dict[str, Any]:
    properties = {
        f"{tool.split('_')[1]}_{field}": _field(tool, place, index) for place, field in enumerate(_FIELDS)
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties)[:_REQUIRED],
        "additionalProperties": False,
    }


def _field(tool: str, place: int, index: int) -> dict[str, Any]:
    kind = place % 10
    words = {"description": f"Field {place} of {tool}"}
    if kind in (0, 1, 8):
        return {"type": "string", **words}
    if kind == 2:
        return {"type": "number", **words}
    if kind in (3, 7):
        return {"type": "integer", **words}
    if kind == 4:
        return {"type": "boolean", **words}
    if kind in (5, 9):
        return {"type": "string", "enum": [f"{tool}_{value}" for value in ("open", "closed", index)], **words}
    return {"type": "array", "items": {"type": "string" if place < 10 else "integer"}, **words}


def _example(tool: str, schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][1]
    values: dict[str, Any] = {
        "string": f"the {tool} of Oslo, née Kristiania",
        "number": 12.5,
        "integer": 407,
        "boolean": True,
        "array": [] if "items" not in schema else _items(schema["items"]["type"]),
    }
    return values[schema["type"]]


def _items(kind: str) -> list[Any]:
    return ["urgent", "north of 60°"] if kind == "string" else [3, 14, 159]
