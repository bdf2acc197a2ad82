"""The fields that say what is told about an answer beside its text; shared by chat and completions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from server.schemas.violations import field_conflict

LogprobsMode = Literal["raw_logprobs", "processed_logprobs"]
LogprobsCount = Annotated[int, Field(ge=0, le=1000)]
"""The server's own limit, `max_logprobs`, is checked with the model at hand."""


class StreamOptions(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    include_usage: bool | None = None
    """A last chunk has the usage."""
    continuous_usage_stats: bool | None = None
    """Every chunk has the usage so far."""
    include_obfuscation: Literal[False] | None = None


class OutputFields(BaseModel):
    """Part of the bodies of chat completions and completions; ``None`` means "not given"."""

    stream: bool | None = None
    stream_options: StreamOptions | None = None
    logprobs_mode: LogprobsMode | None = None
    """Logprobs of the model's own distribution, or of the one that is sampled from."""
    prompt_logprobs: LogprobsCount | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None
    """Logprobs name tokens as ``token_id:N``."""
    echo: bool | None = None

    @property
    def includes_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)

    @property
    def includes_running_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.continuous_usage_stats)

    @property
    def wants_logprobs(self) -> bool:
        """Whether the chosen tokens' logprobs are asked for, in whichever way the endpoint has for that."""
        return False

    @model_validator(mode="after")
    def _options_need_a_stream(self) -> OutputFields:
        if self.stream_options is not None and not self.stream:
            raise field_conflict("stream_options", "stream_options is only allowed with stream: true")
        return self

    @model_validator(mode="after")
    def _prompt_logprobs_need_a_whole_answer(self) -> OutputFields:
        if self.prompt_logprobs is not None and self.stream:
            raise field_conflict("prompt_logprobs", "prompt_logprobs is not available with stream: true")
        return self

    @model_validator(mode="after")
    def _details_need_logprobs(self) -> OutputFields:
        for name in ("logprobs_mode", "return_tokens_as_token_ids"):
            is_wanted = getattr(self, name) not in (None, False)
            if is_wanted and not self.wants_logprobs and self.prompt_logprobs is None:
                raise field_conflict(name, f"{name} needs logprobs or prompt_logprobs")
        return self
