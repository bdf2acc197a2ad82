"""Properties and case folding: facts of the standard library's Unicode tables, where those have them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pytest

from grammar_core.frontends.regex import parse_regex
from grammar_core.frontends.regex.unicode_properties import BINARY_PROPERTIES, CATEGORIES, property_ranges
from grammar_core.ir.nodes import CharClass

# Characters that the standard library, which may know an older Unicode, has assigned already.
_ASSIGNED = [
    chr(code)
    for code in range(0x110000)
    if not 0xD800 <= code <= 0xDFFF and unicodedata.category(chr(code)) != "Cn"
]


def characters(pattern: str, flags: str | None = None) -> set[str]:
    """What a pattern of one character matches."""
    expr = parse_regex(pattern, flags=flags)
    if not isinstance(expr, CharClass):
        return {expr.value.decode()}  # type: ignore[union-attr]
    return {chr(code) for low, high in expr.ranges for code in range(low, high + 1)}


@pytest.mark.parametrize(("name", "short"), CATEGORIES.items())
def test_general_categories(name: str, short: str) -> None:
    found = characters(rf"\p{{{short}}}")
    assert characters(rf"\p{{General_Category={name}}}") == found == characters(rf"\p{{gc={short}}}")
    letters = ("Lu", "Ll", "Lt") if short == "LC" else (short,)
    expected = {character for character in _ASSIGNED if unicodedata.category(character).startswith(letters)}
    # A few characters change their category from one version of Unicode to the next.
    assert len(expected ^ (found & set(_ASSIGNED))) <= 30 or short in ("C", "Cn")


@pytest.mark.parametrize(("name", "short"), BINARY_PROPERTIES.items())
def test_binary_properties_have_two_names(name: str, short: str) -> None:
    assert property_ranges(name) == property_ranges(short) != ()


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("Uppercase", str.isupper),
        ("Lowercase", str.islower),
        ("XID_Start", lambda character: character.isidentifier() and character != "_"),
        ("XID_Continue", lambda character: f"a{character}".isidentifier()),
        ("ASCII", str.isascii),
        ("Bidi_Mirrored", lambda character: bool(unicodedata.mirrored(character))),
        ("ASCII_Hex_Digit", lambda character: character in "0123456789abcdefABCDEF"),
        ("Any", lambda character: True),
        ("Assigned", lambda character: True),
    ],
)
def test_binary_properties(name: str, holds: Callable[[str], bool]) -> None:
    found = characters(rf"\p{{{name}}}")
    differing = [character for character in _ASSIGNED if holds(character) != (character in found)]
    assert len(differing) <= 20, differing


@pytest.mark.parametrize(
    ("script", "sample", "others"),
    [
        ("Greek", "αΩἀ", "aж中"),
        ("Cyrl", "жЯѣ", "aα"),
        ("Han", "中々〇", "あa"),
        ("Hiragana", "あん", "アー"),
        ("Hebr", "אב", "ع"),
        ("Old_Italic", "𐌀", "a"),
    ],
)
def test_scripts(script: str, sample: str, others: str) -> None:
    found = characters(rf"\p{{Script={script}}}")
    assert found >= set(sample)
    assert not found & set(others)
    assert characters(rf"\p{{Script_Extensions={script}}}") >= set(sample)
    assert characters(rf"\P{{sc={script}}}") == set(characters("[^]")) - found


def test_extensions_are_more_than_the_script() -> None:
    assert "ー" in characters(r"\p{scx=Hira}")
    assert "ー" not in characters(r"\p{sc=Hira}")


def test_negated_properties_are_the_others() -> None:
    assert characters(r"\P{L}") == characters("[^]") - characters(r"\p{L}") == characters(r"[^\p{L}]")


def test_simple_folding() -> None:
    alike = ["kK\u212a", "sS\u017f", "åÅ\u212b", "ßẞ", "σςΣ", "θϑΘϴ", "µμΜ", "ᾀᾈ", "ﬅﬆ", "ꭰᎠ", "𐐨𐐀", "ǆǅǄ"]
    for group in alike:
        for character in group:
            assert characters(character, "iu") == set(group)
    for alone in "1İıŉ中":
        assert characters(alone, "iu") == {alone}


def test_folding_by_upper_case() -> None:
    for group in ["kK", "sS", "åÅ", "σςΣ", "θϑΘ", "µμΜ", "ǆǅǄ"]:
        for character in group:
            assert characters(character, "i") == set(group)
    for alone in "1ßẞ\u212a\u017fİı中":
        assert characters(alone, "i") == {alone}


def test_folding_of_classes_equals_folding_of_their_characters() -> None:
    for flags in ("i", "iu"):
        members = "aK\u017fσ\u1e9e中1"
        expected = set().union(*(characters(character, flags) for character in members))
        assert characters(f"[{members}]", flags) == expected
        assert characters(f"[^{members}]", flags) == characters("[^]") - expected


def test_ascii_letters_fold_like_in_the_standard_library() -> None:
    for code in range(128):
        pattern = re.escape(chr(code)) if not chr(code).isalnum() else chr(code)
        matching = {chr(other) for other in range(128) if re.fullmatch(pattern, chr(other), re.IGNORECASE)}
        assert {c for c in characters(rf"\x{code:02x}", "i") if c.isascii()} == matching
