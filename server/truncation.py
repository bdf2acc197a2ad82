"""``truncate_prompt_tokens``: prompts that are cut instead of refused."""

from __future__ import annotations

from server.schemas.sampling_fields import SamplingFields


def truncated(token_ids: list[int], request: SamplingFields, max_context: int) -> list[int]:
    """The prompt without what the request wants cut off.

    -1 cuts to what the context leaves beside the request's `max_tokens`, and to one token at least.
    """
    limit = request.truncate_prompt_tokens
    if limit is None:
        return token_ids
    if limit == -1:
        limit = max(max_context - (request.token_limit or 1), 1)
    if request.truncation_side == "right":
        return token_ids[:limit]
    return token_ids[max(len(token_ids) - limit, 0) :]
