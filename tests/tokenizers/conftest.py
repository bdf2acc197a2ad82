"""These tests fetch a gigabyte of tokenizers: they are collected only when this folder is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tokenizers.sources import SOURCES, RealTokenizer, load

_HERE = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this folder out unless an argument of the command line lies in it."""
    invocation = config.invocation_params
    named = [(invocation.dir / str(argument).split("::")[0]).resolve() for argument in invocation.args]
    if any(path == _HERE or _HERE in path.parents for path in named):
        return None
    return True


@pytest.fixture(scope="session", params=list(SOURCES))
def real(request: pytest.FixtureRequest) -> RealTokenizer:
    """Each tokenizer in turn; of session scope, so that all its tests run while it is loaded."""
    return load(request.param)
