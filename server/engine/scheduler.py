"""Which sequences run in the next step, and how many tokens of each. Knows no tensors."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from server.engine.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Step:
    """The sequences of one forward pass; `lengths` says how many tokens of each are computed."""

    sequences: list[Sequence]
    lengths: list[int]


class Scheduler:
    """First come, first served, within equal priorities; prompts and decoding take turns, so that neither
    waits for long.

    `fits(sequences, longest)` says whether the cache holds so many sequences of at most so many tokens. A
    sequence that fits alone gets in sooner or later; when decoding outgrows the cache, the youngest
    sequences go back to the queue and are computed again later. Sequences that are held keep their place
    and are left out.
    """

    def __init__(self, max_batch_size: int, prefill_tokens: int, fits: Callable[[int, int], bool]) -> None:
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.preempted: list[Sequence] = []  # since the caller last looked; their cache rows are to be freed
        self._max_batch_size = max_batch_size
        self._prefill_tokens = prefill_tokens
        self._fits = fits
        self._decode_next = False

    def schedule(self) -> Step | None:
        """The next step, or None when there is nothing to do."""
        decode_first = self._decode_next
        self._decode_next = not self._decode_next
        if decode_first:
            return self._decode_step() or self._prefill_step()
        return self._prefill_step() or self._decode_step()

    def add(self, sequence: Sequence) -> None:
        """Queue a new sequence: behind all that wait with its priority or a smaller number."""
        place = len(self.waiting)
        while place and self.waiting[place - 1].request.priority > sequence.request.priority:
            place -= 1
        self.waiting.insert(place, sequence)

    def remove(self, sequence: Sequence) -> None:
        """Forget a sequence, wherever it is."""
        if sequence in self.running:
            self.running.remove(sequence)
        elif sequence in self.waiting:
            self.waiting.remove(sequence)

    def _decode_step(self) -> Step | None:
        while not self._fits(len(self.running), self._longest()):
            self.preempt_youngest()
        decoding = [sequence for sequence in self.running if sequence.is_decoding and not sequence.is_held]
        return Step(decoding, [1] * len(decoding)) if decoding else None

    def _prefill_step(self) -> Step | None:
        """Parts of one long prompt, or several short prompts whose padded sum is within the limit."""
        step = Step([], [])
        while (sequence := self._next_prompt(step)) is not None:
            length = min(sequence.uncomputed, self._prefill_tokens, sequence.longest_chunk)
            widest = max([length, *step.lengths])
            # Only the first may be cut: a prompt's chunks do not depend on its company.
            if step.sequences and widest * (len(step.sequences) + 1) > self._prefill_tokens:
                break
            if sequence not in self.running:
                self.running.append(self.waiting.popleft())
            step.sequences.append(sequence)
            step.lengths.append(length)
        return step if step.sequences else None

    def _next_prompt(self, step: Step) -> Sequence | None:
        for sequence in self.running:
            if not (sequence.is_decoding or sequence.is_held or sequence in step.sequences):
                return sequence
        if not self.waiting or self.waiting[0].is_held or len(self.running) >= self._max_batch_size:
            return None
        longest = max(self._longest(), len(self.waiting[0].token_ids))
        return self.waiting[0] if self._fits(len(self.running) + 1, longest) else None

    def _longest(self) -> int:
        return max((len(sequence.token_ids) for sequence in self.running), default=0)

    def preempt_youngest(self) -> None:
        """Send the sequence that was admitted last back to the head of the queue."""
        sequence = self.running.pop()
        sequence.computed = 0
        sequence.held_logits = None  # they come again with the rest
        self.waiting.appendleft(sequence)
        self.preempted.append(sequence)
