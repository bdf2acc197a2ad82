"""`%regex {…}`: the runs of neighbouring characters, words or chunks of a text."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from grammar_core.frontends.lark.errors import LarkError
from grammar_core.frontends.lark.lexer import JsonText
from grammar_core.ir.nodes import Substring

# A word, a run of white space, or a run of anything else.
_WORDS = re.compile(r"\w+|\s+|[^\w\s]+")
_FORMS = ("substring_chars", "substring_words", "substring_chunks")


def read_substring(found: JsonText, text: str) -> Substring:
    """The node that the JSON object describes. Raises LarkError."""

    def refuse(message: str) -> NoReturn:
        raise LarkError.at(message, text, found.begin)

    value = found.value
    if not isinstance(value, dict) or len(value) != 1:
        refuse(f"%regex takes a JSON object with one of {', '.join(_FORMS)}")
    ((form, source),) = value.items()
    if form not in _FORMS:
        refuse(f'Unknown member "{form}" in %regex; there are {", ".join(_FORMS)}')
    chunks = _chunks(form, source, refuse)
    for chunk in chunks:
        if not _is_text(chunk):
            refuse("Half of a surrogate pair is not a character")
    return Substring(chunks)


def _chunks(form: str, source: Any, refuse: Any) -> tuple[str, ...]:
    if form == "substring_chunks":
        if not isinstance(source, list) or not all(isinstance(chunk, str) for chunk in source):
            refuse("substring_chunks is a list of strings")
        return tuple(source)
    if not isinstance(source, str):
        refuse(f"{form} is a string")
    return tuple(source) if form == "substring_chars" else tuple(_WORDS.findall(source))


def _is_text(chunk: str) -> bool:
    try:
        chunk.encode()
    except UnicodeEncodeError:
        return False
    return True
