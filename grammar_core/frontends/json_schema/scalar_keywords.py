"""Keywords of numbers and of strings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.keywords import Subschema
from grammar_core.frontends.json_schema.numbers import NumberLanguage
from grammar_core.frontends.json_schema.remembered import formatted, matching
from grammar_core.frontends.json_schema.subschemas import ASSERTIONS
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.json_schema.values import BOOLEAN, NULL, NUMBER, STRING

if TYPE_CHECKING:
    from grammar_core.frontends.json_schema.expansion import Expander

Language = NumberLanguage | TextLanguage


def one_of(kind: str, values: list[Any]) -> Any:
    """The language of these numbers or strings."""
    return NumberLanguage.of_values(values) if kind == NUMBER else TextLanguage.of_values(values)


_WHOLE_TYPES: dict[str, tuple[str, Any]] = {
    "string": (STRING, FULL[STRING]),
    "number": (NUMBER, FULL[NUMBER]),
    "integer": (NUMBER, NumberLanguage.integers()),
    "boolean": (BOOLEAN, FULL[BOOLEAN]),
    "null": (NULL, FULL[NULL]),
}


def simple_set(sub: Subschema) -> tuple[str, Any] | None:
    """Type and alternative of a schema that only names a scalar type or lists strings; None for others."""
    if not sub.dialect.validates:
        return None
    schema = sub.schema
    kind = schema.get("type")
    if sub.leaf is not None:
        return _WHOLE_TYPES.get(kind) if len(sub.leaf) == 1 and isinstance(kind, str) else None
    values = schema.get("enum")
    if not values or type(values) is not list or (kind != "string" and "type" in schema):
        return None
    if not ASSERTIONS.intersection(schema) <= _LIST_KEYWORDS or not all(type(v) is str for v in values):
        return None
    language = TextLanguage.of_values(values)
    return None if language.is_empty() else (STRING, language)


_LIST_KEYWORDS = frozenset(("type", "enum"))


def alternatives(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    """The language that the keywords of numbers or strings allow, as a list of one or none."""
    language = FULL[kind]
    for part in _parts(expander, sub, kind):
        language = part if language is FULL[kind] else language.intersect(part)
    return [language]


def complement_alternatives(expander: Expander, sub: Subschema, kind: str) -> list[Any]:
    """The numbers or strings that one of the keywords does not allow."""
    complements = [part.complement() for part in _parts(expander, sub, kind, is_complemented=True)]
    return [language for language in complements if not language.is_empty()]


def _parts(expander: Expander, sub: Subschema, kind: str, is_complemented: bool = False) -> list[Any]:
    """A language for each keyword. One that is loosened counts as met and, complemented, as not met."""
    nothing = FULL[kind].complement()
    otherwise = nothing if is_complemented else FULL[kind]
    return _numbers(expander, sub, otherwise) if kind == NUMBER else _texts(expander, sub, otherwise)


def _numbers(expander: Expander, sub: Subschema, otherwise: Any) -> list[Any]:
    parts: list[Any] = []
    if not sub.dialect.validates:
        return parts
    types = sub.types()
    if types is not None and "integer" in types and NUMBER not in types:
        parts.append(NumberLanguage.integers())
    schema = sub.schema
    if schema.keys().isdisjoint(_NUMBER_KEYWORDS):
        return parts
    low, high, is_low_open, is_high_open = _bounds(sub)
    if low is not None or high is not None:
        parts.append(NumberLanguage.range(low, high, excludes_low=is_low_open, excludes_high=is_high_open))
    for exclusive, other in _double_bounds(sub):
        parts.append(NumberLanguage.range(*exclusive, excludes_low=other[0], excludes_high=other[1]))
    step = sub.number("multipleOf")
    if step is not None:
        if step <= 0:
            raise sub.error("multipleOf", "must be more than 0")
        parts.append(expander.attempt(sub, "multipleOf", lambda: NumberLanguage.multiple_of(step), otherwise))
    return parts


_NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _bounds(sub: Subschema) -> tuple[Any, Any, bool, bool]:
    """`minimum` and `maximum`, and whether the boolean form of the exclusive keywords excludes them."""
    low, high = sub.number("minimum"), sub.number("maximum")
    return low, high, _is_open(sub, "exclusiveMinimum"), _is_open(sub, "exclusiveMaximum")


def _is_open(sub: Subschema, keyword: str) -> bool:
    value = sub.schema.get(keyword)
    if isinstance(value, bool):
        if sub.dialect.draft > 4 and sub.dialect.declared:
            raise sub.error(keyword, "must be a number")
        return value
    if value is not None and sub.dialect.draft == 4:
        raise sub.error(keyword, "must be true or false")
    return False


def _double_bounds(sub: Subschema) -> list[tuple[tuple[Any, Any], tuple[bool, bool]]]:
    """The exclusive bounds that are numbers."""
    bounds: list[tuple[tuple[Any, Any], tuple[bool, bool]]] = []
    if "exclusiveMinimum" in sub.schema and not isinstance(sub.schema["exclusiveMinimum"], bool):
        bounds.append(((sub.number("exclusiveMinimum"), None), (True, False)))
    if "exclusiveMaximum" in sub.schema and not isinstance(sub.schema["exclusiveMaximum"], bool):
        bounds.append(((None, sub.number("exclusiveMaximum")), (False, True)))
    return bounds


def _texts(expander: Expander, sub: Subschema, otherwise: Any) -> list[Any]:
    schema = sub.schema
    parts: list[Any] = []
    if schema.keys().isdisjoint(_TEXT_KEYWORDS):
        return parts
    if sub.dialect.validates:
        parts += _asserted_texts(expander, sub, otherwise)
    name = sub.text("format")
    if name is not None:
        language = expander.attempt(sub, "format", lambda: formatted(name), otherwise)
        if language is not None:
            parts.append(language)
    return parts


def _asserted_texts(expander: Expander, sub: Subschema, otherwise: Any) -> list[Any]:
    parts: list[Any] = []
    low, high = sub.count("minLength"), sub.count("maxLength")
    if low or high is not None:
        parts.append(
            expander.attempt(sub, "maxLength", lambda: TextLanguage.length(low or 0, high), otherwise)
        )
    pattern = sub.text("pattern")
    if pattern is not None:
        parts.append(expander.attempt(sub, "pattern", lambda: matching(pattern), otherwise))
    return parts


_TEXT_KEYWORDS = ("minLength", "maxLength", "pattern", "format")
