"""Which fields that this server does not implement may still be sent, and with which values.

Real clients send some fields with the value that means "nothing special". Those pass. Every other
value of a field that is not implemented is refused by name: a constraint or an option that would be
ignored is worse than an error.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Mapping
from typing import Any

from server.errors import ApiError, invalid_request

_LONGEST_NAME = 100

# Field -> the values, besides null, that ask for what the server does anyway.
HARMLESS_VALUES: Mapping[str, tuple[Any, ...]] = {
    # OpenAI
    "functions": ([],),
    "function_call": ("none",),
    "modalities": (["text"],),
    "store": (False,),
    "service_tier": ("auto", "default"),
    "verbosity": (),
    "audio": (),
    "prediction": (),
    "suffix": ("",),
    "web_search_options": (),
    # constraints
    "guided_decoding_backend": ("auto",),
    # other servers
    "best_of": (1,),
    "use_beam_search": (False,),
    "length_penalty": (1,),
    "repetition_detection": (),
    "return_prompt_text": (False,),
    "stream_interval": (1,),
    "vllm_xargs": ({},),
}


def keep_implemented(body: Mapping[str, Any], implemented: Collection[str]) -> dict[str, Any]:
    """`body` without the harmless fields that the server does not implement.

    Raises:
        ApiError: 400 that names the first field which is unknown, or known but not implemented.
    """
    kept = {}
    for name, value in body.items():
        if name in implemented:
            kept[name] = value
        elif name not in HARMLESS_VALUES:
            raise _unknown_field(name[:_LONGEST_NAME], implemented)
        elif not _is_harmless(value, HARMLESS_VALUES[name]):
            raise _unsupported_field(name)
    return kept


def _is_harmless(value: Any, allowed: tuple[Any, ...]) -> bool:
    # In Python True == 1 and False == 0, in JSON they differ.
    return value is None or any(
        value == harmless and isinstance(value, bool) == isinstance(harmless, bool) for harmless in allowed
    )


def _unsupported_field(name: str) -> ApiError:
    allowed = [json.dumps(value) for value in HARMLESS_VALUES[name]]
    exception = f" (other than as {' or '.join(allowed)})" if allowed else ""
    message = f"The field '{name}' is not supported by this server{exception}, and it is not ignored."
    return invalid_request(message, param=name, code="unsupported_parameter")


def _unknown_field(name: str, implemented: Collection[str]) -> ApiError:
    close = difflib.get_close_matches(name, [*implemented, *HARMLESS_VALUES], n=1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return invalid_request(f"Unknown field '{name}'.{hint}", param=name, code="unknown_parameter")
