"""The pattern of tool calls: free text until a trigger, then what the trigger's tool says, and so on.

start: (tool | …)* tail      tail: any text      tool: head …      head: any text and a trigger
"""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from grammar_core.frontends.lark.errors import LarkError
from grammar_core.frontends.lark.namespace import Definition, Namespace, is_terminal_name, lexeme_name
from grammar_core.frontends.lark.patterns import ANY_TEXT
from grammar_core.ir.nodes import Choice, Expr, Literal, Repeat, RuleRef, Sequence, TokenSet


class Tool(NamedTuple):
    """A rule that a trigger calls: its name, its head's if it has one, and what follows the trigger."""

    definition: Definition
    head: Definition | None
    trigger: str | TokenSet
    payload: tuple[Expr, ...]


class Dispatch(NamedTuple):
    """The tools of a start rule of this shape, and its tail if that is a rule."""

    tools: tuple[Tool, ...]
    tail: Definition | None

    def consumed(self) -> list[Definition]:
        """The rules that the pattern takes up: heads, tools and the tail."""
        found = [self.tail] if self.tail is not None else []
        for tool in self.tools:
            found += [tool.definition, *([tool.head] if tool.head is not None else [])]
        return found


def find_dispatch(namespace: Namespace) -> Dispatch | None:
    """The dispatch that the start rule is, or None for any other grammar. Raises LarkError."""
    return _Recogniser(namespace).dispatch()


class _Recogniser:
    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._ignored = namespace.ignored_text()

    def dispatch(self) -> Dispatch | None:
        start = self._namespace.definitions["start"]
        body = start.body
        if start.spec.is_lexical or not isinstance(body, Sequence) or len(body.items) != 2:
            return None
        loop, tail = body.items
        if not isinstance(loop, Repeat) or (loop.min, loop.max) != (0, None):
            return None
        tail_rule = self.rule(tail)
        if not self.is_any_text(tail_rule.body if tail_rule is not None else tail):
            return None
        tools = [self._tool(option) for option in _options(loop.body)]
        found = tuple(tool for tool in tools if tool is not None)
        if len(found) < len(tools) or (tail_rule is not None and tail_rule.spec.is_lexical):
            return None
        self._check_triggers(found, start)
        return Dispatch(found, tail_rule)

    def rule(self, expr: Expr) -> Definition | None:
        """The rule of this grammar that the expression refers to."""
        if not isinstance(expr, RuleRef):
            return None
        definition = self._namespace.definitions.get(expr.name.removeprefix(self._namespace.prefix))
        return None if definition is None or definition.is_terminal else definition

    def is_any_text(self, expr: Expr) -> bool:
        """Whether the expression is an any-text terminal, maybe through others."""
        while isinstance(expr, RuleRef):
            name = expr.name.removeprefix(self._namespace.prefix)
            name = name[: -len(lexeme_name(""))] if name.endswith(lexeme_name("")) else name
            definition = self._namespace.definitions.get(name)
            if definition is None or not is_terminal_name(name):
                return False
            expr = definition.body
        return expr is ANY_TEXT

    def trigger(self, rule: Definition) -> str | TokenSet | None:
        """What ends the lazy rule, if it is any text and then a trigger."""
        if rule.spec.marker is not None:
            return rule.spec.marker.fixed if self.is_any_text(rule.body) else None
        body = rule.body
        if not rule.spec.options.lazy or not isinstance(body, Sequence) or len(body.items) != 2:
            return None
        if not self.is_any_text(body.items[0]):
            return None
        end = body.items[1]
        if isinstance(end, Literal) and end.value:
            return end.value.decode()
        return end if isinstance(end, TokenSet) else None

    def _tool(self, expr: Expr) -> Tool | None:
        rule = self.rule(expr)
        if rule is None or rule.spec.is_lexical:
            return None
        body = rule.body
        items = body.items if isinstance(body, Sequence) else (body,)
        if not items:
            return None
        head = self.rule(items[0])
        if head is not None:
            trigger = self.trigger(head) if head.spec.is_lexical else None
            return None if trigger is None else Tool(rule, head, trigger, items[1:])
        if len(items) > 1 and self.is_any_text(items[0]):
            token = self._core(items[1])
            if isinstance(token, TokenSet):
                return Tool(rule, None, token, items[2:])
        return None

    def _core(self, expr: Expr) -> Expr:
        """A lexeme without what may be ignored after it."""
        if isinstance(expr, Sequence) and len(expr.items) == 2:
            lexeme, after = expr.items
            if isinstance(after, RuleRef) and after == self._ignored:
                return lexeme
        return expr

    def _check_triggers(self, tools: tuple[Tool, ...], start: Definition) -> None:
        for tool in tools:
            if isinstance(tool.trigger, TokenSet) and tool.trigger.negated:
                refuse_negated_trigger(self._namespace, tool.head or tool.definition)
        if len({isinstance(tool.trigger, TokenSet) for tool in tools}) > 1:
            message = "The triggers of a dispatch are all strings or all special tokens, not both"
            raise LarkError.at(message, self._namespace.text, start.offset)


def refuse_negated_trigger(namespace: Namespace, rule: Definition) -> NoReturn:
    """Raise the error about a trigger that is any token but some."""
    message = f'The trigger of "{rule.name}" cannot be a negated set of tokens or the wildcard'
    raise LarkError.at(message, namespace.text, rule.offset)


def standalone_trigger(namespace: Namespace, rule: Definition) -> str | TokenSet | None:
    """What ends a lazy rule of any text and a trigger outside of the pattern. Raises LarkError."""
    trigger = _Recogniser(namespace).trigger(rule)
    if isinstance(trigger, str) and rule.has_regex_trigger:
        message = (
            f'The lazy rule "{rule.name}" is one regular expression of any text and then a fixed one, '
            "which only the head of a dispatched tool may be; write any text and the string apart"
        )
        raise LarkError.at(message, namespace.text, rule.offset)
    if isinstance(trigger, TokenSet) and trigger.negated:
        refuse_negated_trigger(namespace, rule)
    return trigger


def _options(expr: Expr) -> tuple[Expr, ...]:
    return expr.options if isinstance(expr, Choice) else (expr,)
