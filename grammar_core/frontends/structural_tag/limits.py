"""How large a structural tag may be. Exceeding a limit is a StructuralTagLimitError that names it."""

MAX_NESTING = 100
"""Formats inside one another."""

MAX_FORMATS = 100_000
"""Formats in one structural tag."""

MAX_TEXT_LENGTH = 5_000_000
"""Characters of a structural tag that is given as JSON text."""

MAX_REPETITION = 1_000_000_000
"""The largest count of a repeat."""

MAX_CHARS = 2_147_483_647
"""The largest max_chars."""

MAX_TOKENS = 1_000_000
"""The largest max_tokens."""

MAX_TOKEN_ID = 2_147_483_647
"""The largest token id; which ids a vocabulary has is known when the grammar is compiled."""
