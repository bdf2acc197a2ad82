"""Drafts of JSON Schema and what differs between them."""

from __future__ import annotations

from typing import NamedTuple


class Dialect(NamedTuple):
    """The rules that a schema is read by.

    `draft` is 4, 6, 7, 2019 or 2020. `declared`: by a `$schema`; a schema that declares none is read as
    2020-12 and may also use keywords of earlier drafts that 2020-12 has replaced, and `nullable`.
    `validates`: the keywords that assert are in force (a custom metaschema may leave them out).
    """

    draft: int
    declared: bool
    validates: bool = True

    @property
    def id_keyword(self) -> str:
        """The keyword that names a schema."""
        return "id" if self.draft == 4 else "$id"

    @property
    def has_ref_siblings(self) -> bool:
        """Whether keywords beside `$ref` count."""
        return self.draft >= 2019


DEFAULT = Dialect(2020, declared=False)
DECLARED_DEFAULT = Dialect(2020, declared=True)

_BY_URI = {
    "json-schema.org/draft-04/schema": Dialect(4, declared=True),
    "json-schema.org/draft-06/schema": Dialect(6, declared=True),
    "json-schema.org/draft-07/schema": Dialect(7, declared=True),
    "json-schema.org/draft/2019-09/schema": Dialect(2019, declared=True),
    "json-schema.org/draft/2020-12/schema": DECLARED_DEFAULT,
    "json-schema.org/schema": DECLARED_DEFAULT,
}
_TOO_OLD = frozenset(
    f"json-schema.org/{draft}/schema" for draft in ("draft-00", "draft-01", "draft-02", "draft-03")
)


def _bare(uri: str) -> str:
    return uri.removeprefix("https://").removeprefix("http://").rstrip("#")


def dialect_of(uri: str) -> Dialect | None:
    """The dialect with this `$schema`, None if it is not one of the standard's."""
    return _BY_URI.get(_bare(uri))


def is_too_old(uri: str) -> bool:
    """Whether `uri` names a draft before 4, whose keywords mean something else."""
    return _bare(uri) in _TOO_OLD
