"""The seam between the loop and the grammar engine: matchers, and filling their bitmasks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from grammar_core.errors import GrammarLimitError
from server.engine.observer import EngineObserver, NoObserver
from server.engine.request import Fault

Bitmask = npt.NDArray[np.int32]

_SLOW_THREADS = 3
_DEAD_END = Fault(
    "The grammar demands a text here that no token of the model's vocabulary can spell.", "grammar_dead_end"
)


class Matcher(Protocol):
    """What the loop needs of a grammar matcher."""

    def accept_token(self, token_id: int) -> bool: ...

    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool: ...

    def try_fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        """Fill the row if that is quick; False, and the row is as before, if it is not."""

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
class MaskRow:
    """One sequence's mask: int32 words [words], the temperature its rules ask for, and what went wrong."""

    bits: Bitmask
    temperature: float | None = None
    fault: Fault | None = None

    def allows_only(self, ids: set[int]) -> bool:
        """Whether nothing but (some of) these ids is allowed."""
        others = self.bits & ~pack_bits(32 * len(self.bits), sorted(ids))
        return self.fault is None and not others.any()


class MaskFiller:
    """Fills bitmasks in other threads, while the model computes the logits.

    The temperatures of the active rules are read there as well. Masks that need no more than a look-up are
    filled by one worker, one after the other. A mask that has to be worked out may take long: it goes to a
    small pool, so that no other sequence waits for it. A matcher must not be used until its row is done.

    `unconstrained` is the row of a sequence without a matcher. It allows the ids that the tokenizer really
    has: models often have more logits than the tokenizer has tokens. Every other row is cut to these as well.
    """

    def __init__(
        self, vocab_size: int, existing_ids: Sequence[int], observer: EngineObserver | None = None
    ) -> None:
        self._observer = observer or NoObserver()
        self._existing = pack_bits(vocab_size, existing_ids)
        self.has_holes = len({i for i in existing_ids if i < vocab_size}) < vocab_size
        self.unconstrained = MaskRow(self._existing)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bitmask")
        self._pool = ThreadPoolExecutor(max_workers=_SLOW_THREADS, thread_name_prefix="slow-bitmask")

    def submit(self, matchers: Sequence[Matcher]) -> Future[list[Future[MaskRow]]]:
        """Start all; the list comes soon, and those rows of it that need no work are done then."""
        return self._worker.submit(lambda: [self.start(matcher) for matcher in matchers])

    def start(self, matcher: Matcher) -> Future[MaskRow]:
        """Fill one row; done on return unless it has to be worked out. Never raises, nor does the future."""
        bitmask = self._existing[np.newaxis].copy()
        began = time.perf_counter()
        try:
            if not matcher.try_fill_next_token_bitmask(bitmask, 0):
                return self._pool.submit(self._work_out, matcher)
            row = self._row(bitmask[0], matcher)
            self._observer.mask_filled(time.perf_counter() - began, is_computed=False)
            return _done(row)
        except Exception as error:  # whatever it is, it ends this row's request only
            return _done(MaskRow(self._existing, fault=fault_of(error)))

    def close(self) -> None:
        """Returns at once; a mask in the making ends in its thread."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _work_out(self, matcher: Matcher) -> MaskRow:
        bitmask = self._existing[np.newaxis].copy()
        began = time.perf_counter()
        try:
            is_needed = matcher.fill_next_token_bitmask(bitmask, 0)
            row = self._row(bitmask[0] if is_needed else self._existing, matcher)
            self._observer.mask_filled(time.perf_counter() - began, is_computed=True)
            return row
        except Exception as error:
            return MaskRow(self._existing, fault=fault_of(error))

    def _row(self, bits: Bitmask, matcher: Matcher) -> MaskRow:
        bits = bits & self._existing
        if not bits.any():
            return MaskRow(bits, fault=_DEAD_END)
        return MaskRow(bits, matcher.temperature)


def fault_of(error: Exception) -> Fault:
    """What a failure of a matcher means: a limit is the grammar's fault, all else is ours."""
    if isinstance(error, GrammarLimitError):
        return Fault(error.message, "grammar_limit")
    return Fault(f"the grammar matcher failed: {type(error).__name__}: {error}")


def _done(row: MaskRow) -> Future[MaskRow]:
    future: Future[MaskRow] = Future()
    future.set_result(row)
    return future


def pack_bits(size: int, ids: Sequence[int]) -> Bitmask:
    """int32 words with the bits of `ids` set, for ids below `size`."""
    bits = np.zeros(-(-size // 32) * 32, dtype=np.uint8)
    bits[[i for i in ids if 0 <= i < size]] = 1
    return np.packbits(bits, bitorder="little").view(np.int32)
