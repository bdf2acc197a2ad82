"""The fields about what a model thinks before it answers. `server.reasoning` gives them their meaning."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

MAX_THINKING_TOKENS = 1_000_000

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class ReasoningFields(BaseModel):
    """Part of the body of chat completions; ``None`` means "not given"."""

    reasoning_effort: ReasoningEffort | None = None
    include_reasoning: bool | None = None
    """False leaves the thoughts out of the response."""
    thinking_token_budget: Annotated[int, Field(ge=-1, le=MAX_THINKING_TOKENS)] | None = None
    """-1 is no budget; when it is used up the thoughts end and the answer begins."""
