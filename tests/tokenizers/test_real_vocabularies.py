"""The bytes read from real tokenizers are those the tokenizers themselves decode and encode."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator

import pytest

from grammar_core import VocabType
from tests.tokenizers.sources import RealTokenizer, load

TEXTS = (
    "The quick brown fox — 1234567890, «Größe», naïveté.",
    "Привет, мир! 你好，世界。こんにちは 세계 مرحبا שלום नमस्ते",
    "👩\u200d👩\u200d👧 🚀🚀 ❤️ e\u0301 \U0001f1e9\U0001f1ea",
    "def f(x):\n\treturn {'a': [1, 2,  3]}\r\n\n\n    # comment   \n",
    "<think>\nok\n</think> <tool_call>{}</tool_call> <|not_a_token|> </s",
    "\x00\x01\x7f\u00a0\u2028\ufeff\ufffd",
    " leading and trailing  ",
)
STOP_IDS = {
    "smollm2": [0, 2],
    "qwen3": [151643, 151645],
    "llama3_1": [128001, 128009],
    "gemma3": [1, 106],
    "gptoss": [199999, 200002, 200012],
    "gpt4o": [199999],
    "deepseek_v3": [1],
    "deepseek_v4": [1],
    "qwen2_5_tiktoken": [151643, 151645],
    "qwen3_6_tiktoken": [248044, 248046],
    "dashscope_tiktoken": [151643, 151645],
    "llama3_tiktoken": [128001, 128008, 128009],
    "llama4_tiktoken": [200001, 200007, 200008],
    "mistral_tekken_240718": [2],
    "mistral_tekken_240911": [2],
    "mistral_v1_sentencepiece": [2],
    "mistral_v7_sentencepiece": [2],
}
TEXT_MARKERS = {
    "qwen3": (b"<think>", b"</think>", b"<tool_call>", b"</tool_call>"),
    "qwen3_6_tiktoken": (b"<think>", b"</think>", b"<tool_call>", b"</tool_call>"),
    "deepseek_v4": (b"<think>", b"</think>"),
}

_LEADS = (b"", b"\xc3", b"\xe4", b"\xe4\xb8", b"\xf1", b"\xf1\x80", b"\xf1\x80\x80")
_TAILS = (
    b"",
    b"\x80",
    b"\xa0",
    b"\x90",
    b"\x80\x80",
    b"\xa0\x80",
    b"\x90\x80",
    b"\x80\x80\x80",
    b"\x90\x80\x80",
)


def _completed(token: bytes) -> tuple[bytes, bytes]:
    """Bytes to put before and after a token so that all of it is UTF-8; nothing where there are none."""
    for lead in _LEADS:
        for tail in _TAILS:
            try:
                (lead + token + tail).decode()
            except UnicodeDecodeError:
                continue
            return lead, tail
    return b"", b""


def _text_ids(real: RealTokenizer) -> Iterator[tuple[int, bytes]]:
    return ((token_id, token) for token_id, token in enumerate(real.info.text_vocab) if token)


def test_each_token_has_the_bytes_the_tokenizer_decodes(real: RealTokenizer) -> None:
    single = {token: token_id for token_id, token in _text_ids(real) if len(token) == 1}
    wrong = []
    for token_id, token in _text_ids(real):
        lead, tail = _completed(token)
        around = [[single[bytes([byte])] for byte in part] for part in (b"a" + lead, tail)]
        decoded = real.decode([*around[0], token_id, *around[1]])
        if decoded != (b"a" + lead + token + tail).decode(errors="replace"):
            wrong.append((token_id, token, decoded))
    assert wrong == []


def test_encoded_texts_have_the_bytes_of_the_text(real: RealTokenizer) -> None:
    for text in (*TEXTS, *_random_texts()):
        normal = unicodedata.normalize("NFC", text)
        tokens = [real.info.decoded_vocab[token_id] for token_id in real.encode(normal)]
        written = b"".join(tokens)
        if real.info.add_prefix_space:
            written = written.removeprefix(b" ")
        assert written == normal.encode()


def _random_texts() -> Iterator[str]:
    """Letters and signs of many scripts; no control pictures, and not the sign that stands for a space."""
    rng = random.Random(3)
    ranges = (
        (0x20, 0x7E),
        (0xA1, 0x24F),
        (0x370, 0x3FF),
        (0x400, 0x4FF),
        (0x4E00, 0x9FFF),
        (0x1F300, 0x1F64F),
    )
    for _ in range(300):
        yield "".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(1, 40))).strip()


def test_stop_tokens(real: RealTokenizer) -> None:
    assert real.info.stop_token_ids == STOP_IDS[real.name]
    assert set(real.info.stop_token_ids) <= set(real.info.special_token_ids)


@pytest.mark.parametrize("name", TEXT_MARKERS)
def test_text_markers_match_their_text(name: str) -> None:
    assert set(TEXT_MARKERS[name]) <= set(load(name).info.decoded_vocab)


def test_which_bytes_cannot_be_written(real: RealTokenizer) -> None:
    """A grammar that demands such a byte cannot be followed with that vocabulary."""
    tokens = set(real.info.text_vocab)
    missing = {byte for byte in range(256) if bytes([byte]) not in tokens}
    assert missing - NEVER_IN_UTF_8 == UNWRITABLE.get(real.name, set())


NEVER_IN_UTF_8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
UNWRITABLE = {"smollm2": {0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0xF1, 0xF2}}


def test_holes_of_a_vocabulary_are_special() -> None:
    info = load("gpt4o").info
    assert (info.vocab_size, len(info.special_token_ids)) == (200019, 21)


def test_gemma_without_its_image_token() -> None:
    real = load("gemma3")
    assert real.info.vocab_type is VocabType.BYTE_FALLBACK
    narrow = type(real.info).from_huggingface(real.tokenizer, vocab_size=262144)
    assert narrow.decoded_vocab == real.info.decoded_vocab[:262144]
