"""Every case file on its frontend: what it refuses and where, and that printing loses nothing."""

from __future__ import annotations

import pytest

from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.grammar import Grammar
from tests.case_files import GrammarCase, error_cases, valid_cases


@pytest.mark.parametrize("case", error_cases())
def test_refused_with_position(case: GrammarCase) -> None:
    assert case.error is not None
    with pytest.raises(GrammarError) as caught:
        case.load()
    error = caught.value
    assert case.error.contains in error.message
    assert (error.line, error.column) == (case.error.line, case.error.column)
    assert getattr(error, "limit", None) == case.error.limit
    assert isinstance(error, GrammarLimitError) == (case.error.limit is not None)
    assert str(error).startswith(
        f"{case.dialect} error at line {error.line}, column {error.column}: {error.message}\n"
    )


@pytest.mark.parametrize("case", valid_cases())
def test_printed_text_is_a_fixed_point(case: GrammarCase) -> None:
    printed = str(case.load())
    assert str(Grammar.from_ebnf(printed)) == printed


@pytest.mark.parametrize("case", valid_cases())
def test_line_breaks_and_byte_order_mark_make_no_difference(case: GrammarCase) -> None:
    plain = case.load()
    changed = "\ufeff" + case.grammar.replace("\n", "\r\n")
    assert case.load(changed).rules == plain.rules
