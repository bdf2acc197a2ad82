"""The nodes of a grammar: what every frontend produces and every pass reads.

All nodes are immutable and cheap to build. They are named tuples, whose equality ignores the class
(`Sequence(x) == Choice(x)`), so dispatch on `type(node)`, never with `==`.
"""

from __future__ import annotations

from itertools import compress
from typing import NamedTuple, TypeAlias

MAX_CODE_POINT = 0x10FFFF
FIRST_SURROGATE = 0xD800
LAST_SURROGATE = 0xDFFF


class Literal(NamedTuple):
    """Exactly these bytes, which are valid UTF-8; b"" is the empty string."""

    value: bytes


class CharClass(NamedTuple):
    """One character of a set, as sorted, disjoint, non-adjacent, inclusive code point ranges.

    Negation is already resolved and surrogates (U+D800 to U+DFFF) are never inside.
    """

    ranges: tuple[tuple[int, int], ...]


class RuleRef(NamedTuple):
    """Whatever the named rule matches."""

    name: str


class Sequence(NamedTuple):
    """The items one after another; no items is the empty string."""

    items: tuple[Expr, ...]


class Choice(NamedTuple):
    """Any one of the options, of which there is at least one."""

    options: tuple[Expr, ...]


class Repeat(NamedTuple):
    """The body at least `min` and at most `max` times; `max` None is unbounded."""

    body: Expr
    min: int
    max: int | None


class Regex(NamedTuple):
    """What a regular expression matches: `body`. The pattern is kept so that it can be printed.

    `flags` are letters of "imsu"; None, unlike "", lets `.` match a newline. `json_string` says that the
    text is the body of a JSON string.
    """

    pattern: str
    json_string: bool
    flags: str | None
    body: Expr


class Substring(NamedTuple):
    """Every run of neighbouring chunks, the empty run too."""

    chunks: tuple[str, ...]


class OtherTexts(NamedTuple):
    """Any number of texts of `item` one after another that together are none of `texts`.

    `item` holds no rules, tokens, Members or tag dispatch, and does not match the empty string alone.
    """

    item: Expr
    texts: tuple[str, ...]


class TagDispatch(NamedTuple):
    """Free text in which a tag, wherever it appears, is followed by what its rule matches.

    `tags` are (tag, rule) pairs of different, non-empty tags. `loop`: free text goes on after a rule,
    otherwise the rule's end is the end. Free text, in which the match may end anywhere, contains none of
    the `excludes`. Where several tags end together the longest counts.
    """

    tags: tuple[tuple[str, RuleRef], ...]
    loop: bool
    excludes: tuple[str, ...]


class TokenSet(NamedTuple):
    """One whole token: of these ids, or when `negated` any other. Ids are sorted and different."""

    ids: tuple[int, ...]
    negated: bool


class TokenTagDispatch(NamedTuple):
    """Free tokens, none of `excludes`, until a trigger's id; then the trigger's rule. `loop` as above."""

    tags: tuple[tuple[int, RuleRef], ...]
    loop: bool
    excludes: tuple[int, ...]


class Member(NamedTuple):
    """A rule in a list of members: whether it must come, and whether it may come again.

    `distinct`, of a repeatable one: its texts begin with a string of JSON, its key, which differs as a value
    from the keys of the list's distinct members before it. Every beginning of a key must have endlessly many
    ways to end, and no backslash must stand before a key.
    """

    rule: RuleRef
    required: bool
    repeatable: bool
    distinct: bool = False

    @property
    def occurrence(self) -> str:
        """The word for how often it comes."""
        words = ("required", "repeatable", "distinct")
        holds = (self.required, self.repeatable, self.distinct)
        return " ".join(compress(words, holds)) or "optional"


class Members(NamedTuple):
    """A list of `min` to `max` members with the separator between them; of none it is the empty string.

    A member that is not repeatable comes at most once. When `ordered`, those come in their order and
    repeatable ones anywhere between them. `implications` are pairs of positions: where the first comes, the
    second must come too. No member matches the empty string.
    """

    members: tuple[Member, ...]
    separator: RuleRef | None
    ordered: bool
    min: int
    max: int | None
    implications: tuple[tuple[int, int], ...]


Edge: TypeAlias = tuple[int, int, CharClass | RuleRef]


class Automaton(NamedTuple):
    """A nondeterministic automaton: what the edges along a path from state 0 to an accepting state match.

    `edges` are (source, target, label); a label that is a rule may match the empty string.
    """

    edges: tuple[Edge, ...]
    accepting: tuple[int, ...]
    state_count: int


class CountedAutomaton(NamedTuple):
    """What the edges along a path of at least `min` and at most `max` (None: any number of) edges match.

    The path leads from state 0 to an accepting state of `body`, whose labels match no empty string and are
    neither recursive nor rules with options. Whatever was matched must have a way to an end: `min` is that of
    the shortest path, or every accepting state has an edge to an accepting one; and some path that is not
    empty has at most `max` edges.
    """

    body: Automaton
    min: int
    max: int | None


Expr: TypeAlias = (
    Literal
    | CharClass
    | RuleRef
    | Sequence
    | Choice
    | Repeat
    | Regex
    | Substring
    | OtherTexts
    | TagDispatch
    | TokenSet
    | TokenTagDispatch
    | Members
    | Automaton
    | CountedAutomaton
)


class RuleOptions(NamedTuple):
    """What a rule asks for beside its language. None and False: not asked for.

    `max_tokens`, `max_chars`: the budget of each occurrence. `capture`: the name under which the text is
    recorded. `lazy`: an occurrence ends where it first can. `temperature`: while the rule is active.
    A text may end with a marker: `capture_hidden_suffix_bytes` leaves it out of the rule's own capture,
    `capture_hidden_stop_bytes` of those around it too, and `stop_capture` names a capture of it alone. The
    numbers are its bytes, unless two rules tell where it begins, by their positions in the grammar's list
    of rules, from 0: then it is a text of the marker rule at the end, and what stands before it, as little
    as possible, a text of the body rule; an occurrence whose text cannot be split so has no marker. Such a
    rule may, once its budget is used up, end after any text of the body rule.
    """

    max_tokens: int | None = None
    max_chars: int | None = None
    capture: str | None = None
    lazy: bool = False
    temperature: float | None = None
    capture_hidden_suffix_bytes: int | None = None
    capture_hidden_stop_bytes: int | None = None
    capture_hidden_body_rule_id: int | None = None
    capture_hidden_marker_rule_id: int | None = None
    stop_capture: str | None = None


NO_OPTIONS = RuleOptions()


def marker_rule_ids(options: RuleOptions) -> tuple[int, ...]:
    """The positions of the rules that tell where a marker begins: of the text before it and of the marker."""
    body, marker = options.capture_hidden_body_rule_id, options.capture_hidden_marker_rule_id
    return () if body is None or marker is None else (body, marker)


class Rule(NamedTuple):
    """A named expression, its options, and what its author knows to follow it (`lookahead`).

    A lookahead is a statement about the grammar and no part of it: it changes neither which texts match nor
    their masks.
    """

    name: str
    body: Expr
    options: RuleOptions = NO_OPTIONS
    lookahead: Expr | None = None


EMPTY = Sequence(())


def matches_nothing(expr: Expr) -> bool:
    """Whether `expr` is a set of no characters, as which a language without texts is written."""
    return type(expr) is CharClass and not expr.ranges


def child_expressions(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside `expr`, in text order."""
    if isinstance(expr, Sequence):
        return expr.items
    if isinstance(expr, Choice):
        return expr.options
    if isinstance(expr, (Repeat, Regex, CountedAutomaton)):
        return (expr.body,)
    if isinstance(expr, OtherTexts):
        return (expr.item,)
    if isinstance(expr, (TagDispatch, TokenTagDispatch)):
        return tuple(rule for _, rule in expr.tags)
    if isinstance(expr, Members):
        rules = tuple(member.rule for member in expr.members)
        return rules if expr.separator is None else (*rules, expr.separator)
    if isinstance(expr, Automaton):
        return tuple(label for _, _, label in expr.edges)
    return ()


def rule_expressions(rule: Rule) -> tuple[Expr, ...]:
    """The body of a rule and, if it has one, its lookahead."""
    return (rule.body,) if rule.lookahead is None else (rule.body, rule.lookahead)
