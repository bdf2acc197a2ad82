"""Reads the arguments of a call in the notation of a format."""

from __future__ import annotations

from collections.abc import Callable

from grammar_core.frontends.structural_tag.notations.markup import PARAMETER_MARKUPS
from server.tool_calls.argument_types import ArgumentSchema
from server.tool_calls.gemma_reader import read_gemma_object
from server.tool_calls.json_reader import read_string, read_value
from server.tool_calls.nested_readers import read_cohere_values, read_minimax_m3_values
from server.tool_calls.parameter_reader import read_parameters
from server.tool_calls.text_source import Reading, TextSource

Emit = Callable[[str], None]


def read_arguments(source: TextSource, style: str, schema: ArgumentSchema, emit: Emit) -> Reading[None]:
    """Read the arguments of one call and emit their JSON text as it comes.

    `style` is one of the structural tag type `json_schema`; `schema` is that of the arguments. Raises
    MismatchError where the text is in no such notation.
    """
    if style in PARAMETER_MARKUPS:
        yield from read_parameters(source, PARAMETER_MARKUPS[style], schema, emit)
    elif style == "gemma":
        yield from read_gemma_object(source, emit)
    elif style == "cohere_xml":
        yield from read_cohere_values(source, emit)
    elif style == "minimax_m3_xml":
        yield from read_minimax_m3_values(source, schema, emit)
    elif (yield from source.skip_space()) == '"':
        emit((yield from read_string(source)))
    else:
        yield from read_value(source, emit)
