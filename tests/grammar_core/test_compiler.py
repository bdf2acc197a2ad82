"""How many grammars a compiler compiles at a time."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from grammar_core import GrammarCompiler, TokenizerInfo
from grammar_core import compiler as module
from grammar_core.lowering import lower_grammar

INFO = TokenizerInfo([b"a", b"</s>"], stop_token_ids=[1])


class Counted:
    """Lowers grammars and notes how many are lowered at once, waiting a little for more to come."""

    def __init__(self, expected: int) -> None:
        self._lock = threading.Lock()
        self._enough = threading.Event()
        self._expected = expected
        self.now = self.most = 0

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.most >= self._expected:
                self._enough.set()
        self._enough.wait(5)
        program = lower_grammar(*arguments)
        with self._lock:
            self.now -= 1
        return program


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_at_most_max_threads_compile_at_a_time(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Counted(limit)
    monkeypatch.setattr(module, "lower_grammar", counted)
    compiler = GrammarCompiler(INFO, max_threads=limit)
    texts = [f'root ::= "a"{{{number}}}' for number in range(1, 9)]
    with ThreadPoolExecutor(8) as pool:
        compiled = list(pool.map(compiler.compile_grammar, texts))
    assert len(compiled) == 8
    assert counted.most == limit


def test_a_failed_compile_gives_its_place_back() -> None:
    compiler = GrammarCompiler(INFO, max_threads=1)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="cannot match any finite text"):
            compiler.compile_grammar("root ::= root")
    assert compiler.compile_grammar('root ::= "a"').grammar.root == "root"


def test_max_threads_must_be_positive() -> None:
    with pytest.raises(ValueError, match="max_threads must be positive"):
        GrammarCompiler(INFO, max_threads=0)
