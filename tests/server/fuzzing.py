"""Requests made from the server's own OpenAPI document: valid ones, and ones that it does not allow.

    python -m tests.server.fuzzing 1000
    python -m tests.server.fuzzing 1000 engine

No answer may be a 5xx, have a status, type or body that the document does not know, or accept what the
document forbids. The model is scripted, so that only the HTTP side is at work; with `engine`, a tiny real one
answers, on the real engine and with grammars that are compiled.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from server.app import create_app
from server.settings import ServerSettings
from tests.server.fakes import fake_backend
from tests.server.running_server import running_server
from tests.server.tiny_backend import tiny_backend

CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]


def fuzz(url: str, examples: int) -> Iterator[tuple[str, Counter[int]]]:
    """For each operation, how many answers had which status; `examples` requests at most for each.

    Raises what schemathesis finds.
    """
    document = schemathesis.openapi.from_url(f"{url}/openapi.json")
    for result in document.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        yield operation.label, _fuzz_operation(operation, examples)


def _fuzz_operation(operation: Any, examples: int) -> Counter[int]:
    statuses: Counter[int] = Counter()

    @given(case=operation.as_strategy())
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def send(case: Any) -> None:
        is_valid = not case.meta.generation.mode.is_negative
        if is_valid and isinstance(case.body, dict):
            case.body.pop("model", None)  # any other name than the model's is a 404
        response = case.call(timeout=60)
        case.validate_response(response, checks=CHECKS)
        statuses[response.status_code] += 1

    send()
    return statuses


def main() -> None:
    """Print how the operations answered; ends with the first wrong answer's exception."""
    examples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    open_backend = tiny_backend if "engine" in sys.argv[2:] else lambda _: fake_backend()
    app = create_app(ServerSettings(access_log=False, max_answer_tokens=64), open_backend=open_backend)
    with running_server(app) as url:
        for label, statuses in fuzz(url, examples):
            print(f"{label}: {dict(statuses)}", flush=True)


if __name__ == "__main__":
    main()
