"""A generation as one response body."""

from __future__ import annotations

from contextlib import aclosing

from models.logprobs import TokenLogprobs
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
from server.tool_calls import events


class ChoiceInMaking:
    """Collects one choice."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._message = AnswerMessage(generation.custom_tools)
        self._logprobs: list[TokenLogprobs] = []
        self._token_ids: list[int] = []
        self._last: TextDelta | None = None
        self.reader = generation.form.reader()
        self.prompt_logprobs: tuple[TokenLogprobs, ...] = ()
        if generation.output.echoed:
            self._message.add([events.TextDelta(generation.output.echoed)])

    @property
    def tokens(self) -> int:
        return len(self._token_ids)

    def add(self, delta: TextDelta) -> None:
        self._message.add(self.reader.feed(delta.text, len(delta.token_ids)))
        self._token_ids += delta.token_ids
        self._logprobs += delta.logprobs
        self.prompt_logprobs = delta.prompt_logprobs or self.prompt_logprobs
        if delta.finish_reason is not None:
            self._message.add(self.reader.finish())
            self._last = delta
            finish_reason(self._generation, self.reader, delta)

    def choice(self, index: int) -> Choice:
        """The finished choice.

        Raises:
            ApiError: It did not end properly.
        """
        if self._last is None:
            raise server_fault("The generation ended without a result.")
        output = self._generation.output
        return Choice(
            index=index,
            message=self._message.message(),
            logprobs=output.logprobs.chat(self._logprobs) if output.logprobs else None,
            finish_reason=finish_reason(self._generation, self.reader, self._last),
            stop_reason=self._last.stop_reason,
            captures=captures(self._last),
            token_ids=self._token_ids if output.returns_token_ids else None,
        )


async def whole_answer(generation: Generation) -> ChatCompletion:
    """The complete answer. The generation is cancelled if this is.

    Raises:
        ApiError: The grammar could not be followed to its end (400), the engine failed (500) or was
            stopped (503).
    """
    choices = [ChoiceInMaking(generation) for _ in range(len(generation.streams))]
    async with aclosing(generation.streams.deltas()) as deltas:
        async for number, delta in deltas:
            choices[number].add(delta)
    return _completion(generation, choices)


def _completion(generation: Generation, choices: list[ChoiceInMaking]) -> ChatCompletion:
    output = generation.output
    writer, prompt_logprobs = output.prompt_logprobs, choices[0].prompt_logprobs
    return ChatCompletion(
        id=generation.id,
        created=generation.created,
        model=generation.model,
        choices=[choice.choice(index) for index, choice in enumerate(choices)],
        usage=usage_of(
            generation.prompt_tokens,
            sum(choice.tokens for choice in choices),
            sum(choice.reader.thought_tokens for choice in choices),
        ),
        prompt_logprobs=None if writer is None else writer.prompt(prompt_logprobs),
        prompt_token_ids=generation.prompt_token_ids if output.returns_token_ids else None,
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
    raise failure(last, generation.constraint_param)


def captures(last: TextDelta) -> list[Capture] | None:
    """What the answer's rules captured, or None if nobody asked."""
    if last.captures is None:
        return None
    return [capture_of(name, value) for name, value in last.captures]


def failure(last: TextDelta, constraint_param: str | None) -> ApiError:
    """What a client is told of an answer that did not end properly."""
    if last.finish_reason == "abort":
        return overloaded("The generation was aborted because the server is shutting down.")
    if last.error_code is not None:
        param = last.error_field or constraint_param
        return invalid_request(f"{last.error}", param=param, code=last.error_code)
    return server_fault(f"The generation failed: {last.error}")
