"""What can be measured of the loop, told to whoever wants to count it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from server.engine.request import FinishReason


@dataclass(frozen=True, slots=True)
class RequestTimes:
    """Of a request that has ended, in seconds.

    `total`: since it was submitted; `prefill`: from the beginning of its prompt to its first token; `decode`:
    from there to the last one. The two are None if there was no token.
    """

    total: float
    prefill: float | None = None
    decode: float | None = None


class EngineObserver(Protocol):
    """Called from the engine's threads; must be quick, thread-safe, and must not raise. Times in seconds."""

    def began(self, waited: float, prompt_tokens: int) -> None:
        """A request's prompt is computed now, after it has waited so long."""

    def first_token(self, latency: float) -> None:
        """Since the request was submitted."""

    def next_token(self, latency: float) -> None:
        """Since the one before."""

    def step(self, sampled: int) -> None:
        """A step gave so many tokens."""

    def ended(
        self, reason: FinishReason, times: RequestTimes, prompt_tokens: int, generated: int
    ) -> None: ...

    def preempted(self, count: int) -> None: ...

    def mask_filled(self, duration: float, *, is_computed: bool) -> None:
        """One row was looked up, or had to be worked out."""


class NoObserver:
    """Counts nothing."""

    def began(self, waited: float, prompt_tokens: int) -> None:
        return

    def first_token(self, latency: float) -> None:
        return

    def next_token(self, latency: float) -> None:
        return

    def step(self, sampled: int) -> None:
        return

    def ended(self, reason: FinishReason, times: RequestTimes, prompt_tokens: int, generated: int) -> None:
        return

    def preempted(self, count: int) -> None:
        return

    def mask_filled(self, duration: float, *, is_computed: bool) -> None:
        return
