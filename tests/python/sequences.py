"""What tests of ops on sequences share: each call at one level, and two levels deeper; gradients."""

import numpy as np
import varlen as vl
from nested import deeper, raised


def plain(made):
    return made.to_list() if isinstance(made, vl.Ragged) else np.asarray(made).tolist()


def everywhere(call, r):
    """The result of a call, which has to be the same two levels deeper; `r` is of one level."""
    made = call(r)
    below = raised(call(deeper(r)))
    assert plain(below) == plain(made)
    assert type(below) is type(made)
    if not isinstance(made, vl.Ragged):
        assert made.dtype == below.dtype
    return plain(made)


def rows_of(made):
    return made.values if isinstance(made, vl.Ragged) else made


def gradient(torch, call, r, seed=0):
    """What autograd gives for random gradients of a call's rows, and these gradients."""
    x = torch.tensor(r.values, requires_grad=True)
    made = call(r._make(x, r.levels))
    rows = rows_of(made)
    d = torch.randn(rows.shape, dtype=rows.dtype, generator=torch.Generator().manual_seed(seed))
    (dx,) = torch.autograd.grad(rows, x, d)
    return dx.numpy(), d.numpy()
