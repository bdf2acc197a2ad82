"""What the command tells while it starts, for people and for programs."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from server.console import StartConsole, StartLog
from tests.server.test_logs import lines

FACTS = {"model": "m", "runs on": "cpu, float32"}
PROGRAM = f"""
from server.console import StartLog
from server.logs import configure_logs
configure_logs("info", "json")
log = StartLog()
log.starting("m")
log.ready("http://127.0.0.1:1", "m", {FACTS}, 1.23)
log.stopped()
log.failed("no such model")
"""


def test_people_get_a_command_to_try() -> None:
    file = io.StringIO()
    StartConsole(Console(file=file, width=80)).ready("http://127.0.0.1:1", "m", FACTS, 1.23)
    assert "\ncurl -s http://127.0.0.1:1/v1/chat/completions" in file.getvalue()


def test_a_log_as_json_has_no_other_lines() -> None:
    starting, ready, stopped, failed = map(json.loads, lines(PROGRAM))
    assert (starting["event"], starting["model"]) == ("starting", "m")
    assert (ready["url"], ready["seconds"], ready["runs_on"]) == ("http://127.0.0.1:1", 1.2, "cpu, float32")
    assert stopped["event"] == "stopped"
    assert (failed["level"], failed["message"]) == ("error", "no such model")


@pytest.mark.parametrize("name", ["starting", "ready", "stopped", "failed"])
def test_both_tell_the_same(name: str) -> None:
    assert getattr(StartLog, name) is not getattr(StartConsole, name)
