"""LSTM over a Padded: varlen's own, and torch's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_bool, as_int
from varlen.thinc.initializers import get_width, glorot_uniform_init, zero_init
from varlen.thinc.layers import as_model, noop, with_padded
from varlen.thinc.model import Model
from varlen.thinc.types import Padded
from varlen.transforms.layer import not_trained

if TYPE_CHECKING:
    Array = np.ndarray


def LSTM(
    nO: int | None = None,
    nI: int | None = None,
    *,
    bi: bool = False,
    depth: int = 1,
    dropout: float = 0.0,
    init_W: Callable[..., Array] | None = None,
    init_b: Callable[..., Array] | None = None,
) -> Model:
    """An LSTM over the sequences of a Padded. It reads no padding.

    Parameters
    ----------
    nO, nI
        The widths of output and input rows; None lets `initialize` infer them.
    bi
        Whether to run in both directions; each gives half of nO.
    depth
        The number of stacked layers, at least one.
    dropout
        The probability that a weight is 0 in training.
    init_W, init_b
        Functions init(ops, shape) that give the initial weights and biases; None for `glorot_uniform_init`
        and `zero_init`.

    Returns
    -------
    Model
        It maps a Padded of float32 rows of width nI to one of width nO. Its parameters are LSTM, the weights,
        and HC0, the initial states.

    Raises
    ------
    ValueError
        The depth is below 1.

    Notes
    -----
    Like Thinc's `LSTM`, whose gradients leave out the first step.

    Examples
    --------
    >>> model = vl.thinc.with_padded(vl.thinc.LSTM(2, 3)).initialize()
    >>> [y.shape for y in model.predict([np.ones((n, 3), np.float32) for n in (4, 0, 2)])]
    [(4, 2), (0, 2), (2, 2)]
    """
    return Model(
        "lstm",
        _forward,
        init=partial(_init, init_W or glorot_uniform_init, init_b or zero_init),
        dims={"nO": nO, "nI": nI, "depth": as_int(depth, "depth", minimum=1), "dirs": 1 + as_bool(bi, "bi")},
        attrs={"dropout_rate": dropout},
        params={"LSTM": None, "HC0": None},
    )


def PyTorchLSTM(nO: int, nI: int, *, bi: bool = False, depth: int = 1, dropout: float = 0.0) -> Model:
    """A torch LSTM over sequences, inside `with_padded`.

    Parameters
    ----------
    nO, nI, bi, depth, dropout
        As in `LSTM`; a depth of 0 gives `noop`.

    Returns
    -------
    Model
        It has no parameters of its own: a torch optimizer trains its weights.

    Raises
    ------
    ModuleNotFoundError
        torch is not installed.

    Notes
    -----
    Like Thinc's `PyTorchLSTM`, which reads the padding if it runs in both directions.

    Examples
    --------
    >>> model = vl.thinc.PyTorchLSTM(2, 3)
    >>> [y.shape for y in model.predict([np.ones((n, 3), np.float32) for n in (4, 2)])]
    [(4, 2), (2, 2)]
    """
    import torch

    dirs = 1 + as_bool(bi, "bi")
    if as_int(depth, "depth") == 0:
        return noop()
    inner = as_model(torch.nn.LSTM(nI, nO // dirs, depth, bidirectional=dirs == 2, dropout=dropout))
    inner._dims = {"nO": nO, "nI": nI}
    return with_padded(inner)


def _sizes(model: Model) -> tuple[int, int, int, int]:
    dirs, depth = model.get_dim("dirs"), model.get_dim("depth")
    return model.get_dim("nO") // dirs, model.get_dim("nI"), depth, dirs


def _init(
    init_W: Callable[..., Array], init_b: Callable[..., Array], model: Model, X: Any = None, Y: Any = None
) -> None:
    if X is not None:
        model.set_dim("nI", get_width(X))
    if Y is not None:
        model.set_dim("nO", get_width(Y))
    nH, nI, depth, dirs = _sizes(model)
    # The order of CuDNN: of each layer and direction four times weights, and four biases, of input and state.
    parts = [
        init(model.ops, shape).ravel()
        for k in range(depth)
        for _ in range(dirs)
        for width in (nH * dirs if k else nI, nH)
        for init, shape in [(init_W, (nH, width))] * 4 + [(init_b, (nH,))] * 4
    ]
    model.set_param("LSTM", np.concatenate(parts))
    model.set_param("HC0", zero_init(model.ops, (2, depth, dirs, nH)))


def _forward(model: Model, Xp: Padded[Any], is_train: bool) -> tuple[Padded[Any], Callable[..., Any]]:
    ops, fields = model.ops, Xp._fields
    params, (H0, C0) = model.get_param("LSTM"), model.get_param("HC0")
    rows, sizes = Xp.to_packed(), Xp.size_at_t
    if not is_train:
        return _padded(ops.lstm_forward_inference(params, H0, C0, rows, sizes), fields), not_trained
    mask = ops.get_dropout_mask(params.shape, model.attrs["dropout_rate"])
    weights = params * mask
    Y, state = ops.lstm_forward_training(weights, H0, C0, rows, sizes)

    def backprop(dYp: Padded[Any]) -> Padded[Any]:
        dX, d_params = ops.backprop_lstm(dYp.to_packed(), sizes, weights, state)
        model.inc_grad("LSTM", d_params * mask)
        return _padded(dX, fields)

    return _padded(Y, fields), backprop


def _padded(rows: Array, fields: tuple[Any, ...]) -> Padded[Any]:
    result: Any = Padded.from_packed(rows, *fields)
    return result  # type: ignore[no-any-return]
