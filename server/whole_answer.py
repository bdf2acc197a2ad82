"""A generation as one response body."""

from __future__ import annotations

from server.engine import TextDelta
from server.errors import ApiError, invalid_request, overloaded, server_fault
from server.generation import Generation
from server.schemas.chat_response import (
    AssistantAnswer,
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
    texts: list[str] = []
    completion_tokens = 0
    async with generation.stream as deltas:
        async for delta in deltas:
            texts.append(delta.text)
            completion_tokens += len(delta.token_ids)
            if delta.finish_reason is not None:
                return _completion(generation, "".join(texts), completion_tokens, delta)
    raise server_fault("The generation ended without a result.")


def _completion(generation: Generation, text: str, completion_tokens: int, last: TextDelta) -> ChatCompletion:
    choice = Choice(
        message=AssistantAnswer(content=text),
        finish_reason=finish_reason(last),
        stop_reason=last.stop_reason,
        captures=captures(last),
    )
    return ChatCompletion(
        id=generation.id,
        created=generation.created,
        model=generation.model,
        choices=[choice],
        usage=usage_of(generation.prompt_tokens, completion_tokens),
    )


def finish_reason(last: TextDelta) -> FinishReason:
    """Why the answer ended, in the API's words.

    Raises:
        ApiError: It did not end properly.
    """
    if last.finish_reason == "stop" or last.finish_reason == "length":
        return last.finish_reason
    raise _failure(last)


def captures(last: TextDelta) -> list[Capture] | None:
    """What the answer's rules captured, or None if nobody asked."""
    if last.captures is None:
        return None
    return [capture_of(name, value) for name, value in last.captures]


def _failure(last: TextDelta) -> ApiError:
    if last.finish_reason == "abort":
        return overloaded("The generation was aborted because the server is shutting down.")
    if last.error_code is not None:
        return invalid_request(f"{last.error}", param="guided_grammar", code=last.error_code)
    return server_fault(f"The generation failed: {last.error}")
