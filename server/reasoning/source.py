"""The grammar of an answer with thoughts before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import (
    Choice,
    Expr,
    Literal,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    TagDispatch,
    TokenSet,
)
from server.constraints.constraint import Source
from server.reasoning.thinking import Thinking, ThinkingStart

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo

_ANY_TEXT = TagDispatch((), True, ())
_THOUGHTS = "thoughts"


@dataclass(frozen=True)
class ThoughtfulSource:
    """Thoughts of at most `max_tokens` tokens, then what `answer` says, or any text.

    Thoughts end with the first mark of their end. A mark that is a control token is only that.
    """

    answer: Source | None
    thinking: Thinking
    max_tokens: int | None = None

    @property
    def text(self) -> str:
        return "" if self.answer is None else self.answer.text

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        control_tokens = {text: token_id for token_id, text in tokenizer_info.control_token_texts.items()}
        thoughts = Grammar(self._rules(control_tokens), "root")
        if self.answer is None:
            return Grammar.concat(thoughts, Grammar((Rule("root", _ANY_TEXT),), "root"))
        return Grammar.concat(thoughts, self.answer.build(tokenizer_info))

    def _rules(self, control_tokens: Mapping[str, int]) -> tuple[Rule, ...]:
        marks = self.thinking.marks
        begin, end = (_mark(mark, control_tokens) for mark in (marks.begin, marks.end))
        after = Literal(marks.after.encode())
        may_follow = self.thinking.start is ThinkingStart.MAY_FOLLOW
        if self.max_tokens == 0:
            return (Rule("root", Sequence(()) if may_follow else Sequence((end, after))),)
        thoughts: Expr = Sequence((RuleRef(_THOUGHTS), end, after))
        if may_follow:
            thoughts = Choice((Sequence((begin, thoughts)), Sequence(())))
        without_end = TagDispatch((), True, (marks.end,))
        return (Rule("root", thoughts), Rule(_THOUGHTS, without_end, RuleOptions(max_tokens=self.max_tokens)))


def _mark(mark: str, control_tokens: Mapping[str, int]) -> Expr:
    token_id = control_tokens.get(mark)
    return Literal(mark.encode()) if token_id is None else TokenSet((token_id,), False)


def covers_thoughts(source: Source, thinking: Thinking) -> bool:
    """Whether a grammar speaks of the thoughts itself, so that it is about them as well."""
    return thinking.marks.end in source.text
