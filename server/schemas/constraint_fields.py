"""The fields that say what an answer must obey. `server.constraints` gives them their meaning."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from server.schemas.response_format import ResponseFormat, Schema, StructuredOutputs


class ConstraintFields(BaseModel):
    """Part of the bodies of the endpoints that generate; ``None`` means "not given"."""

    guided_grammar: str | None = None
    """EBNF; the root rule is `root`."""
    guided_lark: str | None = None
    named_grammars: dict[str, str] | None = None
    """What a Lark grammar may name with `@`."""
    guided_json: Schema | str | None = None
    guided_regex: str | None = None
    guided_choice: list[str] | None = None
    guided_whitespace_pattern: str | None = None
    guided_json_loosen: list[str] | None = None
    """Keywords of JSON Schema that need not be enforced where that is impossible."""
    structured_outputs: StructuredOutputs | None = None
    response_format: ResponseFormat | None = None
    structural_tag: str | dict[str, Any] | None = None
    json_schema: Schema | str | None = None
    regex: str | None = None
    ebnf: str | None = None
    grammar: str | None = None
    grammar_ref: str | None = None
    """The name of a grammar from the server's configuration."""
    grammar_rules: dict[str, str | list[str]] | None = None
    """Rules of the EBNF grammar that this request replaces: EBNF text, or literal texts to choose from."""
    return_captures: bool | None = None
