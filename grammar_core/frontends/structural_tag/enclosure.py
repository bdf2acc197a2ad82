"""What encloses a format: what free text in it may not contain, since it would end there."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.ir.nodes import Expr


class Enclosure(NamedTuple):
    """The texts and token ids that end the nearest tag around a format."""

    ends: tuple[str, ...] = ()
    end_tokens: tuple[int, ...] = ()


NOT_ENCLOSED = Enclosure()


class Lowered(NamedTuple):
    """A format as an expression. `is_unlimited`: whether free text in it can go on for ever."""

    expression: Expr
    is_unlimited: bool = False
