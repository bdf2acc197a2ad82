"""The fields that say how an answer is sampled and where it ends; shared by all endpoints that generate."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from server.schemas.violations import field_conflict

_INT64 = 2**63
MAX_STOP_STRINGS = 4
MAX_STOP_LENGTH = 4096
MAX_CHOICES = 128
MAX_TOKEN_IDS = 100_000
MAX_BIASES = 10_000
MAX_BAD_WORDS = 128
MAX_BAD_WORD_LENGTH = 256
MAX_BAD_WORDS_LENGTH = 4096


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _check_ids(bias: dict[str, float]) -> dict[str, float]:
    for key in bias:
        if not (key.isascii() and key.isdigit() and len(key) < 12):
            raise PydanticCustomError("token_id", "The key {key} is not a token id", {"key": repr(key[:50])})
    return bias


def _check_cut(limit: int) -> int:
    if limit == 0:
        raise PydanticCustomError("empty_prompt", "Input should be -1 or at least 1: no prompt is empty")
    return limit


TokenId = Annotated[int, Field(ge=0, lt=2**31)]
TokenIds = Annotated[list[TokenId], Field(max_length=MAX_TOKEN_IDS)]
Penalty = Annotated[float, Field(ge=-2, le=2)]
StopString = Annotated[str, Field(min_length=1, max_length=MAX_STOP_LENGTH)]
BadWord = Annotated[str, Field(min_length=1, max_length=MAX_BAD_WORD_LENGTH)]
LogitBias = Annotated[
    dict[str, Annotated[float, Field(ge=-100, le=100)]],
    Field(max_length=MAX_BIASES),
    AfterValidator(_check_ids),
]


class SamplingFields(BaseModel):
    """Part of the bodies of the endpoints that generate; ``None`` means "not given"."""

    n: Annotated[int, Field(ge=1, le=MAX_CHOICES)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=_INT64)] | None = None
    """0 and -1 turn it off."""
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=-_INT64, lt=_INT64)] | None = None
    """Choice number i is sampled with `seed` + i."""
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    repetition_penalty: Annotated[float, Field(gt=0)] | None = None
    logit_bias: LogitBias | None = None
    """By token id, what is added to its logit."""
    allowed_token_ids: Annotated[TokenIds, Field(min_length=1)] | None = None
    """No other token is sampled."""
    bad_words: Annotated[list[BadWord], Field(max_length=MAX_BAD_WORDS)] | None = None
    """Texts that no answer contains."""
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    min_tokens: Annotated[int, Field(ge=0)] | None = None
    """Before so many tokens nothing but a finished grammar ends the answer."""
    ignore_eos: bool | None = None
    """The model's own stop tokens do not end the answer; only a finished grammar does."""
    stop: (
        Annotated[
            list[StopString],
            BeforeValidator(_as_list, json_schema_input_type=StopString | list[StopString]),
            Field(max_length=MAX_STOP_STRINGS),
        ]
        | None
    ) = None
    stop_token_ids: TokenIds | None = None
    include_stop_str_in_output: bool | None = None
    skip_special_tokens: bool | None = None
    """False makes control tokens part of the text."""
    spaces_between_special_tokens: bool | None = None
    """Accepted with both values: no spaces are put anywhere, whatever the tokens are."""
    truncate_prompt_tokens: Annotated[int, Field(ge=-1, lt=_INT64), AfterValidator(_check_cut)] | None = None
    """The prompt is cut to so many tokens; -1 is what the context leaves beside `max_tokens`."""
    truncation_side: Annotated[str, Field(pattern="^(left|right)$")] | None = None
    """The end of the prompt that is cut off; "left" if not given."""
    priority: Annotated[int, Field(ge=-_INT64, lt=_INT64)] | None = None
    """Of waiting requests those with the smallest number come first."""
    request_id: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:-]+$")] | None = (
        None
    )
    """The end of the answer's `id`."""
    cache_salt: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    """Requests share no cached states, so that every request is as if it had a salt of its own."""

    @property
    def choices(self) -> int:
        return self.n or 1

    @property
    def token_limit(self) -> int | None:
        """The most tokens the client wants, or ``None``."""
        return self.max_tokens

    @model_validator(mode="after")
    def _least_is_not_more_than_most(self) -> SamplingFields:
        most = self.token_limit
        if self.min_tokens is not None and most is not None and self.min_tokens > most:
            raise field_conflict("min_tokens", "min_tokens must not be greater than max_tokens")
        return self

    @model_validator(mode="after")
    def _bad_words_are_few(self) -> SamplingFields:
        if sum(map(len, self.bad_words or ())) > MAX_BAD_WORDS_LENGTH:
            message = f"bad_words may have {MAX_BAD_WORDS_LENGTH} characters together"
            raise field_conflict("bad_words", message)
        return self

    @model_validator(mode="after")
    def _side_needs_a_cut(self) -> SamplingFields:
        if self.truncation_side is not None and self.truncate_prompt_tokens is None:
            raise field_conflict("truncation_side", "truncation_side needs truncate_prompt_tokens")
        return self
