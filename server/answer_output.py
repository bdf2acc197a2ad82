"""What a request wants to be told beside the text of its answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.logprobs import LogprobsWanted
from server.errors import invalid_request
from server.logprob_format import LogprobWriter
from server.schemas.output_fields import LogprobsMode, OutputFields


@dataclass(frozen=True, slots=True)
class AnswerOutput:
    """`logprobs` writes them, and is None if none are wanted; `echoed` stands before the answer's text."""

    logprobs: LogprobWriter | None = None
    prompt_logprobs: LogprobWriter | None = None
    returns_token_ids: bool = False
    includes_usage: bool = False
    includes_running_usage: bool = False
    echoed: str = ""


class OutputPolicy:
    """What this server tells: so many logprobs at most, of this kind by default.

    token_bytes: the bytes of every token; text_bytes: the same, with nothing for control tokens.
    """

    def __init__(
        self,
        token_bytes: Sequence[bytes],
        text_bytes: Sequence[bytes],
        *,
        max_logprobs: int,
        logprobs_mode: LogprobsMode,
    ) -> None:
        self._token_bytes = token_bytes
        self._text_bytes = text_bytes
        self._max_logprobs = max_logprobs
        self._mode = logprobs_mode

    def output(
        self, request: OutputFields, echoed: str = "", *, shows_control_tokens: bool = False
    ) -> AnswerOutput:
        writer = LogprobWriter(
            self._token_bytes,
            self._token_bytes if shows_control_tokens else self._text_bytes,
            as_ids=bool(request.return_tokens_as_token_ids),
        )
        return AnswerOutput(
            logprobs=writer if request.wants_logprobs else None,
            prompt_logprobs=None if request.prompt_logprobs is None else writer,
            returns_token_ids=bool(request.return_token_ids),
            includes_usage=request.includes_usage,
            includes_running_usage=request.includes_running_usage,
            echoed=echoed,
        )

    def wanted(self, request: OutputFields, top: int | None, param: str) -> LogprobsWanted | None:
        """What the engine is asked for, beside each token so many likeliest ones.

        Raises:
            ApiError: 400 for more than the server gives.
        """
        self.check_count(top, param)
        self.check_count(request.prompt_logprobs, "prompt_logprobs")
        if not request.wants_logprobs:
            return None
        return LogprobsWanted(top or 0, (request.logprobs_mode or self._mode) == "processed_logprobs")

    def for_ranking(self) -> LogprobsWanted:
        """What is needed to tell which of several answers is the likeliest."""
        return LogprobsWanted(0, self._mode == "processed_logprobs")

    def check_count(self, count: int | None, param: str) -> None:
        if count is not None and count > self._max_logprobs:
            message = f"'{param}' is {count}; this server's limit is {self._max_logprobs}."
            raise invalid_request(message, param=param)
