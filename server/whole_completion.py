"""The answers to a completion request as one response body."""

from __future__ import annotations

from contextlib import aclosing

from models.logprobs import TokenLogprobs
from server.completion_service import CompletionJob, Prompt
from server.engine import TextDelta
from server.errors import server_fault
from server.schemas.chat_response import usage_of
from server.schemas.completion_request import CompletionRequest
from server.schemas.completion_response import Completion, CompletionChoice
from server.schemas.logprobs import CompletionLogprobs
from server.whole_answer import captures, failure


class _Candidate:
    """Collects one answer; some of them become choices."""

    def __init__(self, constraint_param: str | None) -> None:
        self._constraint_param = constraint_param
        self.text = ""
        self.token_ids: list[int] = []
        self.logprobs: list[TokenLogprobs] = []
        self.prompt_logprobs: tuple[TokenLogprobs, ...] = ()
        self.last: TextDelta | None = None

    def add(self, delta: TextDelta) -> None:
        self.text += delta.text
        self.token_ids += delta.token_ids
        self.logprobs += delta.logprobs
        self.prompt_logprobs = delta.prompt_logprobs or self.prompt_logprobs
        if delta.finish_reason is not None:
            self.last = delta
            if delta.finish_reason not in ("stop", "length"):
                raise failure(delta, self._constraint_param)

    @property
    def mean_logprob(self) -> float:
        return sum(entry.logprob for entry in self.logprobs) / max(len(self.logprobs), 1)


async def whole_completion(job: CompletionJob, request: CompletionRequest) -> Completion:
    """The complete answers. The generations are cancelled if this is.

    Raises:
        ApiError: The grammar could not be followed to its end (400), the engine failed (500) or was
            stopped (503).
    """
    candidates = [_Candidate(job.constraint_param) for _ in range(len(job.streams))]
    async with aclosing(job.streams.deltas()) as deltas:
        async for number, delta in deltas:
            candidates[number].add(delta)
    choices: list[CompletionChoice] = []
    for number, prompt in enumerate(job.prompts):
        of_prompt = candidates[number * job.candidates : (number + 1) * job.candidates]
        for candidate in _best(of_prompt, request.choices):
            # The prompt's logprobs come with its first candidate only.
            prompt_logprobs = of_prompt[0].prompt_logprobs
            choices.append(_choice(job, request, len(choices), prompt, candidate, prompt_logprobs))
    has_answer = request.max_tokens != 0
    return Completion(
        id=job.id,
        created=job.created,
        model=job.model,
        choices=choices,
        usage=usage_of(
            sum(len(prompt.token_ids) for prompt in job.prompts),
            sum(len(candidate.token_ids) for candidate in candidates) if has_answer else 0,
        ),
    )


def _best(candidates: list[_Candidate], count: int) -> list[_Candidate]:
    if len(candidates) == count:
        return candidates
    return sorted(candidates, key=lambda candidate: candidate.mean_logprob, reverse=True)[:count]


def _choice(
    job: CompletionJob,
    request: CompletionRequest,
    index: int,
    prompt: Prompt,
    candidate: _Candidate,
    prompt_logprobs: tuple[TokenLogprobs, ...],
) -> CompletionChoice:
    if candidate.last is None:
        raise server_fault("The generation ended without a result.")
    has_answer = request.max_tokens != 0
    output, reason = job.output, candidate.last.finish_reason
    echoed = prompt.text if request.echo else ""
    return CompletionChoice(
        index=index,
        text=echoed + (candidate.text if has_answer else ""),
        logprobs=_logprobs(job, request, prompt, candidate, prompt_logprobs),
        finish_reason="stop" if reason == "stop" and has_answer else "length",
        stop_reason=candidate.last.stop_reason if has_answer else None,
        captures=captures(candidate.last),
        prompt_logprobs=output.prompt_logprobs.prompt(prompt_logprobs) if output.prompt_logprobs else None,
        token_ids=(candidate.token_ids if has_answer else []) if output.returns_token_ids else None,
        prompt_token_ids=prompt.token_ids if output.returns_token_ids else None,
    )


def _logprobs(
    job: CompletionJob,
    request: CompletionRequest,
    prompt: Prompt,
    candidate: _Candidate,
    prompt_logprobs: tuple[TokenLogprobs, ...],
) -> CompletionLogprobs | None:
    if job.output.logprobs is None:
        return None
    entries: list[TokenLogprobs | int] = []
    if request.echo:
        entries += [prompt.token_ids[0], *prompt_logprobs]
    if request.max_tokens != 0:
        entries += candidate.logprobs
    return job.output.logprobs.completion(entries, has_top=bool(request.logprobs))
