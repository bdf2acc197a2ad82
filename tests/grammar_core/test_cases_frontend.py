"""Every case file on the EBNF frontend: what it refuses and where, and that printing loses nothing."""

from __future__ import annotations

import pytest

from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.grammar import Grammar
from tests.case_files import GrammarCase, error_cases, valid_cases


@pytest.mark.parametrize("case", error_cases())
def test_refused_with_position(case: GrammarCase) -> None:
    assert case.error is not None
    with pytest.raises(GrammarError) as caught:
        Grammar.from_ebnf(case.grammar, root_rule_name=case.root)
    error = caught.value
    assert case.error.contains in error.message
    assert (error.line, error.column) == (case.error.line, case.error.column)
    assert getattr(error, "limit", None) == case.error.limit
    assert isinstance(error, GrammarLimitError) == (case.error.limit is not None)
    assert str(error).startswith(f"EBNF error at line {error.line}, column {error.column}: {error.message}\n")


@pytest.mark.parametrize("case", valid_cases())
def test_printed_text_is_a_fixed_point(case: GrammarCase) -> None:
    printed = str(Grammar.from_ebnf(case.grammar, root_rule_name=case.root))
    assert str(Grammar.from_ebnf(printed)) == printed


@pytest.mark.parametrize("case", valid_cases())
def test_line_breaks_and_byte_order_mark_make_no_difference(case: GrammarCase) -> None:
    plain = Grammar.from_ebnf(case.grammar, root_rule_name=case.root)
    changed = "\ufeff" + case.grammar.replace("\n", "\r\n")
    assert Grammar.from_ebnf(changed, root_rule_name=case.root).rules == plain.rules
