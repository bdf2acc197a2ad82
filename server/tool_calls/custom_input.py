"""The text of a custom tool's call, out of the JSON arguments that carry it, piece by piece."""

from __future__ import annotations

import json
import re

_OPENING = re.compile(r'\s*\{\s*"[^"]*"\s*:\s*"')
# A piece that can be decoded by itself: no escape is cut, and no pair of surrogates.
_COMPLETE = re.compile(
    r'(?:[^"\\]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}'
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4}|\\[^u])*"
)


class CustomInput:
    """Reads ``{"input": "…"}``; the arguments obey that form, so nothing else needs an answer."""

    def __init__(self) -> None:
        self._pending = ""
        self._is_inside = False

    def feed(self, arguments: str) -> str:
        """The text that this piece of the arguments adds to the input."""
        self._pending += arguments
        if not self._is_inside:
            opening = _OPENING.match(self._pending)
            if opening is None:
                return ""
            self._is_inside = True
            self._pending = self._pending[opening.end() :]
        complete = _COMPLETE.match(self._pending)
        assert complete is not None
        self._pending = self._pending[complete.end() :]
        return str(json.loads(f'"{complete[0]}"', strict=False))
