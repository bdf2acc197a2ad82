"""Users that ask a running server for streamed answers under grammars of several kinds.

    locust --headless -f benchmarks/load/locustfile.py --host http://127.0.0.1:8000 --users 16 --run-time 60s

Beside the whole time of each answer, the time to its first token and the times between its tokens are
reported, by the kind of grammar. A wrong answer counts as a failure.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from dataclasses import dataclass
from typing import Any

from locust import HttpUser, between, task


@dataclass(frozen=True)
class Kind:
    """A grammar, or none, and what answers that are not cut match."""

    name: str
    fields: dict[str, Any]
    pattern: str | None = None


KINDS = (
    Kind("free text", {}),
    Kind("regex", {"guided_regex": r"[a-z]{3,20}@[a-z]{3,20}\.com"}, r"[a-z]{3,20}@[a-z]{3,20}\.com"),
    Kind("choice", {"guided_choice": ["yes", "no", "perhaps"]}, "yes|no|perhaps"),
    Kind(
        "list", {"guided_grammar": 'root ::= "[" n ("," n){4,9} "]"\nn ::= [1-9] [0-9]{0,3}'}, r"\[[0-9,]+\]"
    ),
    Kind(
        "expression",
        {"guided_grammar": 'root ::= sum\nsum ::= sum "+" term | term\nterm ::= [0-9]{1,3} | "(" sum ")"'},
        r"[0-9+()]+",
    ),
)
MAX_TOKENS = 48


class Client(HttpUser):
    """Asks, reads the stream, thinks for a moment, and asks again."""

    wait_time = between(0.0, 0.2)

    def on_start(self) -> None:
        key = os.environ.get("API_KEY")
        if key:
            self.client.headers["Authorization"] = f"Bearer {key}"
        self.model = self.client.get("/v1/models").json()["data"][0]["id"]

    @task
    def ask(self) -> None:
        kind = random.choice(KINDS)
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": f"Question {random.randint(1, 10**6)}."}],
            "max_tokens": MAX_TOKENS,
            "stream": True,
            **kind.fields,
        }
        with self.client.post(
            "/v1/chat/completions", json=body, stream=True, catch_response=True, name=kind.name
        ) as response:
            if response.status_code != 200:
                response.failure(f"{response.status_code}: {response.text[:200]}")
                return
            began = time.perf_counter()
            text, reason = self._read(response, kind)
            self._report("whole answer", kind, time.perf_counter() - began)
            self._check(response, kind, text, reason)

    def _read(self, response: Any, kind: Kind) -> tuple[str, str | None]:
        """The text and the finish reason; times of tokens are reported on the way."""
        text, reason, last, is_first = "", None, time.perf_counter(), True
        for line in response.iter_lines():
            if not line.startswith(b"data: {"):
                continue
            chunk = json.loads(line[len(b"data: ") :])
            if "error" in chunk:
                response.failure(f"in the stream: {chunk['error']['message'][:200]}")
                return text, None
            [choice] = chunk["choices"]
            reason = choice["finish_reason"] or reason
            piece = choice["delta"].get("content", "")
            if piece:
                now = time.perf_counter()
                self._report("first token" if is_first else "next token", kind, now - last)
                is_first, last = False, now
                text += piece
        return text, reason

    def _report(self, event: str, kind: Kind, seconds: float) -> None:
        self.environment.events.request.fire(
            request_type=event,
            name=kind.name,
            response_time=seconds * 1000,
            response_length=0,
            exception=None,
            context={},
        )

    def _check(self, response: Any, kind: Kind, text: str, reason: str | None) -> None:
        is_whole = reason == "stop" and kind.pattern is not None
        if is_whole and not re.fullmatch(str(kind.pattern), text):
            response.failure(f"not in the language: {text[:100]!r}")
        elif reason is not None:
            response.success()
