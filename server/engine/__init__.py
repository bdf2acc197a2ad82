"""The generation loop: requests in, text deltas out.

The only place, beside the application's wiring, where models and grammars meet.
"""

from server.engine.engine import Engine
from server.engine.request import (
    ContextLengthError,
    EngineOverloadedError,
    EngineStoppedError,
    Fault,
    FinishReason,
    GenerationRequest,
    RequestFault,
    TextDelta,
)
from server.engine.stream import TextStream

__all__ = [
    "ContextLengthError",
    "Engine",
    "EngineOverloadedError",
    "EngineStoppedError",
    "Fault",
    "FinishReason",
    "GenerationRequest",
    "RequestFault",
    "TextDelta",
    "TextStream",
]
