"""The store's limits."""

from __future__ import annotations

import pytest

from server.responses.store import ResponseStore, StoredResponse
from server.schemas.responses_items import MessageItem
from server.schemas.responses_response import ResponseObject


def stored(name: str, text: str = "", owner: str | None = None) -> StoredResponse:
    response = ResponseObject(id=name, created_at=0, model="m")
    return StoredResponse(owner, response, (MessageItem(role="user", content=text),), 1)


def test_the_oldest_go_first() -> None:
    store = ResponseStore(max_responses=2, max_bytes=10**6)
    for name in "abc":
        store.put(stored(name))
    assert [store.find(name, None) is not None for name in "abc"] == [False, True, True]


def test_bytes_are_bounded() -> None:
    store = ResponseStore(max_responses=100, max_bytes=5000)
    for name in "abcd":
        store.put(stored(name, "x" * 1500))
    assert store.find("d", None) is not None
    assert len(store) == 2
    store.put(stored("huge", "x" * 10_000))
    assert store.find("huge", None) is None
    assert len(store) == 2


def test_putting_again_replaces() -> None:
    store = ResponseStore(max_responses=2, max_bytes=10**6)
    for _ in range(5):
        store.put(stored("a", "x" * 1000))
    store.put(stored("b"))
    assert len(store) == 2
    assert store.delete("a", None)
    assert not store.delete("a", None)


def test_owners() -> None:
    store = ResponseStore(max_responses=2, max_bytes=10**6)
    store.put(stored("a", owner="alice"))
    assert store.find("a", "alice")
    assert store.find("a", "bob") is None
    assert store.find("a", None) is None
    assert not store.delete("a", "bob")


@pytest.mark.parametrize("limit", [0])
def test_a_store_of_nothing(limit: int) -> None:
    store = ResponseStore(max_responses=limit, max_bytes=1000)
    store.put(stored("a"))
    assert len(store) == 0
