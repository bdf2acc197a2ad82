"""Texts and conversations as token ids, and back."""

from __future__ import annotations

from server.backend import Backend
from server.generation import check_model
from server.prompt import PromptRenderer, template_options
from server.request_limits import RequestLimits
from server.sampling import check_ids
from server.schemas.tokenization import (
    DetokenizeRequest,
    DetokenizeResponse,
    TokenizeRequest,
    TokenizeResponse,
)
from server.tool_calls.tools import requested_tools


class TokenizationService:
    """What the model makes of a text, without an answer."""

    def __init__(self, backend: Backend, prompts: PromptRenderer, limits: RequestLimits) -> None:
        self._backend = backend
        self._prompts = prompts
        self._limits = limits

    async def tokenize(self, request: TokenizeRequest) -> TokenizeResponse:
        """
        Raises:
            ApiError: 400 for a conversation that the template refuses and for a text that is too long.
        """
        check_model(request.model, self._backend.model_name)
        token_ids = await self._token_ids(request)
        names = None
        if request.return_token_strs:
            names = [self._backend.engine.token_bytes[i].decode(errors="replace") for i in token_ids]
        return TokenizeResponse(
            count=len(token_ids),
            max_model_len=self._backend.engine.max_context,
            tokens=token_ids,
            token_strs=names,
        )

    async def detokenize(self, request: DetokenizeRequest) -> DetokenizeResponse:
        """
        Raises:
            ApiError: 400 for ids that the model does not have.
        """
        check_model(request.model, self._backend.model_name)
        check_ids(request.tokens, self._backend.engine.vocab_size, "tokens")
        return DetokenizeResponse(prompt=await self._prompts.decode(request.tokens))

    async def _token_ids(self, request: TokenizeRequest) -> list[int]:
        if request.messages is None:
            add_special = request.add_special_tokens is not False
            return await self._prompts.encode(request.prompt or "", add_special_tokens=add_special)
        tools = requested_tools(request, None)
        offered = tools.tools if tools else ()
        self._prompts.check_size(request.messages, offered)
        options = template_options(request, may_bring_template=self._limits.may_bring_template)
        prompt = await self._prompts.render(request.messages, request.chat_template_kwargs, offered, options)
        return prompt.token_ids
