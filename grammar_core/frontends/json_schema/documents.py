"""Schema documents: reading their text, and finding what references refer to.

A *resource* is a schema with a base URI of its own, the root of a document or a subschema with `$id`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from grammar_core.deadline import check
from grammar_core.frontends.json_schema.deep_json import DepthError, read_deep, write_deep
from grammar_core.frontends.json_schema.dialects import DEFAULT, Dialect, dialect_of, is_too_old
from grammar_core.frontends.json_schema.errors import JsonSchemaError, JsonSchemaLimitError
from grammar_core.frontends.json_schema.paths import Path, pointer_of
from grammar_core.frontends.json_schema.values import WrittenNumber

MAX_TEXT_LENGTH = 20_000_000
"""Characters of a schema's text."""
MAX_DEPTH = 10_000
"""Arrays and objects inside one another in a schema."""

_SINGLE = (
    *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
    *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
)
_LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAPS = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
_NESTING = frozenset((*_SINGLE, *_LISTS, *_MAPS))

_STANDARD = "json-schema.org/"
_DYNAMIC = ("$dynamicRef", "$recursiveRef", _STANDARD)
_ESCAPED_ASCII = re.compile(r"\\u00([2-7][0-9A-Fa-f])")


def parse_json(text: str) -> Any:
    """The value of a JSON text, numbers with a fraction or exponent as WrittenNumber.

    Raises JsonSchemaError for text that is not JSON or repeats a key, JsonSchemaLimitError for too much.
    """
    if len(text) > MAX_TEXT_LENGTH:
        raise JsonSchemaLimitError(
            f"The schema has more than {MAX_TEXT_LENGTH:,} characters",
            limit="schema_length",
            value=MAX_TEXT_LENGTH,
        )
    try:
        return _read(text)
    except json.JSONDecodeError as error:
        raise JsonSchemaError(
            f"The schema is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except DepthError:
        raise too_deep() from None
    except ValueError as error:
        if isinstance(error, JsonSchemaError):
            raise
        raise JsonSchemaError(f"The schema has a number of too many digits: {error}") from None


def _read(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return read_deep(text, limit=MAX_DEPTH, number=WrittenNumber, mapping=_unique_pairs)


def _write(schema: Any) -> str:
    try:
        return _ENCODER.encode(schema)
    except RecursionError:
        return write_deep(schema, limit=MAX_DEPTH, write=_ENCODER.encode)


def too_deep() -> JsonSchemaLimitError:
    """The error for a schema beyond MAX_DEPTH."""
    return JsonSchemaLimitError(
        "The schema is nested too deeply to be read", limit="schema_depth", value=MAX_DEPTH
    )


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise JsonSchemaError(f"The schema repeats the key {json.dumps(repeated)} in one object")
    return mapping


def _unescaped(text: str) -> str:
    """JSON text to look for words in: keywords and URIs may be written with escapes."""
    if "\\" not in text:
        return text
    return _ESCAPED_ASCII.sub(lambda match: chr(int(match[1], 16)), text).replace("\\/", "/")


def _refuse_constant(name: str) -> Any:
    raise JsonSchemaError(f"The schema is not JSON: {name} is no JSON number")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique_pairs, parse_float=WrittenNumber, parse_constant=_refuse_constant
)


def schema_text(schema: Any) -> str:
    """The JSON text of a schema given as text, as Python values or as a pydantic model class.

    Raises TypeError for anything else, JsonSchemaError for values that JSON does not have.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    if not isinstance(schema, (dict, bool)):
        raise TypeError(
            f"a JSON schema is text, a dict, a bool or a pydantic model class, not {schema!r:.80}"
        )
    try:
        return _write(schema)
    except DepthError:
        raise too_deep() from None
    except (TypeError, ValueError) as error:
        raise JsonSchemaError(f"The schema is not a JSON value: {error}") from None


_LARGEST_EXPONENT = 10_000


def _number_text(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _LARGEST_EXPONENT:
            raise ValueError(f"{value!r:.80} is out of the range of numbers")
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{value!r:.80} is not a JSON value")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_number_text)


class Resource:
    """A schema with a base URI: its value, its dialect, where it stands and the anchors inside."""

    __slots__ = ("anchors", "dialect", "dynamic_anchors", "path", "root", "uri")

    def __init__(self, uri: str, root: Any, dialect: Dialect, path: Path) -> None:
        self.uri = uri
        self.root = root
        self.dialect = dialect
        self.path = path
        self.anchors: dict[str, tuple[Any, Path]] = {}
        self.dynamic_anchors: dict[str, tuple[Any, Path]] = {}


Target = tuple[Any, Resource, Path]


class Documents:
    """The root document, the bundled ones and, when they are referred to, the metaschemas."""

    def __init__(self, text: str, bundled: Mapping[str, Any]) -> None:
        self._resources: dict[str, Resource] = {}
        self._by_value: dict[int, Resource] = {}
        self._bundled = {_split_fragment(uri)[0]: document for uri, document in bundled.items()}
        self._targets: dict[tuple[int, str], Target] = {}
        self._keep_alive: list[Any] = []
        self._indexed_uris: set[str] = set()  # of the document that is being read
        self._ambiguous: dict[str, JsonSchemaError] = {}
        value = parse_json(text)
        text = _unescaped(text)
        self.has_names = '"$id"' in text or '"id"' in text or "nchor" in text
        # Known before the first schema is reached, of documents too that are read later: the metaschemas.
        self.is_dynamic = bool(bundled) or any(word in text for word in _DYNAMIC)
        self.root = self._add(value, "", DEFAULT)

    def _add(self, value: Any, uri: str, dialect: Dialect) -> Resource:
        """Index a whole document."""
        self._keep_alive.append(value)
        dialect = self._declared_dialect(value, dialect, None)
        root = Resource(uri, value, dialect, None)
        if self.has_names and isinstance(value, dict):
            self._index(root)
        root = self._by_value.get(id(value), root)
        self._resources.setdefault(uri, root)
        return root

    def _declared_dialect(self, value: Any, inherited: Dialect, path: Path) -> Dialect:
        if not isinstance(value, dict) or "$schema" not in value:
            return inherited
        uri = value["$schema"]
        if not isinstance(uri, str):
            raise JsonSchemaError(
                "$schema must be a string", pointer=pointer_of((path, "$schema")), keyword="$schema"
            )
        if is_too_old(uri):
            raise JsonSchemaError(
                f"The draft {uri} is not supported; drafts 4 to 2020-12 are",
                pointer=pointer_of((path, "$schema")),
                keyword="$schema",
            )
        return dialect_of(uri) or self._custom_dialect(uri, inherited)

    def _custom_dialect(self, uri: str, inherited: Dialect) -> Dialect:
        """The dialect of a metaschema that is not one of the standard's; `inherited` if nothing is known."""
        document = self._bundled.get(_split_fragment(uri)[0])
        if not isinstance(document, dict):
            return inherited
        base = dialect_of(str(document.get("$schema", ""))) or inherited
        vocabularies = document.get("$vocabulary")
        if isinstance(vocabularies, dict):
            validates = any("/vocab/validation" in vocabulary for vocabulary in vocabularies)
            return base._replace(validates=validates)
        return base

    def _index(self, root: Resource) -> None:
        self._indexed_uris = set()
        pending: list[tuple[Any, Resource, Path]] = [(root.root, root, None)]
        while pending:
            check()
            value, resource, path = pending.pop()
            resource = self._enter(value, resource, path)
            pending.extend((child, resource, place) for child, place in _subschemas(value, path))

    def _enter(self, value: dict[str, Any], resource: Resource, path: Path) -> Resource:
        """The resource that `value` belongs to, after noting its names."""
        dialect = (
            resource.dialect
            if value is resource.root
            else self._declared_dialect(value, resource.dialect, path)
        )
        identifier = value.get(dialect.id_keyword)
        if "$ref" in value and not dialect.has_ref_siblings:
            identifier = None
        if identifier is not None and not isinstance(identifier, str):
            raise JsonSchemaError(
                f"{dialect.id_keyword} must be a text",
                pointer=f"{pointer_of(path)}/{dialect.id_keyword}",
                keyword=dialect.id_keyword,
            )
        if isinstance(identifier, str):
            uri, fragment = _split_fragment(identifier)
            if uri or (path is None and not fragment):
                resource = Resource(_joined(resource.uri, uri), value, dialect, path)
                self._note_uri(resource, value, dialect.id_keyword)
                self._by_value[id(value)] = resource
            if fragment and not fragment.startswith("/"):
                _note_anchor(resource.anchors, fragment, value, path, dialect.id_keyword)
        if dialect.draft >= 2019:
            self._note_anchors(value, resource, path, dialect.draft)
        return resource

    def _note_uri(self, resource: Resource, value: dict[str, Any], keyword: str) -> None:
        """Give the resource its URI, which another document may have taken, but no schema of the same one.

        Before 2019-09 identifiers were often copied without a use: there it is an error to refer to one.
        """
        if resource.uri in self._indexed_uris:
            error = _named_twice(f"{keyword} {json.dumps(value[keyword])}", resource.path, keyword)
            if resource.dialect.draft >= 2019:
                raise error
            self._ambiguous[resource.uri] = error
        self._indexed_uris.add(resource.uri)
        self._resources.setdefault(resource.uri, resource)

    def _note_anchors(self, value: dict[str, Any], resource: Resource, path: Path, draft: int) -> None:
        anchor, dynamic = value.get("$anchor"), value.get("$dynamicAnchor") if draft == 2020 else None
        if isinstance(anchor, str):
            _note_anchor(resource.anchors, anchor, value, path, "$anchor")
        if isinstance(dynamic, str):
            _note_anchor(resource.anchors, dynamic, value, path, "$dynamicAnchor")
            resource.dynamic_anchors.setdefault(dynamic, (value, path))
        if draft == 2019 and value.get("$recursiveAnchor") is True and value is resource.root:
            resource.dynamic_anchors.setdefault("", (value, path))

    def resource_at(self, value: Any, inherited: Resource) -> Resource:
        """The resource of a subschema whose parent belongs to `inherited`."""
        return self._by_value.get(id(value), inherited)

    def resolve(self, reference: str, resource: Resource, path: Path, keyword: str = "$ref") -> Target:
        """What `reference`, used in `resource`, refers to. Raises JsonSchemaError where that is nothing."""
        key = (id(resource), reference)
        target = self._targets.get(key)
        if target is None:
            target = self._targets[key] = self._find(reference, resource, (path, keyword))
        return target

    def _find(self, reference: str, resource: Resource, path: Path) -> Target:
        if reference.startswith("#"):
            base, fragment = resource, reference[1:]
        else:
            uri, fragment = _split_fragment(_joined(resource.uri, reference))
            base = self._resource(uri, reference, path)
        fragment = unquote(fragment)
        if not fragment:
            return base.root, base, base.path
        if fragment.startswith("/"):
            return self._walk(base, fragment, reference, path)
        if fragment in base.anchors:
            value, place = base.anchors[fragment]
            return value, self.resource_at(value, base), place
        raise self._missing(reference, path)

    def _missing(self, reference: str, path: Path) -> JsonSchemaError:
        assert path is not None
        return JsonSchemaError(
            f"Cannot find what {path[1]} refers to: {json.dumps(reference)}",
            pointer=pointer_of(path),
            keyword=str(path[1]),
        )

    def _walk(self, base: Resource, pointer: str, reference: str, path: Path) -> Target:
        value, resource, place = base.root, base, base.path
        for raw in pointer[1:].split("/"):
            segment: str | int = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and segment in value:
                value = value[segment]
            elif isinstance(value, list) and (index := _item_index(raw, len(value))) is not None:
                segment = index
                value = value[segment]
            else:
                raise self._missing(reference, path)
            resource, place = self.resource_at(value, resource), (place, segment)
        return value, resource, place

    def _resource(self, uri: str, reference: str, path: Path) -> Resource:
        if uri in self._ambiguous:
            raise self._ambiguous[uri]
        found = self._resources.get(uri)
        if found is not None:
            return found
        document = self._bundled.get(uri)
        if document is None:
            document = _metaschema(uri)
        if document is None:
            raise self._missing(reference, path)
        self.has_names = True
        added = self._add(parse_json(schema_text(document)), uri, DEFAULT)
        return self._resources.setdefault(uri, added)


def _note_anchor(
    anchors: dict[str, tuple[Any, Path]], name: str, value: dict[str, Any], path: Path, keyword: str
) -> None:
    """Name a schema within its resource. The same schema may have the name twice, two schemas may not."""
    if anchors.setdefault(name, (value, path))[0] is not value:
        raise _named_twice(f"{keyword} {json.dumps(value[keyword])}", path, keyword)


def _named_twice(name: str, path: Path, keyword: str) -> JsonSchemaError:
    return JsonSchemaError(
        f"Another schema of the document has the {name} too",
        pointer=pointer_of((path, keyword)),
        keyword=keyword,
    )


def _item_index(segment: str, length: int) -> int | None:
    """The place in a list of `length` that a segment of a JSON pointer (RFC 6901) names, None for none."""
    if not (segment.isascii() and segment.isdigit()) or len(segment) > len(str(length)):
        return None
    index = int(segment)
    return index if index < length else None


def _split_fragment(uri: str) -> tuple[str, str]:
    """A URI without its fragment, and the fragment; what is no URI has a name all the same."""
    try:
        bare, fragment = urldefrag(uri)
    except ValueError:
        bare, _, fragment = uri.partition("#")
    return bare, fragment


def _joined(base: str, reference: str) -> str:
    if not base:
        return reference
    if base.startswith("urn:"):
        return base + reference if reference.startswith("#") else (reference or base)
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


def _metaschema(uri: str) -> Any:
    """The standard's own document with this URI, None for any other URI."""
    if not uri.removeprefix("https://").removeprefix("http://").startswith(_STANDARD):
        return None
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    for candidate in (uri, uri + "#"):
        if candidate in REGISTRY:
            return REGISTRY.contents(candidate)
    return None


def _subschemas(value: dict[str, Any], path: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """The schemas, other than true and false, directly inside a schema."""
    if _NESTING.isdisjoint(value):
        return
    for keyword in _SINGLE:
        child = value.get(keyword)
        if isinstance(child, dict):
            yield child, (path, keyword)
    for keyword in _LISTS:
        children = value.get(keyword)
        if isinstance(children, list):
            yield from ((c, ((path, keyword), i)) for i, c in enumerate(children) if isinstance(c, dict))
    for keyword in _MAPS:
        named = value.get(keyword)
        if isinstance(named, dict):
            yield from ((c, ((path, keyword), key)) for key, c in named.items() if isinstance(c, dict))
