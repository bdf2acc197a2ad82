"""Texts that must not come up in an answer, whatever tokens would spell them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from server.engine.constraint import Bitmask, pack_bits


class TokenSearch:
    """Finds tokens of a vocabulary by their bytes; the indices are made when they are first needed."""

    def __init__(self, vocabulary: Sequence[bytes]) -> None:
        self._vocabulary = vocabulary

    def containing(self, text: bytes) -> list[int]:
        """The ids of the tokens with `text` in them."""
        joined, starts = self._joined
        found, place = [], joined.find(text)
        while place >= 0:
            token = bisect_right(starts, place) - 1
            end = starts[token] + len(self._vocabulary[token])
            if place + len(text) <= end:
                found.append(token)
                place = joined.find(text, end)
            else:
                place = joined.find(text, place + 1)
        return found

    def beginning_with(self, text: bytes) -> list[int]:
        """The ids of the tokens whose first bytes are `text`."""
        first = bisect_left(self._sorted, text, key=self._vocabulary.__getitem__)
        found = []
        for token in self._sorted[first:]:
            if not self._vocabulary[token].startswith(text):
                break
            found.append(token)
        return found

    @cached_property
    def _joined(self) -> tuple[bytes, list[int]]:
        starts = list(accumulate((len(token) for token in self._vocabulary), initial=0))
        return b"".join(self._vocabulary), starts[:-1]

    @cached_property
    def _sorted(self) -> list[int]:
        return sorted(range(len(self._vocabulary)), key=self._vocabulary.__getitem__)


class BadWords:
    """The tokens that would complete one of `words`, from the bytes of the answer so far.

    A token is banned if a word lies in it, or ends in it after having begun in the text before.
    """

    def __init__(self, words: Sequence[str], search: TokenSearch, vocab_size: int) -> None:
        self._words = sorted({word.encode() for word in words})
        # By its last byte, every beginning of a word, as the word and the length of the beginning.
        self._beginnings: dict[int, list[tuple[bytes, int]]] = {}
        for word in self._words:
            for length in range(1, len(word)):
                self._beginnings.setdefault(word[length - 1], []).append((word, length))
        self._search = search
        self._vocab_size = vocab_size
        inside = {token for word in self._words for token in search.containing(word)}
        self._always = pack_bits(vocab_size, sorted(inside))
        self._longest = max(map(len, self._words))
        self._tail = b""
        self._completions: dict[bytes, Bitmask] = {}

    def push(self, text: bytes) -> None:
        """The bytes of the token that was sampled."""
        self._tail = (self._tail + text)[-self._longest :]

    def banned(self) -> Bitmask:
        """int32 words with the bits of the tokens that may not come next."""
        bits = self._always
        for rest in self._rests():
            bits = bits | self._completing(rest)
        return bits

    def _rests(self) -> Iterator[bytes]:
        """What is missing of the words that the text may be in the middle of."""
        last_byte = self._tail[-1] if self._tail else -1
        for word, length in self._beginnings.get(last_byte, ()):
            if self._tail.endswith(word[:length]):
                yield word[length:]

    def _completing(self, rest: bytes) -> Bitmask:
        if rest not in self._completions:
            self._completions[rest] = pack_bits(self._vocab_size, self._search.beginning_with(rest))
        return self._completions[rest]
