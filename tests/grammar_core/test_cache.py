"""Caches keep to their limits, also when what they hold grows afterwards."""

from __future__ import annotations

import pytest

from grammar_core import cache
from grammar_core.cache import BoundedCache, SingleFlightCache


def sized() -> SingleFlightCache[list[int]]:
    """Of lists, whose numbers' sum is their size; 10 may be kept."""
    return SingleFlightCache(sum, 10)


def test_the_least_recently_used_leave() -> None:
    kept = sized()
    for key in "abc":
        kept.get(key, lambda: [3])
    kept.find("a")
    kept.get("d", lambda: [3])
    assert [kept.find(key) for key in "abcd"] == [[3], None, [3], [3]]


@pytest.mark.parametrize("asks", ["find", "get"])
def test_what_grows_in_use_is_measured_again(asks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen in a soak: the masks of grammars that no new one followed took more than the limit."""
    monkeypatch.setattr(cache, "_MEASURE_INTERVAL_S", 0.0)
    kept = sized()
    first = kept.get("a", lambda: [3])
    kept.get("b", lambda: [3])
    first.append(20)
    found = kept.find("b") if asks == "find" else kept.get("b", lambda: [0])
    assert found == [3]
    assert kept.find("a") is None
    assert kept.size_bytes() == 3


def test_a_value_over_the_limit_is_still_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MEASURE_INTERVAL_S", 0.0)
    kept = sized()
    kept.get("a", lambda: [3]).append(20)
    assert kept.find("a") == [3, 20]
    assert kept.size_bytes() == 0


def test_sizes_that_are_known_beforehand() -> None:
    kept: BoundedCache[str] = BoundedCache(10)
    for key, size in (("a", 4), ("b", 4), ("c", 4), ("d", 11)):
        kept.put(key, key, size)
    assert [kept.find(key) for key in "abcd"] == [None, "b", "c", None]
    assert kept.size_bytes() == 8
