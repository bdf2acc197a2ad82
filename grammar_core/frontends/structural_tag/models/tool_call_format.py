"""How a family of models writes tool calls: one description for the grammar and for the parser of answers."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias


class CallField(enum.Enum):
    """A place in a call's text that differs from call to call."""

    NAME = "name"
    INDEX = "index"
    """Digits that tell the calls of one answer apart."""
    CALL_ID = "call_id"
    """Nine letters or digits that the model makes up."""
    ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True)
class CallObject:
    """A call as one JSON object: its keys for the tool's name and for the arguments."""

    name_key: str = "name"
    arguments_key: str = "arguments"


CallPart: TypeAlias = str | CallField | CallObject


@dataclass(frozen=True, slots=True)
class Section:
    """What encloses all calls of an answer, and stands between two of them."""

    begin: str
    end: str
    separator: str = ""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What encloses the model's thoughts before its answer, and stands between the two."""

    begin: str
    end: str
    after: str = ""


THINK = Reasoning("<think>", "</think>")
THINK_AND_BLANK_LINE = Reasoning("<think>", "</think>", "\n\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallFormat:
    """The native tool calls of a family of models.

    `trigger`: the text that ends free text, with which `section.begin` or else `call` begins. `call`: the
    parts of a call in order, with exactly one CallObject or one NAME and one ARGUMENTS. `argument_style`:
    how the arguments are written, a style of the structural tag type `json_schema`. `separator`: what
    stands between calls where there is no section. `call_id`: the id of a call, of {name} and {index},
    where its text has one. `reserved`: more texts that neither free text nor thoughts contain.
    `templates`: texts of which a chat template of the family has all of one group; `names`: beginnings of
    model names, lower case, without punctuation; `tokens`: tokens that its vocabulary has.
    """

    name: str
    trigger: str
    call: tuple[CallPart, ...]
    argument_style: str = "json"
    section: Section | None = None
    separator: str = ""
    reasoning: Reasoning | None = None
    call_id: str | None = None
    reserved: tuple[str, ...] = ()
    templates: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
