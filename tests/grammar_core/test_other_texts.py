"""OtherTexts: everything but some texts."""

from __future__ import annotations

import random
from itertools import product

import pytest

from grammar_core import Grammar, GrammarError, GrammarMatcher
from grammar_core.ir.nodes import CharClass, Choice, Literal, OtherTexts, Repeat, Rule, RuleRef, Sequence
from grammar_core.passes.expand_macros import expand_macros
from tests.grammar_core.matchers import compiler_for
from tests.grammar_core.random_grammars import Case
from tests.grammar_core.test_engine_equals_oracle import compare_case
from tests.oracle import Oracle

_ALPHABET = "ab中é"
_LETTERS = CharClass(((ord("a"), ord("b")), (ord("é"), ord("é")), (ord("中"), ord("中"))))


def _grammar(body: object, *more: Rule) -> Grammar:
    return Grammar.from_rules([Rule("root", body), *more])  # type: ignore[arg-type]


def _accepts(grammar: Grammar, text: str) -> bool:
    matcher = GrammarMatcher(compiler_for("a").compile_grammar(grammar))
    return bool(matcher.accept_string(text) and matcher.is_completed())


def _texts(longest: int) -> list[str]:
    return ["".join(letters) for n in range(longest + 1) for letters in product(_ALPHABET, repeat=n)]


@pytest.mark.parametrize("seed", range(8))
def test_all_texts_but_those(seed: int) -> None:
    rng = random.Random(seed)
    texts = tuple("".join(rng.choices(_ALPHABET, k=rng.randint(0, 3))) for _ in range(rng.randint(0, 6)))
    others = OtherTexts(_LETTERS, texts)
    grammar = _grammar(others)
    for text in _texts(3):
        assert _accepts(grammar, text) == (text not in texts), text
    assert not _accepts(grammar, "c")


def test_engine_oracle_and_expansion_agree() -> None:
    others = OtherTexts(_LETTERS, ("ab", "a中", "bé", "", "aab"))
    grammar = _grammar(Sequence((Literal(b"<"), others, Literal(b">"))))
    oracle = Oracle(grammar.rules, grammar.root)
    expanded = Grammar(expand_macros(grammar.rules), grammar.root)
    printed = Grammar.from_ebnf(str(grammar))
    for text in _texts(3):
        quoted = f"<{text}>"
        expected = oracle.accepts(quoted.encode())
        assert expected == (text not in others.texts)
        assert (
            _accepts(grammar, quoted) == _accepts(expanded, quoted) == _accepts(printed, quoted) == expected
        )


def test_items_of_several_characters() -> None:
    others = OtherTexts(Choice((_LETTERS, Literal(b"\\n"), Literal("\\中".encode()))), ("a\\n", "\\中"))
    grammar = _grammar(others)
    for text, expected in (
        ("a\\n", False),
        ("\\中", False),
        ("\\n", True),
        ("a\\na", True),
        ("\\中\\n", True),
        ("a\\", False),
        ("\\", False),
        ("", True),
    ):
        assert _accepts(grammar, text) is expected, text


def test_serialized_and_read_again() -> None:
    grammar = _grammar(OtherTexts(_LETTERS, ("a", "é")))
    assert Grammar.deserialize_json(grammar.serialize_json()).rules == grammar.rules


def test_an_item_holds_no_rules() -> None:
    with pytest.raises(GrammarError, match="OtherTexts"):
        _grammar(OtherTexts(RuleRef("x"), ("a",)), Rule("x", Literal(b"a")))


def test_sampled_texts_are_sentences() -> None:
    others = OtherTexts(_LETTERS, ("a", "b", ""))
    for text in _grammar(others).sample(20):
        assert set(text) <= set(_ALPHABET)
        assert text not in others.texts


@pytest.mark.parametrize("seed", range(6))
def test_masks_of_names_in_quotes(seed: int) -> None:
    """Names are free text but for some, and end in a quote; the rest of one has a frame of its own.

    The vocabulary is large enough for masks to be put together from those of the frame.
    """
    rng = random.Random(seed)

    def text(longest: int) -> str:
        return "".join(
            rng.choices("ab中é" if rng.random() < 0.7 else 'ab中é\\":, ', k=rng.randint(1, longest))
        )

    vocabulary = sorted(
        {text(5).encode() for _ in range(700)} | {b"a", b'"', b":", b",", b"\xe4", b"\xb8", b"\xad"}
    )
    escape = Sequence((Literal(b"\\"), CharClass(((ord('"'), ord('"')), (ord("a"), ord("a"))))))
    letter = Choice((_LETTERS, escape))

    def member(excluded: tuple[str, ...]) -> Sequence:
        return Sequence((Literal(b'"'), OtherTexts(letter, excluded), Literal(b'"'), Literal(b":")))

    names = tuple("".join(rng.choices(_ALPHABET, k=rng.randint(1, 4))) for _ in range(4))
    rules = (
        Rule(
            "root",
            Sequence((RuleRef("first"), Repeat(Sequence((Literal(b","), RuleRef("second"))), 0, None))),
        ),
        Rule("first", Choice((member(names), Sequence((Literal(f'"{names[0]}":'.encode()), _LETTERS))))),
        Rule("second", member((*names[2:], "\\a"))),
    )
    prefixes = [
        [vocabulary.index(bytes([byte])) for byte in start.encode() if bytes([byte]) in vocabulary]
        for start in ("", '"', '"a', '"a中', f'"{names[0]}', '"é":', '"é":,', '"é":,"a')
    ]
    case = Case(1, Grammar.from_rules(rules), [*vocabulary, b""], [len(vocabulary)], prefixes)
    compare_case(case)
