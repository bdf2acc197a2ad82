"""Logprobs of chosen tokens and of prompts, before and after the mask."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from models.logprobs import LogprobsWanted, TokenLogprobs, prompt_token_logprobs
from models.sampler import RowSampling, Sampler, SamplingParams

PROBABILITIES = (0.2, 0.4, 0.1, 0.3)
LOGITS = torch.tensor([PROBABILITIES]).log() + 7
GREEDY = SamplingParams(temperature=0)


def sample(params: SamplingParams, wanted: LogprobsWanted, mask: int | None = None) -> TokenLogprobs:
    sampler = Sampler(4)
    prepared = sampler.prepare([RowSampling(params, 0, logprobs=wanted)])
    bitmask = None if mask is None else np.array([[mask]], dtype=np.int32)
    return sampler.sample(LOGITS, prepared, bitmask).logprobs[0]


def as_probabilities(top: tuple[tuple[int, float], ...]) -> dict[int, float]:
    return {token: math.exp(logprob) for token, logprob in top}


def test_raw_logprobs_are_the_model_s_own() -> None:
    params = SamplingParams(temperature=0, logit_bias=((2, 50.0),))
    got = sample(params, LogprobsWanted(top=2), mask=0b0111)
    assert (got.token_id, got.rank) == (2, 4)
    assert math.exp(got.logprob) == pytest.approx(0.1)
    assert as_probabilities(got.top) == pytest.approx({1: 0.4, 3: 0.3})


def test_processed_logprobs_are_what_the_draw_is_from() -> None:
    got = sample(SamplingParams(temperature=0.5, seed=1), LogprobsWanted(4, processed=True), mask=0b1011)
    squares = {0: 0.04, 1: 0.16, 3: 0.09}
    assert as_probabilities(got.top) == pytest.approx(
        {2: 0.0, **{token: square / 0.29 for token, square in squares.items()}}
    )
    assert dict(got.top)[2] == -math.inf
    cut = sample(SamplingParams(top_k=1), LogprobsWanted(2, processed=True))
    assert cut.top[0] == (1, 0.0)
    assert cut.top[1][1] == -math.inf


def test_processed_logprobs_of_a_greedy_row_are_at_temperature_one() -> None:
    got = sample(GREEDY, LogprobsWanted(2, processed=True), mask=0b1001)
    assert (got.token_id, got.rank) == (3, 1)
    assert as_probabilities(got.top) == pytest.approx({3: 0.6, 0: 0.4})


def test_only_rows_that_want_them_have_logprobs() -> None:
    sampler = Sampler(4)
    rows = [
        RowSampling(GREEDY, 0),
        RowSampling(GREEDY, 0, logprobs=LogprobsWanted(3)),
        RowSampling(SamplingParams(seed=3), 0, logprobs=LogprobsWanted(0)),
    ]
    result = sampler.sample(LOGITS.expand(3, -1), sampler.prepare(rows))
    assert set(result.logprobs) == {1, 2}
    assert len(result.logprobs[1].top) == 3
    assert result.logprobs[2].top == ()
    assert result.logprobs[2].token_id == result.token_ids[2]


def test_more_than_the_vocabulary_is_all_of_it() -> None:
    assert len(sample(GREEDY, LogprobsWanted(100)).top) == 4


def test_logits_that_are_not_finite_give_numbers() -> None:
    sampler = Sampler(4)
    prepared = sampler.prepare([RowSampling(GREEDY, 0, logprobs=LogprobsWanted(4))])
    logits = torch.tensor([[math.inf, -math.inf, math.nan, 1.0]])
    got = sampler.sample(logits, prepared, np.array([[0b1001]], dtype=np.int32)).logprobs[0]
    assert not any(math.isnan(logprob) for _, logprob in got.top)


def test_prompt_logprobs_are_of_the_tokens_that_came() -> None:
    logits = torch.tensor([PROBABILITIES, PROBABILITIES[::-1]]).log()
    first, second = prompt_token_logprobs(logits, [1, 0], 1)
    assert (first.token_id, first.rank, second.token_id, second.rank) == (1, 1, 0, 2)
    assert [math.exp(first.logprob), math.exp(second.logprob)] == pytest.approx([0.4, 0.3])
    assert as_probabilities(second.top) == pytest.approx({2: 0.4})
    assert len(prompt_token_logprobs(logits, [1], 0)) == 1
    assert prompt_token_logprobs(logits, [], 5) == []
