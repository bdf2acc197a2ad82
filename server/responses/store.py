"""Responses that can be asked for later: the newest, so many and so many bytes at most."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from server.responses.conversation import Item
from server.schemas.responses_response import ResponseObject


@dataclass(frozen=True)
class StoredResponse:
    """`owner` is the API key's name that asked for it; `items` are the whole conversation but the answer.

    `own_items`: how many of them, at the end, came with the request itself.
    """

    owner: str | None
    response: ResponseObject
    items: tuple[Item, ...]
    own_items: int


class ResponseStore:
    """Used on one event loop. What is over the limits goes, the oldest first."""

    def __init__(self, *, max_responses: int, max_bytes: int) -> None:
        self._max_responses = max_responses
        self._max_bytes = max_bytes
        self._stored: OrderedDict[str, tuple[StoredResponse, int]] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._stored)

    def put(self, stored: StoredResponse) -> None:
        """Keep it, in place of what has its id; one that is larger than the whole store is not kept."""
        size = _size(stored)
        self._drop(stored.response.id)
        if size > self._max_bytes or not self._max_responses:
            return
        self._stored[stored.response.id] = (stored, size)
        self._bytes += size
        while self._bytes > self._max_bytes or len(self._stored) > self._max_responses:
            self._drop(next(iter(self._stored)))

    def find(self, response_id: str, owner: str | None) -> StoredResponse | None:
        """Another owner's response is as if it were not there."""
        found = self._stored.get(response_id)
        return found[0] if found is not None and found[0].owner == owner else None

    def delete(self, response_id: str, owner: str | None) -> bool:
        """Whether there was one."""
        if self.find(response_id, owner) is None:
            return False
        self._drop(response_id)
        return True

    def _drop(self, response_id: str) -> None:
        _, size = self._stored.pop(response_id, (None, 0))
        self._bytes -= size


def _size(stored: StoredResponse) -> int:
    texts = sum(len(item.model_dump_json()) for item in stored.items)
    return texts + len(stored.response.model_dump_json())
