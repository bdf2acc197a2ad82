"""Substring("chunk", …): every run of neighbouring chunks, the empty one too."""

from __future__ import annotations

from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.ir.nodes import Substring


def build_substring(call: MacroCall) -> Substring:
    """The runs of the chunks given, of which there may be none."""
    call.allow_named()
    return Substring(tuple(call.string(argument, "Every argument") for argument in call.positional))
