"""The engine: one thread that schedules, runs and processes; asyncio submits and listens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from models.loading import LoadedModel
from server.engine.request import GenerationRequest
from server.engine.stream import TextStream

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo


class Engine:
    """Generates for many requests at once on one model."""

    def __init__(
        self,
        loaded_model: LoadedModel,
        tokenizer_info: TokenizerInfo,
        *,
        max_batch_size: int = 32,
        max_waiting: int = 256,
        kv_cache_bytes: int = 2 << 30,
        prefill_tokens: int = 512,
        matcher_factory: Callable[[Any], Any] | None = None,
    ) -> None:
        raise NotImplementedError

    @property
    def max_context(self) -> int:
        """Tokens of prompt and answer together that one request may have."""
        raise NotImplementedError

    @property
    def running(self) -> int:
        """Requests being generated now."""
        raise NotImplementedError

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        raise NotImplementedError

    @property
    def is_healthy(self) -> bool:
        """Whether the loop is alive and takes requests."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the loop's thread."""
        raise NotImplementedError

    def stop(self) -> None:
        """End all requests with finish reason "abort" and join the thread; idempotent."""
        raise NotImplementedError

    def submit(self, request: GenerationRequest) -> TextStream:
        """Queue a request; must be called in a running event loop.

        Raises EngineOverloadedError, ContextLengthError, EngineStoppedError.
        """
        raise NotImplementedError
