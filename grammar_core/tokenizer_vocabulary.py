"""Reads the vocabulary out of a tokenizer object, whatever library it comes from.

Tokenizers are recognised by what they offer, not by their class, so none of their libraries is imported here:
``tokenizers`` (and the fast tokenizers of transformers), tiktoken encodings and the classes that wrap one,
Tekken, SentencePiece, and slow tokenizers that list their pieces. `read_vocabulary` is the only entry.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from grammar_core.token_bytes import (
    PieceFormat,
    UnsupportedTokenizerError,
    VocabType,
    decode_pieces,
    detect_format,
    format_of_decoder,
    standard_format,
)

STOP_STRINGS = frozenset(
    {
        "</s>",
        "<eos>",
        "<|eos|>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|eot|>",
        "<|eom|>",
        "<|im_end|>",
        "<|end_of_turn|>",
        "<end_of_turn>",
        "<turn|>",
        "<|return|>",
        "<|call|>",
        "<｜end▁of▁sentence｜>",
    }
)

# tiktoken knows no difference between a control token and a marker that is part of the text.
_TEXT_MARKERS = frozenset(
    {"<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"}
)


class Vocabulary(NamedTuple):
    """A vocabulary as read: bytes by id (b"" for holes and control tokens), and what is known about it."""

    tokens: list[bytes]
    control_ids: frozenset[int]
    stop_ids: list[int]
    vocab_type: VocabType
    add_prefix_space: bool
    control_texts: Mapping[int, str] = MappingProxyType({})
    """How control tokens are written, as far as that is known."""


def read_vocabulary(tokenizer: Any) -> Vocabulary:
    """Read the vocabulary of ``tokenizer``.

    Raises `UnsupportedTokenizerError` (a ``ValueError``) when the object is of no known kind.
    """
    for read in _READERS:
        vocabulary = read(tokenizer)
        if vocabulary is not None:
            return vocabulary
    raise UnsupportedTokenizerError(f"Unsupported tokenizer type: {type(tokenizer)}")


# -- tokenizers and fast tokenizers of transformers --------------------------------------------------------


def _read_fast(tokenizer: Any) -> Vocabulary | None:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "get_added_tokens_decoder") or not hasattr(backend, "decoder"):
        return None
    pieces = _pieces_by_id(backend.get_vocab(with_added_tokens=True))
    added = backend.get_added_tokens_decoder()
    control = {token_id for token_id, token in added.items() if token.special} | _special_ids(tokenizer)
    unknown = backend.token_to_id(getattr(backend.model, "unk_token", None) or "")
    if unknown is not None:
        control.add(unknown)
    return _vocabulary(
        tokenizer, pieces, control, _format_of_backend(backend, pieces, added), _adds_prefix_space(backend)
    )


def _format_of_backend(backend: Any, pieces: list[str], added: Mapping[int, Any]) -> PieceFormat:
    if backend.decoder is not None:
        return format_of_decoder(backend.decoder.__getstate__())
    if '"ByteLevel"' in _state(backend.pre_tokenizer):
        return standard_format(VocabType.BYTE_LEVEL)
    return detect_format(piece for token_id, piece in enumerate(pieces) if token_id not in added)


def _state(component: Any) -> str:
    """The JSON of a pre-tokenizer or normaliser; empty for parts written in Python, which have none."""
    try:
        state = component.__getstate__() if component is not None else b""
    except Exception:
        return ""
    return state.decode() if isinstance(state, bytes) else ""


def _adds_prefix_space(backend: Any) -> bool:
    normalizer, pre_tokenizer = _state(backend.normalizer), _state(backend.pre_tokenizer)
    if '"Prepend"' in normalizer:
        return True
    if '"Metaspace"' in pre_tokenizer:
        return '"prepend_scheme":"never"' not in pre_tokenizer
    return '"add_prefix_space":true' in pre_tokenizer


# -- tiktoken and its wrappers -----------------------------------------------------------------------------


def _read_tiktoken(tokenizer: Any) -> Vocabulary | None:
    found = _find_ranks(tokenizer)
    if found is None:
        return None
    ranks, specials = found
    size = max([*ranks.values(), *specials.values()]) + 1
    tokens = [b""] * size
    for token, token_id in ranks.items():
        tokens[token_id] = token
    flags = _added_token_flags(tokenizer)
    control = set()
    for text, token_id in specials.items():
        if flags.get(token_id, text not in _TEXT_MARKERS):
            control.add(token_id)
            tokens[token_id] = b""
        else:
            tokens[token_id] = text.encode()
    texts = {token_id: text for text, token_id in specials.items()}
    stop_ids = _stop_ids(tokenizer, texts, control)
    return Vocabulary(tokens, frozenset(control), stop_ids, VocabType.RAW, False, _of_control(texts, control))


def _find_ranks(tokenizer: Any) -> tuple[dict[bytes, int], dict[str, int]] | None:
    inner = [getattr(tokenizer, name, None) for name in ("tokenizer", "_tokenizer", "model", "encoding")]
    for candidate in (tokenizer, *inner):
        for prefix in ("_", ""):
            ranks = getattr(candidate, f"{prefix}mergeable_ranks", None)
            specials = getattr(candidate, f"{prefix}special_tokens", None)
            if isinstance(ranks, dict) and isinstance(specials, dict) and ranks:
                return ranks, specials
    return None


def _added_token_flags(tokenizer: Any) -> dict[int, bool]:
    added = getattr(tokenizer, "added_tokens_decoder", None)
    if not isinstance(added, dict):
        return {}
    return {token_id: bool(getattr(token, "special", True)) for token_id, token in added.items()}


# -- Tekken ------------------------------------------------------------------------------------------------


def _read_tekken(tokenizer: Any) -> Vocabulary | None:
    tekken = _inner_mistral(tokenizer)
    if not hasattr(tekken, "id_to_byte_piece"):
        return None
    tokens = [tekken.id_to_byte_piece(token_id) for token_id in range(tekken.n_words)]
    control = set(tekken.special_ids)
    texts = {token_id: tekken.id_to_piece(token_id) for token_id in control}
    stop_ids = _stop_ids(tekken, texts, control)
    return Vocabulary(tokens, frozenset(control), stop_ids, VocabType.RAW, False, texts)


def _inner_mistral(tokenizer: Any) -> Any:
    """The tokenizer proper, inside of the classes that add Mistral's chat format."""
    if hasattr(getattr(tokenizer, "tokenizer", None), "instruct_tokenizer"):
        tokenizer = tokenizer.tokenizer
    return tokenizer.instruct_tokenizer.tokenizer if hasattr(tokenizer, "instruct_tokenizer") else tokenizer


# -- SentencePiece and slow tokenizers ---------------------------------------------------------------------


def _read_slow(tokenizer: Any) -> Vocabulary | None:
    """Slow tokenizers of transformers: pieces by id as they list them."""
    if not callable(getattr(tokenizer, "get_vocab", None)) or not hasattr(tokenizer, "added_tokens_decoder"):
        return None
    vocab = tokenizer.get_vocab()
    if not isinstance(vocab, dict) or not all(isinstance(piece, str) for piece in vocab):
        return None
    pieces = _pieces_by_id(vocab)
    flags = _added_token_flags(tokenizer)
    control = {token_id for token_id, special in flags.items() if special} | _special_ids(tokenizer)
    if hasattr(tokenizer, "sp_model"):
        piece_format = standard_format(VocabType.BYTE_FALLBACK)
    else:
        piece_format = detect_format(piece for token_id, piece in enumerate(pieces) if token_id not in flags)
    return _vocabulary(tokenizer, pieces, control, piece_format, hasattr(tokenizer, "sp_model"))


def _read_sentencepiece(tokenizer: Any) -> Vocabulary | None:
    inner = _inner_mistral(tokenizer)
    for candidate in (inner, getattr(inner, "_model", None), getattr(inner, "sp_model", None)):
        if all(hasattr(candidate, name) for name in ("id_to_piece", "is_control", "get_piece_size")):
            return _vocabulary_of_processor(tokenizer, candidate)
    return None


def _vocabulary_of_processor(tokenizer: Any, processor: Any) -> Vocabulary:
    ids = range(processor.get_piece_size())
    pieces = [processor.id_to_piece(token_id) for token_id in ids]
    control = {
        token_id for token_id in ids if processor.is_control(token_id) or processor.is_unknown(token_id)
    }
    piece_format = standard_format(VocabType.BYTE_FALLBACK)
    return _vocabulary(tokenizer, pieces, control, piece_format, add_prefix_space=True)


# -- shared by the readers ---------------------------------------------------------------------------------


def _pieces_by_id(vocab: Mapping[str, int]) -> list[str]:
    pieces = [""] * (max(vocab.values(), default=-1) + 1)
    for piece, token_id in vocab.items():
        pieces[token_id] = piece
    return pieces


def _vocabulary(
    tokenizer: Any, pieces: list[str], control: set[int], piece_format: PieceFormat, add_prefix_space: bool
) -> Vocabulary:
    control = {token_id for token_id in control if token_id < len(pieces)}
    texts = {token_id: pieces[token_id] for token_id in control}
    readable = list(pieces)
    for token_id in control:
        readable[token_id] = ""
    tokens = decode_pieces(readable, piece_format)
    stop_ids = _stop_ids(tokenizer, texts, control)
    return Vocabulary(tokens, frozenset(control), stop_ids, piece_format.vocab_type, add_prefix_space, texts)


def _of_control(texts: Mapping[int, str], control: Iterable[int]) -> dict[int, str]:
    return {token_id: texts[token_id] for token_id in control if token_id in texts}


def _special_ids(tokenizer: Any) -> set[int]:
    ids = getattr(tokenizer, "all_special_ids", None)
    return {token_id for token_id in ids if isinstance(token_id, int)} if ids else set()


def _stop_ids(tokenizer: Any, control_texts: Mapping[int, str], control: Iterable[int]) -> list[int]:
    """Ids that end an answer: the tokenizer's own, its model's generation config, and well-known ones.

    The well-known texts count only as control tokens: in some vocabularies ``</s>`` is a piece of HTML.
    """
    found = set(_int_ids(getattr(tokenizer, "eos_token_id", None)))
    found.update(_int_ids(getattr(tokenizer, "eot_token", None)))
    found.update(_int_ids(getattr(tokenizer, "stop_tokens", None)))
    found.update(_int_ids(getattr(tokenizer, "eos_id", None)))
    found.update(_generation_config_ids(getattr(tokenizer, "name_or_path", None)))
    found.update(token_id for token_id in control if control_texts[token_id] in STOP_STRINGS)
    return sorted(found)


def _int_ids(value: Any) -> list[int]:
    if callable(value):
        value = value()
    values = value if isinstance(value, (list, tuple, set, frozenset)) else [value]
    return [item for item in values if isinstance(item, int) and not isinstance(item, bool) and item >= 0]


def _generation_config_ids(name_or_path: Any) -> list[int]:
    """The ``eos_token_id`` of a generation config that lies beside the tokenizer's files."""
    if not isinstance(name_or_path, str) or not name_or_path:
        return []
    try:
        config = json.loads((Path(name_or_path) / "generation_config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return _int_ids(config.get("eos_token_id")) if isinstance(config, dict) else []


_READERS: tuple[Callable[[Any], Vocabulary | None], ...] = (
    _read_fast,
    _read_tekken,
    _read_tiktoken,
    _read_sentencepiece,
    _read_slow,
)
