"""Identifiers of resources and of places: RFC 3986, RFC 3987, RFC 4122, RFC 6570, RFC 6901."""

from __future__ import annotations

from typing import NamedTuple

from grammar_core.frontends.json_schema.formats.addresses import IPV4, IPV6

_PERCENT_ENCODED = "%[0-9A-Fa-f]{2}"
_SUB_DELIMITERS = r"!$&'()*+,;="
_UNRESERVED = r"A-Za-z0-9\-._~"
_SCHEME = r"[A-Za-z][A-Za-z0-9+\-.]*"
_IPV_FUTURE = rf"[Vv][0-9A-Fa-f]+\.[{_UNRESERVED}{_SUB_DELIMITERS}:]+"
_UCSCHAR = (
    r"\u00A0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    + "".join(rf"\u{{{plane:X}0000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 14))
    + r"\u{E1000}-\u{EFFFD}"
)
_PRIVATE = r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"


class _Identifiers(NamedTuple):
    absolute: str
    reference: str


def _identifiers(more: str, more_in_query: str) -> _Identifiers:
    """URIs with members added to the class of unreserved characters, and to that of queries."""
    unreserved = _UNRESERVED + more

    def run(members: str, least: str) -> str:
        return f"(?:[{members}]|{_PERCENT_ENCODED}){least}"

    name = unreserved + _SUB_DELIMITERS
    path_characters = name + ":@"
    host = rf"(?:\[(?:{IPV6}|{_IPV_FUTURE})\]|{IPV4}|{run(name, '*')})"
    authority = f"(?:{run(name + ':', '*')}@)?{host}(?::[0-9]*)?"
    segment, segment_nz = run(path_characters, "*"), run(path_characters, "+")
    segment_nz_nc = run(name + "@", "+")
    path_abempty = f"(?:/{segment})*"
    path_absolute = f"/(?:{segment_nz}(?:/{segment})*)?"
    rootless = f"{segment_nz}(?:/{segment})*"
    noscheme = f"{segment_nz_nc}(?:/{segment})*"
    query = rf"(?:\?{run(path_characters + '/?' + more_in_query, '*')})?"
    fragment = f"(?:#{run(path_characters + '/?', '*')})?"
    hierarchy = f"(?://{authority}{path_abempty}|{path_absolute}|{rootless}|)"
    relative = f"(?://{authority}{path_abempty}|{path_absolute}|{noscheme}|)"
    absolute = f"{_SCHEME}:{hierarchy}{query}{fragment}"
    return _Identifiers(absolute, f"(?:{absolute}|{relative}{query}{fragment})")


URI, URI_REFERENCE = _identifiers("", "")
IRI, IRI_REFERENCE = _identifiers(_UCSCHAR, _PRIVATE)

_VARIABLE_CHARACTER = f"(?:[A-Za-z0-9_]|{_PERCENT_ENCODED})"
_VARIABLE = rf"{_VARIABLE_CHARACTER}(?:\.?{_VARIABLE_CHARACTER})*(?::[1-9][0-9]{{0,3}}|\*)?"
_EXPRESSION = rf"\{{[+#./;?&=,!@|]?{_VARIABLE}(?:,{_VARIABLE})*\}}"
_TEMPLATE_LITERAL = rf"[!#$&-;=?-\[\]_a-z~{_UCSCHAR}{_PRIVATE}]"
URI_TEMPLATE = f"(?:{_TEMPLATE_LITERAL}|{_PERCENT_ENCODED}|{_EXPRESSION})*"

UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

JSON_POINTER = "(?:/(?:[^/~]|~[01])*)*"
RELATIVE_JSON_POINTER = f"(?:0|[1-9][0-9]*)(?:#|{JSON_POINTER})"
