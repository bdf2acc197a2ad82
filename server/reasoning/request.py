"""The reasoning fields of a request, for a model's chat template."""

from __future__ import annotations

import re
from typing import Any

from server.errors import invalid_request
from server.schemas.chat_request import ChatCompletionRequest

_SWITCHES = ("enable_thinking", "thinking")
_EFFORT = "reasoning_effort"


def template_kwargs(request: ChatCompletionRequest, template: str) -> dict[str, Any]:
    """The template's variables; `reasoning_effort` sets those about thinking that the request leaves open.

    Raises:
        ApiError: 400 for an effort, other than "none", that the template has no use for.
    """
    kwargs = dict(request.chat_template_kwargs or {})
    if request.reasoning_effort is None:
        return kwargs
    known = {name for name in (*_SWITCHES, _EFFORT) if re.search(rf"\b{name}\b", template)}
    if not known and request.reasoning_effort != "none":
        message = "This model's chat template cannot be told how much to think: it has no such variable."
        raise invalid_request(message, param="reasoning_effort", code="unsupported_parameter")
    for name in known:
        value = request.reasoning_effort if name == _EFFORT else request.reasoning_effort != "none"
        kwargs.setdefault(name, value)
    return kwargs


def disables_thinking(request: ChatCompletionRequest, kwargs: dict[str, Any]) -> bool:
    """Whether the request wants an answer without thoughts."""
    return request.reasoning_effort == "none" or any(kwargs.get(name) is False for name in _SWITCHES)
