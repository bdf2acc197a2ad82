"""A slow, obvious matcher that decides what the engine must answer.

It is a textbook Earley recognizer over bytes. It shares the grammar's nodes with the engine and
nothing else: rules become plain productions, productions that can never be completed are dropped,
and a set of items is kept for every byte read. As no dead production is left, a text is the
beginning of a sentence exactly when its set of items is not empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from grammar_core.ir import nodes

_MOST_COPIES = 2_000


class _Byte(NamedTuple):
    value: int


class _Character(NamedTuple):
    ranges: tuple[tuple[int, int], ...]


class _Nonterminal(NamedTuple):
    number: int


_Symbol = _Byte | _Character | _Nonterminal


@dataclass(frozen=True, slots=True, eq=False)
class _Production:
    head: int
    body: tuple[_Symbol, ...]


class Position:
    """Where a text has come to: the Earley items after its last byte. Immutable once built."""

    def __init__(self) -> None:
        self.is_complete = False
        self.waiting: dict[int, list[_Item]] = {}
        self.scans: list[_Item] = []
        self.next: dict[int, Position | None] = {}


class _Item(NamedTuple):
    production: _Production
    dot: int
    origin: Position
    read: bytes  # the part of the character at the dot that has been read


class Oracle:
    """Decides the language of `rules` from `root`, byte by byte."""

    def __init__(self, rules: Iterable[nodes.Rule], root: str) -> None:
        lowering = _Lowering(rules)
        self._root = lowering.rule_numbers[root]
        productive = _closure(lowering.productions, _never_dead)
        self._nullable = _closure(lowering.productions, lambda symbol: False)
        self._productions: dict[int, list[_Production]] = {}
        for production in lowering.productions:
            if _all_in(production.body, productive, _never_dead):
                self._productions.setdefault(production.head, []).append(production)
        self.start = Position()
        self._close(self.start, [_Item(p, 0, self.start, b"") for p in self._productions.get(self._root, [])])
        self.start.is_complete = self._root in self._nullable

    @property
    def is_empty(self) -> bool:
        """Whether the language has no sentence at all."""
        return self._root not in self._productions

    def step(self, position: Position, byte: int) -> Position | None:
        """The position after one more byte; None when no sentence continues like that."""
        if byte not in position.next:
            position.next[byte] = self._scan(position, byte)
        return position.next[byte]

    def advance(self, position: Position, data: bytes) -> Position | None:
        """The position after all of `data`; None when no sentence continues like that."""
        current: Position | None = position
        for byte in data:
            if current is None:
                return None
            current = self.step(current, byte)
        return current

    def is_viable(self, data: bytes) -> bool:
        """Whether some sentence begins with `data`."""
        return not self.is_empty and self.advance(self.start, data) is not None

    def accepts(self, data: bytes) -> bool:
        """Whether `data` is a sentence."""
        position = self.advance(self.start, data)
        return position is not None and position.is_complete

    def allowed_token_ids(
        self, position: Position, vocabulary: Sequence[bytes], stop_token_ids: Iterable[int]
    ) -> set[int]:
        """Ids that may come next: text that some sentence continues with; stop tokens when complete.

        Tokens of no bytes never match text.
        """
        stops = set(stop_token_ids)
        allowed = {
            token_id
            for token_id, token in enumerate(vocabulary)
            if token and token_id not in stops and self.advance(position, token) is not None
        }
        return allowed | stops if position.is_complete else allowed

    def _scan(self, position: Position, byte: int) -> Position | None:
        after = Position()
        moved = [item for scan in position.scans if (item := _read_byte(scan, byte)) is not None]
        if not moved:
            return None
        self._close(after, moved)
        return after

    def _close(self, position: Position, items: list[_Item]) -> None:
        """Predict and complete until nothing new comes up."""
        seen = set(items)
        pending = list(seen)
        while pending:
            for item in self._consequences(pending.pop(), position):
                if item not in seen:
                    seen.add(item)
                    pending.append(item)

    def _consequences(self, item: _Item, position: Position) -> list[_Item]:
        if item.dot == len(item.production.body):
            return self._complete(item, position)
        symbol = item.production.body[item.dot]
        if not isinstance(symbol, _Nonterminal):
            position.scans.append(item)
            return []
        position.waiting.setdefault(symbol.number, []).append(item)
        predicted = [_Item(p, 0, position, b"") for p in self._productions.get(symbol.number, [])]
        # An empty occurrence is stepped over here, so completing one where it began adds nothing.
        return [*predicted, _moved(item)] if symbol.number in self._nullable else predicted

    def _complete(self, item: _Item, position: Position) -> list[_Item]:
        if item.origin is position:
            return []
        head = item.production.head
        if head == self._root and item.origin is self.start:
            position.is_complete = True
        return [_moved(waiting) for waiting in item.origin.waiting.get(head, [])]


def _moved(item: _Item) -> _Item:
    return _Item(item.production, item.dot + 1, item.origin, b"")


def _read_byte(item: _Item, byte: int) -> _Item | None:
    symbol = item.production.body[item.dot]
    if isinstance(symbol, _Byte):
        return _moved(item) if symbol.value == byte else None
    assert isinstance(symbol, _Character)
    read = item.read + bytes([byte])
    length = character_length(read[0])
    if not has_character(symbol.ranges, read):
        return None
    return _moved(item) if len(read) == length else item._replace(read=read)


def character_length(lead: int) -> int:
    """Bytes of the UTF-8 character that begins with `lead`; 0 if none does."""
    for length, (low, high) in enumerate(((0x00, 0x7F), (0xC2, 0xDF), (0xE0, 0xEF), (0xF0, 0xF4)), start=1):
        if low <= lead <= high:
            return length
    return 0


@lru_cache(maxsize=100_000)
def has_character(ranges: tuple[tuple[int, int], ...], beginning: bytes) -> bool:
    """Whether the UTF-8 encoding of some code point of the ranges begins with these bytes."""
    length = character_length(beginning[0])
    if length < len(beginning) or any(not 0x80 <= byte <= 0xBF for byte in beginning[1:]):
        return False
    missing = length - len(beginning)
    value = beginning[0] if length == 1 else beginning[0] & (0x7F >> length)
    for byte in beginning[1:]:
        value = value << 6 | byte & 0x3F
    shortest = (0, 0, 0x80, 0x800, 0x10000)[length]
    low = max(value << 6 * missing, shortest)
    high = min((value + 1 << 6 * missing) - 1, 0x10FFFF)
    return low <= high and any(first <= high and low <= last for first, last in ranges)


def _never_dead(symbol: _Symbol) -> bool:
    return isinstance(symbol, _Byte) or (isinstance(symbol, _Character) and bool(symbol.ranges))


def _all_in(body: tuple[_Symbol, ...], numbers: set[int], holds: Callable[[_Symbol], bool]) -> bool:
    return all(s.number in numbers if isinstance(s, _Nonterminal) else holds(s) for s in body)


def _closure(productions: list[_Production], holds: Callable[[_Symbol], bool]) -> set[int]:
    """Nonterminals with a production all of whose symbols hold, terminals by `holds`."""
    numbers: set[int] = set()
    size = -1
    while size != len(numbers):
        size = len(numbers)
        numbers |= {p.head for p in productions if _all_in(p.body, numbers, holds)}
    return numbers


class _Lowering:
    """Rules as productions of bytes, characters and numbered nonterminals."""

    def __init__(self, rules: Iterable[nodes.Rule]) -> None:
        rules = tuple(rules)
        self.productions: list[_Production] = []
        self._count = len(rules)
        self.rule_numbers = {rule.name: number for number, rule in enumerate(rules)}
        for number, rule in enumerate(rules):
            self._add(number, self._symbols(rule.body))

    def _add(self, head: int, body: Iterable[_Symbol]) -> None:
        self.productions.append(_Production(head, tuple(body)))

    def _new(self) -> _Nonterminal:
        self._count += 1
        return _Nonterminal(self._count - 1)

    def _symbols(self, expr: nodes.Expr) -> list[_Symbol]:
        """Symbols that match exactly what `expr` matches."""
        if isinstance(expr, nodes.Literal):
            return [_Byte(value) for value in expr.value]
        if isinstance(expr, nodes.CharClass):
            return [_Character(expr.ranges)]
        if isinstance(expr, nodes.RuleRef):
            return [_Nonterminal(self.rule_numbers[expr.name])]
        if isinstance(expr, nodes.Sequence):
            return [symbol for item in expr.items for symbol in self._symbols(item)]
        if isinstance(expr, nodes.Choice):
            return [self._choice([self._symbols(option) for option in expr.options])]
        if isinstance(expr, nodes.Regex):
            return self._symbols(expr.body)
        if isinstance(expr, nodes.Automaton):
            return [self._automaton(expr)]
        assert isinstance(expr, nodes.Repeat)
        return self._repeat(self._choice([self._symbols(expr.body)]), expr.min, expr.max)

    def _automaton(self, automaton: nodes.Automaton) -> _Nonterminal:
        """A nonterminal for each state: what leads from it to an accepting one."""
        states = [self._new() for _ in range(automaton.state_count)]
        for source, target, label in automaton.edges:
            self._add(states[source].number, [*self._symbols(label), states[target]])
        for state in automaton.accepting:
            self._add(states[state].number, [])
        return states[0]

    def _choice(self, bodies: list[list[_Symbol]]) -> _Nonterminal:
        head = self._new()
        for body in bodies:
            self._add(head.number, body)
        return head

    def _repeat(self, item: _Symbol, low: int, high: int | None) -> list[_Symbol]:
        if max(low, high or 0) > _MOST_COPIES:
            raise ValueError("the oracle copies the body of a repetition, which is too often here")
        required = [item] * low
        if high is None:
            more = self._new()
            self._add(more.number, [])
            self._add(more.number, [more, item])
            return [*required, more]
        optional: list[_Symbol] = []
        for _ in range(high - low):
            optional = [self._choice([[], [item, *optional]])]
        return [*required, *optional]
