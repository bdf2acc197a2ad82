"""``syntagma check``: is the grammar all right, and are texts in its language?"""

from __future__ import annotations

from grammar_core import GrammarError
from server.commands.inputs import STANDARD_INPUT, InputError, read_bytes, read_grammar, shown_name
from server.commands.report import Report
from server.commands.text_checker import TextChecker, Verdict

_OK, _REFUSED, _UNUSABLE = 0, 1, 2


def check_grammar(path: str, root: str) -> int:
    """Print the rules and warnings; the exit code."""
    report = Report()
    try:
        grammar = read_grammar(path, root)
        TextChecker(grammar)
    except InputError as error:
        report.error(str(error))
        return _UNUSABLE
    except GrammarError as error:
        report.error(f"{shown_name(path)}: {error}")
        return _UNUSABLE
    report.rules(str(grammar))
    for warning in grammar.warnings():
        report.warning(warning.message)
    return _OK


def check_texts(path: str, root: str, files: list[str], *, trim: bool) -> int:
    """Print for each file whether it is in the language, and if not, why; the exit code."""
    report = Report()
    if [path, *files].count(STANDARD_INPUT) > 1:
        report.error("standard input can be read only once")
        return _UNUSABLE
    try:
        checker = TextChecker(read_grammar(path, root))
    except InputError as error:
        report.error(str(error))
        return _UNUSABLE
    except GrammarError as error:
        report.error(f"{shown_name(path)}: {error}")
        return _UNUSABLE
    return max([_check_text(checker, file, report, trim=trim) for file in files])


def _check_text(checker: TextChecker, file: str, report: Report, *, trim: bool) -> int:
    name = shown_name(file)
    try:
        data = read_bytes(file)
        verdict = checker.check(_without_line_break(data) if trim else data)
    except InputError as error:
        report.error(str(error))
        return _UNUSABLE
    except GrammarError as error:
        report.error(f"{name}: {error.message}")
        return _UNUSABLE
    if verdict.is_sentence:
        report.line(("ok       ", "bold green"), name)
        return _OK
    report.line(("refused  ", "bold red"), name)
    _explain(verdict, report)
    return _REFUSED


def _without_line_break(data: bytes) -> bytes:
    return data.removesuffix(b"\n").removesuffix(b"\r") if data.endswith(b"\n") else data


def _explain(verdict: Verdict, report: Report) -> None:
    explanation = verdict.explanation
    if explanation is None:
        report.explanation(verdict.message, "")
    elif explanation.outcome == "incomplete":
        position = explanation.position
        headline = f"The text ends too early (line {position.line}, column {position.column})"
        report.explanation(headline, explanation.details)
    else:
        report.explanation(explanation.headline, explanation.details)
