"""Where settings come from, and what is said about bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server.settings import ServerSettings, SettingsError, load_settings

REPOSITORY = Path(__file__).parents[2]
CONFIGS = sorted((REPOSITORY / "configs").glob("*.yaml"))


def config(directory: Path, text: str) -> Path:
    file = directory / "config.yaml"
    file.write_text(text, "utf-8")
    return file


def error_of(file: Path | None = None, **flags: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(file, flags)
    return str(caught.value)


def test_flags_beat_the_environment_which_beats_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = config(tmp_path, "port: 1\nhost: file\ndevice: file\n")
    monkeypatch.setenv("SYNTAGMA_PORT", "2")
    monkeypatch.setenv("SYNTAGMA_HOST", "environment")
    settings = load_settings(file, {"port": 3})
    assert (settings.port, settings.host, settings.device, settings.dtype) == (
        3,
        "environment",
        "file",
        "auto",
    )


def test_no_source_gives_the_defaults(tmp_path: Path) -> None:
    assert load_settings(None, {}).model_dump() == ServerSettings().model_dump()
    assert load_settings(config(tmp_path, "# nothing\n"), {}).port == 8000


@pytest.mark.parametrize("file", CONFIGS, ids=lambda file: str(file.name))
def test_shipped_configs_load(file: Path) -> None:
    assert load_settings(file, {}).port == 8000


def test_there_are_shipped_configs() -> None:
    assert CONFIGS


def test_unknown_key_in_the_file(tmp_path: Path) -> None:
    error = error_of(config(tmp_path, "prot: 1\n"))
    assert "'prot'" in error
    assert "did you mean port?" in error


def test_unknown_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTAGMA_PROT", "1")
    assert "did you mean SYNTAGMA_PORT?" in error_of()


@pytest.mark.parametrize(
    ("text", "words"), [("a: [", "not valid YAML"), ("- a\n", "name: value"), ("a", "name:")]
)
def test_broken_file(tmp_path: Path, text: str, words: str) -> None:
    assert words in error_of(config(tmp_path, text))


def test_missing_file(tmp_path: Path) -> None:
    assert "No such file" in error_of(tmp_path / "missing.yaml")


def test_bad_value_names_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "--max-batch-size" in error_of(max_batch_size=0)
    file = config(tmp_path, "dtype: float99\n")
    assert f"'dtype' in {file}" in error_of(file)
    monkeypatch.setenv("SYNTAGMA_PORT", "http")
    assert "environment variable SYNTAGMA_PORT" in error_of()
