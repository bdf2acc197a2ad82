"""The grammar of an answer in models whose thoughts and answer are messages of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan
from grammar_core.frontends.structural_tag.models.tag_building import answer_tag
from grammar_core.frontends.structural_tag.models.tool_call_format import ToolCallFormat
from grammar_core.grammar import Grammar
from server.constraints.constraint import Source

if TYPE_CHECKING:
    from grammar_core import TokenizerInfo


@dataclass(frozen=True)
class MessageSource:
    """Messages of thoughts, then the final one, whose content is what `answer` says."""

    answer: Source
    format: ToolCallFormat

    @property
    def text(self) -> str:
        return self.answer.text

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        answer = self.answer.build(tokenizer_info)
        content = {"type": "grammar", "grammar": str(answer), "syntax": "ebnf"}
        tag = answer_tag(self.format, AnswerPlan((), "none", False, "auto", {}))
        for final in _last_tags(tag["format"]):
            final["content"] = content
        grammar = Grammar.from_structural_tag(tag, tokenizer_info=tokenizer_info)
        return grammar.explained_by(answer.explain_emptiness)


def _last_tags(format: dict[str, Any]) -> list[dict[str, Any]]:
    """The tags that an answer ends with."""
    while format["type"] == "sequence":
        format = format["elements"][-1]
    tags: list[dict[str, Any]] = format["tags"]
    return tags


def covers_messages(source: Source, format: ToolCallFormat) -> bool:
    """Whether a grammar speaks of the messages itself, so that it is about them as well."""
    return format.trigger in source.text
