"""The least text that leads from a node of a network to its end."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import NamedTuple, TypeAlias

from grammar_core.diagnostics.network import Call, Read, TransitionNetwork
from grammar_core.ir.char_ranges import Ranges


class Cost(NamedTuple):
    """What a text takes: tokens that only a token set matches, which are avoided, and characters."""

    tokens: int
    characters: int

    def plus(self, other: Cost, times: int = 1) -> Cost:
        """The cost of this and so many times the other."""
        return Cost(self.tokens + other.tokens * times, self.characters + other.characters * times)


FREE = Cost(0, 0)
_TOKEN = Cost(1, 0)
_CHARACTER = Cost(0, 1)

_Edge: TypeAlias = Read | Call | int | None
"""A number is an empty edge to that node; None is the end, or in a repetition as often as needed."""


class ShortestTexts:
    """For every node from which the end of its network can be reached, the least cost of doing so.

    D. Knuth, "A generalization of Dijkstra's algorithm", 1977: nodes are settled in the order of their cost.
    """

    def __init__(self, network: TransitionNetwork) -> None:
        self._network = network
        self._nodes = network.nodes
        self.costs: dict[int, Cost] = {}
        # The edge to take from a node.
        self._edges: dict[int, _Edge] = {}
        self._settle()

    def cost(self, node: int, done: int = 0) -> Cost:
        """The cost from a node; in the node of a repetition, with so many iterations `done`."""
        bounds = self._nodes[node].bounds
        if bounds is None or done == 0:
            return self.costs[node]
        left = max(bounds.min - done, 0)
        return FREE.plus(self.costs[self._start(bounds.body)], left) if left else FREE

    def is_nullable(self, network: int) -> bool:
        """Whether a network reads the empty text."""
        return self.costs.get(self._start(network)) == FREE

    def text(self, node: int, done: int = 0) -> Iterator[str]:
        """The characters of a text of the least cost, which must have no tokens."""
        pending = [(node, done, 1)]
        while pending:
            current, finished, times = pending.pop()
            if self.cost(current, finished) == FREE:
                continue
            if times > 1:
                pending.append((current, finished, times - 1))
            bounds = self._nodes[current].bounds
            if bounds is not None:
                pending.append((self._start(bounds.body), 0, bounds.min - finished))
                continue
            edge = self._edges[current]
            if isinstance(edge, Read):
                yield readable_character(edge.ranges)
                pending.append((edge.target, 0, 1))
            elif isinstance(edge, Call):
                pending += [(edge.target, 0, 1), (self._start(edge.network), 0, 1)]
            elif edge is not None:
                pending.append((edge, 0, 1))

    def _start(self, network: int) -> int:
        return self._network.networks[network].start

    def _settle(self) -> None:
        users = self._users()
        queue: list[tuple[Cost, int, int, _Edge]] = []
        order = count()  # so that edges are never compared

        def offer(number: int, edge: _Edge) -> None:
            cost = self._cost_of_edge(number, edge)
            if cost is not None:
                heapq.heappush(queue, (cost, next(order), number, edge))

        for network in self._network.networks:
            offer(network.end, None)
        for number, node in enumerate(self._nodes):
            if node.bounds is not None and node.bounds.min == 0:
                offer(number, None)
        while queue:
            cost, _, number, edge = heapq.heappop(queue)
            if number in self.costs:
                continue
            self.costs[number] = cost
            self._edges[number] = edge
            for user, needing in users[number]:
                if user not in self.costs:
                    offer(user, needing)

    def _cost_of_edge(self, number: int, edge: _Edge) -> Cost | None:
        """The cost from a node by way of an edge; None while it leads to nodes that are not settled."""
        costs = self.costs
        bounds = self._nodes[number].bounds
        if edge is None:
            return (
                FREE if bounds is None else FREE.plus(costs.get(self._start(bounds.body), FREE), bounds.min)
            )
        if isinstance(edge, int):
            return costs[edge]
        if isinstance(edge, Read):
            is_possible = edge.ranges or edge.tokens
            return costs[edge.target].plus(_TOKEN if edge.tokens else _CHARACTER) if is_possible else None
        start = self._start(edge.network)
        if start not in costs or edge.target not in costs:
            return None
        return costs[edge.target].plus(costs[start])

    def _users(self) -> list[list[tuple[int, _Edge]]]:
        """For each node the nodes, and their edges, whose cost depends on it."""
        users: list[list[tuple[int, _Edge]]] = [[] for _ in self._nodes]
        for number, node in enumerate(self._nodes):
            for read in node.reads:
                users[read.target].append((number, read))
            for call in node.calls:
                users[call.target].append((number, call))
                users[self._start(call.network)].append((number, call))
            for target in node.empty:
                users[target].append((number, target))
            if node.bounds is not None:
                users[self._start(node.bounds.body)].append((number, None))
        return users


def readable_character(ranges: Ranges) -> str:
    """A character of the ranges: a letter or digit if there is one, or else something visible."""
    for low, high in ((0x61, 0x7A), (0x30, 0x39), (0x41, 0x5A), (0x20, 0x7E)):
        for first, last in ranges:
            if first <= high and last >= low:
                return chr(max(first, low))
    return chr(ranges[0][0])
