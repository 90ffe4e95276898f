"""Masks that let tokens of packed rows see only their own sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen.arguments import as_bool, as_dtype
from varlen.backends.values import ArrayT, is_tensor, like
from varlen.errors import dtype_error, value_error

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike


__all__ = ["attention_mask", "document_mask"]


def document_mask(document_ids: RowsLike, causal: bool = True) -> Callable[..., Any]:
    """The mask of packed rows as a function of positions: a `mask_mod` for FlexAttention.

    Parameters
    ----------
    document_ids
        (bins, size) integers, as a packed batch has them: tokens of one number see each other.
    causal
        If True, a token sees itself and earlier tokens only.

    Returns
    -------
    callable
        A function of (batch, head, query, key), for `torch.nn.attention.flex_attention.create_block_mask`.

    Raises
    ------
    ValueError, TypeError
        The argument is not an array of integers with two dimensions.

    Examples
    --------
    >>> sees = document_mask(np.array([[0, 0, 1, -1]]))
    >>> bool(sees(0, 0, 1, 0)), bool(sees(0, 0, 2, 1)), bool(sees(0, 0, 0, 1))
    (True, False, False)
    """
    ids = _check(document_ids)
    if not as_bool(causal, "causal"):
        return lambda batch, head, query, key: ids[batch, query] == ids[batch, key]
    return lambda batch, head, query, key: (ids[batch, query] == ids[batch, key]) & (query >= key)


def attention_mask(document_ids: ArrayT, causal: bool = True) -> ArrayT:
    """The mask of packed rows as a block; pass `mask[:, None]` to `scaled_dot_product_attention`.

    Parameters
    ----------
    document_ids
        (bins, size) integers, as a packed batch has them: tokens of one number see each other.
    causal
        If True, a token sees itself and earlier tokens only.

    Returns
    -------
    numpy.ndarray
        bool (bins, size, size): entry [b, i, j] tells whether token i of row b sees token j. A tensor for a
        tensor. Every token sees itself, so that no row of scores is empty.

    Raises
    ------
    ValueError, TypeError
        The argument is not an array of integers with two dimensions.

    Examples
    --------
    >>> attention_mask(np.array([[0, 0, 1]])).astype(int)
    array([[[1, 0, 0],
            [1, 1, 0],
            [0, 0, 1]]])
    """
    ids = _check(document_ids)
    mask = ids[:, :, None] == ids[:, None, :]
    if as_bool(causal, "causal"):
        places = like(np.arange(ids.shape[1]), ids)
        mask &= places[:, None] >= places[None, :]
    return cast("ArrayT", mask)


def _check(document_ids: Any) -> Any:
    ids = document_ids if is_tensor(document_ids) else np.asarray(document_ids)
    if ids.ndim != 2:
        raise value_error("document_ids", f"expected (bins, size), got {ids.ndim} dimensions")
    if as_dtype(ids.dtype, "document_ids", objects=True).kind not in "iu":  # NaN is not even itself
        raise dtype_error("document_ids", "integers", ids.dtype)
    return ids
