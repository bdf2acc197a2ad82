"""Structural tags: JSON documents that describe a text of free text, tags, JSON and grammars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grammar_core.frontends.structural_tag.document import Document, StructuralTagItem, read_document
from grammar_core.frontends.structural_tag.errors import StructuralTagError
from grammar_core.frontends.structural_tag.formats import find_format
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Rule

__all__ = ["Document", "StructuralTagError", "StructuralTagItem", "lower_structural_tag", "read_document"]

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo


def lower_structural_tag(document: Document, tokenizer_info: TokenizerInfo | None) -> tuple[Rule, ...]:
    """The rules of a structural tag that `read_document` has read, of which `root` is the first.

    Raises StructuralTagError, with a JSON pointer, for what is none, and its subclass
    StructuralTagLimitError for one beyond a limit.
    """
    lowering = Lowering(find_format, tokenizer_info)
    try:
        return lowering.finish(lowering.format(document.format, "").expression)
    except StructuralTagError as error:
        raise error.moved_to(document.given_pointer(error.pointer)) from error.__cause__
