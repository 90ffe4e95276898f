"""What tests of ops on sequences share: each call at one level, and two levels deeper; gradients."""

import numpy as np
import varlen as vl
from nested import deeper, raised


def plain(result):
    return result.to_list() if isinstance(result, vl.Ragged) else np.asarray(result).tolist()


def everywhere(call, r):
    """The result of a call, which has to be the same two levels deeper; `r` is of one level."""
    result = call(r)
    below = raised(call(deeper(r)))
    assert plain(below) == plain(result)
    assert type(below) is type(result)
    if not isinstance(result, vl.Ragged):
        assert result.dtype == below.dtype
    return plain(result)


def rows_of(result):
    return result.values if isinstance(result, vl.Ragged) else result


def gradient(torch, call, r, seed=0):
    """What autograd gives for random gradients of a call's rows, and these gradients."""
    x = torch.tensor(r.values, requires_grad=True)
    result = call(r._make(x, r.levels))
    rows = rows_of(result)
    d = torch.randn(rows.shape, dtype=rows.dtype, generator=torch.Generator().manual_seed(seed))
    (dx,) = torch.autograd.grad(rows, x, d)
    return dx.numpy(), d.numpy()
