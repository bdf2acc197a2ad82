"""Checks of a namespace's names: all are defined, and terminals do not use one another in a circle."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from grammar_core.frontends.lark.errors import LarkError, UndefinedNameError
from grammar_core.frontends.lark.namespace import Definition, Namespace, is_terminal_name

_MOST_NAMES_TO_COMPARE = 2_000
_LONGEST_CHAIN = 20


def check_names(namespace: Namespace) -> None:
    """Raise LarkError unless there is a start rule and every name that is used is defined."""
    definitions = namespace.definitions
    if "start" not in definitions:
        message = "The grammar needs a rule named start"
        raise UndefinedNameError.at(message, namespace.text, namespace.offset)
    missing = namespace.first_uses.keys() - definitions.keys()
    if missing:
        name = min(missing, key=namespace.first_uses.__getitem__)
        kind = "Terminal" if is_terminal_name(name) else "Rule"
        message = f'{kind} "{name}" is not defined{_hint(name, definitions)}'
        raise UndefinedNameError.at(message, namespace.text, namespace.first_uses[name])


def terminal_order(namespace: Namespace) -> list[Definition]:
    """The terminals, each after those it uses. Raises LarkError where they use one another in a circle."""
    definitions = namespace.definitions
    terminals = [definition for definition in definitions.values() if definition.is_terminal]
    if not any(terminal.uses for terminal in terminals):
        return terminals
    sorter = TopologicalSorter({terminal.name: terminal.uses for terminal in terminals})
    try:
        return [definitions[name] for name in sorter.static_order()]
    except CycleError as error:
        names: list[str] = error.args[1][::-1]
        shown = names if len(names) <= _LONGEST_CHAIN else [*names[:_LONGEST_CHAIN], "…"]
        message = f"Terminals cannot be recursive: {' -> '.join(shown)}"
        raise LarkError.at(message, namespace.text, definitions[names[0]].offset) from None


def _hint(name: str, definitions: Iterable[str]) -> str:
    known = list(definitions)
    if len(known) > _MOST_NAMES_TO_COMPARE:
        return ""
    similar = difflib.get_close_matches(name, known, n=1)
    return f'; did you mean "{similar[0]}"?' if similar else ""
