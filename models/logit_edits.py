"""Penalties and biases: what a request changes of the logits before the mask and the filters.

Only the few logits that change are touched, all rows of a batch at once, and nothing is done for a batch
in which no row asks for it. The changes are finite, so that none of them can beat a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from models.sampling_params import RowSampling

_LARGEST_FACTOR = 1e30


@dataclass(frozen=True, slots=True)
class Penalties:
    """One entry for each token that a row has seen; all [entries], on the device."""

    rows: torch.Tensor
    ids: torch.Tensor
    factor: torch.Tensor
    subtrahend: torch.Tensor


@dataclass(frozen=True, slots=True)
class Biases:
    """One entry for each biased token of a row; all [entries], on the device."""

    rows: torch.Tensor
    ids: torch.Tensor
    values: torch.Tensor


@dataclass(frozen=True, slots=True)
class LogitEdits:
    """What a batch changes of its logits."""

    penalties: Penalties | None
    biases: Biases | None

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """A changed copy of `logits` [batch, vocab] float32: repetition, frequency, presence, bias."""
        logits = logits.clone()
        if self.penalties is not None:
            place = (self.penalties.rows, self.penalties.ids)
            seen = logits[place]
            divided = torch.where(seen > 0, seen / self.penalties.factor, seen * self.penalties.factor)
            logits[place] = divided - self.penalties.subtrahend
        if self.biases is not None:
            logits.index_put_((self.biases.rows, self.biases.ids), self.biases.values, accumulate=True)
        return logits


def prepare_edits(rows: Sequence[RowSampling], device: torch.device) -> LogitEdits | None:
    """The changes of a batch, or None if no row asks for any."""
    penalised = [(i, row) for i, row in enumerate(rows) if row.params.counts_tokens]
    biased = [(i, row) for i, row in enumerate(rows) if row.params.logit_bias]
    if not penalised and not biased:
        return None
    return LogitEdits(
        _penalties(penalised, device) if penalised else None, _biases(biased, device) if biased else None
    )


def _penalties(rows: Sequence[tuple[int, RowSampling]], device: torch.device) -> Penalties:
    indices, ids, factors, subtrahends = [], [], [], []
    for index, row in rows:
        if row.counts is None:
            raise ValueError("a row with penalties needs the counts of its tokens")
        counts, params = row.counts.counts, row.params
        indices.append(np.full(len(counts), index))
        ids.append(row.counts.ids)
        factor = min(max(params.repetition_penalty, 1 / _LARGEST_FACTOR), _LARGEST_FACTOR)
        factors.append(np.full(len(counts), factor, dtype=np.float32))
        subtrahends.append(params.frequency_penalty * counts + params.presence_penalty * (counts > 0))
    return Penalties(
        _tensor(indices, np.int64, device),
        _tensor(ids, np.int64, device),
        _tensor(factors, np.float32, device),
        _tensor(subtrahends, np.float32, device),
    )


def _biases(rows: Sequence[tuple[int, RowSampling]], device: torch.device) -> Biases:
    indices = [np.full(len(row.params.bias_ids), index) for index, row in rows]
    return Biases(
        _tensor(indices, np.int64, device),
        _tensor([row.params.bias_ids for _, row in rows], np.int64, device),
        _tensor([row.params.bias_values for _, row in rows], np.float32, device),
    )


def _tensor(parts: Sequence[npt.NDArray[np.generic]], dtype: type, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(dtype)).to(device, non_blocking=True)
