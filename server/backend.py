"""What the HTTP layer needs from below, as interfaces; `server.app` fills them in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from server.constraints.constraint import Source
from server.engine import GenerationRequest, TextStream
from server.metrics import ServerMetrics
from server.sampling import SamplingDefaults

if TYPE_CHECKING:
    from grammar_core import CompiledGrammar
    from grammar_core.deadline import Cancellation


class TextEngine(Protocol):
    @property
    def max_context(self) -> int:
        """Tokens of prompt and answer together that one request may have."""

    @property
    def vocab_size(self) -> int:
        """The number of token ids."""

    @property
    def token_bytes(self) -> Sequence[bytes]:
        """The bytes of every token id, control tokens included."""

    @property
    def text_bytes(self) -> Sequence[bytes]:
        """What every token id adds to a text: control tokens nothing."""

    @property
    def max_pending(self) -> int:
        """Requests that may be generated or wait at the same time."""

    @property
    def running(self) -> int:
        """Requests that are being generated."""

    @property
    def waiting(self) -> int:
        """Requests that wait for a place."""

    @property
    def kv_cache_usage(self) -> float:
        """The part of the attention cache's memory that is in use."""

    @property
    def is_healthy(self) -> bool: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def submit(self, request: GenerationRequest) -> TextStream: ...


class Compiler(Protocol):
    def compile_source(self, source: Source, cancellation: Cancellation | None = None) -> CompiledGrammar:
        """The compiled grammar; CancelledError soon after the compile was cancelled."""

    def get_cache_size_bytes(self) -> int:
        """Bytes that the kept grammars use."""

    def find_source(self, source: Source) -> CompiledGrammar | None:
        """What was compiled before, if it is still there; never blocks."""


class ChatTokenizer(Protocol):
    """The part of a Hugging Face tokenizer that turns a conversation into token ids."""

    def get_chat_template(self) -> str: ...

    def apply_chat_template(self, conversation: list[dict[str, Any]], **options: Any) -> Any: ...

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool) -> str: ...


@dataclass(frozen=True)
class Backend:
    """A loaded model with all that is needed to answer with it."""

    model_name: str
    tokenizer: ChatTokenizer
    compiler: Compiler
    engine: TextEngine
    sampling_defaults: SamplingDefaults
    longest_token_bytes: int
    """So many bytes of text at most are one token of a prompt."""
    metrics: ServerMetrics
    summary: dict[str, str]
    """What the start-up lines tell about it, label by label."""
