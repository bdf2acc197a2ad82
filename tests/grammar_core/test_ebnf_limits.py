"""Sizes: what is still read, quickly, and what is refused by the name of its limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Repeat

_SECONDS = 20.0


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    begin = time.process_time()
    yield
    assert time.process_time() - begin < _SECONDS


def test_chain_of_rules() -> None:
    links = "".join(f'r{i} ::= "a" r{i + 1}\n' for i in range(20_000))
    grammar = Grammar.from_ebnf(f'root ::= r0\n{links}r20000 ::= "b"')
    assert len(grammar.rules) == 20_002
    assert str(Grammar.from_ebnf(str(grammar))) == str(grammar)


def test_group_nesting() -> None:
    grammar = Grammar.from_ebnf("root ::= " + "(" * 1000 + '"a"' + ' | "b") "c"' * 1000)
    printed = str(grammar)
    assert printed.count("(") == 1000
    assert str(Grammar.from_ebnf(printed)) == printed


def test_nested_repetition_prints_at_any_depth() -> None:
    grammar = Grammar.from_ebnf("root ::= " + "(" * 1000 + '"a"' + ")+" * 1000)
    assert str(grammar) == "root ::= " + "(" * 999 + '"a"' + "+)" * 999 + "+\n"


@pytest.mark.parametrize("depth", [1001, 500_000])
def test_group_nesting_beyond_the_limit(depth: int) -> None:
    with pytest.raises(GrammarLimitError, match="nested more than 1,000 deep") as caught:
        Grammar.from_ebnf("root ::= " + "(" * depth + '"a"' + ")" * depth)
    assert (caught.value.limit, caught.value.value) == ("group_nesting", 1000)
    assert (caught.value.line, caught.value.column) == (1, 1010)


def test_deep_grammars_of_rules_are_not_walked_recursively() -> None:
    body = Grammar.from_ebnf('root ::= "a"').rules[0].body
    for _ in range(50_000):
        body = Repeat(body, 1, None)
    rule = Grammar.from_ebnf('root ::= "a"').rules[0]._replace(body=body)
    assert len(str(Grammar.from_rules([rule]))) > 100_000


def test_text_length() -> None:
    text = 'root ::= "a" #'
    assert len(Grammar.from_ebnf(text.ljust(2_000_000, "x")).rules) == 1
    with pytest.raises(GrammarLimitError, match="limit is 2,000,000") as caught:
        Grammar.from_ebnf(text.ljust(5_000_000, "x"))
    assert caught.value.limit == "text_length"


def test_number_of_rules() -> None:
    rules = "".join(f'\nr{i}::=""' for i in range(99_999))
    assert len(Grammar.from_ebnf('root ::= "a"' + rules).rules) == 100_000
    with pytest.raises(GrammarLimitError, match="more than 100,000 rules") as caught:
        Grammar.from_ebnf('root ::= "a"' + rules + '\nlast ::= "b"')
    assert (caught.value.limit, caught.value.line) == ("rules", 100_001)


@pytest.mark.parametrize(
    "text",
    [
        'root ::= "a"' + " " * 1_900_000,
        'root ::= "a"' + "\n#" * 900_000,
        'root ::= "' + "a" * 1_900_000 + '"',
        'root ::= "' + "\\n" * 300_000 + '"',
        "root ::= [" + "a" * 400_000 + "]",
        'root ::= "a"' + ' | "b"' * 100_000,
    ],
    ids=["space", "comments", "literal", "escapes", "class", "options"],
)
def test_large_texts(text: str) -> None:
    assert len(Grammar.from_ebnf(text).rules) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda n: 'root ::= "' + "a" * n,
        lambda n: 'root ::= "' + "\\" * n,
        lambda n: "root ::= [" + "a" * n,
        lambda n: 'root ::= "a"{' + " " * n,
        lambda n: 'root ::= "a"{' + "1" * n,
        lambda n: 'root ::= "a"{' + "1" * n + "}",
        lambda n: "root ::= " + "x " * (n // 2),
        lambda n: "a [\n" * (n // 4),
        lambda n: "a [lazy]\n" * (n // 9),
        lambda n: 'root ::= "a" (' + "\n#" * (n // 2),
        lambda n: "x\n" * (n // 2),
        lambda n: 'root ::= "\\x' + "f" * n + '"',
    ],
)
def test_large_texts_with_errors(make: Callable[[int], str]) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_ebnf(make(1_000_000))
    assert caught.value.line is not None
    assert len(str(caught.value)) < 1000
