"""A user that asks a running server for streamed answers, reads them, thinks for a moment and asks again."""

from __future__ import annotations

import json
import os
import random
import re
import time
from typing import Any

from locust import HttpUser, between, task

from benchmarks.load.kinds import Question, any_kind
from benchmarks.load.record import Record

MAX_TOKENS = 48
RECORD = Record()
"""Of all users: locust makes them itself."""


class Client(HttpUser):
    wait_time = between(0.0, 0.2)

    def on_start(self) -> None:
        key = os.environ.get("API_KEY")
        if key:
            self.client.headers["Authorization"] = f"Bearer {key}"
        self.model = self.client.get("/v1/models").json()["data"][0]["id"]

    @task
    def ask(self) -> None:
        kind = any_kind()
        question = kind.ask()
        began = time.perf_counter()
        with self.client.post(
            "/v1/chat/completions",
            json=self._body(question),
            stream=True,
            catch_response=True,
            name=kind.name,
        ) as response:
            fault = self._fault_of(response, kind.name, question, began)
            seconds = time.perf_counter() - began
            # Locust would take the time to the headers for the answer's.
            response.request_meta["response_time"] = seconds * 1000
            if fault is None:
                response.success()
                RECORD.answer(kind.name, seconds)
            else:
                response.failure(fault)
                RECORD.failure(kind.name, fault)

    def _body(self, question: Question) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": f"Question {random.randint(1, 10**6)}."}],
            "max_tokens": MAX_TOKENS,
            "stream": True,
            **question.fields,
        }

    def _fault_of(self, response: Any, kind: str, question: Question, began: float) -> str | None:
        """What is wrong with the answer, which is read to its end; None if nothing is."""
        expected = 400 if question.is_wrong else 200
        if response.status_code != expected:
            return f"status {response.status_code}: {response.text[:150]}"
        if question.is_wrong:
            return None if "invalid_grammar" in response.text else f"not refused as wrong: {response.text}"
        text, reason = "", None
        last, is_first = began, True
        for chunk in _chunks(response):
            if "error" in chunk:
                return f"in the stream: {chunk['error']['message']}"
            [choice] = chunk["choices"]
            reason = choice["finish_reason"] or reason
            piece = choice["delta"].get("content", "")
            if piece:
                now = time.perf_counter()
                RECORD.token(kind, now - last, is_first=is_first)
                last, is_first, text = now, False, text + piece
        return _fault_of_text(text, reason, question)


def _chunks(response: Any) -> Any:
    for line in response.iter_lines():
        if line.startswith(b"data: {"):
            yield json.loads(line[len(b"data: ") :])


def _fault_of_text(text: str, reason: str | None, question: Question) -> str | None:
    if reason is None:
        return "the stream has no finish_reason"
    if reason == "stop" and question.pattern is not None and not re.fullmatch(question.pattern, text):
        return f"not in the language: {text[:100]!r}"
    return None
