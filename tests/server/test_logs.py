"""The log as text and as JSON, of our own events and of libraries."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import logging, structlog
from server.logs import configure_logs
configure_logs({level!r}, {format!r})
structlog.contextvars.bind_contextvars(request_id="r1")
structlog.get_logger("syntagma.test").info("answered", status=200)
logging.getLogger("library").warning("something %s", "odd")
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger("syntagma").exception("a request failed")
"""


def lines_of(log_format: str, level: str = "info") -> list[str]:
    return lines(PROGRAM.format(level=level, format=log_format))


def lines(program: str) -> list[str]:
    """What `program` writes to standard error."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == ""
    return result.stderr.splitlines()


def test_json_is_one_object_a_line() -> None:
    own, library, fault = map(json.loads, lines_of("json"))
    assert (own["event"], own["status"], own["level"], own["request_id"]) == ("answered", 200, "info", "r1")
    assert (library["event"], library["logger"], library["level"]) == ("something odd", "library", "warning")
    assert library["request_id"] == "r1"
    assert own["timestamp"].endswith("Z")
    assert "ZeroDivisionError" in fault["exception"]


def test_text_is_for_people() -> None:
    first, second, *rest = lines_of("text")
    assert "answered" in first
    assert "request_id=r1" in first
    assert "something odd" in second
    assert any("ZeroDivisionError" in line for line in rest)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_levels(log_format: str) -> None:
    assert not any("answered" in line for line in lines_of(log_format, "warning"))
