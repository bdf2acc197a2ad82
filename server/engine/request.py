"""What goes into the engine and what comes out of it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from models.logprobs import LogprobsWanted, TokenLogprobs
from models.sampling_params import SamplingParams

if TYPE_CHECKING:
    from grammar_core import CompiledGrammar

FinishReason = Literal["stop", "length", "abort", "error"]
RequestFault = Literal["grammar_dead_end", "grammar_limit", "no_token_left"]
"""What can be wrong with a request that only shows while it is followed."""


class EngineOverloadedError(RuntimeError):
    """The waiting queue is full; the caller should answer 503 and the client try again later."""


class EngineStoppedError(RuntimeError):
    """The engine is not running (not started yet, or stopped)."""


class ContextLengthError(ValueError):
    """The prompt leaves no room for a single generated token."""

    def __init__(self, prompt_tokens: int, max_context: int) -> None:
        super().__init__(
            f"the prompt has {prompt_tokens} tokens, but the model's context holds {max_context} tokens "
            f"(prompt and answer together)"
        )
        self.prompt_tokens = prompt_tokens
        self.max_context = max_context


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One answer to generate.

    `max_tokens` is cut down to what the context leaves. `stop` strings end the answer and are not part of
    it; `stop_token_ids` do the same for single tokens, in addition to the tokenizer's own stop tokens.
    With `include_stop_text` what ended the answer is part of it. With a `grammar`, every sampled token
    obeys it, and `return_captures` asks for what its rules capture.

    Nothing ends the answer before `min_tokens`, and with `ignore_eos` none of the tokenizer's own stop
    tokens does, as long as another token may come: a grammar whose text is complete ends it always.
    Only `allowed_token_ids` are sampled, and none of `bad_words` is ever part of the text; where that
    leaves no token (of those that the grammar allows), the request ends with an error.

    `logprobs` asks for those of every sampled token, `prompt_logprobs` for those of the prompt's tokens,
    with so many likeliest ones beside each. Of waiting requests those with the smallest `priority` come
    first. `shown_tokens` are control tokens that are part of the text all the same, with the bytes they
    show; with `shows_control_tokens` all are.
    """

    prompt_token_ids: list[int]
    sampling: SamplingParams
    max_tokens: int
    stop: tuple[str, ...] = ()
    grammar: CompiledGrammar | None = None
    request_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    stop_token_ids: tuple[int, ...] = ()
    return_captures: bool = False
    include_stop_text: bool = False
    min_tokens: int = 0
    ignore_eos: bool = False
    allowed_token_ids: tuple[int, ...] | None = None
    bad_words: tuple[str, ...] = ()
    shows_control_tokens: bool = False
    logprobs: LogprobsWanted | None = None
    prompt_logprobs: int | None = None
    priority: int = 0
    shown_tokens: Mapping[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.prompt_token_ids:
            raise ValueError("the prompt is empty")
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")
        if "" in self.stop:
            raise ValueError("a stop string must not be empty")
        if "" in self.bad_words:
            raise ValueError("a bad word must not be empty")
        if self.return_captures and self.grammar is None:
            raise ValueError("there are no captures without a grammar")


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request ended with an error. `code` is set when the request is to blame and not the server,
    `field` when it is not its grammar."""

    message: str
    code: RequestFault | None = None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of an answer. The last one of a stream, and only that, has a `finish_reason`.

    `text` is whole characters and may be empty; `token_ids` are the tokens sampled since the last delta
    (text may lag behind them), including a final stop token, so their number is the usage to report.
    `stop_reason` is the stop string or the requested stop token id that ended the answer, and None when
    one of the tokenizer's own stop tokens did. `error` is set exactly when the reason is "error", and
    `error_code` then only if the request is to blame: its grammar, unless `error_field` names another field.
    `captures`, (name, bytes) in the order of completion, come with reason "stop" or "length" if the request
    wants them, and are None otherwise; they are of the sampled text, which a stop string may have cut.
    `logprobs` has one entry for each of `token_ids` if the request wants them. `prompt_logprobs` comes with
    the first delta of such a request, one entry for each of the prompt's tokens but the first.
    """

    text: str
    token_ids: tuple[int, ...] = ()
    finish_reason: FinishReason | None = None
    stop_reason: str | int | None = None
    error: str | None = None
    captures: tuple[tuple[str, bytes], ...] | None = None
    error_code: RequestFault | None = None
    error_field: str | None = None
    logprobs: tuple[TokenLogprobs, ...] = ()
    prompt_logprobs: tuple[TokenLogprobs, ...] | None = None
