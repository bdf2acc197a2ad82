"""Goals to rules: every goal that is reached becomes an expression, or a rule where it may recur."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from grammar_core.deadline import check, check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.json_schema import (
    array_emission,
    object_emission,
    object_keywords,
    scalar_keywords,
)
from grammar_core.frontends.json_schema.applicators import COMBINING, own_alternatives
from grammar_core.frontends.json_schema.choices import choice
from grammar_core.frontends.json_schema.dialects import Dialect
from grammar_core.frontends.json_schema.errors import (
    EmptySchemaError,
    JsonSchemaError,
    JsonSchemaLimitError,
)
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.full_sets import FULL
from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.key_regions import Regions
from grammar_core.frontends.json_schema.layout import Layout
from grammar_core.frontends.json_schema.paths import pointer_of
from grammar_core.frontends.json_schema.shapes import ObjectShape
from grammar_core.frontends.json_schema.speller import Speller, without_hold
from grammar_core.frontends.json_schema.subschemas import ASSERTIONS
from grammar_core.frontends.json_schema.texts import Lexical, TextLanguage, join_automata
from grammar_core.frontends.json_schema.values import (
    ARRAY,
    BOOLEAN,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    TYPES,
    quote,
)
from grammar_core.ir.char_ranges import complement_ranges
from grammar_core.ir.nodes import (
    CharClass,
    Choice,
    Expr,
    Literal,
    Member,
    OtherTexts,
    Rule,
    RuleRef,
    Sequence,
    matches_nothing,
)
from grammar_core.ir.traversal import have_same_types

MAX_INDENTED_DEPTH = 200
"""Levels of indented texts; rules are made for each, so a schema that contains itself cannot be indented."""
MAX_RULES = 500_000

SCALARS = frozenset((NULL, BOOLEAN, NUMBER, STRING))
_WORDS = {True: Literal(b"true"), False: Literal(b"false")}
_NULL_WORD = Literal(b"null")
_QUOTE = Literal(b'"')
_RECURRING = frozenset(("json_string", "json_plain_string", "json_number", "json_integer"))


def _plain_key_character() -> Expr:
    """A character of a key, escaped only where it must be, as `json.dumps` escapes."""
    unescaped = CharClass(complement_ranges(((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))))
    short = CharClass(tuple((ord(c), ord(c)) for c in '"\\bfnrt'))
    low = Sequence((Literal(b"0"), CharClass(((48, 55), (98, 98), (101, 102)))))
    high = Sequence((Literal(b"1"), CharClass(((48, 57), (97, 102)))))
    numbered = Sequence((Literal(b"u00"), Choice((low, high))))
    return Choice((unescaped, Sequence((Literal(b"\\"), Choice((short, numbered))))))


_KEY_CHARACTER = _plain_key_character()
_PLAIN_KEYWORDS = frozenset(("type", "properties", "required", "additionalProperties"))
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")


Leaf: TypeAlias = frozenset[tuple[str, str | int | tuple[str, ...]]]
"""The keywords of a schema without schemas inside."""


class LeafRules(NamedTuple):
    """The expression of a leaf and the rules that it refers to."""

    expression: Expr
    rules: tuple[Rule, ...]


class Recurring(NamedTuple):
    """What is remembered of other grammars: rules of leaves, and of keys in which a pattern is found."""

    leaf: Callable[[Leaf, Dialect, Lexical], LeafRules | None]
    keys: Callable[[str, Lexical], LeafRules | None]


NOTHING_RECURS = Recurring(lambda *_: None, lambda *_: None)


class Emitter:
    """The rules made so far, and the goals whose rules are still to be written.

    Its methods say how each part of a value is written, as JSON; another notation overrides them.
    """

    object_brackets: tuple[Expr, Expr] = (Literal(b"{"), Literal(b"}"))
    array_brackets: tuple[Expr, Expr] = (Literal(b"["), Literal(b"]"))
    writes_json = True
    """Whether keys, and strings in arrays, are strings of JSON."""
    shares_rules = False
    """Whether rules that are the same in every grammar have no prefix."""

    def __init__(
        self,
        expander: Expander,
        layout: Layout,
        *,
        lexical: Lexical,
        any_order: bool,
        is_strict: bool,
        recurring: Recurring,
        prefix: str = "",
    ) -> None:
        self.expander = expander
        self.layout = layout
        self.lexical = lexical
        self.any_order = any_order
        self.is_strict = is_strict
        self._recurring = recurring
        self._prefix = prefix
        self.rules: list[Rule] = []
        self._names: dict[str, int] = dict.fromkeys((rule.name for rule in layout.rules), 1)
        self._defined: dict[str, dict[Expr, list[tuple[Expr, RuleRef]]]] = {}
        self._languages: dict[int, tuple[Any, Expr]] = {}
        self._known: set[str] = set()
        self._patterns: dict[int, tuple[TextLanguage, str]] = {}
        self.regions = Regions()
        # By identity, and with the objects themselves, which keeps them.
        self.region_members: dict[tuple[int, Goal, int, bool], tuple[object, list[Member]]] = {}
        self._other_members: dict[tuple[int, int], tuple[TextLanguage, Expr, RuleRef]] = {}
        self._key_languages: dict[int, tuple[TextLanguage, Expr]] = {}
        self._members: dict[tuple[str, int], RuleRef] = {}
        define = without_hold(self.define)
        self._speller = Speller(define, is_plain=False)
        self._key_speller = Speller(define, is_plain=lexical == "natural")
        self._values: list[Expr] = []
        self._goals: dict[tuple[Goal, int], Expr] = {}
        self._pending: list[Callable[[], None]] = []
        self._any: RuleRef | None = None

    def emit(self, root: Goal) -> None:
        """Write the rule `root` and all that it needs."""
        self._names["root"] = 1
        body = self._known_leaf(root) or self._body(root, 0)
        if matches_nothing(body):
            raise EmptySchemaError("The schema allows no value")
        self.rules.insert(0, Rule("root", body))
        while self._pending:
            check()
            self._pending.pop()()

    def emit_value(self, goal: Goal) -> RuleRef:
        """Write a rule of the values that meet the goal, and all that it needs."""
        reference = RuleRef(self.fresh("schema"))
        place = len(self.rules)
        body = self._known_leaf(goal) or self._body(goal, 0)
        if matches_nothing(body):
            raise EmptySchemaError("The schema allows no value")
        self.rules.insert(place, Rule(reference.name, body))
        while self._pending:
            check()
            self._pending.pop()()
        return reference

    # --- rules

    def fresh(self, hint: str) -> str:
        """A rule name that is not in use, like the hint."""
        is_name = len(hint) <= 40 and hint.isidentifier() and hint.isascii()
        name = self._prefix + (hint if is_name else _rule_name(hint))
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        if not count:
            return name
        unique = f"{name}_{count}"
        while unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names[name] = count + 1
        self._names[unique] = 1
        return unique

    def add(self, hint: str, body: Expr) -> RuleRef:
        """A new rule."""
        check()
        if len(self.rules) >= MAX_RULES:
            raise JsonSchemaLimitError(
                f"The schema needs more than {MAX_RULES:,} rules", limit="schema_rules", value=MAX_RULES
            )
        name = self.fresh(hint)
        self.rules.append(Rule(name, body))
        return RuleRef(name)

    def define(self, hint: str, body: Expr) -> RuleRef:
        """The rule with this hint and body, made when it is first asked for."""
        known = self._defined.setdefault(hint, {})
        for other, reference in known.get(body, ()):
            if other is body or have_same_types(other, body):
                return reference
        if hint in _RECURRING and not known and (self.shares_rules or not self._prefix):
            reference = RuleRef(hint if self.shares_rules else self.fresh(hint))
            self.rules.append(Rule(reference.name, body))
        else:
            reference = self.add(hint, body)
        known.setdefault(body, []).append((body, reference))
        return reference

    # --- values

    def value(self, goal: Goal, depth: int, hint: str = "value") -> Expr:
        """An expression of the values that meet the goal; `depth` counts the brackets around it."""
        if not goal:
            return self.any_value()
        if self.layout.indent is None:
            depth = 0
        key = (goal, depth)
        found = self._goals.get(key)
        if found is None:
            found = self._goals[key] = self._new_value(goal, depth, hint)
        return found

    def item(self, goal: Goal, depth: int) -> Expr:
        """An item of an array."""
        return self.value(goal, depth, "item")

    def _new_value(self, goal: Goal, depth: int, hint: str) -> Expr:
        if depth > MAX_INDENTED_DEPTH:
            raise JsonSchemaError(
                "A schema that contains itself cannot be indented",
                pointer=pointer_of(self.expander.place(goal)),
            )
        leaf = self._known_leaf(goal)
        if leaf is not None:
            return leaf
        sub = self.expander.only_subschema(goal)
        scalar = None if sub is None else scalar_keywords.simple_set(sub)
        if scalar is not None:
            return choice(self._placed_alternative(*scalar, depth, goal))
        if self.expander.types(goal) <= SCALARS:
            return self._body(goal, depth)
        name = self.fresh(hint)
        self._pending.append(lambda: self.rules.append(Rule(name, self._body(goal, depth))))
        return RuleRef(name)

    def _known_leaf(self, goal: Goal) -> Expr | None:
        """The expression of a schema whose rules do not depend on what is around it."""
        sub = self.expander.only_subschema(goal)
        if sub is None or sub.leaf is None or len(sub.leaf) < 2 or self.expander.loosen:
            return None
        known = self._recurring.leaf(sub.leaf, sub.dialect, self.lexical)
        return None if known is None else self._installed(known)

    def _installed(self, known: LeafRules) -> Expr:
        """The expression, whose rules are added unless they are there."""
        if known.rules and known.rules[0].name not in self._known:
            self._known.add(known.rules[0].name)
            self.rules += known.rules
        return known.expression

    def _body(self, goal: Goal, depth: int) -> Expr:
        if not goal:
            return self.any_value()
        options: list[Expr] = []
        plain = self._plain_object(goal)
        if plain is not None:
            return choice(self._placed_alternative(OBJECT, plain, depth, goal))
        types = self.expander.types(goal)
        alternatives = self._alternatives(goal, types)
        if len(alternatives) == len(TYPES) and all(
            len(found) == 1 and found[0] is FULL[kind] for kind, found in alternatives.items()
        ):
            return self.any_value()
        if STRING in alternatives:
            alternatives[STRING] = join_automata(alternatives[STRING])
        for kind, found in alternatives.items():
            for alternative in found:
                options += self._placed_alternative(kind, alternative, depth, goal)
        return choice(options)

    def _alternatives(self, goal: Goal, types: frozenset[str]) -> dict[str, list[Any]]:
        """The alternatives of a goal by type; of a schema that combines no others, what it says itself."""
        kinds = [kind for kind in TYPES if kind in types]
        sub = self.expander.only_subschema(goal)
        if sub is not None and COMBINING.isdisjoint(sub.schema):
            return {kind: own_alternatives(self.expander, sub, kind) for kind in kinds}
        return {kind: self.expander.expand(goal, kind) for kind in kinds}

    def _placed_alternative(self, kind: str, alternative: Any, depth: int, goal: Goal) -> list[Expr]:
        try:
            return self.alternative(kind, alternative, depth)
        except GrammarError as error:
            check_now()
            self.expander.place_error(error, min(goal, key=abs))
            return self.alternative(kind, FULL[kind], depth)

    def _plain_object(self, goal: Goal) -> ObjectShape | None:
        """The shape of a schema that allows objects only and by the commonest keywords."""
        sub = self.expander.only_subschema(goal)
        if sub is None or sub.schema.get("type") != OBJECT:
            return None
        if not ASSERTIONS.intersection(sub.schema) <= _PLAIN_KEYWORDS:
            return None
        if "nullable" in sub.schema or not sub.dialect.validates:
            return None
        shapes = object_keywords.alternatives(self.expander, sub)
        return shapes[0] if shapes and shapes[0] is not FULL[OBJECT] else None

    def alternative(self, kind: str, alternative: Any, depth: int) -> list[Expr]:
        """The expressions, together, of one alternative of a goal."""
        if kind == NULL:
            return [_NULL_WORD]
        if kind == BOOLEAN:
            return [_WORDS[value] for value in sorted(alternative)]
        if kind == OBJECT:
            if alternative is FULL[OBJECT]:
                return [self.any_object()]
            return object_emission.emit(self, alternative, depth)
        if kind == ARRAY:
            if alternative is FULL[ARRAY]:
                return [self.any_array()]
            return array_emission.emit(self, alternative, depth)
        return [self.language("number" if kind == NUMBER else "string", alternative)]

    def language(self, hint: str, language: Any) -> Expr:
        """The spelled numbers or strings of a language."""
        found = self._languages.get(id(language))
        if found is None:
            if isinstance(language, TextLanguage):
                expr = language.spelled(self.lexical, self._speller)
            else:
                expr = language.to_expression(self.lexical, self.define)
            if not isinstance(expr, (RuleRef, Literal)) and not matches_nothing(expr):
                expr = self.add(hint, expr)
            found = self._languages[id(language)] = (language, expr)
        return found[1]

    # --- members of objects

    def named_member(self, name: str, value: Expr) -> RuleRef:
        """The rule of a key and its value."""
        found = self._members.get((name, id(value)))
        if found is None:
            body = Sequence((*self._key_and_colon(name), value))
            found = self._members[name, id(value)] = self.add(name, body)
            self._values.append(value)  # so that its id is not used again
        return found

    def _key_and_colon(self, name: str) -> tuple[Expr, ...]:
        colon = self.layout.colon
        if self.lexical == "any":
            return (TextLanguage.of_values((name,)).to_key_expression("any", self.define), colon)
        if isinstance(colon, Literal):
            return (Literal(quote(name) + colon.value),)
        return (Literal(quote(name)), colon)

    def other_member(self, language: TextLanguage, value: Expr) -> RuleRef:
        """The rule of a key of a language and its value."""
        key = (id(language), id(value))
        if key not in self._other_members:
            body = Sequence((self.key_language(language), self.layout.colon, value))
            self._other_members[key] = (language, value, self.define("extra", body))
        return self._other_members[key][2]

    def note_pattern(self, language: TextLanguage, pattern: str) -> None:
        """The language is the strings in which the pattern is found."""
        self._patterns[id(language)] = (language, pattern)

    def tells_apart(self, language: TextLanguage) -> bool:
        """Whether of keys, or items, of a language each may come once: see `Member.distinct`."""
        return self.writes_json and language.is_endless()

    def key_language(self, language: TextLanguage) -> Expr:
        """The spelled keys of a language."""
        found = self._key_languages.get(id(language))
        if found is None:
            found = self._key_languages[id(language)] = (language, self._new_key_language(language))
        return found[1]

    def _new_key_language(self, language: TextLanguage) -> Expr:
        noted = self._patterns.get(id(language))
        known = None if noted is None else self._recurring.keys(noted[1], self.lexical)
        if known is not None:
            return self._installed(known)
        excluded = language.excluded_only()
        if excluded and self.lexical == "natural":
            texts = tuple(quote(text)[1:-1].decode() for text in excluded)
            return Sequence((_QUOTE, OtherTexts(_KEY_CHARACTER, texts), _QUOTE))
        return language.spelled(self.lexical, self._key_speller)

    def indented_comma(self, depth: int) -> RuleRef:
        """The comma between items that have lines of their own."""
        return self.define("json_comma", Literal(self.layout.newline_comma + self.layout.line(depth).value))

    # --- any value

    def any_value(self) -> RuleRef:
        """Any JSON value, in one line unless white space is free."""
        if self._any is None:
            self._any = self._define_any()
        return self._any

    def any_object(self) -> Expr:
        """Any object."""
        self.any_value()
        return RuleRef("json_object")

    def any_array(self) -> Expr:
        """Any array."""
        self.any_value()
        return RuleRef("json_array")

    def _define_any(self) -> RuleRef:
        anything, an_object, an_array = RuleRef("json_value"), RuleRef("json_object"), RuleRef("json_array")
        self._names.update(json_value=1, json_object=1, json_array=1)
        number = self.language("json_number", FULL[NUMBER])
        string = self.language("json_string", FULL[STRING])
        words: tuple[Expr, ...] = (_WORDS[True], _WORDS[False], _NULL_WORD)
        self.rules.append(Rule(anything.name, Choice((an_object, an_array, string, number, *words))))
        self.rules.append(Rule(an_object.name, object_emission.any_object(self, anything)))
        self.rules.append(Rule(an_array.name, array_emission.any_array(self, anything)))
        return anything


def _rule_name(hint: str) -> str:
    name = _NOT_IN_NAMES.sub("_", hint)[:40].strip("_") or "value"
    return f"item_{name}" if name[0].isdigit() else name
