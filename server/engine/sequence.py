"""The state of one request while it is in the engine."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

import torch

from models.sampler import SamplingParams
from server.engine.constraint import MaskRow, Matcher
from server.engine.request import GenerationRequest
from server.engine.stream import TextStream
from server.engine.text_output import TextOutput


@dataclass(slots=True, eq=False)
class Sequence:
    """One request's tokens and how far they have been computed.

    `token_ids` is prompt and output; `computed` of them are in the cache. `sampling` has a seed always.
    `is_cancelled` may be set by any thread.

    `mask` is that of the next token, while it is in the making and until it is used. A sequence whose mask
    takes long is held: `held_logits` [1, vocab] are what the next token will be sampled from, or, after the
    last token that it may have, `held_ending` is the text that ends the answer. The matcher must be left
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
    held_ending: str | None = None

    def __post_init__(self) -> None:
        self.token_ids = list(self.request.prompt_token_ids)

    @property
    def generated(self) -> int:
        return len(self.token_ids) - len(self.request.prompt_token_ids)

    @property
    def uncomputed(self) -> int:
        """Tokens that the model has to see before the next one can be sampled; at least one."""
        return len(self.token_ids) - self.computed

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
