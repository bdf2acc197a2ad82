"""The one constraint among all fields that can state one.

Every field that is set gives a candidate; two candidates are refused by name, and so is an option without
the constraint that it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from server.constraints.constraint import Constraint
from server.constraints.dialect import is_ebnf
from server.constraints.options import with_options
from server.constraints.sources import (
    ANY_JSON_OBJECT,
    ChoiceSource,
    EbnfSource,
    JsonSource,
    LarkSource,
    RegexSource,
    StructuralTagSource,
)
from server.errors import invalid_request
from server.schemas.constraint_fields import ConstraintFields
from server.schemas.response_format import (
    JsonObjectFormat,
    JsonSchemaFormat,
    StructuralTagFormat,
    StructuredOutputs,
)


@dataclass(frozen=True)
class ConfiguredGrammars:
    """The texts of the grammars in the server's configuration, by name."""

    texts: Mapping[str, str]

    def text(self, name: str) -> str:
        if name not in self.texts:
            known = ", ".join(sorted(self.texts)) or "none"
            message = f"There is no grammar '{name}' in the server's configuration; it has: {known}."
            raise invalid_request(message, param="grammar_ref", code="unknown_grammar")
        return self.texts[name]


NO_CONFIGURED_GRAMMARS = ConfiguredGrammars({})


def requested_constraint(
    request: ConstraintFields,
    configured: ConfiguredGrammars = NO_CONFIGURED_GRAMMARS,
    *,
    has_tools: bool = False,
) -> Constraint | None:
    """What the answer must obey, or None where the request asks for nothing (but perhaps for tool calls).

    Raises:
        ApiError: 400 for two constraints, naming both; for one that is empty; for an option that fits no
            constraint.
    """
    found = list(_candidates(request, configured))
    if len(found) > 1:
        names = [f"'{constraint.param}'" for constraint in found]
        message = f"A request has one constraint at most, but {' and '.join(names)} are given."
        raise invalid_request(message, param=found[1].param, code="conflicting_constraints")
    constraint = with_options(request, found[0] if found else None, has_tools=has_tools)
    if request.return_captures and constraint is None:
        message = "return_captures needs a grammar: send guided_grammar or another constraint."
        raise invalid_request(message, param="return_captures")
    return constraint


def _candidates(request: ConstraintFields, configured: ConfiguredGrammars) -> Iterator[Constraint]:
    if request.guided_grammar is not None:
        yield Constraint("guided_grammar", EbnfSource(_filled(request.guided_grammar, "guided_grammar")))
    if request.guided_lark is not None:
        yield Constraint("guided_lark", LarkSource(_filled(request.guided_lark, "guided_lark")))
    if request.guided_json is not None:
        yield Constraint("guided_json", JsonSource(_schema_text(request.guided_json, "guided_json")))
    if request.guided_regex is not None:
        yield Constraint("guided_regex", _regex(request.guided_regex, "guided_regex"))
    if request.guided_choice is not None:
        yield Constraint("guided_choice", _choice(request.guided_choice, "guided_choice"))
    if request.grammar_ref is not None:
        yield Constraint("grammar_ref", _grammar(configured.text(request.grammar_ref)))
    if request.structured_outputs is not None:
        yield from _in_structured_outputs(request.structured_outputs)
    if request.structural_tag is not None:
        yield Constraint("structural_tag", _structural_tag(request.structural_tag, "structural_tag"))
    yield from _in_response_format(request)
    yield from _in_fields_of_others(request)


def _in_fields_of_others(request: ConstraintFields) -> Iterator[Constraint]:
    """The fields of SGLang, which sends "" for "not given", and of llama.cpp."""
    if request.json_schema is not None and request.json_schema != "":
        yield Constraint("json_schema", JsonSource(_schema_text(request.json_schema, "json_schema")))
    if request.regex:
        yield Constraint("regex", _regex(request.regex, "regex"))
    if request.ebnf:
        yield Constraint("ebnf", EbnfSource(_filled(request.ebnf, "ebnf")))
    if request.grammar and not _is_said_twice(request):
        yield Constraint("grammar", EbnfSource(_filled(request.grammar, "grammar")))


def _is_said_twice(request: ConstraintFields) -> bool:
    """Clients of several servers send one grammar both as llama.cpp and as vLLM want it."""
    outputs = request.structured_outputs
    return outputs is not None and outputs.grammar == request.grammar and is_ebnf(outputs.grammar or "")


def _in_structured_outputs(outputs: StructuredOutputs) -> Iterator[Constraint]:
    found = list(_structured_outputs(outputs))
    if not found:
        message = (
            "structured_outputs needs one of json, regex, choice, grammar, json_object and structural_tag."
        )
        raise invalid_request(message, param="structured_outputs")
    yield from found


def _structured_outputs(outputs: StructuredOutputs) -> Iterator[Constraint]:
    if outputs.json_ is not None:
        param = "structured_outputs.json"
        yield Constraint(param, JsonSource(_schema_text(outputs.json_, param)))
    if outputs.regex is not None:
        yield Constraint("structured_outputs.regex", _regex(outputs.regex, "structured_outputs.regex"))
    if outputs.choice is not None:
        yield Constraint("structured_outputs.choice", _choice(outputs.choice, "structured_outputs.choice"))
    if outputs.grammar is not None:
        param = "structured_outputs.grammar"
        yield Constraint(param, _grammar(_filled(outputs.grammar, param)))
    if outputs.json_object is not None:
        param = "structured_outputs.json_object"
        if not outputs.json_object:
            raise invalid_request(f"{param} can only be true; leave it out for no constraint.", param=param)
        yield Constraint(param, JsonSource(ANY_JSON_OBJECT))
    if outputs.structural_tag is not None:
        param = "structured_outputs.structural_tag"
        yield Constraint(param, _structural_tag(outputs.structural_tag, param))


def _in_response_format(request: ConstraintFields) -> Iterator[Constraint]:
    wanted = request.response_format
    if isinstance(wanted, JsonObjectFormat):
        if wanted.schema_ is None:
            yield Constraint("response_format", JsonSource(ANY_JSON_OBJECT))
        else:
            yield Constraint("response_format.schema", JsonSource(_as_json(wanted.schema_)))
    elif isinstance(wanted, JsonSchemaFormat):
        yield _named_schema(wanted)
    elif isinstance(wanted, StructuralTagFormat):
        yield Constraint("response_format", StructuralTagSource(_tag_of_format(wanted)))


def _named_schema(wanted: JsonSchemaFormat) -> Constraint:
    if wanted.json_schema is not None and wanted.json_schema.schema_ is not None:
        schema, param = wanted.json_schema.schema_, "response_format.json_schema.schema"
        if wanted.schema_ is not None:
            message = "response_format has a schema twice: in 'json_schema.schema' and in 'schema'."
            raise invalid_request(message, param="response_format.schema")
    elif wanted.schema_ is not None:
        schema, param = wanted.schema_, "response_format.schema"
    else:
        message = "response_format of type json_schema needs 'json_schema' with a 'schema'."
        raise invalid_request(message, param="response_format")
    return Constraint(param, JsonSource(_as_json(schema)))


def _tag_of_format(wanted: StructuralTagFormat) -> str:
    old = wanted.structures is not None or wanted.triggers is not None
    if old == (wanted.format is not None):
        message = "A structural_tag needs either 'format' or 'structures' with 'triggers'."
        raise invalid_request(message, param="response_format")
    return _as_json(wanted.model_dump(exclude_none=True))


# --- values


def _grammar(text: str) -> EbnfSource | LarkSource:
    return EbnfSource(text) if is_ebnf(text) else LarkSource(text)


def _regex(pattern: str, param: str) -> RegexSource:
    if "\0" in pattern:
        raise invalid_request(f"'{param}' has a NUL character; write it as \\0.", param=param)
    return RegexSource(pattern)


def _choice(choices: list[str], param: str) -> ChoiceSource:
    if not choices:
        raise invalid_request(f"'{param}' has no choices.", param=param)
    return ChoiceSource(tuple(choices))


def _structural_tag(tag: str | dict[str, Any], param: str) -> StructuralTagSource:
    return StructuralTagSource(_filled(tag if isinstance(tag, str) else _as_json(tag), param))


def _schema_text(schema: dict[str, Any] | bool | str, param: str) -> str:
    return _filled(schema, param) if isinstance(schema, str) else _as_json(schema)


def _filled(text: str, param: str) -> str:
    if not text.strip():
        raise invalid_request(f"'{param}' is empty.", param=param, code="invalid_grammar")
    return text


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
