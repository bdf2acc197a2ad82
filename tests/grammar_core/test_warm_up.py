"""Masks that a compile finds ahead, for the text that is likely to come first."""

from __future__ import annotations

import time
from typing import Any

import pytest

from grammar_core import (
    CompiledGrammar,
    GrammarCompiler,
    GrammarLimitError,
    GrammarMatcher,
    TokenizerInfo,
    allocate_token_bitmask,
)
from tests.grammar_core.matchers import masks_along

_WORDS = ('{"', '":', ' "', '",', ' {"', "name", "width", " [", '"]', "}}", "true", "12", "red", '": "', "[{")
_TOKENS = [*(bytes([byte]) for byte in range(256)), *(word.encode() for word in _WORDS), b"</s>"]
_INFO = TokenizerInfo(_TOKENS, stop_token_ids=[len(_TOKENS) - 1])
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 9},
        "tags": {"type": "array", "items": {"anyOf": [{"type": "null"}, {"enum": ["red", "blue"]}]}},
        "size": {"type": "object", "properties": {"width": {"type": "integer"}}, "required": ["width"]},
        "rest": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["name", "size", "tags"],
}
_PIECES = (
    '{"',
    'name":',
    ' "',
    'aaaa",',
    ' "tags":',
    ' ["',
    'blue",',
    ' "blue"],',
    ' "size":',
    ' {"',
    'width":',
)


def compiler(**options: Any) -> GrammarCompiler:
    return GrammarCompiler(_INFO, cache_enabled=False, **options)


def found_at_once(matcher: GrammarMatcher) -> bool:
    return matcher.try_fill_next_token_bitmask(allocate_token_bitmask(1, len(_TOKENS)), 0)


def masks_of(grammar: CompiledGrammar, seed: int, steps: int) -> list[bytes]:
    return masks_along(GrammarMatcher(grammar), len(_TOKENS), seed, steps)


def test_masks_of_likely_texts_need_no_work() -> None:
    matcher = GrammarMatcher(compiler(warm_up_seconds=1.0).compile_json_schema(_SCHEMA))
    assert found_at_once(matcher)
    for piece in _PIECES:
        assert matcher.accept_string(piece)
        assert found_at_once(matcher), piece


def test_nothing_is_found_ahead_without_time() -> None:
    matcher = GrammarMatcher(compiler(warm_up_seconds=0.0).compile_json_schema(_SCHEMA))
    assert not found_at_once(matcher)
    assert matcher.accept_string('{"name":')
    assert not found_at_once(matcher)


def test_other_languages_are_left_to_their_texts() -> None:
    text = 'root ::= ("[" [a-z]+ "]")* ([0-9] | "x" root)'
    assert not found_at_once(GrammarMatcher(compiler(warm_up_seconds=1.0).compile_grammar(text)))


@pytest.mark.parametrize(
    "text",
    [
        # Of some of these, the typical text is none of the language.
        r"""root ::= "[" Members((item, "repeatable distinct"), separator=comma, min=2) "]"
        item ::= "\"" [a-z]+ "\""
        comma ::= "," """,
        r"""root ::= "{\"" body "\"}"
        body[lazy, max_chars=3] ::= [a-z]* "a" """,
        r"""root ::= "{\"" Token(257) "\"}" | "[\"é\"]" """,
        r"""root ::= "[" "\"" [一-龥]{2,3} "\"" "]" """,
        r"""root ::= "{\"a\":" root "}" | "[" root "," root "]" | "1" """,
    ],
)
def test_masks_are_those_that_are_found_late(text: str) -> None:
    late = compiler(warm_up_seconds=0.0).compile_grammar(text)
    ahead = compiler(warm_up_seconds=1.0).compile_grammar(text)
    for seed in range(8):
        assert masks_of(late, seed, 12) == masks_of(ahead, seed, 12)


def test_masks_of_schemas_are_those_that_are_found_late() -> None:
    late, ahead = (compiler(warm_up_seconds=s).compile_json_schema(_SCHEMA) for s in (0.0, 1.0))
    for seed in range(20):
        assert masks_of(late, seed, 40) == masks_of(ahead, seed, 40)


def test_a_mask_that_takes_too_long_fails_where_it_is_needed() -> None:
    ranges = " ".join(f"[a-z]{{0,{100 + i}}}" for i in range(300))
    text = f'root ::= "[\\"" {ranges} "\\"]"'
    matcher = GrammarMatcher(compiler(step_seconds=0.05).compile_grammar(text))
    assert matcher.accept_string('["')
    with pytest.raises(GrammarLimitError, match=r"takes more than|too many readings"):
        masks_along(matcher, len(_TOKENS), 0, 50)


# Found by hostile grammars: each digit of 8,000 was followed for as long as a step may take.
@pytest.mark.parametrize(
    "text",
    [
        r"""root ::= "{\"k\": " y{100} "}"
        y ::= x{80}
        x ::= "1" | x "1" | "1" x """,
        r"""root ::= "{\"k\": " (a | b) "}"
        a ::= "a" | a a | a a a
        b ::= (x{80}){90}
        x ::= [a-z] | [a-z] x | x x """,
    ],
)
def test_a_likely_text_that_is_slow_to_follow_is_given_up(text: str) -> None:
    start = time.thread_time()
    compiler().compile_grammar(text)
    assert time.thread_time() - start < 1.0


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_time_is_not_negative(seconds: float) -> None:
    with pytest.raises(ValueError, match="warm_up_seconds"):
        compiler(warm_up_seconds=seconds)
