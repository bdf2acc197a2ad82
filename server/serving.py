"""Runs the application under uvicorn, from the bound socket to the clean stop."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from fastapi import FastAPI

from server.console import StartConsole
from server.ending import end_process
from server.settings import ServerSettings

if TYPE_CHECKING:
    from server.backend import Backend
    from server.services import Services


# After its answers were ended, how long the server waits until their clients have read that.
_LAST_WORDS_S = 3


class StopRequested(KeyboardInterrupt):
    """The process was told to end, by Ctrl-C or by SIGTERM."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal_number)
        self.exit_code = 128 + signal_number


class _Server(uvicorn.Server):
    """Announces when it listens, and after being told to stop ends the answers that take too long.

    `end_answers` makes every answer in the making end by itself, with an error that tells its client why.
    `end_now` ends the process: that is what a second signal asks for.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        announce: Callable[[], None],
        grace_s: float,
        end_answers: Callable[[], None],
        end_now: Callable[[int], None],
    ) -> None:
        super().__init__(config)
        self._announce = announce
        self._grace_s = grace_s
        self._end_answers = end_answers
        self._end_now = end_now

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        ending = loop.call_later(self._grace_s, self._end_answers)
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self._end_now(128 + sig)
        super().handle_exit(sig, frame)


class PortError(Exception):
    """The address cannot be listened on."""


def bind(host: str, port: int) -> socket.socket:
    """A bound socket: taken before the model is loaded, so that a port in use is known at once.

    Raises:
        PortError: It is in use, or not an address of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise PortError(f"cannot listen on {host}: {error.strerror or error}") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise PortError(f"cannot listen on {host} port {port}: {error.strerror}") from None
    return listener


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    reachable = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{reachable}:{port}"


def serve(app: FastAPI, settings: ServerSettings, listener: socket.socket, console: StartConsole) -> None:
    """Serve until the process is told to stop.

    Raises:
        StopRequested: Told to stop before the server was ready.
    """
    asyncio.run(_run(app, settings, listener, console))


def raise_on_stop_signals() -> None:
    """From now on SIGINT and SIGTERM raise `StopRequested` in the main thread."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _request_stop)


def _request_stop(number: int, frame: FrameType | None) -> None:
    # While the process ends, another signal ends it at once.
    for other in (signal.SIGINT, signal.SIGTERM):
        signal.signal(other, lambda number, _: end_process(128 + number))
    raise StopRequested(number)


async def _run(
    app: FastAPI, settings: ServerSettings, listener: socket.socket, console: StartConsole
) -> None:
    """The lifespan is entered here and not by uvicorn, which would print a traceback if it fails."""
    began = time.monotonic()
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        log_level=settings.log_level,
        access_log=False,  # ours tells more
        timeout_graceful_shutdown=settings.shutdown_grace_s + _LAST_WORDS_S,
        server_header=False,
    )
    if settings.log_level == "info":  # what it tells at this level, the console has told already
        logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    async with app.router.lifespan_context(app):
        backend: Backend = app.state.backend

        def announce() -> None:
            seconds = time.monotonic() - began
            console.ready(url_of(listener), backend.model_name, backend.summary, seconds)

        services: Services = app.state.services

        def end_answers() -> None:
            services.chat.end_waits()
            asyncio.get_running_loop().run_in_executor(None, backend.engine.stop)

        def end_now(exit_code: int) -> None:
            console.stopped()
            end_process(exit_code)

        server = _Server(
            config,
            announce=announce,
            grace_s=settings.shutdown_grace_s,
            end_answers=end_answers,
            end_now=end_now,
        )
        # Libraries and the model stay, so that no request waits while the collector looks through them.
        gc.collect()
        gc.freeze()
        try:
            await server.serve(sockets=[listener])
        except StopRequested:
            console.stopped()
