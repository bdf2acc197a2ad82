"""A generation as a stream of events."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator

from server.engine import TextDelta
from server.errors import ApiError, server_fault
from server.generation import Generation
from server.schemas.chat_response import Capture, ChatCompletionChunk, ChunkChoice, Delta, Usage, usage_of
from server.sse import DONE, event
from server.whole_answer import captures, finish_reason

logger = logging.getLogger("syntagma")


async def streamed_answer(generation: Generation, *, include_usage: bool) -> AsyncGenerator[str, None]:
    """Role, text deltas, finish reason, usage if wanted, ``[DONE]``; a fault becomes an error event."""
    try:
        async for chunk in _chunks(generation, include_usage):
            yield event(chunk.model_dump_json(exclude_unset=True))
    except ApiError as error:
        yield event(json.dumps(error.body()))
    # The status line is long gone: an event is the only place left to tell the client.
    except Exception:
        logger.exception("request %s failed in mid-stream", generation.id)
        yield event(json.dumps(server_fault().body()))
    yield DONE


async def _chunks(generation: Generation, include_usage: bool) -> AsyncIterator[ChatCompletionChunk]:
    unknown_yet: dict[str, Usage | None] = {"usage": None} if include_usage else {}
    yield _chunk(generation, [_choice(Delta(role="assistant", content=""))], unknown_yet)
    completion_tokens = 0
    async for delta in generation.stream:
        completion_tokens += len(delta.token_ids)
        for choice in _choices(delta):
            yield _chunk(generation, [choice], unknown_yet)
    if include_usage:
        yield _chunk(generation, [], {"usage": usage_of(generation.prompt_tokens, completion_tokens)})


def _choices(delta: TextDelta) -> list[ChunkChoice]:
    choices = [_choice(Delta(content=delta.text))] if delta.text else []
    if delta.finish_reason is not None:
        choices.append(_last_choice(delta))
    return choices


def _last_choice(delta: TextDelta) -> ChunkChoice:
    wanted = captures(delta)
    optional: dict[str, list[Capture]] = {} if wanted is None else {"captures": wanted}
    return ChunkChoice(
        index=0,
        delta=Delta(),
        logprobs=None,
        finish_reason=finish_reason(delta),
        stop_reason=delta.stop_reason,
        **optional,
    )


def _choice(delta: Delta) -> ChunkChoice:
    return ChunkChoice(index=0, delta=delta, logprobs=None, finish_reason=None)


def _chunk(
    generation: Generation, choices: list[ChunkChoice], usage: dict[str, Usage | None]
) -> ChatCompletionChunk:
    return ChatCompletionChunk(
        id=generation.id,
        object="chat.completion.chunk",
        created=generation.created,
        model=generation.model,
        choices=choices,
        **usage,
    )
