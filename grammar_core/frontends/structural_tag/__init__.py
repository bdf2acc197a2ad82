"""Structural tags: JSON documents that describe a text of free text, tags, JSON and grammars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grammar_core.frontends.structural_tag.document import Document, StructuralTagItem, read_document
from grammar_core.frontends.structural_tag.errors import StructuralTagError, StructuralTagLimitError
from grammar_core.frontends.structural_tag.formats import find_format
from grammar_core.frontends.structural_tag.lowering import Lowering, SuspiciousLowering
from grammar_core.ir.nodes import Rule

__all__ = [
    "Document",
    "StructuralTagError",
    "StructuralTagItem",
    "lower_structural_tag",
    "read_document",
    "refuse_empty_schemas",
]

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo


def lower_structural_tag(document: Document, tokenizer_info: TokenizerInfo | None) -> tuple[Rule, ...]:
    """The rules of a structural tag that `read_document` has read, of which `root` is the first.

    Raises StructuralTagError, with a JSON pointer, for what is none, and its subclass
    StructuralTagLimitError for one beyond a limit.
    """
    return _lower(document, Lowering(find_format, tokenizer_info))


def refuse_empty_schemas(document: Document, tokenizer_info: TokenizerInfo | None) -> None:
    """Raise StructuralTagError for the first JSON schema in it that no value is valid for, if any."""
    try:
        _lower(document, SuspiciousLowering(find_format, tokenizer_info))
    except StructuralTagLimitError:  # no time is left for it
        return


def _lower(document: Document, lowering: Lowering) -> tuple[Rule, ...]:
    try:
        return lowering.finish(lowering.format(document.format, "").expression)
    except StructuralTagError as error:
        raise error.moved_to(document.given_pointer(error.pointer)) from error.__cause__
