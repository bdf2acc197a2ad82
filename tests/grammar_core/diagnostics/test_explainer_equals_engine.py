"""Explanations agree with the engine: acceptance, the place of refusal, what may come, and ways to finish.

SYNTAGMA_ORACLE_TRIPLES sets how many random texts are compared.
"""

from __future__ import annotations

import os
import random

import pytest

from grammar_core import (
    CompiledGrammar,
    Explanation,
    GrammarCompiler,
    GrammarError,
    GrammarMatcher,
    TokenizerInfo,
    explain_text,
)
from grammar_core.diagnostics import Explainer
from grammar_core.diagnostics.positions import code_points_beginning
from grammar_core.grammar import Grammar
from tests.case_files import GrammarCase, valid_cases
from tests.grammar_core.random_grammars import random_case

_CHARACTERS = 'abcxyz0189 \n"éàÿ€中文一龥😀😎🚀\u07ff\u0800\uffff\U0010ffff\x00'
_TEXTS_PER_CASE = len(random_case(0).prefixes)
_CASES_PER_TEST = 50
_CASES = -(-int(os.environ.get("SYNTAGMA_ORACLE_TRIPLES", "1500")) // _TEXTS_PER_CASE)


@pytest.mark.parametrize("first", range(0, _CASES, _CASES_PER_TEST))
def test_random_grammars(first: int) -> None:
    for seed in range(first, min(first + _CASES_PER_TEST, _CASES)):
        compare_case(seed)


def compare_case(seed: int) -> None:
    case = random_case(seed)
    rng = random.Random(seed)
    try:
        explainer = Explainer(case.grammar.rules, case.grammar.root)
    except GrammarError:
        with pytest.raises(GrammarError, match="cannot match any finite text"):
            compile_grammar(case.grammar)
        return
    compiled = compile_grammar(case.grammar)
    for prefix in case.prefixes:
        data = b"".join(case.vocabulary[token_id] for token_id in prefix)
        if rng.random() < 0.3:
            data += rng.choice(_CHARACTERS).encode()
        Comparison(compiled, data, explainer.explain(data)).run()


def compile_grammar(grammar: Grammar) -> CompiledGrammar:
    return GrammarCompiler(TokenizerInfo([b"</s>"], stop_token_ids=[0])).compile_grammar(grammar)


class Comparison:
    """One text, its explanation, and a matcher at the position of the explanation."""

    def __init__(self, compiled: CompiledGrammar, data: bytes, explanation: Explanation) -> None:
        self.data = data
        self.explanation = explanation
        self.offset = explanation.position.byte_offset
        self.compiled = compiled
        self.matcher = GrammarMatcher(compiled)
        self.context = f"{data!r}\n{compiled.grammar}{explanation}"
        assert self.offset == 0 or self.matcher.accept_string(data[: self.offset]), self.context

    def run(self) -> None:
        self.check_outcome()
        self.check_what_may_come()
        self.check_completion()

    @property
    def is_within_character(self) -> bool:
        return self.explanation.outcome != "refused" and self.offset < len(self.data)

    def check_outcome(self) -> None:
        matcher = GrammarMatcher(self.compiled)
        accepted = 0
        while accepted < len(self.data) and matcher.accept_string(self.data[accepted : accepted + 1]):
            accepted += 1
        if accepted == len(self.data):
            outcome = "complete" if matcher.is_completed() else "incomplete"
            assert self.explanation.outcome == outcome, self.context
            return
        assert self.explanation.outcome == "refused", self.context
        # The engine refuses a byte, the explanation the character or broken character that it is part of.
        part = self.data[self.offset : accepted]
        assert accepted >= self.offset, self.context
        assert not part or code_points_beginning(part), self.context

    def check_what_may_come(self) -> None:
        read = self.data[self.offset :] if self.is_within_character else b""
        if not read:
            assert self.explanation.may_end == self.matcher.is_completed(), self.context
        ranges = self.explanation.next_characters
        points = {ord(character) for character in _CHARACTERS}
        points |= {p for low, high in ranges for p in (low - 1, low, (low + high) // 2, high, high + 1)}
        for point in points:
            if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
                expected = any(low <= point <= high for low, high in ranges)
                assert self.may_come(chr(point).encode(), read) == expected, (point, self.context)

    def may_come(self, character: bytes, read: bytes) -> bool:
        if not character.startswith(read) or not self.matcher.accept_string(character):
            return False
        self.matcher.rollback()
        return True

    def check_completion(self) -> None:
        completion = self.explanation.completion
        if completion is None:
            assert self.explanation.notes, self.context
            return
        assert not completion or self.matcher.accept_string(completion), self.context
        assert self.matcher.is_completed(), self.context


@pytest.mark.parametrize("case", valid_cases())
def test_case_files(case: GrammarCase) -> None:
    grammar = case.load()
    if any(w.rule == grammar.root and w.kind == "unproductive" for w in grammar.warnings()):
        with pytest.raises(GrammarError, match="cannot match any finite text"):
            explain_text(grammar, b"")
        return
    explanations = {text: explain_text(grammar, text) for text in (*case.accept, *case.reject)}
    wrong = [text for text, e in explanations.items() if (e.outcome == "complete") != (text in case.accept)]
    assert wrong == []
    assert all(map(str, explanations.values()))
