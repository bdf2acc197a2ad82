"""The answers to a completion request as a stream of events."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from models.logprobs import TokenLogprobs
from server.completion_service import CompletionJob
from server.engine import TextDelta
from server.errors import ApiError, server_fault
from server.schemas.chat_response import usage_of
from server.schemas.completion_request import CompletionRequest
from server.schemas.completion_response import Completion, CompletionChoice
from server.sse import DONE, event
from server.whole_answer import captures, failure

logger = logging.getLogger("syntagma")


async def streamed_completion(job: CompletionJob, request: CompletionRequest) -> AsyncGenerator[str, None]:
    """Text pieces, finish reasons, usage if wanted, ``[DONE]``; a fault becomes an error event."""
    try:
        async for chunk in _Stream(job, request).chunks():
            yield event(chunk.model_dump_json(exclude_unset=True))
    except ApiError as error:
        yield event(json.dumps(error.body()))
    # The status line is long gone: an event is the only place left to tell the client.
    except Exception:
        logger.exception("request %s failed in mid-stream", job.id)
        yield event(json.dumps(server_fault().body()))
    yield DONE


class _StreamedChoice:
    """Turns the deltas of one choice into what its chunks say; logprobs go with the next text."""

    def __init__(self, job: CompletionJob, index: int, *, has_top: bool, is_empty: bool) -> None:
        self._job = job
        self._index = index
        self._has_top = has_top
        self._is_empty = is_empty
        self._logprobs: list[TokenLogprobs] = []
        self._token_ids: list[int] = []
        self._characters = 0
        self.tokens = 0

    def first(self, echoed: str, prompt_token_ids: list[int]) -> CompletionChoice | None:
        """What comes before the answer, if anything does."""
        self._characters = len(echoed)
        if not echoed and not self._job.output.returns_token_ids:
            return None
        optional: dict[str, Any] = {}
        if self._job.output.returns_token_ids:
            optional = {"prompt_token_ids": prompt_token_ids, "token_ids": []}
        return self._choice(echoed, **optional)

    def add(self, delta: TextDelta) -> CompletionChoice | None:
        if delta.finish_reason not in (None, "stop", "length"):
            raise failure(delta, self._job.constraint_param)
        if self._is_empty:
            return None if delta.finish_reason is None else self._choice("", finish_reason="length")
        self.tokens += len(delta.token_ids)
        self._token_ids += delta.token_ids
        self._logprobs += delta.logprobs
        if not delta.text and delta.finish_reason is None:
            return None
        optional: dict[str, Any] = {}
        wanted = captures(delta)
        if wanted is not None:
            optional["captures"] = wanted
        if delta.finish_reason is not None:
            optional |= {"finish_reason": delta.finish_reason, "stop_reason": delta.stop_reason}
        return self._with_details(delta.text, optional)

    def _with_details(self, text: str, optional: dict[str, Any]) -> CompletionChoice:
        output = self._job.output
        if output.logprobs is not None and self._logprobs:
            optional["logprobs"] = output.logprobs.completion(
                self._logprobs, self._characters, has_top=self._has_top
            )
            self._characters += len(text)
        if output.returns_token_ids:
            optional["token_ids"] = self._token_ids
        self._logprobs, self._token_ids = [], []
        return self._choice(text, **optional)

    def _choice(self, text: str, **fields: Any) -> CompletionChoice:
        defaults = {"logprobs": None, "finish_reason": None, "stop_reason": None}
        return CompletionChoice(index=self._index, text=text, **(defaults | fields))


class _Stream:
    """The chunks of all choices, as they come."""

    def __init__(self, job: CompletionJob, request: CompletionRequest) -> None:
        self._job = job
        self._echoes = bool(request.echo)
        self._choices = [
            _StreamedChoice(job, index, has_top=bool(request.logprobs), is_empty=request.max_tokens == 0)
            for index in range(len(job.streams))
        ]

    async def chunks(self) -> AsyncIterator[Completion]:
        for index, choice in enumerate(self._choices):
            prompt = self._job.prompts[index // self._job.candidates]
            first = choice.first(prompt.text if self._echoes else "", prompt.token_ids)
            if first is not None:
                yield self._chunk([first])
        async with aclosing(self._job.streams.deltas()) as deltas:
            async for number, delta in deltas:
                part = self._choices[number].add(delta)
                if part is not None:
                    yield self._chunk([part])
        if self._job.output.includes_usage:
            yield self._chunk([], is_last=True)

    def _chunk(self, choices: list[CompletionChoice], *, is_last: bool = False) -> Completion:
        job = self._job
        return Completion(
            id=job.id,
            object="text_completion",
            created=job.created,
            model=job.model,
            choices=choices,
            **self._usage(is_last=is_last),
        )

    def _usage(self, *, is_last: bool) -> dict[str, Any]:
        output = self._job.output
        if is_last or output.includes_running_usage:
            prompt_tokens = sum(len(prompt.token_ids) for prompt in self._job.prompts)
            return {"usage": usage_of(prompt_tokens, sum(choice.tokens for choice in self._choices))}
        return {"usage": None} if output.includes_usage else {}
