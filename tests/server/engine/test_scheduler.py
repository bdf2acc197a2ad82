"""Who runs next: turns, limits, order, preemption. No model is involved."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from models.sampler import SamplingParams
from server.engine.request import GenerationRequest
from server.engine.scheduler import Scheduler, Step
from server.engine.sequence import Sequence
from server.engine.stream import TextStream
from server.engine.text_output import TextOutput


def sequence(prompt: int, name: str = "") -> Sequence:
    async def stream() -> TextStream:
        return TextStream(name, lambda: None)

    request = GenerationRequest([1] * prompt, SamplingParams(seed=0), 100, request_id=name)
    return Sequence(request, asyncio.run(stream()), request.sampling, 100, TextOutput([b"x"] * 2))


def complete(step: Step | None) -> Step:
    """What the engine does after a step: count the tokens, append a sampled one where the prompt is done."""
    assert step is not None
    for seq, length in zip(step.sequences, step.lengths, strict=True):
        seq.computed += length
        if seq.uncomputed == 0:
            seq.token_ids.append(1)
    return step


def cells(limit: int) -> Scheduler:
    return Scheduler(8, 16, lambda sequences, longest: sequences * longest <= limit)


def test_a_long_prompt_is_computed_in_chunks() -> None:
    scheduler = cells(1000)
    scheduler.waiting.append(sequence(40))
    assert [complete(scheduler.schedule()).lengths for _ in range(4)] == [[16], [16], [8], [1]]


def test_short_prompts_share_a_step_within_the_padded_limit() -> None:
    scheduler = cells(1000)
    scheduler.waiting.extend([sequence(5), sequence(3), sequence(5), sequence(5)])
    assert complete(scheduler.schedule()).lengths == [5, 3, 5]
    assert complete(scheduler.schedule()).lengths == [1, 1, 1]
    assert complete(scheduler.schedule()).lengths == [5]


def test_prompts_and_decoding_take_turns() -> None:
    scheduler = cells(1000)
    scheduler.waiting.append(sequence(4))
    complete(scheduler.schedule())
    scheduler.waiting.append(sequence(48))
    kinds = [max(complete(scheduler.schedule()).lengths) for _ in range(6)]
    assert kinds == [1, 16, 1, 16, 1, 16]


def test_a_prompt_s_chunks_do_not_depend_on_company() -> None:
    alone, crowded = cells(1000), cells(1000)
    target = sequence(20)
    alone.waiting.append(sequence(20))
    crowded.waiting.extend([sequence(10), target])
    lengths_alone = [complete(alone.schedule()).lengths[0] for _ in range(2)]
    lengths_crowded = []
    while target.uncomputed > 1 or not target.computed:
        step = complete(crowded.schedule())
        lengths_crowded += [n for s, n in zip(step.sequences, step.lengths, strict=True) if s is target]
    assert lengths_alone == lengths_crowded == [16, 4]


def test_a_full_batch_and_a_full_cache_make_requests_wait_in_order() -> None:
    scheduler = Scheduler(2, 16, lambda sequences, longest: sequences * longest <= 30)
    first, second, third = sequence(10), sequence(12), sequence(3)
    scheduler.waiting.extend([first, second, third])
    complete(scheduler.schedule())
    complete(scheduler.schedule())
    complete(scheduler.schedule())
    assert scheduler.running == [first, second]
    assert list(scheduler.waiting) == [third]
    scheduler.remove(first)
    complete(scheduler.schedule())
    complete(scheduler.schedule())
    assert scheduler.running == [second, third]


def test_the_youngest_goes_back_when_decoding_outgrows_the_cache() -> None:
    scheduler = cells(30)
    old, young = sequence(10), sequence(4)
    scheduler.waiting.extend([old, young])
    for _ in range(20):
        complete(scheduler.schedule())
        if scheduler.preempted:
            break
    assert scheduler.preempted == [young]
    assert scheduler.running == [old]
    assert list(scheduler.waiting) == [young]
    assert young.computed == 0
    scheduler.remove(old)
    generated = young.generated
    assert complete(scheduler.schedule()).sequences == [young]
    assert young.generated == generated + 1


def test_removed_sequences_are_gone_from_either_place() -> None:
    scheduler = cells(1000)
    running, waiting = sequence(3), sequence(3)
    scheduler.waiting.append(running)
    complete(scheduler.schedule())
    scheduler.waiting.append(waiting)
    scheduler.remove(running)
    scheduler.remove(waiting)
    assert scheduler.schedule() is None


@pytest.mark.parametrize("prompts", [[1], [1, 1, 1], [17, 1, 30, 2]])
def test_everything_admitted_gets_tokens(prompts: list[int]) -> None:
    scheduler = cells(200)
    sequences = [sequence(n) for n in prompts]
    scheduler.waiting.extend(sequences)
    for _ in range(30):
        complete(scheduler.schedule())
    assert all(s.generated >= 5 for s in sequences)


def test_waiting_sequences_are_in_the_order_of_their_priorities() -> None:
    scheduler = cells(1000)
    for name, priority in [("a", 1), ("b", 0), ("c", 1), ("d", -5), ("e", 0)]:
        added = sequence(3, name)
        added.request = replace(added.request, priority=priority)
        scheduler.add(added)
    assert [s.request.request_id for s in scheduler.waiting] == ["d", "b", "e", "a", "c"]


def test_prompts_whose_logprobs_are_wanted_are_computed_in_shorter_chunks() -> None:
    scheduler = Scheduler(8, 512, lambda sequences, longest: True)
    long = sequence(300)
    scheduler.add(
        Sequence(replace(long.request, prompt_logprobs=0), long.stream, long.sampling, 100, long.text)
    )
    assert complete(scheduler.schedule()).lengths == [128]
