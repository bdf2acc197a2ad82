"""Lark text to namespaces: one pass over the tokens, with explicit stacks of open groups and `%lark` blocks.

grammar      = { item newline }
item         = [ "?" | "!" ] name [ options ] ":" alternatives | directive
alternatives = alternative { "|" alternative }
alternative  = conjunct { "&" conjunct } [ "->" name ]
conjunct     = { [ "~" ] element [ operator ] }
element      = string | string ".." string | regex | name | "(" alternatives ")" | "[" alternatives "]"
             | special token | "@" name | "%json" … | "%regex" … | "%lark" "{" grammar "}"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NoReturn

from grammar_core.frontends.lark import refusals
from grammar_core.frontends.lark.body import Body, sequence
from grammar_core.frontends.lark.embedding import Embeddings
from grammar_core.frontends.lark.errors import DuplicateNameError, LarkError, limit_error
from grammar_core.frontends.lark.imports import read_imports
from grammar_core.frontends.lark.lexer import JsonText, tokenize
from grammar_core.frontends.lark.limits import (
    MAX_DEFINITIONS,
    MAX_GROUP_NESTING,
    MAX_LARK_NESTING,
)
from grammar_core.frontends.lark.namespace import (
    NO_SPEC,
    Definition,
    Namespace,
    Product,
    is_terminal_name,
    lexeme_name,
)
from grammar_core.frontends.lark.nonempty import without_empty
from grammar_core.frontends.lark.options import OptionReader
from grammar_core.frontends.lark.patterns import ANY_TEXT, is_trigger, read_regex
from grammar_core.frontends.lark.repetition import read_operator
from grammar_core.frontends.lark.settings import read_settings
from grammar_core.frontends.lark.strings import ignoring_case, read_string
from grammar_core.frontends.lark.substrings import read_substring
from grammar_core.ir import nodes
from grammar_core.ir.char_ranges import normalize_ranges
from grammar_core.ir.nodes import (
    EMPTY,
    CharClass,
    Choice,
    Expr,
    Repeat,
    RuleRef,
    Sequence,
)

_Handler = Callable[[re.Match[str]], None]
_NOTHING = nodes.Literal(b"")
_ENDS_ALTERNATIVE = frozenset(("bar", "newline", "end", "brace", "close", "shut", "amp"))
_ATOMS = frozenset(("name", "string", "dots", "regex", "open", "substring"))


class Parser:
    """Reads one text, whose names get `prefix` in expressions."""

    def __init__(self, text: str, prefix: str, embeddings: Embeddings) -> None:
        self._text = text
        self._embeddings = embeddings
        self._tokens = tokenize(text)
        self._index = 0
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
            match = matches[self._index]
            self._index += 1
            self._handlers[match.lastgroup or "bad"](match)
        return self._namespaces

    def _handlers_of_lines(self) -> dict[str, _Handler]:
        handlers: dict[str, _Handler] = {
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

    def _handlers_of_bodies(self) -> dict[str, _Handler]:
        return {
            "name": self._name,
            "string": self._string,
            "regex": self._regex,
            "dots": self._range,
            "operator": self._operator,
            "bar": self._bar,
            "amp": self._amp,
            "tilde": self._tilde,
            "alias": self._alias,
            "open": self._open_group,
            "opt": self._open_group,
            "close": self._close_group,
            "shut": self._close_group,
            "ids": self._special_token,
            "token": self._special_token,
            "at": self._named,
            "json": self._json,
            "substring": self._substring,
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

    def _embedded(self, root: RuleRef) -> Expr:
        """The element for an embedded grammar in the body that is being read."""
        if not self._body.weaves:
            return root
        lexeme = RuleRef(lexeme_name(f"{root.name}.{len(self._namespace.embedded)}"))
        self._namespace.embedded.append((lexeme.name, root))
        return lexeme

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

    # elements

    def _name(self, match: re.Match[str]) -> None:
        name = match["name"]
        body = self._body
        if body.is_terminal:
            body.uses.append(name)
        atom = body.atoms.get(name)
        if atom is None:
            atom = body.atoms[name] = self._refer(name, match.start("name"))
        body.items.append(atom)
        body.is_repeatable = True
        if body.negated_at is not None:
            self._negate_last()

    def _refer(self, name: str, offset: int) -> Expr:
        body = self._body
        self._namespace.first_uses.setdefault(name, offset)
        full_name = self._namespace.prefix + name
        if is_terminal_name(name):
            if body.weaves:
                self._namespace.lexemes.add(name)
                return RuleRef(lexeme_name(full_name))
            return RuleRef(full_name)
        definition = body.definition
        if definition is None:
            self._refuse(f'What is ignored cannot refer to the rule "{name}"', offset)
        if definition.is_terminal:
            self._refuse(f'The terminal "{definition.name}" cannot refer to the rule "{name}"', offset)
        if definition.spec.marker is not None:
            kind = definition.spec.marker.kind
            message = (
                f'The body of a rule with {kind} must be a terminal expression, without the rule "{name}"'
            )
            self._refuse(message, offset)
        if definition.spec.is_lexical and self._namespace.weaves:
            message = f'The body of a lazy rule is one lexeme, but the rule "{name}" has text ignored in it'
            self._refuse(message, offset)
        return RuleRef(full_name)

    def _refer_marker(self, name: str, offset: int) -> Expr:
        self._namespace.first_uses.setdefault(name, offset)
        return RuleRef(self._namespace.prefix + name)

    def _string(self, match: re.Match[str]) -> None:
        token = match["string"]
        atom = self._body.atoms.get(token)
        if atom is None:
            expr = self._read_string(token, match.start("string"))
            # Every string but the empty one is a lexeme.
            is_woven = self._body.weaves and expr != _NOTHING
            atom = self._body.atoms[token] = Sequence((expr, self._ignored)) if is_woven else expr
        self._add(atom)

    def _read_string(self, token: str, offset: int) -> Expr:
        value = read_string(token.removesuffix("i"), self._text, offset)
        if token.endswith("i"):
            return ignoring_case(value, self._text, offset)
        return nodes.Literal(value.encode())

    def _regex(self, match: re.Match[str]) -> None:
        expr = read_regex(match["regex"], self._text, match.start("regex"))
        if self._body.definition is not None and is_trigger(expr):
            self._body.definition.has_regex_trigger = True
        self._add(self._woven(expr))

    def _range(self, match: re.Match[str]) -> None:
        last = self._tokens.matches[self._index]
        if last.lastgroup != "string":
            self._refuse("Expected a string after ..", last.start(last.lastgroup or 0))
        self._index += 1
        ends = []
        for end in (match, last):
            token, offset = end["string"], end.start("string")
            if token.endswith("i"):
                self._refuse("The ends of a range cannot have the flag i", offset)
            value = read_string(token, self._text, offset)
            if len(value) != 1:
                self._refuse("The ends of a range are exactly one character each", offset)
            ends.append(ord(value))
        if ends[0] > ends[1]:
            self._refuse(
                "This range is empty: its first character comes after its last", match.start("string")
            )
        self._add(self._woven(CharClass(normalize_ranges([(ends[0], ends[1])]))))

    def _special_token(self, match: re.Match[str]) -> None:
        kind = match.lastgroup or "ids"
        token, offset = match[kind], match.start(kind)
        self._require_rule("A special token", offset)
        atom = self._body.atoms.get(token)
        if atom is None:
            tokens = self._embeddings.special_tokens
            read = tokens.read_ids if kind == "ids" else tokens.read_name
            atom = self._body.atoms[token] = self._woven(read(token, self._text, offset))
        self._add(atom)

    def _named(self, match: re.Match[str]) -> None:
        offset = match.start("at")
        self._require_rule("A named grammar", offset)
        root = self._embeddings.named(match["at"][1:], self._text, offset)
        self._add(self._embedded(root))

    def _json(self, match: re.Match[str]) -> None:
        offset = match.start("json")
        self._require_rule("%json", offset)
        schema = self._json_value()
        self._add(self._embedded(self._embeddings.json(schema, self._text, offset)))

    def _substring(self, match: re.Match[str]) -> None:
        self._add(self._woven(read_substring(self._json_value(), self._text)))

    def _json_value(self) -> JsonText:
        found = self._tokens.values[self._index - 1]
        if found.problem is not None:
            raise found.problem
        return found

    def _add(self, atom: Expr) -> None:
        self._body.items.append(atom)
        self._body.is_repeatable = True
        if self._body.negated_at is not None:
            self._negate_last()

    def _woven(self, expr: Expr) -> Expr:
        """What is matched whole, with what may be ignored after it; nothing may be after no text at all."""
        if not self._body.weaves or expr is ANY_TEXT:
            return expr
        other = without_empty(expr)
        if other is None:
            return EMPTY
        woven = Sequence((other.expr, self._ignored))
        return Choice((EMPTY, woven)) if other.was_nullable else woven

    def _require_rule(self, what: str, offset: int) -> None:
        if self._body.is_terminal:
            place = "in what is ignored" if self._body.definition is None else "in a terminal"
            self._refuse(f"{what} cannot stand {place}", offset)

    # operators and groups

    def _operator(self, match: re.Match[str]) -> None:
        body = self._body
        offset = match.start("operator")
        if not body.is_repeatable:
            operator = match["operator"]
            if body.items:
                self._refuse(
                    f'Two repetition operators in a row; group the first, as in ("a"+){operator}', offset
                )
            self._refuse(f"Nothing to repeat before {operator}", offset)
        low, high = read_operator(match["operator"], self._text, offset)
        body.items[-1] = Repeat(body.items[-1], low, high)
        body.is_repeatable = False

    def _bar(self, match: re.Match[str]) -> None:
        self._end_alternative()

    def _amp(self, match: re.Match[str]) -> None:
        offset = match.start("amp")
        if not self._body.is_terminal:
            self._refuse("& combines terminals; give the expression a name in capitals", offset)
        if not self._body.items:
            self._refuse("Expected an expression before &", offset)
        self._check_negation()
        self._body.conjuncts.append(sequence(self._body.items))
        self._body.items = []
        self._body.is_repeatable = False

    def _tilde(self, match: re.Match[str]) -> None:
        following = self._tokens.matches[self._index]
        offset = match.start("tilde")
        if following.lastgroup not in _ATOMS:
            self._refuse("Expected a terminal expression after ~, or a number for a repetition", offset)
        self._body.negated_at = offset

    def _negate_last(self) -> None:
        body = self._body
        offset, body.negated_at = body.negated_at, None
        if not body.is_terminal:
            self._refuse("~ negates terminals; give the expression a name in capitals", offset or 0)
        body.items[-1] = self._product("~", (body.items[-1],), offset or 0)

    def _product(self, operator: Literal["&", "~"], operands: tuple[Expr, ...], offset: int) -> RuleRef:
        definition = self._body.definition
        name = "ignored" if definition is None else definition.name
        reference = RuleRef(f"{self._namespace.prefix}{name}.{len(self._namespace.products) + 1}")
        self._namespace.products[reference.name] = Product(operator, operands, name, offset)
        return reference

    def _alias(self, match: re.Match[str]) -> None:
        offset = match.start("alias")
        if self._body.is_terminal:
            self._refuse("An alias belongs to an alternative of a rule", offset)
        following = self._tokens.matches[self._index]
        if following.lastgroup not in _ENDS_ALTERNATIVE:
            message = "Expected | or the end of the line after an alias"
            self._refuse(message, following.start(following.lastgroup or 0))
        self._body.is_repeatable = False

    def _open_group(self, match: re.Match[str]) -> None:
        offset = match.start(match.lastgroup or 0)
        if len(self._body.groups) == MAX_GROUP_NESTING:
            message = f"Groups are nested more than {MAX_GROUP_NESTING:,} deep"
            raise limit_error(message, self._text, offset, "group_nesting", MAX_GROUP_NESTING)
        self._body.open_group("(" if match.lastgroup == "open" else "[", offset)

    def _close_group(self, match: re.Match[str]) -> None:
        body = self._body
        closer = ")" if match.lastgroup == "close" else "]"
        offset = match.start(match.lastgroup or 0)
        if not body.groups or body.groups[-1].opener != ("(" if closer == ")" else "["):
            self._refuse(f"Unexpected {closer}; no such group is open here", offset)
        self._end_alternative()
        expr = body.alternatives()
        body.close_group()
        self._add(expr if closer == ")" else Repeat(expr, 0, 1))

    def _end_alternative(self) -> None:
        body = self._body
        self._check_negation()
        expr = sequence(body.items)
        if body.conjuncts:
            end = self._tokens.matches[self._index - 1]
            if not body.items:
                self._refuse("Expected an expression after &", end.start(end.lastgroup or 0))
            expr = self._product("&", (*body.conjuncts, expr), end.start())
            body.conjuncts = []
        body.options.append(expr)
        body.items = []
        body.is_repeatable = False

    def _check_negation(self) -> None:
        if self._body.negated_at is not None:
            self._refuse("Expected a terminal expression after ~", self._body.negated_at)

    # refusals

    def _refuse(self, message: str, offset: int) -> NoReturn:
        raise LarkError.at(message, self._text, offset)

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
