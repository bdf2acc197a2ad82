"""Markers at the end of rules: what captures show of them. "Generated Suffix and Stop Metadata"."""

from __future__ import annotations

import pytest

import grammar_core
from grammar_core.errors import GrammarError
from grammar_core.grammar import Grammar
from tests.grammar_core.matchers import matcher_for

Captures = list[tuple[str, bytes]]


def marked(body: str, marker: str, options: str, start: str = 'field "z"') -> str:
    """A captured root around a lazy rule `field` that ends with a marker of variable length."""
    ids = "capture_hidden_body_rule_id=2, capture_hidden_marker_rule_id=3"
    return (
        f'root[capture="outer"] ::= {start}\nfield[lazy, {ids}, {options}] ::= body marker\n'
        f"body ::= {body}\nmarker ::= {marker}\n"
    )


def captures(grammar: str, text: str, *, deduplicate: bool = True) -> Captures:
    matcher = matcher_for(grammar)
    assert matcher.accept_string(text)
    return matcher.get_captures(deduplicate=deduplicate)


SUFFIX = 'capture="inner", capture_hidden_suffix_bytes=1'
STOP = 'capture="inner", capture_hidden_stop_bytes=1'
NAMED = ', stop_capture="marker"'


# markers of a fixed length

FIXED = 'root[capture="outer"] ::= field "z"\nfield[lazy, {}] ::= [a-z]* "!"\n'


@pytest.mark.parametrize("marker", ["", "by rule"])
def test_a_suffix_is_left_out_of_its_rules_own_capture(marker: str) -> None:
    grammar = marked("[a-z]*", '"!"', SUFFIX) if marker else FIXED.format(SUFFIX)
    assert captures(grammar, "xy!z") == [("inner", b"xy"), ("outer", b"xy!z")]


@pytest.mark.parametrize("marker", ["", "by rule"])
def test_a_stop_is_left_out_of_every_capture_around(marker: str) -> None:
    grammar = marked("[a-z]*", '"!"', STOP) if marker else FIXED.format(STOP)
    assert captures(grammar, "xy!z") == [("inner", b"xy"), ("outer", b"xyz")]


def test_a_stop_needs_no_capture_of_its_own() -> None:
    grammar = FIXED.format("capture_hidden_stop_bytes=1")
    assert captures(grammar, "xy!z") == [("outer", b"xyz")]


def test_stop_capture_shows_the_marker_alone() -> None:
    grammar = FIXED.format('capture_hidden_stop_bytes=1, stop_capture="marker"')
    assert captures(grammar, "xy!z") == [("marker", b"!"), ("outer", b"xyz")]
    grammar = FIXED.format('capture_hidden_suffix_bytes=1, stop_capture="marker"')
    assert captures(grammar, "xy!z") == [("marker", b"!"), ("outer", b"xy!z")]


def test_all_markers_inside_of_a_capture_are_left_out() -> None:
    grammar = marked("[a-z]*", '"!"+ ":"', STOP + NAMED, start='(field "-")+')
    assert captures(grammar, "a!:-b!!:-!:-") == [
        ("marker", b"!:"),
        ("inner", b"a"),
        ("marker", b"!!:"),
        ("inner", b"b"),
        ("marker", b"!:"),
        ("inner", b""),
        ("outer", b"a-b--"),
    ]


def test_captures_inside_of_one_another() -> None:
    grammar = (
        'root[capture="a"] ::= "<" b ">"\nb[capture="b"] ::= c "," c\n'
        'c[capture="c", lazy, capture_hidden_stop_bytes=2] ::= [a-z]+ "%;"\n'
    )
    assert captures(grammar, "<x%;,yy%;>") == [("c", b"x"), ("c", b"yy"), ("b", b"x,yy"), ("a", b"<x,yy>")]


def test_a_capture_beside_a_marker_keeps_its_bytes() -> None:
    grammar = (
        'root ::= a b\na[lazy, capture, capture_hidden_stop_bytes=1] ::= "x"+ "!"\nb[capture] ::= "!y"\n'
    )
    assert captures(grammar, "x!!y") == [("a", b"x"), ("b", b"!y")]


def test_a_suffix_and_a_stop_of_one_rule() -> None:
    options = 'capture="inner", capture_hidden_suffix_bytes=2, capture_hidden_stop_bytes=1'
    grammar = f'root[capture="outer"] ::= field "z"\nfield[lazy, {options}] ::= [a-z]* "!?"\n'
    assert captures(grammar, "xy!?z") == [("inner", b"xy"), ("outer", b"xy!z")]


def test_more_bytes_than_the_text_has() -> None:
    grammar = 'root ::= x\nx[capture, capture_hidden_suffix_bytes=5] ::= "ab"\n'
    assert captures(grammar, "ab") == [("x", b"")]


# markers of variable length


def test_a_marker_of_variable_length() -> None:
    grammar = marked("[a-z]*", '"!" "!"+', SUFFIX + NAMED)
    assert captures(grammar, "xy!!z") == [("marker", b"!!"), ("inner", b"xy"), ("outer", b"xy!!z")]
    grammar = marked("[a-z]*", '"</end>" | "<end>"', STOP + NAMED)
    assert captures(grammar, "xy<end>z") == [("marker", b"<end>"), ("inner", b"xy"), ("outer", b"xyz")]
    assert captures(grammar, "xy</end>z") == [("marker", b"</end>"), ("inner", b"xy"), ("outer", b"xyz")]


def test_of_several_beginnings_the_first_counts() -> None:
    grammar = marked("[^]*", '" "* "end"', STOP + NAMED)
    assert captures(grammar, "x  endz") == [("marker", b"  end"), ("inner", b"x"), ("outer", b"xz")]
    grammar = marked("[a-z]*", '"a"? "b"', STOP + NAMED)
    assert captures(grammar, "xabz") == [("marker", b"ab"), ("inner", b"x"), ("outer", b"xz")]


def test_a_marker_that_may_be_empty() -> None:
    grammar = marked("[a-z]+", '"e"*', STOP + NAMED)
    assert captures(grammar, "az") == [("marker", b""), ("inner", b"a"), ("outer", b"az")]
    assert captures(marked("[a-z]*", '"e"*', STOP + NAMED), "z") == [("outer", b"z")]


def test_case_does_not_matter_to_a_marker() -> None:
    grammar = marked("[^]*", 'Regex("end", flags="i")', STOP + NAMED)
    assert captures(grammar, "x ENDz")[0] == ("marker", b"END")


@pytest.mark.parametrize(
    ("body", "text", "shown"),
    [
        ('"ab" | "cde"', "cde;z", b"cde"),
        ('("ab" | "c")+', "abcab;z", b"abcab"),
        ('"ab"{2,5}', "ababab;z", b"ababab"),
        ("[a-c]{2,5}", "abc;z", b"abc"),
        ('word (" " word)*', "ab cd e;z", b"ab cd e"),
        ('Regex("[a-z]{2,5}( [0-9]+)?")', "abc 12;z", b"abc 12"),
        ('("a" "b"?)+ "c"?', "abaac;z", b"abaac"),
    ],
)
def test_bodies_of_every_regular_kind(body: str, text: str, shown: bytes) -> None:
    grammar = marked(body, '";"', STOP) + "word ::= [a-z]+\n"
    assert captures(grammar, text)[0] == ("inner", shown)
    assert captures(grammar, text)[-1] == ("outer", shown + b"z")


def test_the_first_occurrence_of_the_marker_ends_the_text() -> None:
    matcher = matcher_for(marked("[^]*", '"!!" | "?"', STOP))
    assert matcher.accept_string("a!b!!")
    assert not matcher.accept_string("b?")
    assert matcher.accept_string("z")
    assert matcher.get_captures() == [("inner", b"a!b"), ("outer", b"a!bz")]


# budgets: the first boundary counts

BUDGET = ", max_chars=3"


def test_a_marker_that_comes_before_the_budget_is_used_up() -> None:
    grammar = marked("[a-z]*", '"!"+', STOP + NAMED + BUDGET)
    assert captures(grammar, "xy!z") == [("marker", b"!"), ("inner", b"xy"), ("outer", b"xyz")]


def test_a_budget_that_is_used_up_first_ends_the_rule_without_a_marker() -> None:
    grammar = marked("[a-z]*", '"!"+', STOP + NAMED + BUDGET)
    assert captures(grammar, "xyzz") == [("inner", b"xyz"), ("outer", b"xyzz")]
    for text in ("xyz!z", "xyzqz"):
        assert not matcher_for(grammar).accept_string(text)


def test_a_budget_in_the_middle_of_a_marker_waits_for_its_end() -> None:
    grammar = marked("[a-z]*", '"--" "-"?', STOP + NAMED + BUDGET)
    assert captures(grammar, "xy--z") == [("marker", b"--"), ("inner", b"xy"), ("outer", b"xyz")]
    assert not matcher_for(grammar).accept_string("xy-z")


def test_a_body_that_cannot_end_where_the_budget_is_used_up_goes_on() -> None:
    grammar = marked('("ab")*', '"!"+', STOP + NAMED + BUDGET)
    assert captures(grammar, "ababz") == [("inner", b"abab"), ("outer", b"ababz")]
    assert not matcher_for(grammar).accept_string("abz")


def test_no_characters_at_all() -> None:
    grammar = marked("[a-y]*", '"!"+', STOP + NAMED + ", max_chars=0")
    assert captures(grammar, "z") == [("outer", b"z")]
    assert not matcher_for(grammar).accept_string("!")
    grammar = marked("[a-y]+", '"!"+', STOP + NAMED + ", max_chars=0")
    assert captures(grammar, "az") == [("inner", b"a"), ("outer", b"az")]


def test_a_budget_of_tokens() -> None:
    grammar = marked("[a-y]*", '"!"+', STOP + NAMED + ", max_tokens=2")
    matcher = matcher_for(grammar, "ab", "c", "!", "z", "!z", "cz")
    for token in (1, 2):
        assert matcher.accept_token(token)
    assert not any(matcher.fork().accept_token(token) for token in (1, 2, 3, 5, 6))
    assert matcher.accept_token(4)
    assert matcher.get_captures() == [("inner", b"abc"), ("outer", b"abcz")]
    matcher.rollback(2)
    assert matcher.accept_token(5)
    assert matcher.get_captures() == [("marker", b"!"), ("inner", b"ab"), ("outer", b"abz")]


def test_jump_forward_stops_where_a_budget_may_end_the_rule() -> None:
    matcher = matcher_for(marked('"abc"', '"!!"', STOP + BUDGET))
    assert matcher.find_jump_forward_string() == "abc"
    assert matcher.accept_string("abc")
    assert matcher.find_jump_forward_string() == "z"


def test_a_root_with_a_budget_and_a_marker() -> None:
    ids = "capture_hidden_body_rule_id=1, capture_hidden_marker_rule_id=2"
    grammar = f'root[lazy, {ids}, {STOP}{NAMED}, max_chars=2] ::= b m\nb ::= [a-z]*\nm ::= "!"+\n'
    assert captures(grammar, "a!") == [("marker", b"!"), ("inner", b"a")]
    assert captures(grammar, "ab") == [("inner", b"ab")]
    assert not matcher_for(grammar).is_completed()
    assert matcher_for(grammar.replace("max_chars=2", "max_chars=0")).is_completed()


# any text with a fixed marker: a dispatch

DISPATCH = (
    'root[capture="outer"] ::= head\n'
    'head[capture, capture_hidden_stop_bytes=5, stop_capture="m"] ::= '
    'TagDispatch(("<end>", none), loop_after_dispatch=false)\nnone ::= ""\n'
)


def test_a_dispatch_that_ends_with_its_tag() -> None:
    assert captures(DISPATCH, "a<end>") == [("m", b"<end>"), ("head", b"a"), ("outer", b"a")]
    assert not matcher_for(DISPATCH).accept_string("a<end>b")


def test_a_dispatch_that_ends_without_its_tag() -> None:
    for text in (b"abc", b"ab<en", b"<end"):
        assert captures(DISPATCH, text.decode()) == [("head", text), ("outer", text)]


def test_every_completion_of_a_dispatch() -> None:
    head = [shown for name, shown in captures(DISPATCH, "<end>", deduplicate=False) if name == "head"]
    assert head == [b"<", b"<e", b"<en", b"<end", b""]


def test_a_dispatch_with_a_suffix_and_something_after_it() -> None:
    grammar = DISPATCH.replace("stop_bytes", "suffix_bytes").replace("::= head", '::= head "."')
    assert captures(grammar, "a<end>.") == [("m", b"<end>"), ("head", b"a"), ("outer", b"a<end>.")]


# state


def test_rollback_fork_and_reset_restore_markers() -> None:
    grammar = marked("[a-y]*", '"!"+', STOP + NAMED, start='(field "z")+')
    matcher = matcher_for(grammar, "a", "!", "z", "!zb!")
    for token in (1, 2):
        assert matcher.accept_token(token)
    before = matcher.get_captures()
    assert before == [("marker", b"!"), ("inner", b"a")]
    fork = matcher.fork()
    assert matcher.accept_token(3)
    assert ("outer", b"az") in matcher.get_captures()
    assert fork.get_captures() == before
    matcher.rollback(2)
    assert matcher.get_captures() == []
    assert matcher.accept_token(4)
    assert matcher.get_captures(deduplicate=False) == [
        ("marker", b"!"),
        ("inner", b"a"),
        ("outer", b"az"),
        ("marker", b"!"),
        ("inner", b"b"),
    ]
    matcher.reset()
    assert matcher.get_captures() == []


# what is refused


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ('root[stop_capture="m"] ::= "a"', 'Rule "root" has a stop_capture, but no marker'),
        (
            'root[capture, capture_hidden_stop_bytes=2] ::= TagDispatch(("<end>", x))\nx ::= ""',
            "has a marker of 2 bytes, but its TagDispatch has no tag",
        ),
        (
            'root[capture, capture_hidden_stop_bytes=1] ::= TagDispatch(("a", x))\nx ::= "b"',
            "has a marker of 1 bytes, but its TagDispatch has no tag",
        ),
        (
            marked("[a-z]*", '"!"', STOP + BUDGET).replace("[lazy, ", "["),
            "has a budget and rules for its marker",
        ),
        (marked("[a-z]*", '"!" | "(" marker ")"', STOP), 'refers to "marker"'),
        (marked("Token(0)", '"!"', STOP), "has token sets"),
    ],
)
def test_refusals(grammar: str, message: str) -> None:
    compiler = grammar_core.GrammarCompiler(grammar_core.TokenizerInfo([b"a", b"</s>"], stop_token_ids=[1]))
    with pytest.raises(GrammarError, match=message.replace("(", r"\(")):
        compiler.compile_grammar(grammar)


# the options travel


def test_printing_and_serialization_keep_markers() -> None:
    grammar = Grammar.from_ebnf(marked("[a-z]*", '"!"+', STOP + NAMED))
    for copy in (Grammar.from_ebnf(str(grammar)), Grammar.deserialize_json(grammar.serialize_json())):
        assert str(copy) == str(grammar)
        assert captures(str(copy), "xy!!z".replace("!!", "!")) == captures(str(grammar), "xy!z")


def test_combinations_keep_markers() -> None:
    grammar = Grammar.from_ebnf(marked("[a-z]*", '"!"+', STOP + NAMED))
    combined = Grammar.concat(Grammar.from_ebnf('root ::= "<"'), grammar, grammar)
    assert captures(str(combined), "<xy!zab!z") == [
        ("marker", b"!"),
        ("inner", b"xy"),
        ("outer", b"xyz"),
        ("marker", b"!"),
        ("inner", b"ab"),
        ("outer", b"abz"),
    ]


def test_rules_that_markers_name_are_used() -> None:
    ids = "capture_hidden_body_rule_id=1, capture_hidden_marker_rule_id=2"
    grammar = f'root[lazy, {ids}, {STOP}] ::= Regex("[a-z]*!")\nb ::= [a-z]*\nm ::= "!"\n'
    assert Grammar.from_ebnf(grammar).warnings() == ()
    assert captures(grammar, "ab!") == [("inner", b"ab")]
