"""Loading a Hugging Face causal language model, from a directory or from the hub."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_FALLBACK_CONTEXT = 4096  # for the rare configuration that states no limit


class ModelLoadError(RuntimeError):
    """The model cannot be used; the message is meant for the person who named it."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model ready to run, with what the rest of the program needs to know about it.

    `vocab_size` is the width of the logits, which may exceed the tokenizer's size; `max_context` is in
    tokens; `stop_token_ids` are those of the generation config and the tokenizer's own end token;
    `parameters` is their number as loaded (a runner may pack them into another form).
    """

    model: Any
    tokenizer: Any
    device: torch.device
    dtype: torch.dtype
    vocab_size: int
    max_context: int
    stop_token_ids: tuple[int, ...]
    name: str
    parameters: int

    @property
    def has_chat_template(self) -> bool:
        """Whether chat messages can be rendered; base models often have no template."""
        return bool(getattr(self.tokenizer, "chat_template", None))


def load_model(path_or_id: str, *, device: str = "auto", dtype: str = "auto") -> LoadedModel:
    """Load a causal language model with its tokenizer.

    path_or_id: a directory, or an id on the Hugging Face hub. device: "auto" (a GPU when there is one),
    "cpu", "cuda" or "cuda:N". dtype: "float32", "bfloat16", "float16" or "auto", which is float32 on a CPU
    and the model's own type on a GPU. Raises ModelLoadError.
    """
    target = _resolve_device(device)
    _check_directory(path_or_id)
    config = _load_config(path_or_id)
    tokenizer = _load_tokenizer(path_or_id)
    model = _load_weights(path_or_id, _resolve_dtype(dtype, target, config)).to(target).eval()
    return describe_model(model, tokenizer, name=Path(path_or_id).name)


def describe_model(model: Any, tokenizer: Any, *, name: str) -> LoadedModel:
    """LoadedModel of a model and a tokenizer that are in memory already."""
    text_config = model.config.get_text_config()
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        device=model.device,
        dtype=model.dtype,
        vocab_size=_logits_width(model),
        max_context=int(getattr(text_config, "max_position_embeddings", None) or _FALLBACK_CONTEXT),
        stop_token_ids=_stop_token_ids(model, tokenizer),
        name=name,
        parameters=sum(parameter.numel() for parameter in model.parameters()),
    )


def _resolve_device(device: str) -> torch.device:
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError as error:
        raise ModelLoadError(f"unknown device {device!r}: use auto, cpu or cuda") from error
    if resolved.type == "cuda" and not torch.cuda.is_available():
        raise ModelLoadError(f"the device {device!r} was asked for, but PyTorch finds no CUDA GPU")
    return resolved


def _resolve_dtype(dtype: str, device: torch.device, config: Any) -> torch.dtype:
    if dtype != "auto":
        if dtype not in _DTYPES:
            raise ModelLoadError(f"unknown dtype {dtype!r}: use auto, {', '.join(_DTYPES)}")
        return _DTYPES[dtype]
    if device.type == "cpu":
        return torch.float32
    stated = getattr(config, "dtype", None) or getattr(config.get_text_config(), "dtype", None)
    return stated if isinstance(stated, torch.dtype) else torch.bfloat16


def _check_directory(path_or_id: str) -> None:
    path = Path(path_or_id).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelLoadError(f"{path} is not a Hugging Face model: it has no config.json")
    elif path.exists():
        raise ModelLoadError(f"{path} is a file; a model is a directory with config, weights and tokenizer")
    elif path_or_id.startswith((".", "/", "~")) or path_or_id.count("/") > 1:
        raise ModelLoadError(f"there is no directory {path}")


def _load_config(path_or_id: str) -> Any:
    try:
        return AutoConfig.from_pretrained(_expand(path_or_id))
    except (OSError, ValueError, KeyError) as error:
        raise ModelLoadError(f"cannot read the configuration of {path_or_id!r}: {_brief(error)}") from error


def _load_tokenizer(path_or_id: str) -> Any:
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(_expand(path_or_id))
    except Exception as error:  # broken tokenizer files raise exceptions of no common type
        raise ModelLoadError(f"cannot load the tokenizer of {path_or_id!r}: {_brief(error)}") from error
    if not tokenizer.is_fast:
        raise ModelLoadError(f"the tokenizer of {path_or_id!r} has no tokenizer.json, which is needed")
    return tokenizer


def _load_weights(path_or_id: str, dtype: torch.dtype) -> Any:
    try:
        return AutoModelForCausalLM.from_pretrained(_expand(path_or_id), dtype=dtype)
    except ValueError as error:
        if "Unrecognized configuration class" in str(error):
            raise ModelLoadError(f"{path_or_id!r} is not a causal language model") from error
        raise ModelLoadError(f"cannot load the weights of {path_or_id!r}: {_brief(error)}") from error
    except Exception as error:  # damaged weight files raise exceptions of no common type
        raise ModelLoadError(f"cannot load the weights of {path_or_id!r}: {_brief(error)}") from error


def _expand(path_or_id: str) -> str:
    path = Path(path_or_id).expanduser()
    return str(path) if path.is_dir() else path_or_id


def _brief(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:500]


def _logits_width(model: Any) -> int:
    """From the output layer: the configuration's vocab_size is wrong for some padded models."""
    head = model.get_output_embeddings()
    width = getattr(head, "out_features", None) or model.config.get_text_config().vocab_size
    return int(width)


def _stop_token_ids(model: Any, tokenizer: Any) -> tuple[int, ...]:
    generation = model.generation_config.eos_token_id if model.generation_config else None
    candidates = [*_as_list(generation), *_as_list(tokenizer.eos_token_id)]
    return tuple(sorted(set(candidates)))


def _as_list(ids: int | Iterable[int] | None) -> list[int]:
    if ids is None:
        return []
    return [ids] if isinstance(ids, int) else [int(i) for i in ids]
