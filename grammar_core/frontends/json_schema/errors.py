"""Errors about a JSON schema, with the JSON pointer of the keyword at fault."""

from __future__ import annotations

from grammar_core.errors import GrammarError, GrammarLimitError


class JsonSchemaError(GrammarError):
    """A schema that is malformed or asks for what cannot be enforced exactly.

    `pointer` is the JSON pointer (RFC 6901) of the keyword from the root of its document, "" for the whole
    document. `keyword` is the keyword's name where one is at fault; passing it in `loosen` lifts a refusal,
    but not an error in the schema.
    """

    def __init__(self, message: str, *, pointer: str = "", keyword: str | None = None) -> None:
        self.pointer = pointer
        self.keyword = keyword
        place = f" (at {pointer})" if pointer else ""
        GrammarError.__init__(self, f"{message}{place}", dialect="JSON schema")


class UnsupportedSchemaError(JsonSchemaError):
    """A well-formed keyword that cannot be enforced exactly in this schema; `loosen` lifts the refusal."""


class EmptySchemaError(JsonSchemaError):
    """A schema that no value is valid for; `pointer` leads to the deepest schema that is to blame."""


class JsonSchemaLimitError(JsonSchemaError, GrammarLimitError):
    """A schema beyond a limit; `limit` and `value` as in GrammarLimitError."""

    def __init__(
        self, message: str, *, limit: str, value: int, pointer: str = "", keyword: str | None = None
    ) -> None:
        self.limit = limit
        self.value = value
        JsonSchemaError.__init__(self, message, pointer=pointer, keyword=keyword)
