"""The whole server on a model of a few thousand weights: real engine, real grammars, no download."""

from __future__ import annotations

from grammar_core import GrammarCompiler, TokenizerInfo
from server.backend import Backend
from server.engine import Engine
from server.metrics import ServerMetrics
from server.sampling import SamplingDefaults
from server.settings import ServerSettings
from tests.models.tiny import tiny_loaded

MODEL_NAME = "tiny"


def tiny_backend(settings: ServerSettings, context: int = 512) -> Backend:
    loaded = tiny_loaded(context=context)
    info = TokenizerInfo.from_huggingface(
        loaded.tokenizer, vocab_size=loaded.vocab_size, stop_token_ids=list(loaded.stop_token_ids)
    )
    metrics = ServerMetrics(MODEL_NAME)
    engine = Engine(
        loaded,
        info,
        max_batch_size=settings.max_batch_size,
        max_waiting=settings.max_waiting,
        kv_cache_bytes=settings.kv_cache_bytes,
        observer=metrics.engine,
    )
    return Backend(
        model_name=MODEL_NAME,
        tokenizer=loaded.tokenizer,
        compiler=GrammarCompiler(info, cache_limit_bytes=settings.grammar_cache_bytes),
        engine=engine,
        sampling_defaults=SamplingDefaults(),
        longest_token_bytes=8,
        metrics=metrics,
        summary={"model": "tiny"},
    )
