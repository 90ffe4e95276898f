"""Dropout over the rows of any container."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from varlen.thinc.layers import as_thinc
from varlen.thinc.model import Model
from varlen.thinc.types import from_thinc
from varlen.transforms.convert import as_array
from varlen.transforms.kinds import check_gradient


def Dropout(rate: float = 0.0) -> Model:
    """Dropout: in training, set some numbers to 0 and scale the others to keep the mean.

    Parameters
    ----------
    rate
        The probability of 0, stored in `model.attrs["dropout_rate"]`.

    Returns
    -------
    Model
        It returns the type that it gets: a Ragged, a Padded, a list or an array.

    Notes
    -----
    Like Thinc's `Dropout`. It draws from NumPy's global random state.

    Examples
    --------
    >>> r = vl.thinc.Ragged(np.ones((4, 1), np.float32), [3, 1])
    >>> Y, backprop = vl.thinc.Dropout(0.5).begin_update(r)
    >>> set(Y.data.ravel().tolist()) <= {0.0, 2.0}, np.array_equal(backprop(r).data, Y.data)
    (True, True)
    """
    return Model("dropout", _forward, attrs={"dropout_rate": rate, "is_enabled": True})


def set_dropout_rate(model: Model, drop: float, attrs: Sequence[str] = ("dropout_rate",)) -> Model:
    """Set the dropout rate of all layers that have one.

    Parameters
    ----------
    model
        The model; the layers below it are changed too.
    drop
        The probability of 0.
    attrs
        The names of the attributes to set.

    Returns
    -------
    Model
        The same model.

    Notes
    -----
    Like Thinc's `set_dropout_rate`.

    Examples
    --------
    >>> model = vl.thinc.set_dropout_rate(vl.thinc.chain(vl.thinc.noop(), vl.thinc.Dropout()), 0.2)
    >>> model.layers[1].attrs["dropout_rate"]
    0.2
    """
    for node in model.walk():
        node.attrs.update({name: drop for name in attrs if name in node.attrs})
    return model


def _forward(model: Model, X: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    rate = model.attrs["dropout_rate"]
    if rate == 0 or not (is_train and model.attrs["is_enabled"]):
        return X, _identity
    values, leave = as_array(from_thinc(X))
    mask = model.ops.get_dropout_mask(values.shape, rate)
    Y = as_thinc(leave(values * mask))

    def backprop(dY: Any) -> Any:
        d = from_thinc(dY)
        check_gradient(d, Y)
        return as_thinc(leave(as_array(d)[0] * mask))

    return Y, backprop


def _identity(dY: Any) -> Any:
    return dY
