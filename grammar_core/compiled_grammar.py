"""A grammar that has been compiled for a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from grammar_core import _native
from grammar_core.grammar import Grammar
from grammar_core.tokenizer_info import TokenizerInfo


class CompiledGrammar:
    """A grammar's automaton over a vocabulary. Made by `GrammarCompiler`; shared freely between threads.

    Its tables are filled while matchers use it, so `memory_size_bytes` grows up to a limit.
    """

    def __init__(
        self,
        native: _native.CompiledGrammar,
        grammar: Grammar,
        tokenizer_info: TokenizerInfo,
        capture_names: Sequence[str],
    ) -> None:
        self._native = native
        self._grammar = grammar
        self._tokenizer_info = tokenizer_info
        self._capture_names = tuple(capture_names)

    @property
    def native(self) -> _native.CompiledGrammar:
        """The native object that matchers run on."""
        return self._native

    @property
    def grammar(self) -> Grammar:
        """The grammar as it was given."""
        return self._grammar

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary it was compiled for."""
        return self._tokenizer_info

    @property
    def capture_names(self) -> tuple[str, ...]:
        """The names that captures are recorded under, one for each rule that has the option."""
        return self._capture_names

    @property
    def memory_size_bytes(self) -> int:
        """Bytes in use now, without the vocabulary, which all grammars share."""
        return self._native.memory_bytes
