"""Losses, noise and values of dims, as RETURNN's frontend names it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from varlen import dims as _dims
from varlen.dims import Data, Dim
from varlen.returnn.frontend.convert import default_dtype
from varlen.returnn.frontend.run_ctx import get_run_ctx
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def cross_entropy(
    *,
    estimated: Data[Any],
    target: Data[Any],
    axis: Dim,
    estimated_type: Literal["logits", "probs", "log-probs"],
) -> Tensor:
    """How improbable the classes of a target are.

    Parameters
    ----------
    estimated
        Floats over the classes.
    target
        Classes, or how much of each.
    axis
        The dim of the classes.
    estimated_type
        What is given: "logits", "probs" or "log-probs".

    Returns
    -------
    Tensor
        Over the dims of both, but the classes.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> words, time = vl.Dim("words", 2), vl.Dim("time", lengths=[2, 1])
    >>> target = vl.Data(np.array([0, 1, 1]), [vl.dims.batch_dim, time], sparse_dim=words)
    >>> logits = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, words])
    >>> loss = rf.cross_entropy(estimated=logits, target=target, axis=words, estimated_type="logits")
    >>> loss.values.round(3)
    array([0.693, 0.693, 0.693])
    """
    return as_tensor(_dims.cross_entropy(estimated, target, axis, estimated_type=estimated_type))


def dropout(
    source: Data[Any],
    drop_prob: float,
    *,
    axis: Dim | Sequence[Dim] | Literal[False] | None = None,
    on_forward: bool = False,
) -> Tensor:
    """Zeros in place of some numbers, the others made larger, while the model is trained.

    Parameters
    ----------
    source
        Floats.
    drop_prob
        How probable a zero is.
    axis
        The dims over which is drawn; what lies at the same positions of these goes together. All by default,
        and for False.
    on_forward
        Whether it is done where nothing is trained too.

    Returns
    -------
    Tensor
        Over the same dims.

    Notes
    -----
    As RETURNN's `dropout`: `init_train_step_run_ctx(train_flag=True)` says that the model is trained. Without
    that the result is `source`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.ones(2), [vl.Dim("two", 2)])
    >>> rf.dropout(x, 0.5).values
    array([1., 1.])
    >>> set(rf.dropout(x, 0.5, on_forward=True).values.tolist()) <= {0.0, 2.0}
    True
    """
    training = on_forward or get_run_ctx().train_flag
    axes = None if axis is False else axis
    return as_tensor(_dims.dropout(source, drop_prob, axes=axes, training=training))


def one_hot(source: Data[Any]) -> Tensor:
    """1 at the class of each position, 0 at the others.

    Parameters
    ----------
    source
        Classes, with a `sparse_dim`.

    Returns
    -------
    Tensor
        float32, with that dim as the last.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=vl.Dim("words", 3))
    >>> rf.one_hot(x).to_list()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    return as_tensor(_dims.one_hot(source, dtype="float32"))


def range_over_dim(dim: Dim, *, dtype: DTypeLike | None = None) -> Tensor:
    """The places of a dim.

    Parameters
    ----------
    dim
        A dim with lengths.
    dtype
        Of the integers; int64 by default.

    Returns
    -------
    Tensor
        Over the dim, and those that it is over, as there is no place that a row lacks.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.range_over_dim(vl.Dim("time", lengths=[3, 1])).to_list()
    [[0, 1, 2], [0]]
    """
    result = _dims.range_over_dim(dim)
    return as_tensor(result if dtype is None else result.cast(dtype))


def zeros(dims: Sequence[Dim], *, dtype: DTypeLike | None = None, sparse_dim: Dim | None = None) -> Tensor:
    """Zeros.

    Parameters
    ----------
    dims
        Dims with lengths.
    dtype
        Of the values; float32 by default.
    sparse_dim
        The Dim that they are positions of.

    Returns
    -------
    Tensor
        Over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.zeros([vl.Dim("two", 2)], dtype="int64").to_list()
    [0, 0]
    """
    return full(dims=dims, fill_value=0, dtype="float32" if dtype is None else dtype, sparse_dim=sparse_dim)


def ones(dims: Sequence[Dim], *, dtype: DTypeLike | None = None, sparse_dim: Dim | None = None) -> Tensor:
    """Ones.

    Parameters
    ----------
    dims, dtype, sparse_dim
        As those of `zeros`.

    Returns
    -------
    Tensor
        Over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.ones([vl.Dim("two", 2)], dtype="int64").to_list()
    [1, 1]
    """
    return full(dims=dims, fill_value=1, dtype="float32" if dtype is None else dtype, sparse_dim=sparse_dim)


def full(
    *, dims: Sequence[Dim], fill_value: Any, dtype: DTypeLike | None = None, sparse_dim: Dim | None = None
) -> Tensor:
    """One number everywhere.

    Parameters
    ----------
    dims
        Dims with lengths.
    fill_value
        The number.
    dtype
        Of the values; by default float32 for a float of Python, int32 for an int, bool for a bool, and
        its own for a number that has one.
    sparse_dim
        The Dim that they are positions of.

    Returns
    -------
    Tensor
        Over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.full(dims=[vl.Dim("two", 2)], fill_value=7, dtype="int64").to_list()
    [7, 7]
    """
    result = _dims.full(dims, fill_value, dtype=default_dtype(fill_value) if dtype is None else dtype)
    return as_tensor(result if sparse_dim is None else result.copy(sparse_dim=sparse_dim))


def _elementwise(name: str, what: str) -> Callable[[Data[Any]], Tensor]:
    operation = getattr(_dims, name)

    def function(a: Data[Any]) -> Tensor:
        return as_tensor(operation(a))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what} of each number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.{name}(x).dims == x.dims
    True
    """
    return function


abs = _elementwise("abs", "The absolute value")
exp = _elementwise("exp", "The exponential")
log = _elementwise("log", "The logarithm")
log_sigmoid = _elementwise("log_sigmoid", "The logarithm of the logistic function")
relu = _elementwise("relu", "The positive part")
gelu = _elementwise("gelu", "The number, weighted by the normal distribution function")
sigmoid = _elementwise("sigmoid", "The logistic function")
silu = _elementwise("silu", "The number, weighted by its logistic function")
softplus = _elementwise("softplus", "The logarithm of one plus the exponential")
sqrt = _elementwise("sqrt", "The square root")
square = _elementwise("square", "The square")
tanh = _elementwise("tanh", "The hyperbolic tangent")
