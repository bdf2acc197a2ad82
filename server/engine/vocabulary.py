"""The bytes of every token, control tokens included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def with_control_tokens(vocabulary: Sequence[bytes], tokenizer: Any) -> list[bytes]:
    """`vocabulary`, in which control tokens have no bytes, with the texts that a tokenizer has for them."""
    complete = list(vocabulary)
    for token_id, token in tokenizer.added_tokens_decoder.items():
        if token_id < len(complete) and not complete[token_id]:
            complete[token_id] = str(token).encode()
    return complete
