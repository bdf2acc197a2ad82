"""What an answer has to obey, before it is compiled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from grammar_core.errors import GrammarError

if TYPE_CHECKING:
    from grammar_core import Grammar, TokenizerInfo


class Source(Protocol):
    """Hashable; equal sources build equal grammars. `build` may take long and runs in a thread."""

    @property
    def text(self) -> str:
        """What the client wrote, all of it: its length is what a grammar's size limit is about."""

    def __hash__(self) -> int: ...

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        """Raises GrammarError, or SourceError where another field than the constraint's is wrong."""


class SourceError(Exception):
    """A part of a source, from the field `param`, cannot be used."""

    def __init__(self, param: str, cause: GrammarError) -> None:
        super().__init__(str(cause))
        self.param = param


@dataclass(frozen=True, slots=True)
class Constraint:
    """`param` is the field of the request that errors are about."""

    param: str
    source: Source
