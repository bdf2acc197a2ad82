"""The formats of the standard as sets of strings."""

from __future__ import annotations

from functools import cache

from grammar_core.errors import UnsupportedFeatureError
from grammar_core.frontends.json_schema.formats import addresses, dates, identifiers
from grammar_core.frontends.json_schema.text_patterns import TextPattern
from grammar_core.frontends.regex import parse_regex

_PATTERNS = {
    "date": dates.DATE,
    "date-time": dates.DATE_TIME,
    "duration": dates.DURATION,
    "email": addresses.EMAIL,
    "hostname": addresses.HOSTNAME,
    "ipv4": addresses.IPV4,
    "ipv6": addresses.IPV6,
    "iri": identifiers.IRI,
    "iri-reference": identifiers.IRI_REFERENCE,
    "json-pointer": identifiers.JSON_POINTER,
    "relative-json-pointer": identifiers.RELATIVE_JSON_POINTER,
    "time": dates.TIME,
    "uri": identifiers.URI,
    "uri-reference": identifiers.URI_REFERENCE,
    "uri-template": identifiers.URI_TEMPLATE,
    "uuid": identifiers.UUID,
}

_PUNYCODE = "whether a label is an internationalized one depends on its Punycode"
_NOT_REGULAR = {
    "idn-email": _PUNYCODE,
    "idn-hostname": _PUNYCODE,
    "regex": "a regular expression is no regular set of strings",
}


@cache
def format_pattern(name: str) -> TextPattern | None:
    """The strings of a format; None for a name that the standard does not define.

    Raises UnsupportedFeatureError for the formats whose strings no grammar of ours describes.
    """
    if name in _NOT_REGULAR:
        message = f'The format "{name}" cannot be enforced: {_NOT_REGULAR[name]}'
        raise UnsupportedFeatureError(message, dialect="JSON schema")
    pattern = _PATTERNS.get(name)
    if pattern is None:
        return None
    return TextPattern(parse_regex(pattern, flags="u"), name=f"format_{name.replace('-', '_')}")
