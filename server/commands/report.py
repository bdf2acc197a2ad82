"""What the commands print: for people in a terminal, plain when it is piped."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


class Report:
    """Results go to standard output, complaints to standard error. Nothing is wrapped."""

    def __init__(self) -> None:
        self._output = Console(highlight=False, soft_wrap=True, emoji=False)
        self._errors = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

    @property
    def is_terminal(self) -> bool:
        """Whether somebody is looking at standard output."""
        return self._output.is_terminal

    def line(self, *parts: str | tuple[str, str]) -> None:
        """A line of parts, each plain or with a style."""
        self._output.print(Text.assemble(*parts))

    def rules(self, ebnf: str) -> None:
        """EBNF text with the names of its rules emphasised."""
        for line in ebnf.splitlines():
            name, separator, body = line.partition(" ::= ")
            self.line(*([(name, "bold"), (separator, "dim"), body] if separator else [line]))

    def explanation(self, headline: str, details: str) -> None:
        """An explanation, set in; the headings in it are what does not begin with a space."""
        self.line("  ", (headline, "bold"))
        for line in details.splitlines():
            is_heading = line[:1] not in ("", " ")
            self.line("  " if line else "", (line, "cyan" if is_heading else ""))

    def warning(self, message: str) -> None:
        self._errors.print(Text.assemble(("warning: ", "bold yellow"), message))

    def error(self, message: str) -> None:
        self._errors.print(Text.assemble(("error: ", "bold red"), message))
