"""Filling the bitmasks of a step."""

from __future__ import annotations

import threading

import numpy as np
import torch

from grammar_core.errors import GrammarLimitError
from models.sampler import RowSampling, Sampler, SamplingParams
from server.engine.constraint import Bitmask, MaskFiller, MaskRow, Matcher, pack_bits
from server.engine.request import Fault


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

    def try_fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        self.fill_next_token_bitmask(bitmask, index)
        return True

    def is_terminated(self) -> bool:
        return False

    def is_completed(self) -> bool:
        return True


class Broken(AllowsIds):
    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        raise RuntimeError("out of memory")


class TooHard(AllowsIds):
    def try_fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        raise GrammarLimitError("the mask takes more than 1 s", limit="time", value=1)


class Slow(AllowsIds):
    def __init__(self, ids: list[int]) -> None:
        super().__init__(ids)
        self.gate = threading.Event()

    def try_fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        return False

    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        assert self.gate.wait(10)
        return super().fill_next_token_bitmask(bitmask, index)


class WithoutTemperature(AllowsIds):
    @property
    def temperature(self) -> float | None:
        raise RuntimeError("too many readings")


def ids_of(row: Bitmask) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")))


def fill(filler: MaskFiller, matchers: list[Matcher]) -> list[MaskRow]:
    rows = [future.result(10) for future in filler.submit(matchers).result(10)]
    filler.close()
    return rows


def every_id(count: int) -> MaskFiller:
    return MaskFiller(count, list(range(count)))


def test_rows_allow_no_ids_that_do_not_exist() -> None:
    filler = MaskFiller(40, [*range(10), 35, 77])
    rows = fill(filler, [AllowsIds([1, 2]), AllowsIds(None), AllowsIds([3, 20])])
    assert [ids_of(row.bits) for row in rows] == [{1, 2}, {*range(10), 35}, {3}]
    assert ids_of(filler.unconstrained.bits) == {*range(10), 35}
    assert filler.has_holes
    assert not every_id(40).has_holes


def test_a_failing_matcher_is_a_fault_of_its_row() -> None:
    good, bad = fill(every_id(40), [AllowsIds([7]), Broken([8])])
    assert (good.fault, ids_of(good.bits)) == (None, {7})
    assert bad.fault is not None
    assert bad.fault.code is None
    assert "out of memory" in bad.fault.message


def test_a_mask_that_allows_nothing_is_a_dead_end() -> None:
    nothing, nothing_that_exists = fill(MaskFiller(64, list(range(10))), [AllowsIds([]), AllowsIds([50])])
    for row in (nothing, nothing_that_exists):
        assert row.fault is not None
        assert row.fault.code == "grammar_dead_end"
        assert "vocabulary" in row.fault.message


def test_a_limit_is_the_grammar_s_fault_and_names_no_class() -> None:
    [row] = fill(every_id(40), [TooHard([1])])
    assert row.fault == Fault("the mask takes more than 1 s", "grammar_limit")


def test_a_slow_mask_does_not_delay_the_others() -> None:
    filler, slow = every_id(40), Slow([5])
    first, second = filler.submit([slow, AllowsIds([6])]).result(10)
    assert second.done()
    assert not first.done()
    slow.gate.set()
    assert ids_of(first.result(10).bits) == {5}
    filler.close()


def test_temperatures_are_read_with_the_masks() -> None:
    rows = fill(every_id(40), [AllowsIds([1]), AllowsIds([2], 0.0), AllowsIds([3], 2.5)])
    assert [row.temperature for row in rows] == [None, 0.0, 2.5]


def test_a_failing_temperature_is_a_fault_of_its_row() -> None:
    good, bad = fill(every_id(40), [AllowsIds([1], 1.0), WithoutTemperature([2])])
    assert (good.temperature, good.fault) == (1.0, None)
    assert bad.fault is not None
    assert "too many readings" in bad.fault.message


def test_an_extreme_temperature_is_hot_and_not_greedy() -> None:
    [row] = fill(every_id(4), [AllowsIds(None, 1e300)])
    sampler, logits = Sampler(4), torch.tensor([[0.0, 9.0, 0.0, 0.0]])
    rows = [RowSampling(SamplingParams(seed=seed), 0, row.temperature) for seed in range(40)]
    assert {sampler.sample(logits, sampler.prepare([r])).token_ids[0] for r in rows} == {0, 1, 2, 3}


def test_whether_only_certain_ids_are_allowed() -> None:
    matchers: list[Matcher] = [AllowsIds([256, 2]), AllowsIds([256, 3]), AllowsIds(None), Broken([2])]
    rows = fill(every_id(300), matchers)
    assert [row.allows_only({2, 256, 5}) for row in rows] == [True, False, False, False]
