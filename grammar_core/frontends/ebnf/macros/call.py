"""A macro call with its arguments, and the refusals that macros share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, NamedTuple, NoReturn

from grammar_core.errors import GrammarLimitError, GrammarSyntaxError
from grammar_core.frontends.ebnf.limits import MAX_TOKEN_ID
from grammar_core.ir.nodes import RuleRef

Kind = Literal["string", "integer", "boolean", "rule", "tuple"]
_ARTICLES: dict[Kind, str] = {
    "string": "a string",
    "integer": "an integer",
    "boolean": "true or false",
    "rule": "a rule name",
    "tuple": "a tuple",
}


class Argument(NamedTuple):
    """One value: str for strings and rules, int, bool, or a tuple of arguments; and where it stands.

    `begin` is where the argument begins, with its name if it has one.
    """

    kind: Kind
    value: Any
    offset: int
    begin: int


class MacroCall(NamedTuple):
    """`name(positional…, named=…)` at `offset` of `text`; `refer` makes the reference to a rule."""

    name: str
    offset: int
    positional: list[Argument]
    named: dict[str, Argument]
    text: str
    refer: Callable[[str], RuleRef]

    def refuse(self, message: str, offset: int) -> NoReturn:
        """Raise the error about what stands at `offset`."""
        raise GrammarSyntaxError.at(message, self.text, offset)

    def allow_named(self, *names: str) -> None:
        """Refuse every other named argument."""
        for name, argument in self.named.items():
            if name not in names:
                known = f"; it has {' and '.join(names)}" if names else "; it has none"
                self.refuse(f"{self.name} has no named argument {name}{known}", argument.begin)

    def string(self, argument: Argument, what: str) -> str:
        """The value of an argument that must be a string."""
        self._require(argument, "string", what)
        return str(argument.value)

    def non_empty_string(self, argument: Argument, what: str) -> str:
        """The value of an argument that must be a string with something in it."""
        if not self.string(argument, what):
            self.refuse(f"{what} of {self.name} must not be empty", argument.offset)
        return str(argument.value)

    def rule(self, argument: Argument, what: str) -> RuleRef:
        """The reference for an argument that must be the name of a rule."""
        self._require(argument, "rule", what)
        return self.refer(argument.value)

    def boolean(self, name: str, default: bool) -> bool:
        """The value of a named argument that must be true or false if it is given."""
        argument = self.named.get(name)
        if argument is None:
            return default
        self._require(argument, "boolean", f"The argument {name}")
        return bool(argument.value)

    def integer(self, argument: Argument, what: str) -> int:
        """The value of an argument that must be an integer."""
        self._require(argument, "integer", what)
        return int(argument.value)

    def items(self, name: str) -> tuple[Argument, ...]:
        """What the tuple given as a named argument contains; nothing if it is not given."""
        argument = self.named.get(name)
        if argument is None:
            return ()
        self._require(argument, "tuple", f"The argument {name}")
        return tuple(argument.value)

    def token_id(self, argument: Argument, what: str) -> int:
        """The value of an argument that must be a token id."""
        token_id = self.integer(argument, what)
        if token_id < 0:
            self.refuse(f"{what} of {self.name} must not be negative", argument.offset)
        if token_id > MAX_TOKEN_ID:
            raise GrammarLimitError.at(
                f"A token id may be at most {MAX_TOKEN_ID:,}",
                self.text,
                argument.offset,
                limit="token_id",
                value=MAX_TOKEN_ID,
            )
        return token_id

    def token_ids(self, arguments: Iterable[Argument], what: str) -> tuple[int, ...]:
        """The token ids, sorted and without repetition."""
        return tuple(sorted({self.token_id(argument, what) for argument in arguments}))

    def pair(self, argument: Argument, form: str) -> tuple[Argument, Argument]:
        """The two parts of a positional argument that must be a pair, which `form` describes."""
        if argument.kind != "tuple" or len(argument.value) != 2:
            self.refuse(f"Every positional argument of {self.name} is a {form} pair", argument.offset)
        first, second = argument.value
        return first, second

    def _require(self, argument: Argument, kind: Kind, what: str) -> None:
        if argument.kind != kind:
            message = f"{what} of {self.name} must be {_ARTICLES[kind]}, not {_ARTICLES[argument.kind]}"
            self.refuse(message, argument.offset)
