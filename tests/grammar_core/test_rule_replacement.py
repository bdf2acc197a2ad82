"""Dynamic grammars: some rules replaced, the others as they are."""

from __future__ import annotations

import pytest

from grammar_core import Grammar, GrammarError
from grammar_core.errors import RuleReplacementError
from tests.oracle import Oracle

SQL = 'root ::= "select " column " from " table\ncolumn ::= name\ntable[capture] ::= name\nname ::= [a-z]+'


def accepts(grammar: Grammar, text: str) -> bool:
    return Oracle(grammar.rules, grammar.root).accepts(text.encode())


def test_list_of_texts_is_an_alternative_of_literals() -> None:
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": ["users", 'a"b', "[x]"], "column": ["id"]})
    assert accepts(grammar, "select id from users")
    assert accepts(grammar, 'select id from a"b')
    assert accepts(grammar, "select id from [x]")
    assert not accepts(grammar, "select id from x")
    assert not accepts(grammar, "select name from users")


def test_text_is_a_body_that_uses_the_grammars_rules() -> None:
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": 'name "." name | "*"'})
    assert accepts(grammar, "select a from b.c")
    assert accepts(grammar, "select a from *")
    assert not accepts(grammar, "select a from b")


def test_text_with_rules_is_a_grammar_of_its_own() -> None:
    own = 'root ::= name "!"\nname ::= "n"{2}'
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": own, "column": own})
    assert accepts(grammar, "select nn! from nn!")
    assert not accepts(grammar, "select ab! from nn!")


def test_grammar_object() -> None:
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": Grammar.from_regex("t[0-9]")})
    assert accepts(grammar, "select a from t7")
    assert not accepts(grammar, "select a from t")


def test_replaced_rule_keeps_its_options() -> None:
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": ["users"]})
    [table] = [rule for rule in grammar.rules if rule.name == "table"]
    assert table.options.capture == "table"


def test_definition_sign_in_a_literal_or_a_comment_defines_nothing() -> None:
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": '"::=" [:=] # ::='})
    assert accepts(grammar, "select a from ::=:")


def test_result_prints_and_reads_back() -> None:
    grammar = Grammar.from_ebnf(SQL).replace_rules({"table": 'root ::= "x"', "column": ["a", "b"]})
    again = Grammar.from_ebnf(str(grammar))
    assert accepts(again, "select b from x")


@pytest.mark.parametrize(
    ("replacements", "rule", "words"),
    [
        ({"tabel": ["a"]}, "tabel", 'did you mean "table"'),
        ({"table": []}, "table", "at least one"),
        ({"table": 'name "." nam'}, "table", "line 1, column 10"),
        ({"table": '"a"\n| ('}, "table", "line 2, column 3"),
        ({"table": ""}, "table", "has no body"),
        ({"table": 'roo ::= "a"'}, "table", 'root rule "root" is not defined'),
    ],
)
def test_errors_name_the_rule_and_the_place(
    replacements: dict[str, str | list[str]], rule: str, words: str
) -> None:
    with pytest.raises(RuleReplacementError, match=f'replaces rule "{rule}"') as caught:
        Grammar.from_ebnf(SQL).replace_rules(replacements)
    assert words in str(caught.value)
    assert caught.value.rule == rule
    assert isinstance(caught.value, GrammarError)
