"""The formats of JSON Schema: the cases of tests/cases/json_schema/formats.toml."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from grammar_core.frontends.json_schema.texts import TextLanguage
from tests.grammar_core.json_schema.scalar_grammars import Accepts

_FILE = Path(__file__).parents[2] / "cases" / "json_schema" / "formats.toml"
_FORMATS = tomllib.loads(_FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", _FORMATS)
@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_a_string_is_of_the_format(name: str, verdict: str) -> None:
    language = TextLanguage.format(name)
    accepts = Accepts(language)
    for text in _FORMATS[name][verdict]:
        assert language.contains(text) == (verdict == "accept"), text
        assert accepts(json.dumps(text, ensure_ascii=False)) == (verdict == "accept"), text
        assert accepts(json.dumps(text)) == (verdict == "accept"), text


@pytest.mark.parametrize("name", _FORMATS)
def test_a_format_and_a_length_hold_together(name: str) -> None:
    short = TextLanguage.format(name).intersect(TextLanguage.length(0, 12))
    texts = [text for text in _FORMATS[name]["accept"] if len(text) <= 12]
    assert all(map(short.contains, texts))
    assert not any(short.contains(text) for text in _FORMATS[name]["accept"] if len(text) > 12)
    assert not any(map(short.contains, _FORMATS[name]["reject"]))
