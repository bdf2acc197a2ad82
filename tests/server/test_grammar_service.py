"""Compiling off the loop: once for equal grammars, bounded in number and time."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from grammar_core import Grammar, GrammarCompiler, TokenizerInfo
from grammar_core.deadline import Cancellation, check
from server.constraints import Constraint, Source
from server.constraints.sources import EbnfSource
from server.errors import ApiError
from server.grammar_service import GrammarService
from tests.server.fakes import BYTE_VOCABULARY, FakeCompiler

A, B, C = ('root ::= "a"', 'root ::= "b"', 'root ::= "c"')


@pytest.fixture
def compiler() -> FakeCompiler:
    return FakeCompiler()


@pytest.fixture
def timeout_s() -> float:
    """Tests of the time-out itself set it short."""
    return 60


@pytest.fixture
def service(compiler: FakeCompiler, timeout_s: float) -> Iterator[GrammarService]:
    service = GrammarService(compiler, max_threads=1, max_pending=2, timeout_s=timeout_s, max_bytes=100)
    yield service
    compiler.gate.set()
    service.close()


def constraint(grammar: str) -> Constraint:
    return Constraint("guided_grammar", EbnfSource(grammar))


def compiling(service: GrammarService, grammar: str) -> asyncio.Task[object]:
    return asyncio.create_task(service.compile(constraint(grammar)))


async def error_of(service: GrammarService, grammar: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        await service.compile(constraint(grammar))
    return caught.value


async def started(service: GrammarService, *grammars: str) -> list[asyncio.Task[object]]:
    """The tasks that compile the grammars, all of them waiting."""
    tasks: list[asyncio.Task[object]] = [
        asyncio.create_task(service.compile(constraint(text))) for text in grammars
    ]
    await asyncio.sleep(0.02)
    return tasks


async def test_equal_grammars_share_one_compile(service: GrammarService, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    tasks = await started(service, A, A, A)
    compiler.gate.set()
    first, *others = await asyncio.gather(*tasks)
    assert all(other is first for other in others)
    assert compiler.compiled == [A]


async def test_error_reaches_every_waiter_and_is_not_kept(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    compiler.gate.clear()
    tasks = await started(service, "root ::= x", "root ::= x")
    compiler.gate.set()
    errors = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(error, ApiError) and error.code == "invalid_grammar" for error in errors)
    await error_of(service, "root ::= x")
    assert compiler.compiled == ["root ::= x"] * 2


async def test_waiter_that_leaves_does_not_stop_the_others(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    compiler.gate.clear()
    leaver, stayer = await started(service, A, A)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    compiler.gate.set()
    assert await stayer is not None
    assert compiler.compiled == [A]


async def test_compile_nobody_waits_for_is_not_begun(service: GrammarService, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    running, queued = await started(service, A, B)
    queued.cancel()
    await asyncio.gather(queued, return_exceptions=True)
    compiler.gate.set()
    await running
    await service.compile(constraint(C))
    assert compiler.compiled == [A, C]


async def test_leaver_and_newcomer_of_the_same_queued_grammar(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    compiler.gate.clear()
    running, queued = await started(service, A, B)
    queued.cancel()
    newcomer = compiling(service, B)
    await asyncio.sleep(0.02)
    compiler.gate.set()
    assert await running is not None
    assert await newcomer is not None


async def test_too_many_different_grammars_are_overload(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    compiler.gate.clear()
    tasks = await started(service, A, B)
    assert (await error_of(service, C)).status == 503
    compiler.gate.set()
    await asyncio.gather(*tasks)
    assert await service.compile(constraint(C)) is not None


@pytest.mark.parametrize("timeout_s", [0.2])
async def test_slow_compile_is_the_grammars_fault(service: GrammarService, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    error = await error_of(service, A)
    assert (error.status, error.code, error.param) == (400, "grammar_timeout", "guided_grammar")
    assert "0.2 s" in error.message
    compiler.gate.set()
    assert await service.compile(constraint(A)) is not None


@pytest.mark.parametrize("timeout_s", [0.2])
async def test_slow_queue_is_overload(service: GrammarService, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    errors = await asyncio.gather(
        service.compile(constraint(A)), service.compile(constraint(B)), return_exceptions=True
    )
    assert [error.status for error in errors if isinstance(error, ApiError)] == [400, 503]


async def test_known_grammars_are_served_while_the_pool_is_full(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    compiler.finds_cached = True
    known = await service.compile(constraint(C))
    compiler.gate.clear()
    tasks = await started(service, A, B)
    assert await service.compile(constraint(C)) is known
    assert (await error_of(service, 'root ::= "d"')).status == 503
    compiler.gate.set()
    await asyncio.gather(*tasks)


async def test_a_server_that_ends_lets_nobody_wait(service: GrammarService, compiler: FakeCompiler) -> None:
    compiler.gate.clear()
    tasks = await started(service, A, B)
    service.end_waits()
    async with asyncio.timeout(5):
        results = await asyncio.gather(*tasks, return_exceptions=True)
        results.append(await error_of(service, A))
    errors = [error for error in results if isinstance(error, ApiError)]
    assert [(error.status, "shutting down" in error.message) for error in errors] == [(503, True)] * 3


async def test_size_is_counted_in_bytes(service: GrammarService) -> None:
    assert (await error_of(service, "#" + "é" * 50)).code == "grammar_too_large"
    assert await service.compile(constraint(A + "#" + "é" * 40)) is not None


@pytest.mark.parametrize("timeout_s", [0.6])
async def test_a_compile_that_began_late_is_overload(service: GrammarService, compiler: FakeCompiler) -> None:
    """The second has waited most of the time for the first."""
    first_gate, second_gate = threading.Event(), threading.Event()
    gates = {A: first_gate, B: second_gate}
    compile_source = compiler.compile_source

    def gated(source: Source, cancellation: Cancellation | None = None) -> Any:
        gates[source.text].wait(10)
        return compile_source(source)

    compiler.compile_source = gated  # type: ignore[method-assign]
    first, second = await started(service, A, B)
    await asyncio.sleep(0.4)
    first_gate.set()
    await first
    with pytest.raises(ApiError) as caught:
        await second
    assert (caught.value.status, caught.value.code) == (503, "overloaded")
    second_gate.set()


async def test_nobody_misses_the_error_of_a_compile_that_all_have_left(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    """asyncio would log it as an exception that was never retrieved."""
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    compiler.gate.clear()
    [leaver] = await started(service, "root ::= x")
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    compiler.gate.set()
    while service.in_flight:
        await asyncio.sleep(0.01)
    del leaver
    gc.collect()
    await asyncio.sleep(0.01)
    assert complaints == []


class EndlessSource(EbnfSource):
    """A grammar whose compile ends when it is cancelled, and not before."""

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        while True:
            check()


def endless(grammar: str = A) -> Constraint:
    return Constraint("guided_grammar", EndlessSource(grammar))


@pytest.fixture
def real_service(timeout_s: float) -> Iterator[GrammarService]:
    """Compiles for real, in one thread and without a limit of its own that would come to an end here."""
    compiler = GrammarCompiler(BYTE_VOCABULARY, compile_seconds=1000)
    service = GrammarService(compiler, max_threads=1, max_pending=5, timeout_s=timeout_s, max_bytes=100)
    yield service
    service.close()


async def test_a_compile_that_all_have_left_frees_its_thread(real_service: GrammarService) -> None:
    waiters = [asyncio.create_task(real_service.compile(endless())) for _ in range(2)]
    await asyncio.sleep(0.02)
    for waiter in waiters:
        waiter.cancel()
    await asyncio.gather(*waiters, return_exceptions=True)
    assert real_service.in_flight == 0
    assert await real_service.compile(constraint(B)) is not None  # in the same thread


async def test_a_compile_that_one_has_left_goes_on(real_service: GrammarService) -> None:
    leaver, stayer = (asyncio.create_task(real_service.compile(endless())) for _ in range(2))
    await asyncio.sleep(0.02)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    await asyncio.sleep(0.05)
    assert not stayer.done()
    assert real_service.in_flight == 1
    stayer.cancel()
    await asyncio.gather(stayer, return_exceptions=True)


@pytest.mark.parametrize("timeout_s", [0.2])
async def test_a_compile_that_is_too_slow_frees_its_thread(real_service: GrammarService) -> None:
    with pytest.raises(ApiError) as caught:
        await real_service.compile(endless())
    assert caught.value.code == "grammar_timeout"
    async with asyncio.timeout(30):  # the limit of one wait may pass until the thread is free
        while True:
            with suppress(ApiError):
                assert await real_service.compile(constraint(B)) is not None
                return


async def test_a_newcomer_after_all_have_left_compiles_anew(
    service: GrammarService, compiler: FakeCompiler
) -> None:
    compiler.gate.clear()
    [leaver] = await started(service, A)
    leaver.cancel()
    await asyncio.gather(leaver, return_exceptions=True)
    newcomer = compiling(service, A)
    await asyncio.sleep(0.02)
    compiler.gate.set()
    assert await newcomer is not None
    assert compiler.compiled == [A, A]


async def test_what_runs_is_cancelled_when_the_service_closes(real_service: GrammarService) -> None:
    waiter = asyncio.create_task(real_service.compile(endless()))
    await asyncio.sleep(0.02)
    real_service.close()
    async with asyncio.timeout(10):
        with pytest.raises(ApiError) as caught:
            await waiter
    assert caught.value.status == 503
