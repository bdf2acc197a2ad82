"""The end of the process."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn


def end_process(exit_code: int) -> NoReturn:
    """End the process without waiting for its threads: native code that runs in them cannot be stopped."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, RuntimeError, ValueError):
            stream.flush()
    os._exit(exit_code)
