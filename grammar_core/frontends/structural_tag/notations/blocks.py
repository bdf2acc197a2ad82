"""Rules of JSON schemas that are kept for other structural tags with the same schemas.

A set of tools comes with every request of a conversation, and parts of it with other requests.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from grammar_core.cache import BoundedCache
from grammar_core.frontends.json_schema.documents import Documents
from grammar_core.frontends.json_schema.emission import Emitter
from grammar_core.frontends.json_schema.expansion import Expander
from grammar_core.frontends.json_schema.goals import ANY
from grammar_core.frontends.json_schema.leaves import RECURRING
from grammar_core.frontends.structural_tag.notations.notation import NotationOptions
from grammar_core.ir.nodes import Rule, RuleRef

MEMORY_LIMIT_BYTES = 64 * 1024 * 1024
_BYTES_A_RULE = 1_500
_BYTES_A_BLOCK = 4_000


class SchemaBlock(NamedTuple):
    """The rules of one schema: its own, whose names no other has, and those that are the same in all."""

    root: RuleRef
    own: tuple[Rule, ...]
    shared: tuple[Rule, ...]


def schema_block(text: str, options: NotationOptions) -> SchemaBlock:
    """The rules of a schema, which is JSON text, without those of the layout. Raises JsonSchemaError."""
    key = (text, options)
    found = _BLOCKS.find(key)
    if found is None:
        found = _build(text, options)
        _BLOCKS.put(key, found, _size(text, found))
    return found


def _size(text: str, block: SchemaBlock) -> int:
    """About the bytes that the block takes together with its lowered form."""
    return _BYTES_A_BLOCK + sys.getsizeof(text) * 2 + len(block.own) * _BYTES_A_RULE


class _BlockEmitter(Emitter):
    """Writes rules of which only those that depend on the schema have names of their own."""

    shares_rules = True

    def __init__(self, expander: Expander, options: NotationOptions, prefix: str) -> None:
        super().__init__(
            expander,
            options.layout(),
            lexical="natural",
            any_order=options.any_order,
            is_strict=options.strict_mode,
            recurring=RECURRING,
            prefix=prefix,
        )
        self._options = options

    def _define_any(self) -> RuleRef:
        self.rules += _any_rules(self._options)
        return RuleRef("json_value")


@lru_cache(maxsize=64)
def _any_rules(options: NotationOptions) -> tuple[Rule, ...]:
    """The rules of any JSON value, of which only the white space and the order of keys are options."""
    emitter = Emitter(
        Expander(Documents("true", {}), loosen=frozenset()),
        options.layout(),
        lexical="natural",
        any_order=options.any_order,
        is_strict=options.strict_mode,
        recurring=RECURRING,
    )
    emitter.value(ANY, 0)
    return tuple(emitter.rules)


def _build(text: str, options: NotationOptions) -> SchemaBlock:
    digest = blake2b(f"{text}\0{options}".encode(errors="replace"), digest_size=8).hexdigest()
    prefix = f"schema.{digest}."
    expander = Expander(Documents(text, {}), loosen=options.loosen)
    emitter = _BlockEmitter(expander, options, prefix)
    root = emitter.emit_value(expander.root_goal())
    own: list[Rule] = []
    shared: dict[str, Rule] = {}
    for rule in emitter.rules:
        if rule.name.startswith(prefix):
            own.append(rule)
        else:
            shared[rule.name] = rule
    return SchemaBlock(root, tuple(own), tuple(shared.values()))


_BLOCKS = BoundedCache[SchemaBlock](MEMORY_LIMIT_BYTES)
