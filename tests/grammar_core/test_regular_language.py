"""Regular languages: membership like the standard library's, the laws of sets, questions, limits."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from grammar_core import GrammarError, GrammarLimitError
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import (
    EMPTY,
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    RuleRef,
    Sequence,
    Substring,
    TokenSet,
)
from grammar_core.regular import RegularLanguage
from tests.grammar_core.test_regex_equals_re import random_pattern

_TEXTS = ["".join(text) for size in range(5) for text in itertools.product("abé", repeat=size)]


def _language(pattern: str) -> RegularLanguage:
    return RegularLanguage.from_expression(parse_regex(pattern))


def _plain_pattern(rng: random.Random) -> str:
    while True:
        pattern = random_pattern(rng, 3)
        if not re.search(r"\(\?[=!<]|\\[bB]|[\^$]", pattern):
            return pattern


@pytest.mark.parametrize("seed", range(60))
def test_membership_is_that_of_the_pattern(seed: int) -> None:
    pattern = _plain_pattern(random.Random(seed))
    language, expected = _language(pattern), re.compile(pattern, re.DOTALL | re.ASCII)
    for text in _TEXTS:
        assert language.contains(text) == bool(expected.fullmatch(text)), (pattern, text)


def test_what_changes_nothing_makes_no_new_language() -> None:
    letters, words, digits = _language("[a-z]*"), _language("if|else"), _language("[0-9]+")
    assert words.intersect(letters) is words
    assert letters.intersect(words) is words
    assert words.union(letters) is letters
    assert letters.union(words) is letters
    assert letters.subtract(digits) is letters
    assert words.subtract(letters).is_empty()
    assert digits.intersect(letters).is_empty()
    nothing = digits.intersect(letters)
    assert nothing.union(words) is words
    assert words.subtract(nothing) is words


@pytest.mark.parametrize("seed", range(60))
def test_operations_are_those_of_sets(seed: int) -> None:
    rng = random.Random(seed)
    one, other = (_language(_plain_pattern(rng)) for _ in range(2))
    low, high = rng.randint(0, 3), rng.choice([None, 3, 4])
    for text in rng.sample(_TEXTS, 60):
        in_one, in_other = one.contains(text), other.contains(text)
        assert one.intersect(other).contains(text) == (in_one and in_other)
        assert one.union(other).contains(text) == (in_one or in_other)
        assert one.subtract(other).contains(text) == (in_one and not in_other)
        assert one.complement().contains(text) == (not in_one)
        is_long_enough = low <= len(text) and (high is None or len(text) <= high)
        assert one.with_length(low, high).contains(text) == (in_one and is_long_enough)


@pytest.mark.parametrize("seed", range(40))
def test_equal_languages_have_automata_of_one_size(seed: int) -> None:
    rng = random.Random(seed)
    one, other = (_language(_plain_pattern(rng)) for _ in range(2))
    by_complements = one.complement().union(other.complement()).complement()
    both = one.intersect(other)
    assert both.state_count == by_complements.state_count
    assert both.subtract(by_complements).is_empty()
    assert by_complements.subtract(both).is_empty()
    assert one.union(one.complement()).is_universal()


@pytest.mark.parametrize("seed", range(40))
def test_an_expression_of_a_language_is_the_language(seed: int) -> None:
    language = _language(_plain_pattern(random.Random(seed)))
    again = RegularLanguage.from_expression(language.to_expression())
    assert again.subtract(language).is_empty()
    assert language.subtract(again).is_empty()


@pytest.mark.parametrize(
    ("pattern", "lengths", "shortest"),
    [
        ("", (0, 0), ""),
        ("abc|d", (1, 3), "d"),
        ("(?:ab)*c", (1, None), "c"),
        ("[b-d]{2,4}", (2, 4), "bb"),
        ("\U0001f600{3}", (3, 3), "\U0001f600" * 3),
    ],
)
def test_lengths(pattern: str, lengths: tuple[int, int | None], shortest: str) -> None:
    language = _language(pattern)
    assert language.length_range() == lengths
    assert language.shortest_text() == shortest


def test_no_text_has_no_length() -> None:
    with pytest.raises(ValueError, match="no text"):
        _language("[]").length_range()
    with pytest.raises(ValueError, match="no text"):
        _language("[]").shortest_text()


def test_finite_languages_are_listed() -> None:
    assert _language("[ab]{0,2}").texts(7) == ["", "a", "aa", "ab", "b", "ba", "bb"]
    assert _language("[ab]{0,2}").texts(6) is None
    assert _language("a*").texts(1_000_000) is None
    assert _language("[]").texts(0) == []
    assert RegularLanguage.of_texts(["", "é", "\U0001f600"]).texts(3) == ["", "é", "\U0001f600"]


def test_emptiness_and_universality() -> None:
    assert _language("[]").is_empty()
    assert not _language("").is_empty()
    assert _language("[^]*").is_universal()
    assert RegularLanguage.everything().is_universal()
    assert not _language("[^]+").is_universal()
    assert _language("a").with_length(2, 1).is_empty()


def test_halves_of_surrogate_pairs_are_in_no_language() -> None:
    assert not RegularLanguage.everything().contains("\ud83d")
    assert RegularLanguage.everything().contains("\U0001f600")


def test_text_that_cannot_be_completed_has_no_state() -> None:
    bounded = _language("(?:aaa)*").with_length(0, 4)
    assert bounded.texts(9) == ["", "aaa"]
    assert bounded.state_count == 4


def test_every_regular_node_is_taken() -> None:
    edges = ((0, 1, CharClass(((97, 98),))), (1, 0, CharClass(((99, 99),))))
    expr = Sequence(
        (Choice((Literal("é".encode()), EMPTY)), Automaton(edges, (1,), 2), Substring(("x", "y")))
    )
    language = RegularLanguage.from_expression(expr)
    for text in ["a", "éacbxy", "bx"]:
        assert language.contains(text)
    for text in ["", "é", "ac", "ayx"]:
        assert not language.contains(text)


@pytest.mark.parametrize(
    "expr",
    [
        RuleRef("r"),
        Choice((Literal(b"a"), TokenSet((1,), False))),
        Automaton(((0, 1, RuleRef("r")),), (1,), 2),
    ],
)
def test_what_is_not_regular_is_refused(expr: Expr) -> None:
    with pytest.raises(ValueError, match="regular language"):
        RegularLanguage.from_expression(expr)


def test_depth_is_no_danger() -> None:
    expr: Expr = Literal(b"a")
    for _ in range(50_000):
        expr = Sequence((expr, EMPTY))
    assert RegularLanguage.from_expression(expr).texts(2) == ["a"]


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?:a*)*b", "aab"),
        ("(?:(?:a|b)*|(?:a*b*)*)*c", "abc"),
        ("[ab]{1,90000}", "abba"),
        ("(?:a{0,300}){0,300}", "a" * 90_000),
    ],
)
def test_hostile_patterns_are_worked_out(pattern: str, text: str) -> None:
    language = _language(pattern)
    assert language.contains(text)
    assert not language.contains(text + "ac")


@pytest.mark.parametrize(
    ("pattern", "limit"),
    [
        ("[ab]*a[ab]{30}", "regular_language_states"),
        ("a{200000}", "regular_language_states"),
        ("(?:a{1000}){10000}", "regular_language_positions"),
    ],
)
def test_limits_have_names(pattern: str, limit: str) -> None:
    with pytest.raises(GrammarLimitError) as error:
        _language(pattern)
    assert error.value.limit == limit
    assert isinstance(error.value, GrammarError)


def test_products_have_the_same_limit() -> None:
    with pytest.raises(GrammarLimitError, match="100000 states"):
        _language("[ab]*a[ab]{7}").with_length(0, 100_000)
    repeated = Repeat(CharClass(((97, 97),)), 60_001, 60_001)
    other = Repeat(CharClass(((97, 97),)), 0, None)
    long, loop = (RegularLanguage.from_expression(expr) for expr in (repeated, other))
    assert long.intersect(loop).length_range() == (60_001, 60_001)
