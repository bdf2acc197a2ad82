"""The bodies of rules and terminals: elements, operators and groups, with an explicit stack of open groups.

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

from grammar_core.frontends.lark.body import Body, sequence
from grammar_core.frontends.lark.embedding import Embeddings
from grammar_core.frontends.lark.errors import LarkError, limit_error
from grammar_core.frontends.lark.lexer import JsonText, tokenize
from grammar_core.frontends.lark.limits import MAX_GROUP_NESTING
from grammar_core.frontends.lark.namespace import (
    Namespace,
    Product,
    is_terminal_name,
    lexeme_name,
)
from grammar_core.frontends.lark.nonempty import without_empty
from grammar_core.frontends.lark.patterns import ANY_TEXT, is_trigger, read_regex
from grammar_core.frontends.lark.repetition import read_operator
from grammar_core.frontends.lark.strings import ignoring_case, read_string
from grammar_core.frontends.lark.substrings import read_substring
from grammar_core.ir import nodes
from grammar_core.ir.char_ranges import normalize_ranges
from grammar_core.ir.nodes import EMPTY, CharClass, Choice, Expr, Repeat, RuleRef, Sequence

Handler = Callable[[re.Match[str]], None]
_NOTHING = nodes.Literal(b"")
_ENDS_ALTERNATIVE = frozenset(("bar", "newline", "end", "brace", "close", "shut", "amp"))
_ATOMS = frozenset(("name", "string", "dots", "regex", "open", "substring"))


class BodyReader:
    """Reads the tokens of one text into the body that is open. One method a kind of token."""

    _namespace: Namespace
    _body: Body
    _ignored: RuleRef

    def __init__(self, text: str, embeddings: Embeddings) -> None:
        self._text = text
        self._embeddings = embeddings
        self._tokens = tokenize(text)
        self._index = 0
        self._element_handlers: dict[str, Handler] = {
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
        }

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

    def _embedded(self, root: RuleRef) -> Expr:
        """The element for an embedded grammar in the body that is being read."""
        if not self._body.weaves:
            return root
        lexeme = RuleRef(lexeme_name(f"{root.name}.{len(self._namespace.embedded)}"))
        self._namespace.embedded.append((lexeme.name, root))
        return lexeme

    def _refuse(self, message: str, offset: int) -> NoReturn:
        raise LarkError.at(message, self._text, offset)
