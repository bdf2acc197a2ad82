"""Regular expressions as expressions of a grammar."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from grammar_core.errors import GrammarLimitError
from grammar_core.frontends.regex.assertions.compilation import compile_assertions
from grammar_core.frontends.regex.character_sets import (
    JSON_STRING_CHARACTERS,
    LINE_TERMINATORS,
    intersect_ranges,
)
from grammar_core.frontends.regex.edges import resolve_edges
from grammar_core.frontends.regex.flags import parse_flags
from grammar_core.frontends.regex.length_bounds import LengthBounds, split_length_bounds
from grammar_core.frontends.regex.parser import Parser, any_text
from grammar_core.frontends.regex.plain import to_expression
from grammar_core.frontends.regex.syntax_tree import Characters, Repetition, Tree, has_assertions
from grammar_core.ir.char_ranges import ANY_CHARACTER
from grammar_core.ir.nodes import Expr
from grammar_core.regular import RegularLanguage


def parse_regex(
    pattern: str, *, json_string: bool = False, flags: str | None = None, any_but_newline: bool = False
) -> Expr:
    """The texts that the pattern matches from beginning to end.

    `flags` are any of `i`, `m`, `s`, `u`. A dot is any character where they are None; otherwise not a line
    terminator (with `any_but_newline`, not U+000A), unless `s` is among them. With `json_string`, no
    character match takes what a JSON string must escape: U+0000 to U+001F, `"` and `\\`. Raises RegexError
    with the position, and GrammarLimitError for a pattern beyond a limit.

        parse_regex(r"[0-9]{5}(-[0-9]{4})?")
    """
    read_as = parse_flags(flags)._replace(any_but_newline=any_but_newline)
    tree = Parser(pattern, read_as, json_string).parse()
    try:
        return _compile(pattern, tree, None, json_string)
    except GrammarLimitError:
        rest, bounds = split_length_bounds(tree, at_start=True)
        if not bounds.characters:
            raise
    expressions = [_compile(pattern, rest, None, json_string), *_texts_of(bounds)]
    whole = reduce(RegularLanguage.intersect, map(RegularLanguage.from_expression, expressions))
    return whole.within(bounds.min, bounds.max)


def search_pattern(pattern: str, *, json_string: bool = False, flags: str | None = "") -> Expr:
    """The texts that the pattern matches somewhere, as in JSON Schema: `^` and `$` stand for the ends.

    Arguments and errors are those of `parse_regex`, but without flags a dot is no line terminator.
    """
    tree = Parser(pattern, parse_flags(flags), json_string).parse()
    return _compile(pattern, tree, any_text(json_string), json_string)


class BoundedPattern(NamedTuple):
    """The texts of `min` to `max` characters (None: any number) that all expressions match."""

    expressions: tuple[Expr, ...]
    min: int
    max: int | None


def bounded_search_pattern(pattern: str, *, flags: str | None = "") -> BoundedPattern:
    """What `search_pattern` matches, with bounds on the length of the whole text apart.

    Those that stand as lookaheads at the beginning, as in `^(?=.{1,253}$)`, would multiply the automaton.
    """
    tree, bounds = split_length_bounds(Parser(pattern, parse_flags(flags), False).parse())
    rest = _compile(pattern, tree, any_text(False), False)
    return BoundedPattern((rest, *_texts_of(bounds)), bounds.min, bounds.max)


def _texts_of(bounds: LengthBounds) -> list[Expr]:
    """The texts of each of the sets of characters that the bounds name."""
    return [to_expression(Repetition(characters, 0, None)) for characters in bounds.characters]


def _compile(pattern: str, tree: Tree, around: Tree | None, json_string: bool) -> Expr:
    allowed = JSON_STRING_CHARACTERS if json_string else ANY_CHARACTER
    tree = resolve_edges(tree, around, Characters(intersect_ranges(allowed, LINE_TERMINATORS)))
    return compile_assertions(pattern, tree) if has_assertions(tree) else to_expression(tree)
