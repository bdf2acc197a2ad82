"""``GET /v1/models`` and ``GET /v1/models/{id}``."""

from __future__ import annotations

from fastapi import APIRouter

from server.generation import unknown_model
from server.schemas.model_list import ModelCard, ModelList
from server.services import ServicesOfApp

router = APIRouter()


@router.get("/v1/models")
async def list_models(services: ServicesOfApp) -> ModelList:
    return ModelList(data=[services.model_card])


@router.get("/v1/models/{name:path}")
async def get_model(name: str, services: ServicesOfApp) -> ModelCard:
    if name != services.model_card.id:
        raise unknown_model(name, services.model_card.id)
    return services.model_card
