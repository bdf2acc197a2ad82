"""What the commands read: grammars and texts from files and standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from grammar_core import Grammar

STANDARD_INPUT = "-"
MAX_FILE_BYTES = 64 * 1024 * 1024


class InputError(Exception):
    """A file that cannot be read, in words for the person who named it."""


def read_grammar(path: str, root: str) -> Grammar:
    """The grammar in a file. Raises InputError, or GrammarError for a text that is none."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{shown_name(path)} is not UTF-8 text: byte {error.start} is wrong") from None
    return Grammar.from_ebnf(text.replace("\r\n", "\n"), root_rule_name=root)


def read_bytes(path: str) -> bytes:
    """A whole file. Raises InputError."""
    try:
        if path == STANDARD_INPUT:
            data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InputError(f"{shown_name(path)}: {error.strerror or error}") from None
    except ValueError as error:  # a null byte in the name
        raise InputError(f"{shown_name(path)}: {error}") from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError(f"{shown_name(path)} is larger than {MAX_FILE_BYTES // 1024**2} MiB")
    return data


def shown_name(path: str) -> str:
    """The name as it can be printed."""
    if path == STANDARD_INPUT:
        return "standard input"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in path)
