"""How large a regular expression may be. Exceeding a limit is a GrammarLimitError that names it."""

MAX_PATTERN_LENGTH = 200_000
"""Characters of the pattern."""

MAX_GROUP_NESTING = 500
"""Groups inside one another."""

MAX_REPETITION = 1_000_000_000_000_000
"""The largest count in a repetition such as x{2,4}."""

MAX_AUTOMATON_POSITIONS = 100_000
"""Nodes of the nondeterministic automaton of a pattern with assertions: its length, repetitions copied."""

MAX_AUTOMATON_STATES = 10_000
"""States of its deterministic automaton."""

MAX_AUTOMATON_WORK = 3_000_000
"""Elementary steps to build that automaton: a bound on time that does not depend on the machine."""
