"""A whole Lark grammar: its own rules, and those of every grammar that it embeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.frontends.lark.embedding import Embeddings, refuse_cycles
from grammar_core.frontends.lark.errors import limit_error
from grammar_core.frontends.lark.lexer import prepare_text
from grammar_core.frontends.lark.limits import MAX_DEFINITIONS
from grammar_core.frontends.lark.lowering import NamespaceLowering
from grammar_core.frontends.lark.namespace import Namespace, nonempty_rule
from grammar_core.frontends.lark.nonempty import without_empty
from grammar_core.frontends.lark.parser import Parser
from grammar_core.ir.derivation_graph import DerivationGraph
from grammar_core.ir.nodes import EMPTY, CharClass, Choice, Rule, RuleRef, Sequence

if TYPE_CHECKING:
    from grammar_core.grammar import Grammar
    from grammar_core.tokenizer_info import TokenizerInfo

ROOT = "start"
"""The name of the rule that a grammar begins with."""


def parse_lark(
    text: str,
    *,
    tokenizer_info: TokenizerInfo | None = None,
    named_grammars: Mapping[str, str | Grammar] | None = None,
) -> tuple[Rule, ...]:
    """The rules of a Lark grammar, whose root is `start`. Raises LarkError with the position."""
    return _Assembly(Embeddings(tokenizer_info, named_grammars)).assemble(text)


class _Assembly:
    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self._rules: dict[str, Rule] = {}
        self._markers: dict[str, tuple[str, str]] = {}
        self._embedding_places: list[tuple[Namespace, str, RuleRef]] = []

    def assemble(self, text: str) -> tuple[Rule, ...]:
        text = prepare_text(text)
        self._read(text, "")
        for name, prefix in self._embeddings.texts:  # grows as texts refer to others
            self._read_named(name, prefix)
        if self._embeddings.references:
            refuse_cycles(self._embeddings.references)
        self._rules |= self._embeddings.rules
        self._markers |= self._embeddings.markers
        if self._embedding_places:
            self._add_embedded_lexemes()
        if len(self._rules) > MAX_DEFINITIONS:
            message = f"The grammar comes to more than {MAX_DEFINITIONS:,} rules"
            raise limit_error(message, text, 0, "definitions", MAX_DEFINITIONS)
        return self._with_rule_ids()

    def _read(self, text: str, prefix: str) -> None:
        for namespace in Parser(text, prefix, self._embeddings).parse():
            lowering = NamespaceLowering(namespace)
            lowering.lower()
            self._rules |= lowering.rules
            self._markers |= lowering.markers
            self._embedding_places += ((namespace, name, root) for name, root in namespace.embedded)

    def _read_named(self, name: str, prefix: str) -> None:
        self._embeddings.reader = name
        try:
            self._read(prepare_text(self._embeddings.text_of(name)), prefix)
        except GrammarError as error:
            check_now()
            raise _in_named(error, name) from None

    def _add_embedded_lexemes(self) -> None:
        """For each embedded grammar the rule of it and of what may be ignored after it."""
        # Such a lexeme may be empty where the grammar may.
        self._rules |= {name: Rule(name, root) for _, name, root in self._embedding_places}
        graph = DerivationGraph(self._rules.values())
        added: dict[str, Rule] = {}

        def is_nullable(name: str) -> bool:
            cost = graph.cost_of_rule(name)
            return cost is not None and cost.characters == 0

        pending: list[str] = []

        def nonempty(name: str) -> RuleRef:
            pending.append(name)
            return nonempty_rule(name)

        for namespace, name, root in self._embedding_places:
            ignored = namespace.ignored_text()
            body = Sequence((root, ignored))
            if is_nullable(root.name):
                added[name] = Rule(name, Choice((EMPTY, Sequence((nonempty(root.name), ignored)))))
            else:
                added[name] = Rule(name, body)
        for rule_name in pending:  # grows as rules refer to others
            new = nonempty_rule(rule_name).name
            if new not in added and new not in self._rules:
                rule = added.get(rule_name) or self._rules[rule_name]
                part = without_empty(rule.body, is_nullable, nonempty)
                added[new] = rule._replace(name=new, body=CharClass(()) if part is None else part.expr)
        self._rules |= added

    def _with_rule_ids(self) -> tuple[Rule, ...]:
        """All rules, in which those with a marker know the positions of the rules that tell its beginning."""
        if self._markers:
            numbers = {name: number for number, name in enumerate(self._rules)}
            for name, (body, marker) in self._markers.items():
                options = self._rules[name].options._replace(
                    capture_hidden_body_rule_id=numbers[body], capture_hidden_marker_rule_id=numbers[marker]
                )
                self._rules[name] = self._rules[name]._replace(options=options)
        return tuple(self._rules.values())


def _in_named(error: GrammarError, name: str) -> GrammarError:
    """The error about the text of a named grammar, saying so."""
    place = {"line": error.line, "column": error.column}
    message = f"In the named grammar @{name}: {error.message}"
    if isinstance(error, GrammarLimitError):
        return GrammarLimitError(
            message,
            limit=error.limit,
            value=error.value,
            **place,
            source_line=error.source_line,
            dialect=error.dialect,
        )
    return type(error)(message, **place, source_line=error.source_line, dialect=error.dialect)
