"""Which tokens a prompt and its answer have so far, each listed once: what penalties are computed from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_FIRST_CAPACITY = 64


class TokenCounts:
    """Distinct token ids, with how often the answer has them (0: only the prompt does).

    Grows by one token a step; nothing is counted anew.
    """

    def __init__(self, prompt: Sequence[int]) -> None:
        distinct = np.unique(np.asarray(prompt, dtype=np.int64))
        capacity = max(2 * len(distinct), _FIRST_CAPACITY)
        self._ids = np.zeros(capacity, dtype=np.int64)
        self._counts = np.zeros(capacity, dtype=np.float32)
        self._ids[: len(distinct)] = distinct
        self._place = {int(token): place for place, token in enumerate(distinct)}

    def add(self, token_id: int) -> None:
        """One more token of the answer."""
        place = self._place.setdefault(token_id, len(self._place))
        if place == len(self._ids):
            self._ids = np.concatenate([self._ids, np.zeros_like(self._ids)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self._ids[place] = token_id
        self._counts[place] += 1

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        return self._ids[: len(self._place)]

    @property
    def counts(self) -> npt.NDArray[np.float32]:
        return self._counts[: len(self._place)]
