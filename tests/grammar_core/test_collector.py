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


def test_a_schema_leaves_nothing_to_it() -> None:
    compiler = GrammarCompiler(TokenizerInfo([bytes([i]) for i in range(256)]), cache_enabled=False)
    schema = {
        "properties": {"a": {"pattern": "^(a|[b-z]+)*$"}, "b": {"anyOf": [{"minimum": 3}, {"$ref": "#"}]}},
        "patternProperties": {"^x": {"type": "object", "additionalProperties": {"enum": [1, "x"]}}},
    }
    compiler.compile_json_schema(schema)
    gc.collect()
    gc.disable()
    try:
        compiler.compile_json_schema(schema)
        assert gc.collect() == 0
    finally:
        gc.enable()
