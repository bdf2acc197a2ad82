"""A grammar as a recursive transition network: for each rule an automaton whose edges read or call.

W. Woods, "Transition network grammars for natural language analysis", 1970. Counted repetitions are
networks of their own, whose only node is passed with a count, so that a large count costs nothing. Every node
knows its place in the text of its rule, which is where a dotted rule shows the dot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from grammar_core.ir.char_ranges import Ranges
from grammar_core.ir.nodes import (
    Automaton,
    CharClass,
    Choice,
    Expr,
    Literal,
    Regex,
    Repeat,
    Rule,
    RuleRef,
    Sequence,
    TokenSet,
)
from grammar_core.passes.expand_macros import expand_macros

Path: TypeAlias = tuple["Path", int] | None
"""Where an expression is in a body: the path of its parent and its position there; None is the body."""

INSIDE_MACRO = -1


class Place(NamedTuple):
    """Before the expression at `path`, or after `read` characters of it if it is a literal."""

    path: Path
    read: int = 0


END = Place((None, -1))
"""Behind the body."""


class Read(NamedTuple):
    """An edge that reads one character of `ranges`; `rest` is what comes of a literal from there on.

    With `tokens` it reads a token of that set, which no text does.
    """

    ranges: Ranges
    target: int
    rest: str | None = None
    tokens: TokenSet | None = None


class Call(NamedTuple):
    """An edge that reads what a network reads; `place` is where it is called."""

    network: int
    target: int
    place: Place


class Bounds(NamedTuple):
    """The counts of a repetition and the network of what is repeated."""

    min: int
    max: int | None
    body: int


class Network(NamedTuple):
    """An automaton. `rule` is its rule, or for a repetition the one around; `is_rule` tells which."""

    rule: Rule
    is_rule: bool
    start: int
    end: int


class Node:
    """What leads on from one place: reads, calls and empty edges; `bounds` in the node of a repetition."""

    __slots__ = ("bounds", "calls", "empty", "network", "place", "reads")

    def __init__(self, network: int, place: Place) -> None:
        self.network = network
        self.place = place
        self.reads: list[Read] = []
        self.calls: list[Call] = []
        self.empty: list[int] = []
        self.bounds: Bounds | None = None


class _Work(NamedTuple):
    """An expression to be put between two nodes. Within a macro all new nodes have the place `fixed`."""

    expr: Expr
    begin: int
    end: int
    path: Path
    fixed: Place | None


class TransitionNetwork:
    """The networks of all rules. Network 0 calls the root and nothing else."""

    def __init__(self, rules: Iterable[Rule], root: str) -> None:
        rules = tuple(rules)
        self.nodes: list[Node] = []
        self.networks: list[Network] = []
        self._pending: list[_Work] = []
        self._of_rule = {rule.name: number for number, rule in enumerate(rules, start=1)}
        for rule in (Rule("", RuleRef(root)), *rules):
            self._add_network(rule, is_rule=True)
        for number, network in enumerate(self.networks[: len(rules) + 1]):
            assert self.nodes[network.start].network == number
            self._pending.append(_Work(network.rule.body, network.start, network.end, None, None))
        while self._pending:
            self._build(self._pending.pop())

    def _add_network(self, rule: Rule, *, is_rule: bool, start: Place | None = None, end: Place = END) -> int:
        number = len(self.networks)
        nodes = self._node(number, start or Place(None)), self._node(number, end)
        self.networks.append(Network(rule, is_rule, *nodes))
        return number

    def _node(self, network: int, place: Place) -> int:
        self.nodes.append(Node(network, place))
        return len(self.nodes) - 1

    def _build(self, work: _Work) -> None:
        expr = work.expr
        begin = self.nodes[work.begin]
        if isinstance(expr, Literal):
            self._literal(work, expr.value.decode())
        elif isinstance(expr, CharClass):
            begin.reads.append(Read(expr.ranges, work.end))
        elif isinstance(expr, TokenSet):
            begin.reads.append(Read((), work.end, tokens=expr))
        elif isinstance(expr, RuleRef):
            place = work.fixed or Place(work.path)
            begin.calls.append(Call(self._of_rule[expr.name], work.end, place))
        elif isinstance(expr, Sequence):
            self._sequence(work, expr.items)
        elif isinstance(expr, Choice):
            options = [work._replace(expr=o, path=(work.path, i)) for i, o in enumerate(expr.options)]
            self._pending += reversed(options)  # so that edges are in the order of the text
        elif isinstance(expr, Repeat):
            self._repeat(work, expr)
        elif isinstance(expr, Automaton):
            self._automaton(work, expr)
        else:
            inner = expr.body if isinstance(expr, Regex) else expand_macros((Rule("", expr),))[0].body
            fixed = work.fixed or Place(work.path, INSIDE_MACRO)
            # The node before the macro is not inside yet.
            self._pending.append(work._replace(expr=inner, fixed=fixed))

    def _inner_node(self, work: _Work, path: Path, read: int = 0) -> int:
        return self._node(self.nodes[work.begin].network, work.fixed or Place(path, read))

    def _literal(self, work: _Work, text: str) -> None:
        if not text:
            self.nodes[work.begin].empty.append(work.end)
            return
        ends = [self._inner_node(work, work.path, index) for index in range(1, len(text))]
        begins = [work.begin, *ends]
        for index, (begin, end) in enumerate(zip(begins, [*ends, work.end], strict=True)):
            point = ord(text[index])
            self.nodes[begin].reads.append(Read(((point, point),), end, text[index:]))

    def _sequence(self, work: _Work, items: tuple[Expr, ...]) -> None:
        if not items:
            self.nodes[work.begin].empty.append(work.end)
            return
        between = [self._inner_node(work, (work.path, index)) for index in range(1, len(items))]
        ends = [*between, work.end]
        for index, (item, begin, end) in enumerate(zip(items, [work.begin, *between], ends, strict=True)):
            self._pending.append(_Work(item, begin, end, (work.path, index), work.fixed))

    def _repeat(self, work: _Work, repeat: Repeat) -> None:
        if repeat.min > 1 or repeat.max not in (1, None):
            self._counted(work, repeat)
            return
        first = self._inner_node(work, work.path)
        self.nodes[work.begin].empty.append(first)
        last = work.end
        if repeat.max is None:
            last = first if repeat.min == 0 else self._inner_node(work, work.path)
            self.nodes[last].empty += [work.end] if last == first else [work.end, first]
        elif repeat.min == 0:
            self.nodes[first].empty.append(work.end)
        self._pending.append(_Work(repeat.body, first, last, (work.path, 0), work.fixed))

    def _counted(self, work: _Work, repeat: Repeat) -> None:
        rule = self.networks[self.nodes[work.begin].network].rule
        place = work.fixed or Place(work.path)
        path: Path = (work.path, 0)
        counter = self._add_network(rule, is_rule=False, start=place, end=place)
        body = self._add_network(rule, is_rule=False, start=work.fixed or Place(path), end=place)
        self.nodes[self.networks[counter].start].bounds = Bounds(repeat.min, repeat.max, body)
        self.nodes[work.begin].calls.append(Call(counter, work.end, place))
        start, end = self.networks[body].start, self.networks[body].end
        self._pending.append(_Work(repeat.body, start, end, path, work.fixed))

    def _automaton(self, work: _Work, automaton: Automaton) -> None:
        states = [self._inner_node(work, work.path) for _ in range(automaton.state_count)]
        self.nodes[work.begin].empty.append(states[0])
        for state in automaton.accepting:
            self.nodes[states[state]].empty.append(work.end)
        for source, target, label in reversed(automaton.edges):
            self._pending.append(_Work(label, states[source], states[target], work.path, work.fixed))
