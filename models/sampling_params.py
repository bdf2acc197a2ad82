"""How one request samples, and what one row of a step is sampled with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from models.logprobs import LogprobsWanted
from models.token_counts import TokenCounts


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How one request samples.

    `temperature` 0 takes the most likely token; `top_k` 0 or -1, `top_p` 1 and `min_p` 0 switch the filter
    off. `repetition_penalty` divides the positive logits of tokens that the prompt or the answer has, and
    multiplies the negative ones; `frequency_penalty` times their number in the answer, and
    `presence_penalty` once, are subtracted from the logits of tokens that the answer has. `logit_bias`
    (id, value) is added. Equal seeds give equal answers; without a seed the caller picks one.
    Raises ValueError.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    bias_ids: npt.NDArray[np.int64] = field(init=False, compare=False, repr=False)
    """Those of `logit_bias`, made once: they are needed in every step."""
    bias_values: npt.NDArray[np.float32] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise ValueError(f"temperature must be a finite number of at least 0, not {self.temperature}")
        if self.top_k < -1:
            raise ValueError(f"top_k must be at least 1 (0 and -1 switch it off), not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, not {self.top_p}")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must be between 0 and 1, not {self.min_p}")
        for name in ("presence_penalty", "frequency_penalty"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name} must be a finite number, not {getattr(self, name)}")
        if not (math.isfinite(self.repetition_penalty) and self.repetition_penalty > 0):
            raise ValueError(f"repetition_penalty must be above 0, not {self.repetition_penalty}")
        if not all(math.isfinite(bias) for _, bias in self.logit_bias):
            raise ValueError("every logit_bias must be a finite number")
        ids, values = zip(*self.logit_bias, strict=True) if self.logit_bias else ((), ())
        object.__setattr__(self, "bias_ids", np.array(ids, dtype=np.int64))
        object.__setattr__(self, "bias_values", np.array(values, dtype=np.float32))

    @property
    def counts_tokens(self) -> bool:
        """Whether the tokens so far change the next one's logits."""
        return self.presence_penalty != 0 or self.frequency_penalty != 0 or self.repetition_penalty != 1


@dataclass(frozen=True, slots=True)
class RowSampling:
    """What one row of a step is sampled with.

    `position` counts the tokens the request has generated so far. `temperature`, when given, replaces that
    of `params` for this step. `params.seed` None counts as 0. `counts` is needed exactly when
    `params.counts_tokens`.
    """

    params: SamplingParams
    position: int
    temperature: float | None = None
    counts: TokenCounts | None = None
    logprobs: LogprobsWanted | None = None

    @property
    def effective_temperature(self) -> float:
        return self.params.temperature if self.temperature is None else self.temperature
