"""`syntagma check`, in a process of its own: what it prints and its exit codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

RUN = [sys.executable, "-c", "from server.cli import main; main()", "check"]
LIST = 'root ::= "[" (number ("," number)*)? "]"\nnumber ::= [1-9] [0-9]*\n'


def check(*arguments: str | Path, data: bytes = b"") -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    command = [*RUN, *map(str, arguments)]
    result = subprocess.run(command, input=data, capture_output=True, timeout=240, check=False)
    errors = result.stderr.decode()
    assert "Traceback" not in errors
    return result.returncode, result.stdout.decode(), errors


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    return write(tmp_path / "list.ebnf", LIST)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# the grammar


def test_rules_are_printed(grammar: Path) -> None:
    assert check(grammar) == (0, LIST, "")


def test_grammar_from_standard_input() -> None:
    assert check("-", data=LIST.encode()) == (0, LIST, "")


def test_warnings(tmp_path: Path) -> None:
    path = write(tmp_path / "g.ebnf", 'root ::= "a"\nleft ::= "b" left\n')
    exit_code, output, errors = check(path)
    assert (exit_code, output) == (0, 'root ::= "a"\nleft ::= "b" left\n')
    assert errors.splitlines() == [
        'warning: Rule "left" is never used',
        'warning: Rule "left" cannot match any finite text',
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('root ::= "a', "line 1, column 10"),
        ('root ::= "a" root', "cannot match any finite text"),
        ("root ::= x", '"x"'),
        (b"\xff\xfe\x00", "is not UTF-8 text: byte 0 is wrong"),
        ("", "empty"),
        ("root ::= " + "(" * 5_000, "1,000"),
    ],
)
def test_bad_grammar(tmp_path: Path, content: str | bytes, message: str) -> None:
    exit_code, output, errors = check(write(tmp_path / "g.ebnf", content))
    assert (exit_code, output) == (2, "")
    assert errors.startswith("error: ")
    assert str(tmp_path / "g.ebnf") in errors
    assert message in errors


def test_missing_root(grammar: Path) -> None:
    exit_code, _, errors = check(grammar, "--root", "rot")
    assert exit_code == 2
    assert '"rot"' in errors


# texts


def test_texts_in_the_language(grammar: Path, tmp_path: Path) -> None:
    one, two = write(tmp_path / "1", "[]"), write(tmp_path / "2", "[1,20]")
    assert check(grammar, one, two) == (0, f"ok       {one}\nok       {two}\n", "")


def test_refused_text(grammar: Path, tmp_path: Path) -> None:
    text = write(tmp_path / "text", "[1,02]")
    assert check(grammar, text) == (
        1,
        f"""refused  {text}
  "0" cannot come at line 1, column 4
    [1,02]
       ^
  Expected:
    "1" to "9"  in number
  Active rules, innermost last:
    1:1  root ::= "[" (number ("," • number)*)? "]"
  Shortest way to finish from there: "1]"
""",
        "",
    )


def test_text_that_ends_too_early(grammar: Path) -> None:
    exit_code, output, _ = check(grammar, "-", data=b"[1,2")
    assert exit_code == 1
    assert output.startswith("refused  standard input\n  The text ends too early (line 1, column 5)\n")
    assert 'Shortest way to finish: "]"' in output


def test_root(grammar: Path) -> None:
    assert check(grammar, "-", "--root", "number", data=b"12")[0] == 0
    assert check(grammar, "-", "--root", "number", data=b"[]")[0] == 1


def test_trim(grammar: Path) -> None:
    exit_code, output, _ = check(grammar, "-", data=b"[]\n")
    assert exit_code == 1
    assert "Without the line break at its end the text is complete." in output
    assert check(grammar, "-", "--trim", data=b"[]\n")[0] == 0
    assert check(grammar, "-", "--trim", data=b"[]\r\n")[0] == 0
    assert check(grammar, "-", "--trim", data=b"[]\n\n")[0] == 1


def test_one_bad_file_does_not_hide_the_others(grammar: Path, tmp_path: Path) -> None:
    good = write(tmp_path / "good", "[]")
    exit_code, output, errors = check(grammar, tmp_path / "nothing", tmp_path, good)
    assert (exit_code, output) == (2, f"ok       {good}\n")
    assert errors.count("error: ") == 2
    assert "No such file" in errors


def test_standard_input_is_read_once(grammar: Path) -> None:
    assert check("-", "-")[0] == 2
    assert check(grammar, "-", "-")[0] == 2


def test_unknown_option(grammar: Path) -> None:
    assert check(grammar, "--rot", "x")[0] == 2


# hostile texts


def test_binary_text(grammar: Path) -> None:
    exit_code, output, _ = check(grammar, "-", data=bytes(range(255, -1, -1)) * 400)
    assert exit_code == 1
    assert "The byte FF, which is part of no character, cannot come at line 1, column 1" in output


def test_control_characters_are_not_printed(grammar: Path) -> None:
    _, output, _ = check(grammar, "-", data=b"[1,\x1b[31m\x07")
    assert output.replace("\n", "").isprintable()
    assert '"\\u001B" cannot come at line 1, column 4' in output


def test_deep_nesting(tmp_path: Path) -> None:
    grammar = write(tmp_path / "g.ebnf", 'root ::= "(" root ")" | "x"')
    exit_code, output, _ = check(grammar, "-", data=b"(" * 100_000 + b"!")
    assert exit_code == 1
    assert '"!" cannot come at line 1, column 100001' in output
    assert len(output) < 5_000


def test_huge_text(grammar: Path) -> None:
    text = b"[" + b"123456789," * 300_000
    exit_code, output, _ = check(grammar, "-", data=text + b"1]")
    assert (exit_code, output) == (0, "ok       standard input\n")
    exit_code, output, _ = check(grammar, "-", data=text + b"x")
    assert exit_code == 1
    assert output == (
        'refused  standard input\n  "x" cannot come at line 1, column 3000002. '
        "A text of more than 1,000,000 bytes is not explained.\n"
    )


def test_text_with_too_many_readings(tmp_path: Path) -> None:
    grammar = write(tmp_path / "g.ebnf", 'root ::= root root | "a"')
    exit_code, output, _ = check(grammar, "-", data=b"a" * 600 + b"\nb")
    assert exit_code == 1
    assert '"\\n" cannot come at line 1, column 601. Explaining this text takes more than' in output


def test_grammar_that_names_tokens(tmp_path: Path) -> None:
    grammar = write(tmp_path / "g.ebnf", 'root ::= "a" | Token(5) "b"')
    assert check(grammar)[0] == 0
    assert check(grammar, "-", data=b"a")[0] == 0
    exit_code, output, _ = check(grammar, "-", data=b"b")
    assert exit_code == 1
    assert '"a" or token 5' in output


def test_text_that_the_engine_cannot_follow(tmp_path: Path) -> None:
    grammar = write(tmp_path / "g.ebnf", 'root ::= root root | "a"')
    exit_code, output, errors = check(grammar, "-", data=b"a" * 100_000)
    assert (exit_code, output) == (2, "")
    assert "error: standard input: " in errors
    assert "more than" in errors
