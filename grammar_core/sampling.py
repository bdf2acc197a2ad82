"""Sentences of a grammar, drawn at random.

A walk over the graph of the rules' parts with an explicit stack. What is on the stack has a least cost; an
alternative is open while it and the stack still fit into the length allowed, and where none is, the cheapest
is taken, which leads to an end.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from grammar_core.deadline import check
from grammar_core.diagnostics.repetitions import Repetitions
from grammar_core.errors import GrammarError, GrammarLimitError
from grammar_core.ir.derivation_graph import (
    FREE,
    AllOf,
    Cost,
    CountOf,
    DerivationGraph,
    DispatchOf,
    Leaf,
    OneOf,
    Part,
    RulePart,
)
from grammar_core.ir.nodes import CharClass, Literal, Rule, TagDispatch, TokenSet, marker_rule_ids
from grammar_core.passes.expand_macros import expand_macros
from grammar_core.shortest_match import shortest_match

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo

MAX_SENTENCE = 1_000_000
"""The longest shortest sentence, in characters and steps of its derivation, that sampling writes out."""

MAX_DRAWS = 200
"""How often a sentence is drawn in which keys come twice that may not."""

_STEPS_PER_CHARACTER = 20
_FIRST_STEPS = 1_000
_LEAVE_RULE = -1
_PRINTABLE = (0x20, 0x7E)
_FREE_TEXT = "abcdefghijklmnopqrstuvwxyz  é中.\n"
_LONGEST_FREE_TEXT = 12


def sample_sentences(
    rules: tuple[Rule, ...],
    root: str,
    count: int,
    seed: int,
    *,
    max_length: int,
    tokenizer_info: TokenizerInfo | None,
) -> list[str]:
    """`count` sentences of the rules; see `Grammar.sample`."""
    if count < 0 or max_length < 0:
        raise ValueError("the number of sentences and max_length must not be negative")
    repetitions = Repetitions(rules, root)
    rules = expand_macros(rules, but=(TagDispatch,))
    graph = DerivationGraph(rules)
    cheapest = graph.cost_of_rule(root)
    if cheapest is None:
        raise GrammarError(f'The root rule "{root}" cannot match any finite text')
    if sum(cheapest) > MAX_SENTENCE:
        message = f"The shortest sentence of the grammar is longer than {MAX_SENTENCE:,} characters"
        raise GrammarLimitError(message, limit="sentence", value=MAX_SENTENCE)
    sampler = _Sampler(graph, random.Random(seed), max_length, tokenizer_info)
    sampler.before_markers = {
        rule.name: graph.rule_parts[rules[ids[0]].name]
        for rule in rules
        if (ids := marker_rule_ids(rule.options)) and rule.options.max_chars is not None
    }
    if any(rule.options.lazy for rule in rules):
        sampler.whole_graph = DerivationGraph(expand_macros(rules))
    return [_without_repetition(sampler, graph.rule_parts[root], repetitions) for _ in range(count)]


def _without_repetition(sampler: _Sampler, root: int, repetitions: Repetitions) -> str:
    """A sentence in which no key comes twice that may not, which the derivation does not see to."""
    for _ in range(MAX_DRAWS):
        sentence = sampler.sentence(root)
        if repetitions.find(sentence.encode()) is None:
            return sentence
    message = f"Of {MAX_DRAWS} sentences drawn, keys come twice in all that may come once"
    raise GrammarLimitError(message, limit="draws", value=MAX_DRAWS)


class _Budget:
    """The length up to which an occurrence of a rule may go, and the least its rest takes."""

    __slots__ = ("begin", "lazy_rule", "limit", "reserved", "rule")

    def __init__(self, begin: int, limit: int, lazy_rule: int | None, rule: Rule | None) -> None:
        self.begin = begin
        self.limit = limit
        self.lazy_rule = lazy_rule
        self.rule = rule
        self.reserved = 0


class _Sampler:
    def __init__(
        self,
        graph: DerivationGraph,
        rng: random.Random,
        max_length: int,
        tokenizer_info: TokenizerInfo | None,
    ) -> None:
        self._graph = graph
        self.whole_graph = graph  # without dispatches, whose texts lazy rules cut
        # Of rules that may end before their marker: the part that stands before it.
        self.before_markers: dict[str, int] = {}
        self._rng = rng
        self._max_length = max_length
        self._max_steps = _FIRST_STEPS + _STEPS_PER_CHARACTER * max_length
        self._tokenizer_info = tokenizer_info
        self._uses: Counter[tuple[int, int]] = Counter()

    def sentence(self, root: int) -> str:
        self._text: list[str] = []
        self._steps = 0
        self._reserved_steps = 0
        self._budgets = [_Budget(0, self._max_length, None, None)]
        # Parts that are yet to come, each so many times, the next one last.
        self._stack: list[tuple[int, int]] = []
        self._push(root, 1)
        while self._stack:
            check()
            number, count = self._stack.pop()
            if number == _LEAVE_RULE:
                self._leave_rule()
                continue
            if count > 1:
                self._stack.append((number, count - 1))
            self._reserve(number, -1)
            part = self._graph.parts[number]
            _WALKS[type(part)](self, number, part)
        return "".join(self._text)

    def _push(self, number: int, count: int) -> None:
        if count:
            self._stack.append((number, count))
            self._reserve(number, count)

    def _reserve(self, number: int, count: int) -> None:
        cost = self._graph.cheapest[number]
        self._budgets[-1].reserved += cost.characters * count
        self._reserved_steps += cost.steps * count

    def _fits(self, cost: Cost) -> bool:
        """Whether a text of this cost, and then the stack, stay within all budgets."""
        if self._steps + self._reserved_steps + cost.steps > self._max_steps:
            return False
        length = len(self._text) + cost.characters
        for budget in reversed(self._budgets):
            length += budget.reserved
            if length > budget.limit:
                return False
        return True

    # one method a kind of part

    def _all_of(self, number: int, part: AllOf) -> None:
        self._steps += 1
        for child in reversed(part.parts):
            self._push(child, 1)

    def _one_of(self, number: int, part: OneOf) -> None:
        cheapest = self._graph.cheapest
        fitting = [i for i in part.parts if i in cheapest and self._fits(cheapest[i])]
        self._push(self._pick(number, fitting) if fitting else self._graph.best[number], 1)

    def _pick(self, number: int, options: list[int]) -> int:
        """An option that was taken least so far, or now and then any."""
        if self._rng.random() < 0.7:
            fewest = min(self._uses[number, option] for option in options)
            options = [option for option in options if self._uses[number, option] == fewest]
        option = self._rng.choice(options)
        self._uses[number, option] += 1
        return option

    def _count_of(self, number: int, part: CountOf) -> None:
        cost = self._graph.cheapest.get(part.part)
        if cost is None:
            return
        most = part.min + 8 if part.max is None else part.max
        count = min(most, part.min + self._extra_count(part))
        while count > part.min and not self._fits(FREE.plus(cost, count)):
            count = part.min + (count - part.min) // 2
        self._push(part.part, count)

    def _extra_count(self, part: CountOf) -> int:
        """How often more than needed: mostly little, now and then as often as allowed."""
        if part.max is not None and self._rng.random() < 0.15:
            return part.max - part.min
        extra = 0
        while self._rng.random() < 0.6:
            extra += 1
        return extra

    def _rule(self, number: int, part: RulePart) -> None:
        self._steps += 1
        options = part.rule.options
        if options.max_chars is not None or options.lazy:
            begin = len(self._text)
            limit = self._budgets[-1].limit if options.max_chars is None else begin + options.max_chars
            self._budgets.append(_Budget(begin, limit, number if options.lazy else None, part.rule))
            self._stack.append((_LEAVE_RULE, 1))
        self._push(part.parts[0], 1)

    def _leave_rule(self) -> None:
        budget = self._budgets.pop()
        if budget.lazy_rule is not None:
            self._cut(budget.begin, budget.lazy_rule, 0)
        if budget.rule is not None and budget.rule.options.max_chars is not None:
            before_marker = self.before_markers.get(budget.rule.name)
            if before_marker is not None:
                self._cut(budget.begin, before_marker, budget.rule.options.max_chars)

    def _cut(self, begin: int, part: int, at_least: int) -> None:
        """Drop what comes after the first place, from so many characters on, where the part is complete."""
        length = shortest_match(self.whole_graph, part, self._text[begin:], at_least)
        if length is not None:
            del self._text[begin + length :]

    def _dispatch(self, number: int, part: DispatchOf) -> None:
        """Free text, then either the end or a tag, its rule and, in a loop, all of this again."""
        self._steps += 1
        dispatch, free = part.dispatch, self._free_text(part.dispatch)
        fitting = [i for i in range(len(part.parts)) if self._may_call(part, i, free)]
        if self._fits(Cost(len(free), 0)):
            self._text += free
        if not fitting or self._rng.random() < 0.35:
            return
        index = self._pick(number, fitting)
        self._text += dispatch.tags[index][0]
        if dispatch.loop:
            self._push(number, 1)
        self._push(part.parts[index], 1)

    def _may_call(self, part: DispatchOf, index: int, free: str) -> bool:
        cost = self._graph.cheapest.get(part.parts[index])
        tag = part.dispatch.tags[index][0]
        if cost is None or not self._fits(Cost(len(free) + len(tag), 1).plus(cost)):
            return False
        return _first_pattern(part.dispatch, free + tag) == (tag, len(free) + len(tag))

    def _free_text(self, dispatch: TagDispatch) -> str:
        """A little text without tags and excluded strings, now and then the beginning of a tag."""
        text = "".join(self._rng.choices(_FREE_TEXT, k=self._rng.randrange(_LONGEST_FREE_TEXT)))
        if dispatch.tags and self._rng.random() < 0.2:
            tag = self._rng.choice(dispatch.tags)[0]
            text += tag[: self._rng.randrange(len(tag))]
        found = _first_pattern(dispatch, text)
        return text if found is None else text[: found[1] - 1]

    def _leaf(self, number: int, part: Leaf) -> None:
        expr = part.expr
        if isinstance(expr, Literal):
            self._text += expr.value.decode()
        elif isinstance(expr, CharClass):
            self._text.append(self._character(expr))
        else:
            self._text += self._token(cast("TokenSet", expr))

    def _character(self, char_class: CharClass) -> str:
        """A character of the class, mostly a printable one of ASCII if there is any."""
        ranges = char_class.ranges
        if self._rng.random() < 0.8:
            printable = [(max(low, _PRINTABLE[0]), min(high, _PRINTABLE[1])) for low, high in ranges]
            ranges = tuple((low, high) for low, high in printable if low <= high) or ranges
        low, high = self._rng.choice(ranges)
        point = self._rng.choice((low, high, self._rng.randint(low, high), self._rng.randint(low, high)))
        return chr(point)

    def _token(self, token_set: TokenSet) -> str:
        """The text of a token of the set; control tokens have none."""
        if self._tokenizer_info is None:
            raise GrammarError("The grammar names tokens of a model, whose text only its tokenizer knows")
        vocabulary = self._tokenizer_info.decoded_vocab
        stops = set(self._tokenizer_info.stop_token_ids)
        ids = token_set.ids
        if ids and ids[-1] >= len(vocabulary):
            raise GrammarError(f"Token id {ids[-1]} is outside of the vocabulary of {len(vocabulary)} tokens")
        if token_set.negated:
            excluded = stops | set(ids)
            candidates = [i for i in range(len(vocabulary)) if i not in excluded and vocabulary[i]]
        else:
            candidates = list(ids)
        texts = [vocabulary[token_id] for token_id in self._rng.sample(candidates, len(candidates))]
        text = next((text for text in map(_decoded, texts) if text is not None), None)
        if text is None:
            raise GrammarError("No token that the grammar names here is whole characters")
        return text


def _first_pattern(dispatch: TagDispatch, text: str) -> tuple[str, int] | None:
    """The tag or excluded string that is complete first in the text, and where it ends."""
    tags = tuple(tag for tag, _ in dispatch.tags)
    for end in range(1, len(text) + 1):
        if text.endswith(dispatch.excludes, 0, end):
            return "", end
        complete = [tag for tag in tags if text.endswith(tag, 0, end)]
        if complete:
            return max(complete, key=len), end
    return None


def _decoded(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


_WALKS = cast(
    "dict[type[Part], Callable[[_Sampler, int, Any], None]]",
    {
        AllOf: _Sampler._all_of,
        OneOf: _Sampler._one_of,
        CountOf: _Sampler._count_of,
        RulePart: _Sampler._rule,
        DispatchOf: _Sampler._dispatch,
        Leaf: _Sampler._leaf,
    },
)
