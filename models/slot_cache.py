"""A key/value cache in which every sequence owns a row, and position p of a sequence is column p of it.

Sequences join by taking a free row and leave by giving it back; nothing else moves. Keys and values of one
layer are [rows, heads, columns, head_dim]. A step touches a range of rows (or, rarely, a list of them) and
the columns up to its longest sequence; what lies to the right of a sequence's end is masked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.cache_utils import Cache, CacheLayerMixin
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

ATTENTION_NAME = "syntagma"
# The CPU's products sum in blocks whose edges must not move with the company that a sequence has, and
# products of few numbers use another kernel: so the width of a step is a multiple, and not too small.
COLUMN_MULTIPLE = 16
LEAST_COLUMNS = 64


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one forward pass reads and writes.

    rows: the sequences' rows, in the order of the batch, and `row_index` the same for the device; positions:
    [batch, query] the column of every token; columns: the width that is read. `offset` is [batch] the
    positions of the first tokens, or the number 0 when a single prompt begins: then `columns` is its length
    and attention is plainly causal.
    """

    rows: list[int]
    row_index: torch.Tensor
    positions: torch.Tensor
    columns: int
    offset: int | torch.Tensor

    @property
    def row_range(self) -> slice | None:
        """The rows as a slice, when they are consecutive."""
        first = self.rows[0]
        is_range = self.rows == list(range(first, first + len(self.rows)))
        return slice(first, first + len(self.rows)) if is_range else None


class SlotLayer(CacheLayerMixin):
    """Keys and values of one layer."""

    is_sliding = False
    supports_early_init = False

    def __init__(self, cache: SlotCache) -> None:
        CacheLayerMixin.__init__(self)
        self.cache = cache

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        self.keys = _allocate(key_states, self.cache.rows, self.cache.columns)
        self.values = _allocate(value_states, self.cache.rows, self.cache.columns)
        self.is_initialized = True

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None
        assert self.values is not None
        placement = self.cache.current
        return _write(self.keys, key_states, placement), _write(self.values, value_states, placement)

    def get_seq_length(self) -> int:
        return self.cache.current.columns

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.cache.current.columns, 0

    def get_max_length(self) -> int:
        return -1


class SlotCache(Cache):
    """All layers' keys and values; `rows` times `columns` cells are allocated, in every layer."""

    def __init__(self, layers: int) -> None:
        self.rows = 0
        self.columns = 0
        self._current: Placement | None = None
        super().__init__(layers=[SlotLayer(self) for _ in range(layers)])

    @property
    def current(self) -> Placement:
        assert self._current is not None, "the cache is used in a forward pass only"
        return self._current

    def place(self, placement: Placement) -> None:
        """Set where the next forward pass reads and writes."""
        self._current = placement

    def get_query_offset(self, layer_idx: int = 0) -> Any:
        return self.current.offset

    def resize(self, rows: int, columns: int) -> None:
        """Change the allocation, keeping what fits into both the old and the new one."""
        self.rows, self.columns = rows, columns
        for layer in self._initialized():
            layer.keys = _resized(layer.keys, rows, columns)
            layer.values = _resized(layer.values, rows, columns)

    def move_row(self, source: int, target: int, length: int) -> None:
        for layer in self._initialized():
            for states in (layer.keys, layer.values):
                states[target, :, :length] = states[source, :, :length]

    def clear_row(self, row: int) -> None:
        """Needed after a sequence whose states may not be finite: masked NaN would still be NaN."""
        for layer in self._initialized():
            layer.keys[row].zero_()
            layer.values[row].zero_()

    def bytes_per_cell(self) -> int:
        """Memory of one row's one column over all layers; known after the first forward pass."""
        tensors = [states for layer in self._initialized() for states in (layer.keys, layer.values)]
        return sum(states.shape[1] * states.shape[3] * states.element_size() for states in tensors)

    def _initialized(self) -> list[Any]:
        return [layer for layer in self.layers if isinstance(layer, SlotLayer) and layer.is_initialized]


def _allocate(like: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    # Zeros, not garbage: a masked NaN is multiplied by zero and stays NaN.
    return like.new_zeros(rows, like.shape[1], columns, like.shape[3])


def _resized(states: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    resized = _allocate(states, rows, columns)
    kept_rows, kept_columns = min(rows, states.shape[0]), min(columns, states.shape[2])
    resized[:kept_rows, :, :kept_columns] = states[:kept_rows, :, :kept_columns]
    return resized


def _write(states: torch.Tensor, new: torch.Tensor, placement: Placement) -> torch.Tensor:
    """Store `new` [batch, heads, query, head_dim]; return [batch, heads, columns, head_dim].

    Of a batch that repeats one sequence, one row is returned: the attention is the same for all.
    """
    if len(placement.rows) > 1 and len(set(placement.rows)) == 1:  # one sequence, repeated
        first = placement.rows[0]
        states[first : first + 1, :, placement.positions[0]] = new[:1]
        return states[first : first + 1, :, : placement.columns]
    row_range = placement.row_range
    if isinstance(placement.offset, int) and row_range is not None:
        end = placement.offset + new.shape[2]
        states[row_range, :, placement.offset : end] = new
    else:
        states[placement.row_index[:, None], :, placement.positions] = new.transpose(1, 2)
    if row_range is not None:
        return states[row_range, :, : placement.columns]
    return states[placement.row_index, :, : placement.columns]


def _slot_mask(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: int | torch.Tensor = 0,
    kv_offset: int = 0,
    mask_function: Callable[..., torch.Tensor] | None = None,
    device: torch.device | str = "cpu",
    **kwargs: Any,
) -> torch.Tensor | None:
    """[batch, 1, query, columns] bool for attention masks in which every row starts at its own position.

    `mask_function(batch, head, query, key)` is the architecture's own rule (causal, sliding window, chunks)
    on position numbers, so it serves rows with different offsets as it is.
    """
    assert mask_function is not None
    if isinstance(q_offset, int):
        mask: torch.Tensor | None = sdpa_mask(
            batch_size, q_length, kv_length, q_offset, kv_offset, mask_function, device=device, **kwargs
        )
        return mask
    rows = torch.arange(batch_size, device=device).view(-1, 1, 1, 1)
    heads = torch.zeros(1, 1, 1, 1, dtype=torch.long, device=device)
    queries = (q_offset.view(-1, 1) + torch.arange(q_length, device=device)).view(batch_size, 1, q_length, 1)
    keys = (torch.arange(kv_length, device=device) + kv_offset).view(1, 1, 1, -1)
    return mask_function(rows, heads, queries, keys).expand(batch_size, 1, q_length, kv_length)


def _slot_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """PyTorch's fused attention, or plain products where that cannot be used.

    It cannot soft-cap scores and has no sinks; and on the CPU its sums depend on the thread that computes a
    row, so that a sequence would get other last bits with other company. Plain products are as fast there
    for single tokens.
    """
    is_cpu_decoding = query.shape[2] == 1 and query.device.type == "cpu" and query.dtype == torch.float32
    has_bias = kwargs.get("position_bias") is not None
    repeats = query.shape[0] if key.shape[0] == 1 else 1
    if repeats > 1:  # expanding the keys instead would copy them, and change the order of the sums
        query, attention_mask = query[:1], None if attention_mask is None else attention_mask[:1]
    if (softcap is None and s_aux is None and not is_cpu_decoding) or has_bias:
        kwargs["dropout"] = 0.0
        output, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, softcap=softcap, **kwargs
        )
    else:
        output = _plain_attention(query, key, value, attention_mask, scaling, softcap, s_aux)
    return output.expand(output.shape[0] * repeats, -1, -1, -1), None


def _plain_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None,
    softcap: float | None,
    sink: torch.Tensor | None,
) -> torch.Tensor:
    """[batch, query, heads, head_dim]; query heads share key heads in groups, scores are float32."""
    batch, heads, q_length, head_dim = query.shape
    key_heads, columns = key.shape[1], key.shape[2]
    factor = head_dim**-0.5 if scaling is None else scaling
    # The heads of a group are further rows of one product: nothing is copied for them.
    grouped = (query * factor).reshape(batch, key_heads, -1, head_dim)
    scores = (grouped @ key.transpose(-1, -2)).float().view(batch, key_heads, -1, q_length, columns)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if mask is None and q_length > 1:
        mask = torch.ones(1, 1, q_length, columns, dtype=torch.bool, device=query.device).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(2), -torch.inf)
    if sink is not None:
        column = sink.float().view(1, key_heads, -1, 1, 1).expand(batch, -1, -1, q_length, 1)
        scores = torch.cat([scores, column], dim=-1)
    weights = scores.softmax(dim=-1)[..., :columns].to(value.dtype)
    output = weights.reshape(batch, key_heads, -1, columns) @ value
    return output.view(batch, heads, q_length, value.shape[3]).transpose(1, 2).contiguous()


AttentionInterface.register(ATTENTION_NAME, _slot_attention)
AttentionMaskInterface.register(ATTENTION_NAME, _slot_mask)
