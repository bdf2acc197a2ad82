"""A grammar: rules and the one to start from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from grammar_core.frontends.ebnf.parser import parse_ebnf
from grammar_core.frontends.regex import parse_regex
from grammar_core.ir.nodes import Regex, Rule
from grammar_core.ir.printer import print_grammar
from grammar_core.ir.validation import validate_rules


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Grammar:
    """An immutable set of rules and the name of the root rule. Build one with a `from_…` method."""

    rules: tuple[Rule, ...]
    root: str

    @classmethod
    def from_ebnf(cls, text: str, *, root_rule_name: str = "root") -> Grammar:
        """Parse EBNF (GBNF) text.

        Raises GrammarError, with line and column, for text that is not a grammar, and its subclass
        GrammarLimitError for text beyond a limit on length, rules, nesting or repetition counts.

            Grammar.from_ebnf('root ::= "a" | "b"')
        """
        return cls(parse_ebnf(text, root_rule_name=root_rule_name), root_rule_name)

    @classmethod
    def from_regex(cls, pattern: str, *, flags: str | None = None) -> Grammar:
        """The texts that a regular expression of ECMAScript syntax matches from beginning to end.

        `flags` are any of `i`, `m`, `s`, `u`; a dot is any character where they are None. Raises RegexError,
        with the column, for what is no such expression or not regular (back-references), and
        GrammarLimitError for one beyond a limit.

            Grammar.from_regex(r"[0-9]{5}(-[0-9]{4})?")
        """
        body = Regex(pattern, False, flags, parse_regex(pattern, flags=flags))
        return cls((Rule("root", body),), "root")

    @classmethod
    def from_rules(cls, rules: Iterable[Rule], *, root_rule_name: str = "root") -> Grammar:
        """A grammar of rules built in code. Raises GrammarError unless they form one."""
        rules = tuple(rules)
        validate_rules(rules, root_rule_name)
        return cls(rules, root_rule_name)

    def __str__(self) -> str:
        """The grammar as EBNF text whose root rule is `root`; parsing it gives the same language."""
        return print_grammar(self.rules, self.root)

    def __repr__(self) -> str:
        return f"<Grammar of {len(self.rules)} rules, root {self.root!r}>"
