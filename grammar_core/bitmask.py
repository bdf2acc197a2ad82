"""Token bitmasks: int32 words, a bit for each token, set where the token is allowed.

torch is imported only when a function is called, so that the engine works without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """(batch_size, ceil(vocab_size / 32))."""
    return batch_size, (vocab_size + 31) // 32


def bitmask_dtype() -> torch.dtype:
    """The dtype of a bitmask, torch.int32."""
    import torch

    return torch.int32


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> torch.Tensor:
    """A CPU tensor of shape (batch_size, ceil(vocab_size / 32)), int32, with every token allowed."""
    import torch

    return torch.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=torch.int32)


def reset_token_bitmask(bitmask: torch.Tensor) -> None:
    """Allow every token again."""
    bitmask.fill_(-1)


def apply_token_bitmask_inplace(
    logits: torch.Tensor,
    bitmask: torch.Tensor,
    *,
    vocab_size: int | None = None,
    indices: Sequence[int] | None = None,
) -> None:
    """Set the logits of tokens that are not allowed to -inf.

    `logits` has shape (batch, width) or (width,), any floating dtype, on any device; `bitmask` has shape
    (batch, words) or (words,). With `indices` only those rows of both take part. Only the first `vocab_size`
    columns count (default: all); columns beyond the bitmask are masked. Raises ValueError for shapes that do
    not fit.
    """
    import torch

    rows = logits.unsqueeze(0) if logits.dim() == 1 else logits
    words = bitmask.unsqueeze(0) if bitmask.dim() == 1 else bitmask
    if rows.dim() != 2 or words.dim() != 2 or words.dtype != torch.int32:
        raise ValueError("logits must be (batch, width) and the bitmask int32 of (batch, words)")
    targets = list(range(rows.shape[0])) if indices is None else list(indices)
    if len(targets) != words.shape[0] and indices is None:
        raise ValueError(f"the bitmask has {words.shape[0]} rows for {rows.shape[0]} rows of logits")
    if indices is not None and any(not 0 <= i < min(rows.shape[0], words.shape[0]) for i in targets):
        raise ValueError("indices must name rows of both the logits and the bitmask")
    width = rows.shape[1] if vocab_size is None else vocab_size
    if not 0 <= width <= rows.shape[1]:
        raise ValueError(f"vocab_size {width} is not within the {rows.shape[1]} columns of the logits")
    chosen = words if indices is None else words[targets]
    shifts = torch.arange(32, dtype=torch.int32, device=words.device)
    allowed = ((chosen.unsqueeze(-1) >> shifts) & 1).bool().flatten(1)[:, :width].to(rows.device)
    if allowed.shape[1] < width:
        allowed = torch.nn.functional.pad(allowed, (0, width - allowed.shape[1]))
    if indices is None:
        rows[:, :width].masked_fill_(~allowed, float("-inf"))
    else:
        rows[targets, :width] = rows[targets, :width].masked_fill(~allowed, float("-inf"))
