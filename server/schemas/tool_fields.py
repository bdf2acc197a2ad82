"""The tools a model may call, and whether it may or must. `server.tool_calls` gives them their meaning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_TOOLS = 1024

ToolName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:/-]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class FunctionSpec(_Strict):
    """Without `parameters` there are no arguments. `strict` changes nothing: they are always obeyed."""

    name: ToolName
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionTool(_Strict):
    type: Literal["function"]
    function: FunctionSpec


class GrammarDefinition(_Strict):
    syntax: Literal["lark", "regex"]
    definition: str


class TextInput(_Strict):
    type: Literal["text"]


class GrammarInput(_Strict):
    type: Literal["grammar"]
    grammar: GrammarDefinition


class FlatGrammarInput(GrammarDefinition):
    """The same without the object around the definition."""

    type: Literal["grammar"]


def _nesting(kind: str, shapes: Any) -> BeforeValidator:
    """Reads the flat shape of an object of this type as the nested one; `shapes` are all that there are."""

    def nest(value: Any) -> Any:
        if isinstance(value, dict) and value.get("type") == kind and kind not in value:
            return {"type": kind, kind: {key: value[key] for key in value if key != "type"}}
        return value

    return BeforeValidator(nest, json_schema_input_type=shapes)


InputFormat = Annotated[
    Annotated[TextInput | GrammarInput, Field(discriminator="type")],
    _nesting("grammar", TextInput | GrammarInput | FlatGrammarInput),
]


class CustomSpec(_Strict):
    name: ToolName
    description: str | None = None
    format: InputFormat | None = None


class CustomTool(_Strict):
    """A tool whose input is text, of a grammar if it has one."""

    type: Literal["custom"]
    custom: CustomSpec


class FlatCustomTool(CustomSpec):
    """The same without the object around what is said of it."""

    type: Literal["custom"]


Tool = Annotated[
    Annotated[FunctionTool | CustomTool, Field(discriminator="type")],
    _nesting("custom", FunctionTool | CustomTool | FlatCustomTool),
]


class ToolReference(_Strict):
    name: str


class FunctionChoice(_Strict):
    type: Literal["function"]
    function: ToolReference


class CustomChoice(_Strict):
    type: Literal["custom"]
    custom: ToolReference


NamedChoice = Annotated[FunctionChoice | CustomChoice, Field(discriminator="type")]


class AllowedTools(_Strict):
    mode: Literal["auto", "required"]
    tools: Annotated[list[NamedChoice], Field(min_length=1, max_length=MAX_TOOLS)]


class AllowedToolsChoice(_Strict):
    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


ToolChoice = (
    Literal["none", "auto", "required"]
    | Annotated[FunctionChoice | CustomChoice | AllowedToolsChoice, Field(discriminator="type")]
)


class ToolFields(BaseModel):
    """Part of the body of chat completions; ``None`` means "not given"."""

    tools: Annotated[list[Tool], Field(min_length=1, max_length=MAX_TOOLS)] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
