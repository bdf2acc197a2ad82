"""Random patterns: the oracle and the engine answer like the standard library, where its dialect agrees.

It does not in `\\B` on the empty text, in what it takes for white space and line breaks, and in `$`, which it
also finds before a last line break (so it is asked for `\\Z`).
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator

import pytest
import regex

import grammar_core
from grammar_core.frontends.regex import parse_regex, search_pattern
from grammar_core.grammar import Grammar
from grammar_core.ir.nodes import Automaton, Rule
from tests.grammar_core.test_cases_engine import accepts_text, vocabulary
from tests.oracle import Oracle

_PATTERNS = 250
_CHARACTERS = "abcA \né"
_LEAVES = ["a", "b", "c", "ab", "é", "\\.", " ", "\n", ".", "[ab]", "[^a]", r"\w", r"\D", r"[\s-]", "\\n", ""]
_BEHIND = ["a", "b", "[ab]", "ab", r"\w", r"\b.", "(?<!a).", "a(?=b)", "^", "^a", "(?<=a)b", ".(?!b.)"]
_QUANTIFIERS = ["*", "+", "?", "{2}", "{1,2}", "{0,2}", "{1,}", "*?", "??"]
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def random_pattern(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return rng.choice(_LEAVES)
    inner = [random_pattern(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    if kind < 0.5:
        return "".join(inner)
    if kind < 0.65:
        return f"({'|'.join(inner)})"
    if kind < 0.8:
        return f"(?:{inner[0]}){rng.choice(_QUANTIFIERS)}"
    return _random_assertion(rng, inner[0])


def _random_assertion(rng: random.Random, body: str) -> str:
    kind = rng.random()
    if kind < 0.35:
        return rng.choice([r"\b", "^", "$"])
    if kind < 0.7:
        return f"(?{rng.choice('=!')}{body})"
    return f"(?<{rng.choice('=!')}{rng.choice(_BEHIND)})"


def random_texts(rng: random.Random) -> Iterator[str]:
    yield ""
    for _ in range(30):
        yield "".join(rng.choice(_CHARACTERS) for _ in range(rng.randint(1, 6)))


def compiled_by_re(pattern: str, flags: str) -> re.Pattern[str] | None:
    """The standard library's version of the pattern; None where it has none."""
    if "m" not in flags:
        pattern = pattern.replace("$", r"\Z")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern, sum((_FLAGS[flag] for flag in flags), re.ASCII))
        except re.error:
            return None


@pytest.mark.parametrize("flags", ["", "s", "m", "i", "ims"])
def test_random_patterns(flags: str) -> None:
    rng = random.Random(f"patterns {flags}")
    tested = automata = 0
    while tested < _PATTERNS:
        pattern = random_pattern(rng, 4)
        expected = compiled_by_re(pattern, flags)
        if expected is None:
            continue
        texts = list(random_texts(rng))
        for search in (False, True):
            matches = expected.search if search else expected.fullmatch
            accepted = [text for text in texts if matches(text)]
            expr = (search_pattern if search else parse_regex)(pattern, flags=flags)
            grammar = Grammar.from_rules([Rule("root", expr)])
            assert accepted_by_oracle(grammar, texts) == accepted, (pattern, search)
            assert accepted_by_engine(grammar, texts) == accepted, (pattern, search)
            automata += isinstance(expr, Automaton)
        tested += 1
    assert automata > tested / 5


def random_nesting(rng: random.Random, depth: int) -> str:
    """A pattern with assertions of any length within one another."""
    kind = rng.random()
    if depth == 0 or kind < 0.25:
        return rng.choice(["a", "b", "c", "ab", " ", "\n", ".", "[ab]", "[^a]", r"\w", ""])
    inner = [random_nesting(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    if kind < 0.45:
        return "".join(inner)
    if kind < 0.57:
        return f"(?:{'|'.join(inner)})"
    if kind < 0.7:
        return f"(?:{inner[0]}){rng.choice(_QUANTIFIERS)}"
    if kind < 0.78:
        return rng.choice([r"\b", "^", r"$"])
    return f"(?{rng.choice(['=', '!', '<=', '<!', '<=', '<!'])}{inner[0]})"


def test_random_assertions_within_assertions() -> None:
    """Against the package `regex`, which can look behind at any length."""
    rng = random.Random("nesting")
    automata = 0
    for _ in range(500):
        pattern = random_nesting(rng, 5)
        texts = list(random_texts(rng))
        expected = regex.compile(pattern.replace("$", r"\Z"), regex.ASCII)
        for search in (False, True):
            matches = expected.search if search else expected.fullmatch
            expr = (search_pattern if search else parse_regex)(pattern, flags="")
            grammar = Grammar.from_rules([Rule("root", expr)])
            assert accepted_by_engine(grammar, texts) == [text for text in texts if matches(text)], pattern
            automata += isinstance(expr, Automaton)
    assert automata > 100


def accepted_by_oracle(grammar: Grammar, texts: list[str]) -> list[str]:
    oracle = Oracle(grammar.rules, grammar.root)
    return [text for text in texts if oracle.accepts(text.encode())]


_COMPILER = grammar_core.GrammarCompiler(vocabulary([]), cache_enabled=False)


def accepted_by_engine(grammar: Grammar, texts: list[str]) -> list[str]:
    try:
        compiled = _COMPILER.compile_grammar(grammar)
    except grammar_core.GrammarError:  # a root that matches nothing is refused
        return []
    return [text for text in texts if accepts_text(compiled, text.encode())]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[^ ]{2,5}",
        r"(?!(ab|ba)+$)[abc]*",
        r"(\b[abc]+\b ?)+",
        r"((?<=a)b|(?<!a)c|a)*",
        r"(?:(?=[ab]{2})a|(?![ab]{2})[\s\S]|b(?=c))*",
        r"(?:a(?=.*b)|b(?=.*a)|(?<=a)c)*",
    ],
)
def test_every_short_text(pattern: str) -> None:
    expected = compiled_by_re(pattern, "s")
    assert expected is not None
    texts = [""]
    for text in texts:
        if len(text) < 5:
            texts += [text + character for character in "abcA "]
    grammar = Grammar.from_regex(pattern)
    assert accepted_by_engine(grammar, texts) == [text for text in texts if expected.fullmatch(text)]
