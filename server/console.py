"""What ``syntagma serve`` tells the person who started it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

import structlog
from rich.console import Console
from rich.markup import escape

from server import __version__

EXAMPLE_GRAMMAR = (
    r'''root ::= "{\"city\": \"" [A-Z] [a-z]{2,15} "\", \"population\": " [1-9] [0-9]{0,7} "}"'''
)


class StartConsole:
    """Writes to standard error, so that standard output stays free for what is piped."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)

    def starting(self, model: str | None) -> None:
        what = model or "the embedded model (choose another with --model)"
        self._console.print(f"[bold]Syntagma {__version__}[/] loading {escape(what)} …")

    def ready(self, url: str, model_name: str, summary: Mapping[str, str], seconds: float) -> None:
        for label, value in summary.items():
            self._console.print(f"  {label:<11}{escape(value)}")
        self._console.print(f"[bold green]Ready[/] after {seconds:.1f} s at [bold]{url}[/]. Try:\n")
        # Printed without wrapping or markup: it is there to be copied.
        self._console.print(example_request(url, model_name), markup=False, soft_wrap=True)
        self._console.print("\nStop with Ctrl-C.")

    def stopped(self) -> None:
        self._console.print("Stopped.")

    def failed(self, message: str) -> None:
        self._console.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def example_request(url: str, model_name: str) -> str:
    """A command for a POSIX shell whose answer obeys a grammar."""
    body = {
        "model": model_name,
        "messages": [{"role": "user", "content": "A large city and its population, as JSON."}],
        "guided_grammar": EXAMPLE_GRAMMAR,
    }
    data = shlex.quote(json.dumps(body, ensure_ascii=False))
    return f"curl -s {url}/v1/chat/completions -H 'Content-Type: application/json' -d {data}"


class StartLog(StartConsole):
    """The same as events of the log, for programs that read it."""

    def __init__(self) -> None:
        self._log = structlog.get_logger("syntagma")

    def starting(self, model: str | None) -> None:
        self._log.info("starting", version=__version__, model=model or "embedded")

    def ready(self, url: str, model_name: str, summary: Mapping[str, str], seconds: float) -> None:
        facts = {label.replace(" ", "_"): value for label, value in summary.items()}
        self._log.info("ready", url=url, seconds=round(seconds, 1), **facts)

    def stopped(self) -> None:
        self._log.info("stopped")

    def failed(self, message: str) -> None:
        self._log.error("failed", message=message)
