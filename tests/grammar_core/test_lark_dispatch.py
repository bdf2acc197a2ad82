"""Which Lark grammars become a dispatch, and into what."""

from __future__ import annotations

import logging

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core.ir.nodes import Expr, RuleRef, Sequence, TagDispatch, TokenTagDispatch
from tests.grammar_core.matchers import allowed

INFO = TokenizerInfo(["a", "<t>", "1", "</s>", "<u>", "<"])
_ANY_TEXT = (
    r"/(.|\n)*/", r"/(\n|.)*/", r"/(?:.|\n)*/", r"/(?:\n|.)*/", r"/[\s\S]*/", "/(?s:.*)/", "/.*/s",
)  # fmt: skip


def body(lark: str) -> Expr:
    grammar = Grammar.from_lark(lark, tokenizer_info=INFO)
    return next(rule.body for rule in grammar.rules if rule.name == grammar.root)


def dispatch(head: str, tail: str = "tail") -> str:
    return f'start: tool* {tail}\ntail: TEXT\n{head}\ntool: head "1"\nTEXT: OTHER\nOTHER: /(\\n|.)*/'


@pytest.mark.parametrize(
    "head",
    [
        'head[lazy]: TEXT "<t>"',
        r"head[lazy]: /(\n|.)*<t>/",
        r"head[lazy]: /.*<t>/s",
        'head[suffix="<t>"]: TEXT',
        'head[stop="<t>"]: TEXT',
        'head[lazy, suffix="<t>"]: TEXT',
        r'head[lazy]: /[\s\S]*/ "<t>"',
    ],
)
def test_the_forms_of_a_head(head: str) -> None:
    expected = TagDispatch((("<t>", RuleRef("tool.call")),), True, ())
    assert body(dispatch(head)) == expected
    assert type(body(dispatch(head))) is TagDispatch
    assert body(dispatch(head, "TEXT")) == expected
    assert body(dispatch(head, "OTHER")) == expected


@pytest.mark.parametrize("any_text", _ANY_TEXT)
def test_the_forms_of_any_text(any_text: str) -> None:
    lark = f'start: tool* tail\ntail: TEXT\nhead[lazy]: TEXT "<t>"\ntool: head "1"\nTEXT: {any_text}'
    assert type(body(lark)) is TagDispatch


@pytest.mark.parametrize("pattern", [r"/(.|\n)+/", "/.*/", r"/[\s\S]*?/", r"/(.|\n)*/i", "/[^a]*/"])
def test_other_text_is_no_dispatch(pattern: str) -> None:
    lark = f'start: tool* tail\ntail: TEXT\nhead[lazy]: TEXT "<t>"\ntool: head "1"\nTEXT: {pattern}'
    assert type(body(lark)) is Sequence


@pytest.mark.parametrize(
    ("definitions", "tags"),
    [
        ('tool: head "1"\nhead[lazy]: TEXT <[1]>', ((1, RuleRef("tool.call")),)),
        ('tool: head "1"\nhead[lazy]: TEXT <t>', ((1, RuleRef("tool.call")),)),
        ('tool: TEXT <[1,4]> "1"', ((1, RuleRef("tool.call")), (4, RuleRef("tool.call")))),
        ('tool: TEXT <u> "1" | TEXT <t>', None),
    ],
)
def test_special_tokens_as_triggers(definitions: str, tags: tuple[tuple[int, RuleRef], ...] | None) -> None:
    found = body(f"start: tool* tail\ntail: TEXT\n{definitions}\nTEXT: /.*/s")
    if tags is None:
        assert type(found) is Sequence
    else:
        assert type(found) is TokenTagDispatch
        assert found == TokenTagDispatch(tags, True, ())


def test_masks_of_a_dispatch_by_token() -> None:
    compiled = GrammarCompiler(INFO).compile_lark(
        'start: tool* tail\ntail: TEXT\ntool: TEXT <[1]> "1"\nTEXT: /.*/s'
    )
    matcher = GrammarMatcher(compiled)
    for token_id, following in ((0, {0, 1, 2, 3, 4, 5}), (1, {2}), (2, {0, 1, 2, 3, 4, 5})):
        assert matcher.accept_token(token_id)
        assert allowed(matcher, 6) == following


def test_a_standalone_lazy_rule_ends_at_its_token() -> None:
    found = GrammarCompiler(INFO).compile_lark("start: head\nhead[lazy]: TEXT <t>\nTEXT: /.*/s")
    matcher = GrammarMatcher(found)
    assert matcher.accept_token(0)
    assert matcher.is_completed()
    assert matcher.accept_token(1)
    assert allowed(matcher, 6) == {3}


@pytest.mark.parametrize(
    "lark",
    [
        'start: head\nhead[lazy]: TEXT "<t>"\nTEXT: /.*/s',
        'start: head\nhead[suffix="<t>"]: TEXT\nTEXT: /.*/s',
        'start: head\nhead[stop="<t>", capture]: TEXT\nTEXT: /.*/s',
    ],
)
def test_a_standalone_trigger_is_a_dispatch_that_ends(lark: str) -> None:
    grammar = Grammar.from_lark(lark)
    head = next(rule for rule in grammar.rules if rule.name == "head")
    assert type(head.body) is TagDispatch
    assert head.body == TagDispatch((("<t>", RuleRef("head.end")),), False, ())


def test_rules_that_only_the_dispatch_used_are_gone() -> None:
    grammar = Grammar.from_lark(dispatch('head[lazy]: TEXT "<t>"'))
    assert [rule.name for rule in grammar.rules] == ["tool.call", "start"]
    assert grammar.warnings() == ()


def test_rules_that_others_use_stay() -> None:
    lark = (
        'start: tool* TEXT\nhead[lazy]: TEXT "<t>"\ntool: head "(" nested ")"\n'
        'nested: tool | "x" head\nTEXT: /.*/s'
    )
    compiled = GrammarCompiler(TokenizerInfo([bytes([byte]) for byte in range(256)])).compile_lark(lark)
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string("a<t>(b<t>(xq<t>))c")
    assert matcher.is_completed()


def test_character_budgets_in_a_dispatch_are_ignored_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    lark = (
        'start[max_chars=9]: tool* TEXT\nhead[lazy]: TEXT "<t>"\ntool[max_chars=2]: head "123"\nTEXT: /.*/s'
    )
    with caplog.at_level(logging.WARNING):
        grammar = Grammar.from_lark(lark)
    assert [record.getMessage() for record in caplog.records] == [
        'max_chars of the rule "tool" is ignored: it is part of a dispatch',
        'max_chars of the rule "start" is ignored: it is part of a dispatch',
    ]
    assert all(rule.options.max_chars is None for rule in grammar.rules)


def test_triggers_whose_captures_could_not_be_told_apart() -> None:
    lark = 'start: a* TEXT\nah[stop="aba", stop_capture="m"]: TEXT\na: ah "1"\nTEXT: /.*/s'
    with pytest.raises(ValueError, match='The triggers "aba" and "aba" overlap'):
        Grammar.from_lark(lark)
