"""``syntagma sample``: sentences of a grammar."""

from __future__ import annotations

import json
import sys

from grammar_core import GrammarError
from server.commands.inputs import InputError, read_grammar, shown_name
from server.commands.report import Report


def print_sample(path: str, root: str, count: int, seed: int, *, max_length: int, as_json: bool) -> int:
    """Print sentences, each on a line of its own unless it has line breaks; the exit code."""
    report = Report()
    try:
        sentences = read_grammar(path, root).sample(count, seed, max_length=max_length)
    except InputError as error:
        report.error(str(error))
        return 2
    except GrammarError as error:
        report.error(f"{shown_name(path)}: {error}")
        return 2
    if as_json:
        sentences = [json.dumps(sentence, ensure_ascii=False) for sentence in sentences]
    if report.is_terminal:
        _show(sentences, report)
    else:
        sys.stdout.buffer.write("".join(f"{sentence}\n" for sentence in sentences).encode())
    return 0


def _show(sentences: list[str], report: Report) -> None:
    """For a terminal: visible where one ends, and without characters that would control it."""
    for number, sentence in enumerate(sentences, start=1):
        lines = [_visible(line) for line in sentence.split("\n")]
        margin = f"{number:>{len(str(len(sentences)))}}"
        for line in lines:
            report.line((f"{margin} │ ", "dim"), line)
            margin = " " * len(margin)


def _visible(line: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
