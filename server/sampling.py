"""From a request's sampling fields, and the model's own defaults, to sampling parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from models.sampler import SamplingParams
from server.schemas.chat_request import ChatCompletionRequest

T = TypeVar("T")


@dataclass(frozen=True)
class SamplingDefaults:
    """What a field that the request leaves out means for this model."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0


def defaults_from_generation_config(config: Mapping[str, Any]) -> SamplingDefaults:
    """The defaults in the fields of a model's generation config that differ from the library's own."""
    names = SamplingDefaults.__dataclass_fields__
    return SamplingDefaults(**{name: config[name] for name in names if config.get(name) is not None})


def sampling_params(request: ChatCompletionRequest, defaults: SamplingDefaults) -> SamplingParams:
    top_k = _given(request.top_k, defaults.top_k)
    return SamplingParams(
        temperature=_given(request.temperature, defaults.temperature),
        top_p=_given(request.top_p, defaults.top_p),
        top_k=max(top_k, 0),
        min_p=_given(request.min_p, defaults.min_p),
        seed=request.seed,
    )


def _given(value: T | None, default: T) -> T:
    return default if value is None else value
