"""Regular sets of strings whose automaton may never be needed."""

from __future__ import annotations

from grammar_core.ir.nodes import Expr
from grammar_core.regular import RegularLanguage


class TextPattern:
    """A regular set of strings as an expression or an automaton; the other is made when it is asked for.

    `name` is that of the rule that a grammar gets for it, if it is to have one.
    """

    __slots__ = ("_expression", "_language", "name")

    def __init__(
        self, expression: Expr | None, language: RegularLanguage | None = None, *, name: str | None = None
    ) -> None:
        assert expression is not None or language is not None
        self.name = name
        self._expression = expression
        self._language = language

    @property
    def expression(self) -> Expr:
        """The same set as an expression."""
        if self._expression is None:
            assert self._language is not None
            self._expression = self._language.to_expression()
        return self._expression

    @property
    def language(self) -> RegularLanguage:
        """The same set as an automaton. Raises GrammarLimitError."""
        if self._language is None:
            self._language = RegularLanguage.from_expression(self.expression)
        return self._language
