"""Rules as text with a dot: what stands right of it is what may come."""

from __future__ import annotations

from grammar_core.diagnostics.network import END, INSIDE_MACRO, Network, Path, Place
from grammar_core.ir.nodes import Choice, Expr, Literal, Repeat, RuleRef, Sequence
from grammar_core.ir.printer import print_expression

DOT = "•"
_WIDTH = 100
_ELLIPSIS = "…"


def dotted_rule(network: Network, place: Place) -> str:
    """The rule of a network with the dot at a place, such as `value ::= "{" members • "}"`."""
    body = network.rule.body
    dotted = Sequence((*_items(body), RuleRef(DOT))) if place == END else _with_dot(body, place)
    return f"{network.rule.name} ::= {print_expression(dotted)}"


def around_dot(item: str, width: int = _WIDTH) -> str:
    """A dotted rule of at most about `width` characters, shortened at a distance from the dot."""
    name, separator, body = item.partition(" ::= ")
    if len(body) <= width:
        return item
    dot = body.index(DOT)
    begin = max(0, min(dot - width // 2, len(body) - width))
    lead = _ELLIPSIS if begin else ""
    tail = _ELLIPSIS if begin + width < len(body) else ""
    return f"{name}{separator}{lead}{body[begin : begin + width]}{tail}"


def _with_dot(body: Expr, place: Place) -> Expr:
    positions = _positions(place.path)
    chain = [body]
    for position in positions:
        chain.append(_child(chain[-1], position))
    expr = _dotted(chain.pop(), place.read)
    for position in reversed(positions):
        expr = _with_child(chain.pop(), position, expr)
    return expr


def _positions(path: Path) -> list[int]:
    """The positions from the body down."""
    positions: list[int] = []
    while path is not None:
        path, position = path
        positions.append(position)
    return positions[::-1]


def _dotted(expr: Expr, read: int) -> Expr:
    dot = RuleRef(DOT)
    if read == INSIDE_MACRO:
        # What goes on inside of a macro is not visible in its arguments.
        return RuleRef(f"{print_expression(expr).removesuffix(')')} {DOT})")
    if read == 0:
        return Sequence((dot, *_items(expr)))
    assert isinstance(expr, Literal)
    text = expr.value.decode()
    return Sequence((Literal(text[:read].encode()), dot, Literal(text[read:].encode())))


def _items(expr: Expr) -> tuple[Expr, ...]:
    return expr.items if isinstance(expr, Sequence) else (expr,)


def _child(expr: Expr, position: int) -> Expr:
    if isinstance(expr, Sequence):
        return expr.items[position]
    if isinstance(expr, Choice):
        return expr.options[position]
    assert isinstance(expr, Repeat)
    return expr.body


def _with_child(expr: Expr, position: int, child: Expr) -> Expr:
    if isinstance(expr, Repeat):
        if isinstance(child, Sequence) and len(child.items) == 2 and child.items[0] == RuleRef(DOT):
            return Sequence((child.items[0], expr))  # `• x?` and not `(• x)?`
        return expr._replace(body=child)
    if isinstance(expr, Choice):
        return Choice((*expr.options[:position], child, *expr.options[position + 1 :]))
    assert isinstance(expr, Sequence)
    # A dot among the items needs no parentheses.
    is_dotted_here = isinstance(child, Sequence) and RuleRef(DOT) in child.items
    inserted = child.items if is_dotted_here and isinstance(child, Sequence) else (child,)
    return Sequence((*expr.items[:position], *inserted, *expr.items[position + 1 :]))
