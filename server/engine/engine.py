"""The engine: one thread that schedules, runs and processes; asyncio submits and listens."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from models.loading import LoadedModel
from models.runner import Chunk, ModelRunner
from models.sampler import RowSampling, Sampler
from server.engine.constraint import MaskFiller, Matcher, Vocabulary
from server.engine.request import (
    ContextLengthError,
    EngineOverloadedError,
    EngineStoppedError,
    FinishReason,
    GenerationRequest,
    TextDelta,
)
from server.engine.scheduler import Scheduler, Step
from server.engine.sequence import Sequence
from server.engine.stream import TextStream
from server.engine.text_output import TextOutput

_log = logging.getLogger(__name__)

# Nested captures repeat their text: a short answer may have gigabytes of them.
MAX_CAPTURE_BYTES = 8 << 20
_BYTES_AROUND_CAPTURE = 32  # what the answer needs for each, besides name and text

MatcherFactory = Callable[[Any], Matcher]


def native_matcher(grammar: Any) -> Matcher:
    """A matcher of a compiled grammar."""
    from grammar_core import GrammarMatcher

    matcher: Matcher = GrammarMatcher(grammar)
    return matcher


class Engine:
    """Generates for many requests at once on one model.

    max_batch_size: sequences computed together; max_waiting: requests that may queue behind them;
    kv_cache_bytes: memory for keys and values; prefill_tokens: prompt tokens computed in one step.
    """

    def __init__(
        self,
        loaded_model: LoadedModel,
        tokenizer_info: Vocabulary,
        *,
        max_batch_size: int = 32,
        max_waiting: int = 256,
        kv_cache_bytes: int = 2 << 30,
        prefill_tokens: int = 512,
        matcher_factory: MatcherFactory = native_matcher,
    ) -> None:
        self._runner = ModelRunner(loaded_model, max_batch_size=max_batch_size, kv_cache_bytes=kv_cache_bytes)
        self._sampler = Sampler(loaded_model.vocab_size, loaded_model.device)
        self._masks = MaskFiller(loaded_model.vocab_size, list(loaded_model.tokenizer.get_vocab().values()))
        self._scheduler = Scheduler(max_batch_size, prefill_tokens, self._runner.fits)
        self._max_context = min(loaded_model.max_context, self._runner.max_columns)
        self._max_pending = max_batch_size + max_waiting
        self._vocabulary = tokenizer_info.decoded_vocab
        self._stop_ids = frozenset(tokenizer_info.stop_token_ids)
        self._new_matcher = matcher_factory
        self._arrivals: queue.SimpleQueue[Sequence | None] = queue.SimpleQueue()
        self._live: set[Sequence] = set()
        self._outbox: list[tuple[TextStream, TextDelta]] = []
        self._lock = threading.Lock()  # guards _live and _is_stopping against submit
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    # --- for the server

    @property
    def max_context(self) -> int:
        """Tokens of prompt and answer together that one request may have."""
        return self._max_context

    @property
    def running(self) -> int:
        """Requests being generated now."""
        return len(self._scheduler.running)

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return max(len(self._live) - self.running, 0)

    @property
    def is_healthy(self) -> bool:
        """Whether the loop is alive and takes requests."""
        return self._thread is not None and self._thread.is_alive() and not self._is_stopping

    def start(self) -> None:
        """Start the loop's thread; an engine starts once."""
        if self._thread is not None:
            raise EngineStoppedError("an engine can be started only once")
        self._thread = threading.Thread(target=self._loop, name="engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End all requests with finish reason "abort" and join the thread; may be called again."""
        with self._lock:
            self._is_stopping = True
        self._arrivals.put(None)
        if self._thread is not None:
            self._thread.join()
        self._masks.close()

    def submit(self, request: GenerationRequest) -> TextStream:
        """Queue a request; must be called in a running event loop.

        Raises EngineOverloadedError, ContextLengthError, EngineStoppedError.
        """
        prompt_tokens = len(request.prompt_token_ids)
        if prompt_tokens + 1 > self._max_context:
            raise ContextLengthError(prompt_tokens, self._max_context)
        sequence = self._new_sequence(request)
        with self._lock:
            if not self.is_healthy:
                raise EngineStoppedError("the engine is not running")
            if len(self._live) >= self._max_pending:
                raise EngineOverloadedError(f"{len(self._live)} requests are being processed or waiting")
            self._live.add(sequence)
        self._arrivals.put(sequence)
        return sequence.stream

    def _new_sequence(self, request: GenerationRequest) -> Sequence:
        sampling = request.sampling
        if sampling.seed is None:
            sampling = replace(sampling, seed=secrets.randbits(63))
        sequence = Sequence(
            request=request,
            stream=TextStream(request.request_id, lambda: self._cancel(sequence)),
            sampling=sampling,
            max_tokens=min(request.max_tokens, self._max_context - len(request.prompt_token_ids)),
            text=TextOutput(self._vocabulary, request.stop),
        )
        return sequence

    def _cancel(self, sequence: Sequence) -> None:
        sequence.is_cancelled = True

    # --- the loop

    def _loop(self) -> None:
        try:
            while not self._is_stopping:
                self._receive()
                self._drop_cancelled()
                self._step()
                self._send()
        finally:
            with self._lock:
                self._is_stopping = True
            for sequence in list(self._live):
                self._abort(sequence)
            self._send()

    def _receive(self) -> None:
        """Take in what has arrived; sleep when there is nothing else to do."""
        is_idle = not self._scheduler.running and not self._scheduler.waiting
        while is_idle or not self._arrivals.empty():
            sequence = self._arrivals.get()
            is_idle = False
            if sequence is not None:
                self._admit(sequence)

    def _admit(self, sequence: Sequence) -> None:
        if sequence not in self._live:  # cancelled before it got here
            return
        if sequence.request.grammar is not None:
            try:
                sequence.matcher = self._new_matcher(sequence.request.grammar)
            except Exception as error:
                self._fail(sequence, f"the grammar matcher failed: {type(error).__name__}: {error}")
                return
        self._scheduler.waiting.append(sequence)

    def _drop_cancelled(self) -> None:
        with self._lock:
            cancelled = [sequence for sequence in self._live if sequence.is_cancelled]
        for sequence in cancelled:
            self._abort(sequence)

    def _step(self) -> None:
        step = self._scheduler.schedule()
        self._free_preempted()
        if step is None:
            return
        try:
            self._process(step, *self._run(step))
        except Exception as error:
            _log.exception("a step failed; its requests end with an error")
            for sequence in step.sequences:
                self._fail(sequence, f"the generation step failed: {type(error).__name__}: {error}")
            self._restart_survivors()

    def _run(self, step: Step) -> tuple[list[Sequence], list[int], dict[int, str]]:
        """Forward pass and sampling: the sequences that got a token, the tokens, and failures by index."""
        chunks = [
            Chunk(s, s.computed, s.token_ids[s.computed : s.computed + length])
            for s, length in zip(step.sequences, step.lengths, strict=True)
        ]
        ready = [i for i, s in enumerate(step.sequences) if s.uncomputed == step.lengths[i]]
        sequences = [step.sequences[i] for i in ready]
        filling = self._masks.submit([s.matcher for s in sequences]) if ready else None
        logits = self._runner.forward(chunks)
        if not ready:
            return [], [], {}
        if len(ready) < len(chunks):
            logits = logits[torch.tensor(ready, device=logits.device)]
        mask = filling.result() if filling is not None else None
        temperatures = mask.temperatures if mask else {}
        prepared = self._sampler.prepare(
            [RowSampling(s.sampling, s.generated, temperatures.get(i)) for i, s in enumerate(sequences)]
        )
        sampled = self._sampler.sample(logits, prepared, mask.bitmask if mask else None)
        errors = sampled.errors | (mask.errors if mask else {})
        return sequences, sampled.token_ids, errors

    def _process(
        self, step: Step, sequences: list[Sequence], token_ids: list[int], errors: dict[int, str]
    ) -> None:
        for sequence, length in zip(step.sequences, step.lengths, strict=True):
            sequence.computed += length
        for i, (sequence, token_id) in enumerate(zip(sequences, token_ids, strict=True)):
            if i in errors:
                self._fail(sequence, errors[i])
                continue
            try:
                self._take_token(sequence, token_id)
            except Exception as error:
                _log.exception("request %s failed", sequence.request.request_id)
                self._fail(sequence, f"{type(error).__name__}: {error}")

    # --- one sequence

    def _take_token(self, sequence: Sequence, token_id: int) -> None:
        matcher, request = sequence.matcher, sequence.request
        if matcher is not None and not matcher.accept_token(token_id):
            self._fail(sequence, f"the grammar matcher refused token {token_id}, which its mask allowed")
            return
        sequence.token_ids.append(token_id)
        if token_id in self._stop_ids or token_id in request.stop_token_ids:
            requested = token_id if token_id in request.stop_token_ids else None
            self._complete(sequence, "stop", sequence.text.flush(), token_id, requested)
            return
        text = sequence.text.push(token_id)
        if sequence.text.stopped_by is not None:
            self._complete(sequence, "stop", text, token_id, sequence.text.stopped_by)
        elif sequence.budget_left == 0:
            reason: FinishReason = "stop" if self._can_only_stop(sequence) else "length"
            self._complete(sequence, reason, text + sequence.text.flush(), token_id)
        else:
            self._outbox.append((sequence.stream, TextDelta(text, (token_id,))))

    def _can_only_stop(self, sequence: Sequence) -> bool:
        """Whether the answer is complete, so that the exhausted budget has cut nothing off."""
        matcher = sequence.matcher
        if matcher is None or not matcher.is_completed():
            return False
        return matcher.is_terminated() or self._masks.allowed_ids_are_within(matcher, set(self._stop_ids))

    def _complete(
        self,
        sequence: Sequence,
        finish_reason: FinishReason,
        text: str,
        token_id: int,
        stop_reason: str | int | None = None,
    ) -> None:
        captures = _captures(sequence)
        size = sum(len(name) + len(value) + _BYTES_AROUND_CAPTURE for name, value in captures or ())
        if size > MAX_CAPTURE_BYTES:
            self._fail(sequence, f"the captures take {size:,} bytes; the limit is {MAX_CAPTURE_BYTES:,}")
            return
        self._finish(sequence, TextDelta(text, (token_id,), finish_reason, stop_reason, captures=captures))

    def _fail(self, sequence: Sequence, error: str) -> None:
        self._finish(sequence, TextDelta("", finish_reason="error", error=error))

    def _abort(self, sequence: Sequence) -> None:
        self._finish(sequence, TextDelta("", finish_reason="abort"))

    def _finish(self, sequence: Sequence, last: TextDelta) -> None:
        """End a request; nothing happens when it has ended already."""
        with self._lock:
            if sequence not in self._live:
                return
            self._live.discard(sequence)
        self._outbox.append((sequence.stream, last))
        self._scheduler.remove(sequence)
        self._runner.release(sequence, tainted=last.error is not None)

    def _free_preempted(self) -> None:
        for sequence in self._scheduler.preempted:
            self._runner.release(sequence)
        self._scheduler.preempted.clear()

    def _restart_survivors(self) -> None:
        """After a failed forward pass no row can be trusted: compute the other sequences again."""
        self._runner.reset()
        while self._scheduler.running:
            self._scheduler.preempt_youngest()
        self._scheduler.preempted.clear()

    def _send(self) -> None:
        """Hand the step's deltas to their event loops, with one call for each loop."""
        by_loop: dict[AbstractEventLoop, list[tuple[TextStream, TextDelta]]] = {}
        for stream, delta in self._outbox:
            by_loop.setdefault(stream.loop, []).append((stream, delta))
        self._outbox = []
        for loop, deltas in by_loop.items():
            try:
                loop.call_soon_threadsafe(_push_all, deltas)
            except RuntimeError:  # the loop is closed: nobody listens any more
                _log.debug("dropped %d deltas of a closed event loop", len(deltas))


def _captures(sequence: Sequence) -> tuple[tuple[str, bytes], ...] | None:
    """What the rules have captured so far, if the request wants to know."""
    if sequence.matcher is None or not sequence.request.return_captures:
        return None
    return tuple(sequence.matcher.get_captures())


def _push_all(deltas: list[tuple[TextStream, TextDelta]]) -> None:
    for stream, delta in deltas:
        stream.push(delta)
