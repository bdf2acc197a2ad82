"""The option oracle against the statements of the EBNF document, and against languages written out."""

from __future__ import annotations

import itertools
import random

import pytest

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Literal, Rule, RuleOptions, RuleRef, Sequence
from tests.grammar_core.random_grammars import random_case, random_grammar
from tests.option_oracle import OptionOracle, Point
from tests.oracle import Oracle
from tests.test_oracle import sentences

VOCABULARY = [
    b"a",
    b"b",
    b"ab",
    b"</",
    b"think>",
    b"</think>",
    b"",
    b"</s>",
    b"1",
    b"\xe4\xb8",
    b"\xad",
    b"<x",
]
A, B, AB, SLASH, THINK, CLOSE, CONTROL, STOP, ONE, LEAD, TAIL, OPEN = range(len(VOCABULARY))
TEXT = {A, B, AB, SLASH, THINK, CLOSE, ONE, OPEN, LEAD}


def oracle_of(text: str) -> OptionOracle:
    grammar = Grammar.from_ebnf(text)
    return OptionOracle(grammar.rules, grammar.root, VOCABULARY, [STOP])


def after_text(oracle: OptionOracle, text: str) -> Point:
    point = oracle.accept_text(oracle.start, text.encode())
    assert point is not None
    return point


def after_tokens(oracle: OptionOracle, *token_ids: int) -> Point:
    point = oracle.start
    for token_id in token_ids:
        following = oracle.accept_token(point, token_id)
        assert following is not None
        point = following
    return point


def allowed(oracle: OptionOracle, *token_ids: int) -> set[int]:
    return oracle.allowed_token_ids(after_tokens(oracle, *token_ids))


def captures(text: str, matched: str) -> list[tuple[str, bytes]]:
    oracle = oracle_of(text)
    return oracle.captures(after_text(oracle, matched))


def events(text: str, matched: str) -> list[tuple[str, bytes]]:
    oracle = oracle_of(text)
    return oracle.captures(after_text(oracle, matched), deduplicate=False)


# Token Budgets

THINKING = 'root ::= r "</think>" "1"?\nr[max_tokens=2] ::= [^]*'


def test_a_spent_budget_forces_the_end() -> None:
    oracle = oracle_of(THINKING)
    assert allowed(oracle) == TEXT
    assert allowed(oracle, A) == TEXT
    assert allowed(oracle, A, B) == {SLASH, CLOSE}
    assert allowed(oracle, A, CLOSE) == {ONE, STOP, SLASH, CLOSE}
    assert not after_tokens(oracle, A, B, CLOSE).is_relaxed


def test_a_budget_that_cannot_end_is_relaxed_to_the_first_end() -> None:
    oracle = oracle_of('root ::= r "</"\nr[max_tokens=1] ::= ("ab" "1")+')
    assert allowed(oracle, A) == {B}
    assert not after_tokens(oracle, A).is_relaxed
    assert after_tokens(oracle, A, B).is_relaxed
    assert allowed(oracle, AB, ONE) == {SLASH}


def test_a_relaxed_token_may_not_run_past_the_first_end() -> None:
    grammar = Grammar.from_ebnf('root ::= r "b"?\nr[max_tokens=1] ::= "a" ("a" "b")*')
    oracle = OptionOracle(grammar.rules, grammar.root, [b"a", b"aa", b"ab", b"aab", b"b", b"abab"])
    start = oracle.start
    assert oracle.allowed_token_ids(start) == {0, 1, 2, 3}
    after = oracle.accept_token(start, 1)
    assert after is not None
    assert oracle.allowed_token_ids(after) == {4}
    relaxed = oracle.accept_token(after, 4)
    assert relaxed is not None
    assert oracle.allowed_token_ids(relaxed) == {4}


def test_a_token_that_enters_the_rule_in_its_middle_counts() -> None:
    oracle = oracle_of('root ::= "a" r "</"\nr[max_tokens=1] ::= [ab]*')
    assert allowed(oracle, AB) == {SLASH}
    assert allowed(oracle, A) == {A, B, AB, SLASH}


def test_each_occurrence_has_its_own_budget_and_a_wrapper_bounds_all() -> None:
    each = oracle_of('root ::= (r "1")*\nr[max_tokens=1] ::= [ab]*')
    assert allowed(each, A, ONE, B) == {ONE}
    assert allowed(each, A, ONE) == {A, B, AB, ONE, STOP}
    wrapped = oracle_of('root ::= all "</"\nall[max_tokens=3] ::= (r "1")*\nr ::= [ab]*')
    assert allowed(wrapped, A, ONE, ONE) == {SLASH}
    assert allowed(wrapped, A, ONE, B) == {A, B, AB, ONE}


def test_nested_budgets_use_the_smallest() -> None:
    oracle = oracle_of('root ::= o "</"\no[max_tokens=1] ::= i\ni[max_tokens=3] ::= [ab]*')
    assert allowed(oracle, A) == {SLASH}
    oracle = oracle_of('root ::= o "</"\no[max_tokens=3] ::= i "1"*\ni[max_tokens=1] ::= [ab]*')
    assert allowed(oracle, A) == {ONE, SLASH}


def test_text_uses_up_no_tokens() -> None:
    oracle = oracle_of(THINKING)
    point = after_text(oracle, "abab")
    assert oracle.allowed_token_ids(point) == TEXT
    after = oracle.accept_token(point, A)
    assert after is not None
    assert after.tokens == 1


def test_the_first_boundary_counts_where_both_budgets_are_given() -> None:
    oracle = oracle_of('root ::= r "</"\nr[max_tokens=2, max_chars=3] ::= [ab]*')
    assert allowed(oracle, A, A) == {SLASH}
    assert allowed(oracle, AB) == {A, B, SLASH}


# Character Budgets


def test_characters_count_across_split_tokens() -> None:
    oracle = oracle_of('root ::= r "1"\nr[max_chars=2] ::= [^]*')
    assert allowed(oracle, LEAD) == {TAIL}
    assert allowed(oracle, LEAD, TAIL) == {A, B, LEAD, ONE}
    assert allowed(oracle, A, LEAD, TAIL) == {ONE}


def test_relaxed_characters_are_reported() -> None:
    oracle = oracle_of('root ::= r "1"\nr[max_chars=1] ::= "ab"')
    assert not after_text(oracle, "a").is_relaxed
    assert after_text(oracle, "ab").is_relaxed
    assert not after_text(oracle_of('root[max_chars=1] ::= "a" "1"?'), "a").is_relaxed


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_budgets_keep_what_has_no_end_before(limit: int) -> None:
    """A text of the body may be an occurrence unless a shorter one, of the limit or more, begins it."""
    for seed in range(60):
        grammar = random_grammar(random.Random(seed), alphabet="ab", counted=False)
        language = sentences(grammar, 7)
        options = RuleOptions(lazy=True) if limit == 0 and seed % 2 else RuleOptions(max_chars=limit)
        body = Rule("limited", RuleRef(grammar.root), options)
        root = Rule("whole", Sequence((RuleRef("limited"), Literal(b"!"))))
        oracle = OptionOracle((root, body, *grammar.rules), "whole")
        for letters in itertools.chain.from_iterable(itertools.product(b"ab", repeat=n) for n in range(6)):
            text = bytes(letters)
            ends = (text[:length] in language for length in range(limit, len(text)))
            expected = text in language and not any(ends)
            point = oracle.accept_text(oracle.start, text + b"!") if not oracle.is_empty else None
            assert (point is not None and point.is_complete) == expected, (seed, str(grammar), text)


# Capture Groups


def test_captures_of_a_list() -> None:
    grammar = 'root ::= item ("," item)*\nitem[capture="number"] ::= [0-9]+'
    assert captures(grammar, "1,22,333") == [("number", b"1"), ("number", b"22"), ("number", b"333")]
    assert events(grammar, "1,22") == [("number", b"1"), ("number", b"2"), ("number", b"22")]


def test_the_name_is_the_rule_by_default() -> None:
    assert captures('root ::= item\nitem[capture] ::= "a"', "a") == [("item", b"a")]


def test_the_longest_completion_of_each_occurrence_is_kept() -> None:
    grammar = "root ::= x [a-z]*\nx[capture] ::= [a-z]+"
    assert captures(grammar, "abc") == [("x", b"abc")]
    assert events(grammar, "abc") == [("x", b"a"), ("x", b"ab"), ("x", b"abc")]


def test_inner_captures_come_before_outer_ones_at_the_same_end() -> None:
    grammar = (
        'root ::= outer "."\nouter[capture] ::= "a" middle\nmiddle[capture] ::= inner\ninner[capture] ::= "b"'
    )
    assert captures(grammar, "ab.") == [("inner", b"b"), ("middle", b"b"), ("outer", b"ab")]


def test_empty_occurrences_are_not_captured() -> None:
    assert captures('root ::= v "="\nv[capture] ::= [0-9]*', "=") == []


def test_recursive_rules_are_captured_at_every_level() -> None:
    expected = [("root", b"a"), ("root", b"aa"), ("root", b"aaa")]
    assert captures('root[capture] ::= "a" root | "a"', "aaa") == expected
    assert captures('root[capture] ::= root "a" | "a"', "aaa") == [("root", b"aaa")]


def test_only_accepted_tokens_are_recorded() -> None:
    oracle = oracle_of('root ::= x "1"\nx[capture] ::= "ab"')
    point = after_tokens(oracle, A)
    oracle.allowed_token_ids(point)
    assert oracle.captures(point) == []
    assert oracle.captures(after_tokens(oracle, AB)) == [("x", b"ab")]


def test_markers_are_hidden() -> None:
    suffix = 'root[capture] ::= x\nx[capture, lazy, capture_hidden_suffix_bytes=2] ::= [a-z]* "--"'
    assert captures(suffix, "ab--") == [("x", b"ab"), ("root", b"ab--")]
    options = 'capture, lazy, capture_hidden_stop_bytes=2, stop_capture="end"'
    stop = f'root[capture] ::= x\nx[{options}] ::= [a-z]* "--"'
    assert captures(stop, "ab--") == [("end", b"--"), ("x", b"ab"), ("root", b"ab")]


# Sampling Temperature


def temperatures(text: str, matched: str) -> list[float | None]:
    oracle = oracle_of(text)
    points = [oracle.start]
    for byte in matched.encode():
        following = oracle.accept_text(points[-1], bytes([byte]))
        assert following is not None
        points.append(following)
    return [point.temperature() for point in points]


def test_the_temperature_holds_while_the_rule_is_active() -> None:
    grammar = 'root ::= "x" v "!"\nv[temperature=0.7] ::= [a-z]+'
    assert temperatures(grammar, "xab!") == [None, 0.7, 0.7, 0.7, None]
    assert oracle_of(grammar).start.temperature(1.0) == 1.0


def test_an_inner_temperature_counts_in_place_of_an_outer_one() -> None:
    grammar = 'root[temperature=0.7] ::= "x" w "!"\nw[temperature=0.2] ::= y\ny ::= "1"'
    assert temperatures(grammar, "x1!") == [0.7, 0.2, 0.7, None]


def test_at_ambiguous_positions_the_highest_counts() -> None:
    grammar = 'root ::= v | w\nv[temperature=0.7] ::= [a-z]+\nw[temperature=0.2] ::= [a-z] "1"'
    oracle = oracle_of(grammar)
    assert oracle.start.temperatures == {0.2, 0.7}
    assert oracle.start.temperature() == 0.7


# Token, ExcludeToken, TokenTagDispatch


def test_token_is_one_whole_token() -> None:
    oracle = oracle_of("root ::= Token(6, 2) [a-z]+")
    assert allowed(oracle) == {CONTROL, AB}
    assert allowed(oracle, CONTROL) == {A, B, AB}
    assert oracle.accept_text(oracle.start, b"ab") is None


def test_token_and_text_are_mixed() -> None:
    oracle = oracle_of('root ::= (Token(2) | "a") "b"')
    assert allowed(oracle) == {A, AB}
    assert allowed(oracle, A) == {B}
    assert allowed(oracle, AB) == {B, STOP}


def test_excluded_tokens_leave_all_but_stop_tokens() -> None:
    oracle = oracle_of("root ::= ExcludeToken(0, 1, 0) ExcludeToken(2)?")
    everything = set(range(len(VOCABULARY))) - {CONTROL}
    assert allowed(oracle) == everything - {A, B, STOP}
    assert allowed(oracle, ONE) == everything - {AB}


def test_a_part_of_a_token_is_no_token() -> None:
    oracle = oracle_of('root ::= "a" (ExcludeToken(0) | "1")')
    assert allowed(oracle) == {A}


@pytest.mark.parametrize("loop", [True, False])
def test_free_tokens_and_triggers(loop: bool) -> None:
    argument = "" if loop else ", loop_after_dispatch=false"
    oracle = oracle_of(f'root ::= TokenTagDispatch((6, x), (2, x), excludes=(4,){argument})\nx ::= "1"')
    everything = set(range(len(VOCABULARY))) - {CONTROL}
    assert allowed(oracle) == everything - {THINK} | {CONTROL}
    assert allowed(oracle, A, CONTROL) == {ONE}
    assert allowed(oracle, AB, ONE) == (everything - {THINK} | {CONTROL} if loop else {STOP})


def test_a_stop_token_that_a_rule_names_is_allowed_where_it_completes_the_text() -> None:
    oracle = oracle_of('root ::= "a" Token(7)')
    assert allowed(oracle) == {A}
    assert allowed(oracle, A) == {STOP}
    assert after_tokens(oracle, A, STOP).is_terminated
    assert allowed(oracle_of('root ::= "a" Token(7) "b"'), A) == set()


# the oracle itself


def test_equals_the_plain_oracle_without_options() -> None:
    compared = 0
    for seed in range(40):
        case = random_case(seed, macros=True)
        plain = Oracle(case.grammar.rules, case.grammar.root)
        oracle = OptionOracle(case.grammar.rules, case.grammar.root, case.vocabulary, case.stop_token_ids)
        assert oracle.is_empty == plain.is_empty
        position, point = plain.start, oracle.start
        for token_id in case.prefixes[0]:
            expected = plain.allowed_token_ids(position, case.vocabulary, case.stop_token_ids)
            assert oracle.allowed_token_ids(point) == expected, (seed, str(case.grammar))
            if token_id not in expected or token_id in case.stop_token_ids:
                continue
            moved = plain.advance(position, case.vocabulary[token_id])
            after = oracle.accept_token(point, token_id)
            assert moved is not None
            assert after is not None
            position, point = moved, after
            compared += 1
    assert compared > 60


def test_refuses_budgets_with_markers_of_rules_that_do_not_say_both_parts() -> None:
    ids = "capture_hidden_body_rule_id=0, capture_hidden_marker_rule_id=0"
    with pytest.raises(ValueError, match="only of rules that say both parts"):
        oracle_of(f'root[lazy, max_chars=1, {ids}] ::= "a"')
