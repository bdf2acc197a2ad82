"""Logarithms of probabilities: of the tokens that were chosen, of the likeliest, and of a prompt's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class LogprobsWanted:
    """`top` likeliest tokens beside the chosen one; `processed`: after mask, penalties, temperature and
    filters, by which a token that cannot be chosen has -inf."""

    top: int = 0
    processed: bool = False


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One token's logprob and rank (1 is the likeliest), and the likeliest tokens, best first."""

    token_id: int
    logprob: float
    rank: int
    top: tuple[tuple[int, float], ...] = ()


def token_logprobs(
    logprobs: torch.Tensor, token_ids: torch.Tensor, tops: Sequence[int]
) -> list[TokenLogprobs]:
    """logprobs: [rows, vocab]; token_ids: [rows]; tops: so many likeliest tokens for each row."""
    chosen = logprobs.gather(1, token_ids.unsqueeze(1))
    ranks = (logprobs > chosen).sum(dim=-1) + 1
    best = logprobs.topk(min(max(tops), logprobs.shape[1]), dim=-1)
    columns = zip(
        token_ids.tolist(),
        chosen.squeeze(1).tolist(),
        ranks.tolist(),
        best.indices.tolist(),
        best.values.tolist(),
        tops,
        strict=True,
    )
    return [
        TokenLogprobs(token, logprob, rank, tuple(zip(ids[:top], values[:top], strict=True)))
        for token, logprob, rank, ids, values, top in columns
    ]


def prompt_token_logprobs(logits: torch.Tensor, next_ids: Sequence[int], top: int) -> list[TokenLogprobs]:
    """How likely each token of a prompt was where it stands.

    logits: [positions, vocab], those after each token; next_ids: the tokens that came, one a position.
    """
    if not next_ids:
        return []
    logprobs = logits[: len(next_ids)].float().log_softmax(dim=-1)
    return token_logprobs(logprobs, torch.tensor(next_ids, device=logits.device), [top] * len(next_ids))
