"""The sampler: filters, the mask, greedy rows, seeds, faults of single rows."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.sampler import RowSampling, Sampler, SampleResult, SamplingParams, uniform_number

GREEDY = SamplingParams(temperature=0)


def sample(
    logits: torch.Tensor, params: SamplingParams, position: int = 0, allowed: list[int] | None = None
) -> SampleResult:
    sampler = Sampler(logits.shape[-1])
    rows = [RowSampling(params, position)] * logits.shape[0]
    bitmask = None if allowed is None else np.tile(bits(logits.shape[-1], allowed), (logits.shape[0], 1))
    return sampler.sample(logits, sampler.prepare(rows), bitmask)


def bits(size: int, allowed: list[int]) -> np.ndarray:
    words = np.zeros(-(-size // 32), dtype=np.uint32)
    for token in allowed:
        words[token // 32] |= np.uint32(1 << (token % 32))
    return words.view(np.int32)


def support(logits: list[float], params: SamplingParams, draws: int = 400) -> set[int]:
    """The tokens that come up in many draws."""
    sampler = Sampler(len(logits))
    rows = [RowSampling(replace(params, seed=s), 0) for s in range(draws)]
    return set(sampler.sample(torch.tensor([logits] * draws), sampler.prepare(rows)).token_ids)


def test_temperature_zero_takes_the_most_likely() -> None:
    assert sample(torch.tensor([[0.0, 3.0, 2.0], [5.0, 3.0, 2.0]]), GREEDY).token_ids == [1, 0]


def test_the_least_temperature_is_greedy_too() -> None:
    assert support([0.0, 3.0, 2.999], SamplingParams(temperature=5e-324)) == {1}


def test_frequencies_follow_the_probabilities() -> None:
    probabilities = [0.5, 0.3, 0.15, 0.05]
    sampler = Sampler(4)
    rows = [RowSampling(SamplingParams(seed=1), position) for position in range(20000)]
    logits = torch.tensor([probabilities]).log().expand(20000, -1)
    counts = Counter(sampler.sample(logits, sampler.prepare(rows)).token_ids)
    for token, probability in enumerate(probabilities):
        assert counts[token] / 20000 == pytest.approx(probability, abs=0.015)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (SamplingParams(), {0, 1, 2, 3}),
        (SamplingParams(top_k=2), {1, 3}),
        (SamplingParams(top_k=1, temperature=5), {1}),
        (SamplingParams(top_k=-1), {0, 1, 2, 3}),
        (SamplingParams(top_k=100), {0, 1, 2, 3}),
        (SamplingParams(top_p=0.55), {1, 3}),
        (SamplingParams(top_p=1e-9), {1}),
        (SamplingParams(top_p=0.81), {0, 1, 3}),
        (SamplingParams(min_p=0.3), {0, 1, 3}),
        (SamplingParams(min_p=1.0), {1}),
        (SamplingParams(top_k=3, top_p=0.6, min_p=0.7), {1, 3}),
    ],
)
def test_filters(params: SamplingParams, expected: set[int]) -> None:
    """The probabilities of the tokens are 0.2, 0.4, 0.1, 0.3."""
    assert support([math.log(p) for p in (0.2, 0.4, 0.1, 0.3)], params) == expected


def test_temperature_comes_before_top_p() -> None:
    """At temperature 1/2 the squares 0.04, 0.16, 0.01, 0.09 of 0.3 count: 0.16 alone is more than half."""
    logits = [math.log(p) for p in (0.2, 0.4, 0.1, 0.3)]
    assert support(logits, SamplingParams(temperature=0.5, top_p=0.5)) == {1}
    assert support(logits, SamplingParams(temperature=1.0, top_p=0.5)) == {1, 3}


def test_the_mask_comes_before_the_filters() -> None:
    """The likeliest token is not allowed; top_k 1 takes the likeliest of those that are."""
    logits = torch.tensor([[9.0, 1.0, 2.0]])
    assert sample(logits, SamplingParams(top_k=1), allowed=[1, 2]).token_ids == [2]
    assert sample(logits, SamplingParams(top_p=0.5, seed=3), allowed=[1, 2]).token_ids == [2]
    assert sample(logits, GREEDY, allowed=[1]).token_ids == [1]


def test_a_wide_nucleus_is_found_beyond_the_first_guess() -> None:
    logits = torch.zeros(1, 5000)
    logits[0, :10] = -1.0
    seen = {sample(logits, SamplingParams(top_p=0.999, seed=s)).token_ids[0] for s in range(200)}
    assert len(seen) > 150
    assert min(seen) >= 10


def test_rows_with_different_filters_share_a_batch() -> None:
    logits = torch.tensor([[0.2, 0.4, 0.1, 0.3]]).log().expand(5, -1)
    params = [
        GREEDY,
        SamplingParams(top_k=1),
        SamplingParams(min_p=1),
        SamplingParams(top_p=0.1),
        SamplingParams(seed=4),
    ]
    sampler = Sampler(4)
    prepared = sampler.prepare([RowSampling(p, 7) for p in params])
    together = sampler.sample(logits, prepared).token_ids
    assert together[:4] == [1, 1, 1, 1]
    assert together[4] == sample(logits[:1], params[4], position=7).token_ids[0]


def test_a_temperature_of_the_step_replaces_the_request_s() -> None:
    sampler = Sampler(3)
    logits = torch.zeros(50, 3)
    logits[:, 2] = 0.1
    rows = [RowSampling(SamplingParams(temperature=1, seed=s), 0, temperature=0.0) for s in range(50)]
    assert set(sampler.sample(logits, sampler.prepare(rows)).token_ids) == {2}
    rows = [RowSampling(SamplingParams(temperature=0, seed=s), 0, temperature=2.0) for s in range(50)]
    assert set(sampler.sample(logits, sampler.prepare(rows)).token_ids) == {0, 1, 2}


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_a_masked_token_is_never_sampled(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 70))
    allowed = data.draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True))
    values = st.one_of(st.floats(-50, 50), st.sampled_from([math.inf, -math.inf, -3e38, 3e38, 1e30, -1e30]))
    dtype = data.draw(st.sampled_from([torch.float32, torch.bfloat16, torch.float16]))
    logits = torch.tensor([data.draw(st.lists(values, min_size=size, max_size=size))]).to(dtype)
    params = SamplingParams(
        temperature=data.draw(st.sampled_from([0, 1e-300, 1e-6, 0.5, 1, 100, 1e300])),
        top_k=data.draw(st.integers(-1, size + 1)),
        top_p=data.draw(st.sampled_from([1e-12, 0.5, 0.999999, 1.0])),
        min_p=data.draw(st.sampled_from([0, 1e-6, 0.5, 1.0])),
        seed=data.draw(st.integers(-(2**63), 2**64)),
    )
    result = sample(logits, params, position=data.draw(st.integers(0, 10**6)), allowed=allowed)
    assert result.errors == {}
    assert result.token_ids[0] in allowed


@pytest.mark.parametrize("temperature", [1e-300, 1e-6, 1.0, 1e300])
def test_an_allowed_token_is_sampled_however_small_its_logit_is(temperature: float) -> None:
    params = SamplingParams(temperature=temperature, top_p=1e-12, min_p=1e-6, seed=0)
    result = sample(torch.tensor([[-3e38, 0.0]]), params, position=0, allowed=[0])
    assert (result.token_ids, result.errors) == ([0], {})


def test_not_a_number_is_an_error_of_its_row() -> None:
    logits = torch.tensor([[1.0, 2.0], [math.nan, 2.0], [3.0, 2.0]])
    result = sample(logits, SamplingParams(seed=1, temperature=1e-3))
    assert list(result.errors) == [1]
    assert "not numbers" in result.errors[1]
    assert [result.token_ids[0], result.token_ids[2]] == [1, 0]


def test_not_a_number_outside_of_the_mask_does_no_harm() -> None:
    result = sample(torch.tensor([[math.nan, 2.0, 1.0]]), GREEDY, allowed=[1, 2])
    assert (result.token_ids, result.errors) == ([1], {})


@pytest.mark.parametrize("params", [GREEDY, SamplingParams(), SamplingParams(top_k=2, top_p=0.5, min_p=0.1)])
def test_an_empty_mask_is_an_error(params: SamplingParams) -> None:
    assert sample(torch.zeros(1, 40), params, allowed=[]).errors == {0: "no token is allowed here"}


def test_logits_are_left_as_they_were() -> None:
    logits = torch.tensor([[math.inf, 2.0, -math.inf]])
    kept = logits.clone()
    sample(logits, SamplingParams(top_k=1), allowed=[1])
    sample(logits, SamplingParams())
    assert torch.equal(logits, kept)


def test_tensor_and_array_bitmasks_mean_the_same() -> None:
    sampler = Sampler(40)
    logits = torch.arange(40.0).expand(2, -1)
    prepared = sampler.prepare([RowSampling(GREEDY, 0)] * 2)
    mask = np.stack([bits(40, [3, 31]), bits(40, [32, 5])])
    assert sampler.sample(logits, prepared, mask).token_ids == [31, 32]
    assert sampler.sample(logits, prepared, torch.from_numpy(mask)).token_ids == [31, 32]


def test_the_draw_depends_on_seed_and_position_only() -> None:
    torch.manual_seed(5)
    logits = torch.randn(40, 300)
    params = [
        SamplingParams(seed=s, top_p=0.9 if s % 2 else 1.0, top_k=50 if s % 3 else 0) for s in range(40)
    ]
    sampler = Sampler(300)
    together = sampler.sample(
        logits, sampler.prepare([RowSampling(p, s) for s, p in enumerate(params)])
    ).token_ids
    torch.manual_seed(99)
    alone = [sample(logits[s : s + 1], p, position=s).token_ids[0] for s, p in enumerate(params)]
    assert together == alone


def test_rounding_noise_hardly_ever_changes_the_draw() -> None:
    torch.manual_seed(6)
    logits = torch.randn(4000, 500) * 3
    sampler = Sampler(500)
    prepared = sampler.prepare([RowSampling(SamplingParams(seed=s), 0) for s in range(4000)])
    clean = torch.tensor(sampler.sample(logits, prepared).token_ids)
    noisy = torch.tensor(sampler.sample(logits + 1e-6 * torch.randn_like(logits), prepared).token_ids)
    assert (clean != noisy).sum() <= 2


def test_uniform_numbers_are_uniform_and_unrelated() -> None:
    numbers = np.array([[uniform_number(seed, position) for position in range(100)] for seed in range(100)])
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.histogram(numbers, bins=10, range=(0, 1))[0] == pytest.approx(1000, abs=150)
    assert len(np.unique(numbers)) == 10_000
    # neighbours in either direction do not go together
    assert abs(np.corrcoef(numbers[:, :-1].ravel(), numbers[:, 1:].ravel())[0, 1]) < 0.05
    assert abs(np.corrcoef(numbers[:-1].ravel(), numbers[1:].ravel())[0, 1]) < 0.05


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("top_k", -2),
        ("top_p", 0.0),
        ("top_p", 1.01),
        ("min_p", -0.1),
        ("min_p", 1.1),
    ],
)
def test_senseless_parameters_are_refused(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=field):
        SamplingParams(**{field: value})  # type: ignore[arg-type]
