"""Examples that need a schema, tokens or a matcher's settings, and those of the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarError, GrammarMatcher, TokenizerInfo
from tests.grammar_core.matchers import allowed

_BYTES: list[bytes | str] = [*(bytes([byte]) for byte in range(256)), b"</s>"]
_DOCUMENT = Path(__file__).parents[2] / "docs" / "lark.md"
_TOOL = r"""
start: tool* tail
tail: TEXT

tool_head[lazy]: TEXT "<tool_call>"
tool: tool_head %json {
  "type": "object",
  "properties": {"x": {"type": "integer"}},
  "required": ["x"],
  "additionalProperties": false
} "</tool_call>"

TEXT: /(\n|.)*/
"""


def accepts(lark: str, text: str) -> bool:
    compiled = GrammarCompiler(TokenizerInfo(_BYTES)).compile_lark(lark)
    matcher = GrammarMatcher(compiled)
    return (text == "" or matcher.accept_string(text)) and matcher.is_completed()


@pytest.mark.parametrize(
    ("text", "is_accepted"),
    [
        ("no tool call", True),
        ('<tool_call>{"x": 1}</tool_call>', True),
        ('a <tool_call>{"x": 1}</tool_call> b <tool_call>{"x":-22}</tool_call> c', True),
        ("a final <tool_cal", True),
        ("<tool_call>", False),
        ('<tool_call>{"y": 1}</tool_call>', False),
        ('<tool_call>{"x": 1}', False),
        ("<tool_call>free text", False),
    ],
)
def test_dispatch_to_a_schema(text: str, is_accepted: bool) -> None:
    assert accepts(_TOOL, text) == is_accepted


def test_schemas_in_sequences_alternatives_and_repetition() -> None:
    lark = 'start: "[" (%json {"type": "integer"} ",")* (%json {"const": "a"} | %json {"type": "null"}) "]"'
    for text in ('["a"]', "[null]", '[1,-2,"a"]'):
        assert accepts(lark, text)
    for text in ("[]", "[1]", '[1,"b"]', '["a","a"]'):
        assert not accepts(lark, text)


def test_white_space_around_a_schema_is_that_of_the_grammar() -> None:
    plain = 'start: "x" %json {"type": "integer"} "y"'
    assert accepts(plain, "x1y")
    assert not accepts(plain, "x 1y")
    ignoring = '%ignore " "\n' + plain
    for text in ("x1y", "x 1y", "x1  y "):
        assert accepts(ignoring, text)
    assert not accepts(ignoring, " x1y")


def test_a_schema_in_a_block() -> None:
    lark = (
        'start: "[" %lark {\n  %import common.WS\n  %ignore WS\n  start: item ":" %json {"type": "integer"}\n'
        '  item: "x" | "(" item ")"\n} "]"'
    )
    assert accepts(lark, "[( x ) : 12 ]")
    assert not accepts(lark, "[ x:1]")


def test_an_invalid_schema() -> None:
    with pytest.raises(GrammarError, match="In %json: ") as caught:
        Grammar.from_lark('start: "a" %json {"type": "strin"}')
    assert (caught.value.line, caught.value.column) == (1, 12)


def test_equal_schemas_are_embedded_once() -> None:
    one = Grammar.from_lark('start: %json {"type": "string"}')
    two = Grammar.from_lark('start: %json {"type": "string"} "," %json {"type": "string"}')
    assert len(two.rules) == len(one.rules)


def test_a_token_budget() -> None:
    info = TokenizerInfo(["a", "bc", "</s>", "1", ">"])
    lark = 'start: reasoning ">" answer\nreasoning[max_tokens=2]: TEXT\nanswer: /[0-9]+/\nTEXT: /[a-z]*/'
    matcher = GrammarMatcher(GrammarCompiler(info).compile_lark(lark))
    assert allowed(matcher, 5) == {0, 1, 4}
    for token_id, following in ((1, {0, 1, 4}), (0, {4}), (4, {3})):
        assert matcher.accept_token(token_id)
        assert allowed(matcher, 5) == following


def test_a_token_budget_ends_a_rule_before_its_marker() -> None:
    info = TokenizerInfo(["a", "!", "</s>", "z"])
    lark = 'start: field "z"\nfield[suffix="!", max_tokens=2, stop_capture="m"]: /a*/'
    matcher = GrammarMatcher(GrammarCompiler(info).compile_lark(lark))
    for token_id, following in ((0, {0, 1}), (0, {3})):
        assert matcher.accept_token(token_id)
        assert allowed(matcher, 4) == following
    assert matcher.get_captures() == []


def test_temperatures() -> None:
    lark = (
        'start: "answer:" value\nvalue[temperature=0.7]: /[a-z]/ inner\n'
        'inner[temperature=0, capture]: %json {"type": "integer"}'
    )
    compiled = GrammarCompiler(TokenizerInfo(_BYTES)).compile_lark(lark)
    matcher = GrammarMatcher(compiled, default_temperature=0.2)
    assert matcher.temperature == 0.2
    assert matcher.accept_string("answer:")
    assert matcher.temperature == 0.7
    assert matcher.accept_string("x")
    assert matcher.temperature == 0


def test_a_temperature_with_ignored_text_does_not_change_the_language() -> None:
    lark = '%ignore " "\nstart: x "c"\nx[temperature=0.5]: "a" "b"'
    assert accepts(lark, "a b c")


def test_what_llguidance_is_given_in_its_own_notation() -> None:
    lark = r"""%llguidance {"no_forcing": true}
    start: "{" pair ("," pair)* "}"
    pair: KEY ":" VALUE
    KEY: /[a-z]+/ & ~("class" | "def")
    VALUE: /(?i)yes|no/ | "\x41"
    %ignore /[ \t]+/
    """.replace("\n    ", "\n")
    assert accepts(lark, "{ a : YES , classes:no,b:A}")
    assert not accepts(lark, "{class:no}")


def blocks() -> list[str]:
    """The grammars of the documentation."""
    text = _DOCUMENT.read_text("utf-8")
    fenced = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    grammars = [re.search(r'r"""\n(.*?)"""', block, re.DOTALL) for block in fenced]
    whole = [match[1] if match else block for match, block in zip(grammars, fenced, strict=True)]
    return [block for block in whole if "start:" in block]


def test_the_documentation() -> None:
    first, tools = blocks()
    for text in ("id=1", "id=1, id=42", "id=1 ,id=2 , id=3"):
        assert accepts(first, text)
    assert accepts(tools, 'x<weather>{"city": "Oslo"}</weather><search>a b\ny')
    assert not accepts(tools, "<search>\n")
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark("\n\nitem missing")
    assert str(caught.value) in _DOCUMENT.read_text("utf-8")
