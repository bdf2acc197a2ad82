"""The case files of `tests/cases/regex`: patterns, what they accept and reject, and what is refused where."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import grammar_core
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.regex import RegexError, parse_regex, search_pattern
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Expr, Rule
from tests.grammar_core.test_cases_engine import accepts_text, accepts_tokens, vocabulary
from tests.oracle import Oracle

_FOLDER = Path(__file__).parents[1] / "cases" / "regex"
_KEYS = {"name", "pattern", "flags", "json_string", "search", "accept", "reject"}
_KEYS |= {"accept_hex", "reject_hex", "error"}
Case = dict[str, Any]


def _cases(*, valid: bool) -> list[Any]:
    return list(_read(valid))


def _read(valid: bool) -> Iterator[Any]:
    for path in sorted(_FOLDER.glob("*.toml")):
        for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            assert case.keys() <= _KEYS
            assert len(case.keys() & {"accept", "accept_hex", "reject", "reject_hex", "error"}) > 0
            if ("error" not in case) == valid:
                yield pytest.param(case, id=f"{path.stem}: {case['name']}")


def _expression(case: Case) -> Expr:
    options: dict[str, Any] = {key: case[key] for key in ("flags", "json_string") if key in case}
    return (search_pattern if case.get("search") else parse_regex)(case["pattern"], **options)


def _texts(case: Case, key: str) -> list[bytes]:
    return [*(text.encode() for text in case.get(key, ())), *map(bytes.fromhex, case.get(f"{key}_hex", ()))]


@pytest.mark.parametrize("case", _cases(valid=True))
def test_on_the_oracle(case: Case) -> None:
    check(case, [Rule("root", _expression(case))])


@pytest.mark.parametrize("case", _cases(valid=True))
def test_on_the_oracle_printed_and_parsed_again(case: Case) -> None:
    printed = str(Grammar.from_rules([Rule("root", _expression(case))]))
    again = Grammar.from_ebnf(printed)
    assert str(again) == printed
    check(case, again.rules)


@pytest.mark.parametrize("case", _cases(valid=True))
def test_on_the_engine(case: Case) -> None:
    compiler = grammar_core.GrammarCompiler(vocabulary([]))
    compiled = compiler.compile_grammar(Grammar.from_rules([Rule("root", _expression(case))]))
    for accepts in (accepts_text, lambda compiled, text: accepts_tokens(compiled, list(text))):
        assert [text for text in _texts(case, "accept") if not accepts(compiled, text)] == []
        assert [text for text in _texts(case, "reject") if accepts(compiled, text)] == []


@pytest.mark.parametrize("case", _cases(valid=False))
def test_refused_with_position(case: Case) -> None:
    with pytest.raises(GrammarError) as caught:
        _expression(case)
    error, expected = caught.value, case["error"]
    assert expected["contains"] in error.message
    assert error.column == expected["column"]
    assert getattr(error, "limit", None) == expected.get("limit")
    assert isinstance(error, GrammarLimitError if "limit" in expected else RegexError)
    assert str(error).startswith(
        f"regex error at line {error.line}, column {error.column}: {error.message}\n"
    )


def check(case: Case, rules: Any) -> None:
    oracle = Oracle(rules, "root")
    assert [text for text in _texts(case, "accept") if not oracle.accepts(text)] == []
    assert [text for text in _texts(case, "reject") if oracle.accepts(text)] == []
