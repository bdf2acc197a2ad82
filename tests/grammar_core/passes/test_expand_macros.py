"""Dispatches and substrings as automata match what they did before."""

from __future__ import annotations

import random
import time

import pytest

from grammar_core.errors import GrammarLimitError
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import (
    Automaton,
    Choice,
    Literal,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    Substring,
    TagDispatch,
    TokenSet,
    TokenTagDispatch,
)
from grammar_core.ir.traversal import node_kinds
from grammar_core.passes.expand_macros import expand_macros
from grammar_core.passes.expand_substring import expand_substring
from grammar_core.passes.expand_tag_dispatch import expand_tag_dispatch
from grammar_core.passes.expand_token_tag_dispatch import expand_token_tag_dispatch
from tests.grammar_core.random_grammars import random_grammar
from tests.oracle import Oracle

X, Y = RuleRef("x"), RuleRef("y")


def test_random_dispatches_and_substrings() -> None:
    rng = random.Random(11)
    for seed in range(150):
        grammar = random_grammar(random.Random(seed), alphabet="ab", counted=False, macros=True)
        before = Oracle(grammar.rules, grammar.root)
        after = Oracle(expand_macros(grammar.rules), grammar.root)
        assert after.is_empty == before.is_empty
        for _ in range(60):
            text = bytes(rng.choices(b"ab<", weights=(5, 5, 1), k=rng.randint(0, 8)))
            assert after.accepts(text) == before.accepts(text), (seed, str(grammar), text)
            assert after.is_viable(text) == before.is_viable(text), (seed, str(grammar), text)


def test_other_grammars_are_left_alone() -> None:
    rules = Grammar.from_ebnf('root ::= "a" | Regex("b") | x\nx ::= TagDispatch(("a", root))').rules
    assert expand_macros(rules)[0] is rules[0]


def test_rules_keep_their_places_and_options() -> None:
    grammar = Grammar.from_ebnf(
        'root ::= x\nx[capture] ::= TagDispatch(("a", y)) (= Substring("b"))\ny ::= "b"'
    )
    expanded = expand_macros(grammar.rules)
    assert [rule.name for rule in expanded] == ["root", "x", "y"]
    assert expanded[1].options.capture == "x"
    assert not node_kinds(expanded) & {TagDispatch, Substring}


def test_dispatch_of_many_tags_is_small_and_fast() -> None:
    tags = tuple((f"<function=tool_{number}>", RuleRef(f"r{number}")) for number in range(128))
    dispatch = TagDispatch(tags, True, ("</answer>",))
    seconds = []
    for _ in range(20):
        begin = time.perf_counter()
        automaton = expand_tag_dispatch(dispatch)
        seconds.append(time.perf_counter() - begin)
    assert min(seconds) < 0.003
    assert automaton.state_count < 600
    assert len(automaton.edges) < 4 * automaton.state_count


def test_dispatch_beyond_the_limit() -> None:
    tags = tuple((chr(0x4E00 + number) + "x" * 400, X) for number in range(300))
    with pytest.raises(GrammarLimitError, match="more than 1,000,000 edges") as caught:
        expand_tag_dispatch(TagDispatch(tags, True, ()))
    assert caught.value.limit == "dispatch_edges"


def test_substring_is_linear() -> None:
    automaton = expand_substring(Substring(tuple(f"word{number} " for number in range(2_000))))
    assert automaton.state_count == sum(len(f"word{number} ") for number in range(2_000)) + 1
    assert len(automaton.edges) < automaton.state_count + 2_000


def test_token_dispatch_with_a_loop() -> None:
    expanded = expand_token_tag_dispatch(TokenTagDispatch(((5, X), (3, Y)), True, (9, 1)))
    free = TokenSet((1, 3, 5, 9), True)
    calls = (Sequence((TokenSet((5,), False), X)), Sequence((TokenSet((3,), False), Y)))
    assert repr(expanded) == repr(Repeat(Choice((free, *calls)), 0, None))


def test_token_dispatch_without_a_loop() -> None:
    expanded = expand_token_tag_dispatch(TokenTagDispatch(((5, X),), False, ()))
    free = Repeat(TokenSet((5,), True), 0, None)
    call = Choice((Sequence((TokenSet((5,), False), X)),))
    assert repr(expanded) == repr(Sequence((free, Repeat(call, 0, 1))))
    assert repr(expand_token_tag_dispatch(TokenTagDispatch((), False, ()))) == repr(
        Repeat(TokenSet((), True), 0, None)
    )


def test_automata_are_printed_as_rules() -> None:
    letter = Grammar.from_ebnf("root ::= [a]").rules[0].body
    assert not isinstance(letter, Literal)
    automaton = Automaton(((0, 0, X), (0, 1, X), (1, 2, X)), (1,), 3)
    grammar = Grammar.from_rules([Rule("root", Sequence((automaton, automaton))), Rule("x", Literal(b"a"))])
    text = str(grammar)
    assert text == (
        "root ::= root_1 root_3\n"
        'x ::= "a"\n'
        "root_1 ::= x root_1 | x root_2\n"
        "root_2 ::= ()\n"
        "root_3 ::= x root_3 | x root_4\n"
        "root_4 ::= ()\n"
    )
    assert str(Grammar.from_ebnf(text)) == text


def test_an_automaton_that_accepts_nothing() -> None:
    grammar = Grammar.from_rules([Rule("root", Automaton((), (), 1))])
    assert str(grammar) == "root ::= [^\\u0000-\\uD7FF\\uE000-\\U0010FFFF]\n"
