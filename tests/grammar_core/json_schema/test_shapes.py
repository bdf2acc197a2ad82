"""Shapes of objects: which of them are a case of another one."""

from __future__ import annotations

import random

import pytest

from grammar_core.frontends.json_schema.goals import NEVER
from grammar_core.frontends.json_schema.key_sets import ALL_KEYS
from grammar_core.frontends.json_schema.shapes import ObjectShape, absorbed


def _random_shape(rng: random.Random) -> ObjectShape:
    return ObjectShape(
        {name: frozenset(rng.sample(range(1, 5), rng.randint(0, 2))) for name in "abc" if rng.random() < 0.5},
        rng.choice([(), (), ((ALL_KEYS, NEVER),)]),
        tuple(name for name in "abc" if rng.random() < 0.3),
        rng.choice([(), (), (("a", "b"),)]),
        rng.choice([(), (), ((ALL_KEYS, frozenset((1,)), None),)]),
        rng.choice([0, 0, 1, 2]),
        rng.choice([None, None, 3]),
    )


@pytest.mark.parametrize("seed", range(60))
def test_what_is_left_is_no_case_of_another_one(seed: int) -> None:
    rng = random.Random(seed)
    shapes = [_random_shape(rng) for _ in range(rng.randint(1, 40))]
    left = absorbed(shapes)
    constraints = {id(shape): frozenset(shape.constraints()) for shape in shapes}
    for shape in shapes:
        assert any(constraints[id(kept)] <= constraints[id(shape)] for kept in left)
    for kept in left:
        assert not any(
            constraints[id(other)] <= constraints[id(kept)] for other in left if other is not kept
        ), "a case of another one is left"
    assert left == [shape for shape in shapes if shape in left], "their order is another"


def test_a_shape_without_constraints_absorbs_all() -> None:
    free = ObjectShape()
    assert absorbed([ObjectShape(required=("a",)), free, ObjectShape(max=1), ObjectShape()]) == [free]
