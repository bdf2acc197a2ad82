"""What the server's configuration lets a request ask for."""

from __future__ import annotations

from dataclasses import dataclass

from server.errors import invalid_request
from server.schemas.sampling_fields import SamplingFields


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """`max_tokens`: the longest answer; None is what the context leaves."""

    max_tokens: int | None = None
    may_bring_template: bool = False
    has_priorities: bool = False

    def check(self, request: SamplingFields) -> None:
        """
        Raises:
            ApiError: 400 for what the configuration does not allow.
        """
        if request.priority and not self.has_priorities:
            message = "This server treats all requests alike (setting scheduling_policy); priority must be 0."
            raise invalid_request(message, param="priority", code="unsupported_parameter")
        wanted = request.token_limit
        if self.max_tokens is not None and wanted is not None and wanted > self.max_tokens:
            message = f"The request asks for {wanted} tokens; this server's limit is {self.max_tokens}."
            raise invalid_request(message, param="max_tokens")
