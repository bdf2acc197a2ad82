"""Penalties and biases against the formula written out token by token."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.logit_edits import prepare_edits
from models.sampler import RowSampling, Sampler, SamplingParams
from models.token_counts import TokenCounts

CPU = torch.device("cpu")


def counts_of(prompt: list[int], answer: list[int]) -> TokenCounts:
    counts = TokenCounts(prompt)
    for token in answer:
        counts.add(token)
    return counts


def expected(
    logits: list[float], params: SamplingParams, prompt: list[int], answer: list[int]
) -> list[float]:
    times, bias = Counter(answer), dict(params.logit_bias)
    result = []
    for token, logit in enumerate(logits):
        if token in times or token in prompt:
            logit = logit / params.repetition_penalty if logit > 0 else logit * params.repetition_penalty
        logit -= params.frequency_penalty * times[token]
        logit -= params.presence_penalty * (times[token] > 0)
        result.append(logit + bias.get(token, 0.0))
    return result


tokens = st.lists(st.integers(0, 19), max_size=200)
parameters = st.builds(
    SamplingParams,
    presence_penalty=st.sampled_from([0.0, 1.5, -2.0]),
    frequency_penalty=st.sampled_from([0.0, 0.25, -1.0]),
    repetition_penalty=st.sampled_from([1.0, 1.3, 0.5]),
    logit_bias=st.dictionaries(st.integers(0, 19), st.floats(-100, 100), max_size=4).map(
        lambda bias: tuple(bias.items())
    ),
)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(parameters, tokens, tokens), min_size=1, max_size=5), st.integers(0, 9))
def test_a_batch_is_changed_as_the_formula_says(
    batch: list[tuple[SamplingParams, list[int], list[int]]], seed: int
) -> None:
    logits = torch.randn(len(batch), 20, generator=torch.Generator().manual_seed(seed)) * 5
    rows = [
        RowSampling(params, 0, counts=counts_of(prompt, answer) if params.counts_tokens else None)
        for params, prompt, answer in batch
    ]
    edits = prepare_edits(rows, CPU)
    kept = logits.clone()
    changed = logits if edits is None else edits.apply(logits)
    wanted = [
        expected(row.tolist(), params, prompt, answer)
        for row, (params, prompt, answer) in zip(kept, batch, strict=True)
    ]
    torch.testing.assert_close(changed, torch.tensor(wanted), atol=1e-4, rtol=1e-4)
    assert torch.equal(logits, kept)


def test_rows_without_edits_cost_nothing() -> None:
    assert prepare_edits([RowSampling(SamplingParams(temperature=0.3), 5)] * 3, CPU) is None


def test_counts_grow_beyond_their_first_capacity() -> None:
    counts = counts_of([3, 3, 500], [*range(300), 3])
    times = dict(zip(counts.ids.tolist(), counts.counts.tolist(), strict=True))
    assert times == {**dict.fromkeys(range(300), 1.0), 3: 2.0, 500: 0.0}


def test_penalties_need_counts() -> None:
    with pytest.raises(ValueError, match="counts"):
        prepare_edits([RowSampling(SamplingParams(presence_penalty=1), 0)], CPU)


@pytest.mark.parametrize(
    "params",
    [
        SamplingParams(logit_bias=((0, 1e30),)),
        SamplingParams(repetition_penalty=1e-300),
        SamplingParams(repetition_penalty=1e300),
        SamplingParams(frequency_penalty=-1e30),
        SamplingParams(presence_penalty=1e30),
    ],
)
@pytest.mark.parametrize("logit", [5.0, -5.0, math.inf, -math.inf, 0.0])
def test_no_edit_beats_the_mask(params: SamplingParams, logit: float) -> None:
    """Token 0 is not allowed, however likely it is made; token 1 is, however unlikely."""
    sampler = Sampler(3)
    row = RowSampling(params, 0, counts=counts_of([0, 1], [0, 1]))
    mask = np.array([[0b010]], dtype=np.int32)
    result = sampler.sample(torch.tensor([[logit, logit, 1.0]]), sampler.prepare([row]), mask)
    assert (result.token_ids, result.errors) == ([1], {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("presence_penalty", math.nan),
        ("frequency_penalty", math.inf),
        ("repetition_penalty", 0.0),
        ("repetition_penalty", math.inf),
        ("logit_bias", ((1, math.inf),)),
    ],
)
def test_senseless_edits_are_refused(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field):
        SamplingParams(**{field: value})  # type: ignore[arg-type]
