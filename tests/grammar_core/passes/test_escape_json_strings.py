"""Texts of a grammar inside of a JSON string."""

from __future__ import annotations

import json

import pytest

from grammar_core import Grammar, GrammarError
from grammar_core.ir.nodes import CharClass, OtherTexts, Rule
from grammar_core.passes.escape_json_strings import escape_json_strings
from grammar_core.passes.expand_macros import expand_macros
from tests.oracle import Oracle

GRAMMARS = {
    "literals": r'root ::= "a\"b\\c\n" | "\u0001é\t"',
    "classes": r'root ::= [\x00-\x7f]{1,4} "-" [^a-z"]{2}',
    "recursion": 'root ::= "(" root ")" | "\\"" root "\\"" | ""',
    "regex": 'root ::= Regex("[\\"\\\\\\\\x]+/.{0,3}", flags="s")',
    "substring": r'root ::= Substring("a\"", "\\", "\n")',
    "free text": 'root ::= "<" TagDispatch()',
}


def escaped(grammar: Grammar) -> Grammar:
    return Grammar.from_rules(escape_json_strings(grammar.rules), root_rule_name=grammar.root)


def accepts(grammar: Grammar, text: str) -> bool:
    return Oracle(grammar.rules, grammar.root).accepts(text.encode())


@pytest.mark.parametrize("name", GRAMMARS)
def test_sentences_are_escaped_sentences(name: str) -> None:
    grammar = Grammar.from_ebnf(GRAMMARS[name])
    inside = escaped(grammar)
    for sentence in grammar.sample(30, seed=1, max_length=30):
        assert accepts(inside, json.dumps(sentence, ensure_ascii=False)[1:-1])
    for sentence in inside.sample(30, seed=2, max_length=30):
        assert accepts(grammar, json.loads(f'"{sentence}"'))


def test_other_texts() -> None:
    others = OtherTexts(CharClass(((34, 34), (97, 97))), ('a"', ""))
    escaped_rules = escape_json_strings((Rule("root", others),))
    inside = Grammar(expand_macros(escaped_rules), "root")
    assert accepts(inside, r"a\"a")
    assert not accepts(inside, r"a\"")
    assert not accepts(inside, "")


def test_only_the_natural_spelling_counts() -> None:
    inside = escaped(Grammar.from_ebnf(r'root ::= "a\n"'))
    assert accepts(inside, r"a\n")
    assert not accepts(inside, r"a\u000a")
    assert not accepts(inside, r"\u0061\n")
    assert not accepts(inside, "a\n")


def test_options_stay() -> None:
    inside = escaped(Grammar.from_ebnf('root ::= part\npart[lazy, temperature=0.5] ::= [^"]* "\\""'))
    options = inside.rules[1].options
    assert (options.lazy, options.temperature) == (True, 0.5)


@pytest.mark.parametrize(
    "grammar",
    [
        "root ::= Token(1)",
        'root ::= TagDispatch(("<", a))\na ::= "x"',
        'root ::= TagDispatch(excludes=("x",))',
    ],
)
def test_what_cannot_be_inside_is_refused(grammar: str) -> None:
    with pytest.raises(GrammarError, match="cannot be inside of a JSON string"):
        escaped(Grammar.from_ebnf(grammar))
