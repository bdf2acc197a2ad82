"""What a request's sampling fields become, with a model's own defaults."""

from __future__ import annotations

from typing import Any

import pytest

from models.sampler import SamplingParams
from server.sampling import SamplingDefaults, defaults_from_generation_config, sampling_params
from server.schemas.chat_request import parse_chat_request


def params(defaults: SamplingDefaults, **fields: Any) -> SamplingParams:
    body = {"messages": [{"role": "user", "content": "hi"}], **fields}
    return sampling_params(parse_chat_request(body), defaults)


def test_generation_config_gives_the_defaults() -> None:
    config = {"temperature": 0.6, "top_k": 20, "top_p": 0.95, "eos_token_id": [1, 2], "do_sample": True}
    assert defaults_from_generation_config(config) == SamplingDefaults(0.6, 0.95, 20, 0.0)
    assert defaults_from_generation_config({"temperature": None}) == SamplingDefaults()


def test_request_beats_the_defaults_with_zero_too() -> None:
    defaults = SamplingDefaults(temperature=0.6, top_p=0.95, top_k=20, min_p=0.1)
    assert params(defaults) == SamplingParams(temperature=0.6, top_p=0.95, top_k=20, min_p=0.1)
    given = params(defaults, temperature=0, top_p=1, top_k=0, min_p=0, seed=0)
    assert given == SamplingParams(temperature=0, top_p=1, top_k=0, min_p=0, seed=0)


@pytest.mark.parametrize("off", [0, -1])
def test_both_spellings_turn_top_k_off(off: int) -> None:
    assert params(SamplingDefaults(top_k=20), top_k=off).top_k == 0
