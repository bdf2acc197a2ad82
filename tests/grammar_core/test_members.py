"""Members: lists in which each member may come once, must come or may come again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import grammar_core
from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core.errors import GrammarError, GrammarLimitError

_RULES = 'a ::= "a"\nb ::= "b"\nc ::= "c"\nx ::= "x" [0-9]+\nsep ::= ","\n'
_VOCABULARY = [*(bytes([byte]) for byte in range(256)), b"a,", b",b", b"x1,a", b"</s>"]


@pytest.fixture(scope="module")
def compiler() -> GrammarCompiler:
    return GrammarCompiler(TokenizerInfo(_VOCABULARY, stop_token_ids=[len(_VOCABULARY) - 1]))


def sentences(compiler: GrammarCompiler, call: str, most: int = 4) -> set[str]:
    """The lists of a, b, c and x1 that the call accepts, as strings of their first letters."""
    compiled = compiler.compile_grammar(f"root ::= {call}\n{_RULES}")
    found = set()
    for length in range(most + 1):
        for members in itertools.product(("a", "b", "c", "x1"), repeat=length):
            matcher = GrammarMatcher(compiled)
            if matcher.accept_string(",".join(members)) and matcher.is_completed():
                found.add("".join(member[0] for member in members))
    return found


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('Members((a, "optional"), (b, "required"), separator=sep)', {"b", "ab", "ba"}),
        ('Members((a, "optional"), (b, "required"), separator=sep, ordered=true)', {"b", "ab"}),
        ('Members((a, "optional"), (b, "optional"), separator=sep, min=1, max=1)', {"a", "b"}),
        ('Members((a, "required"), (x, "repeatable"), separator=sep, max=2)', {"a", "ax", "xa"}),
        ('Members((a, "required"), (x, "required repeatable"), separator=sep, max=2)', {"ax", "xa"}),
        (
            'Members((a, "optional"), (b, "optional"), separator=sep, implies=((0, 1),))',
            {"", "b", "ab", "ba"},
        ),
        (
            'Members((a, "optional"), (b, "optional"), separator=sep, ordered=true, implies=((1, 0),))',
            {"", "a", "ab"},
        ),
        (
            'Members((a, "optional"), (b, "optional"), (c, "optional"), separator=sep, min=2, ordered=true)',
            {"ab", "ac", "bc", "abc"},
        ),
    ],
)
def test_language(compiler: GrammarCompiler, call: str, expected: set[str]) -> None:
    assert sentences(compiler, call) == expected


def test_repeatable_members_stand_anywhere_between_ordered_ones(compiler: GrammarCompiler) -> None:
    call = 'Members((a, "required"), (b, "required"), (x, "repeatable"), separator=sep, ordered=true)'
    assert sentences(compiler, call) == {
        *("ab", "xab", "axb", "abx"),
        *("xxab", "xaxb", "xabx", "axxb", "axbx", "abxx"),
    }


def test_without_separator(compiler: GrammarCompiler) -> None:
    compiled = compiler.compile_grammar(f'root ::= Members((a, "optional"), (b, "required"))\n{_RULES}')
    assert accepts(compiled, "ab")
    assert accepts(compiled, "ba")
    assert accepts(compiled, "b")
    assert not accepts(compiled, "a")
    assert not accepts(compiled, "bb")


def accepts(compiled: grammar_core.CompiledGrammar, text: str) -> bool:
    matcher = GrammarMatcher(compiled)
    return matcher.accept_string(text) and matcher.is_completed()


def test_a_list_that_could_not_be_completed_is_never_begun(compiler: GrammarCompiler) -> None:
    """With three of four, skipping two would leave too few."""
    rules = "\n".join(f'm{i} ::= "{letter}"' for i, letter in enumerate("abcd"))
    members = ", ".join(f'(m{i}, "optional")' for i in range(4))
    compiled = compiler.compile_grammar(f"root ::= Members({members}, ordered=true, min=3)\n{rules}\n")
    mask = grammar_core.allocate_token_bitmask(1, len(_VOCABULARY))
    GrammarMatcher(compiled).fill_next_token_bitmask(mask)
    bits = np.unpackbits(np.asarray(mask).view(np.uint8), bitorder="little")[: len(_VOCABULARY)]
    assert {_VOCABULARY[i] for i in np.flatnonzero(bits)} == {b"a", b"b"}


def test_lists_that_cannot_be(compiler: GrammarCompiler) -> None:
    with pytest.raises(GrammarError, match="cannot match any finite text"):
        compiler.compile_grammar(
            f'root ::= "(" Members((a, "required"), (b, "required"), max=1) ")"\n{_RULES}'
        )


def test_left_recursive_member(compiler: GrammarCompiler) -> None:
    compiled = compiler.compile_grammar(
        'root ::= list\nlist ::= Members((item, "repeatable"), (b, "optional"), separator=sep)\n'
        f'item ::= list "!" | "i"\n{_RULES}'
    )
    for text in ("", "i", "i!", "i,i!", "b,i", "i!!,b", "i,b!,b!,i"):
        assert accepts(compiled, text), text
    assert not accepts(compiled, "!i")


def test_three_hundred_optional_members_in_any_order(compiler: GrammarCompiler) -> None:
    members = ", ".join(f'(m{i}, "optional")' for i in range(300))
    rules = "\n".join(f'm{i} ::= "k{i};"' for i in range(300))
    compiled = compiler.compile_grammar(f"root ::= Members({members}, min=150)\n{rules}\n")
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string("".join(f"k{299 - i};" for i in range(149)))
    assert not matcher.is_completed()
    assert not matcher.accept_string("k299;")
    assert matcher.accept_string("k0;")
    assert matcher.is_completed()


def test_printing_and_serialization_keep_everything() -> None:
    text = (
        'root ::= Members((a, "optional"), (b, "required"), (c, "repeatable"), (x, "required repeatable"), '
        f"separator=sep, ordered=true, min=2, max=9, implies=((0, 2), (2, 1)))\n{_RULES}"
    )
    grammar = Grammar.from_ebnf(text)
    assert Grammar.from_ebnf(str(grammar)).rules == grammar.rules
    assert Grammar.deserialize_json(grammar.serialize_json()).rules == grammar.rules


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("Members()", "at least one member"),
        ("Members(a)", "pair"),
        ('Members((a, "often"))', 'not "often"'),
        ('Members((a, "optional"), min=3, max=2)', "below its min"),
        ('Members((a, "optional"), implies=((0, 1),))', "from 0 to 0"),
        ('Members((a, "optional"), size=1)', "no named argument size"),
    ],
)
def test_refusals(call: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        Grammar.from_ebnf(f"root ::= {call}\n{_RULES}")


def test_members_match_something(compiler: GrammarCompiler) -> None:
    with pytest.raises(GrammarError, match="must not match the empty text"):
        compiler.compile_grammar('root ::= Members((a, "optional"))\na ::= "a"?\n')


def test_samples_and_their_limit() -> None:
    call = 'Members((a, "optional"), (b, "required"), (x, "repeatable"), separator=sep)'
    assert all("b" in text for text in Grammar.from_ebnf(f"root ::= {call}\n{_RULES}").sample(20, seed=1))
    members = ", ".join(f'(m{i}, "optional")' for i in range(40))
    rules = "\n".join(f'm{i} ::= "k{i};"' for i in range(40))
    with pytest.raises(GrammarLimitError, match="edges"):
        Grammar.from_ebnf(f"root ::= Members({members})\n{rules}\n").sample(1, seed=1)
