"""A grammar that has been compiled for a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from grammar_core import _native
from grammar_core.errors import DeserializeFormatError, GrammarLimitError
from grammar_core.grammar import Grammar
from grammar_core.ir.serializer import (
    SERIALIZATION_VERSION,
    check_version,
    load_document,
    read_document,
    read_member,
)
from grammar_core.tokenizer_info import TokenizerInfo

MAX_SERIALIZED_LENGTH = 64 * 1024 * 1024
"""Characters of a serialized compiled grammar."""


class CompiledGrammar:
    """A grammar's automaton over a vocabulary. Made by `GrammarCompiler`; shared freely between threads.

    Its tables are filled while matchers use it, so `memory_size_bytes` grows up to a limit.
    """

    def __init__(
        self,
        native: _native.CompiledGrammar,
        grammar: Grammar,
        tokenizer_info: TokenizerInfo,
        capture_names: Sequence[str],
    ) -> None:
        self._native = native
        self._grammar = grammar
        self._tokenizer_info = tokenizer_info
        self._capture_names = tuple(capture_names)

    @classmethod
    def deserialize_json(cls, json_string: str, tokenizer_info: TokenizerInfo) -> CompiledGrammar:
        """Rebuild what `serialize_json` wrote, for the same tokenizer and with the compiler's usual limits.

        The grammar is compiled again, which takes about as long as reading it; tables are filled in when a
        text needs them, as always. Raises DeserializeVersionError for another version, DeserializeFormatError
        for any other text and for another tokenizer, GrammarError for a grammar that cannot be compiled and
        GrammarLimitError where a limit is exceeded.
        """
        from grammar_core.compiler import GrammarCompiler  # which makes compiled grammars

        if isinstance(json_string, str) and len(json_string) > MAX_SERIALIZED_LENGTH:
            message = f"The serialized grammar is longer than {MAX_SERIALIZED_LENGTH:,} characters"
            raise GrammarLimitError(message, limit="serialized_length", value=MAX_SERIALIZED_LENGTH)
        document = load_document(json_string)
        check_version(document)
        _check_tokenizer(document, tokenizer_info)
        grammar = Grammar(*read_document(read_member(document, "grammar", dict)))
        return GrammarCompiler(tokenizer_info, cache_enabled=False).compile_grammar(grammar)

    def serialize_json(self) -> str:
        """The compiled grammar as JSON, for `deserialize_json`.

        It holds the grammar, what tells the tokenizer, and a hash of its vocabulary; neither the vocabulary
        nor tables, so it is about as long as the grammar, and as quick to write.
        """
        info = self._tokenizer_info
        return (
            f'{{"__VERSION__":"{SERIALIZATION_VERSION}","tokenizer_metadata":{info.dump_metadata()},'
            f'"vocabulary":"{info.fingerprint}","grammar":{self._grammar.serialize_json()}}}'
        )

    @property
    def native(self) -> _native.CompiledGrammar:
        """The native object that matchers run on."""
        return self._native

    @property
    def grammar(self) -> Grammar:
        """The grammar as it was given."""
        return self._grammar

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary it was compiled for."""
        return self._tokenizer_info

    @property
    def capture_names(self) -> tuple[str, ...]:
        """The names that captures are recorded under, one for each rule that has the option."""
        return self._capture_names

    @property
    def memory_size_bytes(self) -> int:
        """Bytes in use now, without the vocabulary, which all grammars share."""
        return self._native.memory_bytes


def _check_tokenizer(document: dict[str, Any], tokenizer_info: TokenizerInfo) -> None:
    """Raise DeserializeFormatError unless the document was written for this tokenizer."""
    written = read_member(document, "tokenizer_metadata", dict)
    for name, expected in json.loads(tokenizer_info.dump_metadata()).items():
        if name not in written or written[name] != expected:
            words = name.replace("_", " ")
            raise DeserializeFormatError(
                f"Tokenizer metadata mismatch: {words} mismatch: "
                f"{_excerpt(written.get(name))} != {_excerpt(expected)}"
            )
    if read_member(document, "vocabulary", str) != tokenizer_info.fingerprint:
        raise DeserializeFormatError("Tokenizer metadata mismatch: the vocabularies have different tokens")


def _excerpt(value: Any) -> str:
    """The value as JSON, of a long one the beginning."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
