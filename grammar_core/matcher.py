"""Following a text through a compiled grammar."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from grammar_core import _native
from grammar_core.compiled_grammar import CompiledGrammar
from grammar_core.diagnostics.explainer import Explainer
from grammar_core.diagnostics.explanation import Explanation
from grammar_core.tokenizer_info import id_list

_log = logging.getLogger(__name__)

Int64Array = Any
"""A numpy array or torch tensor of int64, on the CPU and contiguous."""


class GrammarMatcher(_native.Matcher):
    """The state of one text within a grammar: which tokens may come next.

    `override_stop_tokens` are ids that end the text in place of the tokenizer's. With
    `terminate_without_stop_token` the matcher is terminated wherever the text is complete.
    `default_temperature` is what `temperature` gives where no rule asks for one. Not for concurrent use;
    different matchers (forks too) may be used from different threads. A mask that takes more than a look-up
    is filled without the GIL.

        matcher = GrammarMatcher(compiler.compile_grammar('root ::= "a"+'))
        bitmask = allocate_token_bitmask(1, tokenizer_info.vocab_size)
        matcher.fill_next_token_bitmask(bitmask)
    """

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Sequence[int] | None = None,
        terminate_without_stop_token: bool = False,
        default_temperature: float | None = None,
    ) -> None:
        stop_tokens = None if override_stop_tokens is None else id_list(override_stop_tokens)
        super().__init__(compiled_grammar.native, stop_tokens, terminate_without_stop_token)
        self._compiled_grammar = compiled_grammar
        self._override_stop_tokens = stop_tokens
        self._default_temperature = default_temperature
        self._warned: set[str] = set()  # shared by forks

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end the text, allowed exactly where it is complete."""
        if self._override_stop_tokens is not None:
            return self._override_stop_tokens
        return self._compiled_grammar.tokenizer_info.stop_token_ids

    @property
    def max_rollback_tokens(self) -> int:
        """-1: the whole history can be rolled back."""
        return -1

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
        if differ:
            self._warn_once("Rules with different temperatures are active at once; the highest counts")
        return highest

    def _over_budget(self) -> None:
        self._warn_once("A rule has used up its budget where it cannot end; it goes on until it can")

    def _warn_once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            _log.warning(message)

    def get_captures(self, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:
        """(name, text) of every capture so far, in the order in which they became complete.

        While the text can be read in several ways, one occurrence may complete at several places. The longest
        counts, or with `deduplicate` false each is there.
        """
        names = self._compiled_grammar.capture_names
        return [(names[index], text) for index, text in self.captures(deduplicate)]

    def traverse_draft_tree(
        self,
        retrieve_next_token: Int64Array,
        retrieve_next_sibling: Int64Array,
        draft_tokens: Int64Array,
        token_bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any = None,
    ) -> bool:
        """Fill the mask of every node of a tree of draft tokens; the matcher is as before afterwards.

        The first three are int64 of shape (nodes,) on the CPU: each node's first child and next sibling (-1
        for none) and its token. Node 0 is the root, whose token has been accepted already. `token_bitmask`
        has a row for each node; those of nodes that are refused, and of all below them, become zero.
        `temperatures`, float32 of shape (nodes,), receives each node's temperature, -1 for none.

        False if it took longer than `time_threshold` seconds (negative: no limit). Raises ValueError for
        links out of range and for cycles.
        """
        default = -1.0 if self._default_temperature is None else self._default_temperature
        return _native.traverse_draft_tree(
            self,
            retrieve_next_token,
            retrieve_next_sibling,
            draft_tokens,
            token_bitmask,
            time_threshold,
            temperatures,
            default,
        )

    def explain(self, refused: str | bytes = b"") -> Explanation:
        """Which rules are active, what may come next, how the text can be finished; `str()` of it to read.

        With text that was `refused`, where and why. It is the text that is explained: what was matched as a
        token is not visible in it, which the explanation says. Takes time in proportion to the whole text,
        seconds for long ones. Raises GrammarLimitError for a text that takes too long.
        """
        steps = self.history()
        seen = steps.index(b"") if b"" in steps else len(steps)
        text = b"".join(steps[:seen])
        grammar = self._compiled_grammar.grammar
        explainer = Explainer(grammar.rules, grammar.root)
        if seen == len(steps):
            more = refused.encode() if isinstance(refused, str) else refused
            return explainer.explain(text + more, accepted_bytes=len(text))
        if self.is_terminated() and seen == len(steps) - 1:
            explanation = explainer.explain(text, accepted_bytes=len(text))
            if explanation.outcome == "complete":  # then the token that followed was a mere stop token
                return explanation
        return explainer.explain(text, accepted_bytes=len(text), goes_on_unseen=True)

    def fork(self) -> GrammarMatcher:
        """A matcher in the same state, with the same history, that goes its own way."""
        twin = GrammarMatcher.__new__(GrammarMatcher)
        _native.Matcher.__init__(twin, self)
        twin._compiled_grammar = self._compiled_grammar
        twin._override_stop_tokens = self._override_stop_tokens
        twin._default_temperature = self._default_temperature
        twin._warned = self._warned
        return twin
