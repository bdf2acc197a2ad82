"""Namespaces to rules: markers, dispatch, and what may be ignored after each lexeme."""

from __future__ import annotations

from collections import Counter

from grammar_core.frontends.lark.dispatch import find_dispatch, standalone_trigger
from grammar_core.frontends.lark.dispatch_lowering import DispatchLowering, until
from grammar_core.frontends.lark.names import check_names, terminal_order
from grammar_core.frontends.lark.namespace import (
    NO_SPEC,
    Definition,
    Marker,
    Namespace,
    lexeme_name,
    nonempty_rule,
)
from grammar_core.frontends.lark.nonempty import is_nullable, without_empty
from grammar_core.frontends.lark.patterns import ANY_TEXT
from grammar_core.frontends.lark.terminal_algebra import combine_terminals
from grammar_core.ir.nodes import (
    EMPTY,
    NO_OPTIONS,
    CharClass,
    Choice,
    Expr,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
)
from grammar_core.ir.traversal import walk_expressions


class NamespaceLowering:
    """Rules of one namespace. `markers` are the rules before and of a marker, by the rule that has it."""

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._prefix = namespace.prefix
        self._ignored = namespace.ignored_text()
        self._nullable: set[str] = set()
        self.rules: dict[str, Rule] = {}
        self.markers: dict[str, tuple[str, str]] = {}

    def lower(self) -> None:
        """Fill `rules`, all but the lexemes of embedded grammars. Raises LarkError, GrammarLimitError."""
        namespace = self._namespace
        check_names(namespace)
        order = terminal_order(namespace)
        if namespace.products:
            combine_terminals(namespace, order, self._add)
        if namespace.weaves:
            self._find_nullable_terminals(order)
        dispatch = find_dispatch(namespace)
        unused: set[str] = set()
        if dispatch is not None:
            lowering = DispatchLowering(namespace, dispatch, self._add)
            lowering.lower()
            unused = lowering.unused(self.rules)
        skips = namespace.weaves and bool(namespace.initial_skip)
        for name, definition in namespace.definitions.items():
            if name not in unused:
                self._add_definition(definition, skips and name == "start")
        if namespace.weaves:
            self._add_ignored()
            self._add_lexemes([terminal for terminal in order if terminal.name not in unused])

    def _add(self, name: str, body: Expr, options: RuleOptions = NO_OPTIONS) -> RuleRef:
        self.rules[name] = Rule(name, body, options)
        return RuleRef(name)

    # definitions

    def _add_definition(self, definition: Definition, skips_first: bool) -> None:
        name = self._prefix + definition.name
        spec = definition.spec
        if spec is NO_SPEC:
            body = Sequence((self._ignored, definition.body)) if skips_first else definition.body
            self._add(name, body)
            return
        lexeme = spec.is_lexical and self._namespace.weaves
        inner = lexeme_name(name) if lexeme or skips_first else name
        if spec.marker is not None:
            self._add_marked(definition, inner, spec.marker)
        else:
            self._add_with_options(definition, inner)
        if inner != name:
            before = [self._ignored] if skips_first else []
            # A lazy rule that may be empty is empty, and then it is no lexeme.
            after = (
                [self._ignored] if lexeme and not self._ends_at_once(self.rules[inner], definition) else []
            )
            self._add(name, Sequence((*before, RuleRef(inner), *after)))

    def _ends_at_once(self, rule: Rule, definition: Definition) -> bool:
        if not rule.options.lazy:
            return False
        marker = definition.spec.marker
        body = definition.body if marker is None else Sequence((definition.body, marker.expr))
        return is_nullable(body, self._nullable.__contains__)

    def _add_with_options(self, definition: Definition, name: str) -> None:
        options = definition.spec.options
        trigger = standalone_trigger(self._namespace, definition) if options.lazy else None
        if trigger is None:
            self._add(name, definition.body, options)
            return
        end = self._add(f"{name}.end", EMPTY)
        self._add(name, until(trigger, end), options._replace(lazy=False))

    def _add_marked(self, definition: Definition, name: str, marker: Marker) -> None:
        """The rule of a body and a marker, with what captures need to know of them."""
        body = self._add(f"{name}.body", definition.body)
        end = self._add(f"{name}.marker", marker.expr)
        size = 1 if marker.fixed is None else len(marker.fixed.encode())
        options = definition.spec.options._replace(lazy=True)
        if marker.kind == "suffix":
            options = options._replace(capture_hidden_suffix_bytes=size)
        else:
            options = options._replace(capture_hidden_stop_bytes=size)
        whole: Expr = Sequence((body, end))
        if marker.fixed is not None and standalone_trigger(self._namespace, definition) is not None:
            whole = until(marker.fixed, self._add(f"{name}.end", EMPTY))
            options = options._replace(lazy=False)
        self._add(name, whole, options)
        self.markers[name] = (body.name, end.name)

    # what may be ignored

    def _add_ignored(self) -> None:
        options = self._namespace.ignored
        body = options[0] if len(options) == 1 else Choice(tuple(options))
        self._add(self._ignored.name, Repeat(body, 0, None))

    def _find_nullable_terminals(self, order: list[Definition]) -> None:
        """Note the terminals that match the empty text, and add a rule of what else each of them matches."""
        for terminal in order:
            name = self._prefix + terminal.name
            part = without_empty(self._body(name, terminal), self._nullable.__contains__, nonempty_rule)
            if part is None or part.was_nullable:
                self._nullable.add(name)
                self._add(nonempty_rule(name).name, CharClass(()) if part is None else part.expr)

    def _body(self, name: str, terminal: Definition) -> Expr:
        """The body of a terminal; where it is a combination of others, what that came to."""
        body = terminal.body
        product = self.rules.get(body.name) if isinstance(body, RuleRef) else None
        return body if product is None else product.body

    def _add_lexemes(self, order: list[Definition]) -> None:
        """For each terminal that rules use, the rule of it and of what may be ignored after it."""
        for terminal in order:
            if terminal.name in self._namespace.lexemes:
                name = self._prefix + terminal.name
                self._add(lexeme_name(name), self._lexeme(name, terminal.body))
        if self._nullable:
            self._drop_replaced()

    def _drop_replaced(self) -> None:
        """Leave out terminals in whose place only what they match other than the empty text is used."""
        targets = {name: _references(rule.body) for name, rule in self.rules.items()}
        uses = Counter(target for names in targets.values() for target in names)
        replaced = {name for name in self._nullable if uses[nonempty_rule(name).name]}
        pending = [name for name in replaced if not uses[name]]
        while pending:
            name = pending.pop()
            if self.rules.pop(name, None) is None:
                continue
            for target in targets[name]:
                uses[target] -= 1
                if not uses[target] and target in replaced:
                    pending.append(target)

    def _lexeme(self, name: str, body: Expr) -> Expr:
        if body is ANY_TEXT:
            return RuleRef(name)
        if name not in self._nullable:
            return Sequence((RuleRef(name), self._ignored))
        return Choice((EMPTY, Sequence((nonempty_rule(name), self._ignored))))


def _references(body: Expr) -> list[str]:
    return [expr.name for expr in walk_expressions(body) if isinstance(expr, RuleRef)]
