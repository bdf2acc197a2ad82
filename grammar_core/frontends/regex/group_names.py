"""Names of groups: well formed, and used once in any way through the pattern."""

from __future__ import annotations

from grammar_core.frontends.regex.errors import RegexError


class GroupNames:
    """The names met so far. The same name may stand in different options of an alternation."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        # For each open group: names on the way through its current option, and in its earlier options.
        self._current: list[dict[str, int]] = [{}]
        self._earlier: list[dict[str, int]] = [{}]

    def add(self, name: str, offset: int, is_closed: bool) -> None:
        """Note the name of the group just opened. Raises RegexError."""
        if not is_closed:
            raise RegexError.at("The name of a group needs a closing >", self._pattern, offset)
        if not name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier():
            message = f'"{name}" is no name for a group: letters, digits, _ and $, no digit first'
            raise RegexError.at(message, self._pattern, offset)
        self._refuse_again(name, offset, self._current[-2])
        self._current[-2][name] = offset

    def open_group(self) -> None:
        """A group begins."""
        self._current.append({})
        self._earlier.append({})

    def end_option(self) -> None:
        """The innermost group goes on with another option."""
        self._earlier[-1] = _union(self._earlier[-1], self._current[-1])
        self._current[-1] = {}

    def close_group(self) -> None:
        """The innermost group ends: its names are on the way through the group around it."""
        inside = _union(self._earlier.pop(), self._current.pop())
        around = self._current[-1]
        fewer, more = (inside, around) if len(inside) < len(around) else (around, inside)
        for name in fewer:
            if name in more:
                self._refuse_again(name, max(fewer[name], more[name]), more)
        self._current[-1] = _union(more, fewer)

    def _refuse_again(self, name: str, offset: int, names: dict[str, int]) -> None:
        if name in names:
            raise RegexError.at(f'Two groups have the name "{name}"', self._pattern, offset)


def _union(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """Both, built in the larger one."""
    small, large = (one, other) if len(one) < len(other) else (other, one)
    large.update(small)
    return large
