"""The grammar of thoughts before an answer."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from grammar_core import GrammarCompiler, GrammarMatcher, TokenizerInfo
from server.constraints.sources import EbnfSource, RegexSource
from server.reasoning.source import ThoughtfulSource, covers_thoughts
from server.reasoning.thinking import KNOWN_MARKS, Thinking, ThinkingStart
from tests.server.fakes import byte_tokenizer

BYTES = TokenizerInfo([*(bytes([byte]) for byte in range(256)), "</s>"], stop_token_ids=[256])
OPEN = Thinking(KNOWN_MARKS[0], ThinkingStart.IN_PROMPT)
CLOSED = Thinking(KNOWN_MARKS[0], ThinkingStart.MAY_FOLLOW)
DIGITS = RegexSource("[0-9]+")


def accepts(source: ThoughtfulSource, text: str) -> bool:
    matcher = GrammarMatcher(GrammarCompiler(BYTES).compile_source(source))
    return matcher.accept_string(text) and matcher.is_completed()


@pytest.mark.parametrize(
    ("thinking", "text", "expected"),
    [
        (OPEN, "hm</think>\n\n12", True),
        (OPEN, "</think>\n\n12", True),
        (OPEN, "12", False),
        (OPEN, "hm</think>12", False),
        (OPEN, "hm</think>\n\nab", False),
        (OPEN, "hm</think>\n\n</think>\n\n12", False),
        (CLOSED, "<think>hm < </thin </think>\n\n12", True),
        (CLOSED, "12", True),
        (CLOSED, "hm", False),
    ],
)
def test_constraint_begins_after_the_thoughts(thinking: Thinking, text: str, expected: bool) -> None:
    assert accepts(ThoughtfulSource(DIGITS, thinking), text) is expected


def accepts_tokens(source: ThoughtfulSource, token_ids: Iterable[int], info: TokenizerInfo = BYTES) -> bool:
    matcher = GrammarMatcher(GrammarCompiler(info).compile_source(source))
    return all(map(matcher.accept_token, token_ids)) and matcher.is_completed()


def test_budget_of_thoughts() -> None:
    budget = ThoughtfulSource(None, OPEN, max_tokens=5)
    assert accepts_tokens(budget, b"hello</think>\n\nanything")
    assert not accepts_tokens(budget, b"hello you</think>\n\nanything")
    none = ThoughtfulSource(None, OPEN, max_tokens=0)
    assert accepts_tokens(none, b"</think>\n\nanything")
    assert not accepts_tokens(none, b"a</think>\n\nanything")
    assert accepts_tokens(ThoughtfulSource(DIGITS, CLOSED, max_tokens=0), b"7")
    assert not accepts_tokens(ThoughtfulSource(DIGITS, CLOSED, max_tokens=0), b"<think>a</think>\n\n7")


def test_marks_that_are_control_tokens() -> None:
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["[THINK]", "[/THINK]"]})
    info = TokenizerInfo.from_huggingface(tokenizer, stop_token_ids=[0])
    source = ThoughtfulSource(DIGITS, Thinking(KNOWN_MARKS[2], ThinkingStart.IN_PROMPT))
    hm, twelve = (tokenizer.encode(text, add_special_tokens=False) for text in ("hm", "12"))
    begin, end = tokenizer.vocab_size, tokenizer.vocab_size + 1
    assert accepts_tokens(source, [*hm, end, *twelve], info)
    assert not accepts_tokens(source, [*hm, begin, *twelve], info)


def test_grammar_that_speaks_of_thoughts_covers_them() -> None:
    assert covers_thoughts(EbnfSource('root ::= [^<]* "</think>" "x"'), OPEN)
    assert not covers_thoughts(DIGITS, OPEN)
