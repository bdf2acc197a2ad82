"""Masks over vocabularies large enough that walks of them take their short ways."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from grammar_core import CompiledGrammar, Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core.frontends.json_schema.texts import Lexical

_PIECES = (
    *(chr(letter) for letter in range(97, 123)),
    *"ABCXYZ0123456789 ._-/:,;@+*'()[]{}<>",
    *("é", "ü", "я", "中", "文", "龥", "“", "”", "–", "\u2028", "\u00a0", "\u3000", "😀", "🚀", "\ufeff"),
    *('"', "\\", "\n", "\t", "\r", "\x00", "\x7f", '",', '":', '\\"', "\\n", "\\u00", "ab", "ing", "tion"),
)
_SPACES = (" ", "  ", "\n", "\t", "\r\n", "    ")


_NAMES = (
    *("a", "ab", "abc", "abd", "abing", "ing", "tion", "tionab", "x", "", " ", "a b", "A", "é", "éü", "中文"),
    *("😀", 'q"', 'q"":', "back\\slash", "new\nline", "\u0001", "\x7f", "\u2028", "u0041", "true", "12"),
)


def _vocabulary() -> list[bytes]:
    rng = random.Random(20)
    tokens = {bytes([byte]) for byte in range(256)}
    tokens |= {"".join(rng.choices(_SPACES, k=rng.randint(1, 12))).encode() for _ in range(300)}
    for name in _NAMES:
        spelled = json.dumps(name, ensure_ascii=False)[1:-1]
        for begin in range(len(spelled)):
            ends = ('"', '":', '": "', '":1', '",', '"}')
            tokens |= {(start + spelled[begin:] + end).encode() for end in ends for start in ("", '"')}
    while len(tokens) < 9_000:
        text = "".join(rng.choices(_PIECES, k=rng.randint(2, 7))).encode()
        if rng.random() < 0.3:
            text = rng.choice(_SPACES).encode() + text
        cut = rng.random()
        tokens.add(text[:-1] if cut < 0.15 else text[1:] if cut < 0.25 else text)
    return [b"</s>", *sorted(token for token in tokens if token)]


_VOCABULARY = _vocabulary()
_COMPILER = GrammarCompiler(TokenizerInfo(_VOCABULARY, stop_token_ids=[0]))
_STRINGS = (
    {"type": "string"},
    {"type": "string", "maxLength": 9},
    {"type": "string", "minLength": 3, "maxLength": 300},
    {"type": "string", "pattern": "rock.t"},
    {"type": "string", "pattern": "^.+\\.(csv|tsv)$"},
    {"type": "string", "pattern": "^[a-z0-9-]+$"},
    {"type": "string", "pattern": "^\\S+$"},
    {"type": "string", "pattern": "^[^/]*/[^/]*$", "maxLength": 20},
    {"type": "string", "pattern": "^(\\S+ ){0,3}\\S+$"},
    {"type": "string", "pattern": "^(\\S+ ){0,9}\\S+$", "minLength": 2, "maxLength": 100},
    {"type": "string", "pattern": "^(\\S+\\s+){0,3}\\S+$", "maxLength": 12},
    {"type": "string", "pattern": "^[^ ]+$", "minLength": 4, "maxLength": 30},
    {"type": "string", "oneOf": [{"pattern": "tion"}, {"pattern": "ab"}, {"pattern": "ing"}]},
    # searches for words that come to dead ends, and for some that do not
    {"type": "string", "oneOf": [{"pattern": word} for word in ("abing", "tion", "x.ab", "ingtion")]},
    {"type": "string", "pattern": "^(ab)|(tion)|(ing)|(abtion)|(x-[a-z0-9]*)$"},
    {"type": "string", "not": {"pattern": "[0-9a-f]{3}"}},
    {"type": "string", "not": {"pattern": "ab|tioning|[A-Z]{3}|é."}},
    {"type": "string", "not": {"pattern": "ingab$|^.x"}, "pattern": "a.*b.*tion"},
    {"type": "string", "pattern": "\\d\\d-.\\d.ab"},
    {"type": "string", "not": {"pattern": "(ab[^é]{2}){2}"}},
    {"type": "string", "not": {"pattern": "\x7f[a-z]|\x7f.\x7f|[a-z]\x7f"}},
    {"type": "string", "not": {"pattern": "aa|\\s\\s|[.-]{2}|中文"}, "maxLength": 60},
    {"type": "object", "patternProperties": {"[a-f0-9]{3}": False, "abing": {"type": "null"}}},
    {"type": "object", "propertyNames": {"not": {"pattern": "tion|in.ab"}}},
    {"type": "string", "format": "iri"},
    {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$"},
    {"type": "string", "pattern": "^[a-z]{2,8}(-[a-z0-9]{1,8})*$"},
    {"type": "string", "format": "hostname"},
    {"type": "string", "format": "uri"},
    {"type": "string", "pattern": "\\p{Ll}"},
    {"type": "string", "pattern": "[\\p{Lo}a-z]"},
    {"type": "string", "pattern": "^[\\p{Lu} ]*[a-z]+.*$"},
    {"anyOf": [{"type": "string", "pattern": f"^[a-z]+{end}$"} for end in ("1", "12", "tion", "中")]},
    {"type": "string", "pattern": "^([^/]+/)*[^/]+$"},
    {"type": "string", "pattern": "^ab.tion"},
    {"type": "string", "pattern": "^[^中]x|^[^é]ab"},
    {"type": "string", "pattern": "^[\\u4e00-\\u9fff][^\\u3000]"},
    {"type": "string", "pattern": "^[^\\u2028].$", "minLength": 2},
    {"type": "string", "pattern": "^[A-Za-z]{2,3}(-[A-Za-z]{4})?$"},
    {"type": "string", "pattern": "^[a-z]+$", "minLength": 3, "maxLength": 7},
    {"type": "string", "pattern": "^[a-z]{2,8}(\\.[a-z]+)*$", "maxLength": 9},
    {"type": "string", "pattern": "^(?=.{2,9}$)([a-z]+[.])*[a-z]+$"},
    {"type": "array", "items": {"type": "boolean"}},
    {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}, "minItems": 2, "maxItems": 6},
    {"type": "array", "items": {"type": "string", "maxLength": 30}, "minItems": 2, "maxItems": 3},
    {"type": "object", "properties": {"ab": {"type": "string"}, "abc": {}}},
    {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}},
    {"type": "object", "additionalProperties": {"enum": ["a", "tion", 1]}, "minProperties": 1},
)
_TEXTS = (
    'root ::= [^]* "<" [a-z]+ ">"',
    'root ::= "\\"" ([^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\n])* "\\"" [ \\t\\n]* "," [ ]* [0-9]+',
    'root ::= line+\nline ::= [^\\n\\u2028]+ "\\n"',
    "root ::= [ \\n]* ([a-z]+ [ \\n]+)* [0-9]{1,3} [ \\n]*",
    'root ::= ([^\\x00-\\x1f"\\\\] [^]? ){2,30}',
    'root ::= "x" ([^\\n]* "\\n" [a-z]+ ""){1,3} [a-z]*',
    'root ::= ([^\\n]* "\\n" [a-z]+){1,3}',
    'root ::= "x" ([a-z]* ","){1,6} "9"',
    'root ::= "x" ([ \\n]* ","){1,20} "9"',
    'root ::= "x" ([^,]* ","){1,4} [^]? "9"',
    "root ::= ([é中]* [a-z0-9 ]){3,9}",
    "root ::= ([^x] | [a-m]* [^ ]){2,40}",
    'root ::= name ("." name)* " = " [^]*\nname ::= [a-z] [a-z0-9_]*',
    "root ::= [a-zA-Z0-9._-]+ | [a-z]+ [0-9] [a-z]*",
    'root ::= "x"? ([ -~] [ -~] "00" | [ -~] [ -~] "01" | [a-z] [^] "x" | "ab" [ab] [ab] "ing")',
    'root ::= ("ab" | "abc" | "abing") ("tion" | "é" | "ab")* "."',
    "root ::= [\\t ]+ root? | [A-Z] root | [^a-zA-Z \\t]",
    'root ::= [^/] ("/" [^/])* [^中]? "ab"',
    "root ::= ([^é] | [é] [0-9]) [^]*",
    'root ::= ([a-z]{2,4} ","?){1,5}',
    'root ::= "x"? word ([,1] word)*\nword ::= [a-z]+ | [0-9]+ "-"',
    'root ::= word "." | word " " word\nword ::= [a-zA-Z]{1,6}',
    'root ::= ([a-z] | "."){3,9} [0-9]',
    'root ::= "x"? r "</t>" [0-9]+\nr[max_chars=3] ::= [^<]*',
    'root ::= r ("," r)*\nr[max_chars=5] ::= [a-z 中]+ | "\\"" [^"]* "\\""',
    'root ::= "a"? r [0-9]*\nr[max_chars=12, max_tokens=3] ::= [^0-9é]*',
    "root ::= (r | s)+ [.]\nr[max_chars=2] ::= [a-zé]+\ns[max_chars=8] ::= [0-9] [^.]*",
    'root ::= r "."\nr[max_chars=4] ::= ("ab" | "ing" | [中文])+ "tion"? s?\ns[max_chars=1] ::= [ ]+',
)


_MEMBERS = (
    {name: {"type": ["string", "integer"][len(name) % 2]} for name in _NAMES},
    {name: {"type": "string", "pattern": "[a-f0-9]{24}"} for name in _NAMES[:6]}
    | {"é": {"enum": ["a", "ab"]}},
    {name: {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 5}]} for name in _NAMES[::3]},
    {name: {"type": "array", "items": {"$ref": "#"}} for name in _NAMES[::2]},
    {name: {"type": "object", "properties": {"ab": {}, name: {"type": "boolean"}}} for name in _NAMES[1:5]},
)
_BEGINNINGS = (
    *(
        '{"',
        '{ "a',
        '{"ab',
        '{"abin',
        '{"tio',
        '{"é',
        '{"\u00c3',
        '{"中',
        '{"q\\',
        '{"q\\"',
        '{"new\\',
        '{"new\\n',
    ),
    *(
        '{"back\\\\sl',
        '{"\\u00',
        '{"\\',
        '{"no',
        '{"no":',
        '{"no": [1, "',
        '{"no": {"a',
        '{"a"',
        '{"a":',
        '{"ab": ',
    ),
    *('{"ab":"x", "a', '{"abc": "a", "ab', '{"abc": "a", "ab": "x", "ab', '{"ing": 1, "abing": 1, "ab'),
    *('{"ab": "', '{"ab":"x", "', '{"tion": 1,', '{"tion":"ab", "tion', '{"12": "5", "a', '{"abc": "a", "é'),
)


def _allowed(matcher: GrammarMatcher) -> np.ndarray:
    """By token, whether the mask allows it."""
    mask = np.zeros((1, -(-len(_VOCABULARY) // 32)), dtype=np.int32)
    matcher.fill_next_token_bitmask(mask)
    return np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(_VOCABULARY)]


def _check(matcher: GrammarMatcher, where: object) -> np.ndarray:
    """The tokens that the mask allows, after a comparison with what is accepted."""
    allowed = _allowed(matcher)
    accepted = np.zeros_like(allowed)
    for token in range(len(_VOCABULARY)):
        if matcher.accept_token(token):
            accepted[token] = 1
            matcher.rollback(1)
    wrong = [_VOCABULARY[token] for token in np.flatnonzero(allowed != accepted)]
    assert not wrong, (where, wrong[:5])
    return allowed


def _walk(compiled: CompiledGrammar, seed: int) -> None:
    """Compares masks with what is accepted, at some positions of a drawn text."""
    rng = random.Random(seed)
    matcher = GrammarMatcher(compiled)
    for step in range(40):
        allowed = _check(matcher, step) if step in (0, 1, 2, 4, 8, 16, 32) else _allowed(matcher)
        likely = [token for token in np.flatnonzero(allowed) if token]
        if not likely:
            return
        assert matcher.accept_token(int(rng.choice(likely)))


@pytest.mark.parametrize("schema", _STRINGS, ids=str)
@pytest.mark.parametrize("lexical", ["natural", "any"])
def test_schemas(schema: dict[str, object], lexical: Lexical) -> None:
    grammar = Grammar.from_json_schema(schema, strict_mode=False, lexical=lexical)
    compiled = _COMPILER.compile_grammar(grammar)
    for seed in range(3):
        _walk(compiled, seed)


@pytest.mark.parametrize("text", _TEXTS)
def test_texts(text: str) -> None:
    """Among them, from a hostile test: counted repetitions that loop within an iteration."""
    compiled = _COMPILER.compile_grammar(Grammar.from_ebnf(text))
    for seed in range(4):
        _walk(compiled, seed)


@pytest.mark.parametrize("members", range(len(_MEMBERS)))
@pytest.mark.parametrize("any_order", [True, False])
@pytest.mark.parametrize("additional", [True, False, {"type": "integer"}], ids=str)
def test_keys(members: int, any_order: bool, additional: object) -> None:
    """Before, inside and behind keys that begin with one another, have escapes, and are excluded."""
    schema = {"type": "object", "properties": _MEMBERS[members], "additionalProperties": additional}
    compiled = _COMPILER.compile_json_schema(schema, strict_mode=False, any_order=any_order)
    reached = 0
    for beginning in _BEGINNINGS:
        matcher = GrammarMatcher(compiled)
        if matcher.accept_string(beginning.encode("utf-8" if "\u00c3" not in beginning else "latin-1")):
            reached += 1
            _check(matcher, beginning)
    assert reached >= 3
