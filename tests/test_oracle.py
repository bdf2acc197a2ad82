"""The oracle against languages that are written out sentence by sentence."""

from __future__ import annotations

import itertools
import random

import pytest

from grammar_core.grammar import Grammar
from grammar_core.ir import nodes
from tests.grammar_core.random_grammars import random_grammar
from tests.oracle import Oracle, character_length, has_character

Language = frozenset[bytes]


def sentences(grammar: Grammar, longest: int) -> Language:
    """Every sentence of at most `longest` bytes, by adding what the rules give until nothing is new."""
    languages: dict[str, Language] = {rule.name: frozenset() for rule in grammar.rules}
    while True:
        grown = {rule.name: matches(rule.body, languages, longest) for rule in grammar.rules}
        if grown == languages:
            return grown[grammar.root]
        languages = grown


def matches(expr: nodes.Expr, languages: dict[str, Language], longest: int) -> Language:
    if isinstance(expr, nodes.Literal):
        return frozenset({expr.value} if len(expr.value) <= longest else ())
    if isinstance(expr, nodes.CharClass):
        points = (point for low, high in expr.ranges for point in range(low, high + 1))
        return frozenset(text for point in points if len(text := chr(point).encode()) <= longest)
    if isinstance(expr, nodes.RuleRef):
        return languages[expr.name]
    if isinstance(expr, nodes.Choice):
        return frozenset().union(*(matches(option, languages, longest) for option in expr.options))
    if isinstance(expr, nodes.Sequence):
        return join([matches(item, languages, longest) for item in expr.items], longest)
    assert isinstance(expr, nodes.Repeat)
    return repeat(matches(expr.body, languages, longest), expr.min, expr.max, longest)


def join(parts: list[Language], longest: int) -> Language:
    texts: Language = frozenset({b""})
    for part in parts:
        texts = frozenset(a + b for a in texts for b in part if len(a + b) <= longest)
    return texts


def repeat(body: Language, low: int, high: int | None, longest: int) -> Language:
    texts = join([body] * low, longest)
    for _ in range(longest if high is None else high - low):
        texts |= join([texts, body], longest)
    return texts


def test_equals_written_out_languages_of_random_grammars() -> None:
    longest, checked = 7, 5
    for seed in range(400):
        grammar = random_grammar(random.Random(seed), alphabet="ab", counted=False)
        oracle = Oracle(grammar.rules, grammar.root)
        language = sentences(grammar, longest)
        for length in range(checked + 1):
            for letters in itertools.product(b"ab", repeat=length):
                text = bytes(letters)
                assert oracle.accepts(text) == (text in language), (seed, str(grammar), text)
                if any(sentence.startswith(text) for sentence in language):
                    assert oracle.is_viable(text), (seed, str(grammar), text)
        assert oracle.is_empty or oracle.is_viable(b"")


def test_viable_text_can_always_be_completed() -> None:
    completed = 0
    for seed in range(300):
        grammar = random_grammar(random.Random(seed), alphabet="ab", counted=False)
        oracle = Oracle(grammar.rules, grammar.root)
        for text in (bytes(letters) for n in range(5) for letters in itertools.product(b"ab", repeat=n)):
            if oracle.is_viable(text):
                assert has_sentence_from(oracle, text), (seed, str(grammar), text)
                completed += 1
    assert completed > 1000


def has_sentence_from(oracle: Oracle, text: bytes) -> bool:
    """Whether a breadth-first search, a hundred texts wide, finds a sentence that begins with `text`."""
    layer = [text]
    for _ in range(40):
        if any(oracle.accepts(candidate) for candidate in layer):
            return True
        layer = [c + bytes([b]) for c in layer[:100] for b in b"ab" if oracle.is_viable(c + bytes([b]))]
    return False


@pytest.mark.parametrize(
    ("text", "accepted", "viable", "dead"),
    [
        ('root ::= root "a" | "a"', ["a", "aaaa"], ["", "aa"], ["b", "ab"]),
        ('root ::= n root "x" | "y"\nn ::= "" | n n', ["y", "yxx"], [""], ["x"]),
        ('root ::= a "1" | "x"\na ::= root "2" | b\nb ::= a', ["x", "x21"], ["x2"], ["x1"]),
        ('root ::= root | "a"', ["a"], [""], ["aa"]),
        ('root ::= "a" dead | "ab"\ndead ::= "c" dead', ["ab"], ["a"], ["ac"]),
        ('root ::= "a"{3,70} "b"', ["aaab", "a" * 70 + "b"], ["a" * 70], ["aab", "a" * 71]),
        ('root ::= ("a"{0,2}){2} ""{5}', ["", "aaaa"], ["a"], ["aaaaa"]),
    ],
)
def test_known_languages(text: str, accepted: list[str], viable: list[str], dead: list[str]) -> None:
    grammar = Grammar.from_ebnf(text)
    oracle = Oracle(grammar.rules, grammar.root)
    assert [a for a in accepted if not oracle.accepts(a.encode())] == []
    assert [v for v in viable if not oracle.is_viable(v.encode())] == []
    assert [d for d in dead if oracle.is_viable(d.encode())] == []


def test_empty_language_allows_nothing() -> None:
    grammar = Grammar.from_ebnf("root ::= root")
    oracle = Oracle(grammar.rules, grammar.root)
    assert oracle.is_empty
    assert not oracle.is_viable(b"")
    assert oracle.allowed_token_ids(oracle.start, [b"a", b"", b"</s>"], [2]) == set()


def test_stop_tokens_are_allowed_exactly_when_complete() -> None:
    grammar = Grammar.from_ebnf('root ::= "a" "</s>"?')
    oracle = Oracle(grammar.rules, grammar.root)
    vocabulary = [b"a", b"", b"</s>", b"</"]
    after = oracle.advance(oracle.start, b"a")
    assert after is not None
    assert oracle.allowed_token_ids(oracle.start, vocabulary, [2]) == {0}
    assert oracle.allowed_token_ids(after, vocabulary, [2]) == {2, 3}


@pytest.mark.parametrize("ranges", [((0x7F, 0x80),), ((0x7FF, 0x800),), ((0xD7FF, 0xD7FF), (0xE000, 0xE001))])
def test_partial_characters_are_viable_exactly_inside_the_class(ranges: tuple[tuple[int, int], ...]) -> None:
    encoded = [chr(point).encode() for low, high in ranges for point in range(low, high + 1)]
    beginnings = {text[:end] for text in encoded for end in range(1, len(text) + 1)}
    candidates = [bytes([a]) for a in range(256)]
    candidates += [bytes([a, b]) for a in (0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEE) for b in range(256)]
    candidates += [text[:-1] + bytes([b]) for text in encoded for b in range(256)]
    for candidate in candidates:
        assert has_character(ranges, candidate) == (candidate in beginnings), candidate


def test_any_character_is_any_valid_utf8() -> None:
    everything = ((0, 0xD7FF), (0xE000, 0x10FFFF))
    for lead, second in itertools.product(range(0xC0, 0x100), range(256)):
        padding = b"\x80" * (character_length(lead) - 2)
        try:
            (bytes([lead, second]) + padding).decode()
            valid = True
        except UnicodeDecodeError:
            valid = False
        if character_length(lead) >= 2:
            assert has_character(everything, bytes([lead, second])) == valid, (lead, second)
