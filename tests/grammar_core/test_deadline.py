"""Compiles that take too long or that nobody waits for, whatever part of the work it is that goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from grammar_core import Grammar, GrammarCompiler, GrammarLimitError, TokenizerInfo
from grammar_core.cache import SingleFlightCache
from grammar_core.deadline import Cancellation, CancelledError, check, check_now, deadline
from grammar_core.frontends.json_schema.dialects import DEFAULT
from grammar_core.frontends.json_schema.leaves import build_leaf
from grammar_core.regular import RegularLanguage

BYTES = TokenizerInfo([bytes([byte]) for byte in range(256)])
LETTERS = "abcdefghijklmnop"


def many(count: int, text: str) -> str:
    return " ".join(text.replace("@", str(i)) for i in range(count))


def rules(count: int, text: str) -> str:
    return "\n".join(text.replace("@", str(i)) for i in range(count))


def schema(value: Any) -> str:
    return json.dumps(value)


def objects(count: int, of: Callable[[int], Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {f"k{i}": of(i) for i in range(count)}}


def work_on() -> None:
    """Go on until the deadline ends it."""
    while True:
        check()


# --- the deadline itself


def test_nothing_is_limited_where_no_deadline_has_begun() -> None:
    for _ in range(1000):
        check()
    check_now()


def test_a_deadline_that_is_over_raises_again_and_again() -> None:
    with deadline(0.001):
        for _ in range(3):
            with pytest.raises(GrammarLimitError) as caught:
                work_on()
            assert (caught.value.limit, caught.value.value) == ("time", 1)
    check_now()


def test_the_innermost_deadline_counts() -> None:
    with deadline(1000):
        with pytest.raises(GrammarLimitError, match=r"0\.00 seconds"), deadline(0.001):
            work_on()
        check_now()


def test_a_deadline_is_that_of_its_thread() -> None:
    with deadline(0.001), ThreadPoolExecutor(1) as pool:
        with pytest.raises(GrammarLimitError):
            work_on()
        pool.submit(check_now).result()


def test_cancellation_reaches_another_thread() -> None:
    cancellation = Cancellation()
    begun = threading.Event()

    def work() -> None:
        with deadline(1000, cancellation):
            begun.set()
            work_on()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        assert begun.wait(10)
        cancellation.cancel()
        with pytest.raises(CancelledError):
            future.result(10)


def test_what_is_cancelled_does_not_begin() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    assert cancellation.is_cancelled
    with pytest.raises(CancelledError), deadline(1000, cancellation):
        pytest.fail("it has begun")


def test_the_native_core_ends_with_the_deadline() -> None:
    """A set of texts may take two seconds, but not where less is left."""
    words = Grammar.from_regex("(a|b)*a(a|b){15}").rules[0].body
    with deadline(0.02), pytest.raises(GrammarLimitError, match="Compiling the grammar takes more than"):
        _ = [RegularLanguage.from_expression(words) for _ in range(100_000)]


def test_an_error_of_time_is_not_remembered_for_a_leaf() -> None:
    leaf: Any = frozenset({("type", "string"), ("pattern", "^(never|seen|before)+$")})
    cancellation = Cancellation()
    with deadline(1000, cancellation):
        cancellation.cancel()
        with pytest.raises(CancelledError):
            build_leaf(leaf, DEFAULT, "natural")
    assert build_leaf(leaf, DEFAULT, "natural") is not None


# --- every way into a compiler

DEPENDENT = {f"k{i}": {"properties": {f"p{i}": {"type": "string"}}, "required": [f"p{i}"]} for i in range(10)}
SLOW: dict[str, Callable[[GrammarCompiler], Any]] = {
    "ebnf": lambda c: c.compile_grammar("root ::= " + many(40_000, '"a@" |') + ' "b"'),
    "ebnf rules": lambda c: c.compile_grammar(f"root ::= r0\n{rules(20_000, 'r@ ::= [a-z] r@?')}"),
    "ebnf dispatch": lambda c: c.compile_grammar(
        f'root ::= TagDispatch(("{"ab" * 100_000}", t), ("{"ab" * 50_000}c", t))\nt ::= "x"'
    ),
    "a grammar": lambda c: c.compile_grammar(Grammar.from_ebnf("root ::= " + many(60_000, '[a-z] "b@"'))),
    "regex": lambda c: c.compile_regex("a|" * 90_000 + "b"),
    "regex case": lambda c: c.compile_regex(r"[a-z\u0100-\uffff]" * 1000, flags="iu"),
    "regex lookaheads": lambda c: c.compile_regex("".join(f"(?=.*{i}x)" for i in range(60)) + ".*"),
    "regex looks in a loop": lambda c: c.compile_regex(
        "(?:" + "|".join(f"{i}(?=.*{i}x)" for i in range(60)) + ")*"
    ),
    "regex properties": lambda c: c.compile_regex(r"\p{Lu}\P{Ll}\p{Script=Han}" * 5000),
    "lark": lambda c: c.compile_lark("start: " + many(40_000, '"a@" |') + ' "b"'),
    "lark rules": lambda c: c.compile_lark(f"start: r0\n{rules(20_000, 'r@: /[a-z]/ r@?')}"),
    "lark algebra": lambda c: c.compile_lark(
        f"start: T0\n{rules(300, 'T@: ~/x@/ & /[a-z]{3,30}/')}\n" + "all: " + many(300, "T@")
    ),
    "lark lookaheads": lambda c: c.compile_lark(
        "start: T\nT: /(?=.*a.*b)(?=.*c.*d)(?!.*efgh)(?=.*(x|y){9})[a-z]{1,400}/"
    ),
    "lark substring": lambda c: c.compile_lark(
        "start: %regex " + json.dumps({"substring_words": many(30_000, "w@")})
    ),
    "schema wide": lambda c: c.compile_json_schema(
        schema(objects(20_000, lambda i: {"type": "string", "maxLength": i + 1}))
    ),
    "schema depth": lambda c: c.compile_json_schema('{"items":' * 4000 + "true" + "}" * 4000),
    "schema dependentSchemas": lambda c: c.compile_json_schema(
        schema({"type": "object", "dependentSchemas": DEPENDENT})
    ),
    "schema oneOf": lambda c: c.compile_json_schema(
        schema(
            {
                "oneOf": [
                    {"properties": {"t": {"const": i}, "x": {"type": "string"}}, "required": ["t"]}
                    for i in range(600)
                ]
            }
        )
    ),
    "schema enum of objects": lambda c: c.compile_json_schema(
        schema({"enum": [{"a": i, "b": [i, {"c": i}]} for i in range(10_000)]})
    ),
    "schema enum of texts": lambda c: c.compile_json_schema(
        schema(objects(200, lambda i: {"enum": [f"v{i}_{j}" for j in range(200)]}))
    ),
    "schema patterns": lambda c: c.compile_json_schema(
        schema({"type": "string", "allOf": [{"pattern": f"[a-z]*{c}[a-z]*"} for c in LETTERS]})
    ),
    "schema patternProperties": lambda c: c.compile_json_schema(
        schema({"patternProperties": {f"^x{i}.*y[0-9]{{{i}}}": {"type": "integer"} for i in range(60)}})
    ),
    "schema references": lambda c: c.compile_json_schema(
        schema(
            {
                "$defs": {
                    f"d{i}": objects(
                        40, lambda j: {"allOf": [{"$ref": f"#/$defs/d{j}"}, {"minProperties": 1}]}
                    )
                    for i in range(40)
                },
                "$ref": "#/$defs/d0",
            }
        )
    ),
    "schema prefixItems": lambda c: c.compile_json_schema(
        schema({"prefixItems": [{"type": "string", "maxLength": i} for i in range(5000)]})
    ),
    "schema contains": lambda c: c.compile_json_schema(
        schema(
            {
                "type": "array",
                "allOf": [{"contains": {"required": [f"k{i}"]}, "minContains": 3} for i in range(4)],
                "maxItems": 40,
            }
        )
    ),
    "schema numbers": lambda c: c.compile_json_schema(
        schema(objects(60, lambda i: {"type": "number", "minimum": i + 10**900, "maximum": 10**950 - i}))
    ),
    "structural tag": lambda c: c.compile_structural_tag(
        {
            "type": "structural_tag",
            "format": {
                "type": "triggered_tags",
                "triggers": ["<t"],
                "tags": [
                    {
                        "type": "tag",
                        "begin": f"<t{i}>",
                        "content": {
                            "type": "json_schema",
                            "json_schema": objects(5, lambda j: {"type": "string", "maxLength": j + 3}),
                        },
                        "end": "</t>",
                    }
                    for i in range(1000)
                ],
            },
        }
    ),
}


@pytest.mark.parametrize("slow", SLOW.values(), ids=SLOW.keys())
def test_a_compile_ends_with_its_time(slow: Callable[[GrammarCompiler], Any]) -> None:
    compiler = GrammarCompiler(BYTES, compile_seconds=0.01, cache_enabled=False)
    with pytest.raises(GrammarLimitError, match=r"takes more than 0\.01 seconds of processor time") as caught:
        slow(compiler)
    assert (caught.value.limit, caught.value.value) == ("time", 1)


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties"])
def test_loosened_keywords_do_not_hide_the_error(keyword: str) -> None:
    """Where a keyword need not hold, errors about it are passed over; that time is over is not about it."""
    value = {"type": "string", "allOf": [{"pattern": f"[a-z]*{c}[a-z]*"} for c in LETTERS]}
    compiler = GrammarCompiler(BYTES, compile_seconds=0.01)
    with pytest.raises(GrammarLimitError) as caught:
        compiler.compile_json_schema(value, loosen=[keyword])
    assert caught.value.limit == "time"


# --- cancelled compiles


class Endless:
    """The source of a grammar that is never finished, unless it is told to be."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.is_finished = False

    def build(self, tokenizer_info: TokenizerInfo) -> Grammar:
        self.begun.set()
        while not self.is_finished:
            check()
        return Grammar.from_ebnf('root ::= "a"')


def test_a_compile_can_be_cancelled() -> None:
    source, cancellation = Endless(), Cancellation()
    compiler = GrammarCompiler(BYTES, compile_seconds=1000)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(compiler.compile_source, source, cancellation)
        assert source.begun.wait(10)
        cancellation.cancel()
        with pytest.raises(CancelledError):
            future.result(10)
    source.is_finished = True
    assert compiler.compile_source(source) is not None


def test_whoever_waits_for_what_another_cancels_compiles_himself() -> None:
    source, cancellation = Endless(), Cancellation()
    compiler = GrammarCompiler(BYTES, compile_seconds=1000)
    with ThreadPoolExecutor(2) as pool:
        leaver = pool.submit(compiler.compile_source, source, cancellation)
        assert source.begun.wait(10)
        source.begun.clear()
        stayer = pool.submit(compiler.compile_source, source)
        cancellation.cancel()
        with pytest.raises(CancelledError):
            leaver.result(10)
        assert source.begun.wait(10)
        source.is_finished = True
        assert stayer.result(10) is not None


def test_the_cache_hands_on_other_errors() -> None:
    cache = SingleFlightCache[int](lambda _: 1)
    begun, may_fail = threading.Event(), threading.Event()

    def fail() -> int:
        begun.set()
        assert may_fail.wait(10)
        raise KeyError("x")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.get, "k", fail)
        assert begun.wait(10)
        second = pool.submit(cache.get, "k", lambda: 1)
        may_fail.set()
        with pytest.raises(KeyError):
            first.result(10)
        assert isinstance(second.exception(10), KeyError) or second.result() == 1
