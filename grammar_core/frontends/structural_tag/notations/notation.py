"""What the notations for the values of a schema share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from grammar_core.deadline import check
from grammar_core.frontends.json_schema import object_emission
from grammar_core.frontends.json_schema.choices import NOTHING, choice
from grammar_core.frontends.json_schema.contradictions import refuse_empty
from grammar_core.frontends.json_schema.emission import Emitter
from grammar_core.frontends.json_schema.errors import EmptySchemaError, JsonSchemaError
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.layout import Layout, LayoutOptions, build_layout
from grammar_core.frontends.json_schema.leaves import RECURRING
from grammar_core.frontends.json_schema.texts import TextLanguage
from grammar_core.frontends.json_schema.values import OBJECT, STRING
from grammar_core.frontends.regex import parse_regex
from grammar_core.frontends.structural_tag.notations.raw_texts import raw_text, without
from grammar_core.ir.nodes import EMPTY, CharClass, Expr, Regex, Repeat, Rule, RuleOptions, RuleRef

WriteText = Callable[[str], Expr]

GAP = RuleRef("markup_gap")
_WHITE_SPACE = CharClass(((9, 10), (13, 13), (32, 32)))
_BARE_NAME = TextLanguage.matching(r"^[A-Za-z_][A-Za-z0-9_.\-]*$")


class NotationOptions(NamedTuple):
    """The fields of the type `json_schema`."""

    style: str = "json"
    any_order: bool = False
    max_whitespace_cnt: int | None = None
    any_whitespace: bool = True
    strict_mode: bool = True
    excludes: tuple[str, ...] = ()
    whitespace_pattern: str | None = None
    loosen: frozenset[str] = frozenset()

    @property
    def is_json(self) -> bool:
        """Whether the texts are all JSON texts of the schema."""
        return self.style == "json" and not self.excludes

    def layout(self) -> Layout:
        """White space in JSON. Raises ValueError for options that make no sense."""
        return build_layout(
            LayoutOptions(
                self.any_whitespace,
                max_whitespace_cnt=self.max_whitespace_cnt,
                whitespace_pattern=self.whitespace_pattern,
            )
        )

    def refuse_empty(self, schema: str) -> None:
        """Raise EmptySchemaError, with the place to blame, if no value is valid for the schema."""
        refuse_empty(schema, {}, any_order=self.any_order, is_strict=self.strict_mode, loosen=self.loosen)


class NotationEmitter(Emitter):
    """JSON in which no string contains one of `excludes`. `text` gives the expression of a fixed text."""

    quotes_strings = True

    def __init__(
        self,
        expander: Expander,
        layout: Layout,
        *,
        any_order: bool,
        is_strict: bool,
        excludes: tuple[str, ...],
        text: WriteText,
    ) -> None:
        super().__init__(
            expander,
            layout,
            lexical="natural",
            any_order=any_order,
            is_strict=is_strict,
            recurring=RECURRING,
        )
        self.excludes = excludes
        self.text = text
        self._leaves: set[str] = set()
        self._narrowed: dict[int, tuple[TextLanguage, TextLanguage]] = {}
        self._names.update(dict.fromkeys((GAP.name, *(rule.name for rule in layout.rules)), 1))

    def share(self, other: NotationEmitter) -> None:
        """Go on with the rules of another emitter, which wrote another schema in the same notation."""
        self.rules, self._names, self._defined = other.rules, other._names, other._defined
        self._pending, self._languages, self._narrowed = other._pending, other._languages, other._narrowed
        self._members, self._values, self._any = other._members, other._values, other._any
        self._leaves, self._known = other._leaves, other._known

    def emit_schema(self, goal: Goal) -> RuleRef:
        """Write the values that meet the goal, and all rules that they need."""
        place = RuleRef(self.fresh("schema"))
        self.rules.append(Rule(place.name, self.root_value(goal)))
        while self._pending:
            check()
            self._pending.pop()()
        return place

    def root_value(self, goal: Goal) -> Expr:
        """What the whole text is."""
        body = self._known_leaf(goal) or self._body(goal, 0)
        if body is NOTHING:
            raise EmptySchemaError("The schema allows no value")
        return body

    def _known_leaf(self, goal: Goal) -> Expr | None:
        is_json = self.quotes_strings and not self.excludes
        if not is_json and STRING in self.expander.types(goal):
            return None
        before = len(self.rules)
        expression = super()._known_leaf(goal)
        # Its rules are the same for every schema, and so may be there already.
        new = [rule for rule in self.rules[before:] if rule.name not in self._leaves]
        self.rules[before:] = new
        self._leaves.update(rule.name for rule in new)
        return expression

    def language(self, hint: str, language: Any) -> Expr:
        return super().language(
            hint, self._narrow(language) if isinstance(language, TextLanguage) else language
        )

    def key_language(self, language: TextLanguage) -> Expr:
        return super().key_language(self._narrow(language))

    def tells_apart(self, language: TextLanguage) -> bool:
        return super().tells_apart(self._narrow(language))

    def _narrow(self, language: TextLanguage) -> TextLanguage:
        """The strings without excluded texts; the same object for the same one."""
        if not self.excludes:
            return language
        found = self._narrowed.get(id(language))
        if found is None:
            found = self._narrowed[id(language)] = (language, language.intersect(without(self.excludes)))
        return found[1]

    # --- for notations other than JSON

    def raw(self, language: TextLanguage, *ends: str) -> Expr:
        """The strings themselves, without quotes, that contain neither `ends` nor excluded texts."""
        return raw_text(language, tuple(dict.fromkeys((*ends, *self.excludes))), self.add_limited)

    def add_limited(self, hint: str, body: Expr, options: RuleOptions) -> RuleRef:
        """A new rule with options."""
        reference = self.add(hint, body)
        self.rules[-1] = self.rules[-1]._replace(options=options)
        return reference

    def bare_name(self, language: TextLanguage) -> Expr:
        """The keys of a language that are names, without quotes."""
        return self.raw(language.intersect(_BARE_NAME))

    def object_members(self, goal: Goal) -> Expr:
        """The objects that meet the goal, of which there must be some."""
        alternatives = self.expander.expand(goal, OBJECT)
        options = [one for shape in alternatives for one in object_emission.emit(self, shape, 0)]
        if not options:
            raise EmptySchemaError("The schema allows no object, which arguments are")
        return choice(options)

    def refuse_key(self, name: str, *marks: str) -> None:
        """Refuse a key in which one of the marks behind a key is found."""
        for mark in marks:
            if mark in name:
                raise JsonSchemaError(
                    f"The key {name!r} has {mark!r} in it, which ends keys in this notation"
                )


def markup_layout(max_whitespace: int | None, pattern: str | None) -> Layout:
    """White space between tags, and no commas."""
    body: Expr = Repeat(_WHITE_SPACE, 0, max_whitespace)
    if pattern is not None:
        body = Regex(pattern, False, None, parse_regex(pattern, flags=None))
    gap = Rule(GAP.name, body)
    return Layout(GAP, EMPTY, GAP, None, b"", (gap,))
