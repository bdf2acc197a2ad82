"""The garbage collector and compiles."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PAUSE = threading.Lock()


@contextmanager
def paused_collector() -> Iterator[None]:
    """No search for garbage meanwhile.

    A schema becomes tens of thousands of tuples, among which there is no garbage; searching all of them again
    and again would take longer than making them. A pause within another one's time does not prolong it, so
    that there are collections however many compiles overlap.
    """
    if not gc.isenabled() or not _PAUSE.acquire(blocking=False):
        yield
        return
    try:
        gc.disable()
        yield
    finally:
        gc.enable()
        _PAUSE.release()
