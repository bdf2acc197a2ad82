"""Compiles the grammars of requests: off the event loop, once for equal ones, in bounded time and space.

The compiler keeps finished grammars in its own byte-bounded cache. This service keeps the work in
flight: equal grammars share one compile, the number of threads and of waiting compiles is bounded,
and nobody waits longer than the limit. A compile that has lost all its waiters, because they left or
their time was over, is given up: dropped if it has not begun, else cancelled, which frees its thread
within milliseconds. Who asks for the same grammar later begins a new one.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammar_core.deadline import Cancellation, CancelledError
from grammar_core.errors import GrammarError
from server.backend import Compiler
from server.constraints.constraint import Constraint, Source, SourceError
from server.errors import ApiError, invalid_request, overloaded
from server.metrics import GrammarMetrics

if TYPE_CHECKING:
    from grammar_core import CompiledGrammar


@dataclass
class _Compile:
    """`begins` has the monotonic time at which the compile began, once it has."""

    future: Future[CompiledGrammar]
    begins: list[float]
    cancellation: Cancellation
    waiters: int = 0

    def has_run_for(self, seconds: float) -> bool:
        return bool(self.begins) and time.monotonic() - self.begins[0] >= seconds


class GrammarService:
    """All methods are called on one event loop.

    Args:
        max_threads: Compiles that run at the same time.
        max_pending: Compiles of different grammars that run or wait; more are refused as overload.
        timeout_s: The longest one request waits, in seconds.
        max_bytes: The longest grammar, in UTF-8 bytes.
    """

    def __init__(
        self,
        compiler: Compiler,
        *,
        max_threads: int,
        max_pending: int,
        timeout_s: float,
        max_bytes: int,
        metrics: GrammarMetrics | None = None,
    ) -> None:
        self._metrics = metrics
        self._compiler = compiler
        self._pool = ThreadPoolExecutor(max_threads, thread_name_prefix="grammar")
        self._max_pending = max_pending
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._in_flight: dict[Source, _Compile] = {}
        self._waits: set[asyncio.Timeout] = set()
        self._is_ending = False

    async def compile(self, constraint: Constraint) -> CompiledGrammar:
        """The compiled grammar.

        Raises:
            ApiError: 400 for an invalid grammar, with line and column in the message, for one that is too
                large and for one that takes too long; 503 when too many compiles are waiting, and when the
                server is shutting down.
        """
        source = constraint.source
        self._check_size(constraint)
        cached = self._compiler.find_source(source)
        if self._metrics is not None:
            self._metrics.looked_up(is_hit=cached is not None)
        if cached is not None:
            return cached
        compile_ = self._join(source)
        try:
            return await self._wait_for(compile_)
        except TimeoutError:
            raise self._timed_out(compile_, constraint.param) from None
        except CancelledError:  # by `close`: whoever waits has not left
            raise overloaded("The server is shutting down.") from None
        except GrammarError as error:
            raise _invalid_grammar(str(error), constraint.param) from None
        except SourceError as error:
            raise _invalid_grammar(str(error), error.param) from None
        finally:
            self._leave(source, compile_)

    @property
    def in_flight(self) -> int:
        """Compiles that run or wait."""
        return len(self._in_flight)

    def end_waits(self) -> None:
        """Whoever waits for a compile, now or later, is told at once that the server is shutting down."""
        self._is_ending = True
        for wait in self._waits:
            wait.reschedule(0)

    def close(self) -> None:
        """Drop what waits and cancel what runs."""
        for compile_ in self._in_flight.values():
            compile_.cancellation.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _wait_for(self, compile_: _Compile) -> CompiledGrammar:
        async with asyncio.timeout(0 if self._is_ending else self._timeout_s) as wait:
            self._waits.add(wait)
            try:
                # Shielded, because cancelling one waiter must not cancel the compile the others wait for.
                shared = asyncio.wrap_future(compile_.future)
                shared.add_done_callback(_note_exception)
                return await asyncio.shield(shared)
            finally:
                self._waits.discard(wait)

    def _check_size(self, constraint: Constraint) -> None:
        size = len(constraint.source.text.encode())
        if size > self._max_bytes:
            message = f"The grammar has {size:,} bytes; this server's limit is {self._max_bytes:,} bytes."
            raise invalid_request(message, param=constraint.param, code="grammar_too_large")

    def _join(self, source: Source) -> _Compile:
        compile_ = self._in_flight.get(source)
        if compile_ is None:
            compile_ = self._begin(source)
        compile_.waiters += 1
        return compile_

    def _begin(self, source: Source) -> _Compile:
        if len(self._in_flight) >= self._max_pending:
            raise overloaded("Too many grammars are being compiled; try again in a moment.")
        begins: list[float] = []
        cancellation = Cancellation()
        future = self._pool.submit(self._compile, source, begins, cancellation)
        compile_ = _Compile(future, begins, cancellation)
        self._in_flight[source] = compile_
        loop = asyncio.get_running_loop()
        compile_.future.add_done_callback(lambda _: self._forget_soon(loop, source, compile_))
        return compile_

    def _compile(self, source: Source, begins: list[float], cancellation: Cancellation) -> CompiledGrammar:
        began = time.monotonic()
        begins.append(began)
        try:
            return self._compiler.compile_source(source, cancellation)
        finally:
            if self._metrics is not None:
                self._metrics.compiled(time.monotonic() - began)

    def _forget_soon(self, loop: asyncio.AbstractEventLoop, source: Source, compile_: _Compile) -> None:
        """Runs in the worker's thread, so the dictionary is changed through the loop."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._forget, source, compile_)

    def _forget(self, source: Source, compile_: _Compile) -> None:
        if self._in_flight.get(source) is compile_:
            del self._in_flight[source]

    def _leave(self, source: Source, compile_: _Compile) -> None:
        compile_.waiters -= 1
        if compile_.waiters == 0 and not compile_.future.done():
            compile_.cancellation.cancel()
            compile_.future.cancel()
            self._forget(source, compile_)

    def _timed_out(self, compile_: _Compile, param: str) -> ApiError:
        if self._is_ending:
            return overloaded("The server is shutting down.")
        # One that had to wait for most of the time is not to blame itself.
        if not compile_.has_run_for(self._timeout_s / 2):
            return overloaded("The grammar could not be compiled in time: too many are waiting.")
        message = f"The grammar was not compiled within this server's limit of {self._timeout_s:g} s."
        return invalid_request(message, param=param, code="grammar_timeout")


def _note_exception(future: asyncio.Future[CompiledGrammar]) -> None:
    """Whoever has left a compile does not look at how it ended, and asyncio would log that."""
    if not future.cancelled():
        future.exception()


def _invalid_grammar(message: str, param: str) -> ApiError:
    return invalid_request(message, param=param, code="invalid_grammar")
