"""Compiled grammars as JSON: the same masks again for the same tokenizer, clear errors for anything else."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import numpy as np
import pytest

import grammar_core
from grammar_core import CompiledGrammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core import compiled_grammar as module
from grammar_core.errors import (
    DeserializeFormatError,
    DeserializeVersionError,
    GrammarError,
    GrammarLimitError,
)
from tests.grammar_core.random_grammars import random_option_case

TOKENS = [b"a", b"b", b"ab", b"!", b"</s>", b""]
GRAMMAR = (
    'root[capture] ::= x "!" | Token(2)\nx[lazy, max_chars=5, temperature=0.5, capture_hidden_stop_bytes=1] '
    '::= [ab]+ "!"\n'
)


def info(**changes: Any) -> TokenizerInfo:
    options: dict[str, Any] = {"stop_token_ids": [4], "vocab_size": 8, **changes}
    return TokenizerInfo(options.pop("tokens", TOKENS), **options)


def compiled() -> CompiledGrammar:
    return GrammarCompiler(info()).compile_grammar(GRAMMAR)


def changed(**members: Any) -> str:
    document = json.loads(compiled().serialize_json())
    document.update(members)
    return json.dumps({name: value for name, value in document.items() if value is not ...})


def masks(grammar: CompiledGrammar, prefix: list[int], size: int) -> list[bytes]:
    matcher = GrammarMatcher(grammar)
    filled = []
    for token_id in [*prefix, None]:
        bitmask = np.zeros((1, -(-size // 32)), dtype=np.int32)
        if not matcher.is_terminated():
            matcher.fill_next_token_bitmask(bitmask)
        filled.append(bitmask.tobytes())
        if token_id is not None:
            matcher.accept_token(token_id)
    return [*filled, repr(matcher.get_captures()).encode(), repr(matcher.temperature).encode()]


def test_the_same_grammar_comes_back() -> None:
    original = compiled()
    twin = CompiledGrammar.deserialize_json(original.serialize_json(), info())
    assert twin.grammar.rules == original.grammar.rules
    assert twin.capture_names == original.capture_names
    assert twin.serialize_json() == original.serialize_json()
    assert masks(twin, [2, 3, 3, 4], 8) == masks(original, [2, 3, 3, 4], 8)


def test_random_grammars_come_back() -> None:
    compared = 0
    for seed in range(40):
        case = random_option_case(seed)
        tokenizer = TokenizerInfo(case.vocabulary, stop_token_ids=case.stop_token_ids)
        try:
            original = GrammarCompiler(tokenizer).compile_grammar(case.grammar)
        except GrammarError:
            continue
        twin = CompiledGrammar.deserialize_json(original.serialize_json(), tokenizer)
        for prefix in case.prefixes:
            size = len(case.vocabulary)
            assert masks(twin, prefix, size) == masks(original, prefix, size)
            compared += 1
    assert compared > 100


def test_the_text_is_about_as_long_as_the_grammar_however_large_the_vocabulary() -> None:
    tokens = [str(number).encode() for number in range(50_000)]
    original = GrammarCompiler(TokenizerInfo(tokens)).compile_grammar('root ::= "1"+')
    assert len(original.serialize_json()) < 500


def test_names_beyond_ascii() -> None:
    original = GrammarCompiler(info()).compile_grammar('root[capture="名前"] ::= "中"')
    twin = CompiledGrammar.deserialize_json(original.serialize_json(), info())
    assert twin.capture_names == ("名前",)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"vocab_size": 9}, "Tokenizer metadata mismatch: vocab size mismatch: 8 != 9"),
        ({"stop_token_ids": [3]}, r"stop token ids mismatch: \[4\] != \[3\]"),
        ({"add_prefix_space": True}, "add prefix space mismatch: false != true"),
        ({"tokens": [b"a", b"c", *TOKENS[2:]]}, "the vocabularies have different tokens"),
        ({"tokens": [b"ab", b"", *TOKENS[2:]]}, "the vocabularies have different tokens"),
    ],
)
def test_another_tokenizer(other: dict[str, Any], message: str) -> None:
    with pytest.raises(DeserializeFormatError, match=message):
        CompiledGrammar.deserialize_json(compiled().serialize_json(), info(**other))


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", DeserializeFormatError, "not a JSON text"),
        ("[]", DeserializeFormatError, "A JSON object is expected"),
        ("[" * 100_000, DeserializeFormatError, "not a JSON text"),
        (changed(__VERSION__="v1"), DeserializeVersionError, "Wrong version in serialized object: Got v1"),
        (changed(__VERSION__=...), DeserializeFormatError, "Missing member __VERSION__"),
        (changed(tokenizer_metadata=...), DeserializeFormatError, "Missing member tokenizer_metadata"),
        (changed(tokenizer_metadata=[]), DeserializeFormatError, "has the wrong type"),
        (changed(tokenizer_metadata={}), DeserializeFormatError, "vocab type mismatch: null != 0"),
        (changed(vocabulary=...), DeserializeFormatError, "Missing member vocabulary"),
        (changed(vocabulary="0"), DeserializeFormatError, "different tokens"),
        (changed(grammar=...), DeserializeFormatError, "Missing member grammar"),
        (changed(grammar="root"), DeserializeFormatError, "Member grammar has the wrong type"),
        (changed(grammar={"__VERSION__": "0"}), DeserializeVersionError, "Got 0, expected"),
        (changed(grammar={"__VERSION__": "1"}), DeserializeFormatError, "Missing member rules"),
    ],
)
def test_other_texts(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CompiledGrammar.deserialize_json(text, info())


def test_bytes_and_numbers_are_no_text() -> None:
    for value in (b"{}", 5, None):
        with pytest.raises(DeserializeFormatError):
            CompiledGrammar.deserialize_json(value, info())  # type: ignore[arg-type]


def test_a_grammar_that_cannot_be_compiled() -> None:
    rules = [{"name": "root", "body": [["rule", "root"]]}]
    text = changed(grammar={"__VERSION__": "1", "root": "root", "rules": rules})
    with pytest.raises(GrammarError, match="cannot match any finite text"):
        CompiledGrammar.deserialize_json(text, info())


def test_long_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SERIALIZED_LENGTH", 100)
    with pytest.raises(GrammarLimitError, match="longer than 100 characters") as caught:
        CompiledGrammar.deserialize_json(" " * 101, info())
    assert (caught.value.limit, caught.value.value) == ("serialized_length", 100)


def test_corrupt_texts_never_do_more_than_raise() -> None:
    """Characters and JSON values of a serialized grammar are changed at random."""
    rng = random.Random(7)
    text = compiled().serialize_json()
    refused = 0
    for _ in range(400):
        corrupt = _corrupt_text(text, rng) if rng.random() < 0.5 else _corrupt_value(text, rng)
        try:
            twin = CompiledGrammar.deserialize_json(corrupt, info())
        except (DeserializeFormatError, DeserializeVersionError, GrammarError):
            refused += 1
            continue
        masks(twin, [2, 3, 3], 8)
    assert refused > 200


def _corrupt_text(text: str, rng: random.Random) -> str:
    begin = rng.randrange(len(text))
    return text[:begin] + rng.choice(("", "9", '"', "]", "-1", "null")) + text[begin + rng.randint(0, 3) :]


def _corrupt_value(text: str, rng: random.Random) -> str:
    document = json.loads(text)
    node: Any = copy.deepcopy(document)
    root = node
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = rng.choice(keys)
        if not isinstance(node[key], dict | list) or not node[key] or rng.random() < 0.15:
            break
        node = node[key]
    node[key] = rng.choice((None, True, -1, 10**30, 0.5, "", "x", [], {}, [[]], [node[key]]))
    return json.dumps(root)


def test_tokenizers_can_be_copied_after_a_compile() -> None:
    tokenizer = info()
    GrammarCompiler(tokenizer).compile_grammar(GRAMMAR)
    twin = pickle.loads(pickle.dumps(tokenizer))
    assert twin.fingerprint == tokenizer.fingerprint
    assert isinstance(
        CompiledGrammar.deserialize_json(compiled().serialize_json(), twin), grammar_core.CompiledGrammar
    )
