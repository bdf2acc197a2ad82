"""TokenizerInfo on small vocabularies of every kind, made here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from grammar_core.errors import DeserializeFormatError, DeserializeVersionError
from grammar_core.token_bytes import BYTE_LEVEL_ALPHABET, detect_format, encode_byte_level, standard_format
from grammar_core.tokenizer_info import (
    TokenizerInfo,
    UnsupportedTokenizerError,
    VocabType,
)


def byte_level_tokenizer(extra: tuple[str, ...] = ()) -> Tokenizer:
    pieces = [*sorted(BYTE_LEVEL_ALPHABET), *extra]
    tokenizer = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def byte_fallback_tokenizer(decoder: decoders.Decoder) -> Tokenizer:
    pieces = [
        "<unk>",
        "<s>",
        "</s>",
        *(f"<0x{byte:02X}>" for byte in range(256)),
        "▁a",
        "▁",
        "日本",
        "<0xZZ>",
    ]
    tokenizer = Tokenizer(
        models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=[], unk_token="<unk>")
    )
    tokenizer.decoder = decoder
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in ("<unk>", "<s>", "</s>")])
    return tokenizer


def fast_tokenizer() -> Any:
    create: Any = PreTrainedTokenizerFast
    return create(tokenizer_object=byte_level_tokenizer(), eos_token="<end>")


GEMMA_DECODER = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
LLAMA_DECODER = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
)


# -- the constructor ---------------------------------------------------------------------------------------


def test_raw_tokens_are_their_own_bytes() -> None:
    info = TokenizerInfo([b"\xff\x00", "é", "▁a", "<0x0A>", "Ġb"])
    assert info.decoded_vocab == [b"\xff\x00", "é".encode(), "▁a".encode(), b"<0x0A>", "Ġb".encode()]
    assert (info.vocab_type, info.vocab_size, info.add_prefix_space) == (VocabType.RAW, 5, False)


def test_byte_fallback_tokens_have_spaces_and_bytes() -> None:
    info = TokenizerInfo(["▁a▁", "<0x0A>", b"<0xff>", "<0x1>", "x<0x0A>", "日"], VocabType.BYTE_FALLBACK)
    assert info.decoded_vocab == [b" a ", b"\n", b"\xff", b"<0x1>", b"x<0x0A>", "日".encode()]


def test_byte_level_tokens_use_the_alphabet_or_are_text() -> None:
    info = TokenizerInfo(["Ġa", "Ċ", "Ã©", "<｜User｜>", "a b", "\xad"], VocabType.BYTE_LEVEL)
    assert info.decoded_vocab == [b" a", b"\n", "é".encode(), "<｜User｜>".encode(), b"a b", "\xad".encode()]


def test_byte_level_tokens_given_as_bytes_are_read_as_text() -> None:
    info = TokenizerInfo(["Ġa".encode(), b"\xff"], VocabType.BYTE_LEVEL)
    assert info.decoded_vocab == [b" a", b"\xff"]


@given(st.lists(st.binary(max_size=6)))
def test_byte_level_round_trips_any_bytes(tokens: list[bytes]) -> None:
    info = TokenizerInfo([encode_byte_level(token) for token in tokens], VocabType.BYTE_LEVEL)
    assert info.decoded_vocab == tokens


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="▁<"))))
def test_byte_fallback_round_trips_any_text(texts: list[str]) -> None:
    info = TokenizerInfo([text.replace(" ", "▁") for text in texts], VocabType.BYTE_FALLBACK)
    assert info.decoded_vocab == [text.encode() for text in texts]


def test_padding_and_empty_tokens_are_special() -> None:
    info = TokenizerInfo(["a", "", "b"], vocab_size=6)
    assert info.special_token_ids == [1, 3, 4, 5]
    assert len(info.decoded_vocab) == info.vocab_size == 6


def test_width_below_the_vocabulary_is_refused() -> None:
    with pytest.raises(ValueError, match="vocab_size is 2, but the vocabulary has 3 tokens"):
        TokenizerInfo(["a", "b", "c"], vocab_size=2)


def test_well_known_stop_texts_are_found() -> None:
    assert TokenizerInfo(["a", "</s>", b"<|eot_id|>", "<｜end▁of▁sentence｜>"]).stop_token_ids == [1, 2, 3]
    assert TokenizerInfo(["a", "b"]).stop_token_ids == []


def test_given_stop_ids_win() -> None:
    assert TokenizerInfo(["a", "</s>", "b"], stop_token_ids=2).stop_token_ids == [2]
    assert TokenizerInfo(["a", "</s>", "b"], stop_token_ids=[2, 0, 2]).stop_token_ids == [2, 0]
    assert TokenizerInfo(["a", "</s>"], stop_token_ids=[]).stop_token_ids == []


@pytest.mark.parametrize("stop_id", [-1, 3])
def test_stop_ids_outside_are_refused(stop_id: int) -> None:
    with pytest.raises(ValueError, match="outside of the vocabulary"):
        TokenizerInfo(["a", "b", "c"], stop_token_ids=[stop_id])


def test_stop_tokens_add_no_text() -> None:
    info = TokenizerInfo(["a", "</s>"])
    assert info.decoded_vocab == [b"a", b"</s>"]
    assert info.text_vocab == [b"a", b""]


def test_tokens_of_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="bytes or str"):
        TokenizerInfo(["a", 3])  # type: ignore[list-item]


# -- fast tokenizers ---------------------------------------------------------------------------------------


def test_byte_level_bpe() -> None:
    tokenizer = byte_level_tokenizer(("Ġa",))
    tokenizer.add_special_tokens([AddedToken("<|im_end|>", special=True)])
    tokenizer.add_tokens([AddedToken("<think>", special=False)])
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.vocab_type is VocabType.BYTE_LEVEL
    assert sorted(info.decoded_vocab[:256]) == [bytes([byte]) for byte in range(256)]
    assert info.decoded_vocab[256:] == [b" a", b"", b"<think>"]
    assert (info.stop_token_ids, info.special_token_ids) == ([257], [257])


def test_fast_tokenizer_of_transformers() -> None:
    tokenizer = fast_tokenizer()
    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=300)
    assert info.stop_token_ids == [256]
    assert info.special_token_ids == list(range(256, 300))


@pytest.mark.parametrize(
    ("decoder", "space"),
    [
        (GEMMA_DECODER, b" "),
        (LLAMA_DECODER, b" "),
        (decoders.Metaspace(), b" "),
        (decoders.ByteFallback(), "▁".encode()),
    ],
)
def test_sentencepiece_like_decoders(decoder: decoders.Decoder, space: bytes) -> None:
    info = TokenizerInfo.from_huggingface(byte_fallback_tokenizer(decoder))
    assert info.vocab_type is VocabType.BYTE_FALLBACK
    assert info.decoded_vocab[:3] == [b"", b"", b""]
    assert info.decoded_vocab[3:259] == [bytes([byte]) for byte in range(256)]
    assert info.decoded_vocab[259:] == [space + b"a", space, "日本".encode(), b"<0xZZ>"]
    assert info.stop_token_ids == [2]


def test_kind_is_guessed_where_there_is_no_decoder() -> None:
    tokenizer = byte_level_tokenizer(("Ġa",))
    tokenizer.decoder = None
    assert TokenizerInfo.from_huggingface(tokenizer).decoded_vocab[256] == b" a"
    tokenizer.pre_tokenizer = None
    assert TokenizerInfo.from_huggingface(tokenizer).decoded_vocab[256] == b" a"


def test_pieces_tell_their_format() -> None:
    assert detect_format(["Ġa", "b"]) == standard_format(VocabType.RAW)
    assert detect_format(sorted(BYTE_LEVEL_ALPHABET)) == standard_format(VocabType.BYTE_LEVEL)
    assert detect_format(f"<0x{byte:02X}>" for byte in range(256)) == standard_format(VocabType.BYTE_FALLBACK)


@pytest.mark.parametrize(
    ("configure", "expected"),
    [
        (lambda t: setattr(t, "normalizer", normalizers.Prepend("▁")), True),
        (lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Metaspace()), True),
        (lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.Metaspace(prepend_scheme="never")), False),
        (lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=True)), True),
        (lambda t: setattr(t, "pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=False)), False),
        (lambda t: None, False),
    ],
)
def test_prefix_space(configure: Callable[[Tokenizer], None], expected: bool) -> None:
    tokenizer = byte_fallback_tokenizer(GEMMA_DECODER)
    configure(tokenizer)
    assert TokenizerInfo.from_huggingface(tokenizer).add_prefix_space is expected


def test_holes_in_the_id_space_are_special() -> None:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b": 3}, merges=[]))
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.decoded_vocab == [b"a", b"", b"", b"b"]
    assert info.special_token_ids == [1, 2]


def test_end_marker_that_is_ordinary_text_is_no_stop_token() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.add_tokens([AddedToken("</s>", special=False)])
    info = TokenizerInfo.from_huggingface(tokenizer)
    assert info.stop_token_ids == []
    assert info.decoded_vocab[256] == b"</s>"


def test_only_control_tokens_may_lie_beyond_the_logits() -> None:
    tokenizer = byte_level_tokenizer()
    tokenizer.add_special_tokens([AddedToken("<image>", special=True), AddedToken("</s>", special=True)])
    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=256)
    assert (info.vocab_size, info.stop_token_ids, info.special_token_ids) == (256, [], [])
    with pytest.raises(ValueError, match=r"1 of those beyond are text \(the first is 255\)"):
        TokenizerInfo.from_huggingface(tokenizer, vocab_size=255)


def test_stop_ids_of_the_generation_config(tmp_path: Path) -> None:
    tokenizer = fast_tokenizer()
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "generation_config.json").write_text('{"eos_token_id": [256, 7]}')
    loaded = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert TokenizerInfo.from_huggingface(loaded).stop_token_ids == [7, 256]
    assert TokenizerInfo.from_huggingface(loaded, stop_token_ids=3).stop_token_ids == [3]


@pytest.mark.parametrize("config", ["", "[1]", '{"eos_token_id": null}', '{"eos_token_id": "x"}'])
def test_useless_generation_configs_are_passed_over(tmp_path: Path, config: str) -> None:
    tokenizer = fast_tokenizer()
    tokenizer.name_or_path = str(tmp_path)
    (tmp_path / "generation_config.json").write_text(config)
    assert TokenizerInfo.from_huggingface(tokenizer).stop_token_ids == [256]


def test_tokens_that_depend_on_their_neighbours_are_refused() -> None:
    tokenizer = Tokenizer(models.WordPiece(vocab={"a": 0, "##b": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.decoder = decoders.WordPiece()
    with pytest.raises(UnsupportedTokenizerError, match="WordPiece"):
        TokenizerInfo.from_huggingface(tokenizer)


def test_objects_of_no_known_kind_are_refused() -> None:
    with pytest.raises(ValueError, match="Unsupported tokenizer type"):
        TokenizerInfo.from_huggingface(object())


# -- other libraries ---------------------------------------------------------------------------------------


def byte_ranks() -> dict[bytes, int]:
    return {bytes([byte]): byte for byte in range(256)} | {b" a": 256}


SPECIALS = {"<|endoftext|>": 258, "<think>": 259, "<|x|>": 260}


def test_tiktoken_encoding() -> None:
    encoding = tiktoken.Encoding("t", pat_str=r".", mergeable_ranks=byte_ranks(), special_tokens=SPECIALS)
    info = TokenizerInfo.from_huggingface(encoding)
    assert info.decoded_vocab[:257] == list(byte_ranks())
    assert info.decoded_vocab[257:] == [b"", b"", b"<think>", b""]
    assert (info.stop_token_ids, info.special_token_ids) == ([258], [257, 258, 260])


class TiktokenWrapper:
    """The outline of the slow tokenizers that wrap an encoding, whose flags tell text from control."""

    def __init__(self, flags: dict[int, bool]) -> None:
        self.mergeable_ranks = byte_ranks()
        self.special_tokens = SPECIALS
        self.stop_tokens = [258, 260]
        self.added_tokens_decoder = {i: AddedToken("x", special=special) for i, special in flags.items()}


def test_wrapped_tiktoken_encoding() -> None:
    info = TokenizerInfo.from_huggingface(TiktokenWrapper({259: True, 260: False}))
    assert info.decoded_vocab[258:] == [b"", b"", b"<|x|>"]
    assert info.stop_token_ids == [258, 260]
    assert info.text_vocab[260] == b""


class SentencePieceOutline:
    """The calls of a SentencePieceProcessor that are needed."""

    pieces = ("<unk>", "<s>", "</s>", "<0x41>", "▁b", "<user>")

    def get_piece_size(self) -> int:
        return len(self.pieces)

    def id_to_piece(self, token_id: int) -> str:
        return self.pieces[token_id]

    def is_control(self, token_id: int) -> bool:
        return token_id in (1, 2)

    def is_unknown(self, token_id: int) -> bool:
        return token_id == 0

    def eos_id(self) -> int:
        return 2


def test_sentencepiece_processor() -> None:
    info = TokenizerInfo.from_huggingface(SentencePieceOutline())
    assert info.decoded_vocab == [b"", b"", b"", b"A", b" b", b"<user>"]
    assert (info.stop_token_ids, info.add_prefix_space) == ([2], True)


class SlowOutline:
    """A slow tokenizer of transformers, as far as it is asked."""

    sp_model = object()
    added_tokens_decoder: dict[int, AddedToken] = {2: AddedToken("<think>", special=False)}  # noqa: RUF012
    all_special_ids = (1,)
    eos_token_id = 1

    def get_vocab(self) -> dict[str, int]:
        return {"▁a": 0, "</s>": 1, "<think>": 2}


def test_slow_tokenizer() -> None:
    info = TokenizerInfo.from_huggingface(SlowOutline())
    assert info.decoded_vocab == [b" a", b"", b"<think>"]
    assert info.stop_token_ids == [1]


class TekkenOutline:
    """The calls of a Tekken tokenizer that are needed."""

    n_words = 4
    special_ids = frozenset({0, 1})
    eos_id = 1

    def id_to_byte_piece(self, token_id: int) -> bytes:
        return (b"", b"", b"\xff", b" a")[token_id]

    def id_to_piece(self, token_id: int) -> str:
        return ("<unk>", "</s>", "�", " a")[token_id]


def test_tekken_inside_of_the_chat_classes() -> None:
    inner = type("Instruct", (), {"tokenizer": TekkenOutline()})()
    mistral = type("Mistral", (), {"instruct_tokenizer": inner})()
    for tokenizer in (TekkenOutline(), mistral, type("Backend", (), {"tokenizer": mistral})()):
        info = TokenizerInfo.from_huggingface(tokenizer)
        assert info.decoded_vocab == [b"", b"", b"\xff", b" a"]
        assert info.stop_token_ids == [1]


# -- metadata, serialisation, fingerprint ------------------------------------------------------------------


def test_metadata_has_the_usual_form() -> None:
    info = TokenizerInfo(["a", "</s>"], vocab_size=9)
    expected = '{"vocab_type":0,"vocab_size":9,"add_prefix_space":false,"stop_token_ids":[1]}'
    assert info.dump_metadata() == expected


def test_metadata_and_vocabulary_rebuild_the_object() -> None:
    tokenizer = byte_level_tokenizer(("Ġa",))
    tokenizer.add_special_tokens([AddedToken("</s>", special=True)])
    info = TokenizerInfo.from_huggingface(tokenizer, vocab_size=300)
    pieces: list[bytes | str] = [str(tokenizer.id_to_token(i)) for i in range(tokenizer.get_vocab_size())]
    rebuilt = TokenizerInfo.from_vocab_and_metadata(pieces, info.dump_metadata())
    assert rebuilt.decoded_vocab == info.decoded_vocab
    assert rebuilt.dump_metadata() == info.dump_metadata()


def test_stop_tokens_of_metadata_are_not_special() -> None:
    metadata = '{"vocab_type":1,"vocab_size":4,"add_prefix_space":true,"stop_token_ids":[2]}'
    info = TokenizerInfo.from_vocab_and_metadata(["", "<s>", "</s>", "▁x"], metadata)
    assert info.special_token_ids == [0]
    assert (info.stop_token_ids, info.add_prefix_space, info.decoded_vocab[3]) == ([2], True, b" x")


@given(
    st.lists(st.binary(max_size=5), min_size=1),
    st.sampled_from(VocabType),
    st.integers(0, 40),
    st.booleans(),
)
def test_serialised_objects_come_back(
    tokens: list[bytes], kind: VocabType, padding: int, prefix_space: bool
) -> None:
    size = len(tokens) + padding
    info = TokenizerInfo(
        tokens, kind, vocab_size=size, stop_token_ids=size - 1, add_prefix_space=prefix_space
    )
    back = TokenizerInfo.deserialize_json(info.serialize_json())
    assert back.decoded_vocab == info.decoded_vocab
    assert back.dump_metadata() == info.dump_metadata()
    assert back.fingerprint == info.fingerprint


def _serialised(**changes: Any) -> str:
    members = json.loads(TokenizerInfo(["a", "</s>"]).serialize_json())
    return json.dumps({name: value for name, value in (members | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON text"),
        ("[]", "a JSON object is expected"),
        (_serialised(vocab_size=None), "Missing member vocab_size"),
        (_serialised(decoded_vocab=None), "Missing member decoded_vocab"),
        (_serialised(decoded_vocab=[3]), "decoded_vocab has the wrong form"),
        (_serialised(decoded_vocab=["日"]), "decoded_vocab has the wrong form"),
        (_serialised(vocab_size=True), "vocab_size has the wrong type"),
        (_serialised(stop_token_ids=["1"]), "stop_token_ids has the wrong type"),
        (_serialised(vocab_type=7), "not a valid VocabType"),
        (_serialised(vocab_size=1), "vocab_size is 1"),
    ],
)
def test_damaged_serialisations_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TokenizerInfo.deserialize_json(text)


def test_format_and_version_errors_have_their_classes() -> None:
    with pytest.raises(DeserializeFormatError):
        TokenizerInfo.deserialize_json("{")
    with pytest.raises(DeserializeVersionError, match="Got v0, expected"):
        TokenizerInfo.deserialize_json(_serialised(__VERSION__="v0"))


def test_fingerprint_tells_vocabularies_apart() -> None:
    variants = [
        TokenizerInfo(["ab", "c"]),
        TokenizerInfo(["a", "bc"]),
        TokenizerInfo(["ab", "c"], vocab_size=3),
        TokenizerInfo(["ab", "c"], stop_token_ids=[1]),
        TokenizerInfo(["c", "ab"]),
    ]
    assert len({info.fingerprint for info in variants}) == len(variants)
    assert TokenizerInfo(["ab", "c"]).fingerprint == TokenizerInfo([b"ab", b"c"]).fingerprint


def test_module_needs_no_model_library() -> None:
    program = (
        "import sys, grammar_core.tokenizer_info as t; "
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'tokenizers')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
