"""From a validated completion request to running generations, one for each prompt and choice."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from server.answer_output import AnswerOutput, OutputPolicy
from server.backend import Backend
from server.choice_streams import ChoiceStreams, submit
from server.constraints import ConfiguredGrammars, requested_constraint
from server.engine import GenerationRequest
from server.errors import invalid_request
from server.generation import check_model, choices_of
from server.grammar_service import GrammarService
from server.prompt import PromptRenderer
from server.request_limits import RequestLimits
from server.sampling import check_ids, check_token_ids, generation_request, sampling_params
from server.schemas.completion_request import CompletionRequest
from server.truncation import truncated


@dataclass(frozen=True)
class Prompt:
    """A prompt; its text is known only if it is echoed."""

    token_ids: list[int]
    text: str = ""


@dataclass(frozen=True)
class CompletionJob:
    """Answers in the making. `streams` has `candidates` for each of the prompts, in their order."""

    id: str
    created: int
    model: str
    prompts: list[Prompt]
    candidates: int
    streams: ChoiceStreams
    constraint_param: str | None
    output: AnswerOutput


class CompletionService:
    """Starts the generations of completion requests. Everything that can be refused is refused here,
    before a response begins."""

    def __init__(
        self,
        backend: Backend,
        grammars: GrammarService,
        prompts: PromptRenderer,
        configured: ConfiguredGrammars,
        outputs: OutputPolicy,
        limits: RequestLimits,
    ) -> None:
        self._backend = backend
        self._grammars = grammars
        self._prompts = prompts
        self._configured = configured
        self._outputs = outputs
        self._limits = limits

    async def start(self, request: CompletionRequest) -> CompletionJob:
        """Submit the request's prompts to the engine.

        Raises:
            ApiError: The request cannot be answered: unknown model (404), bad grammar, prompt without room
                for an answer (400), overload (503).
        """
        engine = self._backend.engine
        check_model(request.model, self._backend.model_name)
        check_token_ids(request, engine.vocab_size)
        self._limits.check(request)
        sampling = sampling_params(request, self._backend.sampling_defaults)
        logprobs = self._outputs.wanted(request, request.logprobs, "logprobs")
        constraint = requested_constraint(request, self._configured)
        prompts = [await self._prompt(prompt, request) for prompt in request.prompts]
        grammar = None if constraint is None else await self._grammars.compile(constraint)
        if request.candidates > request.choices and logprobs is None:
            logprobs = self._outputs.for_ranking()
        identifier = f"cmpl-{request.request_id or uuid.uuid4().hex}"
        requests = [
            generation_request(
                request,
                prompt.token_ids,
                sampling=sampling,
                max_context=engine.max_context,
                grammar=grammar,
                request_id=identifier,
                return_captures=bool(request.return_captures),
                logprobs=logprobs,
                prompt_logprobs=request.prompt_logprobs_count,
            )
            for prompt in prompts
        ]
        return CompletionJob(
            id=identifier,
            created=int(time.time()),
            model=self._backend.model_name,
            prompts=prompts,
            candidates=request.candidates,
            streams=self._submit(requests, request.candidates),
            constraint_param=constraint.param if constraint else None,
            output=self._outputs.output(request, shows_control_tokens=request.skip_special_tokens is False),
        )

    def _submit(self, requests: Sequence[GenerationRequest], candidates: int) -> ChoiceStreams:
        everything = [choice for first in requests for choice in choices_of(first, candidates)]
        return submit(self._backend.engine, everything, prompt_param="prompt")

    async def _prompt(self, prompt: str | list[int], request: CompletionRequest) -> Prompt:
        if isinstance(prompt, str):
            add_special = request.add_special_tokens is not False
            full = await self._prompts.encode(prompt, add_special_tokens=add_special)
        else:
            check_ids(prompt, self._backend.engine.vocab_size, "prompt")
            full = prompt
        token_ids = truncated(full, request, self._backend.engine.max_context)
        if not token_ids:
            raise invalid_request("A prompt must have at least one token.", param="prompt")
        is_whole_text = isinstance(prompt, str) and token_ids == full
        text = prompt if isinstance(prompt, str) and is_whole_text else ""
        if request.echo and not is_whole_text:
            skips = request.skip_special_tokens is not False
            text = await self._prompts.decode(token_ids, skip_special_tokens=skips)
        return Prompt(token_ids, text)
