"""Sets of strings: what they contain, what the engine accepts for them, how values may be spelled."""

from __future__ import annotations

import json
import random
import re
from functools import reduce

import pytest

from grammar_core import GrammarLimitError
from grammar_core.errors import UnsupportedFeatureError
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.regex import RegexError
from grammar_core.regular import RegularLanguage
from tests.grammar_core.json_schema.scalar_grammars import Accepts, grammar_of

_NAMES = ["a", "b", "ab", 'q"', "back\\slash", "", "é", "\U0001f600", "\n", "tab\t", "\x01", "/"]
_CHARACTERS = 'ab1_- "\\/\n\x00é\u2028\U0001f600'


def _spelled(text: str, rng: random.Random) -> str:
    """The JSON string of the text, with random escapes."""
    written = []
    for character in text:
        units = character.encode("utf-16-be")
        numbered = "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
        ways = [json.dumps(character, ensure_ascii=False)[1:-1], numbered, numbered.upper().replace("U", "u")]
        if character == "/":
            ways.append("\\/")
        written.append(rng.choice(ways))
    return f'"{"".join(written)}"'


def _random_text(rng: random.Random) -> str:
    return "".join(rng.choice(_CHARACTERS) for _ in range(rng.randint(0, 6)))


def _random_language(rng: random.Random, depth: int) -> TextLanguage:
    if depth and rng.random() < 0.6:
        one, other = (_random_language(rng, depth - 1) for _ in range(2))
        return rng.choice([one.intersect(other), one.union(other), one.complement()])
    low = rng.randint(0, 3)
    return rng.choice(
        [
            TextLanguage.all(),
            TextLanguage.none(),
            TextLanguage.length(low, rng.choice([None, low, low + 2])),
            TextLanguage.matching(
                rng.choice(["a", "^[ab]*$", r"\d", "^(?!a)", r"\\", "^..$", "b.*a", "\U0001f600"])
            ),
            TextLanguage.of_values(rng.sample(_NAMES, rng.randint(0, 4))),
        ]
    )


@pytest.mark.parametrize("seed", range(120))
def test_the_engine_accepts_what_the_set_contains(seed: int) -> None:
    rng = random.Random(seed)
    language = _random_language(rng, 3)
    if language.is_empty():
        return
    natural, any_way = Accepts(language), Accepts(language, "any")
    is_given = language.finite_values(20) is not None
    for text in [*_NAMES, *(_random_text(rng) for _ in range(15))]:
        spelled = _spelled(text, rng)
        assert any_way(spelled) == language.contains(text), (text, spelled)
        if is_given:
            assert natural(json.dumps(text, ensure_ascii=False)) == language.contains(text)
        else:
            assert natural(spelled) == language.contains(text), (text, spelled)


@pytest.mark.parametrize("seed", range(80))
def test_operations_are_those_of_sets(seed: int) -> None:
    rng = random.Random(seed)
    one, other = _random_language(rng, 1), _random_language(rng, 1)
    for text in [*_NAMES, *(_random_text(rng) for _ in range(15))]:
        in_one, in_other = one.contains(text), other.contains(text)
        assert one.intersect(other).contains(text) == (in_one and in_other)
        assert one.union(other).contains(text) == (in_one or in_other)
        assert one.complement().contains(text) == (not in_one)
        assert one.without(other).contains(text) == (in_one and not in_other)
    assert one.without(one).is_empty()
    assert one.intersect(one.complement()).is_empty()
    assert one.union(one.complement()).is_all()


def test_a_string_may_be_escaped_in_every_way() -> None:
    accepts = Accepts(TextLanguage.all())
    for text in [
        r'"\u00e9\u00E9é"',
        r'"\"\\\/\b\f\n\r\t"',
        r'"\ud83d\ude00"',
        r'"\uD83D\uDE00"',
        '"/"',
        '"\x7f\u2028"',
    ]:
        assert accepts(text), text
    for text in [
        r'"\ud800"',
        r'"\ud83d"',
        r'"\ude00\ud83d"',
        r'"\ud83d\ud83d"',
        '"\n"',
        '"\x1f"',
        r'"\a"',
        r'"\u12"',
        '"',
    ]:
        assert not accepts(text), text


@pytest.mark.parametrize("text", [r'"\ud83d\ude00"', '"\U0001f600"', r'"\n"', '"a"'])
def test_what_one_character_is(text: str) -> None:
    assert Accepts(TextLanguage.length(1, 1))(text)
    assert not Accepts(TextLanguage.length(0, 0))(text)
    assert not Accepts(TextLanguage.length(2, None))(text)
    assert Accepts(TextLanguage.matching("^[^]$"))(text)


def test_values_are_spelled_in_one_way() -> None:
    accepts = Accepts(TextLanguage.of_values(_NAMES))
    for name in _NAMES:
        assert accepts(json.dumps(name, ensure_ascii=False))
    for text in [r'"\u0061"', r'"\/"', r'"\u000a"', r'"\ud83d\ude00"']:
        assert not accepts(text)
        assert Accepts(TextLanguage.of_values(_NAMES), "any")(text)


def test_keys_are_escaped_only_where_they_must_be() -> None:
    others = Accepts(TextLanguage.of_values(["a", 'q"']).complement(), key=True)
    for name in ["b", "aa", "q", 'r"', "", "é", "\n", "\\"]:
        assert others(json.dumps(name, ensure_ascii=False)), name
    for text in [r'"\u0061"', '"a"', r'"q\""', r'"\u0062"', r'"q\u0022"']:
        assert not others(text), text
    in_any_way = Accepts(TextLanguage.of_values(["a", 'q"']).complement(), "any", key=True)
    assert in_any_way(r'"\u0062"')
    assert not in_any_way(r'"\u0061"')
    assert not in_any_way(r'"q\u0022"')


def test_a_pattern_is_searched_for() -> None:
    assert TextLanguage.matching("b").contains("abc")
    assert TextLanguage.matching(r"\d").contains("ab1c")
    assert not TextLanguage.matching(r"^\d$").contains("ab1c")
    assert not TextLanguage.matching("^a$").contains("a\n")
    assert not TextLanguage.matching("^.$").contains("\n")
    assert not TextLanguage.matching(r"\d").contains("৪")
    assert not TextLanguage.matching(r"^\w$").contains("é")
    assert TextLanguage.matching(r"^\p{L}$").contains("é")
    assert TextLanguage.matching("^🐲*$").contains("🐲🐲")


@pytest.mark.parametrize("pattern", [r"^\-$", r"^\'\:$", "a]", r"^\_$"])
def test_needless_escapes_are_read(pattern: str) -> None:
    assert not TextLanguage.matching(pattern).is_empty()


@pytest.mark.parametrize("pattern", [r"\Aa", r"(a)\1", "(?i)a", "(?>a)", "a++", "(", "[z-a]", "(?P=x)"])
def test_what_is_no_regular_expression_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        TextLanguage.matching(pattern)


@pytest.mark.parametrize("seed", range(80))
def test_a_conjunction_is_empty_when_no_text_is_in_all_parts(seed: int) -> None:
    rng = random.Random(seed)
    patterns = ["^(?:ab)*$", "^a{3,5}$", "^[ab]{2}$", "b$", "^.{4}", "^(?:aaa)+$", "^b", "^(?:abc|de)$"]
    low = rng.randint(0, 6)
    bounds = TextLanguage.length(low, rng.choice([None, low, low + 1, low + 3]))
    parts = [bounds, *map(TextLanguage.matching, rng.sample(patterns, rng.randint(1, 3)))]
    rng.shuffle(parts)
    language = TextLanguage.all()
    for part in parts:
        language = language.intersect(part)
        assert language.is_empty() == language.language.is_empty()
    together = reduce(RegularLanguage.intersect, (part.language for part in parts))
    assert language.is_empty() == together.is_empty()


@pytest.mark.parametrize(
    ("pattern", "low", "high"),
    [
        ("^[a-z]+$", 2, 5),
        ("^[a-z][a-z0-9]*$", 0, 3),
        ("^x(?:yz|w)?[0-9]*(?:[ab]c){0,2}$", 3, 6),
        ("[0-9]{3}", 4, 5),
        ("^(?:ab|cde)*$", 1, 7),
        ("^[a-z]{2,4}$", 3, None),
        ("^(?:abc|de)$", 3, 9),
        (r"\bab\b", 0, 4),
    ],
)
def test_a_pattern_and_a_length_hold_together(pattern: str, low: int, high: int | None) -> None:
    language = TextLanguage.matching(pattern).intersect(TextLanguage.length(low, high))
    accepts, expected = Accepts(language), re.compile(pattern.replace("$", r"\Z"))
    rng = random.Random(pattern)
    samples = {"".join(rng.choice("abcdexyzw0 ") for _ in range(rng.randint(0, 7))) for _ in range(400)}
    members = [
        "ab",
        "abc",
        "abcd",
        "a1",
        "xyz",
        "xyz12",
        "xw1ac",
        "abab",
        "abcde",
        "cde",
        "1234",
        "a ab",
        "x" * 6,
    ]
    for text in [*samples, *members]:
        is_in = bool(expected.search(text)) and low <= len(text) and (high is None or len(text) <= high)
        assert language.contains(text) == is_in, text
        assert accepts(f'"{text}"') == is_in, text


def test_what_cannot_be_completed_is_never_begun() -> None:
    accepts = Accepts(TextLanguage.matching("^(?:aaa)*b$").intersect(TextLanguage.length(0, 5)))
    assert accepts.begins('"aaab"')
    assert not accepts.begins('"aaaa')


@pytest.mark.parametrize("high", [100_000, 10**12])
def test_a_long_string_takes_no_automaton(high: int) -> None:
    free = TextLanguage.length(1, high)
    assert Accepts(free)('"ab"')
    assert not Accepts(free)('""')
    assert Accepts(free.intersect(TextLanguage.matching("^[a-z]*$")))('"ab"')
    data = TextLanguage.matching("^data:(?:png|svg[+]xml);[0-9a-z]*$").intersect(free)
    assert Accepts(data)('"data:svg+xml;00"')


def test_a_product_that_is_too_large_is_refused() -> None:
    language = TextLanguage.matching("^(?:ab|cde)+x$").intersect(TextLanguage.length(10, 100_000))
    with pytest.raises(GrammarLimitError) as error:
        grammar_of(language)
    assert error.value.limit == "regular_language_states"


def test_given_values_stay_values() -> None:
    many = TextLanguage.of_values(f"value {number}" for number in range(10_000))
    assert many.finite_values(10_000) == [f"value {number}" for number in range(10_000)]
    assert many.finite_values(9_999) is None
    assert Accepts(many)('"value 9999"')
    assert not Accepts(many)('"value 10000"')
    ends_in_7 = many.intersect(TextLanguage.matching("7$")).intersect(TextLanguage.length(0, 7))
    assert ends_in_7.finite_values(10) == ["value 7"]


def test_finite_patterns_are_listed() -> None:
    assert TextLanguage.matching("^(?:a|b)?c$").finite_values(3) == ["ac", "bc", "c"]
    assert TextLanguage.matching("^(?:a|b)?c$").finite_values(2) is None
    assert TextLanguage.matching("a").finite_values(1000) is None
    assert TextLanguage.all().finite_values(1000) is None


def test_questions() -> None:
    assert TextLanguage.all().is_all()
    assert TextLanguage.matching("").is_all()
    assert TextLanguage.matching("[^]*").is_all()
    assert TextLanguage.matching(".*").is_unrestricted()
    assert not TextLanguage.matching("^.*$").is_all()
    assert not TextLanguage.length(1, None).is_all()
    assert TextLanguage.none().is_empty()
    assert TextLanguage.length(3, 2).is_empty()
    assert TextLanguage.matching("^a$").intersect(TextLanguage.length(2, None)).is_empty()
    assert TextLanguage.length(0, 0).finite_values(1) == [""]
    assert not TextLanguage.of_values(["\ud800"]).contains("\ud800")
    assert not TextLanguage.all().contains("\ud800")


@pytest.mark.parametrize("name", ["idn-hostname", "idn-email", "regex"])
def test_formats_that_are_not_regular_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedFeatureError, match=name):
        TextLanguage.format(name)


@pytest.mark.parametrize("name", ["phone", "", "Date", "int32", "byte"])
def test_other_formats_only_annotate(name: str) -> None:
    assert TextLanguage.format(name).is_all()
