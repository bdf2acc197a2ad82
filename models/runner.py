"""Forward passes for many sequences that join and leave between steps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from models.loading import LoadedModel
from models.packed_linear import pack_linear_layers
from models.slot_cache import ATTENTION_NAME, COLUMN_MULTIPLE, LEAST_COLUMNS, Placement, SlotCache

_COLUMN_STEP = 256  # of the allocation: growing copies the cache, so it grows in steps
_UNSUPPORTED_LAYERS = ("linear", "mamba", "recurrent", "conv", "ssm")


class UnsupportedModelError(RuntimeError):
    """The architecture cannot be run in batches here; the message says why."""


@dataclass(slots=True)
class _Slot:
    """A sequence's place: its row of the cache, and how many columns of it are in use."""

    row: int
    length: int = 0


@dataclass(frozen=True, slots=True)
class Chunk:
    """The next tokens of one sequence; `start` is the position of the first of them.

    A chunk that starts at 0 gives the sequence a place in the cache.
    """

    sequence: Hashable
    start: int
    token_ids: Sequence[int]


class ModelRunner:
    """Owns the model and the keys and values of all running sequences. Not thread-safe.

    `kv_cells` bounds the cache: rows times columns, where columns are as many as the longest sequence needs.
    The default is what `kv_cache_bytes` hold. Raises UnsupportedModelError.
    """

    def __init__(self, loaded: LoadedModel, *, max_batch_size: int, kv_cache_bytes: int = 2 << 30) -> None:
        self.device = loaded.device
        self.max_batch_size = max_batch_size
        self._model = loaded.model
        self._slots: dict[Hashable, _Slot] = {}
        self.computes_prompts_alone = self.device.type == "cpu"
        self._is_cpu = self.device.type == "cpu"
        self._cache = _prepare(loaded)
        self._bytes_per_cell = self._cache.bytes_per_cell()
        self._kv_cells = max(kv_cache_bytes // self._bytes_per_cell, _COLUMN_STEP)
        self._cache.resize(0, 0)

    @property
    def bytes_per_cell(self) -> int:
        """Memory that one token of one sequence takes in the cache."""
        return self._bytes_per_cell

    @property
    def max_columns(self) -> int:
        """Tokens the longest possible sequence may have, by the memory of the cache."""
        return self._kv_cells // _COLUMN_STEP * _COLUMN_STEP

    @property
    def cache_usage(self) -> float:
        """The part of the cache's memory that holds keys and values of sequences; may be read anywhere."""
        return sum(slot.length for slot in list(self._slots.values())) / self._kv_cells

    def fits(self, sequences: int, longest: int) -> bool:
        """Whether the cache can hold so many sequences, the longest of them with so many tokens."""
        return sequences * _round_up(longest, _COLUMN_STEP) <= self._kv_cells

    @torch.inference_mode()
    def forward(self, chunks: Sequence[Chunk]) -> torch.Tensor:
        """Run one chunk of each of several sequences; returns the logits [batch, vocab] after each chunk.

        The caller keeps to `fits` and `max_batch_size`.
        """
        self._make_room(chunks)
        is_decoding = all(len(chunk.token_ids) == 1 for chunk in chunks)
        # A CPU gains nothing from a batch of prompts, and a prompt alone computes the same bits always.
        # Where prompts go on in the middle, padding could reach beyond the columns that `fits` counts.
        if is_decoding or not (self.computes_prompts_alone or any(chunk.start for chunk in chunks)):
            return self._run(chunks)
        return torch.cat([self._run([chunk]) for chunk in chunks])

    @torch.inference_mode()
    def forward_all(self, chunk: Chunk) -> torch.Tensor:
        """Run one chunk; returns the logits [tokens, vocab] after each of its tokens."""
        self._make_room([chunk])
        if len(chunk.token_ids) == 1:
            return self._run([chunk])
        return self._run_in_row_order([chunk], list(range(len(chunk.token_ids))))[0]

    @torch.inference_mode()
    def release(self, sequence: Hashable, *, tainted: bool = False) -> None:
        """Give the sequence's row back. `tainted`: its states may be NaN, so that they must be wiped."""
        slot = self._slots.pop(sequence, None)
        if slot is not None and tainted:
            self._cache.clear_row(slot.row)

    def reset(self) -> None:
        """Drop every sequence and free the cache, as after a failed forward pass."""
        self._slots.clear()
        self._cache.resize(0, 0)

    def _run(self, chunks: Sequence[Chunk]) -> torch.Tensor:
        order = sorted(range(len(chunks)), key=lambda i: self._slots[chunks[i].sequence].row)
        batch = [chunks[i] for i in order]
        if len(batch) == 1 and len(batch[0].token_ids) == 1 and self._is_cpu:
            # The CPU's kernels for a single row sum in another order; the same row twice costs no more.
            return self._run_in_row_order(batch * 2)[:1, 0]
        logits = self._run_in_row_order(batch)[:, 0]
        if order == sorted(order):
            return logits
        back = sorted(range(len(order)), key=order.__getitem__)
        return logits[torch.tensor(back, device=self.device)]

    def _run_in_row_order(self, batch: Sequence[Chunk], kept: Sequence[int] | None = None) -> torch.Tensor:
        """[batch, positions, vocab] logits after the `kept` tokens of each chunk, or after the last."""
        width = max(len(chunk.token_ids) for chunk in batch)
        # Short chunks are padded on the right: what the padding writes is overwritten before it is unmasked.
        padded = [[*chunk.token_ids, *[0] * (width - len(chunk.token_ids))] for chunk in batch]
        positions = [kept or [len(chunk.token_ids) - 1] for chunk in batch]
        placement = self._placement(batch, width)
        self._cache.place(placement)
        output = self._model(
            input_ids=torch.tensor(padded, device=self.device),
            position_ids=placement.positions,
            cache=self._cache,
            use_cache=True,
            logits_to_keep=torch.tensor(positions, device=self.device),
        )
        logits: torch.Tensor = output.logits
        return logits

    def _placement(self, batch: Sequence[Chunk], width: int) -> Placement:
        rows = [self._slots[chunk.sequence].row for chunk in batch]
        starts = [chunk.start for chunk in batch]
        end = max(starts) + width
        is_first_prompt = len(batch) == 1 and starts[0] == 0
        first = torch.tensor(starts, device=self.device)
        return Placement(
            rows=rows,
            row_index=torch.tensor(rows, device=self.device),
            positions=first[:, None] + torch.arange(width, device=self.device),
            # The first chunk of one prompt is plain causal attention, which needs no mask.
            columns=end if is_first_prompt else max(_round_up(end, COLUMN_MULTIPLE), LEAST_COLUMNS),
            offset=0 if is_first_prompt else first,
        )

    # --- rows

    def _make_room(self, chunks: Sequence[Chunk]) -> None:
        newcomers = [chunk.sequence for chunk in chunks if chunk.sequence not in self._slots]
        ends = [chunk.start + len(chunk.token_ids) for chunk in chunks]
        used = [slot.length for slot in self._slots.values()]
        self._allocate(len(self._slots) + len(newcomers), max([*ends, *used]))
        for sequence in newcomers:
            self._slots[sequence] = _Slot(self._lowest_free_row())
        for chunk, end in zip(chunks, ends, strict=True):
            self._slots[chunk.sequence].length = end
        self._close_gaps([chunk.sequence for chunk in chunks])

    def _allocate(self, sequences: int, columns: int) -> None:
        cache = self._cache
        if sequences <= cache.rows and columns <= cache.columns:
            return
        columns = _round_up(columns, _COLUMN_STEP)
        rows = max(cache.rows, min(2 * sequences, self.max_batch_size))
        if rows * max(cache.columns, columns) <= self._kv_cells:
            cache.resize(rows, max(cache.columns, columns))
        else:
            self._close_gaps(list(self._slots))
            cache.resize(sequences, columns)

    def _lowest_free_row(self) -> int:
        taken = self._taken_rows()
        return next(row for row in range(self._cache.rows) if row not in taken)

    def _close_gaps(self, sequences: Sequence[Hashable]) -> None:
        """Move the sequences with the highest rows so that all of them lie side by side, from row 0 on.

        Without that a step would have to copy its rows out of the cache. Rows of other sequences (whose
        prompt is being computed) are left where they are; the step is then slower, not wrong.
        """
        taken = self._taken_rows()
        free = [row for row in range(len(sequences)) if row not in taken]
        if not free:
            return
        slots = sorted((self._slots[s] for s in sequences), key=lambda slot: slot.row, reverse=True)
        for target, slot in zip(free, slots, strict=False):
            if slot.row > target:
                self._cache.move_row(slot.row, target, min(slot.length, self._cache.columns))
                slot.row = target

    def _taken_rows(self) -> set[int]:
        return {slot.row for slot in self._slots.values()}


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


# --- preparing a model


def _prepare(loaded: LoadedModel) -> SlotCache:
    """Switch the model to slot attention, pack it on a CPU, and check that its results are the same."""
    model = loaded.model
    config = model.config.get_text_config()
    _refuse_unsupported(config)
    prompts = _check_prompts(loaded.vocab_size)
    with torch.inference_mode():
        expected = [model(input_ids=torch.tensor([p], device=loaded.device)).logits[0, -1] for p in prompts]
        try:
            model.set_attn_implementation(ATTENTION_NAME)
        except ValueError as error:
            raise UnsupportedModelError(f"{config.model_type}: its attention cannot be replaced") from error
        if loaded.device.type == "cpu":
            pack_linear_layers(model)
        cache = SlotCache(config.num_hidden_layers)
        found = _run_check(model, cache, prompts, loaded.device)
    _compare(expected, found, config.model_type, loaded.dtype)
    return cache


def _refuse_unsupported(config: Any) -> None:
    if getattr(config, "is_encoder_decoder", False):
        raise UnsupportedModelError(f"{config.model_type} is an encoder-decoder model")
    kinds = set(getattr(config, "layer_types", None) or ())
    recurrent = sorted(kind for kind in kinds if any(word in kind for word in _UNSUPPORTED_LAYERS))
    if recurrent:
        raise UnsupportedModelError(f"{config.model_type} has layers without a key/value cache: {recurrent}")


def _check_prompts(vocab_size: int) -> list[list[int]]:
    return [[(7 * i + 3) % vocab_size for i in range(9)], [(5 * i + 1) % vocab_size for i in range(6)]]


def _run_check(
    model: Any, cache: SlotCache, prompts: list[list[int]], device: torch.device
) -> list[torch.Tensor]:
    """The prompts' last logits by way of the cache: the last tokens alone, and then in a batch."""
    cache.resize(len(prompts), LEAST_COLUMNS)
    runner = ModelRunner.__new__(ModelRunner)
    runner.device, runner.max_batch_size = device, len(prompts)
    runner._model, runner._cache, runner._is_cpu = model, cache, device.type == "cpu"
    runner._slots = {row: _Slot(row) for row in range(len(prompts))}
    for row, prompt in enumerate(prompts):
        runner._run([Chunk(row, 0, prompt[:-1])])
    endings = [Chunk(row, len(prompt) - 1, prompt[-1:]) for row, prompt in enumerate(prompts)]
    alone = [runner._run([chunk])[0] for chunk in endings]
    return [*alone, *runner._run(endings)]


def _compare(
    expected: list[torch.Tensor], found: list[torch.Tensor], model_type: str, dtype: torch.dtype
) -> None:
    tolerance = 1e-3 if dtype == torch.float32 else 0.1
    for plain, cached in zip(expected * 2, found, strict=True):
        plain, cached = plain.float(), cached.float()
        error = (plain - cached).abs().max() / plain.abs().max().clamp_min(1e-6)
        if not bool(error <= tolerance):
            raise UnsupportedModelError(
                f"{model_type}: batched and plain computation differ (relative error {error:.2g}), "
                f"so its cache does not work in the way this program needs"
            )
