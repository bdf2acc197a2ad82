"""An Earley parser over a transition network that remembers why each item is there.

J. Earley, "An efficient context-free parsing algorithm", 1970; right recursion after J. Leo, "A general
context-free parsing algorithm running in linear time on every LR(k) grammar", 1991. The parser reads
characters and is written to be understood; the engine proper is the native core.

An item says that its network has come from the column `origin` to a node; in the node of a repetition `count`
iterations are done. Occurrences of rules that must end as soon as they can (lazy rules, and rules whose
`max_chars` is used up) are told apart by a context; where one ends, whatever would go on inside of it goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from grammar_core.deadline import check
from grammar_core.diagnostics.early_ends import ends_early, split_markers
from grammar_core.diagnostics.network import Call, Network, Place, Read, TransitionNetwork
from grammar_core.diagnostics.shortest_text import ShortestTexts
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.ir.nodes import Rule

MAX_STEPS = 5_000_000
"""Steps to fill one chart, each an item or a reason for it: about ten seconds and a gigabyte."""

Item: TypeAlias = tuple[int, int, int, int]
"""Node, origin, count, context."""

Callers: TypeAlias = dict[Item, tuple[Item, Place]]
"""Items to go on with after a call, and with each of them the item that calls and the place of the call."""

Occurrence: TypeAlias = tuple[int, int, int]
"""Network, origin, context."""

START: Occurrence = (0, 0, 0)
_NO_CONTEXT = 0


class Steps(NamedTuple):
    """What leads on from a node over empty edges, and whether the end of the network is there."""

    reads: tuple[Read, ...]
    calls: tuple[Call, ...]
    is_end: bool

    @property
    def is_over(self) -> bool:
        """Whether there is only the end."""
        return self.is_end and not self.reads and not self.calls


class _Context(NamedTuple):
    """An occurrence with a budget and the context around it."""

    outer: int
    network: int
    origin: int


class Column:
    """What is possible at one point of the text.

    `waiting` has, for each network that may begin here, the items to go on with after it, and with each
    of them the item that it comes from and the place of the call. `reading` are the items that read a
    character or a token next.
    """

    __slots__ = ("ended", "is_complete", "items", "reading", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[tuple[int, int], Callers] = {}
        self.items: list[Item] = []
        self.reading: list[Item] = []
        self.ended: set[int] = set()  # contexts
        self.is_complete = False


class ParsedGrammar:
    """What parsing needs to know of a grammar, for any number of texts."""

    def __init__(self, rules: Iterable[Rule], root: str) -> None:
        self.network = TransitionNetwork(split_markers(tuple(rules)), root)
        self.shortest = ShortestTexts(self.network)
        self._nullable = [self.shortest.is_nullable(i) for i in range(len(self.network.networks))]
        self._budgets = [_has_budget(network) for network in self.network.networks]
        self._early_ends = frozenset(
            call.target
            for network in self.network.networks
            if network.is_rule and ends_early(network.rule)
            for call in self._first_calls(network)
        )
        self._steps: dict[int, Steps] = {}
        self._targets: dict[tuple[int, int], tuple[int, ...]] = {}
        if self.network.networks[0].start not in self.shortest.costs:
            raise GrammarError(f'The root rule "{root}" cannot match any finite text')

    def is_nullable(self, network: int) -> bool:
        """Whether a network reads the empty text."""
        return self._nullable[network]

    def has_budget(self, network: int) -> bool:
        """Whether it is a rule that must end as soon as it can."""
        return self._budgets[network]

    def is_early_end(self, node: int) -> bool:
        """Whether the node is where a rule may end before its marker, once its budget is used up."""
        return node in self._early_ends

    def _first_calls(self, network: Network) -> tuple[Call, ...]:
        return tuple(self.network.nodes[network.start].calls)

    def steps(self, node: int) -> Steps:
        """What leads on from a node, without what never comes to an end."""
        if node not in self._steps:
            self._steps[node] = self._find_steps(node)
        return self._steps[node]

    def targets(self, node: int, point: int) -> tuple[int, ...]:
        """The nodes behind a character."""
        key = (node, point)
        if key not in self._targets:
            reads = self.steps(node).reads
            found = (r.target for r in reads if any(low <= point <= high for low, high in r.ranges))
            self._targets[key] = tuple(dict.fromkeys(found))
        return self._targets[key]

    def _find_steps(self, node: int) -> Steps:
        nodes, costs = self.network.nodes, self.shortest.costs
        reached = dict.fromkeys([node])
        pending = [node]
        for current in pending:  # grows
            fresh = [target for target in nodes[current].empty if target not in reached]
            reached.update(dict.fromkeys(fresh))
            pending += fresh
        reads = [read for i in reached for read in nodes[i].reads if read.ranges or read.tokens]
        calls = [call for i in reached for call in nodes[i].calls]
        return Steps(
            tuple(read for read in reads if read.target in costs),
            tuple(c for c in calls if c.target in costs and self.network.networks[c.network].start in costs),
            self.network.networks[nodes[node].network].end in reached,
        )


def _has_budget(network: Network) -> bool:
    options = network.rule.options
    return network.is_rule and (options.lazy or options.max_chars is not None)


class Chart:
    """The columns of one text, a column more than it has characters so far."""

    def __init__(self, grammar: ParsedGrammar) -> None:
        self.grammar = grammar
        self.columns: list[Column] = []
        self._contexts = [_Context(_NO_CONTEXT, 0, 0)]
        self._context_numbers: dict[_Context, int] = {}
        self._tops: dict[Occurrence, Occurrence] = {}
        self._work = 0
        self._add_column([(grammar.network.networks[0].start, 0, 0, _NO_CONTEXT)])

    @property
    def last(self) -> Column:
        """The column at the end of what has been read."""
        return self.columns[-1]

    def read(self, character: str) -> bool:
        """Go on by a character. False, and nothing changes, if no sentence goes on like that."""
        point = ord(character)
        targets = self.grammar.targets
        moved = [
            (target, origin, count, context)
            for node, origin, count, context in self.last.reading
            for target in targets(node, point)
        ]
        if not moved:
            return False
        self.last.items = []  # only those of the last column are asked for
        self._add_column(moved)
        return True

    def callers(self, item: Item) -> Callers:
        """The items to go on with when the network of `item` ends."""
        network, origin, context = self.occurrence(item)
        return self.columns[origin].waiting.get((network, context), {})

    def occurrence(self, item: Item) -> Occurrence:
        """What the item is about."""
        return self.grammar.network.nodes[item[0]].network, item[1], item[3]

    def is_dropped(self, item: Item, column: Column) -> bool:
        """Whether something around the item has ended in the column and had to."""
        context = item[3]
        while context != _NO_CONTEXT:
            if context in column.ended and self._is_spent(self._contexts[context]):
                return True
            context = self._contexts[context].outer
        return False

    def _is_spent(self, context: _Context) -> bool:
        options = self.grammar.network.networks[context.network].rule.options
        return options.lazy or self._has_used_up(context)

    def _has_used_up(self, context: _Context) -> bool:
        limit = self.grammar.network.networks[context.network].rule.options.max_chars
        return limit is not None and len(self.columns) - 1 - context.origin >= limit

    def _add_column(self, items: list[Item]) -> None:
        column = Column()
        self.columns.append(column)
        column.items = pending = list(dict.fromkeys(items))
        seen = set(pending)
        for item in pending:  # grows
            check()
            consequences = self._consequences(item, column)
            for fresh in consequences:
                if fresh not in seen:
                    seen.add(fresh)
                    pending.append(fresh)
            self._work += 1 + len(consequences)
            if self._work > MAX_STEPS:
                message = f"Explaining this text takes more than {MAX_STEPS:,} steps"
                raise GrammarLimitError(message, limit="explanation_steps", value=MAX_STEPS)
        if column.ended:
            column.reading = [item for item in column.reading if not self.is_dropped(item, column)]

    def _consequences(self, item: Item, column: Column) -> list[Item]:
        node, origin, count, context = item
        if self.grammar.network.nodes[node].bounds is not None:
            return self._repetition(item, column)
        steps = self.grammar.steps(node)
        if steps.reads:
            column.reading.append(item)
        fresh: list[Item] = []
        for call in steps.calls:
            fresh += self._call(call, (call.target, origin, count, context), item, column)
        if steps.is_end or (self.grammar.is_early_end(node) and self._has_used_up(self._contexts[context])):
            fresh += self._complete(item, column)
        return fresh

    def _repetition(self, item: Item, column: Column) -> list[Item]:
        node, origin, count, context = item
        bounds = self.grammar.network.nodes[node].bounds
        assert bounds is not None
        fresh: list[Item] = []
        is_possible = self.grammar.network.networks[bounds.body].start in self.grammar.shortest.costs
        if is_possible and (bounds.max is None or count < bounds.max):
            # Without a maximum, all counts from the minimum on are the same.
            after = count + 1 if bounds.max is not None else min(count + 1, bounds.min)
            call = Call(bounds.body, node, self.grammar.network.nodes[node].place)
            again = (node, origin, after, context)
            fresh += self._call(call, again, item, column, is_stepped_over=False)
        # Iterations that are missing may be empty.
        if count >= bounds.min or self.grammar.is_nullable(bounds.body):
            fresh += self._complete(item, column)
        return fresh

    def _call(
        self, call: Call, after: Item, item: Item, column: Column, *, is_stepped_over: bool = True
    ) -> list[Item]:
        """What comes of calling a network here; `after` is the item behind it."""
        network = call.network
        inside = self._inside(network, after[3])
        waiting = column.waiting.setdefault((network, inside), {})
        waiting.setdefault(after, (item, call.place))
        fresh: list[Item] = []
        if len(waiting) == 1:
            start = self.grammar.network.networks[network].start
            fresh.append((start, len(self.columns) - 1, 0, inside))
        if self.grammar.is_nullable(network):
            # An empty occurrence is stepped over here, so completing one where it began adds nothing.
            if inside != after[3]:
                column.ended.add(inside)
            if is_stepped_over:
                fresh.append(after)
        return fresh

    def _inside(self, network: int, outer: int) -> int:
        """The context inside of a network that begins in the last column."""
        if not self.grammar.has_budget(network):
            return outer
        wanted = _Context(outer, network, len(self.columns) - 1)
        around = outer
        while around != _NO_CONTEXT:
            context = self._contexts[around]
            if context[1:] == wanted[1:]:
                return outer
            around = context.outer
        if wanted not in self._context_numbers:
            self._context_numbers[wanted] = len(self._contexts)
            self._contexts.append(wanted)
        return self._context_numbers[wanted]

    def _complete(self, item: Item, column: Column) -> list[Item]:
        occurrence = self.occurrence(item)
        if occurrence == START:
            column.is_complete = True
            return []
        network, origin, context = occurrence
        if origin == len(self.columns) - 1:
            return []
        # A rule that has come to itself without reading shares the context around; its end is not that one's.
        if self._contexts[context][1:] == (network, origin):
            column.ended.add(context)
        network, origin, context = self._top(occurrence)
        if (network, origin, context) == START:
            column.is_complete = True
        return list(self.columns[origin].waiting.get((network, context), ()))

    def _top(self, occurrence: Occurrence) -> Occurrence:
        """The occurrence that ends where this one ends, and nothing else comes of it: Leo's shortcut."""
        passed: list[Occurrence] = []
        while occurrence not in self._tops:
            network, origin, context = occurrence
            waiting = self.columns[origin].waiting.get((network, context), {})
            if len(waiting) != 1:
                break
            [after] = waiting
            around = self.occurrence(after)
            is_last = (
                self.grammar.network.nodes[after[0]].bounds is None and self.grammar.steps(after[0]).is_over
            )
            if not is_last or self.grammar.has_budget(around[0]):
                break
            passed.append(occurrence)
            occurrence = around
        top = self._tops.get(occurrence, occurrence)
        for each in passed:
            self._tops[each] = top
        return top
