"""The type `tag`, and what the types that hold lists of tags share."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.structural_tag.enclosure import Enclosure, Lowered
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.lowering import Lowering
from grammar_core.ir.nodes import Choice, Expr, Sequence, TokenSet

TAG_FIELDS = frozenset({"type", "begin", "content", "end"})
_TOKEN_FIELDS = frozenset({"type", "token"})


class Tag(NamedTuple):
    """A tag in parts. Either `begin`, the text it begins with, or `begin_tokens`, the ids of which one does.

    `rest` is what follows the beginning.
    """

    fields: Fields
    begin: str | None
    begin_tokens: tuple[int, ...]
    rest: Expr

    def expression(self, lowering: Lowering) -> Expr:
        """The whole tag."""
        if self.begin is None:
            return Sequence((TokenSet(self.begin_tokens, negated=False), self.rest))
        return Sequence((lowering.text(self.begin), self.rest))


def lower_tag(fields: Fields, lowering: Lowering, enclosure: Enclosure) -> Lowered:
    """`begin`, `content` and `end`."""
    return Lowered(read_tag(fields, lowering).expression(lowering))


def read_tags(fields: Fields, lowering: Lowering) -> list[Tag]:
    """The tags of the list `tags`."""
    tags = []
    for index, item in enumerate(fields.items("tags")):
        tag_fields = Fields(item, fields.pointer_to("tags", index))
        tag_fields.choice("type", ("tag",))
        tag_fields.refuse_others(TAG_FIELDS)
        tags.append(read_tag(tag_fields, lowering))
    return tags


def read_tag(fields: Fields, lowering: Lowering) -> Tag:
    """Lower the content of a tag and what ends it."""
    begin = fields.value("begin")
    begin_tokens = () if isinstance(begin, str) else _token(fields, "begin", lowering)
    end, enclosure = _end(fields, lowering)
    content = lowering.format(fields.value("content"), fields.pointer_to("content"), enclosure)
    if content.is_unlimited and enclosure == Enclosure():
        fields.fail("The content has free text, so that an end that is not empty is needed", "end")
    rest = lowering.rule("tag", Sequence((content.expression, end)))
    return Tag(fields, fields.text("begin") if isinstance(begin, str) else None, begin_tokens, rest)


def _end(fields: Fields, lowering: Lowering) -> tuple[Expr, Enclosure]:
    end = fields.value("end")
    if isinstance(end, str):
        texts: tuple[str, ...] = (fields.text("end"),)
    elif isinstance(end, (list, tuple)):
        texts = tuple(fields.as_text(item, "end", index) for index, item in enumerate(fields.items("end")))
    else:
        ids = _token(fields, "end", lowering)
        return TokenSet(ids, negated=False), Enclosure((), ids)
    enclosure = Enclosure(tuple(dict.fromkeys(filter(None, texts))), _control_tokens(texts, lowering))
    options = tuple(lowering.text(text) for text in texts)
    return options[0] if len(options) == 1 else Choice(options), enclosure


def _control_tokens(texts: tuple[str, ...], lowering: Lowering) -> tuple[int, ...]:
    """The control tokens that end the tag on their own."""
    found: set[int] = set()
    for text in texts:
        ids, rest = lowering.leading_marker(text)
        found.update(() if rest else ids)
    return tuple(sorted(found))


def _token(fields: Fields, name: str, lowering: Lowering) -> tuple[int, ...]:
    token = Fields(fields.value(name), fields.pointer_to(name))
    token.choice("type", ("token",))
    token.refuse_others(_TOKEN_FIELDS)
    return lowering.token_ids(token.value("token"), token, "token")
