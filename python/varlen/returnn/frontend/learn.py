"""Losses, norms, dropout and attention, as RETURNN's frontend names them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from varlen import dims as _dims
from varlen.backends.values import is_tensor
from varlen.dims import Data, Dim
from varlen.errors import value_error
from varlen.returnn.frontend.convert import number
from varlen.returnn.frontend.make import sparse_to_dense
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.frontend.reduce import check_alone
from varlen.returnn.frontend.run_ctx import get_run_ctx
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike


def dropout(
    source: Data[Any],
    drop_prob: Data[Any] | float,
    *,
    axis: Dim | Sequence[Dim] | Literal[False] | None = None,
    on_forward: bool = False,
) -> Tensor:
    """While the model trains, set some numbers to zero and scale up the others.

    Parameters
    ----------
    source
        Floats.
    drop_prob
        The probability of a zero: a number, or a tensor without dims.
    axis
        The dims to draw over. Numbers at the same positions of these dims share a draw. All dims by default,
        and for False.
    on_forward
        Whether to apply it outside training too.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Notes
    -----
    As in RETURNN, `init_train_step_run_ctx(train_flag=True)` starts training. Outside training the result is
    `source`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.ones(2), [vl.Dim("two", 2)])
    >>> rf.dropout(x, 0.5).values
    array([1., 1.])
    >>> set(rf.dropout(x, 0.5, on_forward=True).values.tolist()) <= {0.0, 2.0}
    True
    """
    check_tensor(source, "source")
    check_operand(drop_prob, "drop_prob")
    training = on_forward or get_run_ctx().train_flag
    axes = None if axis is False else axis
    return as_tensor(_dims.dropout(source, number(drop_prob, "drop_prob"), axes=axes, training=training))


def ctc_loss(
    *,
    logits: Data[Any],
    logits_normalized: bool = False,
    targets: Data[Any],
    input_spatial_dim: Dim,
    targets_spatial_dim: Dim,
    blank_index: int,
    max_approx: bool = False,
    use_native_op: bool | None = None,
    label_loop: bool = True,
) -> Tensor:
    """The CTC loss of labels without alignment.

    Parameters
    ----------
    logits
        Floats over the time and the classes, including the blank.
    logits_normalized
        Whether the logits are log probabilities already.
    targets
        Labels.
    input_spatial_dim
        The time of the logits.
    targets_spatial_dim
        The time of the labels.
    blank_index
        The class of the blank.
    max_approx, label_loop
        Must be False and True: the loss sums over all paths, and a label may hold for several steps.
    use_native_op
        Accepted for compatibility, and ignored.

    Returns
    -------
    Tensor
        The losses, over the remaining dims; inf if there is too little time.

    Raises
    ------
    ValueError
        `max_approx` is True, or `label_loop` is False.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time, spell = vl.Dim("time", lengths=[2, 1]), vl.Dim("spell", lengths=[1, 1])
    >>> labels = vl.Dim("labels", 2)
    >>> x = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, labels])
    >>> y = vl.Data(np.array([1, 1]), [vl.dims.batch_dim, spell], sparse_dim=labels)
    >>> dims = {"input_spatial_dim": time, "targets_spatial_dim": spell}
    >>> rf.exp(-rf.ctc_loss(logits=x, targets=y, blank_index=0, **dims)).values
    array([0.75, 0.5 ])
    """
    check_tensor(logits, "logits")
    check_tensor(targets, "targets")
    if max_approx:
        raise value_error(
            "max_approx", "expected False: ctc_loss sums over all paths, and cannot take the best one alone"
        )
    if not label_loop:
        raise value_error("label_loop", "expected True: ctc_loss cannot leave out paths that hold a label")
    others = [dim for dim in logits.dims if dim != input_spatial_dim and dim not in targets.dims_set]
    loss = _dims.ctc_loss(
        logits,
        targets,
        blank=blank_index,
        axis=input_spatial_dim,
        targets_axis=targets_spatial_dim,
        classes=others[0] if len(others) == 1 else "F",
        is_normalized=logits_normalized,
    )
    return as_tensor(loss)


def label_smoothing(prob: Data[Any], smoothing: Data[Any] | float, *, axis: Dim | None = None) -> Tensor:
    """Smooth labels: distribute a share of their probability evenly among the other classes.

    Parameters
    ----------
    prob
        Classes, or a probability for each.
    smoothing
        The share.
    axis
        The dim of the classes; `sparse_dim` or `feature_dim` by default.

    Returns
    -------
    Tensor
        Floats over the classes.

    Raises
    ------
    ValueError
        There are no classes, or their number is not fixed.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=vl.Dim("words", 3))
    >>> rf.label_smoothing(x, 0.5).to_list()
    [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]
    """
    check_tensor(prob, "prob")
    check_operand(smoothing, "smoothing")
    classes = (prob.sparse_dim or prob.feature_dim) if axis is None else axis
    if classes is None or classes.size is None:
        raise value_error("axis", f"expected classes of a fixed size, got {classes!r} of {prob!r}")
    if prob.sparse_dim is not None:
        return smooth_one_hot(prob, label_prob=1 - smoothing)
    share = smoothing / (classes.size - 1)
    return as_tensor(prob * (1 - classes.size * share) + share)


def smooth_one_hot(source: Data[Any], *, label_prob: Data[Any] | float) -> Tensor:
    """Give the class of each position a probability, and share the rest among the other classes.

    Parameters
    ----------
    source
        Classes, with a `sparse_dim` of fixed size.
    label_prob
        The probability of the class.

    Returns
    -------
    Tensor
        The probabilities, with the dim of the classes; float32 if `label_prob` is a Python number.

    Raises
    ------
    ValueError
        There are no classes, or their number is not fixed.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=vl.Dim("words", 3))
    >>> rf.smooth_one_hot(x, label_prob=0.5).to_list()
    [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25]]
    """
    check_tensor(source, "source")
    check_operand(label_prob, "label_prob")
    classes = source.sparse_dim
    if classes is None or classes.size is None:
        raise value_error("source", f"expected classes of a fixed size, got {source!r}")
    return sparse_to_dense(source, label_value=label_prob, other_value=(1 - label_prob) / (classes.size - 1))


def moments(
    x: Data[Any],
    axis: Dim | Sequence[Dim],
    *,
    use_mask: bool = True,
    correction: float = 0,
    distributed: bool = False,
    compute_dtype: DTypeLike | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over some dims.

    Parameters
    ----------
    x
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.
    correction
        The number to subtract from the count in the denominator of the variance.
    distributed
        Must be False: the moments cover this process alone.
    compute_dtype
        The dtype to cast `x` to first; its own dtype by default.

    Returns
    -------
    tuple of Tensor and Tensor
        The mean and the variance, over the remaining dims.

    Raises
    ------
    ValueError
        `distributed` is True.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([1.0, 3.0, 5.0]), [vl.dims.batch_dim, time])
    >>> [each.to_list() for each in rf.moments(x, time)]
    [[2.0, 5.0], [1.0, 0.0]]
    """
    check_tensor(x, "x")
    check_alone(distributed)
    x = x if compute_dtype is None else x.cast(compute_dtype)
    mean, variance, frames = _dims.moments(x, axis)
    if correction:
        variance = variance * (frames / (frames - correction)).cast(variance._values.dtype)
    return as_tensor(mean), as_tensor(variance)


def dot_attention(
    query: Data[Any],
    keys: Data[Any],
    values: Data[Any],
    *,
    key_dim: Dim,
    axis: Dim,
    att_dropout: float = 0.0,
    att_dropout_broadcast: bool | None = None,
    causal_query_spatial_dim: Dim | None = None,
    scale: float | None = None,
) -> Tensor:
    """Dot-product attention: weight values by the products of their keys with a query.

    Parameters
    ----------
    query
        Over `key_dim` and any other dims but `axis`.
    keys
        Over `axis` and `key_dim`.
    values
        Over `axis`.
    key_dim
        The dim of the products.
    axis
        The dim that the weights are over.
    att_dropout
        The probability to drop a weight while the model trains.
    att_dropout_broadcast
        Whether to drop the same weights along `axis` at all positions of other dims.
    causal_query_spatial_dim
        A dim of `query` whose positions see only positions of `axis` up to their own.
    scale
        The factor of the products; by default one over the square root of the size of `key_dim`.

    Returns
    -------
    Tensor
        The results, over the dims of `values` except `axis`, and those of `query` except `key_dim`.

    Raises
    ------
    ValueError
        `query` has the dim `axis`; `rf.replace_dim` gives it another.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time, heard, one = vl.Dim("time", lengths=[1, 2]), vl.Dim("heard", lengths=[2, 1]), vl.Dim("one", 1)
    >>> x = vl.Data(np.zeros((3, 1)), [vl.dims.batch_dim, time, one])
    >>> y = vl.Data(np.array([[1.0], [3.0], [5.0]]), [vl.dims.batch_dim, heard, one])
    >>> rf.dot_attention(x, y, y, key_dim=one, axis=heard).to_list()
    [[[2.0]], [[5.0], [5.0]]]
    """
    check_tensor(query, "query")
    check_tensor(keys, "keys")
    check_tensor(values, "values")
    if axis in query.dims_set:
        raise value_error(
            "query", f"has '{axis.name}' of the keys; give the query another dim with rf.replace_dim"
        )
    size = query.axis(key_dim).max_size()
    energy = _dims.dot(query, keys, key_dim) * (size**-0.5 if scale is None else scale)
    if causal_query_spatial_dim is not None:
        places = [
            _dims.range_over_dim(energy.axis(dim), like=energy) for dim in (axis, causal_query_spatial_dim)
        ]
        is_seen = _dims.combine("<=", *places, broadcast=True)
        energy = _dims.where(is_seen, energy, -math.inf)
    weights = _dims.softmax(energy, axis)
    weights = dropout(weights, att_dropout, axis=axis if att_dropout_broadcast else None)
    return as_tensor(_dims.dot(weights, values, axis))


def stop_gradient(source: Data[Any]) -> Tensor:
    """Stop the gradient and keep the numbers.

    Parameters
    ----------
    source
        Any values.

    Returns
    -------
    Tensor
        The same numbers, over the same dims. Arrays have no gradient, and are shared.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.stop_gradient(vl.Data(np.ones(2), [vl.Dim("two", 2)])).values
    array([1., 1.])
    """
    check_tensor(source, "source")
    if not is_tensor(source.values):
        return as_tensor(source)
    return as_tensor(source.packed().apply(lambda values: values.detach()))
