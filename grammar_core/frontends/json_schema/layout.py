"""The white space of JSON texts: what may or must stand around brackets, commas and colons."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import CharClass, Expr, Literal, Regex, Repeat, Rule, RuleRef, Sequence

BOUNDED_WHITESPACE = r"(\r?\n)?[ \t]{0,32}"
"""A `whitespace_pattern` under which no text is endless: at most one line break and 32 blanks a gap."""

GAP = RuleRef("json_gap")
COLON = RuleRef("json_colon")
COMMA = RuleRef("json_comma")

_WHITE_SPACE = CharClass(((9, 10), (13, 13), (32, 32)))


MAX_INDENT = 64
"""The most spaces a level of indentation."""


class LayoutOptions(NamedTuple):
    """The options of `Grammar.from_json_schema` that concern white space."""

    any_whitespace: bool = True
    indent: int | None = None
    separators: tuple[str, str] | None = None
    max_whitespace_cnt: int | None = None
    whitespace_pattern: str | None = None


class Layout(NamedTuple):
    """What stands where. `gap`: inside brackets. `colon`, `comma`: with the white space around them.

    `indent`: spaces a level, None unless every item has a line of its own; `newline_comma` is then the
    comma before the line break. `rules` define what the expressions refer to.
    """

    gap: Expr | None
    colon: Expr
    comma: RuleRef
    indent: int | None
    newline_comma: bytes
    rules: tuple[Rule, ...]

    def line(self, depth: int) -> Literal:
        """A line break and the indentation of a depth."""
        assert self.indent is not None
        return Literal(b"\n" + b" " * (self.indent * depth))


def build_layout(options: LayoutOptions) -> Layout:
    """The layout that the options describe. Raises ValueError for options that make no sense."""
    _check(options)
    if not options.any_whitespace and options.whitespace_pattern is None:
        return _fixed_layout(options)
    gap: Expr
    if options.whitespace_pattern is not None:
        pattern = options.whitespace_pattern
        gap = Regex(pattern, False, None, parse_regex(pattern, flags=None))
    else:
        gap = Repeat(_WHITE_SPACE, 0, options.max_whitespace_cnt)
    rules = (
        Rule(GAP.name, gap),
        Rule(COLON.name, Sequence((GAP, Literal(b":"), GAP))),
        Rule(COMMA.name, Sequence((GAP, Literal(b","), GAP))),
    )
    return Layout(GAP, COLON, COMMA, None, b"", rules)


def _fixed_layout(options: LayoutOptions) -> Layout:
    default = (", ", ": ") if options.indent is None else (",", ": ")
    comma, colon = default if options.separators is None else options.separators
    rules = (Rule(COMMA.name, Literal(comma.encode())),)
    return Layout(None, Literal(colon.encode()), COMMA, options.indent, comma.encode(), rules)


def _check(options: LayoutOptions) -> None:
    count, indent, separators = options.max_whitespace_cnt, options.indent, options.separators
    if count is not None and (type(count) is not int or count < 1):
        raise ValueError("max_whitespace_cnt must be positive.")
    if indent is not None and (type(indent) is not int or not 0 <= indent <= MAX_INDENT):
        raise ValueError(f"indent must be a number of spaces from 0 to {MAX_INDENT}")
    if separators is not None and not _are_texts(separators):
        raise ValueError("separators must be two strings: between items, and between key and value")
    if options.whitespace_pattern is not None and (count is not None or not options.any_whitespace):
        raise ValueError("whitespace_pattern excludes max_whitespace_cnt and any_whitespace=False")


def _are_texts(separators: object) -> bool:
    return (
        isinstance(separators, (tuple, list))
        and len(separators) == 2
        and all(isinstance(separator, str) for separator in separators)
    )
