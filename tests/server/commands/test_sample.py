"""`syntagma sample`, in a process of its own."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys

from grammar_core import Grammar

RUN = [sys.executable, "-c", "from server.cli import main; main()", "sample", "-"]


def sample(grammar: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    command = [*RUN, *arguments]
    result = subprocess.run(command, input=grammar.encode(), capture_output=True, timeout=60, check=False)
    errors = result.stderr.decode()
    assert "Traceback" not in errors
    return result.returncode, result.stdout.decode(), errors


def test_a_sentence_a_line() -> None:
    exit_code, output, errors = sample("root ::= [a-z]{2} [0-9]", "-n", "7")
    assert (exit_code, errors) == (0, "")
    assert re.fullmatch(r"([a-z]{2}[0-9]\n){7}", output)


def test_same_as_in_python() -> None:
    grammar = 'root ::= x{3}\nx ::= "é" | "中" | [a-z]'
    _, output, _ = sample(grammar, "-n", "5", "--seed", "3", "--max-length", "10")
    assert output.splitlines() == Grammar.from_ebnf(grammar).sample(5, 3, max_length=10)


def test_root() -> None:
    assert sample('root ::= "a"\nx ::= "b"', "--root", "x", "-n", "1") == (0, "b\n", "")


def test_json() -> None:
    _, output, _ = sample(r'root ::= "a\n\"é"', "--json", "-n", "2")
    assert [json.loads(line) for line in output.splitlines()] == ['a\n"é'] * 2
    assert "é" in output


def test_bad_grammar() -> None:
    exit_code, output, errors = sample('root ::= "a')
    assert (exit_code, output) == (2, "")
    assert errors.startswith("error: standard input: EBNF error at line 1, column 10")


def test_grammars_without_sentences() -> None:
    assert sample('root ::= "a" root')[0] == 2


def test_tokens_have_no_text_here() -> None:
    exit_code, _, errors = sample("root ::= Token(5)")
    assert exit_code == 2
    assert "only its tokenizer knows" in errors
    assert "tokenizer_info" not in errors


def test_bad_count() -> None:
    assert sample('root ::= "a"', "-n", "0")[0] == 2
    assert sample('root ::= "a"', "-n", "x")[0] == 2


def test_in_a_terminal_nothing_controls_it() -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    grammar = rb'root ::= "a\x07\n" "b"'
    subprocess.run([*RUN, "-n", "2"], input=grammar, stdout=slave, env=environment, timeout=60, check=True)
    os.close(slave)
    shown = os.read(master, 10_000).decode()
    os.close(master)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert plain.split("\r\n") == ["1 │ a\\x07", "  │ b", "2 │ a\\x07", "  │ b", ""]
