"""Keys without a name of their own, divided by the patterns that they match."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from grammar_core.frontends.json_schema.errors import JsonSchemaLimitError
from grammar_core.frontends.json_schema.goals import NEVER
from grammar_core.frontends.json_schema.key_regions import MAX_REGIONS, Region, Regions
from grammar_core.frontends.json_schema.key_sets import KeySet, LanguageKeys, OtherKeys, PatternKeys
from grammar_core.frontends.json_schema.shapes import ObjectShape
from grammar_core.frontends.json_schema.texts import TextLanguage

_PATTERNS = ["^a", "b$", "^..$", "ab", "^(?!a)", "^[ab]*$", "c", "^a$", "^b", "^(?:aa|bb)"]
_KEYS = ["".join(text) for size in range(4) for text in itertools.product("abc", repeat=size)]


def _keys(pattern: str) -> PatternKeys:
    return PatternKeys(pattern, TextLanguage.matching(pattern))


def _holding(regions: list[Region], key: str) -> list[Region]:
    return [region for region in regions if any(one.contains(key) for one in region.languages)]


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("others_may_be", [False, True])
def test_a_key_is_where_its_patterns_say(seed: int, others_may_be: bool) -> None:
    rng = random.Random(seed)
    patterns = rng.sample(_PATTERNS, rng.randint(1, 5))
    names = rng.sample(_KEYS, rng.randint(0, 3))
    sets: list[KeySet] = [_keys(pattern) for pattern in patterns]
    rules = tuple((keys, frozenset((1 << i,))) for i, keys in enumerate(sets))
    others = (OtherKeys(tuple(sets)), frozenset((1 << len(sets),)) if others_may_be else NEVER)
    shape = ObjectShape(rules=(*rules, others))
    divided = Regions()
    for regions in (divided.of(shape, names), divided.of(shape, names)):
        for key in _KEYS:
            goal = {1 << i for i, pattern in enumerate(patterns) if re.search(pattern, key)}
            if key in names or not (goal or others_may_be):
                assert not _holding(regions, key), key
            else:
                assert [region.goal for region in _holding(regions, key)] == [goal or others[1]], key


def test_keys_of_none_of_the_sets_are_there_for_who_lets_them() -> None:
    sets = (_keys("^a"), _keys("b$"))
    some = ObjectShape(rules=((sets[0], frozenset((1,))), (sets[1], frozenset((2,)))))
    none = ObjectShape(rules=(*some.rules, (OtherKeys(sets), NEVER)))
    divided = Regions()
    for shape, held in ((none, 0), (some, 1), (none, 0)):
        assert len(_holding(divided.of(shape, []), "c")) == held
        assert len(_holding(divided.of(shape, []), "ac")) == 1


def test_a_set_of_several_languages_is_one() -> None:
    several = LanguageKeys(7, (TextLanguage.matching("^a"), TextLanguage.matching("b$")))
    shape = ObjectShape(rules=((OtherKeys((several,)), NEVER), (_keys("c"), frozenset((1,)))))
    regions = Regions().of(shape, [])
    for key in _KEYS:
        goals = {region.goal for region in _holding(regions, key)}
        assert goals == ({frozenset((1,) if "c" in key else ())} if re.search("^a|b$", key) else set()), key


def test_too_many_parts_are_refused() -> None:
    patterns = [f"^.{{{i}}}a" for i in range(MAX_REGIONS.bit_length())]
    shape = ObjectShape(rules=tuple((_keys(p), frozenset((i + 1,))) for i, p in enumerate(patterns)))
    with pytest.raises(JsonSchemaLimitError) as refusal:
        Regions().of(shape, [])
    assert refusal.value.limit == "key_sets"
