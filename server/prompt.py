"""From messages to prompt token ids, through the model's own chat template."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from transformers import PreTrainedTokenizerBase

from server.backend import ChatTokenizer
from server.errors import invalid_request
from server.schemas.messages import AssistantMessage, Message, SystemMessage

# What apply_chat_template itself takes; only the template's own variables are the client's business.
_RESERVED = frozenset(inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters) | {
    "messages"
}


class PromptRenderer:
    """Renders in one thread of its own: a Hugging Face tokenizer may not be used by two at once.

    `max_context` tokens of at most `longest_token_bytes` bytes bound the text that is worth the work: all
    other requests wait for it.
    """

    def __init__(self, tokenizer: ChatTokenizer, *, max_context: int, longest_token_bytes: int) -> None:
        self._tokenizer = tokenizer
        self._max_context = max_context
        self._max_bytes = max_context * longest_token_bytes
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="prompt")

    def check_size(self, messages: Sequence[Message]) -> None:
        """Cheap, and so right for the event loop.

        Raises:
            ApiError: 400 if the messages cannot fit into the context, however they are rendered.
        """
        self._check_bytes(sum(map(_size, messages)))

    async def render(self, messages: Sequence[Message], template_kwargs: dict[str, Any] | None) -> list[int]:
        """The token ids of the conversation, ready for the assistant's answer.

        Raises:
            ApiError: 400 if the template refuses the conversation or the arguments, or if the text cannot
                fit into the context.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._render, messages, template_kwargs or {})

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _render(self, messages: Sequence[Message], template_kwargs: dict[str, Any]) -> list[int]:
        _refuse_reserved(template_kwargs)
        try:
            template = self._tokenizer.get_chat_template()
            conversation = [_for_template(message, template) for message in messages]
            text = self._tokenizer.apply_chat_template(
                conversation, tokenize=False, add_generation_prompt=True, **template_kwargs
            )
        # A template is a program that only ever fails on what the client sent, in any way it likes.
        except Exception as error:
            message = f"The model's chat template refuses the messages: {error}"
            raise invalid_request(message, param="messages", code="chat_template_error") from error
        self._check_bytes(len(text.encode(errors="replace")))
        return self._tokenizer.encode(text, add_special_tokens=False)

    def _check_bytes(self, size: int) -> None:
        if size > self._max_bytes:
            message = (
                f"The messages have {size:,} bytes of text, which cannot fit into the model's context of "
                f"{self._max_context:,} tokens (prompt and answer together)."
            )
            raise invalid_request(message, param="messages", code="context_length_exceeded")


def _refuse_reserved(template_kwargs: dict[str, Any]) -> None:
    for name in template_kwargs:
        if name in _RESERVED:
            message = f"chat_template_kwargs may not set '{name}'."
            raise invalid_request(message, param=f"chat_template_kwargs.{name}")


def _size(message: Message) -> int:
    """Bytes of text that a template may print."""
    texts = [message.content or ""]
    if isinstance(message, AssistantMessage):
        texts += [call.function.arguments for call in message.tool_calls or ()]
    return sum(len(text.encode(errors="replace")) for text in texts)


def _for_template(message: Message, template: str) -> dict[str, Any]:
    fields = message.model_dump(exclude_none=True)
    if isinstance(message, SystemMessage) and message.role not in template:
        fields["role"] = "system"
    if isinstance(message, AssistantMessage):
        fields.setdefault("content", "")
        _decode_arguments(fields, template)
    return fields


def _decode_arguments(fields: dict[str, Any], template: str) -> None:
    """Templates print arguments as JSON themselves, so they get the value and not its text."""
    calls = fields.get("tool_calls", [])
    if calls and "tool_calls" not in template:
        raise ValueError("it has no place for an assistant message's tool_calls")
    for call in calls:
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
