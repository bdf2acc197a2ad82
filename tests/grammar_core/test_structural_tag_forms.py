"""The forms in which a structural tag may be given: objects, text, models, the older form."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest

from grammar_core import Grammar, GrammarCompiler
from grammar_core.frontends.structural_tag import StructuralTagError, StructuralTagItem
from tests.grammar_core.tag_texts import ANY, INFO, allows, const, sequence, tag

_TAG = tag("<a>", ANY, "</a>")
_OLD = {
    "type": "structural_tag",
    "structures": [
        {"begin": "<f>", "schema": {"type": "boolean"}, "end": "</f>"},
        {"begin": "<g>", "schema": '{"type": "null"}', "end": "</g>"},
    ],
    "triggers": ["<f", "<g"],
}


class _Format(pydantic.BaseModel):
    type: str = "const_string"
    value: str


class _Document(pydantic.BaseModel):
    type: str = "structural_tag"
    format: _Format


class _Answer(pydantic.BaseModel):
    text: str


@pytest.mark.parametrize("form", [_TAG, {"type": "structural_tag", "format": _TAG}, {"format": _TAG}])
def test_objects_and_text(form: dict[str, Any]) -> None:
    for given in (form, json.dumps(form)):
        assert allows(given, "<a>x</a>")
        assert not allows(given, "x")


def test_models() -> None:
    assert allows(_Document(format=_Format(value="x")), "x")
    assert allows(sequence(_Format(value="x"), _Format(value="y")), "xy")


def test_classes_as_schemas() -> None:
    format = {"type": "json_schema", "json_schema": _Answer}
    assert allows(format, '{"text": "a"}')
    assert not allows(format, '{"text": 1}')


def test_the_older_form() -> None:
    assert allows(_OLD, "a<f>true</f>b<g>null</g>")
    assert not allows(_OLD, "<f>1</f>")
    assert not allows(_OLD, "<f>true</g>")
    assert allows({key: value for key, value in _OLD.items() if key != "type"}, "<f>true</f>")
    assert allows(json.dumps(_OLD), "<f>true</f>")


def test_lists_of_items() -> None:
    items = [
        StructuralTagItem("<f>", {"type": "boolean"}, "</f>"),
        {"begin": "<g>", "schema": _Answer, "end": "</g>"},
    ]
    compiled = GrammarCompiler(INFO).compile_structural_tag(items, ["<"])
    assert compiled.grammar.rules == Grammar.from_structural_tag(items, ["<"], tokenizer_info=INFO).rules


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"structures": []}, "/structures"),
        ({"structures": [{"begin": "<f>", "schema": True}]}, "/structures/0"),
        ({"structures": [{"begin": "<f>", "schema": "{", "end": ""}]}, "/structures/0/schema"),
        ({"structures": [{"begin": 1, "schema": True, "end": ""}]}, "/structures/0/begin"),
        ({"structures": [{"begin": "<x>", "schema": True, "end": ""}]}, "/structures/0/begin"),
        (
            {"structures": [{"begin": "<f>", "schema": {"type": "zzz"}, "end": ""}]},
            "/structures/0/schema/type",
        ),
        ({"triggers": []}, "/triggers"),
        ({"triggers": ["<f", "<g", "<h"]}, "/triggers/2"),
        ({"other": 1}, "/other"),
    ],
)
def test_errors_are_about_the_older_form(change: dict[str, Any], pointer: str) -> None:
    document = {**_OLD, **change}
    if "structures" in change:
        document["triggers"] = ["<f"]
    with pytest.raises(StructuralTagError) as caught:
        Grammar.from_structural_tag(document)
    assert caught.value.pointer == pointer


def test_items_need_triggers() -> None:
    with pytest.raises(StructuralTagError) as caught:
        Grammar.from_structural_tag([{"begin": "<f>", "schema": True, "end": ""}])
    assert caught.value.pointer == "/triggers"


def test_equal_tags_are_compiled_once() -> None:
    compiler = GrammarCompiler(INFO)
    first = compiler.compile_structural_tag({"format": _TAG})
    assert compiler.compile_structural_tag(json.dumps({"format": _TAG})) is first
    assert compiler.compile_structural_tag({"format": const("x")}) is not first
    schema = {"type": "json_schema", "json_schema": _Answer}
    assert compiler.compile_structural_tag(schema) is compiler.compile_structural_tag(schema)


def test_a_compiler_without_cache() -> None:
    compiler = GrammarCompiler(INFO, cache_enabled=False)
    assert compiler.compile_structural_tag(_TAG) is not compiler.compile_structural_tag(_TAG)
