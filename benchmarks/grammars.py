"""The grammars of the benchmark, in the dialect of each engine.

Each is written once, in EBNF, in ``grammars/``. Engines that read Lark get a translation: rules in capitals
become terminals, everything else stays as it is. Where a lexer needs another form, ``json.lark`` has it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from benchmarks import texts

_FOLDER = Path(__file__).parent / "grammars"
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|#[^\n]*|::=|[A-Za-z_]+|\{[^}]*\}|\s+|.')


class BenchGrammar(NamedTuple):
    """A grammar and the texts replayed under it; ``regex`` where the language is regular and simple."""

    name: str
    title: str
    ebnf: str
    lark: str
    regex: str | None
    texts: tuple[str, ...]


def ebnf_to_lark(ebnf: str) -> str:
    """Translate the EBNF of this folder, which uses no more than Lark has, symbol by symbol."""
    return "".join(_lark_symbol(symbol) for symbol in _TOKEN.findall(ebnf))


def _lark_symbol(symbol: str) -> str:
    if symbol == "::=":
        return ":"
    if symbol == "root":
        return "start"
    if symbol == "[^]":
        return r"/[^\x00]|\x00/"
    if symbol.startswith("["):
        return f"/{symbol}/"
    if symbol.startswith("{"):
        low, high = symbol[1:-1].split(",")
        return f"~{low}..{high}"
    if symbol.startswith("#"):
        return f"//{symbol[1:]}"
    return symbol


def load_grammars() -> list[BenchGrammar]:
    """All grammars of the benchmark, with their texts."""
    return [
        _load("json", "free JSON", texts.json_texts()),
        _load("migration", "YAML migrations", texts.migration_texts()),
        _load("free_text", '"<a>" [^]*', texts.free_texts(), regex=r"<a>[\s\S]*"),
        _load("arithmetic", "left-recursive arithmetic", texts.arithmetic_texts()),
        _load("sql", "SQL subset", texts.sql_texts()),
        _load("letters", "[a-z]{0,2000}", texts.letter_texts(), regex="[a-z]{0,2000}"),
    ]


def _load(name: str, title: str, sample: tuple[str, ...], regex: str | None = None) -> BenchGrammar:
    ebnf = (_FOLDER / f"{name}.ebnf").read_text(encoding="utf-8")
    own_lark = _FOLDER / f"{name}.lark"
    lark = own_lark.read_text(encoding="utf-8") if own_lark.exists() else ebnf_to_lark(ebnf)
    return BenchGrammar(name, title, ebnf, lark, regex, sample)
