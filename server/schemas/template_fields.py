"""The fields that say how a conversation becomes a prompt; shared by chat completions and tokenisation."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from server.schemas.violations import field_conflict

MAX_DOCUMENTS = 1024


class TemplateFields(BaseModel):
    """``None`` means "not given"."""

    add_generation_prompt: bool | None = None
    """Whether the prompt ends where the assistant's answer begins; true if not given."""
    continue_final_message: bool | None = None
    """The last message is the assistant's, and is the beginning of the answer."""
    chat_template: str | None = None
    """In place of the model's own, if the server's configuration allows it."""
    chat_template_kwargs: dict[str, Any] | None = None
    documents: Annotated[list[dict[str, str]], Field(max_length=MAX_DOCUMENTS)] | None = None

    @model_validator(mode="after")
    def _one_kind_of_ending(self) -> TemplateFields:
        if self.continue_final_message and self.add_generation_prompt:
            message = "continue_final_message and add_generation_prompt cannot both be true"
            raise field_conflict("continue_final_message", message)
        return self
