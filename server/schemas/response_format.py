"""``response_format`` and ``structured_outputs``: a constraint in one object."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Schema = dict[str, Any] | bool
"""A JSON Schema as JSON."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class TextFormat(_Strict):
    type: Literal["text"]


class JsonObjectFormat(_Strict):
    """Any JSON object, or as `schema` says."""

    type: Literal["json_object"]
    schema_: Annotated[Schema | None, Field(alias="schema")] = None


class NamedSchema(_Strict):
    """`strict` changes nothing: the schema is always enforced."""

    schema_: Annotated[Schema | None, Field(alias="schema")] = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None


class JsonSchemaFormat(_Strict):
    """The schema in `json_schema`, or directly in `schema`."""

    type: Literal["json_schema"]
    json_schema: NamedSchema | None = None
    schema_: Annotated[Schema | None, Field(alias="schema")] = None


class StructuralTagFormat(_Strict):
    """`format`, or `structures` with `triggers`."""

    type: Literal["structural_tag"]
    format: dict[str, Any] | None = None
    structures: list[dict[str, Any]] | None = None
    triggers: list[str] | None = None


ResponseFormat = Annotated[
    TextFormat | JsonObjectFormat | JsonSchemaFormat | StructuralTagFormat, Field(discriminator="type")
]


class StructuredOutputs(_Strict):
    """Exactly one of the first six; the rest says how JSON is written."""

    json_: Annotated[Schema | str | None, Field(alias="json")] = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    """EBNF where it defines rules with ``::=``, else Lark."""
    json_object: bool | None = None
    structural_tag: str | dict[str, Any] | None = None
    whitespace_pattern: str | None = None
    disable_any_whitespace: bool | None = None
    disable_additional_properties: bool | None = None
    loosen: list[str] | None = None
