"""Clients that leave, and wrong and right grammars, at the same time: nothing is left behind."""

from __future__ import annotations

import asyncio
import gc

import pytest

from server.app import create_app
from server.engine.sequence import Sequence
from server.settings import ServerSettings
from tests.server.running_server import running_server, wait_until
from tests.server.soak import State, judge, wait_until_idle
from tests.server.soak_clients import soak_round
from tests.server.tiny_backend import tiny_backend


def test_nothing_is_left_of_clients_that_left() -> None:
    settings = ServerSettings(max_batch_size=8, max_waiting=500, access_log=False)
    app = create_app(settings, open_backend=tiny_backend)
    with running_server(app) as url:
        outcomes = asyncio.run(soak_round(url, leaving=60, wrong=25, right=25, seed=1))
        wait_until_idle(url)
        engine = app.state.backend.engine
        assert outcomes["left"] > 10
        assert outcomes["wrong: 400"] == outcomes["right: 200"] == 25
        assert engine._runner._slots == {}
        assert engine._live == set()
        assert (list(engine._scheduler.running), list(engine._scheduler.waiting)) == ([], [])
        assert app.state.services.chat._grammars.in_flight == 0

        def is_empty() -> bool:
            gc.collect()
            return not any(type(thing) is Sequence for thing in gc.get_objects())

        wait_until(is_empty, limit_s=20)


@pytest.mark.parametrize(
    ("last", "verdict"),
    [
        (State(104 << 20, 0, 9), None),
        (State(106 << 20, 0, 9), "memory has grown from 100 to 106 MiB"),
        (State(90 << 20, 0, 10), "open files have grown from 9 to 10"),
    ],
)
def test_growth_is_judged(last: State, verdict: str | None) -> None:
    assert judge([State(100 << 20, 0, 9), State(300 << 20, 0, 12), last]) == verdict
