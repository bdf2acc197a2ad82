"""Following a text through a compiled grammar."""

from __future__ import annotations

import logging

from grammar_core import _native
from grammar_core.compiled_grammar import CompiledGrammar

_log = logging.getLogger(__name__)


class GrammarMatcher(_native.Matcher):
    """The state of one text within a grammar: which tokens may come next.

    `default_temperature` is what `temperature` gives where no rule asks for one. Not for concurrent use;
    different matchers (forks too) may be used from different threads. A mask that takes more than a look-up
    is filled without the GIL.

        matcher = GrammarMatcher(compiler.compile_grammar('root ::= "a"+'))
        bitmask = allocate_token_bitmask(1, tokenizer_info.vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
    """

    def __init__(
        self, compiled_grammar: CompiledGrammar, *, default_temperature: float | None = None
    ) -> None:
        super().__init__(compiled_grammar.native)
        self._compiled_grammar = compiled_grammar
        self._default_temperature = default_temperature
        self._warned: set[str] = set()  # shared by forks

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the text, allowed exactly where it is complete."""
        return self._compiled_grammar.tokenizer_info.stop_token_ids

    @property
    def default_temperature(self) -> float | None:
        """The temperature where no rule asks for one."""
        return self._default_temperature

    @property
    def temperature(self) -> float | None:
        """The sampling temperature of the next token, from the rules active now; the highest if they differ.

        An inner rule's temperature hides that of outer ones. Different temperatures of different readings
        are warned of once a matcher.
        """
        highest, differ = self.active_temperature()
        if highest < 0:
            return self._default_temperature
        if differ and "temperature" not in self._warned:
            self._warned.add("temperature")
            _log.warning("Rules with different temperatures are active at once; the highest counts")
        return highest

    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:
        """(name, text) of every capture so far, in the order in which they became complete.

        While the text can be read in several ways, one occurrence may complete at several places. The longest
        counts, or with `deduplicate` false each is there.
        """
        names = self._compiled_grammar.capture_names
        return [(names[index], text) for index, text in self.captures(deduplicate)]

    def fork(self) -> GrammarMatcher:
        """A matcher in the same state, with the same history, that goes its own way."""
        twin = GrammarMatcher.__new__(GrammarMatcher)
        _native.Matcher.__init__(twin, self)
        twin._compiled_grammar = self._compiled_grammar
        twin._default_temperature = self._default_temperature
        twin._warned = self._warned
        return twin
