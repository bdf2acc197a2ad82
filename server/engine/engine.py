"""The engine: one thread that schedules, runs and processes; asyncio submits and listens."""

from __future__ import annotations

import logging
import queue
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from models.loading import LoadedModel
from models.logprobs import TokenLogprobs
from models.runner import ModelRunner
from models.sampler import Sampler
from server.engine.bad_words import TokenSearch
from server.engine.captures import captures_of, excess_of
from server.engine.constraint import MaskFiller, MaskRow, Matcher, Vocabulary, fault_of
from server.engine.forward import forward
from server.engine.observer import EngineObserver, NoObserver, RequestTimes
from server.engine.outbox import Outbox, send_to
from server.engine.request import (
    ContextLengthError,
    EngineOverloadedError,
    EngineStoppedError,
    Fault,
    FinishReason,
    GenerationRequest,
    TextDelta,
)
from server.engine.scheduler import Scheduler, Step
from server.engine.sequence import Sequence
from server.engine.stream import TextStream
from server.engine.text_output import TextOutput
from server.engine.token_bans import bans_of
from server.engine.vocabulary import with_control_tokens

_log = logging.getLogger(__name__)

# A step waits so long for masks after the forward pass; sequences without theirs join a later step.
_MASK_PATIENCE_S = 0.02
_STALL_S = 30.0
_LONGEST_JOIN_S = 3.0
_LONGEST_NAP_S = 0.2  # masks and requests wake the loop; this is in case that something else has changed

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
        observer: EngineObserver | None = None,
    ) -> None:
        self._observer = observer or NoObserver()
        self._runner = ModelRunner(loaded_model, max_batch_size=max_batch_size, kv_cache_bytes=kv_cache_bytes)
        self._sampler = Sampler(loaded_model.vocab_size, loaded_model.device)
        self._masks = MaskFiller(
            loaded_model.vocab_size, list(loaded_model.tokenizer.get_vocab().values()), self._observer
        )
        self._scheduler = Scheduler(max_batch_size, prefill_tokens, self._runner.fits)
        self._max_context = min(loaded_model.max_context, self._runner.max_columns)
        self._max_pending = max_batch_size + max_waiting
        self._vocab_size = loaded_model.vocab_size
        self._vocabulary = tokenizer_info.decoded_vocab
        self._full_vocabulary = with_control_tokens(self._vocabulary, loaded_model.tokenizer)
        self._token_search = TokenSearch(self._vocabulary)
        self._stop_ids = frozenset(tokenizer_info.stop_token_ids)
        self._new_matcher = matcher_factory
        self._arrivals: queue.SimpleQueue[Sequence | None] = queue.SimpleQueue()
        self._live: set[Sequence] = set()
        self._outbox = Outbox()
        self._lock = threading.Lock()  # guards _live and _is_stopping against submit
        self._is_stopping = False
        self._thread: threading.Thread | None = None
        self._step_began: float | None = None  # monotonic; None while the loop sleeps

    # --- for the server

    @property
    def max_context(self) -> int:
        """Tokens of prompt and answer together that one request may have."""
        return self._max_context

    @property
    def vocab_size(self) -> int:
        """The number of token ids, those without a token included."""
        return self._vocab_size

    @property
    def token_bytes(self) -> list[bytes]:
        """The bytes of every token id; of control tokens those of their text."""
        return self._full_vocabulary

    @property
    def text_bytes(self) -> list[bytes]:
        """What every token id adds to a text: control tokens nothing."""
        return self._vocabulary

    @property
    def max_pending(self) -> int:
        """Requests that may be generated or wait at the same time."""
        return self._max_pending

    @property
    def running(self) -> int:
        """Requests being generated now."""
        return len(self._scheduler.running)

    @property
    def waiting(self) -> int:
        """Requests in the queue."""
        return max(len(self._live) - self.running, 0)

    @property
    def kv_cache_usage(self) -> float:
        """The part of the attention cache's memory that is in use."""
        return self._runner.cache_usage

    @property
    def is_healthy(self) -> bool:
        """Whether the loop is alive, takes requests and has not been in one step for very long."""
        began = self._step_began
        return self._takes_requests and (began is None or time.monotonic() - began < _STALL_S)

    @property
    def _takes_requests(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and not self._is_stopping

    def start(self) -> None:
        """Start the loop's thread; an engine starts once."""
        if self._thread is not None:
            raise EngineStoppedError("an engine can be started only once")
        self._thread = threading.Thread(target=self._loop, name="engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End all requests with finish reason "abort" and end the thread; may be called again.

        A thread that is in the middle of a very long step is left to end by itself, for nobody.
        """
        with self._lock:
            self._is_stopping = True
        self._arrivals.put(None)
        if self._thread is not None:
            self._thread.join(_LONGEST_JOIN_S)
            if self._thread.is_alive():
                self._abandon()
        self._masks.close()

    def _abandon(self) -> None:
        """Tell everybody that their request has ended, without touching what the loop's thread uses."""
        with self._lock:
            abandoned = list(self._live)
            self._live.clear()
        for sequence in abandoned:
            send_to(sequence.stream.loop, [(sequence.stream, TextDelta("", finish_reason="abort"))])

    def submit(self, request: GenerationRequest) -> TextStream:
        """Queue a request; must be called in a running event loop.

        Raises EngineOverloadedError, ContextLengthError, EngineStoppedError.
        """
        prompt_tokens = len(request.prompt_token_ids)
        if prompt_tokens + 1 > self._max_context:
            raise ContextLengthError(prompt_tokens, self._max_context)
        sequence = self._new_sequence(request)
        with self._lock:
            if not self._takes_requests:
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
            text=TextOutput(
                self._full_vocabulary if request.shows_control_tokens else self._vocabulary,
                request.stop,
                request.shown_tokens,
                includes_stop=request.include_stop_text,
            ),
        )
        return sequence

    def _cancel(self, sequence: Sequence) -> None:
        sequence.is_cancelled = True
        self._arrivals.put(None)

    # --- the loop

    def _loop(self) -> None:
        try:
            did_something = False
            while not self._is_stopping:
                self._receive(may_sleep=not did_something)
                self._step_began = time.monotonic()
                self._drop_cancelled()
                did_something = self._step()
                self._outbox.send()
                self._step_began = None
        finally:
            with self._lock:
                self._is_stopping = True
            for sequence in list(self._live):
                self._abort(sequence)
            self._outbox.send()

    def _receive(self, *, may_sleep: bool) -> None:
        """Take in what has arrived; sleep until something does when there is nothing else to do."""
        if may_sleep:
            try:
                self._admit(self._arrivals.get(timeout=_LONGEST_NAP_S if self._live else None))
            except queue.Empty:
                return
        while not self._arrivals.empty():
            self._admit(self._arrivals.get())

    def _admit(self, sequence: Sequence | None) -> None:
        if sequence is None or sequence not in self._live:  # only to wake the loop; cancelled already
            return
        request = sequence.request
        try:
            if request.grammar is not None:
                sequence.matcher = self._new_matcher(request.grammar)
            sequence.bans = bans_of(request, self._stop_ids, self._token_search, self._vocab_size)
        except Exception as error:
            self._fail(sequence, fault_of(error))
            return
        self._scheduler.add(sequence)

    def _drop_cancelled(self) -> None:
        with self._lock:
            cancelled = [sequence for sequence in self._live if sequence.is_cancelled]
        for sequence in cancelled:
            self._abort(sequence)

    def _step(self) -> bool:
        """Whether there was anything to do."""
        step = self._scheduler.schedule()
        self._free_preempted()
        ready = [s for s in self._scheduler.running if s.held_logits is not None and _has_mask(s)]
        is_ending = self._end_held()
        if step is None and not ready:
            return is_ending
        try:
            if step is not None:
                ready = self._compute(step) + ready
            self._sample(ready)
        except Exception as error:
            _log.exception("a step failed; its requests end with an error")
            for sequence in {*ready, *(step.sequences if step else ())}:
                self._fail(sequence, Fault(f"the generation step failed: {type(error).__name__}: {error}"))
            self._restart_survivors()
        return True

    def _compute(self, step: Step) -> list[Sequence]:
        """Forward pass; the sequences that can be sampled now. Those that lack only their mask are held."""
        self._note_beginnings(step.sequences)
        complete = [
            (i, s)
            for i, (s, length) in enumerate(zip(step.sequences, step.lengths, strict=True))
            if s.uncomputed == length
        ]
        maskless = [(s, s.matcher) for _, s in complete if s.matcher is not None and s.mask is None]
        filling = self._masks.submit([matcher for _, matcher in maskless]) if maskless else None
        logits = forward(self._runner, step)
        for sequence, length in zip(step.sequences, step.lengths, strict=True):
            sequence.computed += length
        if filling is not None:
            for (sequence, _), mask in zip(maskless, filling.result(), strict=True):
                sequence.mask = mask
        self._await_masks([s.mask for _, s in complete if s.mask is not None])
        for i, sequence in complete:
            sequence.held_logits = logits[i]
        ready = [s for _, s in complete if _has_mask(s)]
        self._hold([s for _, s in complete if not _has_mask(s)])
        return ready

    def _note_beginnings(self, sequences: list[Sequence]) -> None:
        for sequence in sequences:
            if sequence.began_at is None:
                sequence.began_at = time.monotonic()
                waited = sequence.began_at - sequence.submitted_at
                self._observer.began(waited, len(sequence.request.prompt_token_ids))

    def _note_token(self, sequence: Sequence) -> None:
        now = time.monotonic()
        if sequence.last_token_at is None:
            sequence.first_token_at = now
            self._observer.first_token(now - sequence.submitted_at)
        else:
            self._observer.next_token(now - sequence.last_token_at)
        sequence.last_token_at = now

    def _await_masks(self, masks: list[Future[MaskRow]]) -> None:
        pending = [mask for mask in masks if not mask.done()]
        if pending:
            wait(pending, timeout=_MASK_PATIENCE_S)

    def _hold(self, sequences: list[Sequence]) -> None:
        """Leave sequences out until their masks are done. Their logits are kept: the step's are dropped."""
        for sequence in sequences:
            assert sequence.mask is not None
            if sequence.held_logits is not None:
                sequence.held_logits = sequence.held_logits.clone()
            sequence.mask.add_done_callback(lambda _: self._arrivals.put(None))

    def _sample(self, sequences: list[Sequence]) -> None:
        """One token for each of them, from its held logits under its mask."""
        if not sequences:
            return
        logits = torch.cat([s.held_logits for s in sequences if s.held_logits is not None])
        rows = [s.mask_row(self._masks.unconstrained) for s in sequences]
        is_masked = self._masks.has_holes or any(row is not self._masks.unconstrained for row in rows)
        for sequence in sequences:
            sequence.held_logits = sequence.mask = None
        prepared = self._sampler.prepare(
            [s.row_sampling(row.temperature) for s, row in zip(sequences, rows, strict=True)]
        )
        bitmask = np.stack([row.bits for row in rows]) if is_masked else None
        sampled = self._sampler.sample(logits, prepared, bitmask)
        self._observer.step(len(sequences))
        for i, (sequence, row, token_id) in enumerate(zip(sequences, rows, sampled.token_ids, strict=True)):
            fault = Fault(sampled.errors[i]) if i in sampled.errors else None
            self._take_result(sequence, token_id, row.fault or fault, sampled.logprobs.get(i))

    def _take_result(
        self, sequence: Sequence, token_id: int, fault: Fault | None, logprobs: TokenLogprobs | None
    ) -> None:
        if fault is not None:
            self._fail(sequence, fault)
            return
        try:
            self._take_token(sequence, token_id, () if logprobs is None else (logprobs,))
        except Exception as error:
            fault = fault_of(error)
            if fault.code is None:
                _log.exception("request %s failed", sequence.request.request_id)
            self._fail(sequence, fault)

    # --- one sequence

    def _take_token(self, sequence: Sequence, token_id: int, logprobs: tuple[TokenLogprobs, ...]) -> None:
        matcher, request = sequence.matcher, sequence.request
        if matcher is not None and not matcher.accept_token(token_id):
            message = f"the grammar matcher refused token {token_id}, which its mask allowed"
            self._fail(sequence, Fault(message))
            return
        may_stop = sequence.may_stop
        sequence.push(token_id, self._vocabulary[token_id])
        self._note_token(sequence)
        is_requested = may_stop and token_id in request.stop_token_ids
        is_end = is_requested or token_id in self._stop_ids
        text = ""
        if not is_end or request.include_stop_text:
            text = sequence.text.push(token_id, may_stop=may_stop and not is_end)
        if is_end or sequence.budget_left == 0:
            text += sequence.text.flush()
        delta = TextDelta(text, (token_id,), logprobs=logprobs, prompt_logprobs=_first_time(sequence))
        if is_end:
            self._complete(sequence, delta, "stop", token_id if is_requested else None)
        elif sequence.text.stopped_by is not None:
            self._complete(sequence, delta, "stop", sequence.text.stopped_by)
        elif sequence.budget_left == 0:
            self._end_at_budget(sequence, delta)
        else:
            self._outbox.add(sequence.stream, delta)

    def _end_at_budget(self, sequence: Sequence, delta: TextDelta) -> None:
        """The reason is "stop" if the answer is complete, so that the budget has cut nothing off."""
        matcher = sequence.matcher
        if matcher is None or matcher.is_terminated() or not matcher.is_completed():
            is_complete = matcher is not None and matcher.is_terminated()
            self._complete(sequence, delta, "stop" if is_complete else "length")
            return
        sequence.mask = self._masks.start(matcher)
        sequence.held_ending = delta
        if sequence.mask.done():
            self._end_one_held(sequence)
        else:
            self._hold([sequence])

    def _end_held(self) -> bool:
        """Whether there were sequences that only waited for the reason of their end."""
        everyone = [*self._scheduler.running, *self._scheduler.waiting]
        ending = [s for s in everyone if s.held_ending is not None and _has_mask(s)]
        for sequence in ending:
            try:
                self._end_one_held(sequence)
            except Exception as error:
                self._fail(sequence, fault_of(error))
        return bool(ending)

    def _end_one_held(self, sequence: Sequence) -> None:
        assert sequence.mask is not None
        assert sequence.held_ending is not None
        can_only_stop = sequence.mask.result().allows_only(set(self._stop_ids))
        reason: FinishReason = "stop" if can_only_stop else "length"
        self._complete(sequence, sequence.held_ending, reason)

    def _complete(
        self,
        sequence: Sequence,
        delta: TextDelta,
        finish_reason: FinishReason,
        stop_reason: str | int | None = None,
    ) -> None:
        captures = captures_of(sequence)
        excess = excess_of(captures)
        if excess is not None:
            self._fail(sequence, excess)
            return
        last = replace(delta, finish_reason=finish_reason, stop_reason=stop_reason, captures=captures)
        self._finish(sequence, last)

    def _fail(self, sequence: Sequence, fault: Fault) -> None:
        last = TextDelta(
            "",
            finish_reason="error",
            error=fault.message,
            error_code=fault.code,
            error_field=fault.field,
        )
        self._finish(sequence, last)

    def _abort(self, sequence: Sequence) -> None:
        self._finish(sequence, TextDelta("", finish_reason="abort"))

    def _finish(self, sequence: Sequence, last: TextDelta) -> None:
        """End a request; nothing happens when it has ended already."""
        with self._lock:
            if sequence not in self._live:
                return
            self._live.discard(sequence)
        assert last.finish_reason is not None
        self._observer.ended(
            last.finish_reason,
            _times_of(sequence),
            len(sequence.request.prompt_token_ids),
            sequence.generated,
        )
        if sequence.mask is not None:
            sequence.mask.cancel()  # one that is being made already goes on, for nobody
        self._outbox.add(sequence.stream, last)
        self._scheduler.remove(sequence)
        self._runner.release(sequence, tainted=last.error is not None)

    def _free_preempted(self) -> None:
        if self._scheduler.preempted:
            self._observer.preempted(len(self._scheduler.preempted))
        for sequence in self._scheduler.preempted:
            self._runner.release(sequence)
        self._scheduler.preempted.clear()

    def _restart_survivors(self) -> None:
        """After a failed forward pass no row can be trusted: compute the other sequences again."""
        self._runner.reset()
        while self._scheduler.running:
            self._scheduler.preempt_youngest()
        self._scheduler.preempted.clear()


def _has_mask(sequence: Sequence) -> bool:
    """Whether the mask for the next token is there, or not needed."""
    return sequence.mask is None or sequence.mask.done()


def _first_time(sequence: Sequence) -> tuple[TokenLogprobs, ...] | None:
    """The prompt's logprobs, with the first token of the answer only."""
    is_wanted = sequence.prompt_logprobs is not None and sequence.generated == 1
    return tuple(sequence.prompt_logprobs or ()) if is_wanted else None


def _times_of(sequence: Sequence) -> RequestTimes:
    """Of one that ends now."""
    total = time.monotonic() - sequence.submitted_at
    began, first, last = sequence.began_at, sequence.first_token_at, sequence.last_token_at
    if began is None or first is None or last is None:
        return RequestTimes(total)
    return RequestTimes(total, prefill=first - began, decode=last - first)
