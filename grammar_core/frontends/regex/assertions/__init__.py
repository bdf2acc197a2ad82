"""Patterns whose assertions look ahead or behind, compiled to finite automata.

A place in a text decides an assertion by what lies behind it, which an automaton that runs alongside knows,
and by what lies ahead, which is a condition on the rest of the text. A state of the result is therefore a
condition: a Boolean combination of positions in the pattern, each of which stands for the texts that match
from there on. One character turns a condition into the next (J. Brzozowski, "Derivatives of regular
expressions", 1964; A. Chandra et al., "Alternation", 1981).
"""
