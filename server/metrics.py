"""What Prometheus can scrape: the names that operators of vLLM know, and our own for grammars.

Every application has a registry of its own. Nothing here holds a lock for longer than an addition. Counters
begin with a zero for every label that is known beforehand: Prometheus sees no increase where a series comes
into being.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from server.engine import FinishReason
from server.engine.observer import RequestTimes
from server.errors import CONSTRAINT_ERRORS

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_LATENCIES = (
    0.001,
    0.005,
    0.01,
    0.02,
    0.04,
    0.06,
    0.08,
    0.1,
    0.25,
    0.5,
    0.75,
    1,
    2.5,
    5,
    7.5,
    10,
    20,
    40,
    80,
)
_TOKEN_LATENCIES = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 10)
_DURATIONS = (0.05, 0.1, 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960)
_COUNTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
_MASKS = (2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.5, 1)
_REFUSALS = ("overloaded", "rate_limit")
_COMPILES = (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class EngineMetrics:
    """An `EngineObserver` that counts for Prometheus."""

    def __init__(self, registry: CollectorRegistry, model_name: str) -> None:
        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            whole = Histogram(name, text, ["model_name"], buckets=buckets, registry=registry)
            return whole.labels(model_name)

        def counter(name: str, text: str) -> Counter:
            return Counter(name, text, ["model_name"], registry=registry).labels(model_name)

        self._queue_time = histogram(
            "vllm:request_queue_time_seconds", "Time a request waited for a place.", _DURATIONS
        )
        self._first_token = histogram(
            "vllm:time_to_first_token_seconds", "From the submission to the first token.", _LATENCIES
        )
        self._next_token = histogram(
            "vllm:inter_token_latency_seconds", "From one token of a request to its next.", _TOKEN_LATENCIES
        )
        self._mean_token = histogram(
            "vllm:request_time_per_output_token_seconds",
            "Mean time between the tokens of a request.",
            _TOKEN_LATENCIES,
        )
        self._prefill = histogram(
            "vllm:request_prefill_time_seconds", "From the beginning to the first token.", _DURATIONS
        )
        self._decode = histogram(
            "vllm:request_decode_time_seconds", "From the first token to the last.", _DURATIONS
        )
        self._inference = histogram(
            "vllm:request_inference_time_seconds", "From the beginning to the last token.", _DURATIONS
        )
        self._duration = histogram(
            "vllm:e2e_request_latency_seconds", "From the submission to the last token.", _DURATIONS
        )
        self._prompt_lengths = histogram("vllm:request_prompt_tokens", "Tokens of a prompt.", _COUNTS)
        self._lengths = histogram("vllm:request_generation_tokens", "Tokens of an answer.", _COUNTS)
        self._step_tokens = histogram("vllm:iteration_tokens_total", "Tokens sampled in a step.", _COUNTS)
        self._prompt_tokens = counter("vllm:prompt_tokens", "Tokens of all prompts.")
        self._tokens = counter("vllm:generation_tokens", "Tokens of all answers.")
        self._preemptions = counter("vllm:num_preemptions", "Requests sent back to the queue for room.")
        self._ends = Counter(
            "vllm:request_success",
            "Requests that ended, by the reason.",
            ["model_name", "finished_reason"],
            registry=registry,
        )
        for reason in get_args(FinishReason):
            self._ends.labels(model_name, reason)
        masks = Histogram(
            "syntagma:mask_seconds",
            "Time to fill one request's token mask: looked up, or computed.",
            ["kind"],
            buckets=_MASKS,
            registry=registry,
        )
        self._looked_up, self._computed = masks.labels("lookup"), masks.labels("computed")
        self._model_name = model_name

    def began(self, waited: float, prompt_tokens: int) -> None:
        self._queue_time.observe(waited)
        self._prompt_tokens.inc(prompt_tokens)

    def first_token(self, latency: float) -> None:
        self._first_token.observe(latency)

    def next_token(self, latency: float) -> None:
        self._next_token.observe(latency)

    def step(self, sampled: int) -> None:
        self._step_tokens.observe(sampled)
        self._tokens.inc(sampled)

    def ended(self, reason: FinishReason, times: RequestTimes, prompt_tokens: int, generated: int) -> None:
        self._ends.labels(self._model_name, reason).inc()
        self._duration.observe(times.total)
        if times.prefill is not None and times.decode is not None:
            self._prefill.observe(times.prefill)
            self._decode.observe(times.decode)
            self._inference.observe(times.prefill + times.decode)
            if generated > 1:
                self._mean_token.observe(times.decode / (generated - 1))
        self._prompt_lengths.observe(prompt_tokens)
        self._lengths.observe(generated)

    def preempted(self, count: int) -> None:
        self._preemptions.inc(count)

    def mask_filled(self, duration: float, *, is_computed: bool) -> None:
        (self._computed if is_computed else self._looked_up).observe(duration)


class GrammarMetrics:
    """What happens to the constraints of requests."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._compiles = Histogram(
            "syntagma:grammar_compile_seconds",
            "Time to compile a grammar that was not in the cache.",
            buckets=_COMPILES,
            registry=registry,
        )
        self._lookups = Counter(
            "syntagma:grammar_cache_lookups",
            "Constraints of requests, by whether the cache had them.",
            ["result"],
            registry=registry,
        )
        self._rejections = Counter(
            "syntagma:constraint_rejections", "Constraints refused, by reason.", ["reason"], registry=registry
        )
        for result in ("hit", "miss"):
            self._lookups.labels(result)
        for reason in CONSTRAINT_ERRORS:
            self._rejections.labels(reason)

    def looked_up(self, *, is_hit: bool) -> None:
        self._lookups.labels("hit" if is_hit else "miss").inc()

    def compiled(self, duration: float) -> None:
        self._compiles.observe(duration)

    def rejected(self, reason: str) -> None:
        self._rejections.labels(reason).inc()


class HttpMetrics:
    """Answers by path and status; paths are those of routes, so that their number is bounded.

    Has a registry of its own, because it counts before a model is there.
    """

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        self._requests = Counter(
            "http_requests", "Requests answered.", ["method", "handler", "status"], registry=registry
        )
        self._durations = Histogram(
            "http_request_duration_seconds",
            "Time to the end of the response.",
            ["method", "handler"],
            buckets=_LATENCIES,
            registry=registry,
        )
        self._refusals = Counter(
            "vllm:admission_rejections",
            "Requests refused for overload, by cause.",
            ["reason"],
            registry=registry,
        )
        for reason in _REFUSALS:
            self._refusals.labels(reason)
        # Memory, processor time and open files of this process, under the names of all Prometheus clients.
        ProcessCollector(registry=registry)

    def answered(self, method: str, handler: str, status: int, duration: float) -> None:
        self._requests.labels(method, handler, str(status)).inc()
        self._durations.labels(method, handler).observe(duration)

    def refused(self, reason: str) -> None:
        self._refusals.labels(reason).inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)


class ServerMetrics:
    """All of an application's metrics."""

    def __init__(self, model_name: str) -> None:
        self.registry = CollectorRegistry()
        self.engine = EngineMetrics(self.registry, model_name)
        self.grammars = GrammarMetrics(self.registry)
        self._model_name = model_name

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """A gauge whose value is asked for when it is scraped."""
        gauge = Gauge(name, text, ["model_name"], registry=self.registry)
        gauge.labels(self._model_name).set_function(value)

    def text(self) -> bytes:
        return generate_latest(self.registry)
