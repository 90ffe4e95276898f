"""Tensors that tests of registered ops draw, and how what comes of them is compared."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def some_of(names):
    """Every third name; those between are for deep runs, as a graph takes a second to trace."""
    return [
        name if i % 3 == 0 else pytest.param(name, marks=pytest.mark.deep) for i, name in enumerate(names)
    ]


def rows(lengths, trailing=(), dtype=torch.float64, seed=0):
    result = torch.randn((sum(lengths), *trailing), generator=torch.Generator().manual_seed(seed))
    return (result * 4).to(dtype)


def agree(result, wanted, equal_nan=False):
    """A tensor of the numbers and the dtype of an array."""
    assert isinstance(result, torch.Tensor)
    assert np.array_equal(result.detach().numpy(), wanted, equal_nan=equal_nan)
    assert result.detach().numpy().dtype == wanted.dtype
