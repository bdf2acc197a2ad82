"""The bodies of ``GET /v1/models`` and ``GET /v1/models/{id}``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "syntagma"
    max_model_len: int
    """The longest prompt and answer together, in tokens."""


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]
