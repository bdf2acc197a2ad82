"""How large an EBNF grammar may be. Exceeding a limit is a GrammarLimitError that names it."""

MAX_TEXT_LENGTH = 1_000_000
"""Characters of grammar text."""

MAX_RULES = 100_000
"""Rules in one grammar."""

MAX_GROUP_NESTING = 1_000
"""Parenthesized groups inside one another."""

MAX_REPETITION = 1_000_000_000_000_000
"""The largest count in a repetition such as x{2,4}."""
