"""Caches bounded in bytes; in one of them concurrent requests for one key do the work once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from typing import Generic, TypeVar

from grammar_core.deadline import CancelledError

Value = TypeVar("Value")

_MEASURE_INTERVAL_S = 1.0


class BoundedCache(Generic[Value]):
    """Values with their sizes, of which the least recently used leave beyond `limit_bytes`. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._size_bytes = 0

    def find(self, key: Hashable) -> Value | None:
        """The value of `key` if it is there."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: Value, size_bytes: int) -> None:
        """Keep the value, unless it is larger than all that may be kept."""
        if size_bytes > self._limit_bytes:
            return
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._entries[key] = (value, size_bytes)
            self._size_bytes += size_bytes - before
            while self._size_bytes > self._limit_bytes:
                _, (_, size) = self._entries.popitem(last=False)
                self._size_bytes -= size

    def size_bytes(self) -> int:
        """The sum of the sizes of all entries."""
        with self._lock:
            return self._size_bytes


class SingleFlightCache(Generic[Value]):
    """Least recently used entries leave when the sum of `size_of(value)` exceeds `limit_bytes` (-1: none).

    Values may grow while they are in use: the sum is taken anew when a value comes in, and otherwise when one
    is asked for, at most once in `_MEASURE_INTERVAL_S`. The one that was asked for last leaves last.

    Errors are handed to everyone who waited and are not kept. Thread-safe.
    """

    def __init__(self, size_of: Callable[[Value], int], limit_bytes: int = -1) -> None:
        self._size_of = size_of
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[Hashable, Future[Value]] = OrderedDict()
        self._measured_at = time.monotonic()

    @property
    def limit_bytes(self) -> int:
        """The limit; -1 for none."""
        return self._limit_bytes

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value of `key`, from the cache or from `compute()`, which runs outside of the lock.

        Where another thread's `compute` that was waited for was cancelled, this one's own is run.
        """
        while True:
            with self._lock:
                entry = self._entries.get(key)
                if entry is not None:
                    self._entries.move_to_end(key)
                else:
                    mine: Future[Value] = Future()
                    self._entries[key] = mine
            if entry is None:
                return self._fill(key, mine, compute)
            self._evict_sometimes()
            with suppress(CancelledError):
                return entry.result()

    def find(self, key: Hashable) -> Value | None:
        """The value of `key` if it is there and finished."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or not entry.done() or entry.exception() is not None:
                return None
            self._entries.move_to_end(key)
        self._evict_sometimes()
        return entry.result()

    def _fill(self, key: Hashable, entry: Future[Value], compute: Callable[[], Value]) -> Value:
        try:
            value = compute()
        except BaseException as error:
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            entry.set_exception(error)
            raise
        entry.set_result(value)
        self._evict()
        return value

    def _evict_sometimes(self) -> None:
        if time.monotonic() - self._measured_at >= _MEASURE_INTERVAL_S:
            self._evict()

    def _evict(self) -> None:
        if self._limit_bytes < 0:
            return
        with self._lock:
            self._measured_at = time.monotonic()
            sizes = {key: self._entry_size(entry) for key, entry in self._entries.items()}
            total = sum(sizes.values())
            for key, size in sizes.items():
                if total <= self._limit_bytes:
                    return
                if self._entries[key].done():
                    del self._entries[key]
                    total -= size

    def _entry_size(self, entry: Future[Value]) -> int:
        return self._size_of(entry.result()) if entry.done() and entry.exception() is None else 0

    def size_bytes(self) -> int:
        """The sum of the sizes of all finished entries."""
        with self._lock:
            return sum(map(self._entry_size, self._entries.values()))

    def clear(self) -> None:
        """Forget every entry."""
        with self._lock:
            self._entries.clear()
