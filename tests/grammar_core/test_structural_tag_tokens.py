"""The format types that match whole tokens, and texts that are matched by control tokens."""

from __future__ import annotations

from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core.frontends.structural_tag import StructuralTagError
from tests.grammar_core.tag_texts import (
    ABC,
    ANY,
    END,
    STOP,
    TOK,
    T,
    allows,
    allows_tokens,
    const,
    sequence,
    tag,
    token,
    triggered,
)

a, b, one = ord("a"), ord("b"), ord("1")
_K = tag(token(TOK), const("1"), token(END))


def _token_triggered(**fields: Any) -> dict[str, Any]:
    return {"type": "token_triggered_tags", "trigger_tokens": [TOK], "tags": [_K], **fields}


_CASES: dict[str, tuple[Any, list[list[int]], list[list[int]]]] = {
    "token": (token(TOK), [[TOK]], [[], [a], [TOK, TOK]]),
    "token by its text": (token("<tok>"), [[TOK]], [[a]]),
    "exclude_token": (
        {"type": "exclude_token", "exclude_tokens": [TOK, "a"]},
        [[b], [ABC]],
        [[], [TOK], [a], [b, b], [STOP]],
    ),
    "any_tokens": ({"type": "any_tokens", "exclude_tokens": ["a"]}, [[], [b], [TOK, b, ABC]], [[b, a]]),
    "any_tokens, some": ({"type": "any_tokens", "max_tokens": 2}, [[], [a, a]], [[a, a, a]]),
    "any_tokens, none": ({"type": "any_tokens", "max_tokens": 0}, [[]], [[a]]),
    "any_text of some tokens": (
        tag("<", {**ANY, "max_tokens": 2}, ">"),
        [[ord("<"), ABC, a, ord(">")]],
        [[ord("<"), a, a, a, a, ord(">")]],
    ),
    "tag between tokens": (
        tag(token(TOK), ANY, token(END)),
        [[TOK, END], [TOK, a, END]],
        [[a], [TOK, a], [TOK, END, a]],
    ),
    "tag around free tokens": (
        tag(token(TOK), {"type": "any_tokens"}, token(END)),
        [[TOK, END], [TOK, TOK, END]],
        [[TOK, END, END]],
    ),
    "tag around one free token": (
        tag(token(TOK), {"type": "exclude_token"}, token(END)),
        [[TOK, a, END]],
        [[TOK, END, END]],
    ),
    "token_triggered_tags": (
        _token_triggered(),
        [[], [a], [TOK, one, END], [a, TOK, one, END, a], [END]],
        [[TOK], [TOK, a]],
    ),
    "token_triggered_tags, at least one": (
        _token_triggered(at_least_one=True),
        [[TOK, one, END], [TOK, one, END, a]],
        [[], [a], [a, TOK, one, END]],
    ),
    "token_triggered_tags, at most one": (
        _token_triggered(stop_after_first=True),
        [[], [a, TOK, one, END]],
        [[TOK, one, END, a]],
    ),
    "token_triggered_tags, exactly one": (
        _token_triggered(stop_after_first=True, at_least_one=True),
        [[TOK, one, END]],
        [[], [TOK, one, END, a]],
    ),
    "token_triggered_tags with excludes": (_token_triggered(exclude_tokens=["a"]), [[b]], [[a]]),
    "token_triggered_tags in a tag": (
        tag(token(ABC), _token_triggered(), token(ABC)),
        [[ABC, a, TOK, one, END, ABC]],
        [[ABC, ABC, ABC]],
    ),
    "token_dispatch": (
        {"type": "token_dispatch", "rules": [[TOK, const("1")], ["<end>", const("2")]]},
        [[], [TOK, one, a, TOK, one], [END, ord("2")]],
        [[TOK, ord("2")], [TOK]],
    ),
    "token_dispatch once": (
        {
            "type": "token_dispatch",
            "rules": [[TOK, const("1")]],
            "loop": False,
            "exclude_tokens": [b],
        },
        [[a, TOK, one]],
        [[TOK, one, a], [b]],
    ),
}


@pytest.mark.parametrize(("format", "accepted", "refused"), _CASES.values(), ids=_CASES)
def test_tokens(format: Any, accepted: list[list[int]], refused: list[list[int]]) -> None:
    assert [ids for ids in accepted if not allows_tokens(format, ids)] == []
    assert [ids for ids in refused if allows_tokens(format, ids)] == []


def test_a_token_is_not_its_text() -> None:
    assert not allows(token(TOK), "<tok>")


@pytest.mark.parametrize(
    ("format", "pointer", "words"),
    [
        (token("nope"), "/token", "no token 'nope'"),
        (token(-1), "/token", "not between 0"),
        (token(99_999), "/token", "260 tokens"),
        ({"type": "token", "token": True}, "/token", "its id or its text"),
        ({"type": "any_tokens", "exclude_tokens": [1, "nope"]}, "/exclude_tokens/1", "no token 'nope'"),
        (_token_triggered(exclude_tokens=[TOK]), "/exclude_tokens", "begins nothing"),
        ({**_token_triggered(), "trigger_tokens": [END]}, "/tags/0/begin", "no trigger"),
        ({**_token_triggered(), "trigger_tokens": [TOK, END]}, "/trigger_tokens", "No tag"),
        ({**_token_triggered(), "tags": [T]}, "/tags/0/begin", "not with text"),
        (triggered(["<t"], [_K]), "/tags/0/begin", "not with a token"),
        ({"type": "token_dispatch", "rules": [["zz", ANY]]}, "/rules/0/0", "no token 'zz'"),
    ],
)
def test_errors(format: Any, pointer: str, words: str) -> None:
    with pytest.raises(StructuralTagError, match=words) as caught:
        allows_tokens(format, [])
    assert caught.value.pointer == pointer


def test_texts_of_tokens_need_a_tokenizer() -> None:
    with pytest.raises(StructuralTagError, match="needs tokenizer_info"):
        Grammar.from_structural_tag(token("<tok>"))


# -- control tokens ----------------------------------------------------------------------------------------

_BEGIN, _SEP, _STOP = 256, 257, 258
_CONTROL_TEXTS = {_BEGIN: "<|begin|>", _SEP: "<|sep|>", _STOP: "<|stop|>"}
_METADATA = (
    '{"vocab_type": 0, "vocab_size": 259, "add_prefix_space": false, "stop_token_ids": [258],'
    ' "control_token_ids": [256, 257, 258]}'
)
_CONTROL_INFO = TokenizerInfo.from_vocab_and_metadata(
    [*(bytes([byte]) for byte in range(256)), *(text.encode() for text in _CONTROL_TEXTS.values())],
    _METADATA,
)


def _has_ended(matcher: GrammarMatcher) -> bool:
    """Whether the text is complete; a stop token that belongs to it has ended it as well."""
    return matcher.is_completed() or matcher.is_terminated()


def _allows_with_control(format: Any, token_ids: list[int], text: str = "") -> bool:
    compiled = GrammarCompiler(_CONTROL_INFO).compile_structural_tag(format)
    matcher = GrammarMatcher(compiled)
    read = all(matcher.accept_token(token_id) for token_id in token_ids)
    return read and (not text or matcher.accept_string(text)) and _has_ended(matcher)


def test_texts_of_control_tokens_are_known() -> None:
    assert _CONTROL_INFO.control_token_texts == _CONTROL_TEXTS
    assert _CONTROL_INFO.token_ids_of("<|sep|>") == (_SEP,)
    assert _CONTROL_INFO.token_ids_of("a") == (a,)
    assert _CONTROL_INFO.token_ids_of("ab") == ()
    again = TokenizerInfo.deserialize_json(_CONTROL_INFO.serialize_json())
    assert again.control_token_texts == _CONTROL_TEXTS


def test_fixed_texts_are_matched_by_control_tokens_and_by_characters() -> None:
    format = const("x<|sep|>y")
    assert _allows_with_control(format, [ord("x"), _SEP, ord("y")])
    assert _allows_with_control(format, [], "x<|sep|>y")
    assert not _allows_with_control(format, [_SEP])


def test_tags_begin_and_end_with_control_tokens() -> None:
    format = tag("<|begin|>f<|sep|>", ANY, "<|stop|>")
    ids = [_BEGIN, ord("f"), _SEP, a, _STOP]
    assert _allows_with_control(format, ids)
    assert not _allows_with_control(format, [*ids[:-1], _SEP])
    assert _allows_with_control(format, [], "<|begin|>f<|sep|>a<|stop|>")


@pytest.mark.parametrize("stop_after_first", [False, True])
def test_control_tokens_are_triggers(stop_after_first: bool) -> None:
    format = triggered(
        ["<|begin|>"], [tag("<|begin|>f", const("1"), "<|sep|>")], stop_after_first=stop_after_first
    )
    call = [_BEGIN, ord("f"), one, _SEP]
    assert _allows_with_control(format, [])
    assert _allows_with_control(format, [a, a])
    assert _allows_with_control(format, [a, *call])
    assert not _allows_with_control(format, call[:-1])
    assert not _allows_with_control(format, [_SEP])
    assert _allows_with_control(format, [a, *call, *call]) is not stop_after_first
    assert _allows_with_control(format, [a, *call, b]) is not stop_after_first
    assert _allows_with_control(format, [a], "<|begin|>f1<|sep|>")
    assert not _allows_with_control(format, [a], "<|begin|>")


def test_a_sequence_of_control_tokens() -> None:
    format = sequence(const("<|begin|><|sep|>"), const("<|stop|>"))
    assert _allows_with_control(format, [_BEGIN, _SEP, _STOP])


def test_texts_of_the_control_tokens_of_a_tokenizer() -> None:
    tokenizer = Tokenizer(WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    tokenizer.add_special_tokens(["<|begin|>"])
    tokenizer.add_tokens(["<think>"])
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.control_token_texts[3] == "<|begin|>"
    assert info.token_ids_of("<|begin|>") == (3,)
    assert info.token_ids_of("<think>") == (4,)
    assert 4 not in info.control_token_texts
