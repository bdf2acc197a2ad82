"""The bodies of the Responses API's answers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from server.errors import invalid_request
from server.schemas.responses_items import OutputItem

ResponseStatus = Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]


class InputTokensDetails(BaseModel):
    cached_tokens: int = 0


class OutputTokensDetails(BaseModel):
    reasoning_tokens: int = 0


class ResponseUsage(BaseModel):
    input_tokens: int
    input_tokens_details: InputTokensDetails = InputTokensDetails()
    output_tokens: int
    output_tokens_details: OutputTokensDetails = OutputTokensDetails()
    total_tokens: int


class ResponseError(BaseModel):
    code: str
    message: str


class IncompleteDetails(BaseModel):
    reason: Literal["max_output_tokens"]


class ResponseObject(BaseModel):
    """An answer and the request's own fields."""

    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: ResponseStatus = "in_progress"
    background: bool = False
    error: ResponseError | None = None
    incomplete_details: IncompleteDetails | None = None
    instructions: str | None = None
    max_output_tokens: int | None = None
    metadata: dict[str, str] = {}
    model: str
    output: list[OutputItem] = []
    parallel_tool_calls: bool = True
    previous_response_id: str | None = None
    reasoning: dict[str, Any] = {}
    store: bool = True
    temperature: float | None = None
    text: dict[str, Any] = {}
    tool_choice: Any = "auto"
    tools: list[Any] = []
    top_logprobs: int = 0
    top_p: float | None = None
    truncation: Literal["disabled"] = "disabled"
    usage: ResponseUsage | None = None
    user: str | None = None


class ResponseEvent(BaseModel):
    """One event of a stream; what else it has depends on its type."""

    model_config = ConfigDict(extra="allow")

    type: str
    sequence_number: int


class DeletedResponse(BaseModel):
    id: str
    object: Literal["response"] = "response"
    deleted: Literal[True] = True


class InputItemList(BaseModel):
    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    first_id: str | None = None
    last_id: str | None = None
    has_more: bool = False

    def page(self, *, limit: int, newest_first: bool, after: str | None) -> InputItemList:
        """`limit` items, those that follow the one with the id `after` if it is given.

        Raises:
            ApiError: 400 for an id that is not there.
        """
        items = self.data[::-1] if newest_first else self.data
        ids = [item["id"] for item in items]
        if after is not None and after not in ids:
            raise invalid_request(f"There is no item '{after[:100]}'.", param="after")
        begin = 0 if after is None else ids.index(after) + 1
        shown = items[begin : begin + limit]
        first, last = (shown[0]["id"], shown[-1]["id"]) if shown else (None, None)
        has_more = begin + limit < len(items)
        return InputItemList(data=shown, first_id=first, last_id=last, has_more=has_more)
