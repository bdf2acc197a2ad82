"""The formats of the standard as sets of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.texts import TextPattern


def format_language(name: str) -> TextPattern | None:
    """The strings of a format; None for a name that the standard does not define."""
    return None
