"""Texts against JSON schemas on the engine, for tests."""

from __future__ import annotations

from typing import Any

from grammar_core import CompiledGrammar, Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo

_TOKENS = [*(bytes([byte]) for byte in range(256)), b"</s>"]
_COMPILER = GrammarCompiler(TokenizerInfo(_TOKENS, stop_token_ids=[256]), cache_enabled=False)


def compile_bytes(grammar: Grammar) -> CompiledGrammar:
    """The grammar, compiled for the vocabulary of the single bytes."""
    return _COMPILER.compile_grammar(grammar)


def compiled(schema: Any, **options: Any) -> CompiledGrammar:
    """The schema's grammar, objects open unless `strict_mode` is given."""
    return _COMPILER.compile_grammar(Grammar.from_json_schema(schema, **{"strict_mode": False, **options}))


def matches(grammar: CompiledGrammar, text: str) -> bool:
    """Whether the whole text is a sentence of the grammar."""
    matcher = GrammarMatcher(grammar)
    return bool(matcher.accept_string(text) and matcher.is_completed())


def accepts(schema: Any, text: str, **options: Any) -> bool:
    """Whether the grammar of the schema has the text."""
    return matches(compiled(schema, **options), text)


def check(schema: Any, accepted: list[str], refused: list[str], **options: Any) -> None:
    """Assert that the grammar has the texts in `accepted`, and none of those in `refused`."""
    grammar = compiled(schema, **options)
    assert [text for text in accepted if not matches(grammar, text)] == []
    assert [text for text in refused if matches(grammar, text)] == []
