"""What a caller may give as a structural tag, as one plain object: text, objects, models, the older form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from grammar_core.frontends.structural_tag.errors import StructuralTagError, StructuralTagLimitError
from grammar_core.frontends.structural_tag.fields import Fields
from grammar_core.frontends.structural_tag.limits import MAX_TEXT_LENGTH


@dataclass(frozen=True, slots=True)
class StructuralTagItem:
    """A tag of the older form: `begin`, JSON of the schema, `end`."""

    begin: str
    schema: str | Mapping[str, Any] | bool | type[Any]
    end: str


class Document(NamedTuple):
    """A format as plain objects and lists; `pointers` are (place in it, place in what was given)."""

    format: Any
    pointers: tuple[tuple[str, str], ...] = ()

    def text(self) -> str:
        """The format as JSON text, the same for equal ones. Raises StructuralTagError if it is no JSON."""
        try:
            return json.dumps([self.format, self.pointers], default=_plain_member, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise StructuralTagError(f"The structural tag is no JSON value: {error}", pointer="") from None

    def given_pointer(self, pointer: str) -> str:
        """Where a place of `format` is in what was given."""
        for here, there in self.pointers:
            if pointer.startswith(here):
                return there + pointer[len(here) :]
        return pointer


def read_document(tag: Any, triggers: Iterable[str] | None = None) -> Document:
    """The format of a structural tag of any form.

    `tag`: JSON text, an object, a model with `model_dump`, or a list of items of the older form with
    their `triggers`. Raises StructuralTagError for anything else.
    """
    document = as_plain(_parse(tag) if isinstance(tag, str) else tag)
    if triggers is not None or isinstance(document, (list, tuple)):
        members = {"structures": document, "triggers": None if triggers is None else list(triggers)}
        return _older_form(Fields(members, ""))
    fields = Fields(document, "")
    if "structures" in fields:
        return _older_form(fields)
    if "format" not in fields and document.get("type") != "structural_tag":
        return Document(document)
    fields.choice("type", ("structural_tag",))
    fields.refuse_others(frozenset({"type", "format"}))
    return Document(fields.value("format"), (("", "/format"),))


def as_plain(value: Any) -> Any:
    """A model as the object it stands for; everything else as it is."""
    dump = getattr(value, "model_dump", None)
    return value if dump is None or isinstance(value, type) else dump(exclude_none=True, by_alias=True)


def _plain_member(value: Any) -> Any:
    if isinstance(value, type) and hasattr(value, "model_json_schema"):
        return value.model_json_schema()
    plain = as_plain(value)
    if isinstance(plain, Mapping):
        return dict(plain)
    raise TypeError(f"{type(value).__name__} is not of JSON")


def _parse(text: str) -> Any:
    if len(text) > MAX_TEXT_LENGTH:
        raise StructuralTagLimitError(
            f"The structural tag is longer than {MAX_TEXT_LENGTH:,} characters",
            pointer="",
            limit="text_length",
            value=MAX_TEXT_LENGTH,
        )
    try:
        return json.loads(text)
    except RecursionError:
        raise StructuralTagError("The structural tag is nested too deeply", pointer="") from None
    except ValueError as error:
        raise StructuralTagError(f"The structural tag is not JSON: {error}", pointer="") from None


def _older_form(fields: Fields) -> Document:
    fields.choice("type", ("structural_tag",))
    fields.refuse_others(frozenset({"type", "structures", "triggers"}))
    tags = []
    pointers = []
    for index, item in enumerate(fields.items("structures")):
        tags.append(_tag_of_item(item, fields.pointer_to("structures", index)))
        old = fields.pointer_to("structures", index)
        pointers += [(f"/tags/{index}/content/json_schema", f"{old}/schema"), (f"/tags/{index}", old)]
    fields.items("triggers")
    format = {"type": "triggered_tags", "triggers": list(fields.texts("triggers")), "tags": tags}
    return Document(format, tuple(pointers))


def _tag_of_item(item: Any, pointer: str) -> dict[str, Any]:
    if isinstance(item, StructuralTagItem):
        item = {"begin": item.begin, "schema": item.schema, "end": item.end}
    fields = Fields(as_plain(item), pointer)
    fields.refuse_others(frozenset({"begin", "schema", "end"}))
    content = {"type": "json_schema", "json_schema": _schema(fields)}
    return {"type": "tag", "begin": fields.text("begin"), "content": content, "end": fields.text("end")}


def _schema(fields: Fields) -> Any:
    schema = fields.value("schema")
    if isinstance(schema, str):
        try:
            return json.loads(schema)
        except (ValueError, RecursionError) as error:
            fields.fail(f"The schema is not JSON: {error}", "schema")
    return schema
