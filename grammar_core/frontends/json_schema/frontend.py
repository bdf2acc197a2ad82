"""A JSON schema to rules: read the documents, find the goals that are reached, write their rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from grammar_core.frontends.json_schema.contradictions import refuse_empty
from grammar_core.frontends.json_schema.documents import Documents, too_deep
from grammar_core.frontends.json_schema.emission import Emitter
from grammar_core.frontends.json_schema.errors import EmptySchemaError
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.goals import ANY
from grammar_core.frontends.json_schema.layout import LayoutOptions, build_layout
from grammar_core.frontends.json_schema.leaves import RECURRING
from grammar_core.ir.nodes import Choice, Rule, RuleRef

LOOSENABLE = frozenset(
    (
        *(
            "uniqueItems",
            "unevaluatedProperties",
            "unevaluatedItems",
            "pattern",
            "patternProperties",
            "format",
        ),
        *("multipleOf", "maxLength", "contains", "additionalProperties", "propertyNames"),
    )
)
"""Keywords that may be refused, and so be given in `loosen`."""


class SchemaOptions(NamedTuple):
    """The options of `Grammar.from_json_schema`."""

    layout: LayoutOptions = LayoutOptions()
    strict_mode: bool = True
    any_order: bool = False
    lexical: Literal["natural", "any"] = "natural"
    loosen: frozenset[str] = frozenset()


def schema_rules(text: str, options: SchemaOptions, documents: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of the schema with this JSON text; the first is `root`.

    `documents`: schemas by URI that it may refer to. Raises JsonSchemaError and its subclasses.
    """
    layout = build_layout(options.layout)
    expander = Expander(Documents(text, documents), loosen=options.loosen)
    emitter = Emitter(
        expander,
        layout,
        lexical=options.lexical,
        any_order=options.any_order,
        is_strict=options.strict_mode,
        recurring=RECURRING,
    )
    try:
        emitter.emit(expander.root_goal())
    except RecursionError:  # values of const and enum that are nested too deeply to be compared
        raise too_deep() from None
    except EmptySchemaError:
        refuse_empty_schema(text, options, documents)
        raise
    return (*emitter.rules, *layout.rules)


def refuse_empty_schema(text: str, options: SchemaOptions, documents: Mapping[str, Any]) -> None:
    """Raise EmptySchemaError, with the place to blame, if no value is valid for the schema."""
    refuse_empty(
        text,
        documents,
        any_order=options.any_order,
        is_strict=options.strict_mode,
        loosen=options.loosen,
    )


def builtin_json_rules() -> tuple[Rule, ...]:
    """The rules of all JSON texts that are an object or an array, white space free between their parts."""
    layout = build_layout(LayoutOptions())
    expander = Expander(Documents("true", {}), loosen=frozenset())
    emitter = Emitter(
        expander, layout, lexical="natural", any_order=False, is_strict=False, recurring=RECURRING
    )
    emitter.value(ANY, 0)
    root = Rule("root", Choice((RuleRef("json_object"), RuleRef("json_array"))))
    return (root, *emitter.rules, *layout.rules)


def check_types(switches: Mapping[str, Any], documents: Any) -> None:
    """Raise TypeError for options of the wrong type; `switches` are true or false."""
    for name, value in switches.items():
        if type(value) is not bool:
            raise TypeError(f"{name} is True or False, not {value!r:.80}")
    if documents is not None and not isinstance(documents, Mapping):
        raise TypeError(f"documents maps URIs to schemas and is not {documents!r:.80}")


def check_options(lexical: str, loosen: Iterable[str]) -> None:
    """Raise ValueError for values that no option has."""
    if not all(isinstance(keyword, str) for keyword in loosen):
        raise TypeError("loosen holds names of keywords")
    if lexical not in ("natural", "any"):
        raise ValueError(f'lexical is "natural" or "any", not {lexical!r}')
    unknown = sorted(set(loosen) - LOOSENABLE)
    if unknown:
        raise ValueError(f"loosen names keywords that are always enforced or unknown: {', '.join(unknown)}")
