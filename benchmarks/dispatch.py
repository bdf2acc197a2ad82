"""Compares engines on calls of many tools in free text: ``python -m benchmarks.dispatch``.

128 tools of 20 arguments each, any of which may be called wherever the text has ``<function=``. Every engine
gets the same structural tag; this project also gets the grammar it stands for, as EBNF text and as an object.
What a process keeps of the tools helps later requests, so the first compile is told from others: of the same
tools, and of the same tools but one. Compile times are of the processor, since other work on the machine must
not count, and garbage is collected as in a server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import typer

from benchmarks.engines import Compiled, LlguidanceEngine, NotApplicableError, OurEngine, XGrammarEngine
from benchmarks.grammars import BenchGrammar
from benchmarks.masks import figure, heading, table_line
from benchmarks.measure import no_garbage_collection, replay
from benchmarks.tokenisations import TokenIndex, tokenise
from benchmarks.tools import Tool, arguments, tools
from benchmarks.vocabulary import BenchVocabulary, load_qwen3

_RESULTS = Path(__file__).parent / "results"
_TRIGGER = "<function="
_END = "</function>"
_CALLS = ((0, 77), (127, 3), (40, 41))
_COMPILATIONS = 3
_HEADINGS = (
    *("engine", "compile ms", "compile + first mask ms", "same tools ms", "one tool new ms"),
    *("cold p50 µs", "p99", "max", "warm p50 µs", "p99", "max", "steps", "refused"),
)


class ToolEngine(Protocol):
    """An engine that compiles a dispatch over tools, anew each time."""

    name: str

    def compile_tools(self, these: list[Tool]) -> Compiled:
        """Compile without using a cache of grammars. Raises `NotApplicableError`."""
        ...


def run(
    engine: Annotated[list[str] | None, typer.Option(help="only these engines")] = None,
    limit: Annotated[float, typer.Option(help="seconds that each replay of an engine may take")] = 10.0,
    write: Annotated[str | None, typer.Option(help="also write results/NAME.md")] = None,
) -> None:
    """Time every engine on the dispatch and print the table."""
    vocabulary = load_qwen3()
    grammar = BenchGrammar("dispatch", "", "", "", None, _texts())
    sequences = tokenise(grammar, vocabulary, TokenIndex(vocabulary.info.text_vocab))
    report = [heading("Calls of 128 tools in free text", vocabulary, limit)]
    report += [table_line(_HEADINGS), table_line(["-"] + ["-:"] * (len(_HEADINGS) - 1))]
    for name in engine or _BUILDERS:
        one = _BUILDERS[name](vocabulary)
        one.compile_tools(_few_tools()).start().fill()
        report.append(_row(one, sequences, limit))
    print("\n".join(report))
    if write:
        (_RESULTS / f"{write}.md").write_text("\n".join(report) + "\n", encoding="utf-8")


# --- engines


class OurTagEngine(OurEngine):
    """This project, given the structural tag."""

    name = "syntagma, structural tag"

    def compile_tools(self, these: list[Tool]) -> Compiled:
        return Compiled(partial(self._start, self._compiler.compile_structural_tag(_structural_tag(these))))


class OurEbnfEngine(OurEngine):
    """This project, given the grammar of the structural tag as EBNF text, whose writing is not timed."""

    name = "syntagma, EBNF"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        super().__init__(vocabulary)
        lists = (tools(), _other_tools(), _few_tools())
        self._grammars = {_key(these): self._grammar(these) for these in lists}

    def compile_tools(self, these: list[Tool]) -> Compiled:
        return Compiled(partial(self._start, self._compiler.compile_grammar(self._grammars[_key(these)])))

    def _grammar(self, these: list[Tool]) -> Any:
        return str(self._api.Grammar.from_structural_tag(_structural_tag(these)))


class OurGrammarEngine(OurEbnfEngine):
    """This project, given a Grammar, whose building is not timed."""

    name = "syntagma, Grammar"

    def _grammar(self, these: list[Tool]) -> Any:
        return self._api.Grammar.from_structural_tag(_structural_tag(these))


class XGrammarTagEngine(XGrammarEngine):
    """xgrammar, given the structural tag."""

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        super().__init__(vocabulary, "structural tag")

    def compile_tools(self, these: list[Tool]) -> Compiled:
        compiler = self._api.GrammarCompiler(self._info, max_threads=1, cache_enabled=False)
        return Compiled(partial(self._start, compiler.compile_structural_tag(_structural_tag(these))))


class LlguidanceTagEngine(LlguidanceEngine):
    """llguidance, given its own kind of structural tags, of which it makes a Lark grammar."""

    name = "llguidance, structural tags"

    def compile_tools(self, these: list[Tool]) -> Compiled:
        kind: Any = self._api.StructTag
        tags = [kind(trigger=_TRIGGER, begin=_begin(one), grammar=one.parameters, end=_END) for one in these]
        lark = kind.to_grammar(tags, assume_special=False)
        lark = lark.replace("%llguidance {}", '%llguidance {"no_forcing": true}')
        first = self._api.LLMatcher(self._tokenizer, lark, log_level=0)
        if first.is_error():
            raise NotApplicableError(first.get_error())
        return Compiled(partial(self._start, first))


_BUILDERS: dict[str, Callable[[BenchVocabulary], ToolEngine]] = {
    "syntagma": OurTagEngine,
    "syntagma-ebnf": OurEbnfEngine,
    "syntagma-grammar": OurGrammarEngine,
    "xgrammar": XGrammarTagEngine,
    "llguidance": LlguidanceTagEngine,
}


# --- what is compiled and read


def _structural_tag(these: list[Tool]) -> dict[str, Any]:
    tags = [
        {
            "type": "tag",
            "begin": _begin(one),
            "content": {"type": "json_schema", "json_schema": one.parameters},
            "end": _END,
        }
        for one in these
    ]
    dispatch = {"type": "triggered_tags", "triggers": [_TRIGGER], "tags": tags}
    return {"type": "structural_tag", "format": dispatch}


def _begin(tool: Tool) -> str:
    return f"{_TRIGGER}{tool.name}>"


def _key(these: list[Tool]) -> str:
    return " ".join(one.name for one in these)


def _other_tools() -> list[Tool]:
    """The tools, but one that nobody asked for before."""
    first, *rest = tools()
    properties = {f"new_{name}": schema for name, schema in first.parameters["properties"].items()}
    required = list(properties)[:10]
    return [Tool("new_tool", {**first.parameters, "properties": properties, "required": required}), *rest]


def _few_tools() -> list[Tool]:
    """A tool that is not measured, so that no engine prepares its vocabulary later."""
    return [Tool("warm_up", {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]})]


def _texts() -> tuple[str, ...]:
    """Each with two calls."""
    return tuple(f"I look both up.\n{_call(one)}\nThen the other:\n{_call(two)}\n" for one, two in _CALLS)


def _call(index: int) -> str:
    return f"{_begin(tools()[index])}{json.dumps(arguments(index), ensure_ascii=False)}{_END}"


# --- figures


def _row(engine: ToolEngine, sequences: list[list[int]], limit: float) -> str:
    try:
        compiled, compile_ms, first_ms = _timed(engine, tools())
        same_ms = min(_timed(engine, tools())[1] for _ in range(_COMPILATIONS))
        _, new_ms, _ = _timed(engine, _other_tools())
    except (NotApplicableError, RuntimeError, ValueError) as error:
        return table_line([engine.name, str(error).splitlines()[0]])
    with no_garbage_collection():
        cold, warm = replay(compiled, sequences, limit), replay(compiled, sequences, limit)
    cells = [engine.name, *(figure(ms) for ms in (compile_ms, first_ms, same_ms, new_ms))]
    for steps in (cold.steps, warm.steps):
        cells += [figure(x) for x in (np.median(steps), np.percentile(steps, 99), steps.max())]
    total = f"{len(warm.steps):,}{'*' if warm.capped else ''}"
    return table_line([*cells, total, str(_refused(compiled, sequences))])


def _timed(engine: ToolEngine, these: list[Tool]) -> tuple[Compiled, float, float]:
    """The milliseconds of processor time of a compile, and of one with the first mask."""
    begin = time.process_time_ns()
    compiled = engine.compile_tools(these)
    end_of_compile = time.process_time_ns()
    session = compiled.start()
    session.fill()
    end = time.process_time_ns()
    return compiled, (end_of_compile - begin) / 1e6, (end - begin) / 1e6


def _refused(compiled: Compiled, sequences: list[list[int]]) -> int:
    """How many tokens the mask or the engine refused."""
    refused = 0
    for sequence in sequences:
        session = compiled.start()
        for token_id in sequence:
            session.fill()
            allowed = bool(session.row[token_id >> 5] >> (token_id & 31) & 1)
            refused += not (allowed and session.accept(token_id))
    return refused


if __name__ == "__main__":
    typer.run(run)
