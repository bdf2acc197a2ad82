"""Special tokens, named grammars, and the methods that take Lark text."""

from __future__ import annotations

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarError, GrammarMatcher, TokenizerInfo
from grammar_core.ir.nodes import TokenSet
from grammar_core.ir.traversal import walk_rule
from tests.grammar_core.matchers import allowed

INFO = TokenizerInfo(["a", "<|tool|>", "b", "</s>", "<|tool|>", "1"])
STOP = 3


def matcher_for(lark: str) -> GrammarMatcher:
    return GrammarMatcher(GrammarCompiler(INFO).compile_lark(lark))


def token_sets(lark: str, info: TokenizerInfo | None = None) -> list[TokenSet]:
    grammar = Grammar.from_lark(lark, tokenizer_info=info)
    return [expr for rule in grammar.rules for expr in walk_rule(rule) if isinstance(expr, TokenSet)]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("<[128010]>", TokenSet((128010,), False)),
        ("<[12-14]>", TokenSet((12, 13, 14), False)),
        ("<[1,3-5,10]>", TokenSet((1, 3, 4, 5, 10), False)),
        ("<[ 4 , 3-5, 3 - 4 ]>", TokenSet((3, 4, 5), False)),
        ("<[^1,3-5]>", TokenSet((1, 3, 4, 5), True)),
    ],
)
def test_sets_of_ids_need_no_tokenizer(written: str, expected: TokenSet) -> None:
    assert token_sets(f"start: {written}") == [expected]


def test_the_largest_range() -> None:
    assert len(token_sets("start: <[0-1000000]>")[0].ids) == 1_000_001


def test_the_wildcard_is_any_token() -> None:
    assert token_sets("start: <[*]>", INFO) == [TokenSet((), True)]
    assert allowed(matcher_for("start: <[*]>"), 6) == {0, 1, 2, 4, 5}


def test_a_name_is_every_token_with_that_text() -> None:
    assert token_sets("start: <|tool|>", INFO) == [TokenSet((1, 4), False)]
    assert allowed(matcher_for('start: <|tool|> "b"'), 6) == {1, 4}


def test_a_negated_set() -> None:
    assert allowed(matcher_for("start: <[^0,2]>"), 6) == {1, 4, 5}


@pytest.mark.parametrize(
    ("written", "message"),
    [("<|tool|>", "needs tokenizer_info"), ("<[*]>", "needs tokenizer_info")],
)
def test_what_needs_a_tokenizer(written: str, message: str) -> None:
    with pytest.raises(GrammarError, match=message) as caught:
        Grammar.from_lark(f'start: "a" {written}')
    assert (caught.value.line, caught.value.column) == (1, 12)


def test_an_unknown_name() -> None:
    with pytest.raises(GrammarError, match="The vocabulary has no token <think>"):
        Grammar.from_lark("start: <think>", tokenizer_info=INFO)


def test_an_id_beyond_the_vocabulary() -> None:
    with pytest.raises(GrammarError, match="6"):
        GrammarCompiler(INFO).compile_lark("start: <[6]>")


def test_control_tokens_by_their_text() -> None:
    info = TokenizerInfo.from_vocab_and_metadata(
        ["a", "<|im_start|>", "</s>"],
        '{"vocab_type":0,"vocab_size":3,"add_prefix_space":false,"stop_token_ids":[2],"control_token_ids":[1]}',
    )
    assert token_sets("start: <|im_start|>", info) == [TokenSet((1,), False)]


def test_tokens_and_text_with_something_ignored() -> None:
    info = TokenizerInfo(["a", "<t>", " ", "</s>"])
    compiled = GrammarCompiler(info).compile_lark('%ignore " "\nstart: "a" <[1]> "a"')
    matcher = GrammarMatcher(compiled)
    for token_id, following in ((0, {1, 2}), (2, {1, 2}), (1, {0, 2}), (2, {0, 2}), (0, {2, 3}), (2, {2, 3})):
        assert matcher.accept_token(token_id)
        assert allowed(matcher, 4) == following


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = GrammarMatcher(GrammarCompiler(INFO).compile_grammar(grammar))
    return matcher.accept_string(text) and matcher.is_completed()


def test_named_grammars_of_both_kinds() -> None:
    arguments = Grammar.from_ebnf('root ::= "{" item "}"\nitem ::= [0-9]+')
    grammar = Grammar.from_lark(
        'start: "<tool_call>" @arguments "</tool_call>" ":" @status item\nitem: "."',
        named_grammars={"arguments": arguments, "status": 'start: item\nitem: "ok" | "cancelled"'},
    )
    assert accepts(grammar, "<tool_call>{12}</tool_call>:ok.")
    assert accepts(grammar, "<tool_call>{1}</tool_call>:cancelled.")
    assert not accepts(grammar, "<tool_call>{}</tool_call>:ok.")
    assert not accepts(grammar, "<tool_call>{1}</tool_call>:ok")
    printed = Grammar.from_ebnf(str(grammar))
    assert accepts(printed, "<tool_call>{12}</tool_call>:ok.")


def test_a_named_grammar_is_embedded_once() -> None:
    named: dict[str, str | Grammar] = {"n": 'start: "a" @m\n', "m": Grammar.from_ebnf('root ::= "x" | "y"')}
    grammar = Grammar.from_lark('start: @n @n @m %lark {\n  start: @n | "q" @m\n}', named_grammars=named)
    assert accepts(grammar, "axayxqx")
    assert len(grammar.rules) == 4  # start, the block's, n's and m's
    assert len({rule.name for rule in grammar.rules}) == 4


def test_a_named_grammar_ignores_its_own() -> None:
    named = {"n": '%ignore "-"\nstart: "a" "b"'}
    grammar = Grammar.from_lark('%ignore " "\nstart: "x" @n "y"', named_grammars=named)
    assert accepts(grammar, "x a-b- y ")
    assert not accepts(grammar, "x a b y")
    assert not accepts(grammar, "x-ab y")


def test_named_grammars_in_a_circle() -> None:
    named = {"a": "start: @b", "b": 'start: "x" | @c', "c": "start: @a"}
    with pytest.raises(GrammarError, match="in a circle: @a -> @b -> @c -> @a") as caught:
        Grammar.from_lark('start: "x" @a', named_grammars=named)
    assert (caught.value.line, caught.value.column) == (1, 12)


def test_a_long_chain_of_named_grammars() -> None:
    named = {f"n{i}": f"start: @n{i + 1}" for i in range(5_000)} | {"n5000": 'start: "x"'}
    assert accepts(Grammar.from_lark("start: @n0", named_grammars=named), "x")


def test_an_error_in_a_named_grammar_says_where() -> None:
    with pytest.raises(GrammarError, match='In the named grammar @n: Rule "x" is not defined') as caught:
        Grammar.from_lark("start: @n", named_grammars={"n": 'start: "a"\n     | x'})
    assert (caught.value.line, caught.value.column) == (2, 8)
    assert str(caught.value).endswith("\n     | x\n       ^")


def test_names_of_named_grammars() -> None:
    with pytest.raises(GrammarError, match="cannot name a grammar"):
        Grammar.from_lark('start: "a"', named_grammars={"@x": 'start: "a"'})
    with pytest.raises(TypeError, match="is Lark text or a Grammar"):
        Grammar.from_lark('start: "a"', named_grammars={"x": 1})  # type: ignore[dict-item]


def test_lark_text_is_compiled_once() -> None:
    compiler = GrammarCompiler(INFO)
    named: dict[str, str | Grammar] = {"n": 'start: "b"'}
    compiled = compiler.compile_lark('start: "a" @n', named_grammars=named)
    assert compiler.compile_lark('start: "a" @n', named_grammars=dict(named)) is compiled
    assert compiler.compile_lark('start: "a" @n', named_grammars={"n": 'start: "1"'}) is not compiled
    assert GrammarCompiler(INFO, cache_enabled=False).compile_lark('start: "a"') is not compiled


def test_what_is_no_text() -> None:
    with pytest.raises(TypeError, match="is text"):
        Grammar.from_lark(b'start: "a"')  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is text"):
        GrammarCompiler(INFO).compile_lark(None)  # type: ignore[arg-type]


def test_lark_grammars_combine_with_others() -> None:
    lark = Grammar.from_lark('start: "a" | "b" start')
    both = Grammar.concat(lark, Grammar.union(Grammar.from_ebnf('root ::= "1"'), lark))
    assert accepts(both, "ba1")
    assert accepts(both, "aba")
    assert accepts(Grammar.deserialize_json(lark.serialize_json()), "bba")


def test_errors_are_runtime_and_value_errors() -> None:
    for kind in (RuntimeError, ValueError):
        with pytest.raises(kind) as caught:
            Grammar.from_lark("\n\nitem missing\n")
        assert str(caught.value) == (
            'Lark error at line 3, column 6: Expected : after the name "item"\nitem missing\n     ^'
        )
