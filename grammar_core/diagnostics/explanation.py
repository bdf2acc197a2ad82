"""What a grammar says about a text, as data and as words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from grammar_core.diagnostics.dotted_rules import around_dot
from grammar_core.diagnostics.positions import TextPosition
from grammar_core.diagnostics.wording import describe_characters, describe_tokens, join, quote
from grammar_core.errors import point_at
from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import TokenSet

Outcome: TypeAlias = Literal["complete", "incomplete", "refused", "unknown"]

_MOST_RULES = 12
_MOST_EXPECTATIONS = 12
_HEADLINES = {
    "complete": "The text is complete",
    "incomplete": "The text is the beginning of a sentence",
    "unknown": "From here on the text was read as tokens that it does not tell",
}

_EXPECTATION_TITLES = {
    "complete": "May come next:",
    "incomplete": "May come next:",
    "refused": "Expected:",
    "unknown": "Could come here:",
}


class ActiveRule(NamedTuple):
    """A rule that has begun and not ended; `item` is the rule with a dot, right of which is what may come."""

    name: str
    begin: TextPosition
    end: TextPosition
    item: str


class Expected(NamedTuple):
    """What may come next according to one rule: characters, whole literals, and tokens as such."""

    rule: str
    characters: Ranges
    literals: tuple[str, ...]
    tokens: tuple[TokenSet, ...]

    @property
    def parts(self) -> list[str]:
        """In words, to be put in a list."""
        tokens = [describe_tokens(token_set) for token_set in self.tokens]
        return [*map(quote, self.literals), *describe_characters(self.characters), *tokens]

    def __str__(self) -> str:
        return join(self.parts)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a grammar says about a text. `str()` of it is for people to read.

    `outcome`: the text is a sentence (`complete`), can become one (`incomplete`), cannot (`refused`), or has
    been read as tokens that its characters do not tell (`unknown`).
    `position`: where a text is refused, before the first character that cannot be; otherwise the text's end.
    `refused`: that character, or bytes that are none, in words.
    `expected`: what may come at the position, a rule each; `next_characters` is the union, by the first
    character of literals; `may_end` says whether the text may end there.
    `active`: the rules that are active at the position in the reading with the fewest, innermost last.
    `completion`: a shortest text that makes a sentence when it follows what stands before the position.
    None if there is none of reasonable length, or none of text alone.
    `notes`: what else to know, such as what the explanation leaves out.
    """

    outcome: Outcome
    position: TextPosition
    source_line: str
    refused: str | None
    expected: tuple[Expected, ...]
    next_characters: Ranges
    may_end: bool
    active: tuple[ActiveRule, ...]
    completion: str | None
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """One line: what is the case, and where."""
        place = f"line {self.position.line}, column {self.position.column}"
        if self.outcome == "refused":
            return f"{self.refused} cannot come at {place}"
        return f"{_HEADLINES[self.outcome]} ({place})"

    @property
    def details(self) -> str:
        """The lines after the headline; headings begin at the margin, all else is set in."""
        lines = [*self._source(), *self._expectations(), *self._active_rules()]
        from_there = " from there" if self.outcome == "refused" else ""
        if self.completion:
            lines.append(f"Shortest way to finish{from_there}: {quote(self.completion)}")
        lines += (f"Note: {note}" for note in self.notes)
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.headline}\n{self.details}"

    def _source(self) -> list[str]:
        visible = "".join(
            c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in self.source_line
        )
        return [f"  {line}".rstrip() for line in point_at(visible, self.position.column).split("\n")]

    def _expectations(self) -> list[str]:
        rows = [(str(expected), f"in {expected.rule}") for expected in self.expected]
        if len(rows) > _MOST_EXPECTATIONS:
            more = len(rows) - _MOST_EXPECTATIONS + 1
            rows = [*rows[:-more], (f"what {more:,} more rules ask for", "")]
        if self.may_end:
            rows.append(("end of text", ""))
        title = _EXPECTATION_TITLES[self.outcome]
        return [title, *_table(rows)]

    def _active_rules(self) -> list[str]:
        if not self.active:
            return []
        rows = [(f"{rule.begin.line}:{rule.begin.column}", around_dot(rule.item)) for rule in self.active]
        if len(rows) > _MOST_RULES:
            shown = _MOST_RULES // 2
            more = len(rows) - 2 * shown
            rows = [*rows[:shown], ("…", f"({more:,} more)"), *rows[-shown:]]
        return ["Active rules, innermost last:", *_table(rows)]


def _table(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(first) for first, second in rows if second and len(first) <= 60), default=0)
    return [f"  {first:<{width}}  {second}".rstrip() for first, second in rows]
