"""From a validated request to a running generation."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace

from server.answer_output import AnswerOutput, OutputPolicy
from server.answer_plan import AnswerPlan, AnswerPlanner
from server.answer_reader import AnswerForm
from server.backend import Backend
from server.choice_streams import ChoiceStreams, submit
from server.engine import GenerationRequest
from server.errors import ApiError, invalid_request
from server.grammar_service import GrammarService
from server.prompt import PromptRenderer, template_options
from server.request_limits import RequestLimits
from server.sampling import check_token_ids, generation_request, of_choice, sampling_params
from server.schemas.chat_request import ChatCompletionRequest
from server.truncation import truncated


@dataclass(frozen=True)
class Generation:
    """An answer in the making and what its responses say about it. `created` is in Unix seconds.

    `form` says how the text of each choice is to be read, `constraint_param` which field its grammar comes
    from, and `output` what is told beside the text.
    """

    id: str
    created: int
    model: str
    prompt_token_ids: list[int]
    streams: ChoiceStreams
    form: AnswerForm
    constraint_param: str | None
    output: AnswerOutput

    @property
    def prompt_tokens(self) -> int:
        return len(self.prompt_token_ids)

    @property
    def custom_tools(self) -> frozenset[str]:
        return self.form.tools.custom_names if self.form.tools else frozenset()


class ChatService:
    """Starts the generations of chat requests. Everything that can be refused is refused here, before
    a response begins."""

    def __init__(
        self,
        backend: Backend,
        grammars: GrammarService,
        prompts: PromptRenderer,
        planner: AnswerPlanner,
        outputs: OutputPolicy,
        limits: RequestLimits,
    ) -> None:
        self._backend = backend
        self._grammars = grammars
        self._prompts = prompts
        self._planner = planner
        self._outputs = outputs
        self._limits = limits

    def end_waits(self) -> None:
        """Requests that are not yet with the engine end soon, because the server is shutting down."""
        self._grammars.end_waits()

    async def start(self, request: ChatCompletionRequest, *, id_prefix: str = "chatcmpl-") -> Generation:
        """Submit the request to the engine.

        Raises:
            ApiError: The request cannot be answered: unknown model (404), bad grammar, template error or
                prompt without room for an answer (400), overload (503).
        """
        check_model(request.model, self._backend.model_name)
        check_token_ids(request, self._backend.engine.vocab_size)
        self._limits.check(request)
        sampling = sampling_params(request, self._backend.sampling_defaults)
        logprobs = self._outputs.wanted(request, request.top_logprobs, "top_logprobs")
        wish = self._planner.wish(request)
        options = template_options(request, may_bring_template=self._limits.may_bring_template)
        if request.truncate_prompt_tokens is None:
            self._prompts.check_size(request.messages, wish.offered)
        prompt = await self._prompts.render(request.messages, wish.template_kwargs, wish.offered, options)
        plan = self._planner.plan(request, wish, prompt.text)
        token_ids = self._cut(prompt.token_ids, request)
        grammar = None if plan.constraint is None else await self._grammars.compile(plan.constraint)
        first = generation_request(
            request,
            token_ids,
            sampling=sampling,
            max_context=self._backend.engine.max_context,
            default_max_tokens=self._limits.max_tokens,
            grammar=grammar,
            request_id=f"{id_prefix}{request.request_id or uuid.uuid4().hex}",
            return_captures=bool(request.return_captures),
            shown_tokens=plan.shown_tokens,
            logprobs=logprobs,
            prompt_logprobs=request.prompt_logprobs,
        )
        return self._begin(request, first, plan)

    def _cut(self, token_ids: list[int], request: ChatCompletionRequest) -> list[int]:
        token_ids = truncated(token_ids, request, self._backend.engine.max_context)
        if not token_ids:
            raise invalid_request("The messages render to an empty prompt.", param="messages")
        return token_ids

    def _begin(
        self, request: ChatCompletionRequest, first: GenerationRequest, plan: AnswerPlan
    ) -> Generation:
        return Generation(
            id=first.request_id,
            created=int(time.time()),
            model=self._backend.model_name,
            prompt_token_ids=first.prompt_token_ids,
            streams=submit(self._backend.engine, choices_of(first, request.choices), prompt_param="messages"),
            form=plan.form,
            constraint_param=plan.constraint.param if plan.constraint else None,
            output=self._outputs.output(request, request.echoed_text),
        )


def choices_of(first: GenerationRequest, count: int) -> list[GenerationRequest]:
    """The requests of all choices; a prompt's logprobs come with the first."""
    others = [
        replace(first, sampling=of_choice(first.sampling, number), prompt_logprobs=None)
        for number in range(1, count)
    ]
    return [first, *others]


def check_model(name: str | None, served: str) -> None:
    """
    Raises:
        ApiError: 404 for another model than the one that is served.
    """
    if name is not None and name != served:
        raise unknown_model(name, served)


def unknown_model(name: str, served: str) -> ApiError:
    message = f"The model '{name}' does not exist; this server serves '{served}'."
    return ApiError(404, message, param="model", code="model_not_found")
