"""Valid texts for each grammar of the benchmark: written by hand, or drawn with a fixed seed."""

from __future__ import annotations

import json
import random
from typing import Any

_SEED = 20240607


def json_texts() -> tuple[str, ...]:
    """Compact, indented and nested values, with escapes and other scripts."""
    rng = random.Random(_SEED)
    order = {
        "order_id": 184467,
        "customer": {"name": "Ana García", "email": "ana@example.org", "vip": True, "notes": None},
        "lines": [
            {"sku": "A-100", "title": "USB-C cable, 2 m", "quantity": 2, "price": 9.95},
            {"sku": "B-220", "title": 'Mechanical keyboard "Плюс"', "quantity": 1, "price": 129.0},
        ],
        "tags": ["gift", "fragile", "東京"],
        "total": 148.9,
    }
    drawn = [_random_json(rng, 3) for _ in range(3)]
    return (
        json.dumps(order, ensure_ascii=False),
        json.dumps(order, indent=2),
        json.dumps([order["lines"], drawn], separators=(",", ":"), ensure_ascii=False),
        json.dumps({"data": drawn}, indent=4, ensure_ascii=False),
    )


def _random_json(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(7 if depth else 5)
    if kind == 5:
        return [_random_json(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    if kind == 6:
        return {_random_words(rng, 1): _random_json(rng, depth - 1) for _ in range(rng.randint(0, 5))}
    leaves = (rng.randint(-10000, 10000), round(rng.uniform(1, 9), 4), rng.random() < 0.5, None)
    return leaves[kind] if kind < 4 else _random_words(rng, rng.randint(1, 9))


_WORDS = (
    *(
        "value",
        "result",
        "the",
        "of",
        "user",
        "naïve",
        "index",
        "数据",
        "état",
        "price",
        "status",
        "über",
        "report",
    ),
    *(
        "мир",
        "time",
        "a",
        "line",
        "ok",
        "first",
        "parent",
        "café",
        "error",
        "message",
        "node",
        "süß",
        "日本",
        "path",
    ),
)


def _random_words(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(count))


def migration_texts() -> tuple[str, ...]:
    """A first model of a shop, and two changes of it."""
    thinking = (
        "<think>\nOk, the user wants a data model for an online book shop: books, authors and orders;\n"
        "books belong to an author, orders hold several books. Пользователь просит также страницы каталога.\n"
        "I will start from the definitions and then describe the application.\n</think>\n```yaml\n"
    )
    return (
        thinking + _SHOP + "\n```",
        "<think>\nOk, a book can have several authors.\n</think>\n```yaml\n" + _MANY_AUTHORS + "\n```",
        "<think>\nOk, \n</think>\n```yaml\n" + _PAGES + "\n```",
    )


_SHOP = """operations:
  - operation: add_definition
    entity: author
    properties:
      id:
        type: uuid
        primary_key: true
      name:
        type: varchar(120)
      born:
        type: date
        optional: true
  - operation: add_definition
    entity: book
    properties:
      id:
        type: bigserial
        primary_key: true
      title:
        type: text
      author:
        ref: author
      price:
        type: numeric(10,2)
      genre:
        enum:
          - "horror"
          - "gothic novel"
          - "детектив"
      tags:
        elements:
          type: text
        optional: true
      published_at:
        type: timestamp with time zone
  - operation: update_description
    text: "A shop for horror books where users browse, buy and review. Admins manage the catalogue.\""""

_MANY_AUTHORS = """operations:
  - operation: remove_property
    entity: book
    key: author
  - operation: add_property
    entity: book
    key: authors
    schema:
      elements:
        ref: author
  - operation: rename_property
    entity: author
    key: name
    new_key: full_name
  - operation: replace_enum
    entity: book
    key: genre
    enum:
      - "horror"
      - "science fiction"
  - operation: update_description
    text: "Books can have multiple authors.\""""

_PAGES = """operations:
  - operation: add_user_stories
    stories:
      - id: 12
        as_a: "reader"
        i_want: "to see all books of an author"
      - id: 13
        as_a: "admin"
        i_want: "to change a price"
  - operation: add_ui_page
    page: author_books
    title: "Books by author"
    entities:
      - author
      - book
  - operation: add_endpoint
    method: GET
    path: /api/v1/authors/{author_id}/books
    description: "All books of one author"
    entity: book
  - operation: remove_endpoint
    method: DELETE
    path: /api/v1/books"""


def free_texts() -> tuple[str, ...]:
    """Prose, code and several scripts after the opening tag."""
    prose = (
        "The mask of a step says which tokens may follow. Most steps of prose allow nearly all of them, so "
        "the cheapest answer is the one given before.\n\n1. Read the request.\n2. Write it — slowly.\n"
    )
    mixed = "Größe, naïveté, Привет мир, 你好世界, こんにちは, مرحبا, 👩‍👩‍👧 🚀🚀, Ω≈ç√∫, \u0000\t</a><b>\n"
    code = "def f(x: int) -> list[int]:\n    return [y ** 2 for y in range(x) if y % 3 != 0]  # squares\n"
    return ("<a>" + prose * 2, "<a>" + mixed * 3, "<a>" + code * 3)


def arithmetic_texts() -> tuple[str, ...]:
    """Two by hand, and some that are drawn."""
    rng = random.Random(_SEED)
    return (
        "1 + 2 * (x - 3) / 4.5 - -y * max(alpha, beta_2, 10) + sqrt(a*a + b*b)",
        "((((total_price - discount) * (1 + vat / 100)) + shipping) * exchange_rate) / number_of_items",
        *(_random_arithmetic(rng, 5) for _ in range(5)),
    )


def _random_arithmetic(rng: random.Random, depth: int) -> str:
    kind = rng.randrange(8) if depth else 0
    if kind <= 1:
        return rng.choice((str(rng.randint(0, 99999)), f"{rng.uniform(0, 100):.2f}", "x", "rate", "item_7"))
    if kind == 2:
        return f"({_random_arithmetic(rng, depth - 1)})"
    if kind == 3:
        return f"{rng.choice(('f', 'round', 'log2'))}({_random_arithmetic(rng, depth - 1)})"
    operator = rng.choice(("+", "-", "*", "/", " + ", " - ", " * ", " / "))
    return f"{_random_arithmetic(rng, depth - 1)}{operator}{_random_arithmetic(rng, depth - 1)}"


def sql_texts() -> tuple[str, ...]:
    """Queries and changes of the kind a model writes."""
    return (
        "SELECT name, age FROM users WHERE age > 25 AND name = 'Андрей' ORDER BY age DESC LIMIT 10",
        "SELECT c.name AS customer, count(*) AS orders, sum(o.total_price) AS revenue\nFROM customers AS c\n"
        "LEFT JOIN orders AS o ON o.customer_id = c.id\nWHERE o.created_at BETWEEN '2024-01-01' "
        "AND '2024-12-31'\n  AND NOT c.deleted\nGROUP BY c.name\nHAVING sum(o.total_price) > 1000.50\n"
        "ORDER BY revenue DESC NULLS LAST, customer\nLIMIT 20 OFFSET 40;",
        "INSERT INTO products (name, price, stock) VALUES ('Keyboard', 129.99, 12), ('Mouse ''M1''', 25, "
        "NULL), ('Monitor 27\"', 310.00, 4 + 2 * 3)",
        "UPDATE accounts SET balance = balance - 100, updated_by = 'system' WHERE id IN (1, 2, 3) "
        "OR owner LIKE 'A%'",
        "SELECT DISTINCT CASE WHEN t.amount >= 100 THEN 'large' WHEN t.amount IS NULL THEN 'none' "
        "ELSE 'small' END AS bucket FROM (SELECT amount, region FROM payments WHERE region NOT IN "
        "(SELECT code FROM blocked)) AS t UNION ALL SELECT 'total' FROM dual;\n"
        "DELETE FROM sessions WHERE expires_at < now()",
    )


def letter_texts() -> tuple[str, ...]:
    """Words without spaces: a short one, 500 letters of English and 2,000 drawn letters."""
    rng = random.Random(_SEED)
    english = "thequickbrownfoxjumpsoverthelazydogandthenrunsawaythroughtheforestuntilnightfalls"
    return (
        "internationalization",
        (english * 7)[:500],
        "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(2000)),
    )
