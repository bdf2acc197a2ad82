"""What a request may ask for beside its grammar, alone and together with one, on a tiny model."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest
import torch

from models.logprobs import LogprobsWanted
from models.sampler import SamplingParams
from server.engine import Engine, GenerationRequest
from tests.models.tiny import EOS, tiny_loaded
from tests.server.engine.fakes import (
    DIGITS,
    Answer,
    ByteVocabulary,
    FakeGrammar,
    FakeMatcher,
    answer,
    answers,
    request,
    run,
    running_engine,
)


def one(engine: Engine, **options: Any) -> Answer:
    return answers(engine, [request(**options)])[0]


def with_params(params: SamplingParams, prompt: str = "hello", **options: Any) -> GenerationRequest:
    return GenerationRequest(list(prompt.encode()), params, **({"max_tokens": 12} | options))


def digits(count: int, optional_after: int | None = None) -> FakeGrammar:
    return FakeGrammar([DIGITS] * count, optional_after=optional_after)


# --- penalties and bias


def test_a_presence_penalty_makes_every_token_new() -> None:
    params = SamplingParams(temperature=0, presence_penalty=1000)
    with running_engine() as engine:
        free, bound = answers(
            engine,
            [with_params(params, max_tokens=40), with_params(params, grammar=digits(10))],
        )
    assert len(set(free.token_ids)) == len(free.token_ids)
    assert len(set(bound.text)) == 10


def test_penalties_never_beat_the_grammar() -> None:
    """A key that has to come again comes again, however it is penalised."""
    again = FakeGrammar([frozenset({ord("k")})] * 6)
    params = SamplingParams(temperature=1, seed=1, frequency_penalty=1e9, repetition_penalty=1e9)
    with running_engine() as engine:
        [got] = answers(engine, [with_params(params, prompt="kkk", grammar=again)])
    assert (got.text, got.last.finish_reason) == ("kkkkkk", "stop")


def test_penalties_alone_and_in_a_batch_are_equal() -> None:
    requests = [
        with_params(
            SamplingParams(seed=i, frequency_penalty=0.3 * i, repetition_penalty=1 + i / 10),
            prompt="prompt" * i,
            max_tokens=30,
        )
        for i in range(1, 6)
    ]
    with running_engine() as engine:
        assert answers(engine, requests) == [answers(engine, [r])[0] for r in requests]


def test_a_bias_chooses_and_the_mask_wins() -> None:
    params = SamplingParams(temperature=0, logit_bias=((ord("x"), 1000.0), (ord("7"), 500.0)))
    with running_engine() as engine:
        free, bound = answers(
            engine, [with_params(params, max_tokens=4), with_params(params, grammar=digits(4))]
        )
    assert (free.text, bound.text) == ("xxxx", "7777")


# --- bans


def test_allowed_token_ids_are_all_that_comes() -> None:
    letters = tuple(b"abc")
    with running_engine() as engine:
        free = one(engine, allowed_token_ids=letters, max_tokens=30, temperature=2.0)
        both = one(engine, allowed_token_ids=(*b"ab123", EOS), grammar=digits(5))
    assert (set(free.token_ids) <= set(letters), free.last.finish_reason) == (True, "length")
    assert set(both.text) <= set("123")
    assert both.last.finish_reason == "stop"


def test_allowed_token_ids_that_leave_nothing_are_the_request_s_fault() -> None:
    with running_engine() as engine:
        bad, good = answers(
            engine, [request(grammar=digits(4), allowed_token_ids=tuple(b"abc")), request(grammar=digits(4))]
        )
    assert (bad.last.finish_reason, bad.last.error_code) == ("error", "no_token_left")
    assert bad.last.error_field == "allowed_token_ids"
    assert good.last.error is None


def test_bad_words_never_come_up_however_they_would_be_spelled() -> None:
    choices = FakeGrammar([frozenset(b"ab")] * 40)
    with running_engine() as engine:
        without = one(engine, grammar=choices, max_tokens=60, temperature=3.0)
        texts = [
            one(engine, grammar=choices, bad_words=("aa", "bbb"), max_tokens=60, temperature=3.0, seed=s).text
            for s in range(5)
        ]
    assert "aa" in without.text
    assert "bbb" in without.text
    for text in texts:
        assert len(text) == 40
        assert "aa" not in text
        assert "bbb" not in text


def test_bad_words_that_the_grammar_demands_are_the_request_s_fault() -> None:
    foo = FakeGrammar([frozenset({character}) for character in b"foo"])
    with running_engine() as engine:
        got = one(engine, grammar=foo, bad_words=("foo", "é"))
    assert (got.text, got.last.error_code, got.last.error_field) == ("fo", "no_token_left", "bad_words")


# --- ends


@pytest.mark.parametrize(
    "options", [{"min_tokens": 9}, {"ignore_eos": True}, {"ignore_eos": True, "min_tokens": 3}]
)
def test_an_early_end_is_put_off_while_something_else_may_come(options: dict[str, Any]) -> None:
    grammar = digits(10, optional_after=1)
    bias = SamplingParams(temperature=0, logit_bias=((EOS, 1000.0),))
    with running_engine() as engine:
        [plain, late] = answers(
            engine,
            [
                with_params(bias, grammar=grammar, max_tokens=30),
                with_params(bias, grammar=grammar, max_tokens=30, **options),
            ],
        )
    assert len(plain.text) == 1
    assert len(late.text) == (10 if "ignore_eos" in options else 9)
    assert late.last.finish_reason == "stop"


@pytest.mark.parametrize("options", [{"min_tokens": 30}, {"ignore_eos": True}])
def test_a_finished_grammar_ends_the_answer_before_min_tokens(options: dict[str, Any]) -> None:
    with running_engine() as engine:
        got = one(engine, grammar=digits(3), max_tokens=40, **options)
    assert (len(got.text), got.last.finish_reason) == (3, "stop")


def test_free_text_goes_on_to_its_budget() -> None:
    bias = SamplingParams(temperature=0, logit_bias=((EOS, 1000.0),))
    with running_engine() as engine:
        plain, ignoring, least = answers(
            engine,
            [
                with_params(bias),
                with_params(bias, ignore_eos=True),
                with_params(bias, min_tokens=5),
            ],
        )
    assert plain.token_ids == (EOS,)
    assert (len(ignoring.token_ids), ignoring.last.finish_reason) == (12, "length")
    assert EOS not in ignoring.token_ids
    assert (len(least.token_ids), least.token_ids[-1]) == (6, EOS)


def test_stop_ids_and_strings_wait_for_min_tokens() -> None:
    seven = FakeGrammar([frozenset(b"7")] * 8)
    with running_engine() as engine:
        by_id = one(engine, grammar=seven, stop_token_ids=(ord("7"),), min_tokens=3)
        by_text = one(engine, grammar=seven, stop=("77",), min_tokens=3)
        free = one(engine, stop_token_ids=tuple(range(256)), min_tokens=3, max_tokens=6)
    assert (by_id.text, by_id.last.stop_reason) == ("777", ord("7"))
    assert (by_text.text, by_text.last.stop_reason) == ("777", "77")
    assert set(free.token_ids[:3]) == {EOS + 1}


def test_what_stopped_the_answer_can_be_part_of_it() -> None:
    grammar = FakeGrammar([frozenset({character}) for character in b"abcdef"])
    with running_engine() as engine:
        texts = [
            one(engine, grammar=grammar, **options).text
            for options in (
                {"stop": ("cd",)},
                {"stop": ("cd",), "include_stop_text": True},
                {"stop_token_ids": (ord("c"),)},
                {"stop_token_ids": (ord("c"),), "include_stop_text": True},
                {"include_stop_text": True},
                {"include_stop_text": True, "shows_control_tokens": True},
                {"shows_control_tokens": True},
            )
        ]
    assert texts == ["ab", "abcd", "ab", "abc", "abcdef", "abcdef<eos>", "abcdef"]


# --- logprobs


def test_logprobs_come_with_every_token_and_change_none() -> None:
    with running_engine() as engine:
        plain = one(engine, max_tokens=10)
        got = one(engine, max_tokens=10, logprobs=LogprobsWanted(top=3))
        stream = got.last.logprobs
        streamed = run(_logprobs(engine, request(max_tokens=10, logprobs=LogprobsWanted(top=3))))
    assert got.token_ids == plain.token_ids
    assert len(stream) == 1
    assert tuple(entry.token_id for entry in streamed) == got.token_ids
    assert all(len(entry.top) == 3 and math.isfinite(entry.logprob) for entry in streamed)
    assert all(entry.rank == 1 or entry.logprob <= entry.top[0][1] for entry in streamed)


async def _logprobs(engine: Engine, wanted: GenerationRequest) -> list[Any]:
    return [entry async for delta in engine.submit(wanted) for entry in delta.logprobs]


def test_logprobs_are_before_the_mask_unless_wanted_after_it() -> None:
    certain = FakeGrammar([frozenset({7})] * 3)
    with running_engine() as engine:
        raw, processed = (
            run(_logprobs(engine, request(grammar=certain, logprobs=LogprobsWanted(2, processed))))
            for processed in (False, True)
        )
    assert [entry.logprob for entry in processed] == [0.0] * 4
    assert all(entry.logprob < -0.1 for entry in raw)


@pytest.mark.parametrize("length", [1, 2, 40, 300])
def test_prompt_logprobs_are_those_of_one_plain_pass(length: int) -> None:
    prompt = ("Some text to be judged. " * 20)[:length]
    loaded = tiny_loaded()
    ids = torch.tensor([list(prompt.encode())])
    with torch.inference_mode():
        expected = loaded.model(input_ids=ids).logits[0].log_softmax(-1)
    wanted = [float(expected[i, token]) for i, token in enumerate(prompt.encode()[1:])]
    with running_engine() as engine:
        plain = one(engine, prompt=prompt)
        deltas = run(_deltas(engine, request(prompt, prompt_logprobs=2)))
    assert tuple(token for delta in deltas for token in delta.token_ids) == plain.token_ids
    found = deltas[0].prompt_logprobs
    assert [entry.token_id for entry in found] == list(prompt.encode()[1:])
    assert [entry.logprob for entry in found] == pytest.approx(wanted, abs=1e-3)
    assert all(len(entry.top) == 2 for entry in found)
    assert all(delta.prompt_logprobs is None for delta in deltas[1:])


async def _deltas(engine: Engine, wanted: GenerationRequest) -> list[Any]:
    return [delta async for delta in engine.submit(wanted)]


def test_prompt_logprobs_survive_being_thrown_out_of_the_cache() -> None:
    requests = [
        request("p" * (200 + i), max_tokens=90, seed=i, prompt_logprobs=1, temperature=2.0) for i in range(4)
    ]

    async def main(engine: Engine) -> list[list[Any]]:
        return await asyncio.gather(*[_deltas(engine, r) for r in requests])

    with running_engine() as engine:
        expected = run(main(engine))
        cell = engine._runner.bytes_per_cell
    with running_engine(kv_cache_bytes=2 * 512 * cell) as engine:
        got = run(main(engine))
    for one_got, one_expected, r in zip(got, expected, requests, strict=True):
        assert len(one_got[0].prompt_logprobs) == len(r.prompt_token_ids) - 1
        assert [d.token_ids for d in one_got] == [d.token_ids for d in one_expected]


# --- order


def test_smaller_priorities_come_first() -> None:
    order: list[int] = []

    async def note(engine: Engine, priority: int) -> None:
        await answer(engine.submit(request(max_tokens=3, ignore_eos=True, priority=priority)))
        order.append(priority)

    async def main(engine: Engine) -> None:
        first = asyncio.ensure_future(answer(engine.submit(request(max_tokens=100, ignore_eos=True))))
        await asyncio.sleep(0.02)
        await asyncio.gather(first, *[note(engine, priority) for priority in (5, 0, 7, -3, 5)])

    with running_engine(max_batch_size=1) as engine:
        run(main(engine))
    assert order == [-3, 0, 5, 5, 7]


def test_a_request_without_wishes_has_no_state_for_them() -> None:
    engine = Engine(tiny_loaded(), ByteVocabulary(), matcher_factory=FakeMatcher)

    async def main() -> Any:
        return engine._new_sequence(request(grammar=digits(2)))

    sequence = run(main())
    engine._admit(sequence)
    assert (sequence.bans, sequence.counts, sequence.prompt_logprobs) == (None, None, None)
    assert sequence.mask_row(engine._masks.unconstrained) is engine._masks.unconstrained
