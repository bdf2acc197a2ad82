"""Choosing the next token: penalties and biases, mask, temperature, top_k, top_p, min_p, then one draw.

The draw of a row depends on its seed, its position and its own logits only, never on the other rows of
the batch: one uniform number, a hash of (seed, position), inverts the cumulative distribution in
vocabulary order. A rounding difference of the logits of relative size e changes the chosen token with a
probability of about e, so equal seeds give equal answers in batches of any size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch

from models.logit_edits import LogitEdits, prepare_edits
from models.logprobs import LogprobsWanted, TokenLogprobs, token_logprobs
from models.sampling_params import RowSampling, SamplingParams

__all__ = ["PreparedSampling", "RowSampling", "SampleResult", "Sampler", "SamplingParams", "uniform_number"]

_MASK64 = (1 << 64) - 1
_LARGEST_LOGIT = 1e30  # greater logits are cut to this, so that differences of logits stay numbers
_NUCLEUS_GUESS = 256  # a nucleus seldom has more tokens; sorting only so many is much faster


@dataclass(frozen=True, slots=True)
class PreparedSampling:
    """The parameters of a batch on the device; a filter that no row uses is None."""

    inverse_temperature: torch.Tensor  # [batch, 1] float32; 0 marks a greedy row
    uniform: torch.Tensor | None  # [batch, 1] float64 in [0, 1); None when all rows are greedy
    top_k: torch.Tensor | None  # [batch, 1] int64
    top_p: torch.Tensor | None  # [batch, 1] float64
    min_p: torch.Tensor | None  # [batch, 1] float32
    widest_top_k: int
    edits: LogitEdits | None = None
    logprobs: tuple[tuple[int, LogprobsWanted], ...] = ()  # (row, what it wants)


@dataclass(frozen=True, slots=True)
class SampleResult:
    """`token_ids` has one entry a row; the entry of a row in `errors` means nothing.

    `logprobs` has those of the rows that want them.
    """

    token_ids: list[int]
    errors: dict[int, str]
    logprobs: dict[int, TokenLogprobs] = field(default_factory=dict)


def uniform_number(seed: int, position: int) -> float:
    """A number in [0, 1) that depends on nothing but its arguments (two rounds of splitmix64)."""
    mixed = _splitmix64((_splitmix64(seed & _MASK64) + position) & _MASK64)
    return (mixed >> 11) * 2.0**-53


def _splitmix64(value: int) -> int:
    value = (value + 0x9E3779B97F4A7C15) & _MASK64
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK64
    return value ^ (value >> 31)


class Sampler:
    """Samples a batch: `prepare` on the host, while the forward runs, then `sample` on the device."""

    def __init__(self, vocab_size: int, device: torch.device | str = "cpu") -> None:
        self.vocab_size = vocab_size
        self.device = torch.device(device)
        self._shifts = torch.arange(32, dtype=torch.int32, device=self.device)

    def prepare(self, rows: Sequence[RowSampling]) -> PreparedSampling:
        """Turn the rows' parameters into tensors on the device."""
        inverse = [_inverse(row.effective_temperature) for row in rows]
        uniform = [uniform_number(row.params.seed or 0, row.position) for row in rows]
        top_k = [row.params.top_k if row.params.top_k > 0 else self.vocab_size for row in rows]
        top_p = [row.params.top_p for row in rows]
        min_p = [row.params.min_p for row in rows]
        limited = [min(k, self.vocab_size) for k in top_k]
        is_random = any(inverse)
        return PreparedSampling(
            inverse_temperature=self._column(inverse, torch.float32),
            uniform=self._column(uniform, torch.float64) if is_random else None,
            top_k=self._column(limited, torch.int64) if min(limited) < self.vocab_size else None,
            top_p=self._column(top_p, torch.float64) if min(top_p) < 1 else None,
            min_p=self._column(min_p, torch.float32) if max(min_p) > 0 else None,
            widest_top_k=max((k for k in limited if k < self.vocab_size), default=0),
            edits=prepare_edits(rows, self.device),
            logprobs=tuple((i, row.logprobs) for i, row in enumerate(rows) if row.logprobs is not None),
        )

    def sample(
        self,
        logits: torch.Tensor,
        prepared: PreparedSampling,
        bitmask: npt.NDArray[np.int32] | torch.Tensor | None = None,
    ) -> SampleResult:
        """Choose one token a row.

        logits: [batch, vocab_size], any floating type. bitmask: int32 [batch, ceil(vocab_size / 32)], bit set
        = allowed. A row with a NaN among its allowed logits, or with no allowed token, is an error of that
        row alone; a token that is not allowed is never chosen.
        """
        raw = logits.to(device=self.device, dtype=torch.float32)
        allowed = None if bitmask is None else self._unpack(bitmask)
        logits, is_nan = _masked(raw if prepared.edits is None else prepared.edits.apply(raw), allowed)
        chosen = logits.argmax(dim=-1, keepdim=True)
        weights = None
        if prepared.uniform is not None:
            weights = _filtered_probabilities(logits, prepared)
            drawn = _draw(weights, prepared.uniform)
            chosen = torch.where(prepared.inverse_temperature == 0, chosen, drawn)
        is_possible = logits.gather(1, chosen) > -math.inf
        result = _collect(chosen, is_nan, is_possible)
        if prepared.logprobs:
            result.logprobs.update(_logprobs(prepared, chosen.squeeze(1), raw, logits, weights))
        return result

    def _column(self, values: Sequence[float], dtype: torch.dtype) -> torch.Tensor:
        return torch.tensor(values, dtype=dtype).unsqueeze(1).to(self.device, non_blocking=True)

    def _unpack(self, bitmask: npt.NDArray[np.int32] | torch.Tensor) -> torch.Tensor:
        """[batch, words] int32 -> [batch, vocab_size] bool on the device."""
        if self.device.type == "cpu":  # numpy unpacks far faster than tensor operations do
            octets = np.ascontiguousarray(np.asarray(bitmask)).view(np.uint8)
            flags = np.unpackbits(octets, axis=1, count=self.vocab_size, bitorder="little")
            return torch.from_numpy(flags.view(np.bool_))
        words = torch.as_tensor(bitmask).to(self.device, non_blocking=True)
        bits = (words.unsqueeze(-1) >> self._shifts) & 1
        return bits.flatten(1)[:, : self.vocab_size].bool()


def _inverse(temperature: float) -> float:
    """1 / temperature within float32; 0 for greedy sampling."""
    return min(max(1 / temperature, 1e-38), 3e38) if temperature > 1e-38 else 0.0


def _masked(logits: torch.Tensor, allowed: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """The logits with -inf for what is not allowed, all others numbers; and which rows had a NaN there."""
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -_LARGEST_LOGIT)
    # The greatest logit is NaN when any is; allowed ones are cut so that their differences stay numbers.
    is_nan = logits.amax(dim=-1).isnan()
    logits = logits.clamp(-_LARGEST_LOGIT, _LARGEST_LOGIT).nan_to_num_(nan=0.0)
    if allowed is not None:
        logits.masked_fill_(~allowed, -math.inf)
    return logits, is_nan


def _logprobs(
    prepared: PreparedSampling,
    chosen: torch.Tensor,
    raw: torch.Tensor,
    processed: torch.Tensor,
    weights: torch.Tensor | None,
) -> dict[int, TokenLogprobs]:
    """Those of the rows that want them; raw: the model's own logits, processed: after edits and mask."""
    rows = [row for row, _ in prepared.logprobs]
    index = torch.tensor(rows, device=raw.device)
    is_processed = torch.tensor([[wanted.processed] for _, wanted in prepared.logprobs], device=raw.device)
    finite = raw[index].nan_to_num(nan=-_LARGEST_LOGIT).clamp(-_LARGEST_LOGIT, _LARGEST_LOGIT)
    logprobs = torch.where(is_processed, processed[index], finite).log_softmax(dim=-1)
    if weights is not None:
        random = weights[index]
        filtered = (random / random.sum(dim=-1, keepdim=True)).log()
        is_greedy = prepared.inverse_temperature[index] == 0
        logprobs = torch.where(is_processed & ~is_greedy, filtered, logprobs)
    results = token_logprobs(logprobs, chosen[index], [wanted.top for _, wanted in prepared.logprobs])
    return dict(zip(rows, results, strict=True))


def _filtered_probabilities(logits: torch.Tensor, prepared: PreparedSampling) -> torch.Tensor:
    """[batch, vocab] float32 probabilities, zero for what the filters or the mask exclude."""
    # Subtracting the maximum first keeps the most likely token at probability 1 for any temperature.
    greatest = logits.amax(dim=-1, keepdim=True).clamp_min(-_LARGEST_LOGIT)
    scaled = (logits - greatest) * prepared.inverse_temperature
    scaled = scaled.masked_fill(logits == -math.inf, -math.inf)  # -inf * 0 of a greedy row
    if prepared.top_k is not None:
        best = scaled.topk(prepared.widest_top_k, dim=-1).values
        threshold = best.gather(1, (prepared.top_k - 1).clamp_max(prepared.widest_top_k - 1))
        is_off = prepared.top_k > prepared.widest_top_k
        scaled = scaled.masked_fill((scaled < threshold) & ~is_off, -math.inf)
    # Unnormalised: the greatest probability is exactly 1, so min_p is a threshold as it stands.
    weights = scaled.exp()
    if prepared.top_p is not None:
        weights = weights.masked_fill(weights < _nucleus_threshold(weights, prepared.top_p), 0)
    if prepared.min_p is not None:
        weights = weights.masked_fill(weights < prepared.min_p, 0)
    return weights


def _nucleus_threshold(weights: torch.Tensor, top_p: torch.Tensor) -> torch.Tensor:
    """[batch, 1] the smallest weight that belongs to the nucleus: the likeliest tokens that reach top_p.

    Tokens of equal weight at the border all belong. top_p 1 gives 0.
    """
    goal = weights.sum(dim=-1, keepdim=True, dtype=torch.float64) * top_p
    is_off = top_p >= 1
    guess = min(_NUCLEUS_GUESS, weights.shape[-1])
    ordered = weights.topk(guess, dim=-1).values
    reached = ordered.cumsum(dim=-1, dtype=torch.float64) >= goal
    if not bool((reached[:, -1:] | is_off).all()):
        ordered = weights.sort(dim=-1, descending=True).values
        reached = ordered.cumsum(dim=-1, dtype=torch.float64) >= goal
    # Rounding may keep the sum of all from reaching top_p: then all of them are the nucleus.
    reached[:, -1] = True
    first = reached.int().argmax(-1, keepdim=True)
    return ordered.gather(1, first).masked_fill(is_off, 0)


def _draw(weights: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """[batch, 1] the first token whose cumulative weight exceeds `uniform` times the sum."""
    cumulative = weights.cumsum(dim=-1, dtype=torch.float64)
    total = cumulative[:, -1:]
    # The largest uniform number may round to the sum itself, which no token exceeds.
    target = torch.minimum(uniform * total, torch.nextafter(total, torch.zeros_like(total)))
    return torch.searchsorted(cumulative, target, right=True).clamp_max(weights.shape[-1] - 1)


def _collect(chosen: torch.Tensor, is_nan: torch.Tensor, is_possible: torch.Tensor) -> SampleResult:
    columns = torch.stack([chosen.squeeze(1), is_nan.long(), is_possible.squeeze(1).long()])
    token_ids, nan_flags, possible_flags = columns.tolist()
    errors: dict[int, str] = {}
    for row, (nan, possible) in enumerate(zip(nan_flags, possible_flags, strict=True)):
        if nan:
            errors[row] = "the model computed logits that are not numbers"
        elif not possible:
            errors[row] = "no token is allowed here"
    return SampleResult(token_ids, errors)
