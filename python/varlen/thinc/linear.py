"""`Linear`: a linear layer with a bias."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from varlen.thinc.initializers import get_width, glorot_uniform_init, zero_init
from varlen.thinc.model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def Linear(
    nO: int | None = None,
    nI: int | None = None,
    *,
    init_W: Callable[..., Array] | None = None,
    init_b: Callable[..., Array] | None = None,
) -> Model:
    """Multiply rows by weights and add a bias: `X @ W.T + b`.

    Parameters
    ----------
    nO, nI
        The widths of output and input rows; None lets `initialize` infer them.
    init_W, init_b
        Functions init(ops, shape) that give the initial weights and biases; None for `glorot_uniform_init`
        and `zero_init`.

    Returns
    -------
    Model
        It maps (n, nI) float32 to (n, nO) float32. Its parameters are W, (nO, nI), and b, (nO,).

    Notes
    -----
    Like Thinc's `Linear`.

    Examples
    --------
    >>> model = vl.thinc.Linear(6, 5).initialize()
    >>> ragged = vl.thinc.Ragged(np.ones((13, 5), np.float32), [7, 2, 4])
    >>> model.predict(ragged.data).shape, vl.thinc.with_array(model).predict(ragged).data.shape
    ((13, 6), (13, 6))
    """
    return Model(
        "linear",
        _forward,
        init=partial(_init, init_W or glorot_uniform_init, init_b or zero_init),
        dims={"nO": nO, "nI": nI},
        params={"W": None, "b": None},
    )


def _forward(model: Model, X: Array, is_train: bool) -> tuple[Array, Callable[[Array], Array]]:
    W, ops = model.get_param("W"), model.ops
    Y = ops.affine(X, W, model.get_param("b"))

    def backprop(dY: Array) -> Array:
        model.inc_grad("b", dY.sum(axis=0))
        model.inc_grad("W", ops.gemm(dY, X, trans1=True))
        return ops.gemm(dY, W)

    return Y, backprop


def _init(
    init_W: Callable[..., Array], init_b: Callable[..., Array], model: Model, X: Any = None, Y: Any = None
) -> None:
    if X is not None:
        model.set_dim("nI", get_width(X))
    if Y is not None:
        model.set_dim("nO", get_width(Y))
    shape = model.get_dim("nO"), model.get_dim("nI")
    model.set_param("W", init_W(model.ops, shape))
    model.set_param("b", init_b(model.ops, shape[:1]))
