"""The forward pass of a step, and on the way the logprobs of prompts."""

from __future__ import annotations

import torch

from models.logprobs import prompt_token_logprobs
from models.runner import Chunk, ModelRunner
from server.engine.scheduler import Step
from server.engine.sequence import Sequence


def forward(runner: ModelRunner, step: Step) -> list[torch.Tensor]:
    """Compute the step's chunks; the logits [1, vocab] after each of them.

    A chunk of a prompt whose logprobs are wanted is computed alone, with the logits of all its tokens.
    """
    chunks = [
        Chunk(s, s.computed, s.token_ids[s.computed : s.computed + length])
        for s, length in zip(step.sequences, step.lengths, strict=True)
    ]
    plain = [i for i, s in enumerate(step.sequences) if not s.wants_prompt_logits]
    last: dict[int, torch.Tensor] = {}
    if plain:
        logits = runner.forward([chunks[i] for i in plain])
        last = {i: logits[row : row + 1] for row, i in enumerate(plain)}
    for i, (sequence, chunk) in enumerate(zip(step.sequences, chunks, strict=True)):
        if i not in last:
            every = runner.forward_all(chunk)
            _note_prompt_logprobs(sequence, every)
            last[i] = every[-1:]
    return [last[i] for i in range(len(chunks))]


def _note_prompt_logprobs(sequence: Sequence, logits: torch.Tensor) -> None:
    """logits: [tokens, vocab] after each token of the chunk that was just computed.

    After a preemption the prompt comes again from its start: what is known already is left as it is.
    """
    known, top = sequence.prompt_logprobs, sequence.request.prompt_logprobs
    assert known is not None
    assert top is not None
    skipped = len(known) - sequence.computed
    following = sequence.request.prompt_token_ids[len(known) + 1 : sequence.computed + len(logits) + 1]
    if following:
        known.extend(prompt_token_logprobs(logits[skipped:], following, top))
