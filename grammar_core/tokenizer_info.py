"""A tokenizer as the engine sees it: the bytes of every token id, and which ids end a text.

>>> info = TokenizerInfo([b"a", b"bc", "</s>"])
>>> info.decoded_vocab, info.stop_token_ids, info.vocab_size
([b'a', b'bc', b'</s>'], [2], 3)

Nothing here imports torch or transformers: `TokenizerInfo.from_huggingface` only looks at the object given.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from grammar_core import _native
from grammar_core.errors import DeserializeFormatError, DeserializeVersionError
from grammar_core.token_bytes import UnsupportedTokenizerError, VocabType, decode_pieces, standard_format
from grammar_core.tokenizer_vocabulary import STOP_STRINGS, Vocabulary, read_vocabulary

__all__ = [
    "TokenizerInfo",
    "UnsupportedTokenizerError",
    "VocabType",
]

_SERIALIZATION_VERSION = "1"


_LARGEST_VOCABULARY = 2**24


class TokenizerInfo:
    """The bytes of every token, the width of the logits, and the tokens that end a text. Immutable.

    ``encoded_vocab``: the tokens by id, written as ``vocab_type`` says; ``str`` stands for its UTF-8 bytes.
    ``vocab_size``: the number of logits a model has, at least ``len(encoded_vocab)`` (the default); ids above
    the vocabulary are padding. ``stop_token_ids``: one id or several; by default those whose text is a
    well-known end marker such as ``</s>``.

    Raises ``ValueError`` for a size too small or a stop id out of range.
    """

    def __init__(
        self,
        encoded_vocab: Sequence[bytes | str],
        vocab_type: VocabType = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Sequence[int] | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        pieces = list(encoded_vocab)
        if not all(isinstance(piece, (str, bytes)) for piece in pieces):
            raise TypeError("every token of the vocabulary must be bytes or str")
        kind = VocabType(vocab_type)
        decoded = decode_pieces(pieces, standard_format(kind))
        if stop_token_ids is None:
            ends = STOP_STRINGS | {end.encode() for end in STOP_STRINGS}
            stop_token_ids = [token_id for token_id, piece in enumerate(pieces) if piece in ends]
        self._set(
            Vocabulary(decoded, frozenset(), id_list(stop_token_ids), kind, add_prefix_space), vocab_size
        )

    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Sequence[int] | None = None,
    ) -> TokenizerInfo:
        """Read a tokenizer: fast or slow of transformers, ``tokenizers``, tiktoken, Tekken or SentencePiece.

        Added tokens that are not special (``<think>``) match their text. Special ones are control tokens:
        they match no text, and have empty bytes. ``vocab_size`` defaults to the highest id plus one; give the
        width of the model's logits if it differs. A width below the vocabulary is accepted only when nothing
        but control tokens lies beyond it. ``stop_token_ids`` defaults to the tokenizer's end token, those of
        the generation config beside its files, and control tokens with a well-known text (``<|eot_id|>``).

        Raises ``ValueError`` when the tokenizer is of no known kind, the width too small or a stop id beyond.
        """
        vocabulary = read_vocabulary(tokenizer)
        if vocab_size is not None and vocab_size < len(vocabulary.tokens):
            vocabulary = _cut(vocabulary, vocab_size)
        if stop_token_ids is not None:
            vocabulary = vocabulary._replace(stop_ids=id_list(stop_token_ids))
        return cls._of(vocabulary, vocab_size)

    @classmethod
    def from_vocab_and_metadata(cls, encoded_vocab: Sequence[bytes | str], metadata: str) -> TokenizerInfo:
        """Build from the written tokens and what `dump_metadata` returned.

        Raises `DeserializeFormatError` when ``metadata`` is not of that form.
        """
        members = _json_object(metadata)
        control = frozenset(_member(members, "control_token_ids", list, default=[]))
        kind = _vocab_type(members)
        pieces = ["" if token_id in control else piece for token_id, piece in enumerate(encoded_vocab)]
        texts = {token_id: _as_text(encoded_vocab[token_id]) for token_id in control & _ids_of(encoded_vocab)}
        vocabulary = Vocabulary(
            decode_pieces(pieces, standard_format(kind)),
            control,
            _member(members, "stop_token_ids", list),
            kind,
            _member(members, "add_prefix_space", bool),
            texts,
        )
        return cls._of(vocabulary, _member(members, "vocab_size", int))

    @classmethod
    def _of(cls, vocabulary: Vocabulary, vocab_size: int | None) -> TokenizerInfo:
        info = cls.__new__(cls)
        info._set(vocabulary, vocab_size)
        return info

    def _set(self, vocabulary: Vocabulary, vocab_size: int | None) -> None:
        tokens = vocabulary.tokens
        size = len(tokens) if vocab_size is None else vocab_size
        if size < len(tokens):
            raise ValueError(f"vocab_size is {size}, but the vocabulary has {len(tokens)} tokens")
        outside = [token_id for token_id in vocabulary.stop_ids if not 0 <= token_id < size]
        if outside:
            raise ValueError(f"stop token ids {outside} are outside of the vocabulary of {size} tokens")
        if size > _LARGEST_VOCABULARY:
            raise ValueError(f"vocab_size {size} is larger than {_LARGEST_VOCABULARY}")
        self._vocab_type = vocabulary.vocab_type
        self._vocab_size = size
        self._add_prefix_space = vocabulary.add_prefix_space
        self._decoded_vocab = tokens + [b""] * (size - len(tokens))
        self._stop_token_ids = list(dict.fromkeys(vocabulary.stop_ids))
        self._control_token_ids = sorted(vocabulary.control_ids)
        self._control_token_texts = {
            token_id: vocabulary.control_texts[token_id]
            for token_id in self._control_token_ids
            if vocabulary.control_texts.get(token_id)
        }

    @property
    def vocab_type(self) -> VocabType:
        """How the tokens were written."""
        return self._vocab_type

    @property
    def vocab_size(self) -> int:
        """The width of the logits: tokens and padding."""
        return self._vocab_size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before the text it encodes."""
        return self._add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes of each id, `vocab_size` of them; empty for control tokens and padding. Do not change."""
        return self._decoded_vocab

    @cached_property
    def text_vocab(self) -> list[bytes]:
        """`decoded_vocab` with stop tokens empty too: the bytes that an id can add to a text."""
        tokens = list(self._decoded_vocab)
        for token_id in self._stop_token_ids:
            tokens[token_id] = b""
        return tokens

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids that end a text. They never count as text themselves, whatever their bytes."""
        return self._stop_token_ids

    @cached_property
    def special_token_ids(self) -> list[int]:
        """The ids without bytes: control tokens, padding, holes in the id space and empty tokens."""
        return [token_id for token_id, token in enumerate(self._decoded_vocab) if not token]

    @property
    def control_token_ids(self) -> list[int]:
        """The ids of tokens that exist but never match text."""
        return self._control_token_ids

    @property
    def control_token_texts(self) -> dict[int, str]:
        """How control tokens are written, such as `<|im_end|>`, by id; only those for which that is known."""
        return self._control_token_texts

    def token_ids_of(self, text: str) -> tuple[int, ...]:
        """The ids of the control tokens that are written like this; if there are none, of the text tokens."""
        return self._ids_by_text.get(text.encode("utf-8", "surrogatepass"), ())

    @cached_property
    def _ids_by_text(self) -> dict[bytes, tuple[int, ...]]:
        control: dict[bytes, tuple[int, ...]] = {}
        for token_id, text in self._control_token_texts.items():
            key = text.encode("utf-8", "surrogatepass")
            control[key] = (*control.get(key, ()), token_id)
        found: dict[bytes, tuple[int, ...]] = {}
        for token_id, token in enumerate(self._decoded_vocab):
            if token:
                found[token] = (*found.get(token, ()), token_id)
        return found | control

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the tokens and stop ids, the same in every process."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(array("Q", map(len, self._decoded_vocab)).tobytes())
        digest.update(array("Q", sorted(self._stop_token_ids)).tobytes())
        digest.update(b"".join(self._decoded_vocab))
        return digest.hexdigest()

    @cached_property
    def native_vocabulary(self) -> _native.Vocabulary:
        """The native form, which all that is compiled for this tokenizer shares."""
        return _native.Vocabulary(
            self._decoded_vocab, self._stop_token_ids, self._control_token_ids, self._vocab_size
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "native_vocabulary"}

    def dump_metadata(self) -> str:
        """Everything but the tokens, as JSON."""
        metadata: dict[str, Any] = {
            "vocab_type": self._vocab_type.value,
            "vocab_size": self._vocab_size,
            "add_prefix_space": self._add_prefix_space,
            "stop_token_ids": self._stop_token_ids,
        }
        if self._control_token_ids:
            metadata["control_token_ids"] = self._control_token_ids
        return json.dumps(metadata, separators=(",", ":"))

    def serialize_json(self) -> str:
        """The whole object as JSON, for `deserialize_json`."""
        members = json.loads(self.dump_metadata())
        members["__VERSION__"] = _SERIALIZATION_VERSION
        members["decoded_vocab"] = [token.decode("latin-1") for token in self._decoded_vocab]
        if self._control_token_texts:
            members["control_token_texts"] = {
                str(key): text for key, text in self._control_token_texts.items()
            }
        return json.dumps(members, separators=(",", ":"))

    @classmethod
    def deserialize_json(cls, json_string: str) -> TokenizerInfo:
        """Rebuild what `serialize_json` wrote.

        Raises `DeserializeFormatError` for other text, `DeserializeVersionError` for another version.
        """
        members = _json_object(json_string)
        version = _member(members, "__VERSION__", str)
        if version != _SERIALIZATION_VERSION:
            raise DeserializeVersionError(
                f"Wrong version in serialized object: Got {version}, expected {_SERIALIZATION_VERSION}"
            )
        vocabulary = Vocabulary(
            _latin_1_tokens(_member(members, "decoded_vocab", list)),
            frozenset(_member(members, "control_token_ids", list, default=[])),
            _member(members, "stop_token_ids", list),
            _vocab_type(members),
            _member(members, "add_prefix_space", bool),
            _control_texts(members),
        )
        return cls._of(vocabulary, _member(members, "vocab_size", int))

    def __repr__(self) -> str:
        return (
            f"TokenizerInfo(vocab_type={self._vocab_type.name}, vocab_size={self._vocab_size}, "
            f"stop_token_ids={self._stop_token_ids})"
        )


def id_list(ids: int | Sequence[int]) -> list[int]:
    """Ids that may be given as a single one."""
    return [ids] if isinstance(ids, int) else list(ids)


def _cut(vocabulary: Vocabulary, vocab_size: int) -> Vocabulary:
    """Drop ids that the model has no logit for, which only control tokens may be."""
    lost = [token_id for token_id in range(vocab_size, len(vocabulary.tokens)) if vocabulary.tokens[token_id]]
    if lost:
        raise ValueError(
            f"vocab_size is {vocab_size}, but the tokenizer has {len(vocabulary.tokens)} tokens, "
            f"and {len(lost)} of those beyond are text (the first is {lost[0]})"
        )
    return vocabulary._replace(
        tokens=vocabulary.tokens[:vocab_size],
        control_ids=frozenset(token_id for token_id in vocabulary.control_ids if token_id < vocab_size),
        stop_ids=[token_id for token_id in vocabulary.stop_ids if token_id < vocab_size],
    )


def _json_object(text: str) -> dict[str, Any]:
    try:
        members = json.loads(text)
    except (TypeError, ValueError) as error:
        raise DeserializeFormatError(f"not a JSON text: {error}") from error
    if not isinstance(members, dict):
        raise DeserializeFormatError("a JSON object is expected")
    return members


def _member(members: dict[str, Any], name: str, kind: type, *, default: Any = None) -> Any:
    value: Any = members.get(name, default)
    if value is None:
        raise DeserializeFormatError(f"Missing member {name}")
    if not _is_exactly(value, kind) or (
        name.endswith("_ids") and not all(_is_exactly(item, int) for item in value)
    ):
        raise DeserializeFormatError(f"Member {name} has the wrong type")
    return value


def _is_exactly(value: Any, kind: type) -> bool:
    return type(value) is kind  # JSON's true is no number


def _vocab_type(members: dict[str, Any]) -> VocabType:
    try:
        return VocabType(_member(members, "vocab_type", int))
    except ValueError as error:
        raise DeserializeFormatError(str(error)) from error


def _control_texts(members: dict[str, Any]) -> dict[int, str]:
    texts = _member(members, "control_token_texts", dict, default={})
    try:
        return {int(token_id): _exactly_str(text) for token_id, text in texts.items()}
    except ValueError as error:
        raise DeserializeFormatError(f"Member control_token_texts has the wrong form: {error}") from error


def _exactly_str(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value


def _ids_of(encoded_vocab: Sequence[bytes | str]) -> frozenset[int]:
    return frozenset(range(len(encoded_vocab)))


def _as_text(piece: bytes | str) -> str:
    return piece if isinstance(piece, str) else piece.decode(errors="replace")


def _latin_1_tokens(texts: list[Any]) -> list[bytes]:
    try:
        return [text.encode("latin-1") for text in texts]
    except (AttributeError, UnicodeEncodeError) as error:
        raise DeserializeFormatError(f"Member decoded_vocab has the wrong form: {error}") from error
