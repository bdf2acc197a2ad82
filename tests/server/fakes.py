"""Stand-ins for the model: an engine that follows a script, a compiler, a tokenizer of single bytes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from grammar_core import TokenizerInfo
from server.backend import Backend
from server.constraints import Source
from server.engine import (
    ContextLengthError,
    EngineOverloadedError,
    GenerationRequest,
    TextDelta,
    TextStream,
)
from server.metrics import ServerMetrics
from server.sampling import SamplingDefaults

if TYPE_CHECKING:
    from grammar_core import CompiledGrammar
    from grammar_core.deadline import Cancellation

MODEL_NAME = "fake/model"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] + '' }}\n{% endfor %}"
    "{% if wanted_error is defined %}{{ raise_exception(wanted_error) }}{% endif %}"
    "{% if add_generation_prompt %}<|assistant|>"
    "{% if enable_thinking is false %}no-think{% endif %}{% endif %}"
)

BYTE_VOCABULARY = TokenizerInfo([bytes([byte]) for byte in range(256)])

Script = Callable[[GenerationRequest], Iterable[TextDelta]]


def spell(text: str, *, finish_reason: str = "stop", piece: int = 3) -> list[TextDelta]:
    """The deltas of an answer, `piece` characters each, and a last one without text."""
    pieces = [text[begin : begin + piece] for begin in range(0, len(text), piece)]
    deltas = [TextDelta(part, token_ids=(7,)) for part in pieces]
    return [*deltas, TextDelta("", token_ids=(2,), finish_reason=cast(Any, finish_reason))]


class FakeEngine:
    """Plays `script` for every request, a delta every `step_s` seconds; remembers what was asked of it."""

    def __init__(self, script: Script | None = None, *, step_s: float = 0.0, max_context: int = 1000) -> None:
        self.script = script or (lambda request: spell("Hello, wörld!"))
        self.step_s = step_s
        self.max_context = max_context
        self.vocab_size = 256
        self.max_pending = 100
        self.token_bytes = self.text_bytes = [bytes([byte]) for byte in range(256)]
        self.is_healthy = False
        self.kv_cache_usage = 0.25
        self.overloaded = False
        self.requests: list[GenerationRequest] = []
        self.cancelled: list[str] = []
        self._players: set[asyncio.Task[None]] = set()
        self._streams: list[TextStream] = []

    def start(self) -> None:
        self.is_healthy = True

    def stop(self) -> None:
        self.is_healthy = False
        for stream in self._streams:
            stream.loop.call_soon_threadsafe(stream.push, TextDelta("", finish_reason="abort"))

    @property
    def running(self) -> int:
        return len(self._players)

    @property
    def waiting(self) -> int:
        return 0

    def submit(self, request: GenerationRequest) -> TextStream:
        if self.overloaded:
            raise EngineOverloadedError("the queue is full")
        if len(request.prompt_token_ids) >= self.max_context:
            raise ContextLengthError(len(request.prompt_token_ids), self.max_context)
        self.requests.append(request)
        stream = TextStream(request.request_id, lambda: self._cancel(request.request_id, player))
        player = asyncio.create_task(self._play(stream, request))
        self._streams.append(stream)
        self._players.add(player)
        player.add_done_callback(self._players.discard)
        return stream

    def _cancel(self, request_id: str, player: asyncio.Task[None]) -> None:
        if not player.done() and request_id not in self.cancelled:
            self.cancelled.append(request_id)
        player.cancel()

    async def _play(self, stream: TextStream, request: GenerationRequest) -> None:
        for delta in self.script(request):
            await asyncio.sleep(self.step_s)
            stream.push(delta)


class FakeCompiler:
    """Reads grammars for real and compiles nothing. While `gate` is not set, it waits.

    What it has compiled can be found again if `finds_cached`.
    """

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.compiled: list[str] = []
        self.cached: dict[Source, CompiledGrammar] = {}
        self.finds_cached = False

    def compile_source(self, source: Source, cancellation: Cancellation | None = None) -> CompiledGrammar:
        self.compiled.append(source.text)
        assert self.gate.wait(10)
        self.cached[source] = cast("CompiledGrammar", source.build(BYTE_VOCABULARY))
        return self.cached[source]

    def get_cache_size_bytes(self) -> int:
        return 100 * len(self.cached)

    def find_source(self, source: Source) -> CompiledGrammar | None:
        return self.cached.get(source) if self.finds_cached else None


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """A real fast tokenizer with a chat template: one token a byte."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(
        models.BPE(vocab={symbol: index for index, symbol in enumerate(alphabet)}, merges=[])
    )
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast: PreTrainedTokenizerFast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.chat_template = CHAT_TEMPLATE
    return fast


def fake_backend(
    engine: FakeEngine | None = None,
    compiler: FakeCompiler | None = None,
    defaults: SamplingDefaults | None = None,
) -> Backend:
    return Backend(
        model_name=MODEL_NAME,
        tokenizer=cast(Any, byte_tokenizer()),
        compiler=compiler or FakeCompiler(),
        engine=engine or FakeEngine(),
        sampling_defaults=defaults or SamplingDefaults(),
        longest_token_bytes=2,
        metrics=ServerMetrics(MODEL_NAME),
        summary={"model": "none"},
    )


def prompt_text(token_ids: list[int]) -> str:
    return str(byte_tokenizer().decode(token_ids))
