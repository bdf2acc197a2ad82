"""Times one engine on one grammar, and checks that it really masks."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.engines import Compiled, Engine, NotApplicableError, Row
from benchmarks.grammars import BenchGrammar

Microseconds = NDArray[np.float64]
_COMPILATIONS = 3
_SLOW_COMPILE_MS = 2000.0


class Pass(NamedTuple):
    """Steps of one pass over the sequences, in microseconds; ``capped`` when the time limit ended it."""

    steps: Microseconds
    capped: bool


class Measurement(NamedTuple):
    """One cell of the benchmark. Compile times include the first mask, in milliseconds."""

    engine: str
    compile_ms: float
    recompile_ms: float | None
    memory: int | None
    cold: Pass
    warm: Pass
    refused: int
    rows: list[Row]


class Failure(NamedTuple):
    """Why an engine has no figures for a grammar."""

    engine: str
    reason: str


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Garbage is collected before, and not again until the end."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def timer_overhead_ns() -> int:
    """The nanoseconds that two clock readings with nothing between them differ by."""
    clock = time.perf_counter_ns
    differences = []
    for _ in range(20_000):
        before = clock()
        differences.append(clock() - before)
    return sorted(differences)[len(differences) // 2]


def warm_up(engine: Engine) -> None:
    """Compile and fill once with a grammar that is not measured."""
    grammar = BenchGrammar("warm-up", "", 'root ::= "x" [a-y]+', 'start: "x" /[a-y]+/', "x[a-y]+", ())
    try:
        session = engine.compile(grammar).start()
        session.fill()
    except NotApplicableError:
        return


def measure(
    engine: Engine, grammar: BenchGrammar, sequences: Sequence[Sequence[int]], limit_s: float
) -> Measurement | Failure:
    """Compile, replay cold, replay warm, then check. ``limit_s`` bounds each of the three replays."""
    try:
        compiled, compile_ms, recompile_ms = _compile(engine, grammar)
    except NotApplicableError as reason:
        return Failure(engine.name, str(reason))
    except (RuntimeError, ValueError) as error:
        return Failure(engine.name, f"refused: {str(error).strip().splitlines()[0]}")
    with no_garbage_collection():
        cold = replay(compiled, sequences, limit_s)
        warm = replay(compiled, sequences, limit_s)
    refused, rows = _check(compiled, sequences, limit_s)
    memory = compiled.memory() if compiled.memory else None
    return Measurement(engine.name, compile_ms, recompile_ms, memory, cold, warm, refused, rows)


def _compile(engine: Engine, grammar: BenchGrammar) -> tuple[Compiled, float, float | None]:
    """The first time counts what a first request pays; the later ones find the machine's caches warm."""
    compiled, first = _compile_once(engine, grammar)
    if first > _SLOW_COMPILE_MS:
        return compiled, first, None
    again = [_compile_once(engine, grammar) for _ in range(_COMPILATIONS - 1)]
    return again[-1][0], first, min(ms for _, ms in again)


def _compile_once(engine: Engine, grammar: BenchGrammar) -> tuple[Compiled, float]:
    begin = time.perf_counter_ns()
    compiled = engine.compile(grammar)
    session = compiled.start()
    session.fill()
    return compiled, (time.perf_counter_ns() - begin) / 1e6


def replay(compiled: Compiled, sequences: Sequence[Sequence[int]], limit_s: float) -> Pass:
    """Fill and accept each token; a new session for each sequence, whose making is not timed."""
    clock = time.perf_counter_ns
    overhead = timer_overhead_ns()
    end = clock() + int(limit_s * 1e9)
    steps: list[int] = []
    for sequence in sequences:
        fill, accept, _row = compiled.start()  # the row has to live: some engines write to its address
        for token_id in sequence:
            before = clock()
            fill()
            accept(token_id)
            steps.append(clock() - before)
            if before > end:
                return Pass(_microseconds(steps, overhead), capped=True)
    return Pass(_microseconds(steps, overhead), capped=False)


def _microseconds(steps: list[int], overhead: int) -> Microseconds:
    return np.maximum(np.array(steps, dtype=np.float64) - overhead, 0) / 1000


def _check(compiled: Compiled, sequences: Sequence[Sequence[int]], limit_s: float) -> tuple[int, list[Row]]:
    """How many replayed tokens the mask or the engine refused, and the row of every step reached."""
    end = time.monotonic() + limit_s
    refused = 0
    rows = []
    for sequence in sequences:
        session = compiled.start()
        for token_id in sequence:
            session.fill()
            rows.append(session.row.copy())
            allowed = bool(session.row[token_id >> 5] >> (token_id & 31) & 1)
            refused += not (allowed and session.accept(token_id))
            if time.monotonic() > end:
                return refused, rows
    return refused, rows


def differing_steps(rows: list[Row], reference: list[Row], text_tokens: Row) -> int:
    """The steps whose rows differ in tokens that are text, over the steps both have."""
    pairs = zip(rows, reference, strict=False)
    return sum(not np.array_equal(row & text_tokens, other & text_tokens) for row, other in pairs)
