"""One response while it is being made: its object, its items, and the events of its changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import structlog

from models.logprobs import TokenLogprobs
from server.answer_deltas import DeltaWriter
from server.engine import TextDelta
from server.errors import ApiError, server_fault
from server.generation import Generation
from server.responses.item_writer import Event, ItemWriter
from server.responses.translation import renamed
from server.schemas.logprobs import TokenLogprob
from server.schemas.responses_response import (
    IncompleteDetails,
    OutputTokensDetails,
    ResponseError,
    ResponseObject,
    ResponseUsage,
)
from server.whole_answer import finish_reason

_log = structlog.get_logger("syntagma")


class RunningResponse:
    """`response` is what it is at any time; `failure` is set when it has failed."""

    def __init__(self, response: ResponseObject, generation: Generation) -> None:
        self.response = response
        self.failure: ApiError | None = None
        self._generation = generation
        self._reader = generation.form.reader()
        self._deltas = DeltaWriter(generation.custom_tools)
        self._items = ItemWriter()
        self._logprobs: list[TokenLogprobs] = []
        self._tokens = 0

    def cancel(self) -> None:
        """End the generation; may be called again."""
        self._generation.streams.cancel()

    async def events(self) -> AsyncGenerator[Event, None]:
        """All events, from ``response.created`` to the last; never raises but on cancellation."""
        yield self._about_response("response.created")
        yield self._about_response("response.in_progress")
        try:
            async with aclosing(self._generation.streams.deltas()) as deltas:
                async for _, delta in deltas:
                    for event in self._add(delta):
                        yield event
            if self.response.status == "in_progress":
                raise server_fault("The generation ended without a result.")
        except ApiError as error:
            for event in self._fail(renamed(error)):
                yield event
        except Exception:
            _log.exception("a response failed", response_id=self.response.id)
            for event in self._fail(server_fault()):
                yield event

    def note_cancellation(self) -> None:
        """It was told to end before it was complete."""
        if self.response.status == "in_progress":
            self.response.status = "cancelled"
            self.response.output = self._items.items

    def _add(self, delta: TextDelta) -> Iterator[Event]:
        self._tokens += len(delta.token_ids)
        self._logprobs += delta.logprobs
        events = self._reader.feed(delta.text, len(delta.token_ids))
        if delta.finish_reason is not None:
            events += self._reader.finish()
        for part in self._deltas.write(events):
            yield from self._items.add(part, self._take_logprobs() if part.content else ())
        if delta.finish_reason is not None:
            yield from self._finish(delta)

    def _finish(self, delta: TextDelta) -> Iterator[Event]:
        is_cut = finish_reason(self._generation, self._reader, delta) == "length"
        yield from self._items.finish("incomplete" if is_cut else "completed", self._take_logprobs())
        response = self.response
        response.status = "incomplete" if is_cut else "completed"
        response.incomplete_details = IncompleteDetails(reason="max_output_tokens") if is_cut else None
        response.output = self._items.items
        response.usage = self._usage()
        yield self._about_response(f"response.{response.status}")

    def _fail(self, error: ApiError) -> Iterator[Event]:
        self.failure = error
        self.response.status = "failed"
        self.response.output = self._items.items
        self.response.error = ResponseError(code=error.code or error.type, message=error.message)
        yield {"type": "error", "code": error.code, "message": error.message, "param": error.param}
        yield self._about_response("response.failed")

    def _take_logprobs(self) -> list[TokenLogprob]:
        writer, entries = self._generation.output.logprobs, self._logprobs
        self._logprobs = []
        return writer.chat(entries).content if writer is not None else []

    def _usage(self) -> ResponseUsage:
        prompt_tokens = self._generation.prompt_tokens
        return ResponseUsage(
            input_tokens=prompt_tokens,
            output_tokens=self._tokens,
            output_tokens_details=OutputTokensDetails(reasoning_tokens=self._reader.thought_tokens),
            total_tokens=prompt_tokens + self._tokens,
        )

    def _about_response(self, kind: str) -> Event:
        return {"type": kind, "response": self.response.model_dump()}
