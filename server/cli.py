"""The command ``syntagma``."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from server import __version__
from server.console import StartConsole, StartLog

if TYPE_CHECKING:
    from server.settings import ServerSettings

_PRECEDENCE = (
    "Every option is also a setting of the config file (YAML, with _ for -) and an environment variable "
    "(SYNTAGMA_PORT for --port). A flag beats the environment, which beats the file."
)

command = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None
)


def main() -> None:
    """Ends the process itself: a normal exit would wait for masks and grammars that are in the making."""
    from server.ending import end_process

    try:
        command()
    except SystemExit as stop:
        end_process(stop.code if isinstance(stop.code, int) else int(stop.code is not None))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"syntagma {__version__}")
        raise typer.Exit


@command.callback()
def _syntagma(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """An OpenAI-compatible server whose answers always obey the grammar you send."""


def _option(help_text: str) -> Any:
    return typer.Option(help=help_text, show_default=False)


@command.command(epilog=_PRECEDENCE)
def serve(
    config: Annotated[
        Path | None, typer.Option(help="YAML file with settings.", envvar="SYNTAGMA_CONFIG")
    ] = None,
    model: Annotated[
        str | None, _option("Hugging Face model directory or hub id [default: the embedded small model].")
    ] = None,
    served_model_name: Annotated[str | None, _option("Name clients use [default: the model's].")] = None,
    host: Annotated[str | None, _option("Address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[int | None, _option("Port; 0 takes a free one [default: 8000].")] = None,
    device: Annotated[str | None, _option("auto, cpu, cuda, cuda:1, ... [default: auto].")] = None,
    dtype: Annotated[str | None, _option("auto, float32, bfloat16 or float16 [default: auto].")] = None,
    max_batch_size: Annotated[
        int | None, _option("Requests that generate at the same time [default: 32].")
    ] = None,
    max_waiting: Annotated[
        int | None, _option("Requests that wait for a place; more get 503 [default: 256].")
    ] = None,
    kv_cache_bytes: Annotated[
        int | None, _option("Memory for the attention cache, in bytes [default: 2 GiB].")
    ] = None,
    grammar_threads: Annotated[
        int | None, _option("Grammars that compile at the same time [default: 2].")
    ] = None,
    grammar_max_pending: Annotated[
        int | None, _option("Different grammars that may wait to be compiled [default: 64].")
    ] = None,
    grammar_timeout_s: Annotated[
        float | None, _option("Seconds a request waits for its grammar [default: 10].")
    ] = None,
    grammar_max_bytes: Annotated[int | None, _option("Longest grammar, in bytes [default: 1 MiB].")] = None,
    grammar_cache_bytes: Annotated[
        int | None, _option("Memory for compiled grammars, in bytes [default: 512 MiB].")
    ] = None,
    grammars: Annotated[
        list[str] | None, _option("NAME=FILE: a grammar that requests can name; may be repeated.")
    ] = None,
    max_body_bytes: Annotated[
        int | None, _option("Longest request body, in bytes [default: 10 MiB].")
    ] = None,
    body_timeout_s: Annotated[
        float | None, _option("Seconds a client may take to send a body [default: 60].")
    ] = None,
    max_answer_tokens: Annotated[
        int | None, _option("Longest answer that may be asked for [default: what the context leaves].")
    ] = None,
    max_logprobs: Annotated[
        int | None, _option("Most likeliest tokens beside each that may be asked for [default: 20].")
    ] = None,
    logprobs_mode: Annotated[
        str | None,
        _option("raw_logprobs, the model's own, or processed_logprobs, those that are sampled from."),
    ] = None,
    scheduling_policy: Annotated[
        str | None, _option("fcfs, or priority to let requests have priorities [default: fcfs].")
    ] = None,
    allow_request_chat_template: Annotated[
        bool | None,
        typer.Option(
            "--allow-request-chat-template/--no-allow-request-chat-template",
            help="Let requests bring a chat template [default: off].",
        ),
    ] = None,
    api_key: Annotated[
        list[str] | None, _option("A key that clients must send; may be given again [default: none].")
    ] = None,
    api_key_file: Annotated[
        Path | None, _option("File with keys, or names and keys, one a line [default: none].")
    ] = None,
    requests_per_minute: Annotated[
        int | None, _option("Requests a client may send in a minute; more get 429 [default: no limit].")
    ] = None,
    concurrent_requests: Annotated[
        int | None, _option("Requests of a client at the same time; more get 429 [default: no limit].")
    ] = None,
    cors_origin: Annotated[
        list[str] | None, _option("Origin whose web pages may ask; may be given again [default: none].")
    ] = None,
    max_stored_responses: Annotated[
        int | None, _option("Responses that can be asked for later [default: 1000].")
    ] = None,
    max_stored_response_bytes: Annotated[
        int | None, _option("Memory for them, in bytes [default: 64 MiB].")
    ] = None,
    keep_alive_s: Annotated[
        float | None, _option("Seconds until a stream without events sends a comment [default: 15].")
    ] = None,
    shutdown_grace_s: Annotated[
        int | None, _option("Seconds running answers may go on after Ctrl-C [default: 5].")
    ] = None,
    log_level: Annotated[str | None, _option("debug, info, warning or error [default: info].")] = None,
    log_format: Annotated[str | None, _option("text or json [default: text].")] = None,
    otlp_endpoint: Annotated[
        str | None, _option("Where traces are sent, as OTLP over HTTP [default: nowhere].")
    ] = None,
    access_log: Annotated[
        bool | None, typer.Option("--access-log/--no-access-log", help="Log every request [default: on].")
    ] = None,
) -> None:
    """Start the server; without options, on the embedded small model."""
    flags = {name: value for name, value in locals().items() if value not in (None, []) and name != "config"}
    from server.settings import SettingsError, load_settings

    console = StartConsole()
    try:
        settings = load_settings(config, flags)
    except SettingsError as error:
        console.failed(str(error))
        raise typer.Exit(2) from None
    raise typer.Exit(_serve(settings, console if settings.log_format == "text" else StartLog()))


_Grammar = Annotated[
    str, typer.Argument(metavar="GRAMMAR", help="File with the grammar as EBNF text; - is standard input.")
]
_Root = Annotated[str, typer.Option(help="The rule to start from.")]


@command.command(
    short_help="Check a grammar, or whether texts are in its language.",
    epilog="Exit codes: 0 all is well; 1 a text is not in the language; 2 a grammar or file cannot be used.",
)
def check(
    grammar: _Grammar,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILE", help="Texts to check; - is standard input.")
    ] = None,
    root: _Root = "root",
    trim: Annotated[
        bool, typer.Option("--trim", help="Leave out the line break at the end of each text.")
    ] = False,
) -> None:
    """Check a grammar, or texts: is each in the language, and if not, why?

    Without FILE, prints the rules as they are understood and warns of rules that are of no use.
    """
    from server.commands.check import check_grammar, check_texts

    exit_code = check_texts(grammar, root, files, trim=trim) if files else check_grammar(grammar, root)
    raise typer.Exit(exit_code)


@command.command()
def sample(
    grammar: _Grammar,
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many sentences.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed draws the same sentences.")] = 0,
    max_length: Annotated[
        int, typer.Option(min=0, help="Characters of a sentence, or as few as the grammar allows.")
    ] = 200,
    root: _Root = "root",
    as_json: Annotated[bool, typer.Option("--json", help="Print each as a JSON string on its line.")] = False,
) -> None:
    """Draw sentences of a grammar, which together try its alternatives."""
    from server.commands.sample import print_sample

    raise typer.Exit(print_sample(grammar, root, count, seed, max_length=max_length, as_json=as_json))


def _serve(settings: ServerSettings, console: StartConsole) -> int:
    """The exit code. The port is taken first, because loading a model takes long."""
    from server.logs import configure_logs
    from server.serving import PortError, StopRequested, bind, raise_on_stop_signals

    configure_logs(settings.log_level, settings.log_format)
    raise_on_stop_signals()
    try:
        with bind(settings.host, settings.port) as listener:
            console.starting(settings.model)
            return _load_and_serve(settings, listener, console)
    except PortError as error:
        console.failed(f"{error} (choose another with --host and --port)")
        return 1
    except StopRequested as stop:
        console.stopped()
        return stop.exit_code


def _load_and_serve(settings: ServerSettings, listener: socket.socket, console: StartConsole) -> int:
    """Imports what takes seconds to import, so that ``--help`` and errors in the settings are quick."""
    from models.embedded import EmbeddedModelError
    from models.loading import ModelLoadError
    from server.app import create_app
    from server.constraints.configured import ConfiguredGrammarError
    from server.middleware.api_keys import ApiKeyFileError
    from server.serving import serve
    from server.tracing import TracingError

    _hide_loading_bars()
    try:
        serve(create_app(settings), settings, listener, console)
    except (
        ApiKeyFileError,
        ConfiguredGrammarError,
        EmbeddedModelError,
        ModelLoadError,
        TracingError,
    ) as error:
        console.failed(str(error))
        return 1
    return 0


def _hide_loading_bars() -> None:
    """Those of reading weights, which is quick; what a model's download draws stays."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, enable_progress_bars
    from transformers.utils import logging

    are_downloads_shown = not are_progress_bars_disabled()
    logging.disable_progress_bar()
    if are_downloads_shown:
        enable_progress_bars()
