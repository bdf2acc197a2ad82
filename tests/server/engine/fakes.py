"""A grammar of fixed steps, its matcher, and the engine on a tiny model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from grammar_core.errors import GrammarLimitError
from models.sampler import SamplingParams
from server.engine import Engine, GenerationRequest, TextDelta, TextStream
from server.engine.constraint import Bitmask, pack_bits
from tests.models.tiny import EOS, VOCAB_SIZE, tiny_loaded

_T = TypeVar("_T")

DIGITS = frozenset(range(ord("0"), ord("9") + 1))


@dataclass(frozen=True)
class FakeGrammar:
    """At step i one of `steps[i]`, then (or, with `optional_after`, from there on) a stop token.

    `fault` names the method of the matcher that fails at step `fault_at`. `temperatures` are those of the
    first steps; every step captures its token under `capture`. The masks of the steps `slow_at` cannot be
    filled quickly: they are not done before `gate` is set.
    """

    steps: list[frozenset[int]]
    optional_after: int | None = None
    fault: str = ""
    fault_at: int = 0
    temperatures: tuple[float | None, ...] = ()
    capture: str = "step"
    slow_at: frozenset[int] = frozenset()
    gate: threading.Event = field(default_factory=threading.Event, compare=False)


def digits_grammar(count: int, **options: Any) -> FakeGrammar:
    """`count` digits."""
    return FakeGrammar([DIGITS] * count, **options)


@dataclass
class FakeMatcher:
    grammar: FakeGrammar
    accepted: list[int] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._fail("new")

    def _fail(self, method: str) -> None:
        if self.grammar.fault == method and len(self.accepted) == self.grammar.fault_at:
            raise ArithmeticError(f"{method} went wrong")

    def allowed(self) -> frozenset[int]:
        step = len(self.accepted)
        here = self.grammar.steps[step] if step < len(self.grammar.steps) else frozenset[int]()
        return here | {EOS} if self.is_completed() else here

    def accept_token(self, token_id: int) -> bool:
        self._fail("accept")
        if self.grammar.fault == "refuse" and len(self.accepted) == self.grammar.fault_at:
            return False
        if token_id not in self.allowed():
            return False
        self.accepted.append(token_id)
        return True

    def try_fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        self.threads.add(threading.get_ident())
        if len(self.accepted) in self.grammar.slow_at:
            return False
        return self._fill(bitmask, index)

    def fill_next_token_bitmask(self, bitmask: Bitmask, index: int = 0) -> bool:
        self.threads.add(threading.get_ident())
        if len(self.accepted) in self.grammar.slow_at:
            assert self.grammar.gate.wait(30)
        return self._fill(bitmask, index)

    def _fill(self, bitmask: Bitmask, index: int) -> bool:
        self._fail("fill")
        if self.grammar.fault == "limit" and len(self.accepted) == self.grammar.fault_at:
            raise GrammarLimitError("the mask takes too long", limit="time", value=1)
        bitmask[index] = pack_bits(32 * bitmask.shape[1], sorted(self.allowed()))
        return True

    @property
    def temperature(self) -> float | None:
        self.threads.add(threading.get_ident())
        self._fail("temperature")
        step = len(self.accepted)
        return self.grammar.temperatures[step] if step < len(self.grammar.temperatures) else None

    def get_captures(self) -> list[tuple[str, bytes]]:
        self._fail("captures")
        return [(self.grammar.capture, bytes([token])) for token in self.accepted if token != EOS]

    def is_completed(self) -> bool:
        after = self.grammar.optional_after
        after = len(self.grammar.steps) if after is None else after
        return not self.is_terminated() and len(self.accepted) >= after

    def is_terminated(self) -> bool:
        return bool(self.accepted) and self.accepted[-1] == EOS


@dataclass(frozen=True)
class ByteVocabulary:
    """Ids 0 to 255 are bytes; <eos> and <pad> are control tokens; the rest is padding."""

    decoded_vocab: list[bytes] = field(
        default_factory=lambda: [bytes([i]) if i < 256 else b"" for i in range(VOCAB_SIZE)]
    )
    stop_token_ids: list[int] = field(default_factory=lambda: [EOS])


@contextmanager
def running_engine(seed: int = 0, **options: Any) -> Iterator[Engine]:
    settings: dict[str, Any] = {"max_batch_size": 8, "matcher_factory": FakeMatcher}
    engine = Engine(tiny_loaded(seed=seed), ByteVocabulary(), **(settings | options))
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()


def request(
    prompt: str = "hello",
    *,
    max_tokens: int = 12,
    grammar: FakeGrammar | None = None,
    seed: int | None = 1,
    temperature: float = 1.0,
    **others: Any,
) -> GenerationRequest:
    return GenerationRequest(
        list(prompt.encode()),
        SamplingParams(temperature=temperature, seed=seed),
        max_tokens,
        grammar=cast(Any, grammar),
        **others,
    )


@dataclass(frozen=True)
class Answer:
    text: str
    token_ids: tuple[int, ...]
    last: TextDelta


async def answer(stream: TextStream) -> Answer:
    deltas = [delta async for delta in stream]
    assert [d.finish_reason is not None for d in deltas] == [False] * (len(deltas) - 1) + [True]
    tokens = tuple(token for delta in deltas for token in delta.token_ids)
    return Answer("".join(d.text for d in deltas), tokens, deltas[-1])


def answers(engine: Engine, requests: list[GenerationRequest]) -> list[Answer]:
    """All requests at once."""

    async def gather() -> list[Answer]:
        return await asyncio.gather(*[answer(engine.submit(r)) for r in requests])

    return run(gather())


def run(main: Coroutine[Any, Any, _T]) -> _T:
    return asyncio.run(asyncio.wait_for(main, timeout=60))
