"""What was measured in a load test."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass
class Times:
    """Of one kind of request, in seconds: from sending it to its first token, to the end of its answer, and
    from each token to its next one."""

    first: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


class Record:
    """Filled while the test runs."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget everything and begin now."""
        self.began = time.perf_counter()
        self.by_kind: dict[str, Times] = defaultdict(Times)
        self.failures: Counter[str] = Counter()
        self.token_moments: list[float] = []
        """Seconds after the beginning, one for each token."""

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    @property
    def answers(self) -> int:
        return sum(len(times.whole) for times in self.by_kind.values())

    def token(self, kind: str, seconds: float, *, is_first: bool) -> None:
        times = self.by_kind[kind]
        (times.first if is_first else times.between).append(seconds)
        self.token_moments.append(self.elapsed)

    def answer(self, kind: str, seconds: float) -> None:
        self.by_kind[kind].whole.append(seconds)

    def failure(self, kind: str, message: str) -> None:
        self.failures[f"{kind}: {message[:200]}"] += 1
