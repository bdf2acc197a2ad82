"""Models from directories, and the errors for what is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from models.loading import LoadedModel, ModelLoadError, load_model
from tests.models.tiny import EOS, TOKENIZER_SIZE, VOCAB_SIZE, byte_tokenizer, tiny_model


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A saved model; bfloat16, as most are."""
    target = tmp_path / "tiny-instruct"
    model = tiny_model().to(torch.bfloat16)
    model.generation_config.eos_token_id = [EOS + 1, 3]
    model.save_pretrained(str(target))
    byte_tokenizer().save_pretrained(str(target))
    return target


def test_everything_the_program_needs_to_know(directory: Path) -> None:
    loaded = load_model(str(directory), device="cpu")
    assert isinstance(loaded, LoadedModel)
    assert (loaded.name, loaded.device, loaded.dtype) == ("tiny-instruct", torch.device("cpu"), torch.float32)
    assert (loaded.vocab_size, loaded.max_context) == (VOCAB_SIZE, 512)
    assert loaded.vocab_size > TOKENIZER_SIZE
    assert loaded.parameters == sum(p.numel() for p in loaded.model.parameters())
    assert not loaded.model.training


def test_stop_tokens_are_those_of_the_generation_config_and_the_tokenizer(directory: Path) -> None:
    assert load_model(str(directory), device="cpu").stop_token_ids == (3, EOS, EOS + 1)


def test_a_single_stop_token_and_none(directory: Path) -> None:
    _edit(directory / "generation_config.json", eos_token_id=5)
    assert load_model(str(directory), device="cpu").stop_token_ids == (5, EOS)
    _edit(directory / "generation_config.json", eos_token_id=None)
    _edit(directory / "tokenizer_config.json", eos_token=None)
    assert load_model(str(directory), device="cpu").stop_token_ids in ((), (EOS,))


@pytest.mark.parametrize(("name", "dtype"), [("bfloat16", torch.bfloat16), ("float32", torch.float32)])
def test_dtypes(directory: Path, name: str, dtype: torch.dtype) -> None:
    assert load_model(str(directory), device="cpu", dtype=name).dtype == dtype


def test_the_chat_template_is_found_missing(directory: Path) -> None:
    assert load_model(str(directory), device="cpu").has_chat_template
    (directory / "chat_template.jinja").unlink()
    assert not load_model(str(directory), device="cpu").has_chat_template


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match="there is no directory"):
        load_model(str(tmp_path / "nothing"))


def test_a_directory_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"no config\.json"):
        load_model(str(tmp_path))


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "weights").write_text("")
    with pytest.raises(ModelLoadError, match="is a file"):
        load_model(str(tmp_path / "weights"))


def test_an_id_that_cannot_be_had() -> None:
    with pytest.raises(ModelLoadError, match="cannot read the configuration of 'no-such/model'"):
        load_model("no-such/model")


def test_not_a_causal_language_model(directory: Path) -> None:
    (directory / "config.json").write_text(json.dumps({"model_type": "vit"}))
    with pytest.raises(ModelLoadError, match="not a causal language model"):
        load_model(str(directory), device="cpu")


def test_an_unknown_architecture(directory: Path) -> None:
    _edit(directory / "config.json", model_type="of_the_future")
    with pytest.raises(ModelLoadError, match="cannot read the configuration"):
        load_model(str(directory), device="cpu")


def test_damaged_weights(directory: Path) -> None:
    (directory / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelLoadError, match="cannot load the weights"):
        load_model(str(directory), device="cpu")


def test_a_missing_tokenizer(directory: Path) -> None:
    for file in ("tokenizer.json", "tokenizer_config.json"):
        (directory / file).unlink()
    with pytest.raises(ModelLoadError, match="tokenizer"):
        load_model(str(directory), device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"device": "abacus"}, "unknown device"), ({"dtype": "int3", "device": "cpu"}, "unknown dtype")],
)
def test_unknown_settings(directory: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelLoadError, match=message):
        load_model(str(directory), **options)


def test_a_gpu_that_is_not_there(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ModelLoadError, match="no CUDA GPU"):
        load_model(str(directory), device="cuda")


def _edit(file: Path, **fields: Any) -> None:
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | fields))
