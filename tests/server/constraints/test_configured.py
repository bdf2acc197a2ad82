"""Grammars of the server's configuration, and requests that name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from grammar_core import GrammarCompiler, GrammarMatcher, TokenizerInfo
from server.app import create_app
from server.constraints.configured import ConfiguredGrammarError, load_configured_grammars
from server.settings import ServerSettings, SettingsError, load_settings
from tests.server.fakes import FakeEngine, fake_backend
from tests.server.running_server import running_server

URL = "/v1/chat/completions"
SQL = 'root ::= "select " column " from " table\ncolumn ::= [a-z]+\ntable ::= [a-z]+'
BYTES = TokenizerInfo([*(bytes([byte]) for byte in range(256)), "</s>"], stop_token_ids=[256])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    files = {"sql": tmp_path / "sql.ebnf", "letters": tmp_path / "letters.lark"}
    files["sql"].write_text(SQL, "utf-8")
    files["letters"].write_text("start: /[a-z]+/", "utf-8")
    return files


@pytest.fixture
def client(files: dict[str, Path], engine: FakeEngine) -> Iterator[httpx.Client]:
    app = create_app(
        ServerSettings(grammars=files, access_log=False), open_backend=lambda _: fake_backend(engine)
    )
    with running_server(app) as url, httpx.Client(base_url=url, timeout=10) as client:
        yield client


def post(client: httpx.Client, **fields: Any) -> httpx.Response:
    return client.post(URL, json={"messages": [{"role": "user", "content": "hi"}], **fields})


def accepts(engine: FakeEngine, text: str) -> bool:
    grammar: Any = engine.requests[-1].grammar  # the compiler of the tests builds and does not compile
    matcher = GrammarMatcher(GrammarCompiler(BYTES).compile_grammar(grammar))
    return matcher.accept_string(text) and matcher.is_completed()


def test_request_names_a_grammar(client: httpx.Client, engine: FakeEngine) -> None:
    assert post(client, grammar_ref="sql").status_code == 200
    assert accepts(engine, "select a from b")
    assert post(client, grammar_ref="letters").status_code == 200
    assert accepts(engine, "abc")


def test_request_replaces_rules(client: httpx.Client, engine: FakeEngine) -> None:
    rules = {"table": ["users", "orders"], "column": '"id" | "name"'}
    assert post(client, grammar_ref="sql", grammar_rules=rules).status_code == 200
    assert accepts(engine, "select id from users")
    assert not accepts(engine, "select id from others")


@pytest.mark.parametrize(
    ("fields", "param", "words"),
    [
        ({"grammar_ref": "nope"}, "grammar_ref", "letters, sql"),
        ({"grammar_ref": "sql", "grammar_rules": {"tabel": ["a"]}}, "grammar_rules.tabel", '"table"'),
        ({"grammar_ref": "sql", "grammar_rules": {"table": "("}}, "grammar_rules.table", "line 1, column 1"),
        ({"grammar_ref": "letters", "grammar_rules": {"start": ["a"]}}, "grammar_rules", "EBNF"),
        ({"grammar_ref": "sql", "guided_regex": "a"}, "grammar_ref", "'guided_regex'"),
    ],
)
def test_refusals(client: httpx.Client, fields: dict[str, Any], param: str, words: str) -> None:
    response = post(client, **fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param
    assert words in response.json()["error"]["message"]


def test_files_are_relative_to_the_config_file(tmp_path: Path, files: dict[str, Path]) -> None:
    config = tmp_path / "server.yaml"
    config.write_text("grammars:\n  sql: sql.ebnf\n", "utf-8")
    settings = load_settings(config, {})
    assert settings.grammars == {"sql": files["sql"]}
    assert load_configured_grammars(settings.grammars).text("sql") == SQL


def test_flags_name_files_relative_to_where_the_command_runs(tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    config.write_text("grammars:\n  sql: sql.ebnf\n", "utf-8")
    settings = load_settings(config, {"grammars": ["a=b.ebnf", "c=d=e.lark"]})
    assert settings.grammars == {"a": Path("b.ebnf"), "c": Path("d=e.lark")}
    for bad in ("a", "=b", "a="):
        with pytest.raises(SettingsError, match="NAME=FILE"):
            load_settings(None, {"grammars": [bad]})


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfiguredGrammarError, match="cannot read the grammar 'gone'"):
        load_configured_grammars({"gone": tmp_path / "gone.ebnf"})
    bad = tmp_path / "bad.ebnf"
    bad.write_text("root ::= (", "utf-8")
    with pytest.raises(ConfiguredGrammarError, match=r"'bad' in .* cannot be used:\n.*line 1, column 10"):
        load_configured_grammars({"bad": bad})
