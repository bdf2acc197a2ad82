"""Every case file on the oracles, as written and as printed and parsed again."""

from __future__ import annotations

import pytest

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import NO_OPTIONS
from tests.case_files import GrammarCase, valid_cases
from tests.option_oracle import OptionOracle
from tests.oracle import Oracle


@pytest.mark.parametrize("case", valid_cases())
def test_as_written(case: GrammarCase) -> None:
    check(case, case.load())


@pytest.mark.parametrize("case", valid_cases())
def test_printed_and_parsed_again(case: GrammarCase) -> None:
    check(case, Grammar.from_ebnf(str(case.load())))


def check(case: GrammarCase, grammar: Grammar) -> None:
    options = OptionOracle(grammar.rules, grammar.root)
    texts = (*case.accept, *case.reject)
    assert [text for text in texts if accepts(options, text) != (text in case.accept)] == []
    if all(rule.options == NO_OPTIONS for rule in grammar.rules):
        plain = Oracle(grammar.rules, grammar.root)
        assert [text for text in texts if plain.accepts(text) != (text in case.accept)] == []


def accepts(oracle: OptionOracle, text: bytes) -> bool:
    point = oracle.accept_text(oracle.start, text)
    return point is not None and point.is_complete
