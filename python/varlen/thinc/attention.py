"""Attention of each sequence's rows to one learned vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from varlen.thinc.initializers import get_width
from varlen.thinc.model import Model
from varlen.thinc.types import Ragged, from_thinc
from varlen.transforms.kinds import check_gradient


def ParametricAttention(nO: int | None = None) -> Model:
    """Weight each row by attention: the softmax of its product with a vector, inside its sequence.

    Parameters
    ----------
    nO
        The width of rows; None lets `initialize` infer it.

    Returns
    -------
    Model
        It maps a Ragged of float32 rows to another. Its parameter is Q, (nO,).

    Notes
    -----
    Like Thinc's `ParametricAttention`.

    Examples
    --------
    >>> model = vl.thinc.chain(vl.thinc.ParametricAttention(), vl.thinc.reduce_sum())
    >>> r = vl.thinc.Ragged(np.array([[1, 2], [3, 4], [5, 6]], np.float32), [2, 1])
    >>> model.initialize(X=r).predict(r).shape
    (2, 2)
    """
    return Model("para-attn", _forward, init=_init, params={"Q": None}, dims={"nO": nO})


def _init(model: Model, X: Any = None, Y: Any = None) -> None:
    if X is not None:
        model.set_dim("nO", get_width(from_thinc(X)))
    Q = np.random.uniform(-0.1, 0.1, model.get_dim("nO"))  # noqa: NPY002 - as Thinc draws
    model.set_param("Q", model.ops.asarray1f(Q))


def _forward(model: Model, X: Any, is_train: bool) -> tuple[Ragged[Any], Callable[[Any], Ragged[Any]]]:
    r: Any = from_thinc(X)
    Q, ops = model.get_param("Q"), model.ops
    rows, lengths = r.dataXd, r.lengths
    attention = ops.softmax_sequences(ops.gemm(rows, Q[:, None]), lengths)
    Y = Ragged._make(rows * attention, r.levels)

    def backprop(dY: Any) -> Ragged[Any]:
        gradient: Any = from_thinc(dY)
        check_gradient(gradient, Y)
        d = gradient.dataXd
        shares = ops.backprop_softmax_sequences((rows * d).sum(1, keepdims=True), attention, lengths)
        model.inc_grad("Q", ops.gemm(rows, shares, trans1=True).ravel())
        return Ragged._make(d * attention + shares * Q, r.levels)

    return Y, backprop
