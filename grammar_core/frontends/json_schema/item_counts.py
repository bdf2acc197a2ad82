"""How many items of an array meet what contains ask for."""

from __future__ import annotations

from grammar_core.frontends.json_schema.goals import Goal
from grammar_core.frontends.json_schema.shapes import ArrayShape


def counted_goals(shape: ArrayShape) -> dict[Goal, None]:
    """The goals that are counted or spared."""
    counted = dict.fromkeys(contains.goal for contains in shape.contains)
    counted.update(dict.fromkeys(goal for rule in shape.rules for goal in rule.unless))
    return counted


def count_caps(shape: ArrayShape) -> list[int]:
    """For each contains, the count above which there is nothing to tell."""
    return [c.min if c.max is None else c.max + 1 for c in shape.contains]


def is_complete(shape: ArrayShape, position: int, counts: tuple[int, ...]) -> bool:
    """Whether an array of `position` items may end with these counts of what contains ask for."""
    return position >= shape.min and all(
        count >= c.min for c, count in zip(shape.contains, counts, strict=True)
    )


def counts_after(
    shape: ArrayShape, position: int, counts: tuple[int, ...], caps: list[int], meets: dict[Goal, bool]
) -> tuple[int, ...] | None:
    """The counts after an item that meets some of the goals; None if there are too many."""
    following = []
    for contains, count, cap in zip(shape.contains, counts, caps, strict=True):
        if position >= contains.start and meets[contains.goal]:
            count = min(count + 1, cap)
            if contains.max is not None and count > contains.max:
                return None
        following.append(count)
    return tuple(following)
