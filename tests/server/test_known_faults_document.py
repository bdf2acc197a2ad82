"""Every test that ``docs/known_faults.md`` names exists, with the case that it names."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DOCUMENT = (REPOSITORY / "docs" / "known_faults.md").read_text("utf-8")
ROWS = [line for line in DOCUMENT.splitlines() if line.startswith("| ") and not line.startswith("| fault ")]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)(?:\[([^\]]+)\])?` \|$")


@cache
def tree(file: str) -> ast.Module:
    return ast.parse((REPOSITORY / file).read_text("utf-8"))


def test_there_are_rows() -> None:
    assert len(ROWS) > 100
    assert len({row.partition(" | ")[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_the_test_of_a_row_exists(row: str) -> None:
    found = NAMED.search(row)
    assert found is not None
    file, test, case = found.groups()
    nodes = list(ast.walk(tree(file)))
    functions = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert test in functions
    if case is not None:
        assert case in {node.value for node in nodes if isinstance(node, ast.Constant)}
