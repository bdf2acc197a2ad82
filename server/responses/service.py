"""Makes, keeps, gives, cancels and deletes responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from server.errors import ApiError, invalid_request, overloaded
from server.generation import ChatService, Generation
from server.responses.conversation import Item
from server.responses.item_writer import Event
from server.responses.running_response import RunningResponse
from server.responses.store import ResponseStore, StoredResponse
from server.responses.translation import as_chat_request, renamed
from server.schemas.responses_items import (
    CustomCallInput,
    FunctionCallInput,
    FunctionCallOutputItem,
    MessageItem,
    OutputItem,
    OutputMessage,
    ReasoningInput,
    ReasoningOutput,
)
from server.schemas.responses_request import ResponsesRequest
from server.schemas.responses_response import DeletedResponse, InputItemList, ResponseObject


class ResponsesService:
    """Used on one event loop. `owner` is the name of the API key that asks; nobody sees another's."""

    def __init__(self, chat: ChatService, store: ResponseStore, *, max_background: int) -> None:
        self._chat = chat
        self._store = store
        self._max_background = max_background
        self._background: dict[str, tuple[RunningResponse, asyncio.Task[None]]] = {}

    async def start(self, request: ResponsesRequest, owner: str | None) -> Answer:
        """Begin to make a response.

        Raises:
            ApiError: The request cannot be answered; see `ChatService.start`.
        """
        history = self._history(request.previous_response_id, owner)
        if request.background and len(self._background) >= self._max_background:
            raise overloaded("Too many responses are being made in the background; try again later.")
        chat_request = as_chat_request(request, history)
        try:
            generation = await self._chat.start(chat_request, id_prefix="resp_")
        except ApiError as error:
            raise renamed(error) from None
        running = RunningResponse(_response_object(request, generation), generation)
        return Answer(self, running, request, owner, history)

    def keep(self, answer: Answer) -> None:
        if answer.request.is_stored:
            items = (*answer.history, *answer.request.items)
            own = len(answer.request.items)
            self._store.put(StoredResponse(answer.owner, answer.response, items, own))

    def run_in_background(self, answer: Answer) -> ResponseObject:
        """The response as it is now; it is made while nobody waits for it."""
        self.keep(answer)
        task = asyncio.ensure_future(self._drain(answer))
        self._background[answer.response.id] = (answer.running, task)
        return answer.response

    async def _drain(self, answer: Answer) -> None:
        try:
            async with aclosing(answer.events()) as events:
                async for _ in events:
                    pass
        finally:
            del self._background[answer.response.id]

    def get(self, response_id: str, owner: str | None) -> ResponseObject:
        """Raises ApiError, 404, for one that is not there (any more)."""
        return self._find(response_id, owner).response

    def input_items(self, response_id: str, owner: str | None) -> InputItemList:
        """All that the request brought, oldest first. Raises ApiError, 404."""
        stored = self._find(response_id, owner)
        own = stored.items[-stored.own_items :]
        numbered = [{"id": f"item_{n}", **item.model_dump(exclude_none=True)} for n, item in enumerate(own)]
        return InputItemList(data=numbered)

    async def cancel(self, response_id: str, owner: str | None) -> ResponseObject:
        """End a response that is made in the background.

        Raises:
            ApiError: 404 for one that is not there, 400 for one that was not made in the background.
        """
        stored = self._find(response_id, owner)
        if not stored.response.background:
            message = "Only a response that is made in the background can be cancelled."
            raise invalid_request(message, param="response_id")
        await self._end(response_id)
        return stored.response

    async def delete(self, response_id: str, owner: str | None) -> DeletedResponse:
        """Raises ApiError, 404."""
        self._find(response_id, owner)
        await self._end(response_id)
        self._store.delete(response_id, owner)
        return DeletedResponse(id=response_id)

    async def close(self) -> None:
        """End all that is made in the background."""
        for response_id in list(self._background):
            await self._end(response_id)

    async def _end(self, response_id: str) -> None:
        running, task = self._background.get(response_id, (None, None))
        if running is None or task is None:
            return
        running.note_cancellation()
        running.cancel()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def _find(self, response_id: str, owner: str | None) -> StoredResponse:
        stored = self._store.find(response_id, owner)
        if stored is None:
            raise _not_found(response_id, "response_id")
        return stored

    def _history(self, response_id: str | None, owner: str | None) -> tuple[Item, ...]:
        if response_id is None:
            return ()
        stored = self._store.find(response_id, owner)
        if stored is None:
            raise _not_found(response_id, "previous_response_id")
        if stored.response.status not in ("completed", "incomplete"):
            message = f"The response '{response_id}' is {stored.response.status} and cannot be continued."
            raise invalid_request(message, param="previous_response_id")
        return (*stored.items, *map(_as_input, stored.response.output))


class Answer:
    """A response in the making, and what is kept of it at the end."""

    def __init__(
        self,
        service: ResponsesService,
        running: RunningResponse,
        request: ResponsesRequest,
        owner: str | None,
        history: Sequence[Item],
    ) -> None:
        self.running = running
        self.request = request
        self.owner = owner
        self.history = history
        self._service = service

    @property
    def response(self) -> ResponseObject:
        return self.running.response

    async def events(self) -> AsyncGenerator[Event, None]:
        """The response's events; it is kept, if it is to be, before the last is given."""
        async with aclosing(self.running.events()) as events:
            async for event in events:
                if self.response.status in ("completed", "incomplete", "failed"):
                    self._service.keep(self)
                yield event

    async def whole(self) -> ResponseObject:
        """The complete response.

        Raises:
            ApiError: It failed.
        """
        async with aclosing(self.events()) as events:
            async for _ in events:
                pass
        if self.running.failure is not None:
            raise self.running.failure
        return self.response


def _response_object(request: ResponsesRequest, generation: Generation) -> ResponseObject:
    given = request.model_dump(exclude_none=True, by_alias=True)
    return ResponseObject(
        id=generation.id,
        created_at=generation.created,
        model=generation.model,
        background=bool(request.background),
        store=request.is_stored,
        **{name: given[name] for name in _ECHOED if name in given},
    )


_ECHOED = (
    "instructions", "max_output_tokens", "metadata", "parallel_tool_calls", "previous_response_id",
    "reasoning", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "user",
)  # fmt: skip


def _as_input(item: OutputItem) -> Item:
    """An answer's item as part of the conversation that goes on."""
    if isinstance(item, OutputMessage):
        return MessageItem(id=item.id, role="assistant", content=item.content[0].text)
    if isinstance(item, ReasoningOutput):
        content = [part.model_dump() for part in item.content]
        return ReasoningInput(id=item.id, type="reasoning", content=content)
    if isinstance(item, FunctionCallOutputItem):
        return FunctionCallInput(
            id=item.id, type="function_call", call_id=item.call_id, name=item.name, arguments=item.arguments
        )
    return CustomCallInput(
        id=item.id, type="custom_tool_call", call_id=item.call_id, name=item.name, input=item.input
    )


def _not_found(response_id: str, param: str) -> ApiError:
    message = f"There is no response '{response_id[:100]}' (any more)."
    return ApiError(404, message, param=param, code="response_not_found")
