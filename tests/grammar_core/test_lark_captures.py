"""Captures of Lark rules, with the scopes of suffix and stop: the examples of the dialect's description."""

from __future__ import annotations

import pytest

from grammar_core import GrammarCompiler, GrammarMatcher, TokenizerInfo

_TEXT = r"TEXT: /(\n|.)*/"


def captures(lark: str, text: str) -> list[tuple[str, bytes]]:
    vocabulary: list[bytes | str] = [*(bytes([byte]) for byte in range(256)), b"</s>"]
    compiled = GrammarCompiler(TokenizerInfo(vocabulary)).compile_lark(lark)
    matcher = GrammarMatcher(compiled)
    assert matcher.accept_string(text)
    assert matcher.is_completed()
    found = matcher.get_captures()
    # The same, byte by byte.
    one_by_one = GrammarMatcher(compiled)
    assert all(one_by_one.accept_token(byte) for byte in text.encode())
    assert one_by_one.get_captures() == found
    return found


def test_a_rule_in_a_tool() -> None:
    lark = rf"""
    start: tool* tail
    tail: TEXT

    tool_head[lazy]: TEXT "<tool_call>"
    tool: tool_head arg "</tool_call>"
    arg[capture]: /[0-9]+/

    {_TEXT}
    """
    text = "x<tool_call>42</tool_call>y<tool_call>7</tool_call>"
    assert captures(lark, text) == [("arg", b"42"), ("arg", b"7")]


def test_the_name_of_a_capture() -> None:
    lark = 'start: a b\na[capture]: "x"+\nb[capture="B-1.c_2"]: "y"+'
    assert captures(lark, "xxy") == [("a", b"xx"), ("B-1.c_2", b"y")]


def test_suffix_leaves_the_marker_to_the_rules_around() -> None:
    lark = 'start[capture="outer"]: field "z"\nfield[capture="inner", suffix="!"]: /[a-z]*/'
    assert captures(lark, "xy!z") == [("inner", b"xy"), ("outer", b"xy!z")]


def test_stop_takes_the_marker_from_the_rules_around() -> None:
    lark = 'start[capture="outer"]: field "z"\nfield[capture="inner", stop="!"]: /[a-z]*/'
    assert captures(lark, "xy!z") == [("inner", b"xy"), ("outer", b"xyz")]


def test_stop_capture_has_the_marker_alone() -> None:
    lark = (
        'start[capture="outer"]: field "z"\n'
        'field[capture="inner", suffix=/!!+/, stop_capture="marker"]: /[a-z]*/'
    )
    assert sorted(captures(lark, "xy!!z")) == [("inner", b"xy"), ("marker", b"!!"), ("outer", b"xy!!z")]


def test_stop_capture_without_a_capture() -> None:
    lark = 'start: field "z"\nfield[stop=END, stop_capture="m"]: /[a-z]*/\nEND: "-" | "<" /[0-9]/ ">"'
    assert captures(lark, "xy<7>z") == [("m", b"<7>")]


def test_a_stop_without_a_capture_of_its_own_is_hidden_from_the_one_around() -> None:
    lark = 'start[capture]: field* "."\nfield[stop="--"]: /[a-z]*/'
    assert captures(lark, "ab--c--.") == [("start", b"abc.")]


@pytest.mark.parametrize("kind", ["suffix", "stop"])
def test_any_text_up_to_a_marker(kind: str) -> None:
    lark = f'start: field\nfield[capture, {kind}="<end>", stop_capture="m"]: TEXT\n{_TEXT}'
    assert sorted(captures(lark, "some\ntext<end>")) == [("field", b"some\ntext"), ("m", b"<end>")]
    assert captures(lark, "some text") == [("field", b"some text")]


def test_a_budget_that_ends_first_leaves_no_marker() -> None:
    lark = 'start: field "z"\nfield[capture, suffix="!", stop_capture="m", max_chars=3]: /[a-y]*/'
    assert sorted(captures(lark, "ab!z")) == [("field", b"ab"), ("m", b"!")]
    assert captures(lark, "abcz") == [("field", b"abc")]


def test_stop_capture_of_a_dispatch() -> None:
    lark = rf"""
    start[capture="all"]: tool* tail
    tail: TEXT
    head[stop="<t>", stop_capture="m"]: TEXT
    tool: head /[0-9]/ ";"
    {_TEXT}
    """
    assert captures(lark, "a<t>1;b<t>2;<t") == [("m", b"<t>"), ("m", b"<t>"), ("all", b"a1;b2;<t")]


def test_a_lexeme_does_not_capture_what_is_ignored_after_it() -> None:
    lark = '%ignore " "\nstart: field "z"\nfield[capture, suffix="!"]: /[a-y]*/'
    assert captures(lark, "ab!  z ") == [("field", b"ab")]


def test_embedded_rules_keep_their_captures_and_markers() -> None:
    inner = 'start: field "z"\nfield[capture, stop=/!+/, stop_capture="m"]: /[a-y]*/'
    assert sorted(captures(f'start: "(" %lark {{\n{inner}\n}} ")"', "(ab!z)")) == [
        ("field", b"ab"),
        ("m", b"!"),
    ]
