"""JSON schemas of real use against their instances: ``python -m benchmarks.maskbench corpus.jsonl.gz``.

Each line of the corpus is {name, schema, tests: [{valid, data}]}. Every engine compiles each schema, and
replays the tokens of each instance (`json.dumps(data, ensure_ascii=False)`): a step fills the mask, looks up
the next token in it and accepts it, less the time that reading the clock takes; after the last token the stop
token must be allowed. A schema passes when its valid instances go through and its invalid ones do not.
Engines run in processes of their own, which are ended when one schema takes too long.
"""

from __future__ import annotations

import datetime
import gc
import gzip
import json
import multiprocessing
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.engines import LlguidanceVocabulary, Session, empty_row
from benchmarks.measure import timer_overhead_ns
from benchmarks.vocabulary import BenchVocabulary, load_qwen3

_RESULTS = Path(__file__).parent / "results" / "maskbench.md"
_PERCENTILES = (50, 90, 99, 99.9, 100)
_HEADINGS = ("p50", "p90", "p99", "p99.9", "max")

Instance = tuple[bool, list[int]]


class RefusedError(Exception):
    """The engine does not take the schema; `kind` groups the reasons."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Outcome(NamedTuple):
    """One schema on one engine. Times in microseconds; `verdict` is "passing" or what went wrong."""

    verdict: str
    detail: str
    compile: float
    first_mask: float
    steps: NDArray[np.float64]


Starter = Callable[[], Session]


class OurEngine:
    """This project: keys in any order, objects open unless the schema closes them."""

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._api = import_module("grammar_core")
        self._info = vocabulary.info
        self._compiler = self._api.GrammarCompiler(self._info, cache_enabled=False)

    def compile(self, schema: str) -> Starter:
        try:
            compiled = self._compiler.compile_json_schema(schema, strict_mode=False, any_order=True)
        except self._api.GrammarError as error:
            keyword = getattr(error, "keyword", None) or getattr(error, "limit", None)
            raise RefusedError(keyword or type(error).__name__) from error
        return lambda: self._start(compiled)

    def _start(self, compiled: Any) -> Session:
        matcher = self._api.GrammarMatcher(compiled)
        row = empty_row(self._info.vocab_size)
        return Session(partial(matcher.fill_next_token_bitmask, row, 0), matcher.accept_token, row[0])


class XGrammarEngine:
    """xgrammar, which compiles on demand, so that no schema takes it minutes."""

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._api = import_module("xgrammar")
        self._info = self._api.TokenizerInfo.from_huggingface(vocabulary.tokenizer)
        self._compiler = self._api.GrammarCompiler(
            self._info, max_threads=1, cache_enabled=False, enable_dynamic_compilation=True
        )

    def compile(self, schema: str) -> Starter:
        try:
            compiled = self._compiler.compile_json_schema(schema, strict_mode=False)
        except Exception as error:
            raise RefusedError(type(error).__name__) from error
        return lambda: self._start(compiled)

    def _start(self, compiled: Any) -> Session:
        matcher = self._api.GrammarMatcher(compiled)
        bitmask = self._api.allocate_token_bitmask(1, self._info.vocab_size)
        fill = matcher.fill_next_token_bitmask
        return Session(partial(self._fill, fill, bitmask), matcher.accept_token, bitmask.numpy()[0])

    @staticmethod
    def _fill(fill: Callable[[Any, int], bool], bitmask: Any) -> None:
        if not fill(bitmask, 0):
            bitmask.fill_(-1)


class LlguidanceEngine:
    """llguidance, with complete masks (``no_forcing``)."""

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        self._api = import_module("llguidance")
        self._size = vocabulary.info.vocab_size
        wrapper = self._api.TokenizerWrapper(LlguidanceVocabulary(vocabulary))
        self._tokenizer = self._api.LLTokenizer(wrapper, n_vocab=self._size)

    def compile(self, schema: str) -> Starter:
        grammar = f'%llguidance {{"no_forcing": true}}\nstart: %json {schema}'
        first = self._api.LLMatcher(self._tokenizer, grammar, log_level=0)
        if first.is_error():
            raise RefusedError("error")
        return lambda: self._start(first)

    def _start(self, first: Any) -> Session:
        matcher = first.deep_copy()
        row = empty_row(self._size)[0]
        address, size = row.ctypes.data, row.nbytes
        return Session(partial(matcher.unsafe_compute_mask_ptr, address, size), matcher.consume_token, row)


_ENGINES: dict[str, Callable[[BenchVocabulary], Any]] = {
    "syntagma": OurEngine,
    "xgrammar": XGrammarEngine,
    "llguidance": LlguidanceEngine,
}


def _judge(
    engine: Any, schema: str, instances: Sequence[Instance], stop_ids: Sequence[int], overhead: float
) -> Outcome:
    """`overhead`: microseconds of reading the clock, which are taken off each step."""
    steps: list[float] = []
    begin = time.perf_counter()
    try:
        start = engine.compile(schema)
    except RefusedError as refusal:
        return Outcome("refused", refusal.kind, 0, 0, np.zeros(0))
    compiled = time.perf_counter()
    session = start()  # kept: some engines know only the address of the row
    session.fill()
    first = time.perf_counter()
    verdict = "passing"
    for valid, tokens in instances:
        accepted = _replay(start(), tokens, stop_ids, steps)
        if accepted != valid:
            verdict = "valid refused" if valid else "invalid accepted"
            break
    scale = 1e6
    measured = np.maximum(np.array(steps) * scale - overhead, 0)
    return Outcome(verdict, "", (compiled - begin) * scale, (first - begin) * scale, measured)


def _replay(session: Session, tokens: Sequence[int], stop_ids: Sequence[int], steps: list[float]) -> bool:
    fill, accept, row = session
    words = memoryview(row)  # type: ignore[arg-type]  # whose numbers are at hand faster than numpy's
    for token in tokens:
        begin = time.perf_counter()
        fill()
        allowed = words[token >> 5] >> (token & 31) & 1
        if allowed:
            accept(token)
        steps.append(time.perf_counter() - begin)
        if not allowed:
            return False
    fill()
    return any(row[stop >> 5] >> (stop & 31) & 1 for stop in stop_ids)


# --- processes


def _serve(name: str, connection: Connection) -> None:
    """Answer schemas until there are no more."""
    vocabulary = load_qwen3()
    engine = _ENGINES[name](vocabulary)
    stop_ids = vocabulary.info.stop_token_ids
    overhead = timer_overhead_ns() / 1000
    gc.freeze()  # as the server does once it has a model: collections need not look at the tokenizer
    connection.send(None)
    while (job := connection.recv()) is not None:
        schema, instances = job
        connection.send(_judge(engine, schema, instances, stop_ids, overhead))


class Worker:
    """A process with one engine."""

    def __init__(self, name: str, limit: float) -> None:
        self._name = name
        self._limit = limit
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(self._name, other), daemon=True)
        self._process.start()
        other.close()
        self._connection.recv()

    def judge(self, schema: str, instances: Sequence[Instance]) -> Outcome:
        """The outcome; a process that crashes or takes too long is replaced."""
        try:
            self._connection.send((schema, instances))
            if self._connection.poll(self._limit):
                outcome: Outcome = self._connection.recv()
                return outcome
            verdict = "too slow"
        except (EOFError, OSError):
            verdict = "crash"
        self._process.kill()
        self._process.join()
        self._start()
        return Outcome(verdict, "", 0, 0, np.zeros(0))

    def stop(self) -> None:
        """End the process."""
        self._connection.send(None)
        self._process.join()


# --- the report


def run(
    data: Annotated[Path, typer.Argument(help="the corpus, JSON lines, gzipped or not")],
    engine: Annotated[list[str] | None, typer.Option(help=f"only these of {', '.join(_ENGINES)}")] = None,
    limit: Annotated[int | None, typer.Option(help="only so many schemas, evenly spread")] = None,
    seconds: Annotated[float, typer.Option(help="the time that one schema may take")] = 30.0,
    failures: Annotated[bool, typer.Option(help="list our schemas that do not pass")] = False,
    write: Annotated[bool, typer.Option(help="also write results/maskbench.md")] = False,
) -> None:
    """Judge every engine on the corpus and print one table."""
    vocabulary = load_qwen3()
    cases = list(_cases(data, limit, vocabulary))
    names = engine or list(_ENGINES)
    outcomes: dict[str, list[Outcome]] = {}
    for name in names:
        worker = Worker(name, seconds)
        outcomes[name] = [worker.judge(schema, instances) for _, schema, instances in cases]
        worker.stop()
    report = _report(outcomes, cases)
    print(report)
    if failures:
        for name in names:
            for (case, _, _), outcome in zip(cases, outcomes[name], strict=True):
                if outcome.verdict != "passing":
                    print(name, outcome.verdict, case, outcome.detail)
    if write:
        _RESULTS.write_text(report + "\n", encoding="utf-8")


def _cases(
    path: Path, limit: int | None, vocabulary: BenchVocabulary
) -> Iterator[tuple[str, str, list[Instance]]]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    lines = [json.loads(line) for line in text.split("\n") if line]
    every = 1 if limit is None else max(1, len(lines) // limit)
    encode = vocabulary.tokenizer.encode
    for line in lines[::every][:limit]:
        instances = []
        for test in line["tests"]:
            text = json.dumps(test["data"], ensure_ascii=False)
            instances.append((bool(test["valid"]), list(encode(text, add_special_tokens=False))))
        yield line["name"], json.dumps(line["schema"], ensure_ascii=False), instances


def _report(outcomes: dict[str, list[Outcome]], cases: Sequence[Any]) -> str:
    instances = sum(len(instances) for _, _, instances in cases)
    verdicts = ("passing", "refused", "valid refused", "invalid accepted", "too slow", "crash")
    lines = [
        "# JSON schemas of real use\n",
        f"{datetime.date.today()}, Python {platform.python_version()}, {platform.machine()}; "
        f"Qwen3 vocabulary; {len(cases):,} schemas, {instances:,} instances.\n",
        _line(("engine", *verdicts)),
        _line(("-", *("-:" for _ in verdicts))),
    ]
    for name, found in outcomes.items():
        count = Counter(outcome.verdict for outcome in found)
        lines.append(_line((name, *(f"{count[verdict]:,}" for verdict in verdicts))))
    lines += ["", _line(("times", *_HEADINGS)), _line(("-", *("-:" for _ in _HEADINGS)))]
    for name, found in outcomes.items():
        ready = [outcome for outcome in found if outcome.compile > 0]
        steps = [outcome.steps for outcome in ready if outcome.steps.size]
        if not steps:
            continue
        compiles, firsts = ([getattr(o, field) / 1e3 for o in ready] for field in ("compile", "first_mask"))
        lines.append(_line((f"{name}: compile, ms", *_figures(compiles))))
        lines.append(_line((f"{name}: compile and first mask, ms", *_figures(firsts))))
        lines.append(_line((f"{name}: mask and accept, µs", *_figures(np.concatenate(steps)))))
    for name, found in outcomes.items():
        refused = Counter(outcome.detail for outcome in found if outcome.verdict == "refused")
        if refused:
            lines += ["", f"{name} refuses: {', '.join(f'{k} {n}' for k, n in refused.most_common())}"]
    return "\n".join(lines)


def _figures(values: Any) -> list[str]:
    return [f"{value:,.2f}" for value in np.percentile(values, _PERCENTILES)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    typer.run(run)
