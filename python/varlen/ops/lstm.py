"""An LSTM over packed rows: time-major, the sequences that are still running at each step side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.arguments import as_ints
from varlen.backends import backend_of
from varlen.errors import name_argument, value_error
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import Lengths, RowsT, SequencesLike


@eager_only()
def lstm_forward_training(
    params: Any, H0: Any, C0: Any, X: RowsT, size_at_t: Any
) -> tuple[RowsT, tuple[Any, ...]]:
    """Run an LSTM of any depth, in one direction or both, and keep what its gradient needs.

    Parameters
    ----------
    params
        All weights in one axis, layer by layer and in each direction by direction: those of the inputs
        (4 * nO, inputs), their bias (4 * nO,), those of the hidden state (4 * nO, nO), their bias. The four
        are the gates that forget, let in and let out, and the candidates. Inputs are nI, and above the
        first layer directions * nO. float32 or float64, an array or a tensor.
    H0, C0
        (depth, directions, nO): hidden state and cells that every sequence starts with.
    X
        (T, nI): packed rows, as `Padded.to_packed` gives them.
    size_at_t
        (steps,) integers that never increase and add up to T: the number of sequences that run at each step.

    Returns
    -------
    Y : numpy.ndarray or torch.Tensor
        (T, directions * nO), the hidden state of the last layer at each row.
    fwd_state : tuple
        The state that `backprop_lstm` needs.

    Raises
    ------
    TypeError
        A dtype differs from that of params, or is neither float32 nor float64.
    ValueError
        Shapes do not fit, or sizes increase or do not add up to T.

    Notes
    -----
    As Thinc's `Ops.lstm_forward_training`, which takes H0 for the cells and C0 for the hidden state.

    Examples
    --------
    >>> params = np.zeros(4 * (2 + 1) + 8)                  # nI is 2, nO is 1
    >>> H0, C0 = np.zeros((1, 1, 1)), np.ones((1, 1, 1))
    >>> Y, state = vl.ops.lstm_forward_training(params, H0, C0, np.ones((3, 2)), [2, 1])
    >>> Y[:, 0].round(4)
    array([0.2311, 0.2311, 0.1225])
    """
    return _forward(params, H0, C0, X, size_at_t, True)


@eager_only()
def lstm_forward_inference(params: Any, H0: Any, C0: Any, X: RowsT, size_at_t: Any) -> RowsT:
    """Run an LSTM as `lstm_forward_training` does, without keeping the state for a gradient.

    Parameters
    ----------
    params, H0, C0, X, size_at_t
        As in `lstm_forward_training`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (T, directions * nO), the hidden state of the last layer at each row.

    Raises
    ------
    TypeError, ValueError
        What `lstm_forward_training` refuses.

    Notes
    -----
    As Thinc's `Ops.lstm_forward_inference`.

    Examples
    --------
    >>> params, start = np.zeros(20, np.float32), np.zeros((1, 1, 1), np.float32)
    >>> vl.ops.lstm_forward_inference(params, start, start, np.ones((3, 2), np.float32), [2, 1]).shape
    (3, 1)
    """
    result: RowsT = _forward(params, H0, C0, X, size_at_t, False)[0]
    return result


def backprop_lstm(
    dY: RowsT, lengths: Lengths, params: Any, fwd_state: tuple[Any, ...]
) -> tuple[RowsT, RowsT]:
    """The gradient of `lstm_forward_training`.

    Parameters
    ----------
    dY
        (T, directions * nO).
    lengths
        The size_at_t of the forward pass.
    params
        The parameters of the forward pass.
    fwd_state
        The state that the forward pass returned.

    Returns
    -------
    dX : numpy.ndarray or torch.Tensor
        (T, nI), the gradient of X.
    d_params : numpy.ndarray or torch.Tensor
        The gradient of params, in its layout.

    Raises
    ------
    TypeError, ValueError
        An argument does not fit the state.

    Notes
    -----
    As Thinc's `Ops.backprop_lstm`, but complete: it includes the gradient of the first step, the hidden state
    of the previous step in the gradient of the weights, and the gradient of the second bias.

    Examples
    --------
    >>> params, start = np.zeros(20, np.float32), np.zeros((1, 1, 1), np.float32)
    >>> Y, state = vl.ops.lstm_forward_training(params, start, start, np.ones((3, 2), np.float32), [2, 1])
    >>> dX, d_params = vl.ops.backprop_lstm(np.ones_like(Y), [2, 1], params, state)
    >>> dX.shape, d_params.shape
    ((3, 2), (20,))
    """
    return backend_of(params).backprop_lstm(dY, _sizes(lengths, "lengths"), params, fwd_state)


def _forward(
    params: object, H0: object, C0: object, X: SequencesLike, size_at_t: object, training: bool
) -> tuple[Any, Any]:
    return backend_of(params).lstm(params, H0, C0, X, _sizes(size_at_t, "size_at_t"), training)


def _sizes(size_at_t: object, argument: str) -> list[int]:
    """Sizes of the steps, which never increase."""
    try:
        numbers = as_ints(size_at_t)
        Level.from_lengths(numbers)  # refuses what is no such list
    except Exception as error:
        raise name_argument(error, lengths=argument) from None
    sizes = np.array(numbers, np.int64)
    rises = np.flatnonzero(np.diff(sizes) > 0)
    if len(rises):
        t = int(rises[0]) + 1
        raise value_error(argument, f"step {t} has {sizes[t]} sequences, the step before {sizes[t - 1]}")
    result: list[int] = sizes.tolist()
    return result
