"""What grammar errors say and how they point at the text."""

from __future__ import annotations

import pytest

from grammar_core.errors import GrammarError, GrammarLimitError, locate, point_at
from grammar_core.grammar import Grammar


@pytest.mark.parametrize("caught_as", [RuntimeError, ValueError, GrammarError])
def test_is_what_users_catch(caught_as: type[Exception]) -> None:
    with pytest.raises(caught_as, match='Rule "a" is not defined'):
        Grammar.from_ebnf("root ::= a")


def test_message_source_line_and_caret() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_ebnf('root ::= "a" |\n  b')
    error = caught.value
    assert (error.message, error.line, error.column, error.source_line) == (
        'Rule "b" is not defined; to define it, write b ::= …',
        2,
        3,
        "  b",
    )
    assert str(error) == (
        'EBNF error at line 2, column 3: Rule "b" is not defined; to define it, write b ::= …\n  b\n  ^'
    )


def test_without_position() -> None:
    error = GrammarError("No sentences", dialect="Grammar")
    assert str(error) == "Grammar error: No sentences"
    assert (error.line, error.column, error.source_line) == (None, None, None)


def test_position_without_source_line() -> None:
    assert str(GrammarError("Bad", line=2, column=7)) == "EBNF error at line 2, column 7: Bad"


def test_limit_names_itself() -> None:
    error = GrammarLimitError.at("Too deep", "ab", 1, limit="depth", value=3)
    assert (error.limit, error.value, error.line, error.column) == ("depth", 3, 1, 2)
    assert str(error) == "EBNF error at line 1, column 2: Too deep\nab\n ^"


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ("", 0, (1, 1, "")),
        ("ab", 2, (1, 3, "ab")),
        ("ab\ncd", 2, (1, 3, "ab")),
        ("ab\ncd", 3, (2, 1, "cd")),
        ("ab\n\ncd\n", 3, (2, 1, "")),
        ("中\n😀é x", 5, (2, 4, "😀é x")),
    ],
)
def test_locate(text: str, offset: int, expected: tuple[int, int, str]) -> None:
    assert locate(text, offset) == expected


@pytest.mark.parametrize(
    ("line", "column", "caret"),
    [
        ("abc", 1, "^"),
        ("abc", 4, "   ^"),
        ("\ta\tb", 4, "\t \t^"),
        ("中文x", 3, "    ^"),
        ("e\u0301x", 3, " ^"),
    ],
)
def test_caret_stands_under_its_column(line: str, column: int, caret: str) -> None:
    assert point_at(line, column) == f"{line}\n{caret}"


@pytest.mark.parametrize("column", [1, 50, 51, 52, 5000, 9950, 9999, 10001])
def test_long_lines_are_cut_around_the_column(column: int) -> None:
    line = "".join(chr(ord("a") + i % 26) for i in range(10000)) + " "
    excerpt, caret = point_at(line, column).split("\n")
    assert len(excerpt) <= 102
    assert excerpt[len(caret) - 1] == line[column - 1]
    assert excerpt.startswith("…") == (column > 51)
    assert excerpt.endswith("…") == (column <= 9950)
