"""Structural tags as requests have them: with the server's own defaults for JSON."""

from __future__ import annotations

from typing import Any

import pydantic_core

from grammar_core import BOUNDED_WHITESPACE

_OF_WHITE_SPACE = frozenset({"whitespace_pattern", "max_whitespace_cnt", "any_whitespace"})


def with_json_defaults(text: str) -> Any:
    """The tag with bounded white space and open objects where it says nothing else; what is no JSON, or
    too deep, stays the text it is."""
    try:
        tag = pydantic_core.from_json(text)
    except ValueError:
        return text
    if isinstance(tag, dict) and isinstance(tag.get("structures"), list) and "triggers" in tag:
        tag = _in_new_form(tag)
    _set_defaults(tag)
    return tag


def _in_new_form(tag: dict[str, Any]) -> dict[str, Any]:
    """The older form, of items with a schema each, in the words of the newer one."""
    tags = [_tag_of_structure(structure) for structure in tag["structures"]]
    triggered = {"type": "triggered_tags", "triggers": tag["triggers"], "tags": tags}
    return {"type": "structural_tag", "format": triggered}


def _tag_of_structure(structure: Any) -> Any:
    if not isinstance(structure, dict) or "schema" not in structure:
        return structure
    others = {name: value for name, value in structure.items() if name != "schema"}
    content = {"type": "json_schema", "json_schema": structure["schema"]}
    return {"type": "tag", "content": content, **others}


def _set_defaults(tag: Any) -> None:
    pending = [tag]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, dict) and "json_schema" in node:
            if node.get("type", "json_schema") == "json_schema":
                node.setdefault("strict_mode", False)
                if not _OF_WHITE_SPACE & node.keys():
                    node["whitespace_pattern"] = BOUNDED_WHITESPACE
        elif isinstance(node, dict):
            pending += node.values()
