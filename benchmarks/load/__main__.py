"""A load test of a running server: `python -m benchmarks.load --help`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import gevent
from locust.env import Environment
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.load.client import RECORD, Client

_LINE_INTERVAL_S = 5
_console = Console()


def main() -> int:
    """Exits with 1 if an answer was wrong or missing."""
    options = _options()
    if not _answers(options.host):
        _console.print(f"No server answers at {options.host}; start one with: make serve")
        return 2
    runner = Environment(user_classes=[Client], host=options.host).create_local_runner()
    RECORD.restart()
    runner.start(options.users, spawn_rate=options.spawn_rate)
    try:
        _show_progress(options.seconds)
    except KeyboardInterrupt:
        _console.print("Stopped early.")
    runner.quit()
    return _report(options.plot)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.load",
        description="Users ask a server for streamed answers under grammars of several kinds.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        epilog="An API key is taken from the environment variable API_KEY.",
    )
    parser.add_argument("--host", default="http://127.0.0.1:8000", help="the server")
    parser.add_argument("--users", type=int, default=16, help="how many ask at the same time")
    parser.add_argument("--spawn-rate", type=float, default=8, help="how many of them begin in a second")
    parser.add_argument("--seconds", type=int, default=60, help="how long they ask")
    parser.add_argument("--plot", type=Path, default=Path("build/load.png"), help="where the picture goes")
    return parser.parse_args()


def _answers(host: str) -> bool:
    # Imported here: locust has to put its own sockets in the place of Python's before.
    import requests

    try:
        return requests.get(f"{host}/health", timeout=10).ok
    except requests.RequestException:
        return False


def _show_progress(seconds: int) -> None:
    """A bar that moves in a terminal, and lines elsewhere."""
    if not _console.is_terminal:
        while RECORD.elapsed < seconds:
            gevent.sleep(min(_LINE_INTERVAL_S, max(seconds - RECORD.elapsed, 0.1)))
            _console.print(f"{RECORD.elapsed:4.0f} s: {_so_far()}")
        return
    columns = (TimeElapsedColumn(), BarColumn(), TextColumn("{task.description}"))
    # Refreshed by hand: the display's own thread does not run beside locust's loop.
    with Progress(*columns, console=_console, auto_refresh=False) as progress:
        task = progress.add_task("", total=seconds)
        while RECORD.elapsed < seconds:
            gevent.sleep(0.25)
            progress.update(task, completed=RECORD.elapsed, description=_so_far(), refresh=True)


def _so_far() -> str:
    rate = len(RECORD.token_moments) / max(RECORD.elapsed, 1e-9)
    return f"{RECORD.answers} answers, {RECORD.failures.total()} failures, {rate:.0f} tokens a second"


def _report(plot: Path) -> int:
    # Imported here, because it takes a second in which nothing would be seen.
    from benchmarks.load.report import draw, print_table

    print_table(RECORD, _console)
    plot.parent.mkdir(parents=True, exist_ok=True)
    draw(RECORD, plot)
    _console.print(f"Picture: {plot}")
    return 1 if RECORD.failures or not RECORD.answers else 0


if __name__ == "__main__":
    sys.exit(main())
