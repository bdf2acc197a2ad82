"""Whether texts are in a language: the engine decides, the explainer says why not."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core import (
    Explanation,
    Grammar,
    GrammarCompiler,
    GrammarLimitError,
    GrammarMatcher,
    TokenizerInfo,
)
from grammar_core.diagnostics import Explainer
from grammar_core.diagnostics.positions import decode_text
from grammar_core.diagnostics.wording import quote
from grammar_core.ir.nodes import TokenSet, TokenTagDispatch
from grammar_core.ir.traversal import node_kinds

_CHUNK_BYTES = 16  # The engine limits the work on one piece of text, which is meant for tokens.


class Verdict(NamedTuple):
    """Whether a text is a sentence. If not: why, or at least where the language was left, in words."""

    is_sentence: bool
    explanation: Explanation | None = None
    message: str = ""


class TextChecker:
    """Checks texts of any length. Raises GrammarError for a grammar that cannot be used."""

    def __init__(self, grammar: Grammar) -> None:
        self._explainer = Explainer(grammar.rules, grammar.root)
        # A grammar that names tokens is for one tokenizer; as far as it has sentences without tokens, the
        # explainer knows them.
        self._has_tokens = bool(node_kinds(grammar.rules) & {TokenSet, TokenTagDispatch})
        if not self._has_tokens:
            compiler = GrammarCompiler(TokenizerInfo([b""], stop_token_ids=[0]))
            self._compiled = compiler.compile_grammar(grammar)

    def check(self, data: bytes) -> Verdict:
        """Raises GrammarLimitError for a text that the engine cannot follow."""
        if self._has_tokens:
            return _judge(self._explainer.explain(data))
        matcher = GrammarMatcher(self._compiled)
        accepted = _accept_most(matcher, data)
        if accepted == len(data) and matcher.is_completed():
            return Verdict(True)
        try:
            # The rest of a character and the end of its line are all that is looked at behind the position.
            end = data.find(b"\n", accepted + 4)
            return _judge(self._explainer.explain(data if end < 0 else data[:end]))
        except GrammarLimitError as error:
            return Verdict(False, message=f"{_place(data, accepted)}. {error.message}.")


def _judge(explanation: Explanation) -> Verdict:
    return Verdict(explanation.outcome == "complete", explanation)


def _place(data: bytes, offset: int) -> str:
    line = data.count(b"\n", 0, offset) + 1
    column = len(data[data.rfind(b"\n", 0, offset) + 1 : offset].decode(errors="replace")) + 1
    what = "The text ends too early" if offset == len(data) else f"{_character(data, offset)} cannot come"
    return f"{what} at line {line}, column {column}"


def _character(data: bytes, offset: int) -> str:
    text = decode_text(data[offset : offset + 4]).text
    return quote(text[0]) if text else f"The byte {data[offset]:02X}"


def _accept_most(matcher: GrammarMatcher, data: bytes) -> int:
    """Let the matcher accept as much as it can; how many bytes."""
    accepted, size = 0, _CHUNK_BYTES
    while accepted < len(data) and size:
        if matcher.accept_string(data[accepted : accepted + size]):
            accepted += len(data[accepted : accepted + size])
        else:
            size //= 2
    return accepted
