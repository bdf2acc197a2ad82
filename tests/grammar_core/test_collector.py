"""The garbage collector's pause while a grammar is compiled."""

from __future__ import annotations

import gc

import pytest

from grammar_core import GrammarCompiler, GrammarError, TokenizerInfo
from grammar_core.collector import paused_collector


def test_it_collects_again_after_a_compile() -> None:
    compiler = GrammarCompiler(TokenizerInfo([b"a"]))
    compiler.compile_grammar('root ::= "a"')
    assert gc.isenabled()
    with pytest.raises(GrammarError):
        compiler.compile_json_schema({"type": "none"})
    assert gc.isenabled()


def test_an_inner_pause_does_not_prolong_the_outer_one() -> None:
    inner = paused_collector()
    with paused_collector():
        assert not gc.isenabled()
        inner.__enter__()
    assert gc.isenabled()
    inner.__exit__(None, None, None)
    assert gc.isenabled()


def test_who_has_no_collector_gets_none() -> None:
    gc.disable()
    try:
        with paused_collector():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
