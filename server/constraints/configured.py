"""Grammars that the server reads when it starts, for requests to name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grammar_core import Grammar, GrammarError
from server.constraints.dialect import is_ebnf
from server.constraints.resolve import ConfiguredGrammars


class ConfiguredGrammarError(Exception):
    """A grammar of the configuration cannot be used; the message says which one and why."""


def load_configured_grammars(files: Mapping[str, Path]) -> ConfiguredGrammars:
    """The grammars in these files, EBNF or Lark.

    Raises:
        ConfiguredGrammarError: A file cannot be read or is no grammar.
    """
    return ConfiguredGrammars({name: _read(name, file) for name, file in files.items()})


def _read(name: str, file: Path) -> str:
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfiguredGrammarError(f"cannot read the grammar '{name}': {error}") from None
    try:
        _parse(text)
    except GrammarError as error:
        raise ConfiguredGrammarError(f"the grammar '{name}' in {file} cannot be used:\n{error}") from None
    return text


def _parse(text: str) -> Grammar:
    return Grammar.from_ebnf(text) if is_ebnf(text) else Grammar.from_lark(text)
