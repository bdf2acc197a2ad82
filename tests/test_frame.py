"""The files around the code fit the code."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import yaml

from server import __version__

REPOSITORY = Path(__file__).parents[1]


def test_make_help_lists_the_targets_that_are_documented() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    output = subprocess.run(
        ["make", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True, env=environment
    ).stdout
    listed = {line.split()[0] for line in output.splitlines() if line.startswith("  ")}
    documented = re.findall(r"`?make ([a-z ]+)", (REPOSITORY / "README.md").read_text("utf-8"))
    assert {"serve", "test", "lint", "format", "typecheck", "asan", "bench"} <= listed
    assert {target for words in documented for target in words.split()[:1]} <= listed


def test_changelog_has_the_version() -> None:
    assert f"## {__version__}" in (REPOSITORY / "CHANGELOG.md").read_text("utf-8")


def test_dockerfile_copies_what_exists_and_what_the_context_lets_through() -> None:
    text = (REPOSITORY / "Dockerfile").read_text("utf-8")
    copied = {name for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.M) for name in line.split()[:-1]}
    allowed = re.findall(r"^!(.+)$", (REPOSITORY / ".dockerignore").read_text("utf-8"), re.M)
    assert copied == set(allowed)
    assert all((REPOSITORY / name).exists() for name in copied)
    last_stage = text.rpartition("\nFROM ")[2]
    assert last_stage.index("USER syntagma") < last_stage.index("ENTRYPOINT")


def test_settings_of_the_image_are_settings() -> None:
    text = (REPOSITORY / "Dockerfile").read_text("utf-8")
    names = re.findall(r"SYNTAGMA_([A-Z_]+)=", text)
    assert {"HOST", "PORT", "CACHE_DIR"} == set(names)


def test_compose_file_builds_this_repository() -> None:
    compose = yaml.safe_load((REPOSITORY / "docker" / "compose.yaml").read_text("utf-8"))
    build = compose["services"]["syntagma"]["build"]
    assert (REPOSITORY / "docker" / build["context"] / "Dockerfile").resolve() == REPOSITORY / "Dockerfile"


def test_build_requirements_are_in_the_extra_that_make_installs() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    assert set(project["build-system"]["requires"]) <= set(
        project["project"]["optional-dependencies"]["build"]
    )
