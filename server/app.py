"""The application: the only place that constructs the parts and joins them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from grammar_core import GrammarCompiler, TokenizerInfo
from models.embedded import MODEL_NAME, ensure_embedded_model
from models.loading import LoadedModel, load_model
from server import __version__
from server.answer_output import OutputPolicy
from server.answer_plan import AnswerPlanner
from server.backend import Backend
from server.completion_service import CompletionService
from server.constraints.configured import load_configured_grammars
from server.engine import Engine
from server.errors import install_error_handlers
from server.generation import ChatService
from server.grammar_service import GrammarService
from server.model_family import model_family
from server.prompt import PromptRenderer
from server.request_limits import RequestLimits
from server.routes import chat_completions, completions, health, models
from server.sampling import defaults_from_generation_config
from server.schemas.model_list import ModelCard
from server.services import Services
from server.settings import ServerSettings


def create_app(
    settings: ServerSettings, *, open_backend: Callable[[ServerSettings], Backend] | None = None
) -> FastAPI:
    """The application; its lifespan loads the model, starts the engine and stops it again.

    Args:
        open_backend: Builds what answers, from the settings; by default a real model.
    """
    build = open_backend or open_model_backend

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        configured = load_configured_grammars(settings.grammars)
        backend = build(settings)
        grammars = GrammarService(
            backend.compiler,
            max_threads=settings.grammar_threads,
            max_pending=settings.grammar_max_pending,
            timeout_s=settings.grammar_timeout_s,
            max_bytes=settings.grammar_max_bytes,
        )
        prompts = PromptRenderer(
            backend.tokenizer,
            max_context=backend.engine.max_context,
            longest_token_bytes=backend.longest_token_bytes,
        )
        planner = AnswerPlanner(
            model_family(backend.tokenizer, backend.model_name), prompts.template, configured
        )
        backend.engine.start()
        app.state.backend = backend
        outputs = OutputPolicy(
            backend.engine.token_bytes,
            backend.engine.text_bytes,
            max_logprobs=settings.max_logprobs,
            logprobs_mode=settings.logprobs_mode,
        )
        limits = RequestLimits(
            max_tokens=settings.max_answer_tokens,
            may_bring_template=settings.allow_request_chat_template,
            has_priorities=settings.scheduling_policy == "priority",
        )
        chat = ChatService(backend, grammars, prompts, planner, outputs, limits)
        completions = CompletionService(backend, grammars, prompts, configured, outputs, limits)
        app.state.services = _services(settings, backend, chat, completions)
        try:
            yield
        finally:
            backend.engine.stop()
            prompts.close()
            grammars.close()

    # The request bodies are validated by hand, so generated API pages would show none of their fields.
    app = FastAPI(title="Syntagma", version=__version__, lifespan=lifespan, openapi_url=None)
    install_error_handlers(app)
    for routes in (chat_completions, completions, models, health):
        app.include_router(routes.router)
    return app


def open_model_backend(settings: ServerSettings) -> Backend:
    """Loads the model and builds the engine and the grammar compiler for its vocabulary."""
    loaded = load_model(
        settings.model or str(ensure_embedded_model()), device=settings.device, dtype=settings.dtype
    )
    tokenizer_info = TokenizerInfo.from_huggingface(
        loaded.tokenizer, vocab_size=loaded.vocab_size, stop_token_ids=list(loaded.stop_token_ids)
    )
    engine = Engine(
        loaded,
        tokenizer_info,
        max_batch_size=settings.max_batch_size,
        max_waiting=settings.max_waiting,
        kv_cache_bytes=settings.kv_cache_bytes,
    )
    model_name = settings.served_model_name or _default_name(settings.model, loaded.name)
    return Backend(
        model_name=model_name,
        tokenizer=loaded.tokenizer,
        compiler=GrammarCompiler(tokenizer_info, cache_limit_bytes=settings.grammar_cache_bytes),
        engine=engine,
        sampling_defaults=defaults_from_generation_config(loaded.model.generation_config.to_diff_dict()),
        longest_token_bytes=_longest_token(loaded.tokenizer, tokenizer_info),
        summary=_summary(model_name, loaded),
    )


def _default_name(model: str | None, loaded_name: str) -> str:
    """A hub id as it is; of a directory only the last part, which is no secret of the machine."""
    if model is None:
        return MODEL_NAME
    return loaded_name if Path(model).expanduser().is_dir() else model


def _longest_token(tokenizer: Any, tokenizer_info: TokenizerInfo) -> int:
    """Bytes of the longest token, control tokens included, which templates write out."""
    lengths = [len(token) for token in tokenizer_info.decoded_vocab]
    return max(*lengths, *(len(token.encode()) for token in tokenizer.get_added_vocab()), 1)


def _summary(model_name: str, loaded: LoadedModel) -> dict[str, str]:
    return {
        "model": f"{model_name}, {loaded.parameters / 1e6:,.0f} million parameters",
        "runs on": f"{loaded.device}, {str(loaded.dtype).removeprefix('torch.')}",
        "vocabulary": f"{loaded.vocab_size:,} tokens",
        "context": f"{loaded.max_context:,} tokens",
    }


def _services(
    settings: ServerSettings, backend: Backend, chat: ChatService, completions: CompletionService
) -> Services:
    card = ModelCard(
        id=backend.model_name, created=int(time.time()), max_model_len=backend.engine.max_context
    )
    return Services(chat, completions, backend.engine, card, settings.max_body_bytes)
