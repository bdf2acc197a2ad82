"""The body of ``POST /v1/completions``: its fields, their ranges, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from server.schemas.constraint_fields import ConstraintFields
from server.schemas.field_policy import keep_implemented
from server.schemas.output_fields import LogprobsCount, OutputFields
from server.schemas.sampling_fields import MAX_CHOICES, SamplingFields
from server.schemas.validation import validated
from server.schemas.violations import field_conflict

DEFAULT_MAX_TOKENS = 16
MAX_PROMPTS = 1024

PromptText = str
PromptIds = list[int]


def _check_prompt(value: Any) -> Any:
    """One prompt or several, each a text or token ids; the shape is checked here for one clear message."""
    if isinstance(value, str) or _is_ids(value):
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) or _is_ids(item) for item in value):
        return value
    message = (
        "must be a string, a list of token ids, or a list of strings or of lists of token ids, not empty"
    )
    raise PydanticCustomError("prompt", "It " + message)


def _is_ids(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, int) and not isinstance(item, bool) and 0 <= item < 2**31 for item in value)
    )


Prompt = Annotated[
    str | list[int] | list[str | list[int]],
    BeforeValidator(_check_prompt),
]


class CompletionRequest(ConstraintFields, SamplingFields, OutputFields):
    """Every field the server implements. ``None`` means "not given"."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    prompt: Prompt
    model: str | None = None
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    """16 if not given; 0 only with `echo`."""
    best_of: Annotated[int, Field(ge=1, le=MAX_CHOICES)] | None = None
    """So many answers are computed, of which the `n` with the best mean logprob are given."""
    logprobs: LogprobsCount | None = None
    add_special_tokens: bool | None = None
    """Whether the tokenizer puts its own tokens around a prompt that is text; true if not given."""
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    metadata: dict[str, str] | None = None

    @property
    def prompts(self) -> list[PromptText | PromptIds]:
        if isinstance(self.prompt, str) or isinstance(self.prompt[0], int):
            return [self.prompt]
        return self.prompt

    @property
    def wants_logprobs(self) -> bool:
        return self.logprobs is not None

    @property
    def candidates(self) -> int:
        """Answers that are computed for each prompt."""
        return max(self.best_of or 1, self.choices)

    @property
    def token_limit(self) -> int | None:
        # Nothing can be computed without a token; the answer of no tokens leaves it out.
        return DEFAULT_MAX_TOKENS if self.max_tokens is None else max(self.max_tokens, 1)

    @property
    def prompt_logprobs_count(self) -> int | None:
        """For how many likeliest tokens beside those of the prompt, if its logprobs are needed at all."""
        counts = [self.prompt_logprobs, self.logprobs if self.echo else None]
        return max((count for count in counts if count is not None), default=None)

    @model_validator(mode="after")
    def _nothing_to_say_needs_echo(self) -> CompletionRequest:
        if self.max_tokens == 0 and not self.echo:
            raise field_conflict("max_tokens", "max_tokens may be 0 only with echo: true")
        return self

    @model_validator(mode="after")
    def _best_of_whole_answers(self) -> CompletionRequest:
        if self.best_of is None:
            return self
        if self.best_of < self.choices:
            raise field_conflict("best_of", "best_of must not be less than n")
        if self.stream and self.best_of > self.choices:
            raise field_conflict("best_of", "best_of greater than n is not available with stream: true")
        return self

    @model_validator(mode="after")
    def _prompts_are_not_too_many(self) -> CompletionRequest:
        if len(self.prompts) > MAX_PROMPTS:
            raise field_conflict("prompt", f"prompt may be {MAX_PROMPTS} prompts at most")
        return self

    @model_validator(mode="after")
    def _echoed_logprobs_need_a_whole_answer(self) -> CompletionRequest:
        if self.stream and self.echo and self.logprobs is not None:
            raise field_conflict("echo", "echo with logprobs is not available with stream: true")
        return self


def parse_completion_request(body: Mapping[str, Any]) -> CompletionRequest:
    """The request in `body`.

    Raises:
        ApiError: 400 that names the first field which is missing, unknown, unsupported or out of range.
    """
    return validated(CompletionRequest, keep_implemented(body, CompletionRequest.model_fields))
