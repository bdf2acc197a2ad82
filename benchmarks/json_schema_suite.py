"""The official JSON Schema test suite: ``python -m benchmarks.json_schema_suite DIRECTORY``.

DIRECTORY holds the suite's `tests` and `remotes`. Every group of the drafts 7 and 2020-12, optional ones too,
is compiled as the standard means it (objects open, keys in any order, every spelling of numbers) and its
instances are matched. The table of results is written to docs/json_schema_suite.md.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from grammar_core import (
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarMatcher,
    JsonSchemaError,
    TokenizerInfo,
)

_DRAFTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_REMOTE = "http://localhost:1234/"
_TABLE = Path(__file__).parent.parent / "docs" / "json_schema_suite.md"
EXACT, WRONG = "exact", "wrong"
_ASSERTED = "exact, with the format asserted"
_ANNOTATED = "annotation: contentEncoding, contentMediaType"
_SPELLED_OUT = "exact, with large numbers spelled out"
_INTRODUCTION = """# The official test suite

Every group of the JSON Schema Test Suite for the drafts 7 and 2020-12, optional groups too. `exact`: all its
instances are accepted and refused as the suite says. `refused: KEYWORD`: the schema is refused with the place
of that keyword. The suite's required part says that `format` only annotates in 2020-12 and its optional part
that it asserts; it asserts here, which the groups `{asserted}` show. `contentEncoding` and
`contentMediaType` may assert in draft 7 and never do here. An exponent of a number that makes it longer than
thirty digits is not among the spellings of integers; such a number is spelled out.

`make schema-suite SUITE=DIRECTORY` writes this page.
"""


class Group(NamedTuple):
    """Where a group stands and how it went."""

    file: str
    description: str
    result: str


class Judge:
    """Compiles groups and matches their instances, byte by byte."""

    def __init__(self, remotes: dict[str, Any]) -> None:
        vocabulary = [bytes([byte]) for byte in range(256)]
        info = TokenizerInfo([*vocabulary, b"</s>"], stop_token_ids=[256])
        self._compiler = GrammarCompiler(info, cache_enabled=False)
        self._remotes = remotes

    def result(self, file: str, group: dict[str, Any], dialect: str) -> str:
        """The word of the table for the group."""
        schema = group["schema"]
        if isinstance(schema, dict) and "$schema" not in schema:
            schema = {"$schema": dialect, **schema}
        try:
            grammar = Grammar.from_json_schema(
                schema, strict_mode=False, any_order=True, lexical="any", documents=self._remotes
            )
            compiled = self._compiler.compile_grammar(grammar)
        except GrammarError as error:
            return self._refusal(error, group)
        wrong = [
            test for test in self._texts(group) if self._accepts(compiled, test["text"]) != test["valid"]
        ]
        return self._explained(file, wrong, compiled) if wrong else EXACT

    @staticmethod
    def _refusal(error: GrammarError, group: dict[str, Any]) -> str:
        keyword = error.keyword if isinstance(error, JsonSchemaError) else None
        if keyword is not None:
            return f"refused: {keyword}"
        # Without a keyword at fault, nothing is left that the schema allows.
        return WRONG if any(test["valid"] for test in group["tests"]) else EXACT

    @staticmethod
    def _texts(group: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Tests with their JSON text, but for strings that are no text (halves of surrogate pairs)."""
        for test in group["tests"]:
            text = json.dumps(test["data"], ensure_ascii=False)
            if text.isascii() or text.encode(errors="ignore").decode() == text:
                yield {**test, "text": text}

    @staticmethod
    def _accepts(compiled: Any, text: str) -> bool:
        matcher = GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.is_completed())

    def _explained(self, file: str, wrong: list[dict[str, Any]], compiled: Any) -> str:
        """Differences that are meant, and said in the introduction."""
        if file == "format.json" and all(test["valid"] for test in wrong):
            return _ASSERTED
        if file == "optional/content.json" and not any(test["valid"] for test in wrong):
            return _ANNOTATED
        numbers = [test["data"] for test in wrong]
        if all(isinstance(value, float) and value == int(value) for value in numbers) and all(
            self._accepts(compiled, str(int(value))) == test["valid"]
            for value, test in zip(numbers, wrong, strict=True)
        ):
            return _SPELLED_OUT
        return WRONG


def run(
    directory: Annotated[Path, typer.Argument(help="the suite's folder, with tests and remotes")],
) -> None:
    """Judge every group and write the table."""
    remotes = {
        _REMOTE + path.relative_to(directory / "remotes").as_posix(): json.loads(path.read_text("utf-8"))
        for path in sorted((directory / "remotes").rglob("*.json"))
    }
    judge = Judge(remotes)
    lines = [_INTRODUCTION.format(asserted=_ASSERTED)]
    for draft, dialect in _DRAFTS.items():
        groups = list(_groups(directory / "tests" / draft, judge, dialect))
        lines += _section(draft, groups)
        print(draft, dict(Counter(group.result for group in groups)))
    _TABLE.parent.mkdir(exist_ok=True)
    _TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _groups(directory: Path, judge: Judge, dialect: str) -> Iterator[Group]:
    for path in sorted(directory.rglob("*.json")):
        file = path.relative_to(directory).as_posix()
        for group in json.loads(path.read_text("utf-8")):
            yield Group(file, group["description"], judge.result(file, group, dialect))


def _section(draft: str, groups: list[Group]) -> list[str]:
    count = Counter(group.result for group in groups)
    lines = [f"\n## {draft}\n", f"{len(groups)} groups.\n", "| result | groups |", "| - | -: |"]
    lines += (f"| {result} | {number} |" for result, number in count.most_common())
    lines += ["", "| file | group | result |", "| - | - | - |"]
    lines += (f"| {g.file} | {g.description.replace('|', '&#124;')} | {g.result} |" for g in groups)
    return lines


if __name__ == "__main__":
    typer.run(run)
