"""How large a Lark grammar may be. Exceeding a limit is a GrammarLimitError that names it."""

MAX_TEXT_LENGTH = 2_000_000
"""Characters of grammar text."""

MAX_DEFINITIONS = 100_000
"""Rules and terminals, those of embedded grammars too."""

MAX_GROUP_NESTING = 1_000
"""Groups inside one another."""

MAX_LARK_NESTING = 100
"""`%lark` blocks inside one another."""

MAX_REPETITION = 1_000_000_000_000_000
"""The largest count in a repetition such as x~2..4."""

MAX_TOKEN_ID = 2_147_483_647
"""The largest token id; which ids a vocabulary has is known when the grammar is compiled."""

MAX_TOKEN_RANGE = 1_000_000
"""The largest distance between the ends of a range of token ids."""

MAX_NONEMPTY_SIZE = 20_000
"""Expressions that say what a terminal matches other than nothing."""

MAX_ALGEBRA_POSITIONS = 100_000
"""Positions of the nondeterministic automata of terminals that & and ~ combine."""

MAX_ALGEBRA_STATES = 10_000
"""States of a deterministic automaton that & or ~ makes."""

MAX_ALGEBRA_WORK = 3_000_000
"""Elementary steps to make it: a bound on time that does not depend on the machine."""
