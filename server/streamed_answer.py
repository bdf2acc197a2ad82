"""A generation as a stream of events."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator

from server.answer_deltas import DeltaWriter
from server.answer_reader import AnswerReader
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
    reader = generation.form.reader()
    writer = DeltaWriter(generation.custom_tools)
    completion_tokens = 0
    async for delta in generation.stream:
        completion_tokens += len(delta.token_ids)
        events = reader.feed(delta.text, len(delta.token_ids))
        if delta.finish_reason is not None:
            events += reader.finish()
        for part in writer.write(events):
            yield _chunk(generation, [_choice(part)], unknown_yet)
        if delta.finish_reason is not None:
            yield _chunk(generation, [_last_choice(generation, reader, delta)], unknown_yet)
    if include_usage:
        usage = usage_of(generation.prompt_tokens, completion_tokens, reader.thought_tokens)
        yield _chunk(generation, [], {"usage": usage})


def _last_choice(generation: Generation, reader: AnswerReader, delta: TextDelta) -> ChunkChoice:
    wanted = captures(delta)
    optional: dict[str, list[Capture]] = {} if wanted is None else {"captures": wanted}
    return ChunkChoice(
        index=0,
        delta=Delta(),
        logprobs=None,
        finish_reason=finish_reason(generation, reader, delta),
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
