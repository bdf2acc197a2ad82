"""How large an EBNF grammar may be. Exceeding a limit is a GrammarLimitError that names it."""

MAX_TEXT_LENGTH = 2_000_000
"""Characters of grammar text."""

MAX_RULES = 100_000
"""Rules in one grammar."""

MAX_GROUP_NESTING = 1_000
"""Parenthesized groups inside one another."""

MAX_REPETITION = 1_000_000_000_000_000
"""The largest count in a repetition such as x{2,4}."""

MAX_INTEGER = 1_000_000_000_000_000
"""The largest integer passed to a macro."""

MAX_TOKEN_ID = 2_147_483_647
"""The largest token id; which ids a vocabulary has is known when the grammar is compiled."""

MAX_TUPLE_NESTING = 100
"""Tuples inside one another, in the arguments of a macro."""
