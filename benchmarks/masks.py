"""Compares mask engines on the Qwen3 vocabulary: ``python -m benchmarks.masks``.

For each grammar the same tokens are replayed on every engine, in one process. A step is one call that fills
the mask and one that accepts the next token, both from Python; the cost of reading the clock is subtracted.
"""

from __future__ import annotations

import datetime
import platform
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.engines import BUILDERS, Engine, Row, build_engines, empty_row
from benchmarks.grammars import BenchGrammar, load_grammars
from benchmarks.measure import (
    Failure,
    Measurement,
    Pass,
    differing_steps,
    measure,
    timer_overhead_ns,
    warm_up,
)
from benchmarks.tokenisations import TokenIndex, tokenise
from benchmarks.vocabulary import BenchVocabulary, load_qwen3

_RESULTS = Path(__file__).parent / "results"
_PACKAGES = ("xgrammar", "llguidance", "glrmask", "outlines_core")
_HEADINGS = (
    *("engine", "compile + first mask ms", "again ms", "cold mean µs", "p50", "p99", "max"),
    *("warm mean µs", "p50", "p99", "max", "steps", "refused", "masks that differ", "memory MB"),
)


def run(
    grammar: Annotated[list[str] | None, typer.Option(help="only these grammars")] = None,
    engine: Annotated[list[str] | None, typer.Option(help=f"only these of {', '.join(BUILDERS)}")] = None,
    limit: Annotated[float, typer.Option(help="seconds that each replay of an engine may take")] = 10.0,
    write: Annotated[str | None, typer.Option(help="also write results/NAME.md")] = None,
) -> None:
    """Time every engine on every grammar and print one table for each grammar."""
    vocabulary = load_qwen3()
    index = TokenIndex(vocabulary.info.text_vocab)
    engines, notes = _ready_engines(engine or list(BUILDERS), vocabulary)
    report = [heading("Masks and their making", vocabulary, limit), *notes]
    print("\n".join(report), flush=True)
    for one in load_grammars():
        if not grammar or one.name in grammar:
            table = section(one, engines, tokenise(one, vocabulary, index), vocabulary, limit)
            print(table, flush=True)
            report.append(table)
    if write:
        _RESULTS.mkdir(exist_ok=True)
        (_RESULTS / f"{write}.md").write_text("\n".join(report) + "\n", encoding="utf-8")


def _ready_engines(names: list[str], vocabulary: BenchVocabulary) -> tuple[list[Engine], list[str]]:
    """Engines that prepare the vocabulary with their first grammar get a small one, so none pays later."""
    engines = []
    notes = []
    begin = time.perf_counter()
    for name, built in build_engines(names, vocabulary):
        if isinstance(built, str):
            notes.append(f"- {name}: {built}")
        else:
            warm_up(built)
            engines.append(built)
            notes.append(f"- {built.name}: vocabulary ready in {time.perf_counter() - begin:.2f} s")
        begin = time.perf_counter()
    return engines, notes


def heading(title: str, vocabulary: BenchVocabulary, limit: float) -> str:
    """The title of a report, and what it was measured with."""
    return (
        f"# {title}\n\n"
        f"{datetime.date.today()}, Python {platform.python_version()}, {_processor()}. "
        f"Qwen3 vocabulary, {vocabulary.info.vocab_size:,} tokens. {', '.join(map(_version, _PACKAGES))}. "
        f"Clock overhead of {timer_overhead_ns()} ns subtracted; garbage collection off; compilation on one "
        f"thread. A replay ends after {limit:g} s (marked *).\n"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.machine()


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} missing"


def section(
    grammar: BenchGrammar,
    engines: Sequence[Engine],
    sequences: list[list[int]],
    vocabulary: BenchVocabulary,
    limit: float,
) -> str:
    """The table of the engines on one grammar, replaying `sequences` of tokens."""
    results = [measure(engine, grammar, sequences, limit) for engine in engines]
    reference = next((result.rows for result in results if isinstance(result, Measurement)), [])
    text_tokens = _text_row(vocabulary)
    steps = sum(map(len, sequences))
    lines = [
        f"\n## {grammar.title}\n\n{len(sequences)} sequences, {steps:,} tokens\n",
        table_line(_HEADINGS),
        table_line(["-"] + ["-:"] * (len(_HEADINGS) - 1)),
    ]
    lines += [table_line(_cells(r, reference, text_tokens)) for r in results if isinstance(r, Measurement)]
    lines += [f"\n{failure.engine}: {failure.reason}" for failure in results if isinstance(failure, Failure)]
    return "\n".join(lines)


def _text_row(vocabulary: BenchVocabulary) -> Row:
    """The tokens that are text: engines differ in how they treat the others."""
    words = empty_row(vocabulary.info.vocab_size).size
    is_text = np.zeros(words * 32, dtype=np.bool_)
    is_text[: vocabulary.info.vocab_size] = [bool(token) for token in vocabulary.info.text_vocab]
    return np.packbits(is_text, bitorder="little").view(np.int32)


def _cells(result: Measurement, reference: list[Row], text_tokens: Row) -> list[str]:
    compared = min(len(result.rows), len(reference))
    again = "" if result.recompile_ms is None else figure(result.recompile_ms)
    return [
        *(result.engine, figure(result.compile_ms), again),
        *_summary(result.cold),
        *_summary(result.warm),
        f"{len(result.warm.steps):,}{'*' if result.warm.capped else ''}",
        str(result.refused),
        f"{differing_steps(result.rows, reference, text_tokens):,} of {compared:,}",
        "" if result.memory is None else f"{result.memory / 1e6:.2f}",
    ]


def _summary(replay: Pass) -> list[str]:
    steps = replay.steps
    return [figure(x) for x in (steps.mean(), np.median(steps), np.percentile(steps, 99), steps.max())]


def figure(value: float) -> str:
    """A number of a table."""
    return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"


def table_line(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    typer.run(run)
