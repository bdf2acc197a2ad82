"""Random Lark grammars with something ignored, and sentences of theirs as lists of lexemes.

Every literal and terminal has characters that nothing else has, so that a text has one reading only, and a
place in it is either between two lexemes or inside of one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

Sampler = Callable[[random.Random], list[str]]
"""Draws the lexemes of a sentence."""

_FIRST_CHARACTER = 0x4E00


class Element(NamedTuple):
    """Lark text of an element, and a sampler of it."""

    text: str
    sample: Sampler


class LarkCase(NamedTuple):
    """A grammar, whether it may begin with ignored text, and some of its sentences."""

    text: str
    initial_skip: bool
    sentences: list[list[str]]


def random_lark(seed: int) -> LarkCase:
    """The grammar of a seed, which ignores spaces and `;-`."""
    return _Generator(seed).case()


class _Generator:
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._characters = _FIRST_CHARACTER
        self._definitions: list[str] = []
        self._names = 0

    def case(self) -> LarkCase:
        rng = self._rng
        start = self._alternatives(3)
        initial_skip = rng.random() < 0.3
        lines = [*self._definitions, f"start: {start.text}", "%ignore / +/", '%ignore ";-"']
        if initial_skip:
            lines.append('%grammar_options {"allow_initial_skip": true}')
        rng.shuffle(lines)
        sentences = [start.sample(rng) for _ in range(6)]
        return LarkCase("\n".join(lines) + "\n", initial_skip, sentences)

    def _character(self) -> str:
        self._characters += 1
        return chr(self._characters)

    def _name(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    def _alternatives(self, depth: int) -> Element:
        options = [self._sequence(depth) for _ in range(self._rng.randint(1, 3))]
        return Element(
            " | ".join(option.text for option in options),
            lambda rng: rng.choice(options).sample(rng),
        )

    def _sequence(self, depth: int) -> Element:
        items = [self._repeated(depth) for _ in range(self._rng.randint(0, 3))]
        return Element(
            " ".join(item.text for item in items),
            lambda rng: [lexeme for item in items for lexeme in item.sample(rng)],
        )

    def _repeated(self, depth: int) -> Element:
        item = self._element(depth)
        operator, low, high = self._rng.choice(
            [("", 1, 1), ("", 1, 1), ("?", 0, 1), ("*", 0, 3), ("+", 1, 3), ("~2", 2, 2), ("{0,2}", 0, 2)]
        )
        return Element(
            item.text + operator,
            lambda rng: [lexeme for _ in range(rng.randint(low, high)) for lexeme in item.sample(rng)],
        )

    def _element(self, depth: int) -> Element:
        kinds = [self._literal, self._terminal, self._range, self._regex, self._nothing]
        if depth:
            nested = [self._group, self._optional, self._rule, self._block]
            return self._rng.choice(
                [lambda: self._rng.choice(kinds)(), *(_bound(k, depth) for k in nested)]
            )()
        return self._rng.choice(kinds)()

    def _literal(self) -> Element:
        text = "".join(self._character() for _ in range(self._rng.randint(1, 3)))
        return Element(f'"{text}"', lambda rng: [text])

    def _nothing(self) -> Element:
        return Element('""', lambda rng: [])

    def _range(self) -> Element:
        first, last = self._character(), self._character()
        return Element(f'"{first}".."{last}"', lambda rng: [rng.choice((first, last))])

    def _regex(self) -> Element:
        first, middle, last = (self._character() for _ in range(3))
        may_be_empty = self._rng.random() < 0.5
        pattern = f"(?:{first}{middle}*{last})?" if may_be_empty else f"{first}{middle}*{last}"

        def sample(rng: random.Random) -> list[str]:
            if may_be_empty and rng.random() < 0.5:
                return []
            return [first + middle * rng.randint(0, 2) + last]

        return Element(f"/{pattern}/", sample)

    def _terminal(self) -> Element:
        name, inner = self._name("T"), self._name("U")
        first, last = self._character(), self._character()
        may_be_empty = self._rng.random() < 0.5
        self._definitions += [
            f'{name}: {inner}"{last}" | ""' if may_be_empty else f'{name}: {inner} "{last}"'
        ]
        self._definitions.append(f'{inner}: "{first}"~1..2')

        def sample(rng: random.Random) -> list[str]:
            if may_be_empty and rng.random() < 0.5:
                return []
            return [first * rng.randint(1, 2) + last]

        return Element(name, sample)

    def _group(self, depth: int) -> Element:
        inner = self._alternatives(depth - 1)
        return Element(f"({inner.text})", inner.sample)

    def _optional(self, depth: int) -> Element:
        inner = self._alternatives(depth - 1)
        return Element(f"[{inner.text}]", lambda rng: inner.sample(rng) if rng.random() < 0.5 else [])

    def _rule(self, depth: int) -> Element:
        name, inner = self._name("r"), self._alternatives(depth - 1)
        self._definitions.append(f"{name}: {inner.text}")
        return Element(name, inner.sample)

    def _block(self, depth: int) -> Element:
        """A grammar that ignores nothing: its sentence is one lexeme, which nothing but it begins or ends."""
        outer, self._definitions = self._definitions, []
        inner = self._alternatives(depth - 1)
        first, last = self._character(), self._character()
        may_be_empty = self._rng.random() < 0.5
        body = f'"{first}" ({inner.text}) "{last}"'
        lines = [*self._definitions, f"start: | {body}" if may_be_empty else f"start: {body}"]
        self._definitions = outer

        def sample(rng: random.Random) -> list[str]:
            if may_be_empty and rng.random() < 0.5:
                return []
            return ["".join((first, *inner.sample(rng), last))]

        return Element("%lark {\n" + "\n".join(lines) + "\n}", sample)


def _bound(make: Callable[[int], Element], depth: int) -> Callable[[], Element]:
    return lambda: make(depth)
