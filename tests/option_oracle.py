"""A slow, obvious matcher that decides what rule options and token sets mean.

It is the recognizer of `oracle.py`, on the same productions, with a context for every item: the occurrences
of rules with a budget that the item is inside of, and the temperature that holds there. An occurrence is a
rule and the point where it began; where callers come upon the same rule at the same point it is the same
occurrence, as what goes on inside does not depend on them.

Everything about budgets is one statement: **where an occurrence has used up its budget and can end, it
ends**, so whatever would go on inside of it is dropped. The budget of a lazy rule is used up from the
beginning. An occurrence that cannot end goes on until it can, which is how a budget is relaxed; what comes
after an occurrence is never dropped for its sake. So a text that has an item left is still the beginning of
a sentence.

- `max_chars` counts code points, by the bytes that begin one, however they are split into tokens.
- `max_tokens` counts tokens of which the occurrence holds at least one byte, the first and last too; text
  that is accepted as such counts none. Within a token that begins with the budget used up, the occurrence
  ends where it first can.
- A token set matches one whole token where one begins: never a part of one, never text accepted as such.
  Excluding sets and free tokens contain no stop token, and no token
  without bytes, which may be padding of the vocabulary. A stop token that a rule names explicitly
  is allowed where it makes the text complete, and ends it; others are allowed where the text is complete.
- A capture event is one occurrence, not empty, of a rule with `capture`, that is complete at a point of
  accepted text, whether or not the text goes on as it requires. Events are in the order of where they end;
  of those that end together, what begins later comes first, and of those that also begin together the
  inner one. Deduplication keeps the longest event of each occurrence.
- A marker is the end of an occurrence: as many bytes as an option says, or, where two rules tell, a text of
  the marker rule after a text of the body rule, the shortest that leaves such a marker. A rule that is a
  dispatch ends with a marker where it ends with a tag of that many bytes whose rule is empty. Stops are
  hidden from all captures that contain the whole occurrence.
- An occurrence of a rule with a body rule, a marker rule and a budget that is used up can end without its
  marker.
- Temperatures are those of the terminals that may come next; a rule's own counts in place of its callers'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from grammar_core.ir import nodes
from tests.oracle import (
    Lowering,
    Nonterminal,
    OneToken,
    Oracle,
    Production,
    Symbol,
    nullable_nonterminals,
    productive_productions,
    read_byte,
)

_MOST_ITEMS = 2_000


class TooManyItemsError(Exception):
    """The text is too ambiguous for an oracle that tells every nest of occurrences from every other."""


class Frame(NamedTuple):
    """An occurrence of a rule with a budget."""

    rule: int
    origin: Point


class Context(NamedTuple):
    """The occurrences around, outermost first, and the temperature in force."""

    frames: tuple[Frame, ...]
    temperature: float | None


class Item(NamedTuple):
    production: Production
    dot: int
    origin: Point
    read: bytes  # the part of the character at the dot that has been read
    context: Context

    @property
    def symbol(self) -> Symbol | None:
        """What comes next; None at the end."""
        body = self.production.body
        return body[self.dot] if self.dot < len(body) else None

    def moved(self) -> Item:
        """The item behind its next symbol."""
        return self._replace(dot=self.dot + 1, read=b"")


class Event(NamedTuple):
    """A rule was complete: which one, and the bytes from where to where."""

    rule: int
    begin: int
    end: int


class Point:
    """Where a text has come to. Not changed once it is built."""

    def __init__(self, text: bytes, tokens: int) -> None:
        self.text = text
        self.tokens = tokens  # completed before the byte that comes next
        self.is_complete = False
        self.is_terminated = False
        # Whether a budget was overrun on the way here, because an occurrence could not end.
        self.is_relaxed = False
        self.events: tuple[Event, ...] = ()
        self.scans: list[Item] = []
        self.waiting: dict[tuple[int, Context], list[Item]] = {}
        self.ended: dict[tuple[int, Point, tuple[Frame, ...]], None] = {}
        self.token_steps: dict[int, Point | None] = {}

    @cached_property
    def chars(self) -> int:
        """Code points that have begun."""
        return sum(byte & 0xC0 != 0x80 for byte in self.text)

    @property
    def temperatures(self) -> set[float]:
        """The temperatures of what may come next, where rules say any."""
        return {t for item in self.scans if (t := item.context.temperature) is not None}

    def temperature(self, default: float | None = None) -> float | None:
        """The temperature to sample the next token with."""
        return max(self.temperatures, default=default)


class MarkerLengths(NamedTuple):
    """Bytes of a marker: as captured alone, as hidden from its rule's own capture and as from all around."""

    whole: int
    suffix: int
    stop: int


def hides(rule: nodes.Rule) -> bool:
    """Whether captures of the rule's texts depend on a marker."""
    options = rule.options
    return (options.capture_hidden_suffix_bytes, options.capture_hidden_stop_bytes, options.stop_capture) != (
        None,
        None,
        None,
    )


class Markers:
    """The markers at the end of a rule's texts."""

    def __init__(self, rules: Sequence[nodes.Rule], rule: nodes.Rule) -> None:
        self._options = rule.options
        self._parts = [Oracle(rules, rules[i].name) for i in nodes.marker_rule_ids(rule.options)]
        self._tags: list[bytes] | None = None
        if isinstance(rule.body, nodes.TagDispatch):
            empty = [r.name for r in rules if r.body in (nodes.EMPTY, nodes.Literal(b""))]
            self._tags = [tag.encode() for tag, after in rule.body.tags if after.name in empty]

    def lengths(self, text: bytes) -> MarkerLengths | None:
        """The lengths of the marker that the text ends with, if it does."""
        suffix, stop = self._options.capture_hidden_suffix_bytes, self._options.capture_hidden_stop_bytes
        fixed = min(len(text), max(suffix or 0, stop or 0))
        if self._parts:
            body, marker = self._parts
            begins = range(len(text) + 1)
            begin = next((i for i in begins if body.accepts(text[:i]) and marker.accepts(text[i:])), None)
            if begin is None:
                return None
            whole = len(text) - begin
            return MarkerLengths(whole, 0 if suffix is None else whole, 0 if stop is None else whole)
        if self._tags is not None and text[len(text) - fixed :] not in self._tags:
            return None
        return MarkerLengths(fixed, min(suffix or 0, len(text)), min(stop or 0, len(text)))


class OptionOracle:
    """Decides what `rules` allow from `root`, token by token or byte by byte."""

    def __init__(
        self,
        rules: Iterable[nodes.Rule],
        root: str,
        vocabulary: Sequence[bytes] = (),
        stop_token_ids: Iterable[int] = (),
    ) -> None:
        self._rules = tuple(rules)
        self._vocabulary = list(vocabulary)
        self.stop_token_ids = frozenset(stop_token_ids)
        lowering = Lowering(self._rules)
        self._root = Nonterminal(lowering.rule_numbers[root])
        self._markers = {
            number: Markers(self._rules, rule) for number, rule in enumerate(self._rules) if hides(rule)
        }
        self._early = self._rules_that_end_early()
        empty = [
            Production(number, (Nonterminal(body),))
            for number, body in self._early.items()
            if self._rules[number].options.max_chars == 0
        ]
        self._nullable = nullable_nonterminals([*lowering.productions, *empty])
        self._productions = productive_productions(lowering.productions)
        self.start = Point(b"", 0)
        self._whole = Production(-1, (self._root,))
        if not self.is_empty:
            self._close(self.start, [Item(self._whole, 0, self.start, b"", Context((), None))])

    @property
    def is_empty(self) -> bool:
        """Whether there is no sentence at all."""
        return self._root.number not in self._productions

    def accept_text(self, point: Point, data: bytes) -> Point | None:
        """The point after text that is no token; None when no sentence continues like that."""
        current: Point | None = point
        for byte in data:
            if current is None or current.is_terminated:
                return None
            current = self._step(current, byte, current.tokens)
        return current

    def accept_token(self, point: Point, token_id: int) -> Point | None:
        """The point after a token; None when it is not allowed."""
        if token_id not in point.token_steps:
            point.token_steps[token_id] = self._token_step(point, token_id)
        return point.token_steps[token_id]

    def allowed_token_ids(self, point: Point) -> set[int]:
        """The ids of the tokens that may come next."""
        return {i for i in range(len(self._vocabulary)) if self.accept_token(point, i) is not None}

    def captures(self, point: Point, *, deduplicate: bool = True) -> list[tuple[str, bytes]]:
        """Names and texts of what rules with `capture` have matched."""
        events = list(point.events)
        if deduplicate:
            longest = {(event.rule, event.begin): event for event in events}
            events = [event for event in events if longest[event.rule, event.begin] is event]
        texts = {event: point.text[event.begin : event.end] for event in events}
        lengths = {
            event: self._markers[event.rule].lengths(text)
            for event, text in texts.items()
            if event.rule in self._markers
        }
        stops = [(event, length.stop) for event, length in lengths.items() if length is not None]
        captures: list[tuple[str, bytes]] = []
        for event in events:
            options = self._rules[event.rule].options
            length = lengths.get(event)
            if options.stop_capture is not None and length is not None:
                captures.append((options.stop_capture, texts[event][len(texts[event]) - length.whole :]))
            if options.capture is not None:
                hidden = {
                    i for stop, bytes_ in stops if _is_around(event, stop) for i in _end_of(stop, bytes_)
                }
                hidden.update(_end_of(event, length.suffix) if length is not None else ())
                shown = [i for i in range(event.begin, event.end) if i not in hidden]
                captures.append((options.capture, bytes(point.text[i] for i in shown)))
        return captures

    # steps

    def _token_step(self, point: Point, token_id: int) -> Point | None:
        if point.is_terminated:
            return None
        if token_id in self.stop_token_ids:
            return self._stop(point, token_id)
        token = self._vocabulary[token_id]
        whole = [item.moved() for item in point.scans if self._takes(item.symbol, token_id)]
        last: Point | None = point if token else None
        for byte in token[:-1]:
            last = None if last is None else self._step(last, byte, point.tokens + 1)
        spelled = [] if last is None else _read(last, token[-1])
        if last is None or not spelled:
            last = point
        following = Point(point.text + token, point.tokens + 1)
        following.is_relaxed = last.is_relaxed
        following.events = last.events
        return self._filled(following, [*spelled, *whole], following.tokens)

    def _takes(self, symbol: Symbol | None, token_id: int) -> bool:
        if not isinstance(symbol, OneToken) or not symbol.has(token_id):
            return False
        return not symbol.negated or self._vocabulary[token_id] != b""

    def _stop(self, point: Point, token_id: int) -> Point | None:
        named = [
            item.moved()
            for item in point.scans
            if isinstance(item.symbol, OneToken) and not item.symbol.negated and token_id in item.symbol.ids
        ]
        stopped = Point(point.text, point.tokens + 1)
        stopped.is_relaxed, stopped.events = point.is_relaxed, point.events
        if not point.is_complete:
            self._filled(stopped, named, stopped.tokens)
            if not stopped.is_complete:
                return None
            stopped.scans = []
        stopped.is_complete = stopped.is_terminated = True
        return stopped

    def _step(self, point: Point, byte: int, tokens: int) -> Point | None:
        """The point after one more byte; `tokens` counts the one that it is part of, if any."""
        following = Point(point.text + bytes([byte]), point.tokens)
        following.is_relaxed, following.events = point.is_relaxed, point.events
        return self._filled(following, _read(point, byte), tokens)

    def _filled(self, point: Point, items: list[Item], tokens: int) -> Point | None:
        if not items:
            return None
        frames = {frame for item in items for frame in item.context.frames}
        point.is_relaxed = point.is_relaxed or any(self._overruns(f, point, tokens) for f in frames)
        self._close(point, items)
        return point

    def _overruns(self, frame: Frame, point: Point, tokens: int) -> bool:
        """Whether the occurrence has taken more code points or tokens than its budget."""
        options = self._rules[frame.rule].options
        return (options.max_chars is not None and point.chars - frame.origin.chars > options.max_chars) or (
            options.max_tokens is not None and tokens - frame.origin.tokens > options.max_tokens
        )

    # what follows at one point

    def _close(self, point: Point, items: list[Item]) -> None:
        """Predict and complete until nothing new comes up, then drop what must end here."""
        seen = dict.fromkeys(items)
        causes: dict[Item, list[Item]] = {}
        pending = list(seen)
        for item in pending:  # grows
            causes[item] = self._consequences(item, point)
            fresh = [new for new in dict.fromkeys(causes[item]) if new not in seen]
            seen.update(dict.fromkeys(fresh))
            pending += fresh
            if len(pending) > _MOST_ITEMS:
                raise TooManyItemsError
        point.scans = [item for item in point.scans if not self._must_have_ended(item, point)]
        point.events += tuple(self._new_events(point, causes))

    def _consequences(self, item: Item, point: Point) -> list[Item]:
        symbol = item.symbol
        if symbol is None:
            return self._complete(item, point)
        if self._may_end_early(item, point):
            return [*self._predict(item, symbol, point), item.moved()]
        return self._predict(item, symbol, point)

    def _may_end_early(self, item: Item, point: Point) -> bool:
        """Whether what stands before a marker is complete and the budget is used up."""
        head = item.production.head
        return (
            item.dot == 1
            and head in self._early
            and item.production is not self._whole
            and self._is_over_budget(Frame(head, item.origin), point)
        )

    def _predict(self, item: Item, symbol: Symbol, point: Point) -> list[Item]:
        if not isinstance(symbol, Nonterminal):
            point.scans.append(item)
            return []
        inside = self._inside(symbol.number, item.context, point)
        point.waiting.setdefault((symbol.number, inside), []).append(item)
        productions = self._productions.get(symbol.number, [])
        predicted = [Item(production, 0, point, b"", inside) for production in productions]
        if symbol.number not in self._nullable:
            return predicted
        # An empty occurrence is stepped over here, so completing one where it began adds nothing.
        point.ended[symbol.number, point, inside.frames] = None
        return [*predicted, item.moved()]

    def _complete(self, item: Item, point: Point) -> list[Item]:
        head = item.production.head
        if item.production is self._whole:
            point.is_complete = True
            return []
        if item.origin is point:
            return []
        point.ended[head, item.origin, item.context.frames] = None
        return [waiting.moved() for waiting in item.origin.waiting.get((head, item.context), [])]

    def _inside(self, number: int, around: Context, point: Point) -> Context:
        """The context inside of a nonterminal that begins at the point."""
        if number >= len(self._rules):
            return around
        options = self._rules[number].options
        frames, frame = around.frames, Frame(number, point)
        has_budget = options.max_tokens is not None or options.max_chars is not None or options.lazy
        if has_budget and frame not in frames:
            frames = (*frames, frame)
        return Context(frames, around.temperature if options.temperature is None else options.temperature)

    def _must_have_ended(self, item: Item, point: Point) -> bool:
        """Whether an occurrence around the item has used up its budget and can end here."""
        frames = item.context.frames
        return any(
            self._is_spent(frame, point) and (*frame, frames[: index + 1]) in point.ended
            for index, frame in enumerate(frames)
        )

    def _is_spent(self, frame: Frame, point: Point) -> bool:
        return self._rules[frame.rule].options.lazy or self._is_over_budget(frame, point)

    def _is_over_budget(self, frame: Frame, point: Point) -> bool:
        options = self._rules[frame.rule].options
        return (options.max_chars is not None and point.chars - frame.origin.chars >= options.max_chars) or (
            options.max_tokens is not None and point.tokens - frame.origin.tokens >= options.max_tokens
        )

    # captures

    def _new_events(self, point: Point, causes: dict[Item, list[Item]]) -> list[Event]:
        complete = [
            item
            for item in causes
            if item.symbol is None and item.origin is not point and self._is_captured(item)
        ]
        enclosed = {item: _reached(item, causes) for item in complete}
        depth = {item: _rules_inside(item, enclosed) for item in complete}
        complete.sort(key=lambda item: (-len(item.origin.text), depth[item], item.production.head))
        events = [Event(i.production.head, len(i.origin.text), len(point.text)) for i in complete]
        return list(dict.fromkeys(events))

    def _is_captured(self, item: Item) -> bool:
        head = item.production.head
        if not 0 <= head < len(self._rules):
            return False
        options = self._rules[head].options
        return any(
            option is not None
            for option in (options.capture, options.stop_capture, options.capture_hidden_stop_bytes)
        )

    def _rules_that_end_early(self) -> dict[int, int]:
        """For rules that may end before their marker: the rule of what stands before it."""
        early: dict[int, int] = {}
        for number, rule in enumerate(self._rules):
            ids = nodes.marker_rule_ids(rule.options)
            if ids and (rule.options.max_tokens is not None or rule.options.max_chars is not None):
                if rule.body != nodes.Sequence(tuple(nodes.RuleRef(self._rules[i].name) for i in ids)):
                    raise ValueError(
                        "the oracle knows budgets with markers only of rules that say both parts"
                    )
                early[number] = ids[0]
        return early


def _is_around(outer: Event, inner: Event) -> bool:
    return outer.begin <= inner.begin and inner.end <= outer.end


def _end_of(event: Event, length: int) -> range:
    return range(event.end - length, event.end)


def _read(point: Point, byte: int) -> list[Item]:
    """The items after one more byte of text."""
    read = [
        (item, read_byte(item.symbol, item.read, byte)) for item in point.scans if item.symbol is not None
    ]
    return [
        item.moved() if rest == b"" else item._replace(read=rest) for item, rest in read if rest is not None
    ]


def _rules_inside(outer: Item, enclosed: dict[Item, set[Item]]) -> int:
    """How many other captured rules have matched the same text inside of this one."""
    inner = {
        item.production.head
        for item, outer_ones in enclosed.items()
        if outer in outer_ones and item.origin is outer.origin
    }
    return len(inner - {outer.production.head})


def _reached(item: Item, causes: dict[Item, list[Item]]) -> set[Item]:
    """The items that come of this one at the same point."""
    reached: set[Item] = set()
    pending = list(causes[item])
    while pending:
        current = pending.pop()
        if current not in reached:
            reached.add(current)
            pending += causes[current]
    return reached - {item}
