"""The grammars in configs/grammars mean what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grammar_core.grammar import Grammar
from tests.oracle import Oracle

GRAMMARS = Path(__file__).parents[2] / "configs" / "grammars"

THREE_STRINGS = '[\n "How?",\n "Why not?",\n "Да?"\n]'
MIGRATION = """<think>
Ok, books first.
</think>
```yaml
operations:
  - operation: add_definition
    entity: book
    properties:
      id:
        type: uuid
        primary_key: true
      price:
        type: numeric(10,2)
        optional: true
      authors:
        elements:
          ref: author
      mood:
        enum:
          - "dark"
          - "darker"
  - operation: rename_property
    entity: book
    key: price
    new_key: cost
  - operation: add_endpoint
    method: GET
    path: /books
    text: "All books."
```"""

CASES = {
    "three_strings.ebnf": (
        [THREE_STRINGS],
        ['["a","b","c"]', THREE_STRINGS.replace("Why", "W\\hy"), THREE_STRINGS.replace("Why", "W\thy")],
    ),
    "json.ebnf": (
        ['{"a": [1, -2.5e3, "x\\u00e9é"], "b": {}}\n', " null", '"\\\\"', "[\t]", "0.5"],
        ['{"a": 12x}', "{'a': 1}", "[1,]", "01", '"\t"', '"\\x"', "nul", "1.", "{} {}"],
    ),
    "email.ebnf": (["user.123@somemail.com", "a@b.c.d"], ["a@b", "@b.c", "a@b.", "a b@c.d"]),
    "emoji.ebnf": (["🧑🏃🏠🫴🍖🐕🐕🍽️🍖❤️🧑", "🧑❤️🐕"], ["🧑", "🏃🏠", "🧑🏃", "🧑🍽🍖"]),
    "yaml_migration.ebnf": (
        [MIGRATION],
        [
            MIGRATION.replace("numeric(10,2)", "decimal"),
            MIGRATION.replace("new_key", "new_name"),
            MIGRATION.removesuffix("```"),
        ],
    ),
}


def oracle_of(name: str) -> Oracle:
    grammar = Grammar.from_ebnf((GRAMMARS / name).read_text("utf-8"))
    return Oracle(grammar.rules, grammar.root)


def test_every_shipped_grammar_has_a_case() -> None:
    assert sorted(file.name for file in GRAMMARS.iterdir()) == sorted(CASES)


@pytest.mark.parametrize("name", CASES)
def test_shipped_grammar(name: str) -> None:
    oracle = oracle_of(name)
    accepted, refused = CASES[name]
    for text in accepted:
        assert oracle.accepts(text.encode()), text
    for text in refused:
        assert not oracle.accepts(text.encode()), text


def test_migration_is_yaml() -> None:
    body = MIGRATION.partition("```yaml\n")[2].removesuffix("```")
    operations = yaml.safe_load(body)["operations"]
    assert operations[0]["properties"]["authors"] == {"elements": {"ref": "author"}}
    assert operations[1] == {
        "operation": "rename_property",
        "entity": "book",
        "key": "price",
        "new_key": "cost",
    }
