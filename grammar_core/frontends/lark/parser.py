"""Lark text to namespaces: one pass over the tokens, with explicit stacks of open groups and `%lark` blocks.

grammar = { item newline }
item    = [ "?" | "!" ] name [ options ] ":" alternatives | directive
"""

from __future__ import annotations

import re

from grammar_core.deadline import check
from grammar_core.frontends.lark import refusals
from grammar_core.frontends.lark.body import Body
from grammar_core.frontends.lark.body_reader import BodyReader, Handler
from grammar_core.frontends.lark.embedding import Embeddings
from grammar_core.frontends.lark.errors import DuplicateNameError, limit_error
from grammar_core.frontends.lark.imports import read_imports
from grammar_core.frontends.lark.limits import MAX_DEFINITIONS, MAX_LARK_NESTING
from grammar_core.frontends.lark.namespace import NO_SPEC, Definition, Namespace, is_terminal_name
from grammar_core.frontends.lark.options import OptionReader
from grammar_core.frontends.lark.settings import read_settings
from grammar_core.ir.nodes import EMPTY, Expr


class Parser(BodyReader):
    """Reads one text, whose names get `prefix` in expressions."""

    def __init__(self, text: str, prefix: str, embeddings: Embeddings) -> None:
        super().__init__(text, embeddings)
        self._namespaces: list[Namespace] = []
        self._open: list[tuple[Namespace, Body, tuple[dict[str, Expr], ...]]] = []
        self._line_handlers = self._handlers_of_lines()
        self._body_handlers = self._handlers_of_bodies()
        self._handlers = self._line_handlers
        self._begin_namespace(prefix, 0)

    def parse(self) -> list[Namespace]:
        """The whole text's namespace, and one for each `%lark` block. Raises LarkError, GrammarLimitError."""
        matches = self._tokens.matches
        while self._index < len(matches):
            check()
            match = matches[self._index]
            self._index += 1
            self._handlers[match.lastgroup or "bad"](match)
        return self._namespaces

    def _handlers_of_lines(self) -> dict[str, Handler]:
        handlers: dict[str, Handler] = {
            "colon": self._define,
            "name": self._name_without_colon,
            "bang": self._prefix,
            "operator": self._prefix,
            "import": self._import,
            "ignore": self._begin_ignore,
            "settings": self._settings,
            "directive": self._unknown_directive,
            "newline": self._no_item,
            "end": self._end,
            "brace": self._brace,
            "bad": self._bad,
        }
        others = ("string", "dots", "bar", "regex", "open", "close", "opt", "shut", "alias", "tilde", "amp")
        tokens = ("ids", "token", "at", "json", "substring", "lark")
        return dict.fromkeys((*others, *tokens), self._no_definition) | handlers

    def _handlers_of_bodies(self) -> dict[str, Handler]:
        return self._element_handlers | {
            "lark": self._lark,
            "newline": self._newline,
            "end": self._end,
            "brace": self._brace,
            "colon": self._definition_in_body,
            "bang": self._bad,
            "import": self._directive_in_body,
            "ignore": self._directive_in_body,
            "settings": self._directive_in_body,
            "directive": self._unknown_directive,
            "bad": self._bad,
        }

    # namespaces

    def _begin_namespace(self, prefix: str, offset: int) -> None:
        weaves = len(self._namespaces) in self._tokens.ignores
        self._namespace = Namespace(self._text, prefix, offset, weaves)
        self._namespaces.append(self._namespace)
        self._ignored = self._namespace.ignored_text()
        # What was read in bodies of rules, of rules that are one lexeme, and of terminals.
        self._atoms: tuple[dict[str, Expr], ...] = ({}, {}, {})
        self._handlers = self._line_handlers

    def _lark(self, match: re.Match[str]) -> None:
        offset = match.start("lark")
        self._require_rule("A %lark block", offset)
        if len(self._open) == MAX_LARK_NESTING:
            message = f"%lark blocks are nested more than {MAX_LARK_NESTING} deep"
            raise limit_error(message, self._text, offset, "lark_nesting", MAX_LARK_NESTING)
        self._open.append((self._namespace, self._body, self._atoms))
        self._begin_namespace(self._embeddings.new_prefix("lark"), offset)

    def _brace(self, match: re.Match[str]) -> None:
        if not self._open:
            self._refuse("Unexpected }; no %lark block is open here", match.start("brace"))
        if self._handlers is self._body_handlers:
            self._end_item()
        inner = self._namespace
        self._namespace, self._body, self._atoms = self._open.pop()
        self._ignored = self._namespace.ignored_text()
        self._handlers = self._body_handlers
        self._add(self._embedded(self._embeddings.root_of(inner.prefix)))

    # items

    def _define(self, match: re.Match[str]) -> None:
        name, offset = match["name"], match.start("name")
        is_terminal = is_terminal_name(name)
        definition = self._add_definition(name, offset, is_terminal)
        if match["options"] is not None:
            if is_terminal:
                message = f'The terminal "{name}" cannot have options; they are for rules'
                self._refuse(message, match.start("options"))
            reader = OptionReader(self._text, name, match.start("options"), self._refer_marker)
            definition.spec = reader.read()
        self._begin_body(definition)

    def _add_definition(self, name: str, offset: int, is_terminal: bool) -> Definition:
        definitions = self._namespace.definitions
        if name in definitions:
            kind = "Terminal" if is_terminal else "Rule"
            raise DuplicateNameError.at(f'{kind} "{name}" is defined more than once', self._text, offset)
        if len(definitions) == MAX_DEFINITIONS:
            message = f"The grammar has more than {MAX_DEFINITIONS:,} definitions"
            raise limit_error(message, self._text, offset, "definitions", MAX_DEFINITIONS)
        if not name.strip("_-"):
            self._refuse(f"The name {name} needs a letter", offset)
        definition = definitions[name] = Definition(name, offset, is_terminal)
        return definition

    def _begin_body(self, definition: Definition) -> None:
        is_lexical = definition.spec is not NO_SPEC and definition.spec.is_lexical
        weaves = self._namespace.weaves and not definition.is_terminal and not is_lexical
        atoms = self._atoms[2 if definition.is_terminal else int(is_lexical)]
        self._body = Body(definition, atoms, definition.is_terminal, weaves, definition.uses)
        self._handlers = self._body_handlers

    def _begin_ignore(self, match: re.Match[str]) -> None:
        self._body = Body(None, self._atoms[2], True, False, self._namespace.ignored_uses)
        self._handlers = self._body_handlers

    def _import(self, match: re.Match[str]) -> None:
        for name, expr, offset in read_imports(match["import"], self._text, match.start("import")):
            if not is_terminal_name(name):
                self._refuse(f'A terminal is imported, and "{name}" is the name of a rule', offset)
            self._add_definition(name, offset, True).body = expr

    def _settings(self, match: re.Match[str]) -> None:
        read_settings(match["settings"], self._json_value(), self._text, self._namespace)

    def _prefix(self, match: re.Match[str]) -> None:
        offset = match.start(match.lastgroup or 0)
        following = self._tokens.matches[self._index]
        if match.group(match.lastgroup or 0) not in "?!" or following.lastgroup not in ("colon", "bang"):
            self._no_definition(match)
        if following.lastgroup == "colon" and is_terminal_name(following["name"]):
            self._refuse("The prefixes ? and ! are for rules, not for terminals", offset)

    def _no_item(self, match: re.Match[str]) -> None:
        """An empty line."""

    def _newline(self, match: re.Match[str]) -> None:
        self._end_item()
        self._handlers = self._line_handlers

    def _end(self, match: re.Match[str]) -> None:
        if self._handlers is self._body_handlers:
            self._end_item()
        if self._open:
            self._refuse("This %lark block is not closed: } is missing", self._namespace.offset)

    def _end_item(self) -> None:
        body = self._body
        if body.groups:
            group = body.groups[-1]
            closer = ")" if group.opener == "(" else "]"
            self._refuse(
                f"This group is not closed: {closer} is missing (only a line that begins with | goes on)",
                group.offset,
            )
        self._end_alternative()
        expr = body.alternatives()
        if body.definition is None:
            if expr == EMPTY:
                self._refuse("Expected what is to be ignored", self._tokens.matches[self._index - 1].start())
            self._namespace.ignored.append(expr)
        else:
            body.definition.body = expr

    # refusals

    def _name_without_colon(self, match: re.Match[str]) -> None:
        self._refuse(*refusals.missing_colon(self._text, match))

    def _no_definition(self, match: re.Match[str]) -> None:
        offset = match.start(match.lastgroup or 0)
        self._refuse(refusals.no_definition(self._text, offset), offset)

    def _definition_in_body(self, match: re.Match[str]) -> None:
        message = f'The definition of "{match["name"]}" must begin on a line of its own'
        self._refuse(message, match.start("name"))

    def _directive_in_body(self, match: re.Match[str]) -> None:
        self._refuse("A directive must begin on a line of its own", match.start(match.lastgroup or 0))

    def _unknown_directive(self, match: re.Match[str]) -> None:
        self._refuse(refusals.unknown_directive(match["directive"]), match.start("directive"))

    def _bad(self, match: re.Match[str]) -> None:
        offset = match.start(match.lastgroup or 0)
        self._refuse(refusals.bad_character(self._text, offset), offset)
