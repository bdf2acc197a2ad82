"""Keys that differ: the engine allows what it would allow otherwise, less the texts in which a key repeats.

What repeats is decided here by reading the text as JSON, apart from grammars.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grammar_core import (
    CompiledGrammar,
    Grammar,
    GrammarCompiler,
    GrammarError,
    GrammarMatcher,
    TokenizerInfo,
)
from grammar_core.ir.nodes import Expr, Member, Members, Rule
from grammar_core.ir.traversal import transform_rule, walk_rule

STRING = {"type": "string"}

# --- texts


class _Reader:
    """Reads the beginning of a JSON text and says whether a key, or a string in an array, has come twice."""

    def __init__(self, *, in_arrays: bool) -> None:
        self._kept = "{[" if in_arrays else "{"

    def repeats(self, text: str) -> bool:
        """Whether some list has two equal ones that both have ended."""
        lists: list[tuple[str, set[str]]] = []
        is_key = False  # a string that begins here is a key, or an item
        place = 0
        while place < len(text):
            letter = text[place]
            if letter == '"':
                end = _end_of_string(text, place)
                if end is None:
                    return False
                if is_key and lists[-1][0] in self._kept:
                    value = json.loads(text[place:end])
                    if value in lists[-1][1]:
                        return True
                    lists[-1][1].add(value)
                is_key = False
                place = end
                continue
            if letter in "{[":
                lists.append((letter, set()))
            elif letter in "}]":
                lists.pop()
            is_key = letter in "{[," or (letter.isspace() and is_key)
            place += 1
        return False


def _end_of_string(text: str, begin: int) -> int | None:
    place = begin + 1
    while place < len(text):
        if text[place] == '"':
            return place + 1
        place += 2 if text[place] == "\\" else 1
    return None


def _with_repetitions(grammar: Grammar) -> Grammar:
    def free(expr: Expr) -> Expr:
        if not isinstance(expr, Members):
            return expr
        return expr._replace(members=tuple(m._replace(distinct=False) for m in expr.members))

    rules = [transform_rule(rule, free) for rule in grammar.rules]
    return Grammar.from_rules(rules, root_rule_name=grammar.root)


_PIECES = [
    *(
        " ",
        "\n ",
        "\n  ",
        '"',
        "a",
        "b",
        "\\",
        "u0061",
        "\\u0061",
        "\\u",
        "006",
        "1",
        "n",
        "0",
        "00",
        "{",
        "}",
        "[",
        "]",
    ),
    *(
        ",",
        ":",
        '":',
        '","',
        '",',
        '"a"',
        '"a":',
        '{"',
        '{"a',
        '{"a":1,"a',
        '["a","a"',
        '"","',
        '"a","b',
        'a"',
        'a":1',
    ),
    *(
        'b":"',
        ',"a"',
        '","a',
        "1,",
        '1,"',
        '"]',
        '"}',
        '"ab"',
        "ab",
        'b"',
        '"a":{"a":',
        '","","',
        'a","a"',
        'a":1,"a',
    ),
    *(
        "}}",
        "]}",
        '\\u0061"',
        '\\n"',
        "\\n",
        '","\\u0061"',
        "é",
        'é"',
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "😀",
        '😀"',
    ),
]


def _compiler(tokens: list[bytes]) -> GrammarCompiler:
    info = TokenizerInfo([*tokens, b"</s>"], stop_token_ids=[len(tokens)])
    return GrammarCompiler(info, cache_enabled=False)


def _compilers() -> Iterator[tuple[list[bytes], GrammarCompiler]]:
    rng = random.Random(7)
    for _ in range(6):
        tokens = [piece.encode() for piece in _PIECES]
        for _ in range(40):
            tokens.append("".join(rng.choices(_PIECES, k=rng.randint(2, 3))).encode())
        tokens = list(dict.fromkeys(tokens))
        yield tokens, _compiler(tokens)


_COMPILERS = list(_compilers())

_OBJECTS: list[Any] = [
    {"type": "object"},
    {"type": "object", "properties": {"a": {"type": "integer"}}},
    {"type": "object", "properties": {"ab": True}, "required": ["ab"], "minProperties": 3},
    {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "object"}},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}}},
    {"type": "object", "patternProperties": {"^a": True, "b$": {"type": "integer"}}, "minProperties": 2},
    {"anyOf": [{"type": "object", "properties": {"a": {"const": 1}}}, {"type": "object", "required": ["b"]}]},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object"},
    {"type": "object", "additionalProperties": STRING, "dependentRequired": {"a": ["b"]}},
    {"type": "array", "items": {"type": "object", "properties": {"a": True}}},
]
_ARRAYS: list[Any] = [
    {"type": "array", "items": STRING, "uniqueItems": True},
    {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True, "minItems": 2},
    {"type": "array", "items": {"type": "string", "pattern": "^a"}, "uniqueItems": True, "maxItems": 3},
    {"type": "object", "additionalProperties": {"type": "array", "items": STRING, "uniqueItems": True}},
    {"anyOf": [{"type": "array", "items": STRING, "uniqueItems": True}, {"type": "integer"}]},
    {"type": "array", "items": {"type": "string", "not": {"const": "a"}}, "uniqueItems": True},
]


@pytest.mark.parametrize(
    "options", [{}, {"any_order": True}, {"lexical": "any"}, {"indent": 1, "any_whitespace": False}]
)
@pytest.mark.parametrize("number", range(len(_OBJECTS) + len(_ARRAYS)))
def test_masks_on_random_texts(number: int, options: dict[str, Any]) -> None:
    schema = [*_OBJECTS, *_ARRAYS][number]
    grammar = Grammar.from_json_schema(schema, strict_mode=False, **options)
    reader = _Reader(in_arrays=number >= len(_OBJECTS))
    for seed, (tokens, compiler) in enumerate(_COMPILERS):
        both = compiler.compile_grammar(grammar), compiler.compile_grammar(_with_repetitions(grammar))
        for attempt in range(4):
            _compare(tokens, *both, reader, random.Random(f"{number} {seed} {attempt}"))


def _compare(
    tokens: list[bytes], distinct: CompiledGrammar, free: CompiledGrammar, reader: _Reader, rng: random.Random
) -> None:
    """Goes along a random text and asks at each place for every token, by mask and by trying it."""
    matcher, other = GrammarMatcher(distinct), GrammarMatcher(free)
    text = b""
    for _ in range(rng.randint(3, 14)):
        allowed = _allowed(matcher, len(tokens))
        may_come = _allowed(other, len(tokens))
        wanted = {i for i in may_come if not reader.repeats((text + tokens[i]).decode())}
        assert {tokens[i] for i in allowed} == {tokens[i] for i in wanted}, text
        for i in may_come:
            assert matcher.accept_token(i) == (i in wanted), (text, tokens[i])
            if i in wanted:
                matcher.rollback(1)
        if not wanted:
            break
        # Texts with few different keys, so that there is something to repeat.
        token = rng.choice(sorted(wanted))
        assert matcher.accept_token(token)
        assert other.accept_token(token)
        text += tokens[token]
        if rng.random() < 0.2:
            matcher = matcher.fork()
    assert matcher.is_completed() == other.is_completed()


def _allowed(matcher: GrammarMatcher, count: int) -> set[int]:
    bitmask = np.zeros((1, count // 32 + 1), dtype=np.int32)
    matcher.fill_next_token_bitmask(bitmask)
    bits = np.unpackbits(bitmask.view(np.uint8), bitorder="little")[:count]
    return set(np.flatnonzero(bits).tolist())


@pytest.mark.parametrize("schema", [*_OBJECTS, *_ARRAYS])
def test_every_text_that_is_begun_can_be_ended(schema: Any) -> None:
    """Random tokens of the masks, then whatever leads to the end: the values are valid and repeat nothing."""
    tokens = list(dict.fromkeys([*_COMPILERS[0][0], *(bytes([byte]) for byte in range(128))]))
    grammar = _compiler(tokens).compile_grammar(Grammar.from_json_schema(schema, strict_mode=False))
    for seed in range(15):
        rng = random.Random(seed)
        matcher = GrammarMatcher(grammar)
        text = b""
        for step in range(3_000):
            if matcher.is_completed() and step > 10:
                break
            allowed = _allowed(matcher, len(tokens))
            if not allowed:
                break
            is_quick = step > 20 and rng.random() < 0.7
            quickest = [tokens.index(end) for end in (b'"', b"}", b"]", b":", b",", b"1")]
            token = next((i for i in quickest if i in allowed and is_quick), rng.choice(sorted(allowed)))
            assert matcher.accept_token(token), (text, tokens[token])
            text += tokens[token]
        assert matcher.is_completed(), text
        json.loads(text, object_pairs_hook=_refuse_repetitions)


def _refuse_repetitions(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


# --- regressions, found by a hostile test of the feature


@pytest.mark.parametrize("style", ["qwen_xml", "glm_xml", "minimax_m3_xml", "cohere_xml", "gemma"])
def test_notations_whose_keys_are_no_json_strings_are_left_alone(style: str) -> None:
    """The first quoted piece of a value was taken for the key."""
    schema = {"type": "object", "additionalProperties": {"type": "array", "items": STRING, "minItems": 1}}
    tag = {"type": "json_schema", "json_schema": schema, "style": style}
    grammar = Grammar.from_structural_tag(tag)
    assert not [member for rule in grammar.rules for member in _members(rule) if member.distinct]


def test_json_within_parameters_repeats_no_key() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "object"}}
    grammar = Grammar.from_structural_tag({"type": "json_schema", "json_schema": schema, "style": "qwen_xml"})
    assert _accepts(grammar, '<parameter=a>{"x":1}</parameter><parameter=b>{"x":1}</parameter>')
    assert not _accepts(grammar, '<parameter=a>{"x":1,"x":1}</parameter>')


def _members(rule: Rule) -> list[Member]:
    return [one for expr in walk_rule(rule) if isinstance(expr, Members) for one in expr.members]


def _accepts(grammar: Grammar, text: str) -> bool:
    tokens = [bytes([byte]) for byte in range(256)]
    matcher = GrammarMatcher(_compiler(tokens).compile_grammar(grammar))
    return bool(matcher.accept_string(text) and matcher.is_completed())


@pytest.mark.parametrize("option", ["max_chars=5", "max_tokens=1"])
def test_masks_near_a_budget_hold_no_key_twice(option: str) -> None:
    tokens = [b"{", b"}", b'"', b"a", b'"a":1,"a"', b'"a":1', b":", b"1", b","]
    grammar = Grammar.from_ebnf(
        f'root[{option}] ::= "{{" Members((m, "repeatable distinct"), separator=c) "}}"\n'
        'm ::= "\\"" [ab]* "\\"" ":" "1"\nc ::= ","'
    )
    matcher = GrammarMatcher(_compiler(tokens).compile_grammar(grammar))
    for token in (0, 2, 3):
        allowed = _allowed(matcher, len(tokens))
        for i in range(len(tokens)):
            is_accepted = matcher.accept_token(i)
            assert is_accepted == (i in allowed)
            if is_accepted:
                matcher.rollback(1)
        matcher.accept_token(token)


def test_a_list_may_not_begin_a_member_of_another_one() -> None:
    """They would have shared the keys that came."""
    grammar = Grammar.from_ebnf(
        'root ::= "[" Members((p, "repeatable distinct"), (l, "optional"), separator=c) "]"\np ::= s ":1"\n'
        'l ::= Members((s, "repeatable distinct"), min=1, separator=c)\ns ::= "\\"" [ab]* "\\""\nc ::= ","'
    )
    with pytest.raises(GrammarError, match="begins a member of such a list"):
        _compiler([b"a"]).compile_grammar(grammar)


def test_masks_keep_nothing_of_what_they_try() -> None:
    """An empty string in a list made each mask try tokens, and kept the keys that these end."""
    tokens = [*(bytes([byte]) for byte in range(256)), b'","","', b'","",', b'"",', b'"a"']
    schema = {"type": "array", "items": STRING, "uniqueItems": True}
    compiled = _compiler(tokens).compile_grammar(Grammar.from_json_schema(schema))
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string('["","' + "the " * 20_000)
    for _ in range(2_000):
        assert matcher.accept_string("the ")
        assert tokens.index(b'","",') not in _allowed(matcher, len(tokens))


@pytest.mark.parametrize("root", ["l", "l Token(3)?", '"[" l "]"'])
def test_masks_of_lists_in_lists_that_nothing_tells_apart(root: str) -> None:
    """A token that holds several keys may repeat its own, in one reading, and one that came, in another."""
    grammar = Grammar.from_ebnf(
        f"root ::= {root}\n"
        'l ::= Members((m, "repeatable distinct"), (s, "repeatable distinct"), separator=c)\n'
        'm ::= s ":" l\ns ::= "\\"" [ab]* "\\""\nc ::= ","'
    )
    for seed, (tokens, compiler) in enumerate(_COMPILERS):
        compiled = compiler.compile_grammar(grammar)
        for attempt in range(8):
            rng = random.Random(f"{seed} {attempt}")
            matcher = GrammarMatcher(compiled)
            for _ in range(rng.randint(2, 9)):
                allowed = _allowed(matcher, len(tokens))
                for i in range(len(tokens)):
                    is_accepted = matcher.accept_token(i)
                    assert is_accepted == (i in allowed), tokens[i]
                    if is_accepted:
                        matcher.rollback(1)
                if not allowed:
                    break
                matcher.accept_token(rng.choice(sorted(allowed)))
