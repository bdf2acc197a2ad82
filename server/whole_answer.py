"""A generation as one response body."""

from __future__ import annotations

from server.answer_message import AnswerMessage
from server.answer_reader import AnswerReader
from server.engine import TextDelta
from server.errors import ApiError, invalid_request, overloaded, server_fault
from server.generation import Generation
from server.schemas.chat_response import (
    Capture,
    ChatCompletion,
    Choice,
    FinishReason,
    capture_of,
    usage_of,
)


async def whole_answer(generation: Generation) -> ChatCompletion:
    """The complete answer. The generation is cancelled if this is.

    Raises:
        ApiError: The grammar could not be followed to its end (400), the engine failed (500) or was
            stopped (503).
    """
    reader = generation.form.reader()
    message = AnswerMessage(generation.custom_tools)
    completion_tokens = 0
    async with generation.stream as deltas:
        async for delta in deltas:
            message.add(reader.feed(delta.text, len(delta.token_ids)))
            completion_tokens += len(delta.token_ids)
            if delta.finish_reason is not None:
                message.add(reader.finish())
                return _completion(generation, message, reader, completion_tokens, delta)
    raise server_fault("The generation ended without a result.")


def _completion(
    generation: Generation,
    message: AnswerMessage,
    reader: AnswerReader,
    completion_tokens: int,
    last: TextDelta,
) -> ChatCompletion:
    choice = Choice(
        message=message.message(),
        finish_reason=finish_reason(generation, reader, last),
        stop_reason=last.stop_reason,
        captures=captures(last),
    )
    return ChatCompletion(
        id=generation.id,
        created=generation.created,
        model=generation.model,
        choices=[choice],
        usage=usage_of(generation.prompt_tokens, completion_tokens, reader.thought_tokens),
    )


def finish_reason(generation: Generation, reader: AnswerReader, last: TextDelta) -> FinishReason:
    """Why the answer ended, in the API's words.

    Raises:
        ApiError: It did not end properly.
    """
    if last.finish_reason == "stop":
        return "tool_calls" if reader.ends_with_calls else "stop"
    if last.finish_reason == "length":
        return "length"
    raise _failure(last, generation.constraint_param)


def captures(last: TextDelta) -> list[Capture] | None:
    """What the answer's rules captured, or None if nobody asked."""
    if last.captures is None:
        return None
    return [capture_of(name, value) for name, value in last.captures]


def _failure(last: TextDelta, constraint_param: str | None) -> ApiError:
    if last.finish_reason == "abort":
        return overloaded("The generation was aborted because the server is shutting down.")
    if last.error_code is not None:
        return invalid_request(f"{last.error}", param=constraint_param, code=last.error_code)
    return server_fault(f"The generation failed: {last.error}")
