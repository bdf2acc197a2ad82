"""EBNF text to rules: one pass over the tokens, with an explicit stack of open groups.

    grammar     = { name [ options ] "::=" alternatives [ "(=" alternatives ")" ] }
    alternatives = sequence { "|" sequence }
    sequence    = { element [ operator ] }
    element     = literal | class | name | macro "(" arguments ")" | "(" [ alternatives ] ")"

A sequence may be empty where a "|" stands beside it or inside "( )", but a rule body may not be
missing altogether.
"""

from __future__ import annotations

import difflib
import re
from functools import cached_property
from typing import NoReturn

from grammar_core.deadline import check
from grammar_core.errors import (
    DuplicateRuleError,
    GrammarLimitError,
    GrammarSyntaxError,
    UndefinedRuleError,
)
from grammar_core.frontends.ebnf.arguments import ArgumentReader, argument_pattern
from grammar_core.frontends.ebnf.char_classes import parse_char_class
from grammar_core.frontends.ebnf.escapes import MalformedTokenError, decode_literal
from grammar_core.frontends.ebnf.lexer import (
    NAME,
    SKIP,
    RepetitionLimitError,
    bad_token_error,
    has_combining_marks,
    is_first_on_line,
    name_pattern_with_marks,
    parse_operator,
    prepare_text,
    token_pattern,
)
from grammar_core.frontends.ebnf.limits import MAX_GROUP_NESTING, MAX_REPETITION, MAX_RULES
from grammar_core.frontends.ebnf.macros import MACROS
from grammar_core.frontends.ebnf.macros.call import MacroCall
from grammar_core.frontends.ebnf.options import OptionReader, RuleIdUse
from grammar_core.ir.nodes import (
    EMPTY,
    NO_OPTIONS,
    Choice,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
)

_OPENS_GROUP = re.compile(rf"{SKIP}\(")
_LAST_NAME = re.compile(r"(\w+)[ \t]*$")
_LONGEST_CALL = 40
_MOST_NAMES_TO_COMPARE = 2_000


def parse_ebnf(text: str, *, root_rule_name: str = "root") -> tuple[Rule, ...]:
    """The rules of an EBNF grammar, in text order. Raises GrammarError with the position.

    Every reference is defined, no rule is defined twice and the root rule exists.
    """
    return _Parser(prepare_text(text)).parse(root_rule_name)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._reset(NAME)

    def _reset(self, name: str) -> None:
        self.__dict__.pop("_defined", None)
        self._name_pattern = name
        self._pattern = token_pattern(name)
        self._bodies: dict[str, Expr] = {}
        self._rule_options: dict[str, RuleOptions] = {}
        self._lookaheads: dict[str, Expr] = {}
        self._rule_ids: list[RuleIdUse] = []
        self._refs: dict[str, RuleRef] = {}
        self._rule = ""
        # The innermost open group: its finished alternatives, and the items of the one being read.
        self._options: list[Expr] = []
        self._items: list[Expr] = []
        self._groups: list[tuple[list[Expr], list[Expr], int]] = []
        self._repeatable = False
        # The body before the lookahead that is being read, and where to go on behind a macro call.
        self._body: Expr | None = None
        self._resume: int | None = None

    def parse(self, root: str) -> tuple[Rule, ...]:
        try:
            self._read_tokens()
        except GrammarSyntaxError:
            if self._name_pattern != NAME or not has_combining_marks(self._text):
                raise
            self._reset(name_pattern_with_marks())
            return self.parse(root)
        if root not in self._bodies:
            raise UndefinedRuleError.at(f'The root rule "{root}" is not defined', self._text, 0)
        if not self._refs.keys() <= self._bodies.keys():
            self._refuse_undefined_rule()
        self._check_rule_ids()
        if not self._rule_options and not self._lookaheads:
            return tuple(map(Rule, self._bodies.keys(), self._bodies.values()))
        return tuple(
            Rule(name, body, self._rule_options.get(name, NO_OPTIONS), self._lookaheads.get(name))
            for name, body in self._bodies.items()
        )

    def _read_tokens(self) -> None:
        handlers = {
            "name": self._name,
            "assign": self._assign,
            "literal": self._literal,
            "class": self._class,
            "operator": self._operator,
            "bar": self._bar,
            "open": self._open,
            "ahead": self._ahead,
            "close": self._close,
            "bad": self._bad,
        }
        self._require_rule_first()
        self._resume = 0
        while self._resume is not None:
            tokens = self._pattern.finditer(self._text, self._resume)
            self._resume = None
            for match in tokens:
                check()
                kind = match.lastgroup or "bad"
                if kind == "end":
                    break
                try:
                    handlers[kind](match)
                except MalformedTokenError as error:
                    self._refuse_token(error, match.start(kind))
                if self._resume is not None:
                    break
        self._end_rule(match)

    # one method a token

    def _name(self, match: re.Match[str]) -> None:
        name = match["name"]
        ref = self._refs.get(name)
        if ref is None:
            if name in MACROS and self._is_call(match):
                self._call(match)
                return
            ref = self._refer(name)
        self._items.append(ref)
        self._repeatable = True

    def _call(self, match: re.Match[str]) -> None:
        name, offset = match["name"], match.start("name")
        reader = ArgumentReader(self._text, argument_pattern(self._name_pattern), name, offset)
        opening = _OPENS_GROUP.match(self._text, match.end())
        assert opening is not None
        self._resume = reader.read(opening.end())
        call = MacroCall(name, offset, reader.positional, reader.named, self._text, self._refer)
        self._items.append(MACROS[name](call))
        self._repeatable = True

    def _literal(self, match: re.Match[str]) -> None:
        self._items.append(Literal(decode_literal(match["literal"])))
        self._repeatable = True

    def _class(self, match: re.Match[str]) -> None:
        self._items.append(parse_char_class(match["class"]))
        self._repeatable = True

    def _operator(self, match: re.Match[str]) -> None:
        if not self._repeatable:
            self._refuse_operator(match)
        low, high = parse_operator(match["operator"])
        self._items[-1] = Repeat(self._items[-1], low, high)
        self._repeatable = False

    def _bar(self, match: re.Match[str]) -> None:
        self._options.append(_sequence(self._items))
        self._items = []
        self._repeatable = False

    def _open(self, match: re.Match[str]) -> None:
        if len(self._groups) == MAX_GROUP_NESTING:
            raise GrammarLimitError.at(
                f"Groups are nested more than {MAX_GROUP_NESTING:,} deep",
                self._text,
                match.start("open"),
                limit="group_nesting",
                value=MAX_GROUP_NESTING,
            )
        self._groups.append((self._options, self._items, match.start("open")))
        self._options = []
        self._items = []
        self._repeatable = False

    def _ahead(self, match: re.Match[str]) -> None:
        begin = match.start("ahead")
        if self._groups:
            self._refuse("A lookahead (= …) stands at the end of a rule, not in a group", begin)
        if not self._items and not self._options:
            self._refuse('A lookahead (= …) follows the body of a rule; write "" for the empty string', begin)
        self._body = self._alternatives()
        self._groups.append(([], [], begin))
        self._options = []
        self._items = []
        self._repeatable = False

    def _close_ahead(self, match: re.Match[str]) -> None:
        if not self._items and not self._options:
            self._refuse("Expected what follows the rule: the lookahead (= …) is empty", match.start("close"))
        following = self._pattern.match(self._text, match.end())
        if following is None or following.lastgroup not in ("assign", "end"):
            begin = following.start(following.lastgroup or 0) if following else match.end()
            self._refuse("Nothing but the next rule may follow a lookahead (= …)", begin)
        self._lookaheads[self._rule] = self._alternatives()

    def _close(self, match: re.Match[str]) -> None:
        if not self._groups:
            self._refuse("Unexpected ); no group is open here", match.start("close"))
        if self._body is not None and len(self._groups) == 1:
            self._close_ahead(match)
            self._groups.pop()
            self._options, self._items, self._body = [], [self._body], None
            return
        group = self._alternatives()
        self._options, self._items, _ = self._groups.pop()
        self._items.append(group)
        self._repeatable = True

    def _assign(self, match: re.Match[str]) -> None:
        name, offset = match["name"], match.start("name")
        if self._rule:
            self._end_rule(match)
        if not is_first_on_line(self._text, offset):
            self._refuse(f'The rule name "{name}" must be the first token on its line', offset)
        if name in self._bodies:
            raise DuplicateRuleError.at(f'Rule "{name}" is defined more than once', self._text, offset)
        if len(self._bodies) == MAX_RULES:
            raise GrammarLimitError.at(
                f"The grammar has more than {MAX_RULES:,} rules",
                self._text,
                offset,
                limit="rules",
                value=MAX_RULES,
            )
        self._rule = name
        if match["options"] is not None:
            reader = OptionReader(self._text, name, match.start("options"))
            self._rule_options[name] = reader.read()
            self._rule_ids += reader.rule_ids

    def _bad(self, match: re.Match[str]) -> None:
        self._refuse_misspelt_macro()
        raise bad_token_error(self._text, match.start("bad"))

    # what the methods share

    def _refer(self, name: str) -> RuleRef:
        ref = self._refs.get(name)
        if ref is None:
            ref = self._refs[name] = RuleRef(name)
        return ref

    def _is_call(self, match: re.Match[str]) -> bool:
        """Whether the macro of this name is called: the grammar may define a rule of the name instead."""
        return _OPENS_GROUP.match(self._text, match.end()) is not None and match["name"] not in self._defined

    @cached_property
    def _defined(self) -> frozenset[str]:
        """The names before a ::=, also of rules that are yet to be read."""
        return frozenset(m["name"] for m in self._pattern.finditer(self._text) if m.lastgroup == "assign")

    def _check_rule_ids(self) -> None:
        for option, rule_id, offset in self._rule_ids:
            if rule_id >= len(self._bodies):
                self._refuse(
                    f"{option} names rule {rule_id}, but rules go from 0 to {len(self._bodies) - 1}", offset
                )

    def _end_rule(self, following: re.Match[str]) -> None:
        if self._groups:
            self._refuse("This group is not closed: ) is missing", self._groups[-1][2])
        if not self._items and not self._options:
            begin = following.start(following.lastindex or 0)
            if following.lastgroup == "assign":
                begin = following.start("name")
            self._refuse(f'Rule "{self._rule}" has no body; write "" for the empty string', begin)
        self._bodies[self._rule] = self._alternatives()
        self._options = []
        self._items = []
        self._repeatable = False

    def _alternatives(self) -> Expr:
        if not self._options:
            return _sequence(self._items)
        self._options.append(_sequence(self._items))
        return Choice(tuple(self._options))

    # refusals: everything below runs once, on the way out

    def _require_rule_first(self) -> None:
        first = self._pattern.match(self._text)
        kind = first.lastgroup if first else "end"
        if kind == "end":
            self._refuse("The grammar is empty: it needs at least one rule, name ::= expression", 0)
        if first is None or kind in ("assign", "bad"):
            return
        begin = first.start(kind or 0)
        if kind == "name":
            following = self._pattern.match(self._text, first.end())
            if following is not None and following["bad"] == "[":
                raise bad_token_error(self._text, following.start("bad"))
            self._refuse(f'Expected ::= after the rule name "{first["name"]}"', begin)
        self._refuse("Expected a rule definition: name ::= expression", begin)

    def _refuse(self, message: str, offset: int) -> NoReturn:
        raise GrammarSyntaxError.at(message, self._text, offset)

    def _refuse_token(self, error: MalformedTokenError, begin: int) -> NoReturn:
        offset = begin + error.offset
        if isinstance(error, RepetitionLimitError):
            raise GrammarLimitError.at(
                error.message, self._text, offset, limit="repetition", value=MAX_REPETITION
            ) from None
        raise GrammarSyntaxError.at(error.message, self._text, offset) from None

    def _refuse_operator(self, match: re.Match[str]) -> NoReturn:
        begin = match.start("operator")
        operator = match["operator"]
        if self._items:
            self._refuse(f'Two repetition operators in a row; group the first, as in ("a"+){operator}', begin)
        self._refuse(f"Nothing to repeat before {operator}", begin)

    def _refuse_misspelt_macro(self) -> None:
        """Where the arguments of what looks like a macro make no sense in a group, the name is wrong."""
        begin = self._groups[-1][2] if self._groups else 0
        called = _LAST_NAME.search(self._text, max(0, begin - _LONGEST_CALL), begin)
        if called and called[1] not in self._defined and _similar_macro(called[1]):
            message = f'Rule "{called[1]}" is not defined{self._hint(called[1], called.start())}'
            raise UndefinedRuleError.at(message, self._text, called.start())

    def _refuse_undefined_rule(self) -> NoReturn:
        undefined = self._refs.keys() - self._bodies.keys()
        for match in self._pattern.finditer(self._text):
            if match.lastgroup == "name" and match["name"] in undefined:
                name, begin = match["name"], match.start("name")
                message = f'Rule "{name}" is not defined{self._hint(name, begin)}'
                raise UndefinedRuleError.at(message, self._text, begin)
        raise AssertionError("every reference comes from a token")

    def _hint(self, name: str, begin: int) -> str:
        if name == ".":
            return "; any character is written [^]"
        macro = _similar_macro(name)
        if macro and _OPENS_GROUP.match(self._text, begin + len(name)):
            return f"; did you mean the macro {macro}(…)?"
        if len(self._bodies) <= _MOST_NAMES_TO_COMPARE:
            similar = difflib.get_close_matches(name, self._bodies, n=1)
            if similar:
                return f'; did you mean "{similar[0]}"?'
        if is_first_on_line(self._text, begin):
            return f"; to define it, write {name} ::= …"
        return ""


def _sequence(items: list[Expr]) -> Expr:
    if len(items) == 1:
        return items[0]
    return Sequence(tuple(items)) if items else EMPTY


def _similar_macro(name: str) -> str | None:
    macros = {macro.lower(): macro for macro in MACROS}
    similar = difflib.get_close_matches(name.lower(), macros, n=1)
    return macros[similar[0]] if similar else None
