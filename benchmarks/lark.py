"""Compares engines on Lark grammars with something ignored: ``python -m benchmarks.lark``.

One is JSON. The other, of 600 lines, is a dialect of SQL with keywords in capitals and names in small
letters; a last table has it with both in any case, where every name may begin with a keyword. Everything else
is as in ``benchmarks.masks``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.engines import Compiled, Engine, GlrmaskEngine, LlguidanceEngine, OurEngine, XGrammarEngine
from benchmarks.grammars import BenchGrammar
from benchmarks.masks import heading, section
from benchmarks.measure import warm_up
from benchmarks.texts import json_texts
from benchmarks.tokenisations import TokenIndex, tokenise
from benchmarks.vocabulary import BenchVocabulary, load_qwen3

_GRAMMAR = Path(__file__).parent / "grammars" / "sql_dialect.lark"
_RESULTS = Path(__file__).parent / "results"
_MASK_BYTES = 1 << 30
_KEYWORD = re.compile(r'"[A-Z_]+"')
_JSON = r"""
%import common (ESCAPED_STRING, SIGNED_NUMBER, WS)
%ignore WS
start: value
?value: object | array | ESCAPED_STRING | SIGNED_NUMBER | "true" | "false" | "null"
object: "{" [pair ("," pair)*] "}"
pair: ESCAPED_STRING ":" value
array: "[" [value ("," value)*] "]"
"""
_TEXTS = (
    """SELECT c.name, count(*) AS orders, sum(o.total) FILTER (WHERE o.paid) AS paid
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.id AND o.state <> 'cancelled' -- the others
WHERE c.created BETWEEN DATE '2024-01-01' AND CURRENT_DATE AND (c.city IN ('Oslo', 'Rjukan') OR c.vip)
GROUP BY c.name HAVING count(*) > 3 ORDER BY orders DESC NULLS LAST, c.name LIMIT 20 OFFSET 40;""",
    """WITH RECURSIVE tree(id, parent_id, depth) AS (
  SELECT id, parent_id, 0 FROM nodes WHERE parent_id IS NULL
  UNION ALL
  SELECT n.id, n.parent_id, t.depth + 1 FROM nodes AS n JOIN tree AS t ON n.parent_id = t.id
)
SELECT id, depth, row_number() OVER (PARTITION BY depth ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
FROM tree;""",
    """CREATE TABLE IF NOT EXISTS shop.orders (
  id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES shop.customers (id) ON DELETE CASCADE,
  total NUMERIC(10, 2) DEFAULT 0 CHECK (total >= 0),
  placed_at TIMESTAMP(3) WITH TIME ZONE DEFAULT CURRENT_TIMESTAMP,
  tags TEXT[],
  UNIQUE (customer_id, placed_at)
);""",
    """INSERT INTO stock AS s (sku, amount) VALUES ('A-1', 5), ('B-2', CASE WHEN 1 > 2 THEN 3 ELSE 4 END)
ON CONFLICT (sku) DO UPDATE SET amount = s.amount + 1 WHERE s.sku LIKE 'A%' RETURNING sku;
UPDATE accounts SET balance = balance - $1, note = 'it''s' WHERE id = (SELECT max(a.id) FROM accounts AS a);
/* and at last */ ALTER TABLE users ADD COLUMN email VARCHAR(320), DROP CONSTRAINT IF EXISTS old CASCADE;""",
)


class OurLarkEngine(OurEngine):
    """This project, given the Lark text, with room for the masks of a large grammar."""

    name = "syntagma, 1 GiB of masks"

    def __init__(self, vocabulary: BenchVocabulary) -> None:
        super().__init__(vocabulary)
        self._compiler = self._api.GrammarCompiler(
            self._info, cache_enabled=False, mask_limit_bytes=_MASK_BYTES
        )

    def compile(self, grammar: BenchGrammar) -> Compiled:
        compiled = self._compiler.compile_lark(grammar.lark)
        return Compiled(partial(self._start, compiled), lambda: int(compiled.memory_size_bytes))


_BUILDERS: dict[str, Callable[[BenchVocabulary], Engine]] = {
    "syntagma": OurLarkEngine,
    "llguidance": LlguidanceEngine,
    "glrmask": partial(GlrmaskEngine, strategy="TOKEN_TRIE"),
    "xgrammar": partial(XGrammarEngine, dialect="Lark"),
}


def run(
    engine: Annotated[list[str] | None, typer.Option(help=f"only these of {', '.join(_BUILDERS)}")] = None,
    limit: Annotated[float, typer.Option(help="seconds that each replay of an engine may take")] = 10.0,
    write: Annotated[str | None, typer.Option(help="also write results/NAME.md")] = None,
) -> None:
    """Time every engine on both grammars and print a table for each."""
    vocabulary = load_qwen3()
    index = TokenIndex(vocabulary.info.text_vocab)
    engines = [_BUILDERS[name](vocabulary) for name in engine or _BUILDERS]
    for one in engines:
        warm_up(one)
    report = [heading("Lark grammars", vocabulary, limit)]
    for grammar in _grammars():
        report.append(section(grammar, engines, tokenise(grammar, vocabulary, index), vocabulary, limit))
    print("\n".join(report))
    if write:
        (_RESULTS / f"{write}.md").write_text("\n".join(report) + "\n", encoding="utf-8")


def _grammars() -> list[BenchGrammar]:
    lark = _GRAMMAR.read_text(encoding="utf-8")
    any_case = _KEYWORD.sub(lambda keyword: f"{keyword[0]}i", lark).replace("/[a-z_]", "/[a-zA-Z_]")
    capitals = "SQL, keywords in capitals and names in small letters"
    return [
        BenchGrammar("json_ignore", "JSON, white space ignored", "", _JSON, None, json_texts()),
        BenchGrammar("sql_dialect", capitals, "", lark, None, _TEXTS),
        BenchGrammar("sql_any_case", "SQL, keywords and names in any case", "", any_case, None, _TEXTS),
    ]


if __name__ == "__main__":
    typer.run(run)
