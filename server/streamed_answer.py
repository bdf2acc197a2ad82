"""A generation as a stream of events."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

from models.logprobs import TokenLogprobs
from server.answer_deltas import DeltaWriter
from server.engine import TextDelta
from server.errors import ApiError, server_fault
from server.generation import Generation
from server.schemas.chat_response import ChatCompletionChunk, ChunkChoice, Delta, usage_of
from server.sse import DONE, event
from server.whole_answer import captures, finish_reason

logger = logging.getLogger("syntagma")


async def streamed_answer(generation: Generation) -> AsyncGenerator[str, None]:
    """Role, text deltas, finish reason, usage if wanted, ``[DONE]``; a fault becomes an error event."""
    try:
        async for chunk in _Stream(generation).chunks():
            yield event(chunk.model_dump_json(exclude_unset=True))
    except ApiError as error:
        yield event(json.dumps(error.body()))
    # The status line is long gone: an event is the only place left to tell the client.
    except Exception:
        logger.exception("request %s failed in mid-stream", generation.id)
        yield event(json.dumps(server_fault().body()))
    yield DONE


class StreamedChoice:
    """Turns the deltas of one choice into what its chunks say.

    Logprobs and token ids go with the next chunk that is sent: text may lag behind its tokens.
    """

    def __init__(self, generation: Generation, index: int) -> None:
        self._generation = generation
        self._index = index
        self._writer = DeltaWriter(generation.custom_tools)
        self._logprobs: list[TokenLogprobs] = []
        self._token_ids: list[int] = []
        self.reader = generation.form.reader()
        self.tokens = 0

    def first(self) -> Iterator[ChunkChoice]:
        yield self._choice(Delta(role="assistant", content=""))
        if self._generation.output.echoed:
            yield self._choice(Delta(content=self._generation.output.echoed))

    def add(self, delta: TextDelta) -> Iterator[ChunkChoice]:
        self.tokens += len(delta.token_ids)
        self._token_ids += delta.token_ids
        self._logprobs += delta.logprobs
        events = self.reader.feed(delta.text, len(delta.token_ids))
        if delta.finish_reason is not None:
            events += self.reader.finish()
        for part in self._writer.write(events):
            yield self._choice(part)
        if delta.finish_reason is not None:
            yield self._last(delta)

    def _last(self, delta: TextDelta) -> ChunkChoice:
        wanted = captures(delta)
        optional: dict[str, Any] = {} if wanted is None else {"captures": wanted}
        reason = finish_reason(self._generation, self.reader, delta)
        return self._choice(Delta(), finish_reason=reason, stop_reason=delta.stop_reason, **optional)

    def _choice(self, delta: Delta, **fields: Any) -> ChunkChoice:
        output = self._generation.output
        logprobs = None
        if output.logprobs is not None and self._logprobs:
            logprobs = output.logprobs.chat(self._logprobs)
        if output.returns_token_ids:
            fields["token_ids"] = self._token_ids
        self._logprobs, self._token_ids = [], []
        return ChunkChoice(
            index=self._index, delta=delta, logprobs=logprobs, **({"finish_reason": None} | fields)
        )


class _Stream:
    """The chunks of all choices, as they come."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._choices = [StreamedChoice(generation, index) for index in range(len(generation.streams))]

    async def chunks(self) -> AsyncIterator[ChatCompletionChunk]:
        for choice in self._choices:
            for first in choice.first():
                yield self._chunk([first])
        async with aclosing(self._generation.streams.deltas()) as deltas:
            async for number, delta in deltas:
                for part in self._choices[number].add(delta):
                    yield self._chunk([part])
        if self._generation.output.includes_usage:
            yield self._chunk([], is_last=True)

    def _chunk(self, choices: list[ChunkChoice], *, is_last: bool = False) -> ChatCompletionChunk:
        generation, optional = self._generation, self._usage(is_last=is_last)
        if generation.output.returns_token_ids and choices and not self._tokens():
            optional["prompt_token_ids"] = generation.prompt_token_ids
        return ChatCompletionChunk(
            id=generation.id,
            object="chat.completion.chunk",
            created=generation.created,
            model=generation.model,
            choices=choices,
            **optional,
        )

    def _usage(self, *, is_last: bool) -> dict[str, Any]:
        output = self._generation.output
        if is_last or output.includes_running_usage:
            thoughts = sum(choice.reader.thought_tokens for choice in self._choices)
            return {"usage": usage_of(self._generation.prompt_tokens, self._tokens(), thoughts)}
        return {"usage": None} if output.includes_usage else {}

    def _tokens(self) -> int:
        return sum(choice.tokens for choice in self._choices)
