"""What a request forbids beside its grammar: narrows a sequence's mask before the next token is sampled."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from server.engine.bad_words import BadWords, TokenSearch
from server.engine.constraint import Bitmask, MaskRow, pack_bits
from server.engine.request import Fault, GenerationRequest


class TokenBans:
    """The bans of one request: allowed ids, bad words, and ends that come too early.

    Allowed ids and bad words hold as strictly as the grammar does: where nothing satisfies all of them, the
    row has a fault. An early end is put off only while something else may come.
    """

    def __init__(
        self, request: GenerationRequest, stop_ids: Collection[int], search: TokenSearch, vocab_size: int
    ) -> None:
        self._min_tokens = request.min_tokens
        self._generated = 0
        requested = set(request.stop_token_ids)
        self._ends = pack_bits(vocab_size, sorted({*stop_ids, *requested}))
        self._ignored = (
            pack_bits(vocab_size, sorted(set(stop_ids) - requested)) if request.ignore_eos else None
        )
        self._allowed: Bitmask | None = None
        if request.allowed_token_ids is not None:
            self._allowed = pack_bits(vocab_size, request.allowed_token_ids)
        self._words = BadWords(request.bad_words, search, vocab_size) if request.bad_words else None

    def push(self, text: bytes) -> None:
        """A token was sampled; `text` are its bytes."""
        self._generated += 1
        if self._words is not None:
            self._words.push(text)

    def narrow(self, row: MaskRow) -> MaskRow:
        """The row without what is forbidden now."""
        if row.fault is not None:
            return row
        bits = row.bits
        if self._allowed is not None:
            bits = bits & self._allowed
            if not bits.any():
                return _nothing_left(bits, "allowed_token_ids")
        if self._words is not None:
            bits = bits & ~self._words.banned()
            if not bits.any():
                return _nothing_left(bits, "bad_words")
        return replace(row, bits=self._without_early_ends(bits))

    def _without_early_ends(self, bits: Bitmask) -> Bitmask:
        ends = self._ends if self._generated < self._min_tokens else self._ignored
        if ends is None:
            return bits
        others = bits & ~ends
        return others if others.any() else bits


def bans_of(
    request: GenerationRequest, stop_ids: Collection[int], search: TokenSearch, vocab_size: int
) -> TokenBans | None:
    """The bans of a request, or None if it forbids nothing."""
    forbids = (
        request.min_tokens or request.ignore_eos or request.bad_words or request.allowed_token_ids is not None
    )
    return TokenBans(request, stop_ids, search, vocab_size) if forbids else None


def _nothing_left(bits: Bitmask, field: str) -> MaskRow:
    message = f"No token is left that {field} permits here (and the grammar, if there is one)."
    return MaskRow(bits, fault=Fault(message, "no_token_left", field))
