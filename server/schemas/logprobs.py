"""How logprobs are written: as chat completions, as completions, and as prompts have them."""

from __future__ import annotations

from pydantic import BaseModel


class TopLogprob(BaseModel):
    token: str
    logprob: float
    bytes: list[int] | None


class TokenLogprob(TopLogprob):
    top_logprobs: list[TopLogprob]


class ChatLogprobs(BaseModel):
    """One entry for each token, a stop token included; tokens that are no whole text are told by bytes."""

    content: list[TokenLogprob]
    refusal: None = None


class CompletionLogprobs(BaseModel):
    """One entry for each token in all lists; the first of a prompt has no logprob."""

    text_offset: list[int]
    token_logprobs: list[float | None]
    tokens: list[str]
    top_logprobs: list[dict[str, float] | None]


class RankedLogprob(BaseModel):
    logprob: float
    rank: int
    decoded_token: str


PromptLogprobs = list[dict[int, RankedLogprob] | None]
"""One entry for each token of a prompt, by token id; None for the first."""
