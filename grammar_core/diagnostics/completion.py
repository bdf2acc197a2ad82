"""The shortest text that makes a sentence of what has been read."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import count

from grammar_core.diagnostics.chart import START, Chart, Item, Occurrence
from grammar_core.diagnostics.shortest_text import FREE, Cost

MAX_COMPLETION = 10_000
"""Characters of a completion that is written out."""


def shortest_completion(chart: Chart, beginnings: Iterable[tuple[str, Item]]) -> str | Cost:
    """The text to add; its cost if it has tokens or too many characters.

    `beginnings` are texts, and for each an item from which to go on after it. E. Dijkstra's search, 1959,
    from the items outwards: what ends an item, then what its caller goes on with, up to the root.
    """
    found = _cheapest_way(chart, beginnings)
    cost, beginning, items = found
    if cost.tokens or cost.characters > MAX_COMPLETION:
        return cost
    shortest = chart.grammar.shortest
    return beginning + "".join("".join(shortest.text(item[0], item[2])) for item in items)


def _cheapest_way(chart: Chart, beginnings: Iterable[tuple[str, Item]]) -> tuple[Cost, str, list[Item]]:
    shortest = chart.grammar.shortest
    order = count()  # so that items are never compared
    queue: list[tuple[Cost, int, Item, Item | str]] = []
    for text, item in beginnings:
        cost = FREE.plus(Cost(0, len(text))).plus(shortest.cost(item[0], item[2]))
        heapq.heappush(queue, (cost, next(order), item, text))
    ended: set[Occurrence] = set()
    came_from: dict[Item, Item | str] = {}
    while queue:
        cost, _, item, before = heapq.heappop(queue)
        occurrence = chart.occurrence(item)
        if occurrence in ended:
            continue
        ended.add(occurrence)
        came_from[item] = before
        if occurrence == START:
            return cost, *_way_to(item, came_from)
        for after in chart.callers(item):
            total = cost.plus(shortest.cost(after[0], after[2]))
            heapq.heappush(queue, (total, next(order), after, item))
    raise AssertionError("every item leads to a sentence")


def _way_to(item: Item, came_from: dict[Item, Item | str]) -> tuple[str, list[Item]]:
    """The text to begin with and the items to be ended, first ones first."""
    items = [item]
    before = came_from[item]
    while not isinstance(before, str):
        items.append(before)
        before = came_from[before]
    return before, items[::-1]
