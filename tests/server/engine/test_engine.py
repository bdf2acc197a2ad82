"""The whole loop on a tiny model: answers, limits, cancellation, faults."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, cast

import pytest
import torch

from server.engine import (
    ContextLengthError,
    Engine,
    EngineOverloadedError,
    EngineStoppedError,
    GenerationRequest,
)
from server.engine.captures import MAX_CAPTURE_BYTES
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


def digits(count: int, **options: Any) -> FakeGrammar:
    return FakeGrammar([DIGITS] * count, **options)


def mixed_requests(count: int) -> list[GenerationRequest]:
    """Constrained and free, short and long, greedy and random, with stop strings and without."""
    requests = []
    for i in range(count):
        grammar = digits(i % 7 + 1) if i % 3 else None
        requests.append(
            request(
                "prompt " * (i % 5 + 1) + str(i),
                max_tokens=5 + i % 11,
                grammar=grammar,
                seed=i,
                temperature=(0.0, 0.7, 1.5)[i % 4 % 3],
                stop=("5",) if i % 8 == 1 else (),
            )
        )
    return requests


def check(req: GenerationRequest, got: Answer) -> None:
    assert got.last.error is None
    assert len(got.token_ids) <= req.max_tokens
    if req.grammar is not None:
        assert all(c in "0123456789" for c in got.text)
    if req.stop:
        assert "5" not in got.text
    if got.last.finish_reason == "length":
        assert len(got.token_ids) == req.max_tokens


def test_thirty_two_mixed_requests_at_once_equal_each_alone() -> None:
    requests = mixed_requests(32)
    with running_engine(max_batch_size=32) as engine:
        together = answers(engine, requests)
        alone = [answers(engine, [r])[0] for r in requests]
    for req, got in zip(requests, together, strict=True):
        check(req, got)
    assert together == alone
    assert {got.last.finish_reason for got in together} == {"stop", "length"}


def test_a_small_cache_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sequences wait for room, and are thrown out and computed again."""
    requests = [request("p" * (60 + 31 * i), max_tokens=250, seed=i) for i in range(5)]
    with running_engine() as engine:
        expected = answers(engine, requests)
        cell = engine._runner.bytes_per_cell
    with running_engine(kv_cache_bytes=2 * 512 * cell) as engine:
        preemptions: list[None] = []
        preempt = engine._scheduler.preempt_youngest

        def counted() -> None:
            preempt()
            preemptions.append(None)

        monkeypatch.setattr(engine._scheduler, "preempt_youngest", counted)
        assert answers(engine, requests) == expected
    assert preemptions


def test_a_complete_grammar_allows_only_the_stop_token() -> None:
    with running_engine() as engine:
        got = answers(engine, [request(grammar=digits(4), max_tokens=50)])[0]
    assert len(got.text) == 4
    assert got.token_ids[-1] == EOS
    assert (got.last.finish_reason, got.last.stop_reason) == ("stop", None)


def test_masks_are_filled_in_another_thread_than_the_loop_s() -> None:
    matchers = []

    def remember(grammar: FakeGrammar) -> FakeMatcher:
        matchers.append(FakeMatcher(grammar))
        return matchers[-1]

    with running_engine(matcher_factory=remember) as engine:
        answers(engine, [request(grammar=digits(3))])
        loop = engine._thread
    assert loop is not None
    assert len(matchers[0].threads) == 1
    assert matchers[0].threads.isdisjoint({loop.ident, threading.get_ident()})


@pytest.mark.parametrize(
    ("max_tokens", "optional_after", "reason"),
    [(3, None, "length"), (4, None, "stop"), (4, 2, "stop"), (3, 2, "length"), (5, None, "stop")],
)
def test_a_budget_that_cuts_nothing_off_is_a_stop(
    max_tokens: int, optional_after: int | None, reason: str
) -> None:
    grammar = digits(4, optional_after=optional_after)
    with running_engine() as engine:
        # Without a bias the model may choose the stop token early where that is allowed.
        results = [
            answers(engine, [request(grammar=grammar, max_tokens=max_tokens, seed=s)])[0] for s in range(4)
        ]
    full = [r for r in results if EOS not in r.token_ids[:-1] and len(r.text) == min(max_tokens, 4)]
    assert full
    assert {r.last.finish_reason for r in full} == {reason}


def test_free_answers_never_have_ids_without_a_token() -> None:
    loaded = tiny_loaded()
    with torch.no_grad():  # the model would always choose the padding ids
        loaded.model.lm_head.weight[EOS + 2 :] *= 50
    engine = Engine(loaded, ByteVocabulary(), matcher_factory=FakeMatcher)
    engine.start()
    got = answers(engine, [request(seed=s, max_tokens=20) for s in range(4)])
    engine.stop()
    assert all(token <= EOS + 1 for a in got for token in a.token_ids)


def test_stop_strings_and_stop_ids() -> None:
    with running_engine() as engine:
        free = answers(engine, [request(max_tokens=30, temperature=0)])[0]
        characters = free.text
        assert len(characters) > 6
        stop = characters[3:5]
        end = characters.find(stop)
        cut = answers(engine, [request(max_tokens=30, temperature=0, stop=(stop, "never there"))])[0]
        token = free.token_ids[4]
        by_id = answers(engine, [request(max_tokens=30, temperature=0, stop_token_ids=(token,))])[0]
    assert cut.text == characters[:end]
    assert (cut.last.finish_reason, cut.last.stop_reason) == ("stop", stop)
    assert by_id.token_ids == free.token_ids[: free.token_ids.index(token) + 1]
    assert (by_id.last.finish_reason, by_id.last.stop_reason) == ("stop", token)


def test_without_a_seed_answers_differ() -> None:
    with running_engine() as engine:
        texts = {a.text for a in answers(engine, [request(seed=None, temperature=2.0) for _ in range(6)])}
    assert len(texts) > 1


def test_max_tokens_is_cut_to_the_context() -> None:
    with running_engine() as engine:
        got = answers(engine, [request("x" * (engine.max_context - 3), max_tokens=1000)])[0]
    assert len(got.token_ids) <= 3


# --- rule temperatures


def differing(texts: list[str]) -> list[bool]:
    """Position by position, whether the texts differ."""
    return [len(set(characters)) > 1 for characters in zip(*texts, strict=True)]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_rule_s_temperature_replaces_the_request_s_while_it_is_active(temperature: float) -> None:
    grammar = digits(12, temperatures=(*[0.0] * 3, *[100.0] * 3, *[0.0] * 3))
    requests = [request(grammar=grammar, seed=s, temperature=temperature) for s in range(12)]
    with running_engine() as engine:
        texts = [got.text[:12] for got in answers(engine, requests)]
    assert differing(texts)[:6] == [False] * 3 + [True] * 3
    assert len({text[3:6] for text in texts}) > 6
    # Greedy again, each after its own digits; then the request's temperature.
    for text in texts:
        assert {other[6:9] for other in texts if other[3:6] == text[3:6]} == {text[6:9]}
    tails = {text[9:] for text in texts}
    assert (len(tails) < 12) if temperature == 0 else (len(tails) > 6)


def test_a_rule_s_temperature_is_of_its_own_request_only() -> None:
    hot = request(grammar=digits(6, temperatures=(100.0,) * 6), temperature=0)
    others = [request(grammar=digits(6), temperature=0, seed=s) for s in range(3)] + [request(temperature=0)]
    with running_engine() as engine:
        expected = answers(engine, others)
        assert answers(engine, [hot, *others, hot])[1:-1] == expected


# --- captures


def test_captures_come_with_the_last_delta_when_they_are_wanted() -> None:
    with running_engine() as engine:
        wanted, unwanted = answers(
            engine, [request(grammar=digits(4), return_captures=True), request(grammar=digits(4))]
        )
    assert wanted.last.finish_reason == "stop"
    assert wanted.last.captures == tuple(("step", character.encode()) for character in wanted.text)
    assert unwanted.text == wanted.text
    assert unwanted.last.captures is None


@pytest.mark.parametrize(("options", "reason"), [({"max_tokens": 3}, "length"), ({"stop": ("5",)}, "stop")])
def test_an_answer_that_ends_early_has_the_captures_so_far(options: dict[str, Any], reason: str) -> None:
    grammar = FakeGrammar(
        [frozenset({ord("4")}), frozenset({ord("3")}), frozenset({ord("5")}), DIGITS, DIGITS]
    )
    with running_engine() as engine:
        got = answers(engine, [request(grammar=grammar, return_captures=True, **options)])[0]
    assert got.last.finish_reason == reason
    assert got.last.captures == (("step", b"4"), ("step", b"3"), ("step", b"5"))


def test_captures_beyond_the_limit_are_an_error() -> None:
    grammar = digits(4, capture="x" * (MAX_CAPTURE_BYTES // 4))
    with running_engine() as engine:
        bad, good = answers(
            engine,
            [
                request(grammar=grammar, return_captures=True),
                request(grammar=digits(4), return_captures=True),
            ],
        )
    assert (bad.last.finish_reason, bad.last.captures) == ("error", None)
    assert bad.last.error_code == "grammar_limit"
    assert "captures take" in str(bad.last.error).lower()
    assert good.last.error is None


# --- slow masks


def slow(count: int, at: set[int], **options: Any) -> FakeGrammar:
    """Digits; the masks of the steps `at` take until the gate is opened."""
    return digits(count, slow_at=frozenset(at), **options)


@pytest.mark.parametrize("step", [0, 2])
@pytest.mark.parametrize("kv_columns", [None, 512])
def test_a_slow_mask_delays_nobody_else_and_changes_no_answer(step: int, kv_columns: int | None) -> None:
    grammar = slow(5, {step})
    others = [request(f"other {i}", grammar=digits(6), seed=i, max_tokens=20) for i in range(3)]
    others.append(request("free", max_tokens=200))

    async def main(engine: Engine) -> tuple[Answer, list[Answer]]:
        held = asyncio.ensure_future(answer(engine.submit(request(grammar=grammar))))
        await asyncio.sleep(0.05)
        rest = await asyncio.gather(*[answer(engine.submit(r)) for r in others])
        assert not held.done()
        grammar.gate.set()
        return await held, rest

    with running_engine() as engine:
        expected = answers(engine, [request(grammar=digits(5)), *others])
        cell = engine._runner.bytes_per_cell
    # With a cache for two sequences the held one is in the others' way, but takes its place back.
    options = {} if kv_columns is None else {"kv_cache_bytes": 2 * kv_columns * cell}
    with running_engine(**options) as engine:
        held, rest = run(main(engine))
        assert (engine.running, engine.waiting) == (0, 0)
    assert [held, *rest] == expected


def test_slow_masks_alone_and_in_a_batch_give_equal_answers() -> None:
    requests = [request(f"p{i}", grammar=slow(6, {i % 3, 4}), seed=i, max_tokens=20) for i in range(6)]
    for one in requests:
        cast(FakeGrammar, one.grammar).gate.set()
    plain = [request(f"p{i}", grammar=digits(6), seed=i, max_tokens=20) for i in range(6)]
    with running_engine() as engine:
        together = answers(engine, requests)
        assert together == [answers(engine, [one])[0] for one in requests]
        assert together == answers(engine, plain)


def test_a_cancelled_sequence_with_a_slow_mask_frees_its_place_at_once() -> None:
    grammar = slow(5, {1})

    async def main(engine: Engine) -> Answer:
        stream = engine.submit(request(grammar=grammar))
        assert (await anext(stream)).text
        await asyncio.sleep(0.05)
        stream.cancel()
        return await answer(engine.submit(request(grammar=digits(3))))

    with running_engine(max_batch_size=1) as engine:
        assert run(main(engine)).last.finish_reason == "stop"
        assert engine.running == 0
        grammar.gate.set()
        assert answers(engine, [request()])[0].last.error is None


def test_stopping_does_not_wait_for_a_slow_mask() -> None:
    grammar = slow(5, {1})

    async def main(engine: Engine) -> Answer:
        waiting = asyncio.ensure_future(answer(engine.submit(request(grammar=grammar))))
        await asyncio.sleep(0.1)
        await asyncio.wait_for(asyncio.to_thread(engine.stop), 2)
        return await waiting

    with running_engine() as engine:
        assert run(main(engine)).last.finish_reason == "abort"
    grammar.gate.set()


@pytest.mark.parametrize(("optional_after", "reason"), [(None, "stop"), (2, "length")])
def test_a_slow_mask_at_the_end_of_the_budget(optional_after: int | None, reason: str) -> None:
    at_end = slow(4 if optional_after is None else 6, {4}, optional_after=optional_after)
    plain = digits(len(at_end.steps), optional_after=optional_after)

    async def main(engine: Engine) -> Answer:
        waiting = asyncio.ensure_future(answer(engine.submit(request(grammar=at_end, max_tokens=4))))
        assert (await answer(engine.submit(request(max_tokens=30)))).last.error is None
        assert not waiting.done()
        at_end.gate.set()
        return await waiting

    with running_engine() as engine:
        [expected] = answers(engine, [request(grammar=plain, max_tokens=4)])
        assert run(main(engine)) == expected
    assert expected.last.finish_reason == reason


@pytest.mark.parametrize("slow_at", [frozenset[int](), frozenset({2})])
def test_a_limit_of_the_matcher_is_the_grammar_s_fault(slow_at: frozenset[int]) -> None:
    grammar = digits(5, fault="limit", fault_at=2, slow_at=slow_at)
    grammar.gate.set()
    with running_engine() as engine:
        bad, good = answers(engine, [request(grammar=grammar), request(grammar=digits(5))])
    assert (bad.last.error, bad.last.error_code) == ("the mask takes too long", "grammar_limit")
    assert good.last.error is None


# --- health


def test_a_step_that_takes_too_long_is_unhealthy(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, stuck = threading.Event(), threading.Event()
    monkeypatch.setattr("server.engine.engine._STALL_S", 0.2)

    async def main(engine: Engine) -> None:
        forward = engine._runner.forward

        def wait_for_gate(chunks: Any) -> Any:
            stuck.set()
            assert gate.wait(30)
            return forward(chunks)

        monkeypatch.setattr(engine._runner, "forward", wait_for_gate)
        waiting = asyncio.ensure_future(answer(engine.submit(request(max_tokens=1))))
        await asyncio.to_thread(stuck.wait, 10)
        assert engine.is_healthy
        await asyncio.sleep(0.3)
        assert not engine.is_healthy
        gate.set()
        assert (await waiting).last.error is None
        await asyncio.sleep(0.3)
        assert engine.is_healthy

    with running_engine() as engine:
        run(main(engine))


def test_stopping_does_not_wait_for_a_step_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    gate, stuck = threading.Event(), threading.Event()
    monkeypatch.setattr("server.engine.engine._LONGEST_JOIN_S", 0.1)

    def wait_for_gate(chunks: Any) -> Any:
        stuck.set()
        assert gate.wait(30)
        raise AssertionError("nobody wants the result")

    async def main(engine: Engine) -> Answer:
        waiting = asyncio.ensure_future(answer(engine.submit(request())))
        await asyncio.to_thread(stuck.wait, 10)
        await asyncio.wait_for(asyncio.to_thread(engine.stop), 5)
        return await waiting

    with running_engine() as engine:
        monkeypatch.setattr(engine._runner, "forward", wait_for_gate)
        assert run(main(engine)).last.finish_reason == "abort"
        gate.set()


# --- refusals


def submit_only(engine: Engine, req: GenerationRequest) -> None:
    async def main() -> None:
        engine.submit(req).cancel()

    run(main())


def test_prompts_beyond_the_context_are_refused() -> None:
    with running_engine() as engine:
        with pytest.raises(ContextLengthError, match="512"):
            submit_only(engine, request("x" * 512))
        submit_only(engine, request("x" * 511))


def test_the_cache_s_memory_bounds_the_context_too() -> None:
    with running_engine(kv_cache_bytes=1) as engine:
        assert engine.max_context == 256
        with pytest.raises(ContextLengthError, match="256"):
            submit_only(engine, request("x" * 256))


def test_a_full_queue_is_an_overload_and_recovers() -> None:
    async def main(engine: Engine) -> None:
        streams = [engine.submit(request(max_tokens=100)) for _ in range(5)]
        with pytest.raises(EngineOverloadedError):
            engine.submit(request())
        for stream in streams:
            await answer(stream)
        assert (await answer(engine.submit(request()))).last.error is None

    with running_engine(max_batch_size=2, max_waiting=3) as engine:
        run(main(engine))
        assert (engine.running, engine.waiting) == (0, 0)


def test_an_engine_that_does_not_run_takes_nothing() -> None:
    engine = Engine(tiny_loaded(), ByteVocabulary())
    assert not engine.is_healthy
    with pytest.raises(EngineStoppedError):
        submit_only(engine, request())
    engine.start()
    assert engine.is_healthy
    with pytest.raises(EngineStoppedError, match="once"):
        engine.start()
    engine.stop()
    engine.stop()
    assert not engine.is_healthy
    with pytest.raises(EngineStoppedError):
        submit_only(engine, request())


@pytest.mark.parametrize(
    "wrong",
    [{"prompt_token_ids": []}, {"max_tokens": 0}, {"stop": ("a", "")}, {"return_captures": True}],
    ids=lambda w: next(iter(w)),
)
def test_senseless_requests_are_refused(wrong: dict[str, Any]) -> None:
    good: dict[str, Any] = {"prompt_token_ids": [1], "sampling": request().sampling, "max_tokens": 5}
    with pytest.raises(ValueError, match=r"prompt|max_tokens|stop|captures"):
        GenerationRequest(**(good | wrong))


# --- endings from outside


def test_stopping_ends_every_request_with_abort() -> None:
    async def main(engine: Engine) -> list[Answer]:
        streams = [engine.submit(request(max_tokens=400)) for _ in range(12)]
        waiting = [asyncio.ensure_future(answer(s)) for s in streams]
        await asyncio.sleep(0.05)
        await asyncio.to_thread(engine.stop)
        return list(await asyncio.gather(*waiting))

    with running_engine(max_batch_size=4) as engine:
        reasons = [a.last.finish_reason for a in run(main(engine))]
    assert set(reasons) <= {"abort", "stop", "length"}
    assert "abort" in reasons


@pytest.mark.parametrize("way", ["cancel", "aclose", "context", "task"])
def test_leaving_frees_the_slot(way: str) -> None:
    async def leave(engine: Engine) -> None:
        stream = engine.submit(request("the one that leaves", max_tokens=400, temperature=0))
        if way == "task":
            task = asyncio.ensure_future(answer(stream))
            await asyncio.sleep(0.02)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            return
        assert (await anext(stream)).finish_reason is None
        if way == "cancel":
            stream.cancel()
        elif way == "aclose":
            await stream.aclose()
        else:
            async with stream:
                pass
        assert [delta async for delta in stream] == []

    async def main(engine: Engine) -> Answer:
        await leave(engine)
        # The batch has one place only: this one can be answered only when the other has left it.
        return await answer(engine.submit(request(max_tokens=5)))

    with running_engine(max_batch_size=1) as engine:
        assert run(main(engine)).last.finish_reason in ("stop", "length")
        assert (engine.running, engine.waiting) == (0, 0)
        assert engine._runner._slots == {}


def test_cancelling_a_waiting_request_takes_it_out_of_the_queue() -> None:
    async def main(engine: Engine) -> None:
        long = asyncio.ensure_future(answer(engine.submit(request(max_tokens=100))))
        queued = engine.submit(request(max_tokens=100))
        queued.cancel()
        await long
        assert (await answer(engine.submit(request(max_tokens=2)))).last.error is None

    with running_engine(max_batch_size=1) as engine:
        run(main(engine))
        assert (engine.running, engine.waiting) == (0, 0)


def test_a_closed_event_loop_does_not_hurt_the_others() -> None:
    async def abandon(engine: Engine) -> None:
        engine.submit(request(max_tokens=50))

    with running_engine() as engine:
        run(abandon(engine))
        assert answers(engine, [request()])[0].last.error is None
        assert engine.is_healthy


# --- faults


@pytest.mark.parametrize("fault", ["new", "fill", "temperature", "accept", "refuse"])
@pytest.mark.parametrize("fault_at", [0, 3])
def test_a_failing_matcher_ends_only_its_own_request(fault: str, fault_at: int) -> None:
    if fault == "new" and fault_at:
        fault_at = 0
    broken = request(grammar=digits(8, fault=fault, fault_at=fault_at), max_tokens=20)
    others = [request(grammar=digits(8), seed=s, max_tokens=20) for s in range(3)]
    with running_engine() as engine:
        expected = answers(engine, others)
        bad, *good = answers(engine, [broken, *others])
        assert engine.is_healthy
    assert bad.last.finish_reason == "error"
    assert bad.last.error is not None
    assert ("refused" if fault == "refuse" else "went wrong") in bad.last.error
    assert len(bad.token_ids) == fault_at
    assert good == expected


def test_failing_captures_end_only_their_own_request() -> None:
    broken = request(grammar=digits(3, fault="captures", fault_at=4), return_captures=True)
    with running_engine() as engine:
        bad, good = answers(engine, [broken, request(grammar=digits(3), return_captures=True)])
    assert (bad.last.finish_reason, good.last.finish_reason) == ("error", "stop")
    assert "captures went wrong" in str(bad.last.error)


def test_a_grammar_that_allows_nothing_is_an_error() -> None:
    with running_engine() as engine:
        bad, good = answers(engine, [request(grammar=FakeGrammar([frozenset()] * 2)), request()])
    assert (bad.last.finish_reason, bad.last.error_code) == ("error", "grammar_dead_end")
    assert "vocabulary" in str(bad.last.error)
    assert good.last.error is None


def test_logits_that_are_not_numbers_end_only_their_request() -> None:
    loaded = tiny_loaded()
    with torch.no_grad():
        loaded.model.get_input_embeddings().weight[ord("!")] = float("nan")
    engine = Engine(loaded, ByteVocabulary(), matcher_factory=FakeMatcher)
    engine.start()
    plain = request("abc", grammar=digits(5))
    bad, good = answers(engine, [request("ab!"), plain])
    again = answers(engine, [plain])[0]
    engine.stop()
    assert bad.last.error == "the model computed logits that are not numbers"
    assert good == again
    assert good.last.finish_reason == "stop"


def test_a_failed_forward_pass_ends_its_step_s_requests_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    with running_engine() as engine:
        expected = answers(engine, [request()])
        forward = engine._runner.forward

        def fail_once(chunks: Any) -> Any:
            monkeypatch.setattr(engine._runner, "forward", forward)
            raise MemoryError("no memory left")

        monkeypatch.setattr(engine._runner, "forward", fail_once)
        bad = answers(engine, [request()])[0]
        assert answers(engine, [request()]) == expected
    assert bad.last.finish_reason == "error"
    assert "no memory left" in str(bad.last.error)
