"""The application: the only place that constructs the parts and joins them."""

from __future__ import annotations

import asyncio
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
from server.body import BodyLimits
from server.completion_service import CompletionService
from server.constraints.configured import load_configured_grammars
from server.engine import Engine
from server.errors import CONSTRAINT_ERRORS, ApiError, install_error_handlers
from server.generation import ChatService
from server.grammar_service import GrammarService
from server.metrics import HttpMetrics, ServerMetrics
from server.middleware.api_keys import api_key, read_api_keys
from server.middleware.stack import Protection, install_middleware
from server.model_family import model_family
from server.openapi import install_openapi
from server.prompt import PromptRenderer
from server.request_limits import RequestLimits
from server.responses.service import ResponsesService
from server.responses.store import ResponseStore
from server.routes import (
    chat_completions,
    completions,
    health,
    metrics,
    models,
    tokenization,
)
from server.routes import (
    responses as responses_routes,
)
from server.sampling import defaults_from_generation_config
from server.schemas.model_list import ModelCard
from server.services import Services
from server.settings import ServerSettings
from server.tokenization import TokenizationService
from server.tracing import install_tracing


def create_app(
    settings: ServerSettings, *, open_backend: Callable[[ServerSettings], Backend] | None = None
) -> FastAPI:
    """The application; its lifespan loads the model, starts the engine and stops it again.

    Args:
        open_backend: Builds what answers, from the settings; by default a real model.
    """
    build = open_backend or open_model_backend
    http_metrics = HttpMetrics()

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
            metrics=backend.metrics.grammars,
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
        _watch(backend, grammars)
        store = ResponseStore(
            max_responses=settings.max_stored_responses, max_bytes=settings.max_stored_response_bytes
        )
        responses = ResponsesService(chat, store, max_background=settings.max_waiting)
        app.state.services = Services(
            chat=chat,
            completions=completions,
            responses=responses,
            tokens=TokenizationService(backend, prompts, limits),
            engine=backend.engine,
            metrics=backend.metrics,
            http_metrics=http_metrics,
            model_card=_model_card(backend),
            body_limits=BodyLimits(settings.max_body_bytes, settings.body_timeout_s),
            keep_alive_s=settings.keep_alive_s,
        )
        try:
            yield
        finally:
            if tracing is not None:
                await asyncio.to_thread(tracing.close)
            backend.engine.stop()
            await responses.close()
            prompts.close()
            grammars.close()

    # No pages about the document: they would load their scripts from elsewhere.
    app = FastAPI(title="Syntagma", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    install_openapi(app)
    install_error_handlers(app, lambda error: _note_refusal(app, http_metrics, error))
    install_middleware(app, _protection(settings), http_metrics, logs_access=settings.access_log)
    # Outermost, so that what the others refuse is traced too.
    tracing = install_tracing(app, settings.otlp_endpoint) if settings.otlp_endpoint else None
    for routes in (chat_completions, completions, responses_routes, tokenization, models, health, metrics):
        app.include_router(routes.router)
    return app


def _watch(backend: Backend, grammars: GrammarService) -> None:
    engine, metrics = backend.engine, backend.metrics
    metrics.watch("vllm:num_requests_running", "Requests being generated.", lambda: engine.running)
    metrics.watch("vllm:num_requests_waiting", "Requests waiting for a place.", lambda: engine.waiting)
    metrics.watch(
        "vllm:kv_cache_usage_perc", "Used part of the attention cache, 0 to 1.", lambda: engine.kv_cache_usage
    )
    metrics.watch(
        "syntagma:grammar_cache_bytes",
        "Memory of the compiled grammars that are kept.",
        backend.compiler.get_cache_size_bytes,
    )
    metrics.watch(
        "syntagma:grammar_compiles_in_flight",
        "Grammars that are compiled or wait for it.",
        lambda: grammars.in_flight,
    )


def _protection(settings: ServerSettings) -> Protection:
    """Raises ApiKeyFileError."""
    in_file = [] if settings.api_key_file is None else read_api_keys(settings.api_key_file)
    return Protection(
        keys=(*map(api_key, settings.api_key), *in_file),
        requests_per_minute=settings.requests_per_minute,
        concurrent_requests=settings.concurrent_requests,
        cors_origins=tuple(settings.cors_origin),
    )


def _note_refusal(app: FastAPI, http_metrics: HttpMetrics, error: ApiError) -> None:
    if error.status == 503:
        http_metrics.refused(error.code or "unknown")
    elif error.code in CONSTRAINT_ERRORS:
        services: Services = app.state.services
        services.metrics.grammars.rejected(error.code)


def open_model_backend(settings: ServerSettings) -> Backend:
    """Loads the model and builds the engine and the grammar compiler for its vocabulary."""
    # What draws a progress bar is no line of a log.
    model = settings.model or str(ensure_embedded_model(progress=settings.log_format == "text"))
    loaded = load_model(model, device=settings.device, dtype=settings.dtype)
    tokenizer_info = TokenizerInfo.from_huggingface(
        loaded.tokenizer, vocab_size=loaded.vocab_size, stop_token_ids=list(loaded.stop_token_ids)
    )
    compiler = GrammarCompiler(tokenizer_info, cache_limit_bytes=settings.grammar_cache_bytes)
    compiler.warm_up()
    model_name = settings.served_model_name or _default_name(settings.model, loaded.name)
    metrics = ServerMetrics(model_name)
    engine = Engine(
        loaded,
        tokenizer_info,
        max_batch_size=settings.max_batch_size,
        max_waiting=settings.max_waiting,
        kv_cache_bytes=settings.kv_cache_bytes,
        observer=metrics.engine,
    )
    return Backend(
        model_name=model_name,
        tokenizer=loaded.tokenizer,
        compiler=compiler,
        engine=engine,
        sampling_defaults=defaults_from_generation_config(loaded.model.generation_config.to_diff_dict()),
        longest_token_bytes=_longest_token(loaded.tokenizer, tokenizer_info),
        metrics=metrics,
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


def _model_card(backend: Backend) -> ModelCard:
    return ModelCard(
        id=backend.model_name, created=int(time.time()), max_model_len=backend.engine.max_context
    )
