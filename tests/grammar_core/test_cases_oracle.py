"""Every case file on the oracle, as written and as printed and parsed again."""

from __future__ import annotations

import pytest

from grammar_core.grammar import Grammar
from tests.case_files import GrammarCase, valid_cases
from tests.oracle import Oracle


@pytest.mark.parametrize("case", valid_cases())
def test_as_written(case: GrammarCase) -> None:
    check(case, Grammar.from_ebnf(case.grammar, root_rule_name=case.root))


@pytest.mark.parametrize("case", valid_cases())
def test_printed_and_parsed_again(case: GrammarCase) -> None:
    check(case, Grammar.from_ebnf(str(Grammar.from_ebnf(case.grammar, root_rule_name=case.root))))


def check(case: GrammarCase, grammar: Grammar) -> None:
    oracle = Oracle(grammar.rules, grammar.root)
    assert [text for text in case.accept if not oracle.accepts(text)] == []
    assert [text for text in case.reject if oracle.accepts(text)] == []
