"""How a family of models writes tool calls: one description for the grammar and for the parser of answers."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from grammar_core.frontends.structural_tag.models.answer_plan import AnswerPlan


class CallField(enum.Enum):
    """A place in a call's text that differs from call to call."""

    NAME = "name"
    INDEX = "index"
    """Digits that tell the calls of one answer apart."""
    CALL_ID = "call_id"
    """Nine letters and digits that the model makes up."""
    ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True)
class CallObject:
    """A call as one JSON object: its keys for the tool's name, the arguments and, where it has one, an id."""

    name_key: str = "name"
    arguments_key: str = "arguments"
    id_key: str | None = None


CallPart: TypeAlias = str | CallField | CallObject


@dataclass(frozen=True, slots=True)
class Section:
    """What encloses all calls of an answer, and stands between two of them."""

    begin: str
    end: str
    separator: str = ""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What encloses the model's thoughts before its answer, and stands between the two.

    `is_opened_by_prompt`: whether a prompt that asks for thoughts ends with `begin`.
    """

    begin: str
    end: str
    after: str = ""
    is_opened_by_prompt: bool = True


THINK = Reasoning("<think>", "</think>")
THINK_AND_BLANK_LINE = Reasoning("<think>", "</think>", "\n\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFormat:
    """The native tool calls of a family of models.

    `trigger`: the text that ends free text, with which `section.begin` or else `call` begins. `call`: the
    parts of a call in order, with exactly one CallObject or one NAME and one ARGUMENTS. `argument_style`:
    how the arguments are written, a style of the structural tag type `json_schema`. `separator`: what
    stands between calls where there is no section. `lead`: what stands before calls where there is no text
    before them. `call_id`: the id of a call, of {name} and {index},
    where its text has one. `reserved`: more texts that neither free text nor thoughts contain. `silent`:
    markers in an answer that are not for the user. `has_messages`: whether thoughts, answer and calls are
    messages with headers, as in harmony. `answer`: builds the structural tag of an answer where it is not
    put together like most.

    The rest says which models are of the family. `templates`: groups of texts, of which its chat templates
    have all of one group; `tokens`: tokens that its vocabularies have; `names`: beginnings of model names,
    lower case and without punctuation.
    """

    name: str
    trigger: str
    call: tuple[CallPart, ...]
    argument_style: str = "json"
    section: Section | None = None
    separator: str = ""
    lead: str = ""
    reasoning: Reasoning | None = None
    call_id: str | None = None
    reserved: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    has_messages: bool = False
    answer: Callable[[ToolCallFormat, AnswerPlan], dict[str, Any]] | None = None
    templates: tuple[tuple[str, ...], ...] = ()
    tokens: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
