"""From a validated request to a running generation."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

from server.answer_plan import AnswerPlanner
from server.answer_reader import AnswerForm
from server.backend import Backend
from server.engine import (
    ContextLengthError,
    EngineOverloadedError,
    EngineStoppedError,
    GenerationRequest,
    TextStream,
)
from server.errors import ApiError, invalid_request, overloaded
from server.grammar_service import GrammarService
from server.prompt import PromptRenderer
from server.sampling import sampling_params
from server.schemas.chat_request import ChatCompletionRequest


@dataclass(frozen=True)
class Generation:
    """An answer in the making and what its responses say about it. `created` is in Unix seconds.

    `form` says how its text is to be read, and `constraint_param` which field its grammar comes from.
    """

    id: str
    created: int
    model: str
    prompt_tokens: int
    stream: TextStream
    form: AnswerForm
    constraint_param: str | None

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
    ) -> None:
        self._backend = backend
        self._grammars = grammars
        self._prompts = prompts
        self._planner = planner

    def end_waits(self) -> None:
        """Requests that are not yet with the engine end soon, because the server is shutting down."""
        self._grammars.end_waits()

    async def start(self, request: ChatCompletionRequest) -> Generation:
        """Submit the request to the engine.

        Raises:
            ApiError: The request cannot be answered: unknown model (404), bad grammar, template error or
                prompt without room for an answer (400), overload (503).
        """
        self._check_model(request.model)
        wish = self._planner.wish(request)
        self._prompts.check_size(request.messages, wish.offered)
        prompt = await self._prompts.render(request.messages, wish.template_kwargs, wish.offered)
        if not prompt.token_ids:
            raise invalid_request("The messages render to an empty prompt.", param="messages")
        plan = self._planner.plan(request, wish, prompt.text)
        grammar = None if plan.constraint is None else await self._grammars.compile(plan.constraint)
        identifier = f"chatcmpl-{uuid.uuid4().hex}"
        stream = self._submit(
            GenerationRequest(
                prompt_token_ids=prompt.token_ids,
                sampling=sampling_params(request, self._backend.sampling_defaults),
                max_tokens=request.token_limit or self._backend.engine.max_context,
                stop=tuple(request.stop or ()),
                grammar=grammar,
                request_id=identifier,
                return_captures=bool(request.return_captures),
                shown_tokens=plan.shown_tokens,
            )
        )
        return Generation(
            identifier,
            int(time.time()),
            self._backend.model_name,
            len(prompt.token_ids),
            stream,
            plan.form,
            plan.constraint and plan.constraint.param,
        )

    def _check_model(self, name: str | None) -> None:
        if name is not None and name != self._backend.model_name:
            raise unknown_model(name, self._backend.model_name)

    def _submit(self, request: GenerationRequest) -> TextStream:
        try:
            return self._backend.engine.submit(request)
        except ContextLengthError as error:
            raise invalid_request(f"{error}.", param="messages", code="context_length_exceeded") from None
        except EngineOverloadedError:
            raise overloaded("The server has too many requests waiting; try again in a moment.") from None
        except EngineStoppedError:
            raise overloaded("The server is shutting down or has not started yet.") from None


def unknown_model(name: str, served: str) -> ApiError:
    message = f"The model '{name}' does not exist; this server serves '{served}'."
    return ApiError(404, message, param="model", code="model_not_found")
