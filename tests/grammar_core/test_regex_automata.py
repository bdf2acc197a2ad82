"""Automata in grammars: their size, their rules when printed, and what is checked."""

from __future__ import annotations

import random

import pytest

from grammar_core.errors import GrammarError, UndefinedRuleError
from grammar_core.frontends.regex import parse_regex
from grammar_core.grammar import Grammar
from grammar_core.ir.automata.minimization import Transitions, minimize
from grammar_core.ir.nodes import Automaton, CharClass, Literal, Repeat, Rule, RuleRef, Sequence
from grammar_core.ir.printer import print_expression
from tests.grammar_core.test_regex_equals_re import accepted_by_engine, accepted_by_oracle

_A, _B = CharClass(((97, 97),)), CharClass(((98, 98),))


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        (r"a\b", 2),
        (r"(?!a)[ab]*", 2),
        (r"(?=.*a).*", 2),
        (r".*\bfoo\b.*", 6),
        (r"(?:(?!-->)[^])*-->", 4),
        (r"(?=a)(?:a|b)(?:aa|ab|ba|bb)?", 4),
    ],
)
def test_automata_are_minimal(pattern: str, states: int) -> None:
    expr = parse_regex(pattern)
    assert isinstance(expr, Automaton)
    assert expr.state_count == states


def test_edges_between_two_states_are_one() -> None:
    expr = parse_regex(r"(?![xyz])[a-z]|(?!a)[0-9]")
    assert expr == Automaton(((0, 1, CharClass(((48, 57), (97, 119)))),), (1,), 2)


def test_nothing_and_the_empty_text_need_no_automaton() -> None:
    assert parse_regex(r"a\bb") == CharClass(())
    assert parse_regex(r"(?!a)") == Sequence(())


def test_printed_as_rules_of_states() -> None:
    automaton = Automaton(((0, 1, _A), (1, 0, _B), (1, 1, RuleRef("x"))), (0,), 2)
    rules = [Rule("root", Repeat(Sequence((Literal(b"<"), automaton)), 1, 2)), Rule("x", Literal(b"y"))]
    printed = str(Grammar.from_rules(rules))
    assert printed.splitlines() == [
        'root ::= ("<" root_1){1,2}',
        'x ::= "y"',
        "root_1 ::= () | [a] root_2",
        "root_2 ::= [b] root_1 | x root_2",
    ]
    assert str(Grammar.from_ebnf(printed)) == printed


def test_several_automata_beside_rules_of_like_names() -> None:
    one, other = Automaton(((0, 1, _A),), (1,), 2), Automaton(((0, 0, _B),), (0,), 1)
    grammar = Grammar.from_rules(
        [Rule("root", Sequence((one, RuleRef("root_2"), other))), Rule("root_2", one)]
    )
    texts = ["aa", "aabb", "aba", "a", "bb", ""]
    for equal in (grammar, Grammar.from_ebnf(str(grammar))):
        assert accepted_by_oracle(equal, texts) == accepted_by_engine(equal, texts) == ["aa", "aabb"]


def test_dead_states_and_calls_of_rules() -> None:
    automaton = Automaton(((0, 1, RuleRef("x")), (0, 2, _B), (1, 3, _A)), (1, 3), 4)
    grammar = Grammar.from_rules(
        [Rule("root", automaton), Rule("x", Sequence((_A, RuleRef("y")))), Rule("y", _B)]
    )
    texts = ["ab", "aba", "b", "", "abaa"]
    assert accepted_by_oracle(grammar, texts) == accepted_by_engine(grammar, texts) == ["ab", "aba"]


def test_validation() -> None:
    with pytest.raises(UndefinedRuleError, match="missing"):
        Grammar.from_rules([Rule("root", Automaton(((0, 1, RuleRef("missing")),), (1,), 2))])
    with pytest.raises(GrammarError, match="not a normal list"):
        Grammar.from_rules([Rule("root", Automaton(((0, 1, CharClass(((5, 1),))),), (1,), 2))])
    with pytest.raises(GrammarError, match="beyond its number of states"):
        Grammar.from_rules([Rule("root", Automaton(((0, 2, _A),), (0,), 2))])


def test_minimization_keeps_the_language_and_tells_all_states_apart() -> None:
    rng = random.Random(5)
    for _ in range(300):
        count = rng.randint(1, 8)
        transitions: Transitions = [
            {letter: rng.randrange(count) for letter in range(2) if rng.random() < 0.8} for _ in range(count)
        ]
        accepting = {state for state in range(count) if rng.random() < 0.3}
        small, small_accepting = minimize(transitions, accepting)
        expected = language(transitions, accepting, 0)
        assert language(small, small_accepting, 0) == expected
        assert len({language(small, small_accepting, state) for state in range(len(small))}) == len(small)
        # As many states as there are languages from those that can be reached, without the empty one.
        assert len(small) == max(1, len(residuals(transitions, accepting)))


def language(transitions: Transitions, accepting: set[int], start: int) -> frozenset[tuple[int, ...]]:
    """The texts of up to 8 letters from a state: enough to tell states of 8-state automata apart."""
    found = set()
    paths: list[tuple[tuple[int, ...], int]] = [((), start)]
    for text, state in paths:
        if state in accepting:
            found.add(text)
        if len(text) < 8:
            paths += [((*text, letter), target) for letter, target in transitions[state].items()]
    return frozenset(found)


def residuals(transitions: Transitions, accepting: set[int]) -> set[frozenset[tuple[int, ...]]]:
    reachable = [0]
    for state in reachable:
        reachable += [target for target in set(transitions[state].values()) if target not in reachable]
    return {language(transitions, accepting, state) for state in reachable} - {frozenset()}


def test_from_regex() -> None:
    zip_code = parse_regex(r"[0-9]{5}(-[0-9]{4})?")
    assert print_expression(zip_code) == '[0-9]{5} ("-" [0-9]{4})?'
    assert print_expression(parse_regex("a.", flags="i")) == "[Aa] [^\\n\\r\\u2028\\u2029]"
    assert str(Grammar.from_regex(r"\d+", flags="i")) == 'root ::= Regex("\\\\d+", flags="i")\n'


@pytest.mark.parametrize(
    "pattern", ["", 'a"b', "a\nb\t\x00", r"\\\n\"\b", "é😀\u2028", "(a|)\r", r"a\b.*(?=b)[a-c]{2}"]
)
@pytest.mark.parametrize("flags", [None, "", "ims"])
def test_printed_as_the_pattern(pattern: str, flags: str | None) -> None:
    grammar = Grammar.from_regex(pattern, flags=flags)
    printed = str(grammar)
    again = Grammar.from_ebnf(printed)
    assert str(again) == printed
    assert again.rules == grammar.rules
