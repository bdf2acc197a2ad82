"""A slow, obvious matcher that decides what the engine must answer.

It is a textbook Earley recognizer over bytes. It shares the grammar's nodes with the engine and
nothing else: rules become plain productions, productions that can never be completed are dropped,
and a set of items is kept for every byte read. As no dead production is left, a text is the
beginning of a sentence exactly when its set of items is not empty.

It knows text alone: no token matches a token set here, and rule options change nothing. What those mean
is decided in `option_oracle.py`, on the same productions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from grammar_core.ir import nodes
from grammar_core.ir.char_ranges import complement_ranges
from grammar_core.passes.expand_other_texts import expand_other_texts

_MOST_COPIES = 2_000


class Byte(NamedTuple):
    value: int


class Character(NamedTuple):
    ranges: tuple[tuple[int, int], ...]


class Nonterminal(NamedTuple):
    number: int


class OneToken(NamedTuple):
    ids: tuple[int, ...]
    negated: bool

    def has(self, token_id: int) -> bool:
        """Whether the token is in the set."""
        return (token_id in self.ids) != self.negated


Symbol = Byte | Character | Nonterminal | OneToken


@dataclass(frozen=True, slots=True, eq=False)
class Production:
    head: int
    body: tuple[Symbol, ...]


class Position:
    """Where a text has come to: the Earley items after its last byte. Immutable once built."""

    def __init__(self) -> None:
        self.is_complete = False
        self.waiting: dict[int, list[_Item]] = {}
        self.scans: list[_Item] = []
        self.next: dict[int, Position | None] = {}


class _Item(NamedTuple):
    production: Production
    dot: int
    origin: Position
    read: bytes  # the part of the character at the dot that has been read


class Oracle:
    """Decides the language of `rules` from `root`, byte by byte."""

    def __init__(self, rules: Iterable[nodes.Rule], root: str) -> None:
        lowering = Lowering(rules)
        self._root = lowering.rule_numbers[root]
        self._nullable = nullable_nonterminals(lowering.productions)
        self._productions = productive_productions(lowering.productions)
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
        if not isinstance(symbol, Nonterminal):
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
    read = read_byte(item.production.body[item.dot], item.read, byte)
    if read is None:
        return None
    return _moved(item) if read == b"" else item._replace(read=read)


def read_byte(symbol: Symbol, read: bytes, byte: int) -> bytes | None:
    """What has been read of a terminal after one more byte: b"" when it is whole, None if that cannot be.

    `read` is the part read before.
    """
    if isinstance(symbol, Byte):
        return b"" if symbol.value == byte else None
    if not isinstance(symbol, Character):
        return None
    read += bytes([byte])
    if not has_character(symbol.ranges, read):
        return None
    return b"" if len(read) == character_length(read[0]) else read


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


def productive_productions(productions: list[Production]) -> dict[int, list[Production]]:
    """The productions that can be completed, by their head."""
    productive = _closure(productions, _is_matchable)
    by_head: dict[int, list[Production]] = {}
    for production in productions:
        if _all_in(production.body, productive, _is_matchable):
            by_head.setdefault(production.head, []).append(production)
    return by_head


def nullable_nonterminals(productions: list[Production]) -> set[int]:
    """The nonterminals that match the empty string."""
    return _closure(productions, lambda symbol: False)


def _is_matchable(symbol: Symbol) -> bool:
    return isinstance(symbol, Byte | OneToken) or (isinstance(symbol, Character) and bool(symbol.ranges))


def _all_in(body: tuple[Symbol, ...], numbers: set[int], holds: Callable[[Symbol], bool]) -> bool:
    return all(s.number in numbers if isinstance(s, Nonterminal) else holds(s) for s in body)


def _closure(productions: list[Production], holds: Callable[[Symbol], bool]) -> set[int]:
    """Nonterminals with a production all of whose symbols hold, terminals by `holds`."""
    numbers: set[int] = set()
    size = -1
    while size != len(numbers):
        size = len(numbers)
        numbers |= {p.head for p in productions if _all_in(p.body, numbers, holds)}
    return numbers


class Lowering:
    """Rules as productions of bytes, characters and numbered nonterminals."""

    def __init__(self, rules: Iterable[nodes.Rule]) -> None:
        rules = tuple(rules)
        self.productions: list[Production] = []
        self._count = len(rules)
        self.rule_numbers = {rule.name: number for number, rule in enumerate(rules)}
        for number, rule in enumerate(rules):
            self._add(number, self._symbols(rule.body))

    def _add(self, head: int, body: Iterable[Symbol]) -> None:
        self.productions.append(Production(head, tuple(body)))

    def _new(self) -> Nonterminal:
        self._count += 1
        return Nonterminal(self._count - 1)

    def _symbols(self, expr: nodes.Expr) -> list[Symbol]:
        """Symbols that match exactly what `expr` matches."""
        if isinstance(expr, nodes.Literal):
            return [Byte(value) for value in expr.value]
        if isinstance(expr, nodes.CharClass):
            return [Character(expr.ranges)]
        if isinstance(expr, nodes.RuleRef):
            return [Nonterminal(self.rule_numbers[expr.name])]
        if isinstance(expr, nodes.Sequence):
            return [symbol for item in expr.items for symbol in self._symbols(item)]
        if isinstance(expr, nodes.Choice):
            return [self._choice([self._symbols(option) for option in expr.options])]
        if isinstance(expr, nodes.Regex):
            return self._symbols(expr.body)
        if isinstance(expr, nodes.Automaton):
            return [self._automaton(expr)]
        if isinstance(expr, nodes.CountedAutomaton):
            return [self._counted_automaton(expr)]
        if isinstance(expr, nodes.Members):
            return [self._members(expr)]
        if isinstance(expr, nodes.OtherTexts) and not isinstance(expr.item, nodes.CharClass):
            return self._symbols(expand_other_texts(expr))
        if isinstance(expr, nodes.Substring):
            return [self._substring(expr.chunks)]
        if isinstance(expr, nodes.OtherTexts):
            return [self._other_texts(expr)]
        if isinstance(expr, nodes.TagDispatch):
            return [self._tag_dispatch(expr)]
        if isinstance(expr, nodes.TokenSet):
            return [OneToken(expr.ids, expr.negated)]
        if isinstance(expr, nodes.TokenTagDispatch):
            return [self._token_tag_dispatch(expr)]
        return self._repeat(self._choice([self._symbols(expr.body)]), expr.min, expr.max)

    def _automaton(self, automaton: nodes.Automaton) -> Nonterminal:
        """A nonterminal for each state: what leads from it to an accepting one."""
        states = [self._new() for _ in range(automaton.state_count)]
        for source, target, label in automaton.edges:
            self._add(states[source].number, [*self._symbols(label), states[target]])
        for state in automaton.accepting:
            self._add(states[state].number, [])
        return states[0]

    def _counted_automaton(self, counted: nodes.CountedAutomaton) -> Nonterminal:
        """A nonterminal for each state and number of edges so far."""
        last = counted.min if counted.max is None else counted.max
        count = counted.body.state_count
        states = [[self._new() for _ in range(count)] for _ in range(last + 1)]
        for edges, layer in enumerate(states):
            following = states[min(edges + 1, last)]
            for source, target, label in counted.body.edges:
                if edges < last or counted.max is None:
                    self._add(layer[source].number, [*self._symbols(label), following[target]])
            for state in counted.body.accepting:
                if edges >= counted.min:
                    self._add(layer[state].number, [])
        return states[0][0]

    def _other_texts(self, others: nodes.OtherTexts) -> Nonterminal:
        """A nonterminal for each beginning of an excluded text, and one for all other texts."""
        assert isinstance(others.item, nodes.CharClass)
        beginnings = {text[:length] for text in others.texts for length in range(len(text) + 1)} | {""}
        ends = {beginning: self._new() for beginning in beginnings}
        free = self._new()
        self._add(free.number, [])
        self._add(free.number, [Character(others.item.ranges), free])
        for beginning, here in ends.items():
            if beginning not in others.texts:
                self._add(here.number, [])
            longer = {text[-1] for text in beginnings if text and text[:-1] == beginning}
            allowed = {c for c in longer if any(a <= ord(c) <= b for a, b in others.item.ranges)}
            for character in allowed:
                self._add(here.number, [Character(((ord(character),) * 2,)), ends[beginning + character]])
            rest = complement_ranges(tuple(sorted((ord(c), ord(c)) for c in longer)))
            both = [
                (max(a, c), min(b, d))
                for a, b in others.item.ranges
                for c, d in rest
                if max(a, c) <= min(b, d)
            ]
            self._add(here.number, [Character(tuple(both)), free])
        return ends[""]

    def _members(self, members: nodes.Members) -> Nonterminal:
        """A nonterminal for each list so far, by what came, the last member in order and the length."""
        ends: dict[tuple[frozenset[int], int, int, bool], Nonterminal] = {}
        most = members.max or members.min
        separator = [] if members.separator is None else self._symbols(members.separator)

        def rest(came: frozenset[int], last: int, length: int, is_behind: bool) -> Nonterminal:
            key = came, last, min(length, most + 1), is_behind
            if key in ends:
                return ends[key]
            here = ends[key] = self._new()
            required = {i for i, member in enumerate(members.members) if member.required}
            required |= {other for member, other in members.implications if member in came}
            is_list = required <= came and members.min <= length
            if is_list and (is_behind or not length) and (members.max is None or length <= members.max):
                self._add(here.number, [])
            if members.max is not None and length >= members.max:
                return here
            if is_behind:
                self._add(here.number, [*separator, rest(came, last, length, False)])
                return here
            for i, member in enumerate(members.members):
                if not member.repeatable and (i in came or (members.ordered and i < last)):
                    continue
                after = rest(came | {i}, last if member.repeatable else i, min(length, most) + 1, True)
                self._add(here.number, [*self._symbols(member.rule), after])
            return here

        return rest(frozenset(), 0, 0, False)

    def _substring(self, chunks: tuple[str, ...]) -> Nonterminal:
        """Every run of chunks, one by one."""
        bounds = [(begin, end) for begin in range(len(chunks)) for end in range(begin, len(chunks) + 1)]
        runs = {"".join(chunks[begin:end]) for begin, end in [(0, 0), *bounds]}
        return self._choice([[Byte(value) for value in run.encode()] for run in sorted(runs)])

    def _tag_dispatch(self, dispatch: nodes.TagDispatch) -> Nonterminal:
        """A nonterminal for each way in which free text may end that matters for the tags to come."""
        tags = [tag for tag, _ in dispatch.tags]
        letters = sorted(set("".join((*tags, *dispatch.excludes))))
        others = Character(complement_ranges((ord(letter), ord(letter)) for letter in letters))
        ends = {"": self._new()}
        pending = [""]
        while pending:
            end = pending.pop()
            self._add(ends[end].number, [])
            self._add(ends[end].number, [others, ends[""]])
            for letter in letters:
                text = end + letter
                if text.endswith(dispatch.excludes):
                    continue
                symbols: list[Symbol] = [Byte(value) for value in letter.encode()]
                complete = [tag for tag in tags if text.endswith(tag)]
                if complete:
                    longest = max(complete, key=len)
                    rules = [rule for tag, rule in dispatch.tags if tag == longest]
                    called = self._choice([self._symbols(rule) for rule in rules])
                    self._add(ends[end].number, [*symbols, called, *([ends[""]] if dispatch.loop else [])])
                    continue
                while text and not any(pattern.startswith(text) for pattern in (*tags, *dispatch.excludes)):
                    text = text[1:]
                if text not in ends:
                    ends[text] = self._new()
                    pending.append(text)
                self._add(ends[end].number, [*symbols, ends[text]])
        return ends[""]

    def _token_tag_dispatch(self, dispatch: nodes.TokenTagDispatch) -> Nonterminal:
        triggers = [token_id for token_id, _ in dispatch.tags]
        free = OneToken((*triggers, *dispatch.excludes), negated=True)
        text = self._new()
        self._add(text.number, [])
        self._add(text.number, [free, text])
        for token_id, rule in dispatch.tags:
            trigger = OneToken((token_id,), negated=False)
            self._add(text.number, [trigger, *self._symbols(rule), *([text] if dispatch.loop else [])])
        return text

    def _choice(self, bodies: list[list[Symbol]]) -> Nonterminal:
        head = self._new()
        for body in bodies:
            self._add(head.number, body)
        return head

    def _repeat(self, item: Symbol, low: int, high: int | None) -> list[Symbol]:
        if max(low, high or 0) > _MOST_COPIES:
            raise ValueError("the oracle copies the body of a repetition, which is too often here")
        required = [item] * low
        if high is None:
            more = self._new()
            self._add(more.number, [])
            self._add(more.number, [more, item])
            return [*required, more]
        optional: list[Symbol] = []
        for _ in range(high - low):
            optional = [self._choice([[], [item, *optional]])]
        return [*required, *optional]
