"""From messages to prompt token ids, through the model's own chat template."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from transformers import PreTrainedTokenizerBase

from server.backend import ChatTokenizer
from server.errors import ApiError, invalid_request
from server.schemas.messages import AssistantMessage, CustomToolCall, Message, SystemMessage, ToolCall
from server.schemas.template_fields import TemplateFields
from server.tool_calls.instruction import without_tool_messages
from server.tool_calls.tools import CUSTOM_INPUT, OfferedTool

# What apply_chat_template itself takes; only the template's own variables are the client's business.
_RESERVED = frozenset(inspect.signature(PreTrainedTokenizerBase.apply_chat_template).parameters) | {
    "messages"
}


_NAMES_TOOLS = re.compile(r"\btools\b")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A conversation as the model sees it."""

    text: str
    token_ids: list[int]


@dataclass(frozen=True, slots=True)
class TemplateOptions:
    """How a conversation is rendered, beside the template's own variables; `template` None is the model's."""

    template: str | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool = False
    documents: tuple[dict[str, str], ...] | None = None


def template_options(request: TemplateFields, *, may_bring_template: bool) -> TemplateOptions:
    """
    Raises:
        ApiError: 400 for a template of the request's own, if that is not allowed.
    """
    if request.chat_template is not None and not may_bring_template:
        message = "This server uses the model's own chat template only (setting allow_request_chat_template)."
        raise invalid_request(message, param="chat_template", code="unsupported_parameter")
    continues = bool(request.continue_final_message)
    return TemplateOptions(
        template=request.chat_template,
        add_generation_prompt=request.add_generation_prompt is not False and not continues,
        continue_final_message=continues,
        documents=None if request.documents is None else tuple(request.documents),
    )


def knows_tools(template: str) -> bool:
    """Whether a chat template has a place for tools and for calls of them."""
    return bool(_NAMES_TOOLS.search(template)) and "tool_calls" in template


_DEFAULT_OPTIONS = TemplateOptions()
T = TypeVar("T")


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

    @property
    def template(self) -> str:
        """The model's chat template."""
        return self._tokenizer.get_chat_template()

    def check_size(self, messages: Sequence[Message], tools: Sequence[OfferedTool] = ()) -> None:
        """Cheap, and so right for the event loop.

        Raises:
            ApiError: 400 if the messages and tools cannot fit into the context, however they are rendered.
        """
        self._check_bytes(sum(map(_size, messages)) + sum(map(_size_of_tool, tools)))

    async def render(
        self,
        messages: Sequence[Message],
        template_kwargs: dict[str, Any] | None,
        tools: Sequence[OfferedTool] = (),
        options: TemplateOptions = _DEFAULT_OPTIONS,
    ) -> Prompt:
        """The conversation, ready for the assistant's answer, and the tools that it may call.

        Raises:
            ApiError: 400 if the template refuses the conversation or the arguments, or if the text cannot
                fit into the context.
        """
        return await self._in_thread(self._render, messages, template_kwargs or {}, tools, options)

    async def encode(self, text: str, *, add_special_tokens: bool = True, param: str = "prompt") -> list[int]:
        """The token ids of a plain text.

        Raises:
            ApiError: 400 if the text cannot fit into the context.
        """
        self._check_bytes(len(text.encode(errors="replace")), param)
        return await self._in_thread(self._encode, text, add_special_tokens)

    async def decode(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """The text of token ids."""
        return await self._in_thread(self._decode, list(token_ids), skip_special_tokens)

    async def _in_thread(self, work: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)

    def _encode(self, text: str, add_special_tokens: bool) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=add_special_tokens)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _decode(self, token_ids: list[int], skip_special_tokens: bool) -> str:
        return self._tokenizer.decode(token_ids, skip_special_tokens=skip_special_tokens)

    def _render(
        self,
        messages: Sequence[Message],
        template_kwargs: dict[str, Any],
        tools: Sequence[OfferedTool],
        wanted: TemplateOptions,
    ) -> Prompt:
        _refuse_reserved(template_kwargs)
        try:
            template = wanted.template or self._tokenizer.get_chat_template()
            _refuse_what_is_not_shown(wanted, template)
            conversation = [_for_template(message, template) for message in messages]
            options = dict(template_kwargs)
            if not knows_tools(template):
                conversation = without_tool_messages(conversation, tools)
            elif tools:
                options["tools"] = [tool.as_function() for tool in tools]
            if wanted.documents is not None:
                options["documents"] = list(wanted.documents)
            if wanted.template is not None:
                options["chat_template"] = wanted.template
            text = self._tokenizer.apply_chat_template(
                conversation,
                tokenize=False,
                add_generation_prompt=wanted.add_generation_prompt,
                continue_final_message=wanted.continue_final_message,
                **options,
            )
        except ApiError:
            raise
        # A template is a program that only ever fails on what the client sent, in any way it likes.
        except Exception as error:
            message = f"The model's chat template refuses the messages: {error}"
            raise invalid_request(message, param="messages", code="chat_template_error") from error
        self._check_bytes(len(text.encode(errors="replace")))
        return Prompt(text, self._tokenizer.encode(text, add_special_tokens=False))

    def _check_bytes(self, size: int, param: str = "messages") -> None:
        if size > self._max_bytes:
            what = "The messages have" if param == "messages" else f"'{param}' has"
            message = (
                f"{what} {size:,} bytes of text, which cannot fit into the model's context of "
                f"{self._max_context:,} tokens (prompt and answer together)."
            )
            raise invalid_request(message, param=param, code="context_length_exceeded")


def _refuse_what_is_not_shown(wanted: TemplateOptions, template: str) -> None:
    if wanted.documents and "documents" not in template:
        message = "The model's chat template has no place for documents."
        raise invalid_request(message, param="documents", code="unsupported_parameter")


def _refuse_reserved(template_kwargs: dict[str, Any]) -> None:
    for name in template_kwargs:
        if name in _RESERVED:
            message = f"chat_template_kwargs may not set '{name}'."
            raise invalid_request(message, param=f"chat_template_kwargs.{name}")


def _size(message: Message) -> int:
    """Bytes of text that a template may print."""
    texts = [message.content or ""]
    if isinstance(message, AssistantMessage):
        texts += [_arguments(call) for call in message.tool_calls or ()]
    return sum(len(text.encode(errors="replace")) for text in texts)


def _size_of_tool(tool: OfferedTool) -> int:
    return len(tool.parameters.encode()) + len((tool.description or "").encode())


def _arguments(call: ToolCall) -> str:
    return call.custom.input if isinstance(call, CustomToolCall) else call.function.arguments


def _for_template(message: Message, template: str) -> dict[str, Any]:
    fields = message.model_dump(exclude_none=True)
    if isinstance(message, SystemMessage) and message.role not in template:
        fields["role"] = "system"
    if isinstance(message, AssistantMessage):
        fields.setdefault("content", "")
        thoughts = fields.pop("reasoning", None) or fields.pop("reasoning_content", None)
        if thoughts:
            fields["reasoning_content"] = thoughts
        if message.tool_calls:
            fields["tool_calls"] = [_call_for_template(call) for call in message.tool_calls]
    return fields


def _call_for_template(call: ToolCall) -> dict[str, Any]:
    """Templates print arguments as JSON themselves, so they get the value and not its text; the input of a
    custom tool is the one argument that the model was told of."""
    if isinstance(call, CustomToolCall):
        function = {"name": call.custom.name, "arguments": {CUSTOM_INPUT: call.custom.input}}
    else:
        function = {"name": call.function.name, "arguments": json.loads(call.function.arguments or "{}")}
    return {"id": call.id, "type": "function", "function": function}
