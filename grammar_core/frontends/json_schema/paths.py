"""Places in a document: chains of keys and indices, rendered as JSON pointers only for errors."""

from __future__ import annotations

from typing import TypeAlias

Path: TypeAlias = "tuple[Path, str | int] | None"
"""None for the root of a document, otherwise the parent's path and a key or an index."""


def pointer_of(path: Path) -> str:
    """The JSON pointer (RFC 6901) of the path."""
    segments: list[str] = []
    while path is not None:
        path, segment = path
        segments.append(str(segment).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{segment}" for segment in reversed(segments))
