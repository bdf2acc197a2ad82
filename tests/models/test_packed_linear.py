"""Packed layers compute what plain ones do, and the same bits for a row in every batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from models.packed_linear import PackedLinear, pack_linear_layers


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 3e-2)])
def test_results_equal_the_plain_layer(bias: bool, dtype: torch.dtype, tolerance: float) -> None:
    linear = nn.Linear(70, 130, bias=bias, dtype=dtype)
    x = torch.randn(2, 5, 70, dtype=dtype)
    with torch.inference_mode():
        torch.testing.assert_close(PackedLinear(linear)(x), linear(x), atol=tolerance, rtol=tolerance)


def test_a_row_s_bits_do_not_depend_on_the_batch() -> None:
    x = torch.randn(33, 192)
    layer = PackedLinear(nn.Linear(192, 300))
    with torch.inference_mode():
        alone = torch.stack([layer(row.repeat(2, 1))[0] for row in x])
        for rows in (2, 3, 8, 17, 33):
            assert torch.equal(layer(x[:rows]), alone[:rows])


def test_packing_replaces_linear_layers_of_the_cpu_only_where_they_are_plain() -> None:
    class Special(nn.Linear):
        pass

    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 4)), Special(4, 4))
    x = torch.randn(3, 4)
    expected = model(x)
    assert pack_linear_layers(model) == 2
    assert [type(m).__name__ for m in model.modules() if isinstance(m, PackedLinear | nn.Linear)] == [
        "PackedLinear",
        "PackedLinear",
        "Special",
    ]
    with torch.inference_mode():
        torch.testing.assert_close(model(x), expected)


def test_layers_stay_as_they_are_where_the_operators_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Sequential(nn.Linear(4, 4))
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert pack_linear_layers(model) == 0
    assert type(model[0]) is nn.Linear
