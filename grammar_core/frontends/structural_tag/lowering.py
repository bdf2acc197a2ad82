"""A structural tag as rules: what all types of formats share while they are lowered."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from grammar_core.deadline import check_now
from grammar_core.errors import GrammarError
from grammar_core.frontends.structural_tag.document import as_plain
from grammar_core.frontends.structural_tag.enclosure import NOT_ENCLOSED, Enclosure, Lowered
from grammar_core.frontends.structural_tag.errors import (
    StructuralTagError,
    StructuralTagLimitError,
    reraise_at,
)
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.limits import MAX_FORMATS, MAX_NESTING, MAX_TOKEN_ID
from grammar_core.frontends.structural_tag.notations import Notation, NotationOptions
from grammar_core.frontends.structural_tag.notations.notation import WriteText
from grammar_core.ir.combination import gather_rules
from grammar_core.ir.nodes import (
    EMPTY,
    NO_OPTIONS,
    Choice,
    Expr,
    Literal,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    TokenSet,
)

if TYPE_CHECKING:
    from grammar_core.tokenizer_info import TokenizerInfo

EmbeddedGrammar = tuple[tuple[Rule, ...], str]
"""Its rules and the name of its root."""
LowerFormat = Callable[[Fields, "Lowering", Enclosure], Lowered]


class Lowering:
    """The rules made so far for one structural tag.

    Texts are matched by their characters and, where a control token of `tokenizer_info` is written like a
    part of them, by that token as well.
    """

    def __init__(
        self, find_format: Callable[[Fields], LowerFormat], tokenizer_info: TokenizerInfo | None
    ) -> None:
        self._find_format = find_format
        self.tokenizer_info = tokenizer_info
        self._rules: list[Rule] = []
        self._embedded: dict[Any, RuleRef] = {}
        self._grammars: list[tuple[RuleRef, EmbeddedGrammar]] = []
        self._notation: Notation | None = None
        self._schemas: dict[str, RuleRef] = {}
        self._markers: dict[str, Expr] = {}
        self._depth = 0
        self._format_count = 0
        texts = set() if tokenizer_info is None else set(tokenizer_info.control_token_texts.values())
        longest_first = sorted(texts, key=len, reverse=True)
        self._control_text = re.compile("|".join(map(re.escape, longest_first))) if texts else None

    # -- formats -------------------------------------------------------------------------------------------

    def format(self, value: Any, pointer: str, enclosure: Enclosure = NOT_ENCLOSED) -> Lowered:
        """Lower the format that is at `pointer` of the document."""
        fields = Fields(as_plain(value), pointer)
        self._format_count += 1
        if self._depth >= MAX_NESTING:
            self._exceed(
                f"Formats are nested deeper than {MAX_NESTING} levels", fields, "nesting", MAX_NESTING
            )
        if self._format_count > MAX_FORMATS:
            self._exceed(f"There are more than {MAX_FORMATS:,} formats", fields, "formats", MAX_FORMATS)
        self._depth += 1
        lowered = self._find_format(fields)(fields, self, enclosure)
        self._depth -= 1
        return lowered

    def _exceed(self, message: str, fields: Fields, limit: str, value: int) -> None:
        raise StructuralTagLimitError(message, pointer=fields.pointer, limit=limit, value=value)

    # -- rules ---------------------------------------------------------------------------------------------

    def rule(self, base: str, body: Expr, options: RuleOptions = NO_OPTIONS) -> RuleRef:
        """A reference to a new rule."""
        name = f"{base}-{len(self._rules)}"
        self._rules.append(Rule(name, body, options))
        return RuleRef(name)

    def embed(self, key: Any, build: Callable[[], EmbeddedGrammar], pointer: str) -> RuleRef:
        """A reference to a grammar, which is built once for equal keys. Its errors are about `pointer`."""
        found = self._embedded.get(key)
        if found is None:
            try:
                grammar = build()
            except StructuralTagError:
                raise
            except GrammarError as error:
                check_now()
                reraise_at(error, pointer)
            found = self._embedded[key] = self.rule("grammar", EMPTY)
            self._grammars.append((found, grammar))
        return found

    def schema(self, text: str, options: NotationOptions, pointer: str) -> RuleRef:
        """A reference to the values of a JSON schema. Its errors are about `pointer`."""
        if self._notation is None:
            self._notation = Notation(options, self.text)
        if self._notation.options != options:
            return self.embed((text, options), lambda: _only_schema(text, options, self.text), pointer)
        found = self._schemas.get(text)
        if found is None:
            try:
                found = self._schemas[text] = self._notation.add(text)
            except GrammarError as error:
                check_now()
                reraise_at(error, pointer)
        return found

    def finish(self, root: Expr) -> tuple[Rule, ...]:
        """All rules; the first is the root, `root`."""
        own = self._rules
        schemas = () if self._notation is None else self._notation.rules()
        if not self._grammars and all(rule.name != "root" for rule in schemas):
            return (Rule("root", root), *own, *schemas)
        # Empty rules hold the names and places of the own ones, which references to the rest then complete.
        places = tuple(Rule(rule.name, EMPTY) for rule in own)
        grammars = (grammar for _, grammar in self._grammars)
        first = (*places, *schemas)
        gathered, roots = gather_rules([(first, first[0].name), *grammars])
        bodies = {place.name: body for (place, _), body in zip(self._grammars, roots[1:], strict=True)}
        completed = [rule._replace(body=bodies.get(rule.name, rule.body)) for rule in own]
        return (Rule("root", root), *completed, *gathered[len(own) :])

    # -- texts and tokens ----------------------------------------------------------------------------------

    def text(self, text: str) -> Expr:
        """This text."""
        if self._control_text is None:
            return Literal(text.encode())
        items: list[Expr] = []
        end = 0
        for match in self._control_text.finditer(text):
            if match.start() > end:
                items.append(Literal(text[end : match.start()].encode()))
            items.append(self._marker(match.group()))
            end = match.end()
        if end < len(text) or not items:
            items.append(Literal(text[end:].encode()))
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _marker(self, text: str) -> Expr:
        found = self._markers.get(text)
        if found is None:
            found = Choice((TokenSet(self._control_ids(text), negated=False), Literal(text.encode())))
            self._markers[text] = found
        return found

    def leading_marker(self, text: str) -> tuple[tuple[int, ...], str]:
        """The ids of the control token that the text begins with, and the rest of it; no ids if none does."""
        match = None if self._control_text is None else self._control_text.match(text)
        return ((), text) if match is None else (self._control_ids(match.group()), text[match.end() :])

    def _control_ids(self, text: str) -> tuple[int, ...]:
        assert self.tokenizer_info is not None
        return tuple(sorted(self.tokenizer_info.token_ids_of(text)))

    def token_ids(self, value: Any, fields: Fields, *path: str | int) -> tuple[int, ...]:
        """The ids that a token of the document stands for: an id, or the text of one or more."""
        if isinstance(value, str):
            if self.tokenizer_info is None:
                fields.fail("A token given by its text needs tokenizer_info", *path)
            ids = self.tokenizer_info.token_ids_of(value)
            if not ids:
                fields.fail(f"The vocabulary has no token {value!r}", *path)
            return tuple(sorted(ids))
        if not isinstance(value, int) or isinstance(value, bool):
            fields.fail("A token is its id or its text", *path)
        if not 0 <= value <= MAX_TOKEN_ID:
            fields.fail(f"The token id {value} is not between 0 and {MAX_TOKEN_ID:,}", *path)
        if self.tokenizer_info is not None and value >= self.tokenizer_info.vocab_size:
            fields.fail(f"The vocabulary has {self.tokenizer_info.vocab_size:,} tokens, no id {value}", *path)
        return (value,)

    def token_list(self, fields: Fields, name: str) -> tuple[int, ...]:
        """The ids of a list of tokens, sorted; none where it is absent."""
        found: set[int] = set()
        for index, value in enumerate(fields.values(name)):
            found.update(self.token_ids(value, fields, name, index))
        return tuple(sorted(found))


class SuspiciousLowering(Lowering):
    """Asks of every JSON schema whether any value is valid for it."""

    def schema(self, text: str, options: NotationOptions, pointer: str) -> RuleRef:
        try:
            options.refuse_empty(text)
        except GrammarError as error:
            reraise_at(error, pointer)
        return super().schema(text, options, pointer)


def _only_schema(text: str, options: NotationOptions, write_text: WriteText) -> EmbeddedGrammar:
    """The grammar of one schema."""
    notation = Notation(options, write_text)
    root = notation.add(text)
    return notation.rules(), root.name
