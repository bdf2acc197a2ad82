"""A load test's figures as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.load.kinds import KINDS
from benchmarks.load.record import Record, Times

matplotlib.use("Agg")
from matplotlib import pyplot

PERCENTILES = (50, 95, 99)
_ALL = "all"
_EVENTS = {"first": "First token", "between": "Next token", "whole": "Whole answer"}


def print_table(record: Record, console: Console) -> None:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title="Milliseconds", title_justify="left")
    table.add_column("\nkind", no_wrap=True)
    table.add_column("\ndone", justify="right")
    for title in _EVENTS.values():
        for line, percentile in zip((title.split()[0].lower(), "", ""), PERCENTILES, strict=True):
            table.add_column(f"{line}\np{percentile}", justify="right")
    for name, times in _rows(record):
        figures = [figure for event in _EVENTS for figure in _in_words(getattr(times, event))]
        table.add_row(name, str(len(times.whole)), *figures)
    console.print(table)
    tokens = len(record.token_moments)
    console.print(
        f"{record.answers} answers and {tokens} tokens in {record.elapsed:.0f} s: "
        f"{record.answers / record.elapsed:.1f} answers and {tokens / record.elapsed:.0f} tokens a second"
    )
    for message, count in record.failures.most_common(5):
        console.print(f"[red]{count} times[/] {message}", soft_wrap=True)


def draw(record: Record, file: Path) -> None:
    figure, axes = pyplot.subplots(2, 2, figsize=(13, 8), layout="constrained")
    # A refusal's time would only shrink the others'.
    rows = [(name, times) for name, times in _rows(record) if times.first]
    for axis, (event, title) in zip(axes.flat, _EVENTS.items(), strict=False):
        _draw_percentiles(axis, title, [(name, getattr(times, event)) for name, times in rows])
    _draw_tokens(axes.flat[-1], record)
    figure.legend(
        *axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False
    )
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _rows(record: Record) -> list[tuple[str, Times]]:
    """By kind, in the order of `KINDS`, and of all that were answered together."""
    rows = [(kind.name, record.by_kind[kind.name]) for kind in KINDS if kind.name in record.by_kind]
    answered = [times for _, times in rows if times.first]
    together = Times(*([second for t in answered for second in getattr(t, event)] for event in _EVENTS))
    return [*rows, (_ALL, together)]


def _in_words(seconds: Sequence[float]) -> list[str]:
    if not seconds:
        return ["–"] * len(PERCENTILES)
    return [f"{value * 1000:.0f}" for value in np.percentile(seconds, PERCENTILES)]


def _draw_percentiles(axis: Any, title: str, rows: list[tuple[str, Sequence[float]]]) -> None:
    """A dot at the median, a bar from there to the 95th percentile, a stroke at the 99th."""
    shown = [(name, np.percentile(seconds, PERCENTILES) * 1000) for name, seconds in rows if len(seconds)]
    places = range(len(shown))
    middle, high, highest = np.array([values for _, values in shown]).reshape(-1, len(PERCENTILES)).T
    axis.hlines(places, middle, high, color="#9ecae1", linewidth=7)
    axis.plot(middle, places, "o", color="#08519c", label="p50")
    axis.plot(high, places, "|", color="#3182bd", markersize=12, markeredgewidth=3, label="p95")
    axis.plot(highest, places, "|", color="#de2d26", markersize=12, markeredgewidth=2, label="p99")
    axis.set_yticks(places, [name for name, _ in shown])
    axis.set_ylim(len(shown) - 0.5, -0.5)
    axis.set_xlim(left=0)
    axis.set_title(title)
    axis.set_xlabel("milliseconds")
    axis.grid(axis="x", alpha=0.3)


def _draw_tokens(axis: Any, record: Record) -> None:
    seconds = max(int(record.elapsed), 1)
    counts, edges = np.histogram(record.token_moments, bins=seconds, range=(0, seconds))
    axis.stairs(counts, edges, fill=True, color="#9ecae1")
    axis.set_xlim(0, seconds)
    axis.set_ylim(bottom=0)
    axis.set_title("Tokens of all answers")
    axis.set_xlabel("seconds since the beginning")
    axis.set_ylabel("tokens a second")
    axis.grid(axis="y", alpha=0.3)
