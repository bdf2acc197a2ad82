"""What the routes use; built by `server.app`, reached through the request's application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from server.backend import TextEngine
from server.body import BodyLimits
from server.completion_service import CompletionService
from server.generation import ChatService
from server.metrics import HttpMetrics, ServerMetrics
from server.responses.service import ResponsesService
from server.schemas.model_list import ModelCard
from server.tokenization import TokenizationService


@dataclass(frozen=True)
class Services:
    chat: ChatService
    completions: CompletionService
    responses: ResponsesService
    tokens: TokenizationService
    engine: TextEngine
    metrics: ServerMetrics
    http_metrics: HttpMetrics
    model_card: ModelCard
    body_limits: BodyLimits
    keep_alive_s: float


async def _services_of(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


ServicesOfApp = Annotated[Services, Depends(_services_of)]
