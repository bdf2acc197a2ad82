"""Several answers to one request, as one sequence of pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from server.backend import TextEngine
from server.engine import (
    ContextLengthError,
    EngineOverloadedError,
    EngineStoppedError,
    GenerationRequest,
    TextDelta,
    TextStream,
)
from server.errors import ApiError, invalid_request, overloaded


class ChoiceStreams:
    """The streams of a request's choices, by their number."""

    def __init__(self, streams: Sequence[TextStream]) -> None:
        self._streams = tuple(streams)

    def __len__(self) -> int:
        return len(self._streams)

    def cancel(self) -> None:
        """End all of them; may be called again, and from any thread."""
        for stream in self._streams:
            stream.cancel()

    async def deltas(self) -> AsyncGenerator[tuple[int, TextDelta], None]:
        """What the choices produce, as it comes; whoever leaves early ends them all."""
        try:
            if len(self._streams) == 1:
                async for delta in self._streams[0]:
                    yield 0, delta
                return
            async with aclosing(self._merged()) as merged:
                async for item in merged:
                    yield item
        finally:
            self.cancel()

    async def _merged(self) -> AsyncGenerator[tuple[int, TextDelta], None]:
        arrived: asyncio.Queue[tuple[int, TextDelta | None]] = asyncio.Queue()

        async def pump(number: int, stream: TextStream) -> None:
            try:
                async for delta in stream:
                    arrived.put_nowait((number, delta))
            finally:
                arrived.put_nowait((number, None))

        pumps = [asyncio.ensure_future(pump(i, stream)) for i, stream in enumerate(self._streams)]
        try:
            open_streams = len(pumps)
            while open_streams:
                number, delta = await arrived.get()
                if delta is None:
                    open_streams -= 1
                else:
                    yield number, delta
        finally:
            for task in pumps:
                task.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)


def submit(engine: TextEngine, requests: Sequence[GenerationRequest], *, prompt_param: str) -> ChoiceStreams:
    """Queue all of them, or none.

    Raises:
        ApiError: 400 for a prompt without room for an answer and for more choices than the server ever
            computes at once; 503 if the queue is full or the engine does not run.
    """
    if len(requests) > engine.max_pending:
        message = (
            f"The request asks for {len(requests)} answers; this server's limit is {engine.max_pending}."
        )
        raise invalid_request(message, param="n")
    streams: list[TextStream] = []
    try:
        for request in requests:
            streams.append(engine.submit(request))
    except Exception as error:
        ChoiceStreams(streams).cancel()
        raise _refusal(error, prompt_param) from None
    return ChoiceStreams(streams)


def _refusal(error: Exception, prompt_param: str) -> Exception | ApiError:
    if isinstance(error, ContextLengthError):
        return invalid_request(f"{error}.", param=prompt_param, code="context_length_exceeded")
    if isinstance(error, EngineOverloadedError):
        return overloaded("The server has too many requests waiting; try again in a moment.")
    if isinstance(error, EngineStoppedError):
        return overloaded("The server is shutting down or has not started yet.")
    return error
