"""Structural tags: JSON documents that describe a text of free text, tags, JSON and grammars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from grammar_core.frontends.structural_tag.document import read_document
from grammar_core.frontends.structural_tag.errors import StructuralTagError
from grammar_core.frontends.structural_tag.formats import find_format
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Rule

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo


def lower_structural_tag(
    tag: Any, triggers: Iterable[str] | None, tokenizer_info: TokenizerInfo | None
) -> tuple[Rule, ...]:
    """The rules of a structural tag, of which `root` is the first.

    Raises StructuralTagError, with a JSON pointer, for what is none, and its subclass
    StructuralTagLimitError for one beyond a limit.
    """
    document = read_document(tag, triggers)
    lowering = Lowering(find_format, tokenizer_info)
    try:
        return lowering.finish(lowering.format(document.format, "").expression)
    except StructuralTagError as error:
        raise error.moved_to(document.given_pointer(error.pointer)) from error.__cause__
