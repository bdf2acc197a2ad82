"""What explanations say, on texts small enough to know it."""

from __future__ import annotations

from typing import Any

import pytest

from grammar_core import Grammar, GrammarError, GrammarLimitError, explain_text
from grammar_core.diagnostics import Explanation, TextPosition

JSON = r"""
root ::= value
value ::= object | array | string | "true" | "false" | "null"
object ::= "{" members? "}"
members ::= member ("," member)*
member ::= string ":" value
array ::= "[" (value ("," value)*)? "]"
string ::= "\"" [^"\\]* "\""
"""


def explain(grammar: str, text: str | bytes) -> Explanation:
    return explain_text(Grammar.from_ebnf(grammar), text)


def expected(explanation: Explanation) -> dict[str, str]:
    return {each.rule: str(each) for each in explanation.expected}


def items(explanation: Explanation) -> list[str]:
    return [rule.item for rule in explanation.active]


# where and what


def test_refused_character() -> None:
    explanation = explain(JSON, '{"é":\n true}')
    assert explanation.outcome == "refused"
    assert explanation.refused == '"\\n"'
    assert explanation.position == TextPosition(byte_offset=6, character_offset=5, line=1, column=6)
    assert explanation.source_line == '{"é":'
    assert explanation.completion == "{}}"


def test_position_in_a_later_line() -> None:
    explanation = explain('root ::= "é\\n" [a-z]+ ";"', "é\nab!;\n")
    assert explanation.position == TextPosition(byte_offset=5, character_offset=4, line=2, column=3)
    assert explanation.source_line == "ab!;"


def test_active_rules_innermost_last() -> None:
    explanation = explain(JSON, '{"a":[tr')
    assert [(rule.name, rule.begin.character_offset) for rule in explanation.active] == [
        ("root", 0),
        ("value", 0),
        ("object", 0),
        ("members", 1),
        ("member", 1),
        ("value", 5),
        ("array", 5),
        ("value", 6),
    ]
    assert {rule.end.character_offset for rule in explanation.active} == {8}
    assert explanation.active[2].item == 'object ::= "{" • members? "}"'
    assert explanation.active[-1].item == (
        'value ::= object | array | string | "tr" • "ue" | "false" | "null"'
    )


def test_what_may_come() -> None:
    explanation = explain(JSON, "[")
    assert expected(explanation) == {
        "array": '"[" or "]"',
        "value": '"true", "false" or "null"',
        "object": '"{"',
        "string": '"\\""',
    }
    assert explanation.next_characters == tuple((ord(c), ord(c)) for c in '"[]fnt{')


def test_complete() -> None:
    explanation = explain("root ::= [a-c]+", "abc")
    assert (explanation.outcome, explanation.may_end, explanation.completion) == ("complete", True, "")
    assert explanation.next_characters == ((ord("a"), ord("c")),)
    assert "end of text" in str(explanation)


def test_nothing_may_follow() -> None:
    explanation = explain('root ::= "ab"', "abc")
    assert (explanation.outcome, explanation.active, explanation.expected) == ("refused", (), ())
    assert "Expected:\n  end of text" in str(explanation)


def test_empty_text() -> None:
    explanation = explain('root ::= "a" "b"', "")
    assert items(explanation) == ['root ::= • "a" "b"']
    assert explanation.completion == "ab"


def test_final_line_break_is_pointed_out() -> None:
    assert "Without the line break at its end the text is complete." in explain('root ::= "a"', "a\n").notes
    assert explain('root ::= "a" "b"', "a\n").notes == ()


# dotted rules


@pytest.mark.parametrize(
    ("body", "text", "item"),
    [
        ('"a" [b]* "c"', "abb", '"a" • [b]* "c"'),
        ('"a" [b]+ "c"', "abb", '"a" • [b]+ "c"'),
        ('"a" "b"? "c"', "ab", '"a" "b"? • "c"'),
        ('"a" ("," "a")* "."', "a,", '"a" ("," • "a")* "."'),
        ('"a" ("b" | "c" "d") "e"', "ac", '"a" ("b" | "c" • "d") "e"'),
        ('("a" "b"){2,5} "c"', "aba", '("a" • "b"){2,5} "c"'),
        ('("a" "b"){2,5} "c"', "ab", '• ("a" "b"){2,5} "c"'),
        ('Regex("a[0-9]+") "c"', "a1", 'Regex("a[0-9]+" •) "c"'),
        ('"x" Regex("a[0-9]+")', "x", '"x" • Regex("a[0-9]+")'),
        ('"中文字"', "中", '"中" • "文字"'),
    ],
)
def test_dot(body: str, text: str, item: str) -> None:
    assert items(explain(f"root ::= {body}", text)) == [f"root ::= {item}"]


def test_dot_in_a_dispatch() -> None:
    grammar = 'root ::= TagDispatch(("<t>", t))\nt ::= [a-z] "!"\n'
    assert items(explain(grammar, "free <t>a")) == ['root ::= TagDispatch(("<t>", t) •)', 't ::= [a-z] • "!"']


# words


@pytest.mark.parametrize(
    ("char_class", "words"),
    [
        ("[a-z]", '"a" to "z"'),
        ("[abx]", '"a", "b" or "x"'),
        ("[^]", "any character"),
        (r"[^\x00-\x1f\"]", 'any character but control characters and "\\""'),
        ("[acegikmoqsuwy]", '"a", "c", "e", "g", "i", "k", "m" or 6 more'),
        (r"[\n]", '"\\n"'),
    ],
)
def test_character_classes(char_class: str, words: str) -> None:
    assert expected(explain(f"root ::= {char_class}", "")) == {"root": words}


def test_literals_are_whole_or_what_is_left_of_them() -> None:
    assert expected(explain('root ::= "true" | "x"', "")) == {"root": '"true" or "x"'}
    assert expected(explain('root ::= "true" | "x"', "tr")) == {"root": '"ue"'}


def test_str() -> None:
    assert str(explain(JSON, '{"a":7}')).split("\n") == [
        '"7" cannot come at line 1, column 6',
        '  {"a":7}',
        "       ^",
        "Expected:",
        '  "true", "false" or "null"  in value',
        '  "{"                        in object',
        '  "["                        in array',
        '  "\\""                       in string',
        "Active rules, innermost last:",
        "  1:1  root ::= • value",
        '  1:1  value ::= • object | array | string | "true" | "false" | "null"',
        '  1:1  object ::= "{" • members? "}"',
        '  1:2  members ::= • member ("," member)*',
        '  1:2  member ::= string ":" • value',
        'Shortest way to finish from there: "{}}"',
    ]


def test_str_of_control_characters_is_harmless() -> None:
    assert "\x1b" not in str(explain('root ::= "a"', "\x1b[31m"))


# ways to finish


@pytest.mark.parametrize(
    ("grammar", "text", "completion"),
    [
        ('root ::= "(" root ")" | "x"', "((", "x))"),
        ('root ::= [a-z]{3,9} ";"', "a", "aa;"),
        ('root ::= ("ab" | "c"){4}', "a", "bccc"),
        ('root ::= root "+" root | "long" | [0-9]{2}', "1", "0"),
        ('root ::= a "." \na ::= a "x" | "y"', "yx", "."),
        ('root ::= x "long way" | y\nx ::= "a"\ny ::= "a" "bc"', "a", "bc"),
        ("root ::= [^a-zA-Z0-9 -~]", "", "\x00"),
    ],
)
def test_completion(grammar: str, text: str, completion: str) -> None:
    explanation = explain(grammar, text)
    assert explanation.completion == completion
    assert explain(grammar, text + completion).outcome == "complete"


def test_completion_too_long_to_print() -> None:
    explanation = explain('root ::= "a"{1000000000000}', "aa")
    assert explanation.completion is None
    assert explanation.notes == ("It takes more than 10,000 characters to make the text complete.",)


# bytes


def test_text_that_ends_within_a_character() -> None:
    explanation = explain("root ::= [一-龥]{2}", b"\xe4\xb8\xad\xe4\xb8")
    assert explanation.outcome == "incomplete"
    assert explanation.position.byte_offset == 3
    assert explanation.next_characters == ((0x4E00, 0x4E3F),)
    assert explanation.notes == ("The text ends within a character, after the bytes E4 B8.",)
    assert explanation.completion == "一"


@pytest.mark.parametrize("data", [b"a\xff", b"a\xe4", b"a\xc0\x80", b"a\xed\xa0\x80", b"a\xe4a"])
def test_bytes_that_cannot_be(data: bytes) -> None:
    explanation = explain('root ::= "a" [^é-\\U0010ffff]', data)
    assert explanation.outcome == "refused"
    assert explanation.position.byte_offset == 1
    assert str(explanation)


def test_string_with_a_surrogate() -> None:
    assert explain("root ::= [^]", "\ud800").outcome == "refused"


# rule options


def test_lazy_rules_end_where_they_can() -> None:
    grammar = 'root ::= name "."\nname[lazy] ::= [a-z]+'
    assert expected(explain(grammar, "a")) == {"root": '"."'}
    assert explain(grammar, "ab.").position.character_offset == 1


def test_character_budgets() -> None:
    grammar = 'root ::= "<" name ">"\nname[max_chars=2] ::= [a-z]+'
    assert expected(explain(grammar, "<a")) == {"name": '"a" to "z"', "root": '">"'}
    assert expected(explain(grammar, "<ab")) == {"root": '">"'}


def test_token_budgets_are_pointed_out() -> None:
    [note] = explain("root ::= a\na[max_tokens=2] ::= [a-z]+", "abcdef").notes
    assert "max_tokens" in note


def test_token_sets_match_no_text() -> None:
    explanation = explain('root ::= "a" (Token(5) | "b" ExcludeToken(1, 2))', "a")
    assert expected(explanation) == {"root": '"b" or token 5'}
    assert explanation.completion is None
    assert explanation.notes == ("Only tokens that the grammar names make the text complete.",)
    assert expected(explain('root ::= "a" (Token(5) | "b" ExcludeToken(1, 2))', "ab")) == {
        "root": "any token but 1 and 2"
    }


def test_lookaheads_change_nothing() -> None:
    assert expected(explain('root ::= a "b"\na ::= "a" (= "b")', "a")) == {"root": '"b"'}


def test_root_without_sentences() -> None:
    with pytest.raises(GrammarError, match='"root" cannot match any finite text'):
        explain('root ::= "a" root', "a")


def test_unproductive_alternatives_are_no_way_on() -> None:
    explanation = explain('root ::= "a" (dead | "b")\ndead ::= "c" dead', "a")
    assert expected(explanation) == {"root": '"b"'}


# size


def test_deep_nesting() -> None:
    explanation = explain(JSON, "[" * 5_000)
    assert len(explanation.active) == 1 + 2 * 5_000
    assert explanation.completion == "]" * 5_000
    assert len(str(explanation).split("\n")) < 40


def test_right_recursion_is_linear() -> None:
    explanation = explain('root ::= [a-z] root | "."', "a" * 20_000)
    assert explanation.completion == "."


def test_large_counts() -> None:
    assert explain("root ::= ([a-z] | [0-9]){1,1000000000000}", "a1" * 1_000).outcome == "complete"


def test_too_many_readings() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        explain('root ::= root root | "a"', "a" * 3_000)
    assert caught.value.limit == "explanation_steps"


def test_too_long() -> None:
    with pytest.raises(GrammarLimitError) as caught:
        explain("root ::= [^]*", b"a" * 1_000_001)
    assert caught.value.limit == "explanation_bytes"


@pytest.mark.parametrize("arguments", [('root ::= "a"', "a"), (Grammar.from_ebnf('root ::= "a"'), 1)])
def test_wrong_types_are_named(arguments: Any) -> None:
    with pytest.raises(TypeError, match=r"not (str|int)"):
        explain_text(*arguments)
