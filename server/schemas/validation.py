"""A body as a checked request, or the 400 that names its first mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from server.errors import ApiError, invalid_request
from server.schemas.violations import FIELD_CONFLICT, first_violation

Request = TypeVar("Request", bound=BaseModel)


def validated(model: type[Request], body: Mapping[str, Any]) -> Request:
    """The request in `body`.

    Raises:
        ApiError: 400 that names the first field which is missing, unknown, out of range or at odds with
            another.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _refusal(error, body) from None


def _refusal(error: ValidationError, body: Mapping[str, Any]) -> ApiError:
    param, details = first_violation(error, body)
    if details["type"] == FIELD_CONFLICT:
        return invalid_request(details["msg"] + ".", param=details["ctx"]["param"])
    if details["type"] == "missing":
        message = f"Missing required field '{param}'."
        return invalid_request(message, param=param, code="missing_required_parameter")
    if details["type"] == "extra_forbidden":
        return invalid_request(f"Unknown field '{param}'.", param=param, code="unknown_parameter")
    return invalid_request(f"Invalid '{param}': {details['msg']}.", param=param or None)
