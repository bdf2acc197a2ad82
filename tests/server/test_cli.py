"""The command: its messages, its exit codes, and a clean start and stop."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from server import __version__
from server.cli import command
from server.settings import ServerSettings

RUN = [sys.executable, "-c", "from server.cli import main; main()"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_version() -> None:
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"syntagma {__version__}\n")


def test_help_lists_every_setting() -> None:
    output = run("serve", "--help").output
    for name in set(ServerSettings.model_fields) - {"grammars"}:  # names and files: in the config file only
        assert f"--{name.replace('_', '-')}" in output


def test_defaults_in_the_help_are_true() -> None:
    output = " ".join(run("serve", "--help").output.split())
    defaults = ServerSettings()
    for name in ("host", "port", "device", "dtype", "max_batch_size", "max_waiting", "log_level"):
        stated = re.search(rf"--{name.replace('_', '-')} .*?\[default: (.*?)\]", output)
        assert stated, name
        assert stated[1] == str(getattr(defaults, name))


def failure(*arguments: str) -> tuple[int, str]:
    """Exit code and standard error of a command in a process of its own."""
    result = subprocess.run([*RUN, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in result.stderr
    return result.returncode, " ".join(result.stderr.split())


def test_unknown_option() -> None:
    exit_code, message = failure("serve", "--modle", "x")
    assert exit_code == 2
    assert "--modle" in message


def test_bad_config_key(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("prot: 1\n", "utf-8")
    exit_code, message = failure("serve", "--config", str(file))
    assert exit_code == 2
    assert "unknown setting 'prot'" in message


def test_missing_model_directory(tmp_path: Path) -> None:
    exit_code, message = failure("serve", "--port", "0", "--model", str(tmp_path / "nothing"))
    assert exit_code == 1
    assert str(tmp_path / "nothing") in message


def test_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        exit_code, message = failure("serve", "--port", str(port))
    assert exit_code == 1
    assert f"port {port}: Address already in use" in message


def start(*arguments: str) -> subprocess.Popen[str]:
    command_line = [*RUN, "serve", "--port", "0", "--device", "cpu", *arguments]
    return subprocess.Popen(command_line, stderr=subprocess.PIPE, text=True)


def read_until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stderr
    text = ""
    for line in process.stderr:
        text += line
        if words in line:
            return text
    raise AssertionError(f"the server ended too early: {text}")


def test_stop_while_the_model_is_loading() -> None:
    with start() as process:
        read_until(process, "loading")
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=60)
    assert rest.endswith("Stopped.\n")
    assert "Traceback" not in rest
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.timeout(600)  # It may have to fetch and convert the embedded model.
def test_announced_request_works_and_ctrl_c_is_clean() -> None:
    with start("--shutdown-grace-s", "1") as process:
        announced = read_until(process, "Stop with Ctrl-C")
        assert "Loading weights" not in announced
        assert "server process" not in announced
        assert "SmolLM2-135M-Instruct, 135 million parameters" in announced
        [curl] = [line for line in announced.splitlines() if line.startswith("curl ")]
        answer = subprocess.run(["bash", "-c", curl], capture_output=True, text=True, timeout=120, check=True)
        assert re.search(r'\{\\"city\\": \\"[A-Z][a-z]{2,15}\\", \\"population\\": \d+\}', answer.stdout)
        url = re.search(r"http://[\d.]+:\d+", announced)
        assert url
        last_words = stop_in_the_middle_of_a_stream(url[0], process)
        _, rest = process.communicate(timeout=30)
    assert process.returncode == 0, rest
    assert "Stopped." in rest
    assert "Traceback" not in rest
    assert "shutting down" in last_words[-2]
    assert last_words[-1] == "data: [DONE]"


STUCK = """
import threading, time
from server import app, cli
from tests.server.fakes import FakeCompiler, FakeEngine, fake_backend

class StuckCompiler(FakeCompiler):
    def compile_grammar(self, grammar):
        time.sleep(1000)

class StuckEngine(FakeEngine):
    def start(self):
        super().start()
        threading.Thread(target=time.sleep, args=(1000,)).start()

app.open_model_backend = lambda settings: fake_backend(StuckEngine(step_s=1000), StuckCompiler())
cli.main()
"""


@pytest.mark.parametrize("signals", [1, 2])
@pytest.mark.parametrize("grammar", [None, 'root ::= "a"'], ids=["answer", "compile"])
def test_ctrl_c_ends_the_process_whatever_its_threads_do(signals: int, grammar: str | None) -> None:
    grace = "1" if signals == 1 else "100"
    command_line = [sys.executable, "-c", STUCK, "serve", "--port", "0", "--shutdown-grace-s", grace]
    with subprocess.Popen(command_line, stderr=subprocess.PIPE, text=True) as process:
        url = re.search(r"http://[\d.]+:\d+", read_until(process, "Stop with Ctrl-C"))
        assert url
        with httpx.Client(base_url=url[0], timeout=30) as client, ThreadPoolExecutor(1) as pool:
            body = {"messages": [{"role": "user", "content": "hi"}], "guided_grammar": grammar}
            answer = pool.submit(client.post, "/v1/chat/completions", json=body)
            time.sleep(1)
            for _ in range(signals):
                process.send_signal(signal.SIGINT)
                time.sleep(0.3)
            _, rest = process.communicate(timeout=15)
            if signals == 1:
                assert answer.result().status_code == 503
            else:
                assert isinstance(answer.exception(), httpx.TransportError)
    assert "Stopped." in rest
    assert "Traceback" not in rest
    assert process.returncode == (0 if signals == 1 else 128 + signal.SIGINT)


def stop_in_the_middle_of_a_stream(url: str, process: subprocess.Popen[str]) -> list[str]:
    """The lines that were sent after Ctrl-C."""
    body = {
        "messages": [{"role": "user", "content": "Count."}],
        "guided_grammar": "root ::= [0-9 ]*",
        "stream": True,
    }
    with httpx.stream("POST", f"{url}/v1/chat/completions", json=body, timeout=30) as response:
        lines = (line for line in response.iter_lines() if line)
        next(lines)
        process.send_signal(signal.SIGINT)
        return list(lines)
