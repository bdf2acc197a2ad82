"""Which texts and token sequences a structural tag allows, by the engine."""

from __future__ import annotations

from typing import Any

import grammar_core

TOKENS = [*(bytes([byte]) for byte in range(256)), b"</s>", b"<tok>", b"abc", b"<end>"]
STOP, TOK, ABC, END = range(256, 260)
INFO = grammar_core.TokenizerInfo(TOKENS, stop_token_ids=[STOP])
_COMPILER = grammar_core.GrammarCompiler(INFO)


def allows(tag: Any, text: str) -> bool:
    """Whether the text is one of the structural tag's."""
    matcher = grammar_core.GrammarMatcher(_COMPILER.compile_structural_tag(tag))
    return (text == "" or matcher.accept_string(text)) and matcher.is_completed()


def begins(tag: Any, text: str) -> bool:
    """Whether the text can be completed to one of the structural tag's."""
    matcher = grammar_core.GrammarMatcher(_COMPILER.compile_structural_tag(tag))
    return text == "" or matcher.accept_string(text)


def allows_tokens(tag: Any, token_ids: list[int]) -> bool:
    """Whether the tokens are accepted one after the other and complete a text."""
    matcher = grammar_core.GrammarMatcher(_COMPILER.compile_structural_tag(tag))
    return all(matcher.accept_token(token_id) for token_id in token_ids) and matcher.is_completed()


def tag(begin: Any, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def const(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def sequence(*elements: Any) -> dict[str, Any]:
    return {"type": "sequence", "elements": list(elements)}


def either(*elements: Any) -> dict[str, Any]:
    return {"type": "or", "elements": list(elements)}


def token(value: int | str) -> dict[str, Any]:
    return {"type": "token", "token": value}


def triggered(triggers: list[str], tags: list[Any], **fields: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags, **fields}


ANY: dict[str, Any] = {"type": "any_text"}
"""Any text."""
T = tag("<t>", const("1"), "</t>")
U = tag("<u>", const("2"), "</u>")
"""Two short tags."""
