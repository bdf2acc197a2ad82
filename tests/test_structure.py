"""Which package may import which: the rules of ARCHITECTURE.md, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
HEAVY = {"torch", "transformers", "fastapi"}
PACKAGES = ("grammar_core", "models", "server")
MODULES = [file for package in PACKAGES for file in sorted((REPOSITORY / package).rglob("*.py"))]


def imported_packages(file: Path, *, at_import_time: bool = False) -> set[str]:
    """The top-level packages a file imports: anywhere in it, or only where importing it does."""
    tree = ast.parse(file.read_text("utf-8"))
    nodes = tree.body if at_import_time else list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def files(*parts: str) -> list[Path]:
    found = sorted(REPOSITORY.joinpath(*parts).rglob("*.py"))
    assert found
    return found


@pytest.mark.parametrize("file", files("grammar_core"), ids=lambda file: str(file.name))
def test_grammar_core_stands_alone(file: Path) -> None:
    assert not imported_packages(file) & {"models", "server", "fastapi"}
    assert not imported_packages(file, at_import_time=True) & HEAVY


@pytest.mark.parametrize("file", files("models"), ids=lambda file: str(file.name))
def test_models_know_no_grammars_and_no_server(file: Path) -> None:
    assert not imported_packages(file) & {"grammar_core", "server", "fastapi"}


@pytest.mark.parametrize(
    "file", [*files("server", "routes"), *files("server", "schemas")], ids=lambda f: f.name
)
def test_routes_and_schemas_touch_no_models(file: Path) -> None:
    assert not imported_packages(file) & {"torch", "transformers", "models", "grammar_core"}


def test_no_catch_all_modules() -> None:
    assert not {file.stem for file in MODULES} & {"utils", "common", "helpers", "manager"}


@pytest.mark.parametrize(
    ("package", "absent"),
    [("grammar_core", HEAVY), ("server.cli", {"torch", "transformers"})],
)
def test_import_is_light(package: str, absent: set[str]) -> None:
    program = f"import sys, {package}; print(*sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert not set(output.split()) & absent
