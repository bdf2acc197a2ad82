"""Following a text through a compiled grammar."""

from __future__ import annotations

from grammar_core import _native
from grammar_core.compiled_grammar import CompiledGrammar


class GrammarMatcher(_native.Matcher):
    """The state of one text within a grammar: which tokens may come next.

    Not for concurrent use; different matchers (forks too) may be used from different threads. A mask that
    takes more than a look-up is filled without the GIL.

        matcher = GrammarMatcher(compiler.compile_grammar('root ::= "a"+'))
        bitmask = allocate_token_bitmask(1, tokenizer_info.vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
    """

    def __init__(self, compiled_grammar: CompiledGrammar) -> None:
        super().__init__(compiled_grammar.native)
        self._compiled_grammar = compiled_grammar

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the text, allowed exactly where it is complete."""
        return self._compiled_grammar.tokenizer_info.stop_token_ids

    def fork(self) -> GrammarMatcher:
        """A matcher in the same state, with the same history, that goes its own way."""
        twin = GrammarMatcher.__new__(GrammarMatcher)
        _native.Matcher.__init__(twin, self)
        twin._compiled_grammar = self._compiled_grammar
        return twin
