"""A dispatch as TagDispatch or TokenTagDispatch, and what its rules may ask for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from itertools import product
from typing import TypeVar

from grammar_core.frontends.lark.dispatch import Dispatch, Tool
from grammar_core.frontends.lark.errors import LarkError
from grammar_core.frontends.lark.namespace import Definition, Namespace, lexeme_name
from grammar_core.ir.nodes import (
    Choice,
    Expr,
    Literal,
    Repeat,
    Rule,
    RuleOptions,
    RuleRef,
    Sequence,
    TagDispatch,
    TokenSet,
    TokenTagDispatch,
)
from grammar_core.ir.traversal import walk_expressions

_LOG = logging.getLogger("grammar_core")
_REFUSED = ("capture", "max_tokens", "temperature")

Key = TypeVar("Key")
Add = Callable[..., RuleRef]
"""Adds a rule of this name, body and, if any, options."""


def until(trigger: str | TokenSet, end: RuleRef) -> Expr:
    """Any text up to the first trigger, and then `end`; or any text without a trigger."""
    if isinstance(trigger, str):
        return TagDispatch(((trigger, end),), False, ())
    return TokenTagDispatch(tuple((token_id, end) for token_id in trigger.ids), False, ())


class DispatchLowering:
    """Makes the body of the start rule a dispatch, and adds a rule for what follows each trigger."""

    def __init__(self, namespace: Namespace, dispatch: Dispatch, add: Add) -> None:
        self._namespace = namespace
        self._dispatch = dispatch
        self._add = add
        self._prefix = namespace.prefix

    def lower(self) -> None:
        """Replace the body of the start rule. Raises LarkError for options that its rules cannot have."""
        self._check_options()
        tools = self._dispatch.tools
        start = self._namespace.definitions["start"]
        calls = [(tool, self._add_call(tool)) for tool in tools]
        if any(self._is_captured(tool) for tool in tools):
            start.body = self._with_markers(calls)
        elif isinstance(tools[0].trigger, TokenSet):
            ids = [
                (i, call)
                for tool, call in calls
                if isinstance(tool.trigger, TokenSet)
                for i in tool.trigger.ids
            ]
            start.body = TokenTagDispatch(tuple(self._joined(ids).items()), True, ())
        else:
            tags = [(tool.trigger, call) for tool, call in calls if isinstance(tool.trigger, str)]
            start.body = TagDispatch(tuple(self._joined(tags).items()), True, ())

    def unused(self, rules: Mapping[str, Rule]) -> set[str]:
        """The definitions that nothing but the dispatch used, now that `rules` stand for it."""
        definitions = self._namespace.definitions
        consumed = [definition.name for definition in self._dispatch.consumed()]
        candidates = self._reached([definitions[name].body for name in consumed]) | set(consumed)
        candidates = {name for name in candidates if name in consumed or definitions[name].is_terminal}
        kept = [d.body for name, d in definitions.items() if name not in candidates]
        return candidates - self._reached([*kept, *(rule.body for rule in rules.values())])

    def _reached(self, bodies: list[Expr]) -> set[str]:
        """The definitions that the bodies refer to, through others too."""
        reached: set[str] = set()
        pending = list(bodies)
        while pending:
            for expr in walk_expressions(pending.pop()):
                if isinstance(expr, RuleRef):
                    name = expr.name.removeprefix(self._prefix).removesuffix(lexeme_name(""))
                    definition = self._namespace.definitions.get(name)
                    if definition is not None and name not in reached:
                        reached.add(name)
                        pending.append(definition.body)
        return reached | self._uses_of_ignored()

    def _uses_of_ignored(self) -> set[str]:
        return set(self._namespace.ignored_uses)

    def _add_call(self, tool: Tool) -> RuleRef:
        name = f"{self._prefix}{tool.definition.name}.call"
        first = (self._namespace.ignored_text(),) if self._namespace.weaves else ()
        return self._add(name, Sequence((*first, *tool.payload)))

    def _joined(self, calls: list[tuple[Key, RuleRef]]) -> dict[Key, RuleRef]:
        """One rule for each trigger: a choice where several tools share it."""
        by_trigger: dict[Key, list[RuleRef]] = {}
        for trigger, call in calls:
            by_trigger.setdefault(trigger, []).append(call)
        return {trigger: self._one_of(rules) for trigger, rules in by_trigger.items()}

    def _one_of(self, rules: list[RuleRef]) -> RuleRef:
        distinct = list(dict.fromkeys(rules))
        if len(distinct) == 1:
            return distinct[0]
        return self._add(f"{distinct[0].name}.any", Choice(tuple(distinct)))

    # markers that captures can tell from other text

    def _is_captured(self, tool: Tool) -> bool:
        """Whether some capture is of the trigger, or of a text that it has to be left out of."""
        if tool.head is None or tool.head.spec.marker is None:
            return False
        if tool.head.spec.options.stop_capture is not None:
            return True
        captures = self._prefix or any(d.spec.options.capture for d in self._namespace.definitions.values())
        return tool.head.spec.marker.kind == "stop" and bool(captures)

    def _with_markers(self, calls: list[tuple[Tool, RuleRef]]) -> Expr:
        """The same dispatch as an ordinary grammar, in which triggers are rules."""
        triggers = [tool.trigger for tool, _ in calls if isinstance(tool.trigger, str)]
        self._check_overlaps(triggers)
        free = TagDispatch((), True, tuple(dict.fromkeys(triggers)))
        options = [Sequence((self._marker(tool), call)) for tool, call in calls]
        return Sequence((Repeat(Sequence((free, Choice(tuple(options)))), 0, None), free))

    def _marker(self, tool: Tool) -> Expr:
        assert isinstance(tool.trigger, str)
        assert tool.head is not None
        text = Literal(tool.trigger.encode())
        marker = tool.head.spec.marker
        if marker is None:
            return text
        options = RuleOptions(stop_capture=tool.head.spec.options.stop_capture)
        if marker.kind == "stop":
            options = options._replace(capture_hidden_stop_bytes=len(text.value))
        else:
            options = options._replace(capture_hidden_suffix_bytes=len(text.value))
        return self._add(f"{self._prefix}{tool.head.name}.marker", text, options)

    def _check_overlaps(self, triggers: list[str]) -> None:
        for one, other in product(dict.fromkeys(triggers), repeat=2):
            ends = any(one.endswith(other[:end]) for end in range(1, min(len(one), len(other))))
            inside = one != other and one in other
            if ends or inside or one in other[:-1]:
                message = (
                    f'The triggers "{one}" and "{other}" overlap, so that captures cannot tell where one '
                    "begins; leave out stop_capture and stop"
                )
                raise LarkError.at(message, self._namespace.text, self._namespace.definitions["start"].offset)

    # options

    def _check_options(self) -> None:
        start = self._namespace.definitions["start"]
        for rule in dict.fromkeys(definition.name for definition in self._dispatch.consumed()):
            definition = self._namespace.definitions[rule]
            for name in _REFUSED:
                offset = definition.spec.offset_of(name)
                if offset is not None:
                    message = f'The option {name} is not supported on "{rule}", which a dispatch takes up'
                    raise LarkError.at(message, self._namespace.text, offset)
            _drop_max_chars(definition)
        _drop_max_chars(start)


def _drop_max_chars(definition: Definition) -> None:
    """A budget of characters does not apply to the rules of a dispatch, which is worth a warning."""
    if definition.spec.options.max_chars is not None:
        _LOG.warning('max_chars of the rule "%s" is ignored: it is part of a dispatch', definition.name)
        options = definition.spec.options._replace(max_chars=None)
        definition.spec = definition.spec._replace(options=options)
