"""The documents name every field and keyword that there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from grammar_core.frontends.json_schema.frontend import LOOSENABLE
from server.schemas.constraint_fields import ConstraintFields
from server.schemas.reasoning_fields import ReasoningFields
from server.schemas.response_format import StructuredOutputs
from server.schemas.tool_fields import ToolFields

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("model", "document"),
    [
        (ConstraintFields, "constraints.md"),
        (ReasoningFields, "constraints.md"),
        (StructuredOutputs, "constraints.md"),
        (ToolFields, "tool_calling.md"),
    ],
)
def test_every_field_is_documented(model: type[BaseModel], document: str) -> None:
    text = (DOCS / document).read_text("utf-8")
    names = [info.alias or name for name, info in model.model_fields.items()]
    assert [name for name in names if name not in text] == []


def test_every_keyword_that_can_be_loosened_is_documented() -> None:
    text = (DOCS / "constraints.md").read_text("utf-8")
    assert [keyword for keyword in LOOSENABLE if f"`{keyword}`" not in text] == []
