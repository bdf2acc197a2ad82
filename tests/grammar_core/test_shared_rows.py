"""Rows that grammars of one compiler share are those that each would find alone."""

from __future__ import annotations

import random

from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from tests.grammar_core.matchers import masks_along
from tests.grammar_core.random_grammars import random_grammar

_TOKENS = [
    *(bytes([byte]) for byte in range(256)),
    *(
        text.encode()
        for text in ("ab", 'a"', '",', '","', '":', "a,b", "é", "中文", 'é"', "\\n", '\\"', "b]", ']"')
    ),
    b"\xe4\xb8",
    b"</s>",
]
_TEXTS = (
    '[^"]*',
    '[^"\\\\]*',
    '([^"\\\\] | "\\\\" ["\\\\n])*',
    "[^,]{0,5}",
    '[^"]{2,300}',
    "[a-zé-中]+",
    "[^]*",
)
_FRAMES = (
    '"\\"" text "\\""',
    '"[" text "]"',
    'text ("," text)*',
    '"\\"" text "\\":" text',
    'text text "b"',
    "text",
)


def masks_of(compiler: GrammarCompiler, grammar: Grammar, seed: int, steps: int = 12) -> list[bytes]:
    return masks_along(GrammarMatcher(compiler.compile_grammar(grammar)), len(_TOKENS), seed, steps)


def info() -> TokenizerInfo:
    return TokenizerInfo(_TOKENS, stop_token_ids=[len(_TOKENS) - 1])


def test_texts_in_many_frames() -> None:
    shared = GrammarCompiler(info())
    for seed in range(3):
        for text in _TEXTS:
            for frame in _FRAMES:
                grammar = Grammar.from_ebnf(f"root ::= {frame}\ntext ::= {text}\n")
                alone = GrammarCompiler(info())
                assert masks_of(shared, grammar, seed) == masks_of(alone, grammar, seed), (text, frame)


def test_random_grammars() -> None:
    shared = GrammarCompiler(info())
    for seed in range(150):
        grammar = random_grammar(random.Random(seed), macros=seed % 2 == 0)
        if any(warning.rule == grammar.root for warning in grammar.warnings()):
            continue
        alone = GrammarCompiler(info())
        assert masks_of(shared, grammar, seed) == masks_of(alone, grammar, seed), str(grammar)


def test_values_of_members() -> None:
    """Values that members and grammars share, followed by one thing here and by another there."""
    values: tuple[dict[str, object], ...] = (
        {"type": "string"},
        {"type": "integer"},
        {"enum": ["a", "ab", 1, None]},
        {"type": "string", "pattern": "[a-f0-9]{24}"},
        {"type": "string", "pattern": "^a+b?$"},
        {"type": "array", "items": {"type": "string"}},
        {"type": ["string", "null"]},
    )
    shared = GrammarCompiler(info())
    for seed in range(40):
        rng = random.Random(seed)
        names = rng.sample(["a", "ab", "b", "é", "中", "", "n"], rng.randint(1, 5))
        schema = {
            "type": "object",
            "properties": {name: rng.choice(values) for name in names},
            "required": [name for name in names if rng.random() < 0.5],
            "additionalProperties": rng.choice([True, False, {"type": "string"}]),
        }
        if rng.random() < 0.5:
            schema = {"type": "array", "items": schema, "maxItems": rng.choice([1, 2, 40])}
        grammar = Grammar.from_json_schema(schema, strict_mode=False, any_order=rng.random() < 0.5)
        alone = GrammarCompiler(info())
        for text in range(4):
            assert masks_of(shared, grammar, text, 40) == masks_of(alone, grammar, text, 40), (
                schema,
                text,
            )


def test_what_is_found_ahead_is_shared() -> None:
    ahead = GrammarCompiler(info())
    before = ahead._frame_rows.memory_bytes
    ahead.warm_up()
    warm = ahead._frame_rows.memory_bytes
    assert warm > before
    grammar = Grammar.from_json_schema(
        {"type": "object", "properties": {"c": {"type": "string", "maxLength": 7}}}
    )
    assert masks_of(ahead, grammar, 1) == masks_of(GrammarCompiler(info()), grammar, 1)
