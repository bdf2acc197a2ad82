"""What the parser makes of a Lark grammar, before it is lowered to rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from grammar_core.ir.nodes import EMPTY, NO_OPTIONS, Expr, RuleOptions, RuleRef


class Marker(NamedTuple):
    """What ends a rule with `suffix` or `stop`.

    `fixed` is the text of a case-sensitive string literal, None for every other marker.
    """

    kind: Literal["suffix", "stop"]
    expr: Expr
    fixed: str | None


class RuleSpec(NamedTuple):
    """The options of a rule, and where each of them stands."""

    options: RuleOptions = NO_OPTIONS
    marker: Marker | None = None
    offsets: tuple[tuple[str, int], ...] = ()

    @property
    def is_lexical(self) -> bool:
        """Whether the rule is one lexeme, with nothing ignored inside."""
        return self.options.lazy or self.marker is not None

    def offset_of(self, *names: str) -> int | None:
        """Where the first of these options stands, if the rule has one."""
        return next((offset for name, offset in self.offsets if name in names), None)


NO_SPEC = RuleSpec()


@dataclass(slots=True)
class Definition:
    """A rule or terminal. `uses` are the terminals that a terminal refers to.

    `has_regex_trigger`: somewhere in the body is a regular expression of any text and then a fixed one.
    """

    name: str
    offset: int
    is_terminal: bool
    spec: RuleSpec = NO_SPEC
    body: Expr = EMPTY
    uses: list[str] = field(default_factory=list)
    has_regex_trigger: bool = False


class Product(NamedTuple):
    """A combination of regular languages under a name of its own: `&` of all operands, or `~` of the only."""

    operator: Literal["&", "~"]
    operands: tuple[Expr, ...]
    terminal: str
    offset: int


@dataclass(slots=True)
class Namespace:
    """One grammar: the whole text, or a `%lark` block.

    Names in expressions carry `prefix`. `weaves`: there is an `%ignore`, so that what is matched whole in a
    rule is followed by ignored text. `lexemes` are the terminals that rules use then. `embedded` are
    (name, root): the lexeme `name` stands for an embedded grammar and what may be ignored after it.
    """

    text: str
    prefix: str
    offset: int
    weaves: bool
    definitions: dict[str, Definition] = field(default_factory=dict)
    first_uses: dict[str, int] = field(default_factory=dict)
    ignored: list[Expr] = field(default_factory=list)
    ignored_uses: list[str] = field(default_factory=list)
    lexemes: set[str] = field(default_factory=set)
    products: dict[str, Product] = field(default_factory=dict)
    embedded: list[tuple[str, RuleRef]] = field(default_factory=list)
    initial_skip: bool | None = None

    def ignored_text(self) -> RuleRef:
        """The reference to what may be ignored at one place."""
        return RuleRef(f"{self.prefix}ignored.text")


def is_terminal_name(name: str) -> bool:
    """Whether a definition of this name is a terminal: its first letter, after all underscores, decides."""
    return name.lstrip("_")[:1].isupper()


def lexeme_name(name: str) -> str:
    """The name of a terminal, or of a rule that is one lexeme, together with what may be ignored after it."""
    return f"{name}.lexeme"


def nonempty_rule(name: str) -> RuleRef:
    """The reference to what a rule matches other than the empty text."""
    return RuleRef(f"{name}.nonempty")
