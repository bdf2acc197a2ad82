"""The bodies of ``POST /tokenize`` and ``POST /detokenize``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from server.schemas.messages import Message
from server.schemas.sampling_fields import TokenId
from server.schemas.template_fields import TemplateFields
from server.schemas.tool_fields import ToolFields
from server.schemas.validation import validated
from server.schemas.violations import field_conflict

MAX_MESSAGES = 4096
_OF_CHAT = ("chat_template", "chat_template_kwargs", "continue_final_message", "documents", "tools")


class TokenizeRequest(TemplateFields, ToolFields):
    """A text or a conversation; ``None`` means "not given"."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    prompt: str | None = None
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    model: str | None = None
    add_special_tokens: bool | None = None
    """Whether the tokenizer puts its own tokens around the text; true for a prompt if not given."""
    return_token_strs: bool | None = None

    @model_validator(mode="after")
    def _one_thing_to_tokenize(self) -> TokenizeRequest:
        if (self.prompt is None) == (self.messages is None):
            raise field_conflict("prompt", "Either prompt or messages is needed, and not both")
        if self.messages is None:
            for name in _OF_CHAT:
                if getattr(self, name) is not None:
                    raise field_conflict(name, f"{name} only goes with messages")
        elif self.add_special_tokens:
            message = "add_special_tokens does not go with messages: the template writes them itself"
            raise field_conflict("add_special_tokens", message)
        return self


class TokenizeResponse(BaseModel):
    count: int
    max_model_len: int
    tokens: list[int]
    token_strs: list[str] | None = None


class DetokenizeRequest(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    tokens: list[TokenId]
    model: str | None = None


class DetokenizeResponse(BaseModel):
    prompt: str


def parse_tokenize_request(body: Mapping[str, Any]) -> TokenizeRequest:
    """Raises ApiError, 400, that names the first field which is wrong."""
    return validated(TokenizeRequest, body)


def parse_detokenize_request(body: Mapping[str, Any]) -> DetokenizeRequest:
    """Raises ApiError, 400, that names the first field which is wrong."""
    return validated(DetokenizeRequest, body)
