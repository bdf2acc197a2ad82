"""How a vocabulary writes its tokens, and the bytes that each written token stands for.

Tokenizers write the same byte strings in three ways: as they are (``RAW``), with SentencePiece's ``▁`` for a
space and ``<0x0A>`` for a single byte (``BYTE_FALLBACK``), or in GPT-2's alphabet of 256 printable characters
(``BYTE_LEVEL``). `decode_pieces` turns any of them into bytes; 260,000 tokens take about 0.1 s.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

SPACE_MARK = "▁"
_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_MIN_EVIDENCE = 128  # pieces of a kind before a vocabulary counts as written that way
_IGNORED_STEPS = frozenset({"Fuse", "Strip"})  # they act on whole texts, never on a token in the middle


class VocabType(Enum):
    """How the tokens of a vocabulary are written."""

    RAW = 0
    BYTE_FALLBACK = 1
    BYTE_LEVEL = 2


class UnsupportedTokenizerError(ValueError):
    """The tokenizer's tokens do not stand for fixed byte strings, or their form is unknown."""


class PieceFormat(NamedTuple):
    """How written tokens become bytes: the kind, and the replacements made before (old, new)."""

    vocab_type: VocabType
    replacements: tuple[tuple[str, str], ...] = ()


def _byte_level_alphabet() -> dict[str, int]:
    """GPT-2's alphabet: printable Latin-1 stands for itself, other bytes for U+0100 onwards."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    alphabet = {chr(byte): byte for byte in printable}
    alphabet.update({chr(0x100 + index): byte for index, byte in enumerate(others)})
    return alphabet


BYTE_LEVEL_ALPHABET = _byte_level_alphabet()
_OUTSIDE = 0x10FFFF  # not in Latin-1, so that encoding a translated foreign character fails
_BYTE_LEVEL_TABLE = dict.fromkeys(range(256), _OUTSIDE) | {
    ord(char): byte for char, byte in BYTE_LEVEL_ALPHABET.items()
}


def encode_byte_level(token: bytes) -> str:
    """Write ``token`` in GPT-2's alphabet."""
    return "".join(_BYTE_LEVEL_CHARS[byte] for byte in token)


_BYTE_LEVEL_CHARS = {byte: char for char, byte in BYTE_LEVEL_ALPHABET.items()}


def _decode_byte_level_piece(piece: str) -> bytes:
    """A piece with characters outside the alphabet is text, as the byte-level decoder itself has it."""
    try:
        return piece.translate(_BYTE_LEVEL_TABLE).encode("latin-1")
    except UnicodeEncodeError:
        return piece.encode()


def _decode_byte_level(pieces: Sequence[str]) -> list[bytes]:
    try:
        joined = "".join(pieces).translate(_BYTE_LEVEL_TABLE).encode("latin-1")
    except UnicodeEncodeError:
        return [_decode_byte_level_piece(piece) for piece in pieces]
    decoded = []
    start = 0
    for piece in pieces:
        end = start + len(piece)
        decoded.append(joined[start:end])
        start = end
    return decoded


def _decode_byte_fallback_piece(piece: str) -> bytes:
    if len(piece) == 6 and (match := _BYTE_PIECE.fullmatch(piece)):
        return bytes([int(match[1], 16)])
    return piece.encode()


def decode_pieces(pieces: Sequence[str | bytes], piece_format: PieceFormat) -> list[bytes]:
    """The bytes of each written token. Tokens given as bytes that are not UTF-8 are taken as they are."""
    if piece_format.vocab_type is VocabType.RAW and not piece_format.replacements:
        return [piece if isinstance(piece, bytes) else piece.encode() for piece in pieces]
    texts = [piece if isinstance(piece, str) else _text_or_none(piece) for piece in pieces]
    if all(text is not None for text in texts):
        return _decode_texts([text for text in texts if text is not None], piece_format)
    return [
        bytes(piece) if text is None else _decode_texts([text], piece_format)[0]  # type: ignore[arg-type]
        for piece, text in zip(pieces, texts, strict=True)
    ]


def _text_or_none(piece: bytes) -> str | None:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return None


def _decode_texts(texts: list[str], piece_format: PieceFormat) -> list[bytes]:
    for old, new in piece_format.replacements:
        texts = [text.replace(old, new) for text in texts]
    if piece_format.vocab_type is VocabType.BYTE_LEVEL:
        return _decode_byte_level(texts)
    if piece_format.vocab_type is VocabType.BYTE_FALLBACK:
        return [_decode_byte_fallback_piece(text) for text in texts]
    return [text.encode() for text in texts]


def standard_format(vocab_type: VocabType) -> PieceFormat:
    """The usual format of a kind of vocabulary: ``▁`` is a space where byte pieces are used."""
    spaces = ((SPACE_MARK, " "),) if vocab_type is VocabType.BYTE_FALLBACK else ()
    return PieceFormat(vocab_type, spaces)


def detect_format(pieces: Iterable[str]) -> PieceFormat:
    """Guess the format from the pieces themselves, for tokenizers that do not tell."""
    byte_pieces = byte_chars = inside = total = 0
    alphabet = frozenset(BYTE_LEVEL_ALPHABET)
    for piece in pieces:
        total += 1
        byte_pieces += len(piece) == 6 and _BYTE_PIECE.fullmatch(piece) is not None
        if alphabet.issuperset(piece):
            inside += 1
            byte_chars += len(piece) == 1
    if byte_pieces >= _MIN_EVIDENCE:
        return standard_format(VocabType.BYTE_FALLBACK)
    if byte_chars >= _MIN_EVIDENCE and inside >= 0.99 * total:
        return standard_format(VocabType.BYTE_LEVEL)
    return standard_format(VocabType.RAW)


def format_of_decoder(decoder: bytes | str) -> PieceFormat:
    """The format that a ``tokenizers`` decoder, given as its JSON, undoes.

    Raises `UnsupportedTokenizerError` where a token's text depends on its neighbours (WordPiece, CTC, …).
    """
    vocab_type = VocabType.RAW
    replacements: list[tuple[str, str]] = []
    for step in _decoder_steps(json.loads(decoder)):
        kind = step["type"]
        if kind == "ByteLevel":
            vocab_type = VocabType.BYTE_LEVEL
        elif kind == "ByteFallback":
            vocab_type = VocabType.BYTE_FALLBACK
        elif kind == "Metaspace":
            replacements.append((step["replacement"], " "))
        elif kind == "Replace" and "String" in step["pattern"]:
            replacements.append((step["pattern"]["String"], step["content"]))
        elif kind not in _IGNORED_STEPS:
            raise UnsupportedTokenizerError(f"Unsupported tokenizer type: decoder step {kind}")
    if vocab_type is VocabType.RAW and replacements:
        vocab_type = VocabType.BYTE_FALLBACK
    return PieceFormat(vocab_type, tuple(replacements))


def _decoder_steps(spec: dict[str, Any]) -> list[dict[str, Any]]:
    pending = [spec]
    steps = []
    while pending:
        step = pending.pop(0)
        if step["type"] == "Sequence":
            pending[:0] = step["decoders"]
        else:
            steps.append(step)
    return steps
