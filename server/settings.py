"""The server's settings: from command line flags, the environment and a YAML file, in that order.

A flag beats an environment variable, which beats the file, which beats the default. The name of the
environment variable of a setting is ``SYNTAGMA_`` and its name in capitals.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)

ENVIRONMENT_PREFIX = "SYNTAGMA_"
# Read by others than this class.
_OTHER_VARIABLES = frozenset(
    {"SYNTAGMA_CONFIG", "SYNTAGMA_CACHE_DIR", "SYNTAGMA_TOKENIZERS", "SYNTAGMA_BASE_URL"}
)

LogprobsMode = Literal["raw_logprobs", "processed_logprobs"]
LogLevel = Literal["debug", "info", "warning", "error"]
DType = Literal["auto", "float32", "bfloat16", "float16"]


def _split(value: Any) -> Any:
    """An environment variable has its values separated by commas."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


ListOfTexts = Annotated[list[str], NoDecode, BeforeValidator(_split)]
Positive = Annotated[int, Field(ge=1)]


def _split_names(value: Any) -> Any:
    """What flags say, NAME=FILE, as a mapping; any other value unchanged."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(item, str) and all(item.partition("=")) for item in value):
        raise ValueError("every grammar is given as NAME=FILE")
    return dict(item.split("=", 1) for item in value)


NamedFiles = Annotated[dict[str, Path], BeforeValidator(_split_names)]


class SettingsError(Exception):
    """The settings cannot be used; the message says which one, where it comes from and why."""


class ServerSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=ENVIRONMENT_PREFIX, extra="forbid")

    model: str | None = None
    """A Hugging Face model directory or hub id; without it, the embedded model."""
    served_model_name: str | None = None
    """The name clients use; by default the name of the model."""
    device: str = "auto"
    """``auto``, ``cpu``, ``cuda``, ``cuda:1`` …"""
    dtype: DType = "auto"

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    """0 takes a free one."""

    max_batch_size: Positive = 32
    """Requests that generate at the same time."""
    max_waiting: Positive = 256
    """Requests that wait for a place; more are answered 503."""
    kv_cache_bytes: Positive = 2 << 30
    """Memory for the attention cache of all running requests."""

    grammar_threads: Positive = 2
    """Grammars that compile at the same time."""
    grammar_max_pending: Positive = 64
    """Different grammars that compile or wait for it; more are answered 503."""
    grammar_timeout_s: Annotated[float, Field(gt=0)] = 10.0
    """The longest a request waits for its grammar."""
    grammar_max_bytes: Positive = 1 << 20
    """The longest grammar."""
    grammar_cache_bytes: Positive = 512 << 20
    """Memory for compiled grammars."""

    grammars: NamedFiles = {}
    """Files with grammars that requests can name (`grammar_ref`), by name. In the config file they are
    relative to it."""

    max_body_bytes: Positive = 10 << 20
    """The longest request body."""
    body_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    """How long a client may take to send a request's body."""
    max_answer_tokens: Positive | None = None
    """The longest answer that may be asked for; without it, what the context leaves."""
    max_logprobs: Annotated[int, Field(ge=0, le=1000)] = 20
    """The most likeliest tokens that may be asked for beside each token."""
    logprobs_mode: LogprobsMode = "raw_logprobs"
    """Which logprobs a request gets that does not say: the model's own, or those that are sampled from."""
    scheduling_policy: Literal["fcfs", "priority"] = "fcfs"
    """Whether requests may have priorities."""
    allow_request_chat_template: bool = False
    """Whether a request may bring a chat template, which is a program that runs in the server's sandbox."""
    api_key: ListOfTexts = []
    """Keys that clients must send; without any, everybody may ask."""
    api_key_file: Path | None = None
    """A file with more keys: a key, or a name and a key, on each line."""
    requests_per_minute: Positive | None = None
    """How many requests a client may send; clients are told apart by their keys, or by their addresses."""
    concurrent_requests: Positive | None = None
    """How many requests of a client may be in the making at the same time."""
    cors_origin: ListOfTexts = []
    """Origins whose web pages may ask; "*" is all."""
    max_stored_responses: Annotated[int, Field(ge=0)] = 1000
    """How many responses can be asked for later."""
    max_stored_response_bytes: Positive = 64 << 20
    """Memory for them."""
    keep_alive_s: Annotated[float, Field(ge=0)] = 15.0
    """After so long without an event a stream sends a comment; 0 is never."""
    shutdown_grace_s: Annotated[int, Field(ge=0)] = 5
    """How long running answers may go on after the server was told to stop."""
    log_level: LogLevel = "info"
    log_format: Literal["text", "json"] = "text"
    access_log: bool = True
    otlp_endpoint: str | None = None
    """Where traces are sent (OTLP over HTTP), such as http://localhost:4318; needs the extra "tracing"."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, YamlConfigSettingsSource(settings_cls)


def load_settings(config_file: Path | None, flags: Mapping[str, Any]) -> ServerSettings:
    """The settings from `flags` (those that were given), the environment and `config_file`.

    Raises:
        SettingsError: The file cannot be read, or a name or value is wrong.
    """
    _check_file(config_file)
    _check_environment()

    class FileSettings(ServerSettings):
        model_config = SettingsConfigDict(yaml_file=config_file)

    try:
        settings = FileSettings(**flags)
    except ValidationError as error:
        raise SettingsError(_describe(error, config_file, flags)) from None
    if config_file is not None and _is_from_file("grammars", flags):
        settings.grammars = {name: config_file.parent / file for name, file in settings.grammars.items()}
    return settings


def _is_from_file(name: str, flags: Mapping[str, Any]) -> bool:
    return name not in flags and ENVIRONMENT_PREFIX + name.upper() not in os.environ


def _check_file(config_file: Path | None) -> None:
    if config_file is None:
        return
    try:
        content = yaml.safe_load(config_file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read the config file {config_file}: {error}") from None
    except yaml.YAMLError as error:
        raise SettingsError(f"the config file {config_file} is not valid YAML: {error}") from None
    if content is not None and not isinstance(content, dict):
        raise SettingsError(f"the config file {config_file} must hold settings as 'name: value' lines")


def _check_environment() -> None:
    known = {ENVIRONMENT_PREFIX + name.upper() for name in ServerSettings.model_fields} | _OTHER_VARIABLES
    for name in sorted(os.environ):
        if name.upper().startswith(ENVIRONMENT_PREFIX) and name.upper() not in known:
            raise SettingsError(f"unknown environment variable {name}{_suggestion(name.upper(), known)}")


def _describe(error: ValidationError, config_file: Path | None, flags: Mapping[str, Any]) -> str:
    return "\n".join(
        _describe_one(str(details["loc"][0]), details["type"], details["msg"], config_file, flags)
        for details in error.errors(include_url=False)
    )


def _describe_one(
    name: str, kind: str, message: str, config_file: Path | None, flags: Mapping[str, Any]
) -> str:
    if kind == "extra_forbidden":
        return f"unknown setting '{name}' in {config_file}{_suggestion(name, ServerSettings.model_fields)}"
    return f"invalid {_origin(name, config_file, flags)}: {message}"


def _origin(name: str, config_file: Path | None, flags: Mapping[str, Any]) -> str:
    variable = ENVIRONMENT_PREFIX + name.upper()
    if name in flags:
        return f"--{name.replace('_', '-')}"
    if variable in os.environ:
        return f"environment variable {variable}"
    return f"setting '{name}' in {config_file}"


def _suggestion(name: str, known: Any) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]}?)" if close else ""
