"""Grammars put together."""

from __future__ import annotations

import random

from grammar_core.grammar import Grammar
from tests.grammar_core.random_grammars import random_grammar
from tests.oracle import Oracle

FIRST = Grammar.from_ebnf('root ::= a "x"\na[capture, max_chars=3] ::= "1" (= "x")')
SECOND = Grammar.from_ebnf('start ::= a start | ""\na ::= "2"', root_rule_name="start")


def accepts(grammar: Grammar, text: str) -> bool:
    return Oracle(grammar.rules, grammar.root).accepts(text.encode())


def test_union() -> None:
    both = Grammar.union(FIRST, SECOND)
    assert both.root == "root"
    assert [text for text in ("1x", "", "2", "22") if not accepts(both, text)] == []
    assert [text for text in ("1", "1x2", "2x", "12") if accepts(both, text)] == []


def test_concat() -> None:
    both = Grammar.concat(FIRST, SECOND, FIRST)
    assert accepts(both, "1x1x")
    assert accepts(both, "1x221x")
    assert not accepts(both, "1x")


def test_names_are_unique_and_options_are_kept() -> None:
    assert str(Grammar.concat(FIRST, FIRST)) == (
        "root ::= root_1 root_2\n"
        'root_1 ::= a "x"\n'
        'a[max_chars=3, capture] ::= "1" (= "x")\n'
        'root_2 ::= a_1 "x"\n'
        'a_1[max_chars=3, capture="a"] ::= "1" (= "x")\n'
    )


def test_names_that_look_like_numbered_ones() -> None:
    grammar = Grammar.from_ebnf('root ::= root_1 a a_1\nroot_1 ::= "1"\na ::= "2"\na_1 ::= "3"')
    both = Grammar.concat(grammar, grammar)
    assert len({rule.name for rule in both.rules}) == 9
    assert accepts(both, "123123")
    assert str(Grammar.from_ebnf(str(both))) == str(both)


def test_rule_ids_keep_their_meaning() -> None:
    text = (
        'root[capture_hidden_body_rule_id=1, capture_hidden_marker_rule_id=2] ::= a b\na ::= "a"\nb ::= "b"'
    )
    grammar = Grammar.from_ebnf(text)
    both = Grammar.union(SECOND, grammar)
    options = both.rules[3].options
    assert both.rules[options.capture_hidden_body_rule_id or 0].name == "a_1"
    assert both.rules[options.capture_hidden_marker_rule_id or 0].name == "b"


def test_of_one_grammar() -> None:
    assert accepts(Grammar.union(FIRST), "1x")
    assert accepts(Grammar.concat(FIRST), "1x")


def test_of_no_grammar() -> None:
    nothing, empty = Grammar.union(), Grammar.concat()
    assert Oracle(nothing.rules, nothing.root).is_empty
    assert accepts(empty, "")
    assert not accepts(empty, "a")
    for grammar in (nothing, empty):
        assert str(Grammar.from_ebnf(str(grammar))) == str(grammar)


def test_macros_call_the_rules_of_their_own_grammar() -> None:
    tools = [Grammar.from_ebnf(f'root ::= TagDispatch(("<", x))\nx ::= "{digit}"') for digit in "12"]
    both = Grammar.concat(Grammar.from_ebnf('root ::= "a"'), Grammar.union(*tools))
    assert accepts(both, "a<1<1")
    assert accepts(both, "a<2")
    assert not accepts(both, "a<1<2")


def test_random_grammars() -> None:
    rng = random.Random(3)
    for seed in range(40):
        parts = [random_grammar(random.Random(seed * 3 + i), alphabet="ab", counted=False) for i in range(2)]
        oracles = [Oracle(part.rules, part.root) for part in parts]
        union = Grammar.union(*parts)
        united = Oracle(union.rules, union.root)
        for _ in range(20):
            text = bytes(rng.choices(b"ab", k=rng.randint(0, 5)))
            assert united.accepts(text) == any(oracle.accepts(text) for oracle in oracles), (seed, text)
