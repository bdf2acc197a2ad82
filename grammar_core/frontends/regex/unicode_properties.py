r"""The characters of \p{…}: general categories, scripts and the binary properties of ECMAScript.

All of them but Changes_When_NFKC_Casefolded, and script names without regard to case, `_` and spaces.

The data is that of the package `regex`, which keeps up with Unicode; only its tables are used.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import regex

from grammar_core.ir.char_ranges import Ranges, normalize_ranges
from grammar_core.ir.nodes import FIRST_SURROGATE, LAST_SURROGATE, MAX_CODE_POINT

CATEGORIES = {
    "Cased_Letter": "LC", "Close_Punctuation": "Pe", "Connector_Punctuation": "Pc", "Control": "Cc",
    "Currency_Symbol": "Sc", "Dash_Punctuation": "Pd", "Decimal_Number": "Nd", "Enclosing_Mark": "Me",
    "Final_Punctuation": "Pf", "Format": "Cf", "Initial_Punctuation": "Pi", "Letter": "L",
    "Letter_Number": "Nl", "Line_Separator": "Zl", "Lowercase_Letter": "Ll", "Mark": "M",
    "Math_Symbol": "Sm", "Modifier_Letter": "Lm", "Modifier_Symbol": "Sk", "Nonspacing_Mark": "Mn",
    "Number": "N", "Open_Punctuation": "Ps", "Other": "C", "Other_Letter": "Lo", "Other_Number": "No",
    "Other_Punctuation": "Po", "Other_Symbol": "So", "Paragraph_Separator": "Zp", "Private_Use": "Co",
    "Punctuation": "P", "Separator": "Z", "Space_Separator": "Zs", "Spacing_Mark": "Mc",
    "Surrogate": "Cs", "Symbol": "S", "Titlecase_Letter": "Lt", "Unassigned": "Cn",
    "Uppercase_Letter": "Lu", "cntrl": "Cc", "digit": "Nd", "punct": "P", "Combining_Mark": "M",
}  # fmt: skip
BINARY_PROPERTIES = {
    "ASCII": "ASCII", "ASCII_Hex_Digit": "AHex", "Alphabetic": "Alpha", "Any": "Any",
    "Assigned": "Assigned", "Bidi_Control": "Bidi_C", "Bidi_Mirrored": "Bidi_M", "Case_Ignorable": "CI",
    "Cased": "Cased", "Changes_When_Casefolded": "CWCF", "Changes_When_Casemapped": "CWCM",
    "Changes_When_Lowercased": "CWL", "Changes_When_Titlecased": "CWT",
    "Changes_When_Uppercased": "CWU", "Dash": "Dash",
    "Default_Ignorable_Code_Point": "DI", "Deprecated": "Dep", "Diacritic": "Dia", "Emoji": "Emoji",
    "Emoji_Component": "EComp", "Emoji_Modifier": "EMod", "Emoji_Modifier_Base": "EBase",
    "Emoji_Presentation": "EPres", "Extended_Pictographic": "ExtPict", "Extender": "Ext",
    "Grapheme_Base": "Gr_Base", "Grapheme_Extend": "Gr_Ext", "Hex_Digit": "Hex",
    "IDS_Binary_Operator": "IDSB", "IDS_Trinary_Operator": "IDST", "ID_Continue": "IDC",
    "ID_Start": "IDS", "Ideographic": "Ideo", "Join_Control": "Join_C",
    "Logical_Order_Exception": "LOE", "Lowercase": "Lower", "Math": "Math",
    "Noncharacter_Code_Point": "NChar", "Pattern_Syntax": "Pat_Syn", "Pattern_White_Space": "Pat_WS",
    "Quotation_Mark": "QMark", "Radical": "Radical", "Regional_Indicator": "RI",
    "Sentence_Terminal": "STerm", "Soft_Dotted": "SD", "Terminal_Punctuation": "Term",
    "Unified_Ideograph": "UIdeo", "Uppercase": "Upper", "Variation_Selector": "VS",
    "White_Space": "space", "XID_Continue": "XIDC", "XID_Start": "XIDS",
}  # fmt: skip
_NAMED_PROPERTIES = {
    "General_Category": "gc", "gc": "gc", "Script": "sc", "sc": "sc",
    "Script_Extensions": "scx", "scx": "scx",
}  # fmt: skip
_SHORT_CATEGORIES = ", ".join(dict.fromkeys(CATEGORIES.values()))
_IS_CATEGORY = {*CATEGORIES, *CATEGORIES.values()}
_BINARY = {**{short: name for name, short in BINARY_PROPERTIES.items()}, **{n: n for n in BINARY_PROPERTIES}}
_SCRIPT_NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)*")


class UnknownPropertyError(ValueError):
    """There is no property, or no value of a property, of that name."""


@lru_cache(maxsize=512)
def property_ranges(text: str) -> Ranges:
    r"""The characters with the property between the braces of \p{…}. Raises UnknownPropertyError."""
    name, equals, value = text.partition("=")
    if not equals:
        return _lone(text)
    kind = _NAMED_PROPERTIES.get(name)
    if kind is None:
        known = ", ".join(name for name in _NAMED_PROPERTIES if "_" in name or name == "Script")
        raise UnknownPropertyError(f'The property "{name}" has no values; those that have are {known}')
    if kind == "gc":
        return _category(value)
    found = _script(kind, value)
    if found is None:
        message = f'The script "{value}" is not known; scripts have names such as Latin, Greek, Han or Hira'
        raise UnknownPropertyError(message)
    return found


def _lone(name: str) -> Ranges:
    if name in _IS_CATEGORY:
        return _category(name)
    if name in _BINARY:
        return _scan(f"\\p{{{_BINARY[name]}}}+")
    if _script("sc", name) is not None:
        raise UnknownPropertyError(f'"{name}" is a script: write \\p{{Script={name}}}')
    known = f"{_SHORT_CATEGORIES} and {', '.join(BINARY_PROPERTIES)}"
    raise UnknownPropertyError(f'The property "{name}" is not known; without a value there are {known}')


def _category(value: str) -> Ranges:
    if value not in _IS_CATEGORY:
        message = f'The general category "{value}" is not known; there are {_SHORT_CATEGORIES}'
        raise UnknownPropertyError(message)
    return _scan(f"\\p{{gc={CATEGORIES.get(value, value)}}}+")


def _script(kind: str, value: str) -> Ranges | None:
    if not _SCRIPT_NAME.fullmatch(value):
        return None
    try:
        return _scan(f"\\p{{{kind}={value}}}+")
    except regex.error:
        return None


def _scan(pattern: str) -> Ranges:
    """The characters that a pattern of the tables' package takes."""
    spans = (match.span() for match in regex.finditer(pattern, _every_character()))
    return normalize_ranges((_code(begin), _code(end - 1)) for begin, end in spans)


def _code(index: int) -> int:
    return index if index < FIRST_SURROGATE else index + LAST_SURROGATE - FIRST_SURROGATE + 1


@lru_cache(maxsize=1)
def _every_character() -> str:
    below = np.arange(FIRST_SURROGATE, dtype="<u4")
    above = np.arange(LAST_SURROGATE + 1, MAX_CODE_POINT + 1, dtype="<u4")
    return (below.tobytes() + above.tobytes()).decode("utf-32-le")
