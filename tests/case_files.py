"""The neutral case files of `tests/cases`: a grammar and what it accepts, rejects or is refused for."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import TokenSet, TokenTagDispatch
from grammar_core.ir.traversal import node_kinds

_FOLDER = Path(__file__).parent / "cases"
_KEYS = {"name", "grammar", "lark", "root", "accept", "reject", "accept_hex", "reject_hex", "error"}


class ExpectedError(NamedTuple):
    """What a refusal says: its position in characters from 1, and a part of its message."""

    line: int
    column: int
    contains: str
    limit: str | None


class GrammarCase(NamedTuple):
    """One grammar, in EBNF or in the Lark dialect.

    `accept` are sentences; `reject` are not, though they may be beginnings of some.
    """

    file: str
    name: str
    grammar: str
    dialect: str
    root: str
    accept: tuple[bytes, ...]
    reject: tuple[bytes, ...]
    error: ExpectedError | None

    def load(self, text: str | None = None) -> Grammar:
        """The grammar, or that of another text in its place."""
        text = self.grammar if text is None else text
        if self.dialect == "Lark":
            return Grammar.from_lark(text)
        return Grammar.from_ebnf(text, root_rule_name=self.root)


def valid_cases() -> list[Any]:
    """The cases whose grammar is valid, as pytest parameters."""
    return [_parameter(case) for case in _all_cases() if case.error is None]


def text_cases() -> list[Any]:
    """The valid cases in which it makes no difference how the text is split into tokens."""
    cases = [case for case in _all_cases() if case.error is None]
    return [_parameter(case) for case in cases if not _heeds_tokens(case)]


def _heeds_tokens(case: GrammarCase) -> bool:
    rules = case.load().rules
    budgets = any(rule.options.max_tokens is not None for rule in rules)
    return budgets or not node_kinds(rules).isdisjoint((TokenSet, TokenTagDispatch))


def error_cases() -> list[Any]:
    """The cases whose grammar is refused, as pytest parameters."""
    return [_parameter(case) for case in _all_cases() if case.error is not None]


def _parameter(case: GrammarCase) -> Any:
    return pytest.param(case, id=f"{case.file}: {case.name}")


@lru_cache(maxsize=1)
def _all_cases() -> tuple[GrammarCase, ...]:
    return tuple(case for path in sorted(_FOLDER.glob("*.toml")) for case in _read(path))


def _read(path: Path) -> list[GrammarCase]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["case"]
    cases = [_case(path.stem, table) for table in tables]
    names = [case.name for case in cases]
    assert len(names) == len(set(names)), f"{path.name}: names are not unique"
    return cases


def _case(file: str, table: dict[str, Any]) -> GrammarCase:
    assert table.keys() <= _KEYS, f"{file}: unknown keys {table.keys() - _KEYS}"
    case = GrammarCase(
        file,
        table["name"],
        table["lark"] if "lark" in table else table["grammar"],
        "Lark" if "lark" in table else "EBNF",
        table.get("root", "root"),
        _texts(table, "accept"),
        _texts(table, "reject"),
        _error(table.get("error")),
    )
    assert case.error or case.accept or case.reject, f"{file}: {case.name} expects nothing"
    return case


def _texts(table: dict[str, Any], key: str) -> tuple[bytes, ...]:
    plain = [text.encode() for text in table.get(key, ())]
    return (*plain, *(bytes.fromhex(digits) for digits in table.get(f"{key}_hex", ())))


def _error(table: dict[str, Any] | None) -> ExpectedError | None:
    if table is None:
        return None
    return ExpectedError(table["line"], table["column"], table["contains"], table.get("limit"))
