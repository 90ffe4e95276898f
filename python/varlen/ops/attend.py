"""Attention of the rows of each sequence to those of the same sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import tracing
from varlen._core import RaggedBase
from varlen.arguments import as_bool, as_float, as_int
from varlen.backends.values import is_tensor, one_device
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.ops.support.inputs import same_kind

if TYPE_CHECKING:
    import torch

    from varlen.backends.values import RaggedT


def attend(
    q: RaggedT,
    k: RaggedBase[Any],
    v: RaggedBase[Any],
    *,
    mask: torch.Tensor | None = None,
    causal: bool = False,
    window: tuple[int, int] | int | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
) -> RaggedT:
    """Scaled dot-product attention inside each sequence, of tensors.

    Parameters
    ----------
    q
        The queries: a Ragged with rows (d,), or (heads, d).
    k, v
        The keys and values: as many sequences, with rows (d,) and (d_v,), or (heads_k, d) and (heads_k, d_v).
        `heads` is a multiple of `heads_k`: each head of k and v serves as many of q.
    mask
        (longest q, longest k), with (heads,) or (n, heads) in front if they differ: True where a query sees a
        key, or numbers that are added to the scores. Each sequence takes the upper left corner that it needs.
    causal
        Whether query i of a sequence sees its keys 0 to i only.
    window
        The number of keys before and after its own place that a query sees, as (before, after); one number
        means both. With causal, none after.
    scale
        The factor of the scores; 1 / sqrt(d) by default.
    dropout
        The share of the weights that are set to 0.

    Returns
    -------
    Ragged
        Rows (d_v,), or (heads, d_v), of q's sequences; zeros for a query that sees no key.

    Raises
    ------
    TypeError
        The arguments are no Raggeds of tensors, or their dtypes differ.
    ValueError
        The numbers of sequences, heads or axes do not fit each other; or the mask is too small.

    See Also
    --------
    block_mask, cu_seqlens, attention_pool

    Notes
    -----
    `torch.nn.functional.scaled_dot_product_attention` of Raggeds calls this. Each sequence's result is what
    torch computes for it alone. On the CPU, sequences of about equal length go through torch's kernel
    together; on CUDA devices, all of them go through the kernels of torch's nested tensors, or of masks.

    Examples
    --------
    >>> import torch
    >>> q = vl.Ragged(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [2, 1])
    >>> vl.ops.attend(q, q, q, causal=True).tolist()[1]
    [[1.0, 1.0]]
    """
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, RaggedBase):
            raise instance_error(name, "a Ragged", x)
        if not is_tensor(x._values):
            raise type_error(name, "attention computes with tensors", f"use {name}.torch()")
    queries, keys, values = q._values, k._values, v._values
    _check_rows(queries, keys, values)
    _check_levels(q, k, v)
    one_device(keys, "k", queries, "q")
    one_device(values, "v", queries, "q")
    is_causal = as_bool(causal, "causal")
    left, right = _window(window, is_causal)
    if not 0 <= as_float(dropout, "dropout") < 1:
        raise value_error("dropout", f"expected a share from 0 to below 1, got {dropout}", number=dropout)
    from varlen.backends.torch.attend import attend_rows

    rows = attend_rows(
        queries, keys, values, q._levels[-1], k._levels[-1], mask=mask, left=left, right=right,
        scale=None if scale is None else as_float(scale, "scale"), dropout=float(dropout),
    )  # fmt: skip
    result: RaggedT = same_kind(q, rows)
    return result


def _window(window: Any, is_causal: bool) -> tuple[int | None, int | None]:
    """How many keys before and after its own place a query sees; None for all."""
    if window is None:
        return None, 0 if is_causal else None
    pair = window if isinstance(window, (tuple, list)) else (window, window)
    if len(pair) != 2:
        raise value_error("window", f"expected (before, after), got {window!r}")
    left, right = (as_int(number, "window", 0) for number in pair)
    return left, 0 if is_causal else right


def _check_rows(q: Any, k: Any, v: Any) -> None:
    """Refuse rows whose axes or dtypes do not fit each other."""
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.ndim not in (2, 3) or x.ndim != q.ndim:
            raise value_error(
                name, f"expected rows of shape (d,), or (heads, d), all alike; got {tuple(x.shape[1:])}"
            )
        if x.dtype != q.dtype or not x.is_floating_point():
            raise type_error(name, f"expected floats of one dtype, got {q.dtype}, {k.dtype} and {v.dtype}")
    if q.shape[-1] != k.shape[-1]:
        raise value_error("k", f"has {k.shape[-1]} numbers in a row, q has {q.shape[-1]}")
    if q.ndim == 3:
        heads, few = q.shape[1], k.shape[1]
        if v.shape[1] != few or few == 0 or heads % few:
            raise value_error(
                "k", f"{heads} heads of q are no multiple of those of k and v, {few} and {v.shape[1]}"
            )


def _check_levels(q: Any, k: Any, v: Any) -> None:
    """Refuse queries, keys and values of different sequences."""
    if not same_levels(k._levels, v._levels):
        raise value_error("v", f"nests otherwise than k: {describe_difference(v._levels, k._levels)}")
    counts = [tracing.count_of(x._levels[-1]) for x in (k, q)]
    if len(q._levels) != len(k._levels) or tracing.holds_surely(counts[0] != counts[1]):
        raise value_error("k", f"has {counts[0]} sequences, q has {counts[1]}")
    if not same_levels(q._levels[:-1], k._levels[:-1]):
        raise value_error("k", "its outer levels differ from those of q")
