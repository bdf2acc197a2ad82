"""One of several expressions."""

from __future__ import annotations

from collections.abc import Sequence

from grammar_core.ir.nodes import CharClass, Choice, Expr

NOTHING = CharClass(())
"""What no text matches."""


def choice(options: Sequence[Expr]) -> Expr:
    """Any of the options, of which there may be none."""
    if len(options) == 1:
        return options[0]
    return Choice(tuple(options)) if options else NOTHING
