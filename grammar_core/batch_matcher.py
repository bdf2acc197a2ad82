"""Many matchers at once, on several threads."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from grammar_core import _native
from grammar_core.matcher import GrammarMatcher


class BatchGrammarMatcher:
    """Fills masks and accepts tokens for a list of matchers, on `max_threads` threads without the GIL.

    The matchers must be different objects. "auto" is half of the machine's processors.
    """

    def __init__(self, max_threads: int | Literal["auto"] = "auto") -> None:
        threads = max(1, (os.cpu_count() or 1) // 2) if max_threads == "auto" else max_threads
        if threads < 1:
            raise ValueError(f"max_threads must be at least 1, not {threads}")
        self._pool = _native.ThreadPool(threads)

    def batch_fill_next_token_bitmask(
        self, matchers: Sequence[GrammarMatcher], bitmask: Any, indices: Sequence[int] | None = None
    ) -> None:
        """Write the mask of each matcher into its row of `bitmask`: row i, or row indices[i]."""
        self._pool.fill_masks(list(matchers), bitmask, _rows(matchers, indices))

    def batch_accept_token(self, matchers: Sequence[GrammarMatcher], tokens: Sequence[int]) -> list[bool]:
        """Append a token to each; False for those that refuse it and stay as they were."""
        return self._pool.accept_tokens(list(matchers), list(tokens))

    def batch_accept_string(
        self, matchers: Sequence[GrammarMatcher], texts: Sequence[str | bytes]
    ) -> list[bool]:
        """Append a text to each, all of it or nothing."""
        encoded = [text.encode() if isinstance(text, str) else text for text in texts]
        return self._pool.accept_texts(list(matchers), encoded)

    @staticmethod
    def batch_rollback(matchers: Sequence[GrammarMatcher], num_tokens: int | Sequence[int] = 1) -> None:
        """Undo the last steps of each: the same number, or one for each. RuntimeError, and nothing is
        undone, if one has fewer."""
        steps = [num_tokens] * len(matchers) if isinstance(num_tokens, int) else list(num_tokens)
        if len(steps) != len(matchers):
            raise ValueError("there must be one number of steps for each matcher")
        for matcher, count in zip(matchers, steps, strict=True):
            if count > matcher.step_count:
                raise RuntimeError(f"cannot roll back {count} steps: a history has only {matcher.step_count}")
        for matcher, count in zip(matchers, steps, strict=True):
            matcher.rollback(count)

    @staticmethod
    def batch_fill_temperature(
        matchers: Sequence[GrammarMatcher], temperatures: Any, indices: Sequence[int] | None = None
    ) -> None:
        """Write each matcher's temperature into the array `temperatures`, at i or indices[i]; -1 for none."""
        for matcher, row in zip(matchers, _rows(matchers, indices), strict=True):
            temperature = matcher.temperature
            temperatures[row] = -1.0 if temperature is None else temperature


def _rows(matchers: Sequence[GrammarMatcher], indices: Sequence[int] | None) -> list[int]:
    if indices is None:
        return list(range(len(matchers)))
    if len(indices) != len(matchers):
        raise ValueError("there must be one index for each matcher")
    return list(indices)
