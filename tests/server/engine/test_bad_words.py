"""Searching a vocabulary by bytes, and which tokens complete a word."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from server.engine.bad_words import BadWords, TokenSearch
from server.engine.constraint import Bitmask

small = st.text("ab", min_size=1, max_size=4)
vocabularies = st.lists(st.text("ab", max_size=4).map(str.encode), min_size=1, max_size=20)


def ids(bits: Bitmask) -> set[int]:
    return {i for i in range(32 * len(bits)) if bits[i // 32] >> (i % 32) & 1}


@settings(max_examples=200, deadline=None)
@given(vocabularies, small.map(str.encode))
def test_search_is_what_a_scan_finds(vocabulary: list[bytes], text: bytes) -> None:
    search = TokenSearch(vocabulary)
    assert search.containing(text) == [i for i, token in enumerate(vocabulary) if text in token]
    assert sorted(search.beginning_with(text)) == [
        i for i, token in enumerate(vocabulary) if token.startswith(text)
    ]


@settings(max_examples=200, deadline=None)
@given(vocabularies, st.lists(small, min_size=1, max_size=3), st.data())
def test_exactly_the_completing_tokens_are_banned(
    vocabulary: list[bytes], words: list[str], data: st.DataObject
) -> None:
    bad = BadWords(words, TokenSearch(vocabulary), len(vocabulary))
    text = b""
    for _ in range(6):
        wrong = {
            i for i, token in enumerate(vocabulary) if any(word.encode() in text + token for word in words)
        }
        assert ids(bad.banned()) == wrong
        good = sorted(set(range(len(vocabulary))) - wrong)
        if not good:
            return
        token = data.draw(st.sampled_from(good))
        text += vocabulary[token]
        bad.push(vocabulary[token])
