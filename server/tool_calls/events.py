"""What a model's answer consists of, as it is being written."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class TextDelta(NamedTuple):
    """More of the text that is meant for the user; never empty."""

    text: str


class ReasoningDelta(NamedTuple):
    """More of the model's thoughts. Only formats whose thoughts are messages of their own have it."""

    text: str


class CallStarted(NamedTuple):
    """Call number `index` (from 0) of the tool `name`; `id` is None where the format has no ids."""

    index: int
    name: str
    id: str | None


class ArgumentsDelta(NamedTuple):
    """More of the JSON text of a call's arguments; never empty."""

    index: int
    text: str


class CallEnded(NamedTuple):
    """The call's arguments are complete."""

    index: int


Event: TypeAlias = TextDelta | ReasoningDelta | CallStarted | ArgumentsDelta | CallEnded
