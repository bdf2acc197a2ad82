"""From a request's sampling fields, and the model's own defaults, to what the engine is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from models.sampler import SamplingParams
from server.engine import GenerationRequest
from server.errors import invalid_request
from server.schemas.sampling_fields import SamplingFields

if TYPE_CHECKING:
    from grammar_core import CompiledGrammar

T = TypeVar("T")

_SEEDS = 1 << 63


@dataclass(frozen=True)
class SamplingDefaults:
    """What a field that the request leaves out means for this model."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0


def defaults_from_generation_config(config: Mapping[str, Any]) -> SamplingDefaults:
    """The defaults in the fields of a model's generation config that differ from the library's own."""
    names = SamplingDefaults.__dataclass_fields__
    return SamplingDefaults(**{name: config[name] for name in names if config.get(name) is not None})


def sampling_params(request: SamplingFields, defaults: SamplingDefaults) -> SamplingParams:
    """How the request's first choice is sampled.

    Raises:
        ApiError: 400 for several choices that would all be the same, because sampling is greedy.
    """
    top_k = _given(request.top_k, defaults.top_k)
    params = SamplingParams(
        temperature=_given(request.temperature, defaults.temperature),
        top_p=_given(request.top_p, defaults.top_p),
        top_k=max(top_k, 0),
        min_p=_given(request.min_p, defaults.min_p),
        seed=request.seed,
        presence_penalty=_given(request.presence_penalty, 0.0),
        frequency_penalty=_given(request.frequency_penalty, 0.0),
        repetition_penalty=_given(request.repetition_penalty, defaults.repetition_penalty),
        logit_bias=tuple((int(key), bias) for key, bias in (request.logit_bias or {}).items()),
    )
    if request.choices > 1 and params.temperature == 0:
        raise invalid_request("n must be 1 with temperature 0: all choices would be the same.", param="n")
    return params


def generation_request(
    request: SamplingFields,
    prompt: Sequence[int],
    *,
    sampling: SamplingParams,
    max_context: int,
    default_max_tokens: int | None = None,
    grammar: CompiledGrammar | None = None,
    **others: Any,
) -> GenerationRequest:
    """What the engine is asked for one choice; `others` are fields of `GenerationRequest`."""
    allowed = request.allowed_token_ids
    return GenerationRequest(
        prompt_token_ids=list(prompt),
        sampling=sampling,
        max_tokens=request.token_limit or default_max_tokens or max_context,
        stop=tuple(request.stop or ()),
        grammar=grammar,
        stop_token_ids=tuple(request.stop_token_ids or ()),
        include_stop_text=bool(request.include_stop_str_in_output),
        min_tokens=request.min_tokens or 0,
        ignore_eos=bool(request.ignore_eos),
        allowed_token_ids=None if allowed is None else tuple(allowed),
        bad_words=tuple(request.bad_words or ()),
        shows_control_tokens=request.skip_special_tokens is False,
        priority=request.priority or 0,
        **others,
    )


def of_choice(sampling: SamplingParams, number: int) -> SamplingParams:
    """Every choice has a seed of its own, so that a seed gives the same choices again."""
    if sampling.seed is None:
        return sampling
    return replace(sampling, seed=(sampling.seed + number + _SEEDS) % (2 * _SEEDS) - _SEEDS)


def check_token_ids(request: SamplingFields, vocab_size: int) -> None:
    """
    Raises:
        ApiError: 400 for a token id that the model does not have.
    """
    given = {
        "logit_bias": [int(key) for key in request.logit_bias or {}],
        "allowed_token_ids": request.allowed_token_ids or [],
        "stop_token_ids": request.stop_token_ids or [],
    }
    for param, ids in given.items():
        check_ids(ids, vocab_size, param)


def check_ids(ids: Sequence[int], vocab_size: int, param: str) -> None:
    """
    Raises:
        ApiError: 400 for a token id that the model does not have.
    """
    greatest = max(ids, default=0)
    if greatest >= vocab_size:
        message = f"'{param}' has the token id {greatest}, but the model's ids end at {vocab_size - 1}."
        raise invalid_request(message, param=param)


def _given(value: T | None, default: T) -> T:
    return default if value is None else value
