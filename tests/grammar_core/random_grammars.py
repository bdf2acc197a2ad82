"""Seeded random grammars, vocabularies and token prefixes, shaped to be hard for a matcher.

Grammars mix every kind of recursion, nullable and ambiguous rules, cycles, rules without sentences,
classes of characters of one to four bytes, counted repetition and long chains of rules; with macros also
dispatches, substrings, regular expressions and automata; with options, budgets, captures, lazy rules,
temperatures and token sets. Vocabularies
are cut out of sentences, so that tokens span rule boundaries and split characters.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from grammar_core.frontends.regex import parse_regex
from grammar_core.grammar import Grammar
from grammar_core.ir.char_ranges import ANY_CHARACTER, complement_ranges, normalize_ranges
from grammar_core.ir.nodes import (
    EMPTY,
    NO_OPTIONS,
    Automaton,
    CharClass,
    Choice,
    CountedAutomaton,
    Edge,
    Expr,
    Literal,
    Member,
    Members,
    Regex,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    Substring,
    TagDispatch,
    TokenSet,
    TokenTagDispatch,
)
from grammar_core.ir.traversal import walk_expressions
from tests.option_oracle import OptionOracle, Point, TooManyItemsError
from tests.oracle import Oracle, Position

_LITERALS = ("a", "b", "c", "ab", "abc", "ba", "aa", "0", "é", "中", "中文", "😀", "€", "é中", '"', "\n", "")
_POOL = 'abcxyz0189 \n"éàÿ€中文一龥😀😎🚀\u07ff\u0800\uffff\U0010ffff\x00'
PREFIXES_PER_CASE = 5
_MOST_PREFIX_TOKENS = 8
_VOCABULARY_SIZE = 40


class Case(NamedTuple):
    """One grammar and vocabulary, and prefixes of token ids to try on them.

    `vocabulary` holds b"" for special tokens. Prefixes are mostly allowed, some end in arbitrary tokens.
    """

    seed: int
    grammar: Grammar
    vocabulary: list[bytes]
    stop_token_ids: list[int]
    prefixes: list[list[int]]


def random_case(seed: int, *, macros: bool = False) -> Case:
    """The case of this number; the same for every call."""
    rng = random.Random(seed)
    grammar = random_grammar(rng, macros=macros)
    oracle = Oracle(grammar.rules, grammar.root)
    vocabulary, stop_token_ids = _random_vocabulary(rng, oracle)
    prefixes = [_random_prefix(rng, oracle, vocabulary, stop_token_ids) for _ in range(PREFIXES_PER_CASE)]
    return Case(seed, grammar, vocabulary, stop_token_ids, prefixes)


def random_large_case(seed: int) -> Case:
    """A case whose vocabulary has many tokens that begin alike: whole subtrees can be judged at once."""
    rng = random.Random(seed)
    letters = rng.choice(_LARGE_ALPHABETS)
    grammar = random_grammar(rng, alphabet=letters, macros=seed % 3 == 0)
    oracle = Oracle(grammar.rules, grammar.root)
    vocabulary = [*_large_vocabulary(rng, letters), b"</s>"]
    stop_token_ids = [len(vocabulary) - 1]
    prefix = _short_prefix(rng, oracle, vocabulary)
    return Case(seed, grammar, vocabulary, stop_token_ids, [[], prefix])


def random_option_case(seed: int) -> Case:
    """A case with rule options and token sets too, none too ambiguous for `OptionOracle`."""
    rng = random.Random(seed)
    while True:
        try:
            return _option_case(rng, seed)
        except TooManyItemsError:
            continue


def _option_case(rng: random.Random, seed: int) -> Case:
    grammar = random_grammar(rng, counted=False, macros=True, options=True)
    vocabulary, stop_token_ids = _random_vocabulary(rng, Oracle(grammar.rules, grammar.root))
    oracle = OptionOracle(grammar.rules, grammar.root, vocabulary, stop_token_ids)
    prefixes = [_random_walk(rng, oracle, len(vocabulary)) for _ in range(PREFIXES_PER_CASE)]
    return Case(seed, grammar, vocabulary, stop_token_ids, prefixes)


# grammars


def random_grammar(
    rng: random.Random,
    *,
    alphabet: str | None = None,
    counted: bool = True,
    macros: bool = False,
    options: bool = False,
) -> Grammar:
    """A random grammar; with `alphabet`, over these characters only; `counted` allows high counts.

    `options` adds rule options and token sets of small ids.
    """
    writer = _GrammarWriter(rng, alphabet, counted, macros, options)
    return Grammar.from_rules(writer.rules(), root_rule_name=writer.names[0])


class _GrammarWriter:
    def __init__(
        self, rng: random.Random, alphabet: str | None, counted: bool, macros: bool, options: bool
    ) -> None:
        self._rng = rng
        self._alphabet = alphabet
        self._counted = counted
        self._macros = macros
        self._options = options
        self._members_rules: dict[str, Expr] = {}
        self.names = ["root", *(f"r{number}" for number in range(1, rng.randint(1, 6)))]

    def rules(self) -> list[Rule]:
        bodies = {name: self._body(name) for name in self.names}
        if self._rng.random() < 0.15:
            bodies |= self._chain(self._rng.randint(5, 40))
        bodies |= self._members_rules
        if not self._options:
            return [Rule(name, body) for name, body in bodies.items()]
        rules = [Rule(name, body, self._rule_options(name, body)) for name, body in bodies.items()]
        return self._with_markers(rules)

    def _with_markers(self, rules: list[Rule]) -> list[Rule]:
        """Some of the rules with a marker at the end instead, and the rules that tell where it begins."""
        marked, added = list[Rule](), list[Rule]()
        for rule in rules:
            kind = self._rng.random()
            if rule.name in self._members_rules:  # which must not become nullable
                marked.append(rule)
            elif kind < 0.15:
                first = len(rules) + len(added)
                parts = [Rule(f"{rule.name}_{part}", self._terminal(2)) for part in ("body", "marker")]
                added += parts
                marked.append(self._marked_by_rules(rule, parts, first))
            elif kind < 0.25:
                marked.append(self._marked_by_length(rule))
            elif kind < 0.3 and self._macros:
                added.append(Rule(f"{rule.name}_end", EMPTY))
                marked.append(self._marked_dispatch(rule, added[-1]))
            else:
                marked.append(rule)
        return [*marked, *added]

    def _marked_by_rules(self, rule: Rule, parts: list[Rule], first: int) -> Rule:
        body = Sequence(tuple(RuleRef(part.name) for part in parts))
        options = rule.options._replace(
            lazy=True,
            temperature=None,
            capture_hidden_body_rule_id=first,
            capture_hidden_marker_rule_id=first + 1,
            **self._hidden(1),
        )
        return rule._replace(body=body, options=options)

    def _marked_by_length(self, rule: Rule) -> Rule:
        marker = Literal(self._rng.choice(("b", "ab", "中", "")).encode())
        options = rule.options._replace(lazy=self._rng.random() < 0.7, **self._hidden(len(marker.value)))
        return rule._replace(body=Sequence((self._terminal(2), marker)), options=options)

    def _marked_dispatch(self, rule: Rule, end: Rule) -> Rule:
        tag = self._rng.choice(("a", "ab", "aab", "中"))
        body = TagDispatch(((tag, RuleRef(end.name)),), self._rng.random() < 0.3, ())
        options = RuleOptions(capture=rule.options.capture, **self._hidden(len(tag.encode())))
        return rule._replace(body=body, options=options)

    def _hidden(self, length: int) -> dict[str, Any]:
        name = self._rng.choice(("capture_hidden_suffix_bytes", "capture_hidden_stop_bytes"))
        return {name: length, "stop_capture": self._rng.choice((None, "m"))}

    def _terminal(self, depth: int) -> Expr:
        """A random expression without rules, token sets and macros."""
        kind = self._rng.random()
        if depth == 0 or kind < 0.3:
            if self._alphabet is not None:
                return self._plain_leaf(self._alphabet)
            literal = Literal(self._rng.choice(_LITERALS).encode())
            return literal if kind < 0.15 else CharClass(self._rng.choice(_CLASSES))
        if kind < 0.8:
            maker = Sequence if kind < 0.5 else Choice
            return maker(tuple(self._terminal(depth - 1) for _ in range(self._rng.randint(1, 3))))
        return Repeat(self._terminal(depth - 1), *self._rng.choice(_LOW_COUNTS))

    def _rule_options(self, name: str, body: Expr) -> RuleOptions:
        rng = self._rng
        if name == "escape" or rng.random() < 0.4:
            return NO_OPTIONS
        return RuleOptions(
            max_tokens=rng.randint(1, 3) if rng.random() < 0.3 else None,
            max_chars=rng.randint(0, 5) if rng.random() < 0.3 else None,
            capture=rng.choice((name, "x")) if rng.random() < 0.4 else None,
            lazy=rng.random() < 0.3 and not any(isinstance(expr, RuleRef) for expr in walk_expressions(body)),
            temperature=rng.choice((0.0, 0.5, 1.5)) if rng.random() < 0.3 else None,
        )

    def _body(self, name: str) -> Expr:
        if self._rng.random() < 0.3:
            return self._expr(self._rng.randint(1, 3))
        return self._rng.choice(self._patterns)(RuleRef(name))

    @property
    def _patterns(self) -> list[Callable[[RuleRef], Expr]]:
        rare: list[Callable[[RuleRef], Expr]] = [self._cycle, self._unproductive]
        common: list[Callable[[RuleRef], Expr]] = [
            self._left_recursion,
            self._right_recursion,
            self._hidden_left_recursion,
            self._ambiguous,
            self._nested,
            self._nullable,
            self._list,
            self._counted_repetition,
            self._mutual,
        ]
        return common * 2 + rare

    def _left_recursion(self, this: RuleRef) -> Expr:
        return self._shuffled(Sequence((this, self._expr(1))), self._expr(1))

    def _right_recursion(self, this: RuleRef) -> Expr:
        return self._shuffled(Sequence((self._expr(1), this)), self._expr(1))

    def _hidden_left_recursion(self, this: RuleRef) -> Expr:
        hidden = self._rng.choice(
            [Repeat(self._leaf(), 0, None), Repeat(self._reference(), 0, 1), self._nullable(this)]
        )
        return self._shuffled(Sequence((hidden, this, self._expr(1))), self._leaf())

    def _ambiguous(self, this: RuleRef) -> Expr:
        return self._shuffled(Sequence((this, this)), self._leaf(), self._expr(1))

    def _nested(self, this: RuleRef) -> Expr:
        return self._shuffled(Sequence((self._leaf(), this, self._leaf())), self._expr(1))

    def _nullable(self, this: RuleRef) -> Expr:
        return self._shuffled(self._rng.choice([EMPTY, Literal(b"")]), self._expr(1))

    def _list(self, this: RuleRef) -> Expr:
        item, separator = self._expr(1), self._leaf()
        return Sequence((item, Repeat(Sequence((separator, item)), 0, None)))

    def _counted_repetition(self, this: RuleRef) -> Expr:
        low, high = self._rng.choice(_HIGH_COUNTS if self._counted else _LOW_COUNTS)
        return Sequence((Repeat(self._expr(1), low, high), self._expr(1)))

    def _mutual(self, this: RuleRef) -> Expr:
        return self._shuffled(Sequence((self._reference(), self._leaf())), self._reference(), self._leaf())

    def _cycle(self, this: RuleRef) -> Expr:
        return self._shuffled(this, self._reference(), self._leaf())

    def _unproductive(self, this: RuleRef) -> Expr:
        return Sequence((self._leaf(), this))

    def _chain(self, length: int) -> dict[str, Expr]:
        links: dict[str, Expr] = {}
        for number in range(length):
            following = RuleRef(f"chain{number + 1}" if number + 1 < length else self._rng.choice(self.names))
            wraps = self._rng.random() < 0.3
            links[f"chain{number}"] = Sequence((self._leaf(), following)) if wraps else following
        last = self.names[-1]
        entry = Choice((RuleRef("chain0"), self._expr(1)))
        return {**links, last: entry} if last != "root" else {**links, "root": entry}

    def _shuffled(self, *options: Expr) -> Expr:
        return Choice(tuple(self._rng.sample(options, len(options))))

    def _expr(self, depth: int) -> Expr:
        if depth == 0 or self._rng.random() < 0.2:
            return self._leaf()
        kind = self._rng.random()
        if kind < 0.35:
            return Sequence(tuple(self._expr(depth - 1) for _ in range(self._rng.randint(0, 3))))
        if kind < 0.65:
            return Choice(tuple(self._expr(depth - 1) for _ in range(self._rng.randint(1, 3))))
        if kind < 0.85:
            return Repeat(self._expr(depth - 1), *self._rng.choice(_LOW_COUNTS))
        return self._reference()

    def _leaf(self) -> Expr:
        if self._options and self._rng.random() < 0.12:
            return self._rng.choice((self._token_set, self._token_set, self._token_tag_dispatch))()
        if self._macros and self._rng.random() < 0.15:
            makers = (
                self._tag_dispatch,
                self._substring,
                self._regex,
                self._automaton,
                self._counted_automaton,
                self._members,
            )
            return self._rng.choice(makers)()
        if self._alphabet is not None:
            return self._plain_leaf(self._alphabet)
        kind = self._rng.random()
        if kind < 0.5:
            return Literal(self._rng.choice(_LITERALS).encode())
        return self._reference() if kind < 0.6 else CharClass(self._rng.choice(_CLASSES))

    def _token_set(self) -> TokenSet:
        ids = self._rng.sample(range(_SMALL_IDS), self._rng.randint(1, 3))
        return TokenSet(tuple(sorted(ids)), self._rng.random() < 0.3)

    def _token_tag_dispatch(self) -> TokenTagDispatch:
        ids = self._rng.sample(range(_SMALL_IDS), 4)
        count = self._rng.randint(0, 2)
        tags = tuple((token_id, self._rule()) for token_id in ids[:count])
        excludes = tuple(sorted(ids[2 : self._rng.randint(2, 4)]))
        return TokenTagDispatch(tags, self._rng.random() < 0.7, excludes)

    def _tag_dispatch(self) -> TagDispatch:
        texts = self._texts(4)
        count = self._rng.randint(0, 3)
        tags = tuple((text, self._rule()) for text in texts[:count])
        excludes = tuple(e for e in texts[3:] if not any(tag.startswith(e) for tag, _ in tags))
        return TagDispatch(tags, self._rng.random() < 0.7, excludes)

    def _texts(self, count: int) -> list[str]:
        letters = self._alphabet or "aab中<"
        return ["".join(self._rng.choices(letters, k=self._rng.choice((1, 2, 2, 3)))) for _ in range(count)]

    def _substring(self) -> Substring:
        return Substring(tuple(self._texts(self._rng.randint(0, 4))))

    def _regex(self) -> Regex:
        pattern = self._rng.choice(_PATTERNS)
        json_string, flags = self._rng.random() < 0.2, self._rng.choice((None, "", "i", "s"))
        return Regex(pattern, json_string, flags, parse_regex(pattern, json_string=json_string, flags=flags))

    def _members(self) -> Members:
        rng = self._rng
        count = rng.randint(1, 4)
        members = tuple(
            Member(self._member_rule(), rng.random() < 0.3, rng.random() < 0.3) for _ in range(count)
        )
        low = rng.choice((0, 0, 1, 2))
        high = rng.choice((None, None, low, low + 1, low + 2))
        pairs = [(rng.randrange(count), rng.randrange(count)) for _ in range(rng.choice((0, 0, 0, 1, 2)))]
        if low and high is not None:
            pairs = [(a, b) for a, b in pairs if a < b]
        separator = rng.choice((None, self._rule()))
        return Members(members, separator, rng.random() < 0.5, low, high, tuple(pairs))

    def _member_rule(self) -> RuleRef:
        """A new rule that does not match the empty string."""
        name = f"m{len(self._members_rules)}"
        self._members_rules[name] = EMPTY
        first = Literal(self._rng.choice(self._alphabet or "abc0é中").encode())
        self._members_rules[name] = (
            Sequence((first, self._reference())) if len(name) > 2 else (Sequence((first, self._expr(1))))
        )
        return RuleRef(name)

    def _automaton(self) -> Automaton:
        count = self._rng.randint(1, 4)
        edges: list[Edge] = []
        for _ in range(self._rng.randint(1, 6)):
            label = self._rule() if self._rng.random() < 0.3 else self._label()
            edges.append((self._rng.randrange(count), self._rng.randrange(count), label))
        accepting = tuple(state for state in range(count) if self._rng.random() < 0.5)
        return Automaton(tuple(edges), accepting, count)

    def _counted_automaton(self) -> CountedAutomaton:
        """One that may be counted; its labels are characters, and a rule that is like their escapes."""
        rng = self._rng
        self._members_rules.setdefault("escape", Choice((Literal(b"aa"), Literal("é".encode()))))
        while True:
            automaton = self._automaton()
            labels = [RuleRef("escape") if rng.random() < 0.2 else self._label() for _ in automaton.edges]
            edges = [(*edge[:2], label) for edge, label in zip(automaton.edges, labels, strict=True)]
            body = automaton._replace(edges=tuple(edges))
            low, high = rng.choice([(0, 3), (1, None), (2, 2), (2, None), (3, 30), (0, 5), (5, None), (4, 4)])
            lengths = _path_lengths(body, 8)
            nonempty = [length for length in lengths[0] if length > 0]
            extended = all(1 in lengths[state] for state in body.accepting)
            if nonempty and (high or 8) >= min(nonempty) and (low <= min(lengths[0]) or extended):
                return CountedAutomaton(body, low, high)

    def _label(self) -> CharClass:
        if self._alphabet is None:
            return CharClass(self._rng.choice(_CLASSES))
        letter = ord(self._rng.choice(self._alphabet))
        return CharClass(((letter, letter),))

    def _rule(self) -> RuleRef:
        return RuleRef(self._rng.choice(self.names))

    def _plain_leaf(self, alphabet: str) -> Expr:
        if self._rng.random() < 0.3:
            return CharClass(normalize_ranges((ord(c), ord(c)) for c in alphabet if self._rng.random() < 0.6))
        return Literal("".join(self._rng.choices(alphabet, k=self._rng.randint(0, 2))).encode())

    def _reference(self) -> Expr:
        return RuleRef(self._rng.choice(self.names))


_LOW_COUNTS: list[tuple[int, int | None]] = [
    (0, 1),
    (0, None),
    (1, None),
    (2, 2),
    (1, 3),
    (2, None),
    (0, 2),
    (0, 0),
]
_HIGH_COUNTS = [*_LOW_COUNTS, (3, 70), (0, 5), (0, 20), (5, None), (4, 4), (17, 33)]
_SMALL_IDS = 15
_PATTERNS = ("a*b", "[ab]{2,3}", "(a|ab)(c|bc)?", ".", "a.b", "(?!ab)[a-c]+", r"\w+\b.?", "é|中+", "")
_CLASSES = [
    normalize_ranges(ranges)
    for ranges in (
        [(0x61, 0x63)],
        [(0x61, 0x7A), (0x30, 0x39)],
        [(0x00, 0x7F)],
        [(0xE0, 0xFF)],
        [(0x4E00, 0x9FA5)],
        [(0x1F600, 0x1F60E)],
        [(0x61, 0x61), (0x4E2D, 0x4E2D), (0x1F600, 0x1F600)],
        [(0x7FF, 0x800)],
        [(0x7E, 0x7FF)],
        [(0xFFFF, 0x10000)],
        [(0x800, 0xFFFF)],
        [(0xE9, 0xE9), (0x20AC, 0x20AC), (0x62, 0x62)],
    )
] + [
    ANY_CHARACTER,
    complement_ranges([(0x61, 0x61)]),
    complement_ranges([(0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C)]),
    complement_ranges([(0x80, 0x10FFFF)]),
    complement_ranges([(0x4E2D, 0x4E2D), (0x0A, 0x0A)]),
]


# vocabularies


def _random_vocabulary(rng: random.Random, oracle: Oracle) -> tuple[list[bytes], list[int]]:
    """About forty tokens, special and stop tokens among them, and the ids of the stop tokens."""
    texts = [random_text(rng, oracle, rng.randint(1, 24)) for _ in range(4)]
    tokens = [*_pieces(rng, texts), *_single_bytes(rng, texts), *_noise(rng)]
    rng.shuffle(tokens)
    tokens = tokens[:_VOCABULARY_SIZE] + [b""] * rng.randint(0, 2)
    stop_tokens = [b"</s>"] if rng.random() < 0.7 else [b"", b"a"]
    vocabulary = tokens + stop_tokens
    order = rng.sample(range(len(vocabulary)), len(vocabulary))
    stop_token_ids = sorted(order.index(i) for i in range(len(tokens), len(vocabulary)))
    return [vocabulary[i] for i in order], stop_token_ids


def random_text(rng: random.Random, oracle: Oracle, length: int) -> bytes:
    """A random beginning of a sentence, of at most `length` bytes."""
    text = b""
    position: Position | None = oracle.start
    while position is not None and len(text) < length:
        byte = _viable_byte(rng, oracle, position)
        if byte is None:
            break
        text += bytes([byte])
        position = oracle.step(position, byte)
    return text


def _viable_byte(rng: random.Random, oracle: Oracle, position: Position) -> int | None:
    preferred = rng.sample(_POOL_BYTES, len(_POOL_BYTES))
    candidates: list[int] = [*preferred, *range(256)]
    for byte in candidates:
        if oracle.step(position, byte) is not None:
            return byte
    return None


_POOL_BYTES = sorted(set(_POOL.encode()))


def _pieces(rng: random.Random, texts: list[bytes]) -> list[bytes]:
    pieces = []
    for _ in range(26):
        text = rng.choice(texts)
        begin = rng.randint(0, max(0, len(text) - 1))
        pieces.append(text[begin : begin + rng.choice((1, 1, 2, 2, 3, 4, 5, 8, 13))])
    return [piece for piece in pieces if piece]


def _single_bytes(rng: random.Random, texts: list[bytes]) -> list[bytes]:
    used = sorted(set(b"".join(texts)))
    return [bytes([byte]) for byte in rng.sample(used, min(12, len(used)))]


def _noise(rng: random.Random) -> list[bytes]:
    characters = ["".join(rng.choices(_POOL, k=rng.randint(1, 3))).encode() for _ in range(6)]
    split = [text[rng.randint(0, len(text) - 1) :] for text in characters]
    invalid = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xe4\xb8", b"a\xe4"]
    return [*characters, *split, *rng.sample(invalid, 3)]


def _large_vocabulary(rng: random.Random, letters: str) -> list[bytes]:
    """1,500 to 3,000 tokens: all short texts over the letters, and longer ones behind a few beginnings."""
    longest = next(n for n in range(1, 12) if len(letters) ** (n + 1) > 1_000)
    tails = ["".join(tail) for n in range(1, longest + 1) for tail in product(letters, repeat=n)]
    tokens = {tail.encode() for tail in tails}
    size = rng.randint(1_500, 3_000)
    while len(tokens) < size:
        beginning = "".join(rng.choices(letters, k=rng.randint(1, 3)))
        tokens |= {(beginning + tail).encode() for tail in rng.sample(tails, len(tails) // 2)}
    return rng.sample(sorted(tokens), min(size, len(tokens)))


_LARGE_ALPHABETS = ("ab", "abc", "abcd", "abé", "a中")


# prefixes


def _short_prefix(rng: random.Random, oracle: Oracle, vocabulary: list[bytes]) -> list[int]:
    """Up to two short tokens that are allowed one after the other."""
    prefix: list[int] = []
    position: Position | None = oracle.start
    short = [i for i, token in enumerate(vocabulary[:-1]) if len(token) <= 2]
    for _ in range(rng.randint(1, 2)):
        assert position is not None
        following = [i for i in short if oracle.advance(position, vocabulary[i]) is not None]
        if not following:
            break
        prefix.append(rng.choice(following))
        position = oracle.advance(position, vocabulary[prefix[-1]])
    return prefix


def _random_prefix(
    rng: random.Random, oracle: Oracle, vocabulary: list[bytes], stop_token_ids: list[int]
) -> list[int]:
    """Token ids along allowed text, sometimes with an arbitrary token in between or at the end."""
    prefix: list[int] = []
    position: Position | None = oracle.start
    for _ in range(rng.randint(0, _MOST_PREFIX_TOKENS)):
        if position is None:
            break
        if rng.random() < 0.1:
            prefix.append(rng.randrange(len(vocabulary)))
            if prefix[-1] not in oracle.allowed_token_ids(position, vocabulary, ()):
                continue
        else:
            allowed = oracle.allowed_token_ids(position, vocabulary, stop_token_ids) - set(stop_token_ids)
            if not allowed:
                break
            candidates = rng.choices(sorted(allowed), k=2)
            prefix.append(
                max(candidates, key=lambda token_id: _ways_on(oracle, position, vocabulary, token_id))
            )
        position = oracle.advance(position, vocabulary[prefix[-1]])
    return prefix


def _ways_on(oracle: Oracle, position: Position | None, vocabulary: list[bytes], token_id: int) -> int:
    """How many tokens may follow this one: prefixes that lead somewhere show more."""
    assert position is not None
    following = oracle.advance(position, vocabulary[token_id])
    assert following is not None
    return len(oracle.allowed_token_ids(following, vocabulary, ()))


def _random_walk(rng: random.Random, oracle: OptionOracle, size: int) -> list[int]:
    """Token ids that are allowed, with an arbitrary one in between now and then."""
    prefix: list[int] = []
    point: Point | None = oracle.start
    for _ in range(rng.randint(0, _MOST_PREFIX_TOKENS)):
        assert point is not None
        token_id = rng.randrange(size)
        allowed = sorted(oracle.allowed_token_ids(point) - oracle.stop_token_ids)
        if rng.random() > 0.1:
            if not allowed:
                break
            token_id = rng.choice(allowed)
        prefix.append(token_id)
        point = oracle.accept_token(point, token_id) or point
    assert point is not None
    oracle.allowed_token_ids(point)
    return prefix


def _path_lengths(automaton: Automaton, most: int) -> list[set[int]]:
    """For each state the numbers of edges, up to `most`, after which there may be an end."""
    lengths = [{0} if state in automaton.accepting else set[int]() for state in range(automaton.state_count)]
    for _ in range(most):
        for source, target, _ in automaton.edges:
            lengths[source] |= {length + 1 for length in lengths[target] if length < most}
    return lengths
