"""Grammars, masks and matchers for constrained generation. Works without torch."""

from grammar_core.batch_matcher import BatchGrammarMatcher
from grammar_core.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    bitmask_dtype,
    get_bitmask_shape,
    reset_token_bitmask,
)
from grammar_core.compiled_grammar import CompiledGrammar
from grammar_core.compiler import GrammarCompiler
from grammar_core.diagnostics import Explanation, explain_text
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.json_schema.errors import JsonSchemaError
from grammar_core.frontends.json_schema.layout import BOUNDED_WHITESPACE
from grammar_core.frontends.structural_tag import StructuralTagError, StructuralTagItem
from grammar_core.frontends.structural_tag.models import get_model_structural_tag
from grammar_core.grammar import Grammar
from grammar_core.matcher import GrammarMatcher
from grammar_core.token_bytes import VocabType
from grammar_core.tokenizer_info import TokenizerInfo

__all__ = [
    "BOUNDED_WHITESPACE",
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "Explanation",
    "Grammar",
    "GrammarCompiler",
    "GrammarError",
    "GrammarLimitError",
    "GrammarMatcher",
    "JsonSchemaError",
    "StructuralTagError",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "explain_text",
    "get_bitmask_shape",
    "get_model_structural_tag",
    "reset_token_bitmask",
]
