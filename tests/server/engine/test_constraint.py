"""Filling the bitmasks of a step."""

from __future__ import annotations

import numpy as np
import torch

from models.sampler import RowSampling, Sampler, SamplingParams
from server.engine.constraint import Bitmask, MaskFiller, Matcher, pack_bits


class AllowsIds:
    """A matcher that always allows the same ids; None stands for every id."""

    def __init__(self, ids: list[int] | None, temperature: float | None = None) -> None:
        self.ids = ids
        self._temperature = temperature

    @property
    def temperature(self) -> float | None:
        return self._temperature

    def get_captures(self) -> list[tuple[str, bytes]]:
        return []

    def accept_token(self, token_id: int) -> bool:
        return self.ids is None or token_id in self.ids

    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        if self.ids is not None:
            bitmask[index] = pack_bits(32 * bitmask.shape[1], self.ids)
        return self.ids is not None

    def is_terminated(self) -> bool:
        return False

    def is_completed(self) -> bool:
        return True


class Broken(AllowsIds):
    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        raise RuntimeError("out of memory")


class WithoutTemperature(AllowsIds):
    @property
    def temperature(self) -> float | None:
        raise RuntimeError("too many readings")


def ids_of(row: Bitmask) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")))


def fill(filler: MaskFiller, matchers: list[Matcher | None]) -> tuple[list[set[int]], dict[int, str]]:
    future = filler.submit(matchers)
    assert future is not None
    filled = future.result()
    filler.close()
    return [ids_of(row) for row in filled.bitmask], filled.errors


def test_unconstrained_rows_allow_every_id_that_exists() -> None:
    rows, errors = fill(MaskFiller(40, [*range(10), 35, 77]), [None, AllowsIds([1, 2]), AllowsIds(None)])
    assert rows == [{*range(10), 35}, {1, 2}, {*range(10), 35}]
    assert errors == {}


def test_ids_without_a_token_are_never_allowed_even_by_a_matcher() -> None:
    rows, _ = fill(MaskFiller(64, list(range(10))), [AllowsIds([3, 50])])
    assert rows == [{3}]


def test_no_mask_is_needed_without_holes_and_matchers() -> None:
    filler = MaskFiller(40, list(range(40)))
    assert filler.submit([None, None]) is None
    filler.close()


def test_a_failing_matcher_is_an_error_of_its_row() -> None:
    rows, errors = fill(MaskFiller(40, list(range(40))), [AllowsIds([7]), Broken([8]), None])
    assert list(errors) == [1]
    assert "out of memory" in errors[1]
    assert (rows[0], rows[2]) == ({7}, set(range(40)))


def test_temperatures_are_read_with_the_masks() -> None:
    filler = MaskFiller(40, list(range(40)))
    future = filler.submit([AllowsIds([1]), None, AllowsIds([2], 0.0), AllowsIds([3], 2.5)])
    assert future is not None
    assert future.result().temperatures == {2: 0.0, 3: 2.5}
    filler.close()


def test_a_failing_temperature_is_an_error_of_its_row() -> None:
    filler = MaskFiller(40, list(range(40)))
    future = filler.submit([AllowsIds([1], 1.0), WithoutTemperature([2])])
    assert future is not None
    assert future.result().temperatures == {0: 1.0}
    assert list(future.result().errors) == [1]
    assert "too many readings" in future.result().errors[1]
    filler.close()


def test_an_extreme_temperature_is_hot_and_not_greedy() -> None:
    filler = MaskFiller(4, list(range(4)))
    future = filler.submit([AllowsIds(None, 1e300)])
    assert future is not None
    sampler, logits = Sampler(4), torch.tensor([[0.0, 9.0, 0.0, 0.0]])
    temperature = future.result().temperatures[0]
    rows = [RowSampling(SamplingParams(seed=seed), 0, temperature) for seed in range(40)]
    assert {sampler.sample(logits, sampler.prepare([row])).token_ids[0] for row in rows} == {0, 1, 2, 3}
    filler.close()


def test_whether_only_certain_ids_are_allowed() -> None:
    filler = MaskFiller(300, list(range(300)))
    assert filler.allowed_ids_are_within(AllowsIds([256, 2]), {2, 256, 5})
    assert not filler.allowed_ids_are_within(AllowsIds([256, 3]), {2, 256, 5})
    assert not filler.allowed_ids_are_within(AllowsIds(None), {2, 256, 5})
    filler.close()
