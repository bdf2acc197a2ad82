"""Randomly initialised models of a few thousand parameters, and a tokenizer of single bytes."""

from __future__ import annotations

from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from models.loading import LoadedModel, describe_model

EOS = 256
TOKENIZER_SIZE = 258  # 256 bytes, <eos>, <pad>
VOCAB_SIZE = 272  # logits; the last ids belong to no token
CHAT_TEMPLATE = (
    "{% for m in messages %}{{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}>{% endif %}"
)

_COMMON: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "eos_token_id": EOS,
    "bos_token_id": None,
    "pad_token_id": EOS + 1,
}
_SLIDING = {"sliding_window": 8, "head_dim": 8}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "llama": {},
    "qwen2": {},
    "qwen3": {"head_dim": 8},
    "mistral": {"sliding_window": 8},
    "phi3": {},
    "gemma3_text": {**_SLIDING, "layer_types": ["sliding_attention", "full_attention"]},
    "gemma2": {**_SLIDING, "layer_types": ["sliding_attention", "full_attention"]},
    "gpt_oss": {
        **_SLIDING,
        "layer_types": ["sliding_attention", "full_attention"],
        "num_local_experts": 2,
        "num_experts_per_tok": 1,
    },
}


def tiny_model(architecture: str = "llama", seed: int = 0, context: int = 512) -> Any:
    """A causal language model with random weights, the same for the same seed."""
    from transformers import AutoConfig

    sizes = _COMMON | ARCHITECTURES[architecture] | {"max_position_embeddings": context}
    config = AutoConfig.for_model(architecture, **sizes)
    torch.manual_seed(seed)
    model: Any = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():  # the usual initialisation is so small that attention hardly matters
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.3)
    return model.eval()


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """Id n is byte n; 256 is <eos>, 257 <pad>."""
    alphabet = _byte_alphabet()
    core = Tokenizer(models.BPE(vocab={char: i for i, char in enumerate(alphabet)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<eos>", pad_token="<pad>")
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def tiny_loaded(architecture: str = "llama", seed: int = 0, context: int = 512) -> LoadedModel:
    return describe_model(tiny_model(architecture, seed, context), byte_tokenizer(), name="tiny")


def _byte_alphabet() -> list[str]:
    """The printable character by which byte-level tokenizers write each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]
