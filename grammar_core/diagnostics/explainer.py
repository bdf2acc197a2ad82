"""Explains a text: reads it with the chart parser and puts what it finds in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from grammar_core.diagnostics.chart import START, Chart, Column, Item, ParsedGrammar
from grammar_core.diagnostics.completion import MAX_COMPLETION, shortest_completion
from grammar_core.diagnostics.dotted_rules import dotted_rule
from grammar_core.diagnostics.explanation import ActiveRule, Expected, Explanation, Outcome
from grammar_core.diagnostics.network import Network, Place, Read
from grammar_core.diagnostics.positions import (
    PositionMap,
    code_points_beginning,
    decode_text,
    intersect,
)
from grammar_core.diagnostics.repetitions import Repetitions
from grammar_core.diagnostics.wording import quote
from grammar_core.errors import GrammarLimitError
from grammar_core.ir.char_ranges import Ranges, normalize_ranges
from grammar_core.ir.nodes import Rule, TokenSet

MAX_TEXT_BYTES = 1_000_000
"""The longest text that is explained."""

_TOKENS_UNSEEN = (
    "The grammar names tokens. Ways of reading the text in which one was matched as a token are left out."
)
_REPEATED = "A string that has come before in the same list (a key in its object, say) may not end here."
_REPETITIONS_UNSEEN = "The grammar names tokens. Whether keys come twice that may not is left out."
_TOKEN_BUDGETS = "max_tokens counts tokens, which the text does not tell: such budgets are left out."


class Explainer:
    """Explains texts of one grammar: `explain` for each, which are independent of each other.

    Raises GrammarError for a root that matches no finite text.
    """

    def __init__(self, rules: Iterable[Rule], root: str) -> None:
        rules = tuple(rules)
        self._grammar = ParsedGrammar(rules, root)
        self._has_token_budgets = any(rule.options.max_tokens is not None for rule in rules)
        self._repetitions = Repetitions(rules, root)

    def explain(
        self, text: str | bytes, *, accepted_bytes: int = 0, goes_on_unseen: bool = False
    ) -> Explanation:
        """What the grammar says about a text.

        `accepted_bytes` of it are known to be possible; `goes_on_unseen` says that tokens without text have
        been read after it. Raises GrammarLimitError for a text that takes too long.
        """
        data = text.encode(errors="surrogatepass") if isinstance(text, str) else text
        if len(data) > MAX_TEXT_BYTES:
            message = f"A text of more than {MAX_TEXT_BYTES:,} bytes is not explained"
            raise GrammarLimitError(message, limit="explanation_bytes", value=MAX_TEXT_BYTES)
        notes = [_TOKEN_BUDGETS] if self._has_token_budgets else []
        if self._repetitions.are_left_out:
            notes.append(_REPETITIONS_UNSEEN)
        reading = _Reading(self._grammar, data)
        repeated = self._repetitions.find(data[: reading.bytes_read])
        if repeated is not None:
            notes.append(_REPEATED)
            reading = _Reading(self._grammar, data, repeated)
        outcome = reading.outcome(accepted_bytes)
        if goes_on_unseen and outcome != "refused":
            outcome = "unknown"
        explanation = reading.explanation(outcome, notes)
        finished = data[: reading.bytes_read] + (explanation.completion or "").encode()
        if explanation.completion and self._repetitions.find(finished) is not None:
            return replace(explanation, completion=None)
        return explanation


class _Reading:
    """One text, read as far as it can be, and what there is to say about the point where that ends.

    With `end`, bytes from there on cannot be, whatever the chart says of them.
    """

    def __init__(self, grammar: ParsedGrammar, data: bytes, end: int | None = None) -> None:
        self._grammar = grammar
        self._text, self._rest = decode_text(data)
        self._positions = PositionMap(self._text)
        self._chart = Chart(grammar)
        self._tokens_were_possible = False
        readable = self._text if end is None else data[:end].decode()
        for character in readable:
            before = self._chart.last
            if not self._chart.read(character):
                break
            self._tokens_were_possible = self._tokens_were_possible or self._reads_tokens(before)
        self._end = len(self._chart.columns) - 1
        self._position = self._positions.at(self._end)
        self._partial = self._possible_part_of_character()

    @property
    def bytes_read(self) -> int:
        """Bytes of the text before the point."""
        return self._position.byte_offset

    def explanation(self, outcome: Outcome, more_notes: list[str]) -> Explanation:
        column = self._chart.last
        expected = self._expected()
        active = tuple(self._active_rules())
        completion, notes = self._completion()
        return Explanation(
            outcome=outcome,
            position=self._position,
            source_line=self._source_line(),
            refused=self._refused() if outcome == "refused" else None,
            expected=expected,
            next_characters=_union(expected),
            may_end=column.is_complete and self._partial is None,
            active=active,
            completion=completion,
            notes=(*notes, *self._notes(outcome), *more_notes),
        )

    # what happened

    def outcome(self, accepted_bytes: int) -> Outcome:
        """What has become of the text, of which so many bytes are known to be possible."""
        is_read = self._end == len(self._text) and (not self._rest or self._partial is not None)
        if is_read:
            return "complete" if self._chart.last.is_complete and not self._rest else "incomplete"
        if self._tokens_possible_so_far() and self._position.byte_offset < accepted_bytes:
            return "unknown"
        return "refused"

    def _possible_part_of_character(self) -> tuple[int, int] | None:
        """The code points that the bytes at the end may become, if one of them may come."""
        if self._end < len(self._text) or not self._rest:
            return None
        points = code_points_beginning(self._rest)
        if points is None:
            return None
        possible = any(intersect(read.ranges, *points) for _, read in self._reads())
        return points if possible else None

    def _refused(self) -> str:
        if self._end < len(self._text):
            return quote(self._text[self._end])
        if code_points_beginning(self._rest):
            return f"The beginning of a character, {self._rest.hex(' ').upper()},"
        return f"The byte {self._rest[0]:02X}, which is part of no character,"

    def _source_line(self) -> str:
        line = self._positions.line_of(self._position)
        is_last = self._text.find("\n", self._end) < 0
        return line + "\N{REPLACEMENT CHARACTER}" if self._rest and is_last else line

    def _tokens_possible_so_far(self) -> bool:
        return self._tokens_were_possible or self._reads_tokens(self._chart.last)

    def _reads_tokens(self, column: Column) -> bool:
        steps = self._grammar.steps
        return any(read.tokens for item in column.reading for read in steps(item[0]).reads)

    def _notes(self, outcome: Outcome) -> list[str]:
        notes = []
        if self._partial is not None:
            notes.append(f"The text ends within a character, after the bytes {self._rest.hex(' ').upper()}.")
        if self._tokens_were_possible or outcome == "unknown":
            notes.append(_TOKENS_UNSEEN)
        is_final_break = self._text[self._end :] == "\n" and not self._rest
        if outcome == "refused" and is_final_break and self._chart.last.is_complete:
            notes.append("Without the line break at its end the text is complete.")
        return notes

    # what may come

    def _reads(self) -> list[tuple[Item, Read]]:
        steps = self._grammar.steps
        return [(item, read) for item in self._chart.last.reading for read in steps(item[0]).reads]

    def _expected(self) -> tuple[Expected, ...]:
        """By the rule that asks for it, in the order in which rules come up."""
        reads_of: dict[str, dict[Read, None]] = {}
        for item, read in self._reads():
            reads_of.setdefault(self._network(item).rule.name, {})[read] = None
        every = (self._expected_of(rule, list(reads)) for rule, reads in reads_of.items())
        return tuple(e for e in every if e.characters or e.literals or e.tokens)

    def _expected_of(self, rule: str, reads: list[Read]) -> Expected:
        ranges: list[tuple[int, int]] = []
        literals: dict[str, None] = {}
        tokens: dict[TokenSet, None] = {}
        for read in reads:
            if read.tokens:
                if self._partial is None:
                    tokens[read.tokens] = None
                continue
            possible = read.ranges if self._partial is None else intersect(read.ranges, *self._partial)
            if possible and read.rest is not None and len(read.rest) > 1:
                literals[read.rest] = None
            else:
                ranges += possible
        return Expected(rule, normalize_ranges(ranges), tuple(literals), tuple(tokens))

    def _completion(self) -> tuple[str | None, list[str]]:
        chart = self._chart
        if chart.last.is_complete and self._partial is None:
            return "", []
        beginnings = self._beginnings()
        found = shortest_completion(chart, beginnings)
        if isinstance(found, str):
            return found, []
        if found.tokens:
            return None, ["Only tokens that the grammar names make the text complete."]
        return None, [f"It takes more than {MAX_COMPLETION:,} characters to make the text complete."]

    def _beginnings(self) -> list[tuple[str, Item]]:
        if self._partial is None:
            return [("", item) for item in self._chart.last.reading]
        beginnings = []
        for item, read in self._reads():
            possible = intersect(read.ranges, *self._partial)
            if possible:
                beginnings.append((chr(possible[0][0]), (read.target, *item[1:])))
        return beginnings

    # active rules

    def _active_rules(self) -> list[ActiveRule]:
        item = self._innermost()
        if item is None:
            return []
        rules: list[ActiveRule] = []
        inner_place: Place | None = None  # in a repetition that the rule is in
        for current, place in self._chain(item):
            network = self._network(current)
            inner_place = inner_place or place
            if network.is_rule and network.rule.name:
                begin = self._positions.at(current[1])
                dotted = dotted_rule(network, inner_place)
                rules.append(ActiveRule(network.rule.name, begin, self._position, dotted))
                inner_place = None
        return rules[::-1]

    def _innermost(self) -> Item | None:
        """The item of what began last, of those that have read something and may go on."""
        column = self._chart.last
        if self._end == 0:
            start = self._grammar.network.networks[0].start
            [call] = self._grammar.steps(start).calls
            inside = [item for item in column.items if self._chart.occurrence(item)[0] == call.network]
            return inside[0]
        going_on = [item for item in column.items if item[1] < self._end and self._goes_on(item, column)]
        return max(going_on, key=lambda item: item[1], default=None)

    def _goes_on(self, item: Item, column: Column) -> bool:
        node, _, count, _ = item
        bounds = self._grammar.network.nodes[node].bounds
        is_over = self._grammar.steps(node).is_over if bounds is None else count == bounds.max
        return not is_over and not self._chart.is_dropped(item, column)

    def _chain(self, item: Item) -> list[tuple[Item, Place]]:
        """The item, what called its network, and so on up to the start, with places; the shortest way."""
        came_from: dict[Item, Item | None] = {item: None}
        places = {item: self._grammar.network.nodes[item[0]].place}
        pending = [item]
        for current in pending:  # grows
            if self._chart.occurrence(current) == START:
                return [(each, places[each]) for each in _back(current, came_from)]
            for caller, place in self._chart.callers(current).values():
                if caller not in came_from:
                    came_from[caller] = current
                    places[caller] = place
                    pending.append(caller)
        raise AssertionError("every item comes from the start")

    def _network(self, item: Item) -> Network:
        return self._grammar.network.networks[self._chart.occurrence(item)[0]]


def _back(item: Item, came_from: dict[Item, Item | None]) -> list[Item]:
    chain: list[Item] = []
    current: Item | None = item
    while current is not None:
        chain.append(current)
        current = came_from[current]
    return chain[::-1]


def _union(expected: Iterable[Expected]) -> Ranges:
    firsts = ((ord(literal[0]),) * 2 for each in expected for literal in each.literals)
    ranges = [part for each in expected for part in each.characters]
    return normalize_ranges([*ranges, *((low, high) for low, high in firsts)])
