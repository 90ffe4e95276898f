"""Two layers over a Padded, one of which reads backwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from varlen.thinc.layers import as_model
from varlen.thinc.model import Model
from varlen.thinc.types import Padded, from_thinc
from varlen.transforms.convert import laid_out
from varlen.transforms.kinds import check_gradient, expect


def bidirectional(l2r: Any, r2l: Any = None) -> Model:
    """Run one layer forwards and another backwards over sequences, and join their results.

    Parameters
    ----------
    l2r
        A layer that maps a Padded to a Padded of the same sequences.
    r2l
        The layer that reads backwards; None for a copy of l2r.

    Returns
    -------
    Model
        It maps a Padded to a Padded, as wide as both results together. Rows keep their places.

    Raises
    ------
    TypeError
        When the model is called: X is not a Padded.

    Notes
    -----
    Like Thinc's `bidirectional`, in which both layers read forwards and get the first half of the gradient.

    Examples
    --------
    >>> def sums(model, X, is_train):
    ...     return vl.thinc.Padded(X.data.cumsum(axis=0), X.size_at_t, X.lengths, X.indices), None
    >>> model = vl.thinc.with_padded(vl.thinc.bidirectional(vl.thinc.Model("sums", sums)))
    >>> model.predict([np.array([[1.0], [2.0], [3.0]])])[0].tolist()
    [[1.0, 6.0], [3.0, 5.0], [6.0, 3.0]]
    """
    first = as_model(l2r, "l2r")
    second = first.copy() if r2l is None else as_model(r2l, "r2l")
    return Model(f"bi{first.name}", _forward, init=_init, layers=[first, second])


def _forward(model: Model, X: Any, is_train: bool) -> tuple[Padded[Any], Callable[[Any], Padded[Any]]]:
    p: Padded[Any] = expect(Padded, from_thinc(X))
    (l2r_Y, bp_l2r), (r2l_Y, bp_r2l) = (
        layer(x, is_train) for layer, x in zip(model.layers, (p, _backwards(p)), strict=True)
    )
    Y = _concatenate(l2r_Y, _backwards(r2l_Y))
    width = l2r_Y.data.shape[-1]

    def backprop(dY: Any) -> Padded[Any]:
        d: Any = from_thinc(dY)
        check_gradient(d, Y)
        one, other = _part(d, slice(width)), _part(d, slice(width, None))
        dX, dX_back = bp_l2r(one), _backwards(bp_r2l(_backwards(other)))
        return Padded._make(dX.data + dX_back.data, *p._fields)

    return Y, backprop


def _init(model: Model, X: Any = None, Y: Any = None) -> None:
    for k, layer in enumerate(model.layers):
        half = None
        if Y is not None:
            y: Any = from_thinc(Y)
            middle = y.data.shape[-1] // 2
            half = _part(y, slice(middle) if k == 0 else slice(middle, None))
        layer.initialize(X=X, Y=half)


def _backwards(p: Padded[Any]) -> Padded[Any]:
    """The rows of each sequence from the last to the first, in the same columns."""
    result: Any = laid_out(p.to_ragged().reverse().to_padded(), p)
    return Padded._make(result.data, *p._fields)


def _part(p: Padded[Any], columns: slice) -> Padded[Any]:
    return Padded._make(np.ascontiguousarray(p.data[..., columns]), *p._fields)


def _concatenate(a: Padded[Any], b: Padded[Any]) -> Padded[Any]:
    return Padded._make(np.concatenate([a.data, b.data], -1), *a._fields)
