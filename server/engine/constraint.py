"""The seam between the loop and the grammar engine: matchers, and filling their bitmasks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Bitmask = npt.NDArray[np.int32]

# Hotter than this, all tokens are equally likely in float32, and much hotter the reciprocal would round to 0.
_HOTTEST = 1e30


class Matcher(Protocol):
    """What the loop needs of a grammar matcher."""

    def accept_token(self, token_id: int) -> bool: ...

    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool: ...

    def is_terminated(self) -> bool: ...

    def is_completed(self) -> bool: ...

    @property
    def temperature(self) -> float | None:
        """What the rules active now ask for; None when none of them does."""

    def get_captures(self) -> list[tuple[str, bytes]]: ...


class Vocabulary(Protocol):
    """What the loop needs of a TokenizerInfo."""

    @property
    def decoded_vocab(self) -> list[bytes]: ...

    @property
    def stop_token_ids(self) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class FilledMask:
    """Bitmask [batch, words] of a step; by row, temperatures that rules ask for and failures of matchers."""

    bitmask: Bitmask
    temperatures: dict[int, float]
    errors: dict[int, str]


class MaskFiller:
    """Fills the bitmasks of a step in a worker thread, while the model computes the logits.

    The temperatures of the active rules are read there as well.

    A row without a matcher allows `existing`, the bitmask of the ids that the tokenizer really has: models
    often have more logits than the tokenizer has tokens. Every matcher's row is cut to these as well.
    """

    def __init__(self, vocab_size: int, existing_ids: Sequence[int]) -> None:
        self._existing = pack_bits(vocab_size, existing_ids)
        self._has_holes = len({i for i in existing_ids if i < vocab_size}) < vocab_size
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bitmask")

    def submit(self, matchers: Sequence[Matcher | None]) -> Future[FilledMask] | None:
        """Start filling; None when no row needs a mask."""
        if not self._has_holes and not any(matchers):
            return None
        return self._worker.submit(self._fill, matchers)

    def allowed_ids_are_within(self, matcher: Matcher, ids: set[int]) -> bool:
        """Whether the matcher allows nothing but (some of) these ids now."""
        bitmask = self._fill([matcher]).bitmask[0]
        others = bitmask & ~pack_bits(32 * len(bitmask), sorted(ids))
        return not others.any()

    def close(self) -> None:
        self._worker.shutdown()

    def _fill(self, matchers: Sequence[Matcher | None]) -> FilledMask:
        bitmask = np.tile(self._existing, (len(matchers), 1))
        temperatures: dict[int, float] = {}
        errors: dict[int, str] = {}
        for row, matcher in enumerate(matchers):
            if matcher is None:
                continue
            try:
                if matcher.fill_next_token_bitmask(bitmask, row):
                    bitmask[row] &= self._existing
                else:
                    bitmask[row] = self._existing
                if (temperature := matcher.temperature) is not None:
                    temperatures[row] = min(temperature, _HOTTEST)
            except Exception as error:  # whatever it is, it ends this row's request only
                errors[row] = f"the grammar matcher failed: {type(error).__name__}: {error}"
        return FilledMask(bitmask, temperatures, errors)


def pack_bits(size: int, ids: Sequence[int]) -> Bitmask:
    """int32 words with the bits of `ids` set, for ids below `size`."""
    bits = np.zeros(-(-size // 32) * 32, dtype=np.uint8)
    bits[[i for i in ids if 0 <= i < size]] = 1
    return np.packbits(bits, bitorder="little").view(np.int32)
