"""Members: lists in which each member may come once, must come or may come again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import grammar_core
from grammar_core import Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.ir.nodes import Literal, Member, Members, Rule, RuleRef

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


def test_states_of_many_orders_are_given_up(
    compiler: GrammarCompiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    members = ", ".join(f'(m{i}, "optional")' for i in range(30))
    rules = "\n".join(f'm{i} ::= "k{i};"' for i in range(30))
    compiled = compiler.compile_grammar(f"root ::= Members({members})\n{rules}\n")
    monkeypatch.setattr("grammar_core.compiled_grammar.AUTOMATON_BYTES_LIMIT", 200_000)
    before = GrammarMatcher(compiled)
    assert before.accept_string("k1;k3;")
    sizes = []
    for shift in range(30):
        text = "".join(f"k{(7 * i + shift) % 30};" for i in range(30))
        assert accepts(compiled, text)
        assert not accepts(compiled, text + "k0;")
        sizes.append(compiled.native.automaton_bytes)
    assert max(sizes) < 400_000
    assert before.accept_string("k2;")
    assert not before.accept_string("k3;")


# --- keys that differ

_KEYS = """pair ::= key ":" [0-9]
key ::= "\\"" ([a-z] | "\\\\u0061")* "\\""
item ::= key
sep ::= ","
other ::= "x" [0-9]
"""


def matches(compiler: GrammarCompiler, grammar: str | Grammar, text: str) -> bool:
    matcher = GrammarMatcher(compiler.compile_grammar(grammar))
    return bool(matcher.accept_string(text) and matcher.is_completed())


@pytest.mark.parametrize(
    ("root", "accepted", "refused"),
    [
        (
            'Members((pair, "repeatable distinct"), separator=sep)',
            ["", '"a":1', '"a":1,"b":1', '"":1,"a":1', '"aa":1,"a":1,"aaa":1'],
            ['"a":1,"a":2', '"a":1,"\\u0061":1', '"":1,"":1', '"a":1,"b":1,"a":1'],
        ),
        (
            'Members((pair, "required repeatable distinct"), (other, "repeatable"), separator=sep, max=3)',
            ['"a":1', 'x1,"a":1,x1', '"a":1,"b":1,"c":1'],
            ["x1", '"a":1,"a":1', '"a":1,x1,"a":1', '"a":1,"b":1,"c":1,"d":1'],
        ),
        (
            'Members((item, "repeatable distinct"))',
            ['"a"', '"a""b"', '"a""aa"'],
            ['"a""a"', '"a""b""a"'],
        ),
        (
            'Members((pair, "repeatable distinct"), (item, "repeatable distinct"), separator=sep)',
            ['"a","b":1'],
            ['"a","a":1', '"a":1,"a"'],
        ),
    ],
)
def test_keys_that_differ(
    compiler: GrammarCompiler, root: str, accepted: list[str], refused: list[str]
) -> None:
    grammar = Grammar.from_ebnf(f"root ::= {root}\n{_KEYS}")
    copies = [grammar, Grammar.from_ebnf(str(grammar)), Grammar.deserialize_json(grammar.serialize_json())]
    for copy in copies:
        assert [text for text in accepted if not matches(compiler, copy, text)] == []
        assert [text for text in refused if matches(compiler, copy, text)] == []


def test_lists_in_lists_keep_their_own_keys(compiler: GrammarCompiler) -> None:
    grammar = (
        'root ::= "{" Members((m, "repeatable distinct"), separator=sep) "}"\n'
        'm ::= key ":" (root | [0-9])\n' + _KEYS
    )
    assert matches(compiler, grammar, '{"a":{"a":{"a":1}},"b":{"a":1}}')
    assert not matches(compiler, grammar, '{"a":{"a":1,"a":1}}')
    assert not matches(compiler, grammar, '{"a":{"b":1},"a":1}')


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ('root ::= Members((pair, "distinct"), separator=sep)', 'not "distinct"'),
        ('root ::= Members((m, "repeatable distinct"))\nm[lazy] ::= key ":"', "must neither have options"),
        ('root ::= Members((m, "repeatable distinct"))\nm ::= m ":" | key', "nor begin with itself"),
    ],
)
def test_distinct_members_that_cannot_be(compiler: GrammarCompiler, grammar: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message):
        compiler.compile_grammar(f"{grammar}\n{_KEYS}")


def test_a_member_that_does_not_repeat_is_not_distinct() -> None:
    list_of_one = Members((Member(RuleRef("a"), False, False, True),), None, False, 0, None, ())
    with pytest.raises(GrammarError, match="distinct anyway"):
        Grammar.from_rules([Rule("root", list_of_one), Rule("a", Literal(b'"a"'))])
