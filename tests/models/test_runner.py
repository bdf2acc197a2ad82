"""Sequences that join and leave get the logits that each would get alone, in one plain forward pass."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from models.loading import LoadedModel
from models.runner import Chunk, ModelRunner, UnsupportedModelError
from tests.models.tiny import ARCHITECTURES, VOCAB_SIZE, tiny_loaded, tiny_model


class Churn:
    """Drives a runner with random joins, chunks, batches and leaves, and checks every row of logits."""

    def __init__(self, runner: ModelRunner, reference: Any, seed: int) -> None:
        self.runner, self.reference = runner, reference
        self.random = random.Random(seed)
        self.tokens: dict[int, list[int]] = {}
        self.computed: dict[int, int] = {}
        self.checked = 0

    def join(self, name: int) -> None:
        self.tokens[name] = [self.random.randrange(256) for _ in range(self.random.randint(1, 40))]
        self.computed[name] = 0

    def leave(self) -> None:
        name = self.random.choice(list(self.tokens))
        del self.tokens[name], self.computed[name]
        self.runner.release(name)

    def compute(self) -> None:
        pending = [name for name in self.tokens if len(self.tokens[name]) - self.computed[name] > 1]
        if pending and self.random.random() < 0.7:
            names = self.random.sample(pending, self.random.randint(1, len(pending)))
            lengths = [min(self.random.randint(1, 25), len(self.tokens[n]) - self.computed[n]) for n in names]
        else:
            names = [n for n in self.tokens if len(self.tokens[n]) - self.computed[n] == 1]
            self.random.shuffle(names)
            lengths = [1] * len(names)
        if names:
            self._forward(names, lengths)

    def _forward(self, names: list[int], lengths: list[int]) -> None:
        chunks = [
            Chunk(n, self.computed[n], self.tokens[n][self.computed[n] : self.computed[n] + length])
            for n, length in zip(names, lengths, strict=True)
        ]
        logits = self.runner.forward(chunks)
        for row, (name, length) in enumerate(zip(names, lengths, strict=True)):
            self.computed[name] += length
            self._check(logits[row], self.tokens[name][: self.computed[name]])
            if self.computed[name] == len(self.tokens[name]):
                self.tokens[name].append(self.random.randrange(256))

    def _check(self, logits: torch.Tensor, tokens: list[int]) -> None:
        with torch.inference_mode():
            expected = self.reference(input_ids=torch.tensor([tokens])).logits[0, -1]
        torch.testing.assert_close(logits, expected, atol=2e-4, rtol=2e-3)
        self.checked += 1


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("one_by_one", [True, False], ids=["prompt_by_prompt", "prompts_batched"])
def test_logits_equal_a_plain_forward(architecture: str, one_by_one: bool) -> None:
    runner = ModelRunner(tiny_loaded(architecture), max_batch_size=6)
    runner.computes_prompts_alone = one_by_one
    churn = Churn(runner, tiny_model(architecture), seed=len(architecture))
    for name in range(40):
        if len(churn.tokens) < 6 and churn.random.random() < 0.7:
            churn.join(name)
        elif churn.tokens and churn.random.random() < 0.3:
            churn.leave()
        if churn.tokens:
            churn.compute()
    assert churn.checked > 40


def test_small_cache_is_reshaped_without_loss() -> None:
    """Eight short sequences, then two long ones in the same memory."""
    loaded = tiny_loaded()
    cell = ModelRunner(tiny_loaded(), max_batch_size=1, kv_cache_bytes=1).bytes_per_cell
    runner = ModelRunner(loaded, max_batch_size=8, kv_cache_bytes=8 * 256 * cell)
    assert runner.fits(8, 256)
    assert not runner.fits(8, 257)
    assert runner.fits(4, 512)
    churn = Churn(runner, tiny_model(), seed=3)
    for name in range(8):
        churn.join(name)
    for _ in range(8):
        churn.compute()
    for _ in range(5):
        churn.leave()
    survivor = next(iter(churn.tokens))
    churn.tokens[survivor] += [7] * 300
    for _ in range(30):
        churn.compute()
    assert churn.computed[survivor] > 300


def bits_alone_and_in_batch(loaded: LoadedModel, companions: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    runner = ModelRunner(loaded, max_batch_size=32)
    prompts = [[(7 * i + 11 * n) % 256 for i in range(5 + 3 * n)] for n in range(companions + 1)]

    def run(names: list[int]) -> torch.Tensor:
        for n in names:
            runner.forward([Chunk(n, 0, prompts[n])])
        steps = []
        for step in range(20):
            chunks = [Chunk(n, len(prompts[n]) + step, [(step * 31 + n) % 256]) for n in names]
            steps.append(runner.forward(chunks)[names.index(1)])
        for n in names:
            runner.release(n)
        return torch.stack(steps)

    return list(zip(run([1]), run(list(range(companions + 1))), strict=True))


@pytest.mark.parametrize("companions", [1, 3, 11])
@pytest.mark.parametrize("threads", [1, 2])
def test_company_does_not_change_a_bit(companions: int, threads: int) -> None:
    torch.set_num_threads(threads)
    for alone, together in bits_alone_and_in_batch(tiny_loaded(), companions):
        assert torch.equal(alone, together)


def test_states_that_are_not_numbers_do_not_outlive_their_sequence() -> None:
    loaded = tiny_loaded()
    runner = ModelRunner(loaded, max_batch_size=2)
    clean = runner.forward([Chunk("clean", 0, [1, 2, 3])])
    runner.release("clean")
    with torch.no_grad():
        embedding = loaded.model.get_input_embeddings().weight
        embedding[99] = float("nan")
    poisoned = runner.forward([Chunk("bad", 0, [99] * 40)])
    assert poisoned.isnan().all()
    runner.release("bad", tainted=True)
    runner.forward([Chunk("good", 0, [1, 2])])
    again = runner.forward([Chunk("good", 2, [3])])
    torch.testing.assert_close(again, clean, atol=1e-5, rtol=1e-5)


def test_recurrent_models_are_refused() -> None:
    loaded = tiny_loaded()
    loaded.model.config.layer_types = ["linear_attention", "full_attention"]
    with pytest.raises(UnsupportedModelError, match="linear_attention"):
        ModelRunner(loaded, max_batch_size=2)


def test_models_that_compute_otherwise_through_the_cache_are_refused() -> None:
    loaded = tiny_loaded()
    forward = loaded.model.forward

    def wrong_positions(*args: Any, position_ids: torch.Tensor | None = None, **kwargs: Any) -> Any:
        shifted = None if position_ids is None else position_ids * 3
        return forward(*args, position_ids=shifted, **kwargs)

    loaded.model.forward = wrong_positions
    with pytest.raises(UnsupportedModelError, match="differ"):
        ModelRunner(loaded, max_batch_size=2)


def test_logits_are_as_wide_as_the_model_says() -> None:
    runner = ModelRunner(tiny_loaded(), max_batch_size=2)
    assert runner.forward([Chunk("a", 0, [1, 2, 3])]).shape == (1, VOCAB_SIZE)
