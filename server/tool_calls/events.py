"""What a model's answer consists of, as it is being written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias, cast


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the text that is meant for the user; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the model's thoughts. Only formats whose thoughts are messages of their own have it."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """Call number `index` (from 0) of the tool `name`; `id` is None where the format has no ids."""

    index: int
    name: str
    id: str | None


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """More of the JSON text of a call's arguments; never empty."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """The call's arguments are complete."""

    index: int


Event: TypeAlias = TextDelta | ReasoningDelta | CallStarted | ArgumentsDelta | CallEnded


def merged(events: Iterable[Event]) -> list[Event]:
    """The events with neighbouring texts of one kind put together."""
    found: list[Event] = []
    for kind, run in groupby(events, type):
        if kind in (TextDelta, ReasoningDelta, ArgumentsDelta):
            deltas = cast("list[TextDelta]", list(run))
            found.append(replace(deltas[0], text="".join(delta.text for delta in deltas)))
        else:
            found += run
    return found
