"""CountedAutomaton: automata whose edges are counted on the stack."""

from __future__ import annotations

import random
import time

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarError, GrammarMatcher, TokenizerInfo
from grammar_core.errors import GrammarLimitError
from grammar_core.ir.counted_automata import expand_counted_automaton
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Literal,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
)
from tests.grammar_core.matchers import allowed

A, B = CharClass(((97, 97),)), CharClass(((98, 98),))
E_ACUTE, EURO = CharClass(((0xE9, 0xE9),)), CharClass(((0x20AC, 0x20AC),))
WORDS = Automaton(((0, 1, A), (1, 1, A), (1, 0, B)), (1,), 2)
"""`a+(ba+)*`"""


def _matcher(
    body: CountedAutomaton, *vocabulary: str | bytes, rules: tuple[Rule, ...] = ()
) -> GrammarMatcher:
    tokens = [token.encode() if isinstance(token, str) else token for token in vocabulary]
    info = TokenizerInfo([*tokens, b"</s>"], stop_token_ids=[len(tokens)])
    grammar = Grammar.from_rules([Rule("root", body), *rules])
    return GrammarMatcher(GrammarCompiler(info).compile_grammar(grammar))


def test_a_text_that_could_not_end_in_time_is_not_begun() -> None:
    matcher = _matcher(CountedAutomaton(WORDS, 0, 4), "a", "b", "aa", "ab", "aba", "aaaa", "aaaaa", "aaab")
    assert allowed(matcher, 9) == {0, 2, 3, 4, 5}
    assert matcher.accept_token(2)
    assert allowed(matcher, 9) == {0, 1, 2, 8}
    assert matcher.accept_token(0)
    assert allowed(matcher, 9) == {0, 8}


def test_fewer_edges_than_the_least_are_not_the_end() -> None:
    matcher = _matcher(CountedAutomaton(WORDS, 3, None), "a", "b", "aa", "aaa")
    assert allowed(matcher, 5) == {0, 2, 3}
    assert matcher.accept_token(2)
    assert allowed(matcher, 5) == {0, 1, 2, 3}
    assert matcher.accept_token(0)
    assert allowed(matcher, 5) == {0, 1, 2, 3, 4}


def test_the_first_byte_of_a_character_is_refused_where_its_end_is_too_far() -> None:
    """The byte 0xC3 led into an é, after which two more characters had to come. Found by random grammars."""
    body = Automaton(((0, 0, A), (0, 1, E_ACUTE), (0, 2, EURO), (1, 2, A)), (0, 2), 3)
    matcher = _matcher(CountedAutomaton(body, 0, 2), "a", b"\xc3", b"\xe2\x82", b"\xac", b"\xa9")
    assert matcher.accept_token(0)
    assert allowed(matcher, 6) == {0, 2, 5}
    assert not matcher.accept_token(1)
    assert not matcher.accept_string(b"\xc3")
    assert matcher.accept_token(2)
    assert matcher.accept_token(3)
    assert allowed(matcher, 6) == {5}


def test_labels_may_be_rules() -> None:
    body = Automaton(((0, 1, A), (0, 1, RuleRef("escape")), (1, 0, B)), (1,), 2)
    escape = Rule("escape", Literal(b"\\u0061"))
    matcher = _matcher(CountedAutomaton(body, 0, 3), "a", "\\u00", "61", "ba", "b\\", rules=(escape,))
    assert matcher.accept_token(1)
    assert matcher.accept_token(2)
    assert allowed(matcher, 6) == {3, 4, 5}
    assert matcher.accept_token(3)
    assert allowed(matcher, 6) == {5}


def test_a_label_that_is_the_beginning_of_another() -> None:
    """Found by random grammars against the oracle (seed 3007883): what was complete was dropped together with
    what could not end in time."""
    edges = ((0, 1, B), (1, 1, A), (1, 0, RuleRef("twice")))
    twice = (Rule("twice", Literal(b"aa")),)
    for count in (2, 3, 5):
        matcher = _matcher(CountedAutomaton(Automaton(edges, (1,), 2), count, count), "a", "b", rules=twice)
        assert matcher.accept_string("b" + (count - 1) * "a")
        assert matcher.is_completed()
        assert allowed(matcher, 3) == ({2} if count == 2 else {1, 2})


def test_in_a_lazy_rule() -> None:
    tokens = TokenizerInfo([b"a", b"b", b"x", b"</s>"], stop_token_ids=[3])
    body = Automaton(((0, 1, A), (1, 0, B), (1, 2, B)), (2,), 3)
    rules = [
        Rule("root", RuleRef("lazy")),
        Rule("lazy", CountedAutomaton(body, 4, 6), RuleOptions(lazy=True)),
    ]
    # The accepting state has no edge: with a least number of edges, texts might have no way on.
    matcher = GrammarMatcher(GrammarCompiler(tokens).compile_grammar(Grammar.from_rules(rules)))
    assert matcher.accept_string("abab")
    assert allowed(matcher, 4) == {3}


@pytest.mark.parametrize(
    ("counted", "message"),
    [
        (CountedAutomaton(WORDS, 3, 2), "are not in order"),
        (CountedAutomaton(WORDS, 0, 0), "are not in order"),
        (CountedAutomaton(A, 0, 2), "has no automaton"),  # type: ignore[arg-type]
    ],
)
def test_malformed(counted: CountedAutomaton, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar.from_rules([Rule("root", counted)])


@pytest.mark.parametrize(
    ("counted", "message"),
    [
        (CountedAutomaton(Automaton(((0, 1, A), (1, 2, A)), (2,), 3), 0, 1), "cannot be completed"),
        (CountedAutomaton(Automaton(((0, 1, A), (0, 0, B)), (1,), 2), 2, 9), "cannot be completed"),
        (CountedAutomaton(Automaton(((0, 1, RuleRef("empty")),), (1,), 2), 0, 9), "has an empty one"),
        (CountedAutomaton(Automaton(((0, 1, RuleRef("nested")),), (1,), 2), 0, 9), "recursive rule"),
        (CountedAutomaton(Automaton(((0, 1, RuleRef("captured")),), (1,), 2), 0, 9), "with options"),
    ],
)
def test_what_cannot_be_counted_is_refused(counted: CountedAutomaton, message: str) -> None:
    others = [
        Rule("empty", Choice((Literal(b""), A))),
        Rule("nested", Choice((A, Sequence((B, RuleRef("nested")))))),
        Rule("captured", A, RuleOptions(capture="x")),
    ]
    grammar = Grammar.from_rules([Rule("root", counted), *others])
    with pytest.raises(GrammarError, match=message):
        GrammarCompiler(TokenizerInfo([b"a"])).compile_grammar(grammar)


def test_printed_and_serialized() -> None:
    grammar = Grammar.from_rules([Rule("root", CountedAutomaton(WORDS, 2, 4))])
    printed = str(grammar)
    assert str(Grammar.from_ebnf(printed)) == printed
    assert Grammar.deserialize_json(grammar.serialize_json()).rules == grammar.rules
    info = TokenizerInfo([b"a", b"b", b"aa", b"aab", b"</s>"], stop_token_ids=[4])
    matchers = [GrammarMatcher(GrammarCompiler(info).compile_grammar(text)) for text in (grammar, printed)]
    rng = random.Random(1)
    for _ in range(50):
        for matcher in matchers:
            matcher.reset()
        while not matchers[0].is_terminated():
            masks = [allowed(matcher, 5) for matcher in matchers]
            assert masks[0] == masks[1]
            token = rng.choice(sorted(masks[0]))
            for matcher in matchers:
                assert matcher.accept_token(token)


@pytest.mark.parametrize("bounds", [(0, 2**31), (2**40, 2**40), (2**64, None), (5, 10**30)])
def test_bounds_of_any_size_are_serialized(bounds: tuple[int, int | None]) -> None:
    """Grammars of schemas with such bounds could be compiled and written, but not read back."""
    grammar = Grammar.from_rules([Rule("root", CountedAutomaton(WORDS, *bounds))])
    again = Grammar.deserialize_json(grammar.serialize_json())
    assert again.rules == grammar.rules
    info = TokenizerInfo([b"a", b"b", b"</s>"], stop_token_ids=[2])
    matcher = GrammarMatcher(GrammarCompiler(info).compile_grammar(again))
    assert matcher.accept_string("aba" * 10)
    assert allowed(matcher, 3) == ({0, 1, 2} if bounds[0] <= 30 else {0, 1})


def test_many_states_are_printed_in_linear_time() -> None:
    """Each edge was looked up in the list of all states: half a minute for these 40,000."""
    begin = time.process_time()
    printed = str(Grammar.from_rules([Rule("root", CountedAutomaton(WORDS, 0, 20_000))]))
    assert time.process_time() - begin < 10
    assert printed.count("::=") > 20_000


def test_too_many_states_to_print() -> None:
    with pytest.raises(GrammarLimitError) as error:
        expand_counted_automaton(CountedAutomaton(WORDS, 0, 1_000_000))
    assert error.value.limit == "automaton_states"


def test_a_long_pattern_of_a_schema_compiles_and_counts() -> None:
    schema = {"type": "string", "pattern": "^(\\S+ )*\\S+$", "maxLength": 100_000, "minLength": 3}
    info = TokenizerInfo([b'"', b"x", b" ", b"x" * 1_000, b"</s>"], stop_token_ids=[4])
    matcher = GrammarMatcher(GrammarCompiler(info).compile_json_schema(schema))
    assert matcher.accept_token(0)
    for _ in range(99):
        assert matcher.accept_token(3)
    assert allowed(matcher, 5) == {0, 1, 2, 3}
    assert matcher.accept_string("x" * 998)
    assert allowed(matcher, 5) == {0, 1, 2}
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == {0, 1}
    assert matcher.accept_token(1)
    assert allowed(matcher, 5) == {0}
