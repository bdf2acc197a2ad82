"""The grammar of an answer with thoughts before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import (
    FIRST_SURROGATE,
    LAST_SURROGATE,
    MAX_CODE_POINT,
    CharClass,
    Choice,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    TokenSet,
)
from server.constraints.constraint import Source
from server.reasoning.thinking import Thinking, ThinkingStart

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo

_ANY_CHARACTER = CharClass(((0, FIRST_SURROGATE - 1), (LAST_SURROGATE + 1, MAX_CODE_POINT)))
_ANY_TEXT = Repeat(_ANY_CHARACTER, 0, None)
_THOUGHTS = "thoughts"


@dataclass(frozen=True)
class ThoughtfulSource:
    """Thoughts of at most `max_tokens` tokens, then what `answer` says, or any text.

    Thoughts end with the first mark of their end. `marker_ids` are the ids of marks that are control tokens.
    """

    answer: Source | None
    thinking: Thinking
    marker_ids: tuple[tuple[str, int], ...] = ()
    max_tokens: int | None = None

    @property
    def text(self) -> str:
        return "" if self.answer is None else self.answer.text

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        thoughts = Grammar(self._rules(), "root")
        if self.answer is None:
            return Grammar.concat(thoughts, Grammar((Rule("root", _ANY_TEXT),), "root"))
        return Grammar.concat(thoughts, self.answer.build(tokenizer_info))

    def _rules(self) -> tuple[Rule, ...]:
        marks = self.thinking.marks
        after = Literal(marks.after.encode())
        if self.max_tokens == 0:
            return (Rule("root", self._without_thoughts()),)
        ending = Sequence((_ANY_TEXT, self._mark(marks.end)))
        options = RuleOptions(lazy=True, max_tokens=self.max_tokens)
        thoughts: Expr = Sequence((RuleRef(_THOUGHTS), after))
        if self.thinking.start is ThinkingStart.MAY_FOLLOW:
            thoughts = Choice((Sequence((self._mark(marks.begin), thoughts)), Sequence(())))
        return (Rule("root", thoughts), Rule(_THOUGHTS, ending, options))

    def _without_thoughts(self) -> Expr:
        marks = self.thinking.marks
        if self.thinking.start is ThinkingStart.MAY_FOLLOW:
            return Sequence(())
        return Sequence((self._mark(marks.end), Literal(marks.after.encode())))

    def _mark(self, mark: str) -> Expr:
        token_id = dict(self.marker_ids).get(mark)
        return Literal(mark.encode()) if token_id is None else TokenSet((token_id,), False)


def covers_thoughts(source: Source, thinking: Thinking) -> bool:
    """Whether a grammar speaks of the thoughts itself, so that it is about them as well."""
    return thinking.marks.end in source.text
