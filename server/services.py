"""What the routes use; built by `server.app`, reached through the request's application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from server.backend import TextEngine
from server.completion_service import CompletionService
from server.generation import ChatService
from server.schemas.model_list import ModelCard


@dataclass(frozen=True)
class Services:
    chat: ChatService
    completions: CompletionService
    engine: TextEngine
    model_card: ModelCard
    max_body_bytes: int


async def _services_of(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


ServicesOfApp = Annotated[Services, Depends(_services_of)]
