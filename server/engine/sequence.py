"""The state of one request while it is in the engine."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field

import torch

from models.logprobs import TokenLogprobs
from models.sampling_params import RowSampling, SamplingParams
from models.token_counts import TokenCounts
from server.engine.constraint import MaskRow, Matcher
from server.engine.request import GenerationRequest, TextDelta
from server.engine.stream import TextStream
from server.engine.text_output import TextOutput
from server.engine.token_bans import TokenBans

# The logits of a whole chunk are kept for a prompt's logprobs: [tokens, vocab] in float32.
_PROMPT_LOGPROBS_CHUNK = 128
_NO_LIMIT = 1 << 62


@dataclass(slots=True, eq=False)
class Sequence:
    """One request's tokens and how far they have been computed.

    `token_ids` is prompt and output; `computed` of them are in the cache. `sampling` has a seed always.
    `is_cancelled` may be set by any thread.

    `mask` is that of the next token, while it is in the making and until it is used. A sequence whose mask
    takes long is held: `held_logits` [1, vocab] are what the next token will be sampled from, or, after the
    last token that it may have, `held_ending` is the delta that ends the answer. The matcher must be left
    alone until the mask is done.
    """

    request: GenerationRequest
    stream: TextStream
    sampling: SamplingParams
    max_tokens: int
    text: TextOutput
    matcher: Matcher | None = None
    token_ids: list[int] = field(default_factory=list)
    computed: int = 0
    is_cancelled: bool = False
    mask: Future[MaskRow] | None = None
    held_logits: torch.Tensor | None = None
    held_ending: TextDelta | None = None
    bans: TokenBans | None = None
    counts: TokenCounts | None = None
    prompt_logprobs: list[TokenLogprobs] | None = None
    submitted_at: float = field(default_factory=time.monotonic)
    began_at: float | None = None
    first_token_at: float | None = None
    last_token_at: float | None = None

    def __post_init__(self) -> None:
        self.token_ids = list(self.request.prompt_token_ids)
        if self.sampling.counts_tokens:
            self.counts = TokenCounts(self.token_ids)
        if self.request.prompt_logprobs is not None:
            self.prompt_logprobs = []

    def push(self, token_id: int, text: bytes) -> None:
        """A token was sampled; `text` are its bytes."""
        self.token_ids.append(token_id)
        if self.counts is not None:
            self.counts.add(token_id)
        if self.bans is not None:
            self.bans.push(text)

    def row_sampling(self, temperature: float | None) -> RowSampling:
        """How the next token is sampled; `temperature` is what the grammar's rules ask for."""
        return RowSampling(self.sampling, self.generated, temperature, self.counts, self.request.logprobs)

    def mask_row(self, unconstrained: MaskRow) -> MaskRow:
        """What the next token may be: by the grammar, whose mask is done, and by the request's bans."""
        row = unconstrained if self.mask is None else self.mask.result()
        return row if self.bans is None else self.bans.narrow(row)

    @property
    def generated(self) -> int:
        return len(self.token_ids) - len(self.request.prompt_token_ids)

    @property
    def uncomputed(self) -> int:
        """Tokens that the model has to see before the next one can be sampled; at least one."""
        return len(self.token_ids) - self.computed

    @property
    def wants_prompt_logits(self) -> bool:
        """Whether the next chunk's logits are needed at each of its tokens."""
        known = None if self.prompt_logprobs is None else len(self.prompt_logprobs)
        return known is not None and known < len(self.request.prompt_token_ids) - 1

    @property
    def longest_chunk(self) -> int:
        """Tokens of the prompt that may be computed in one step."""
        return _PROMPT_LOGPROBS_CHUNK if self.wants_prompt_logits else _NO_LIMIT

    @property
    def may_stop(self) -> bool:
        return self.generated >= self.request.min_tokens

    @property
    def is_decoding(self) -> bool:
        """Whether only the newest token is missing in the cache."""
        return self.computed > 0 and self.uncomputed == 1

    @property
    def is_held(self) -> bool:
        """Whether there is nothing to compute before the mask is done."""
        return self.held_logits is not None or self.held_ending is not None

    @property
    def budget_left(self) -> int:
        return self.max_tokens - self.generated
