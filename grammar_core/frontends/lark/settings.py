"""`%grammar_options {…}` and `%llguidance {…}`: options of a whole grammar."""

from __future__ import annotations

from typing import Any, NoReturn

from grammar_core.frontends.lark.errors import LarkError
from grammar_core.frontends.lark.lexer import JsonText
from grammar_core.frontends.lark.namespace import Namespace

_SKIP = "allow_initial_skip"
# What the other dialect has beside: options that change nothing here, and ones that would mean a difference.
_WITHOUT_EFFECT = frozenset(("no_forcing", "verbose"))
_DIFFERENCES = {
    "ignore_once": "ignored text may be repeated here; write the repetition in the %ignore expression",
    "allow_invalid_utf8": "text is always valid UTF-8 here",
}


def read_settings(directive: str, settings: JsonText, text: str, namespace: Namespace) -> None:
    """Note the options in the namespace. Raises LarkError for others and for contradictions."""

    def refuse(message: str) -> NoReturn:
        raise LarkError.at(message, text, settings.begin)

    if not isinstance(settings.value, dict):
        refuse(f"{directive} takes a JSON object")
    for name, value in settings.value.items():
        if name == _SKIP:
            _set_initial_skip(namespace, value, refuse)
        elif directive == "%llguidance" and name in _WITHOUT_EFFECT:
            continue
        elif directive == "%llguidance" and name in _DIFFERENCES:
            if value:
                refuse(f"The option {name} is not part of this dialect: {_DIFFERENCES[name]}")
        else:
            refuse(f'Unknown option "{name}" in {directive}; there is {_SKIP}')


def _set_initial_skip(namespace: Namespace, value: Any, refuse: Any) -> None:
    if not isinstance(value, bool):
        refuse(f"The option {_SKIP} must be true or false")
    if namespace.initial_skip not in (None, value):
        refuse(f"The option {_SKIP} is set to true and to false")
    namespace.initial_skip = value
