"""Remove rows or sequences that equal a token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import one_number_error, refuse_mask
from varlen.backends import backend_of
from varlen.backends.values import apply_rows, as_values, readable
from varlen.backends.values import is_array as is_any_array
from varlen.errors import dtype_error, instance_error, name_argument, overflow_error, type_error, value_error
from varlen.levels import mask_level, resolve_level
from varlen.ops.combine import concatenate
from varlen.sequence.inputs import array_of, gradient_rows, scatter_rows, select, sequences
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike


@eager_only()
def sequence_erase(x: RaggedT, tokens: SequencesLike, *, level: int = -1) -> RaggedT:
    """Remove rows, or whole sequences, that equal one of the tokens.

    Parameters
    ----------
    x
        `Ragged` of numbers (T,) or (T, 1).
    tokens
        The numbers to remove; without any, nothing changes. Above the innermost level: the sequences to
        remove, a list or a `Ragged` that nests as deep as the level below.
    level
        The level whose sequences lose something: rows at the innermost (-1), otherwise whole sequences of the
        level below.

    Returns
    -------
    Ragged
        As many levels as x, those above `level` shared; sequences may become empty. The values are a copy.

    Raises
    ------
    TypeError
        x is not a Ragged, or the tokens are not numbers, or, above the innermost level, not sequences of
        numbers.
    ValueError
        Rows hold more than one number, or the tokens nest differently.
    OverflowError
        A token in a list does not fit 64 bits.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_erase`, which takes tokens and numbers of two dtypes. NaN equals nothing, nor does
    a token that the dtype of x cannot hold exactly.

    Examples
    --------
    >>> r = vl.Ragged([2, 2, 6, 1, 3, 9, 6, 1, 0, 1], [3, 3, 4])
    >>> vl.sequence_erase(r, [2, 3, 5]).to_list()
    [[6], [1, 9], [6, 1, 0, 1]]
    >>> vl.sequence_erase(vl.Ragged.from_list([[[1, 2], [3]], [[3]]]), [[3]], level=0).to_list()
    [[[1, 2]], []]
    """
    r = sequences(x)
    index = resolve_level(level, r.levels)
    if index == len(r.levels) - 1:
        result = _erase_rows(r, tokens)
        if result is not None:
            return cast("RaggedT", result)
    keep = _kept_mask(r, index, tokens)
    out_level = mask_level(r.levels[index], keep)
    if index == len(r.levels) - 1:
        row_level = Level.from_lengths(np.ones(r.total, np.int64))
        values, _ = apply_rows(r.values, lambda rows: _core.gather(rows, (row_level,), keep))
        return cast("RaggedT", r._make(values, (*r.levels[:index], out_level)))
    values, inner_levels = select(r, index + 1, keep)
    return cast("RaggedT", r._make(values, (*r.levels[:index], out_level, *inner_levels)))


def backprop_sequence_erase(
    dY: SequencesLike, x: RaggedT, tokens: SequencesLike, *, level: int = -1
) -> RaggedT:
    """The gradient of `sequence_erase`: zeros for the erased rows.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_erase`: a `Ragged`, or its rows.
    x, tokens, level
        The arguments of `sequence_erase`.

    Returns
    -------
    Ragged
        Nests as x, of the dtype of dY.

    Examples
    --------
    >>> r = vl.Ragged([1.0, 2.0, 3.0], [2, 1])
    >>> vl.sequence.backprop_sequence_erase([5.0, 6.0], r, [2]).values
    array([5., 0., 6.])
    """
    r = sequences(x)
    index = resolve_level(level, r.levels)
    keep = _kept_mask(r, index, tokens)
    levels = (*r.levels[:index], mask_level(r.levels[index], keep))
    where: Any = np.flatnonzero(keep)
    if index < len(r.levels) - 1:
        where, inner_levels = select(r._make(np.arange(r.total), r.levels), index + 1, keep)
        levels = (*levels, *inner_levels)
    d = gradient_rows(dY, len(where), levels, inner=tuple(r.values.shape[1:]))
    return cast("RaggedT", r._make(scatter_rows(d, where, r.total), r.levels))


def _erase_rows(r: Ragged[Any], tokens: SequencesLike) -> Ragged[Any] | None:
    """Erase rows of numbers of up to 8 bytes by comparing bytes; None if that is impossible."""
    values: Any = r.values
    is_array = isinstance(values, np.ndarray)
    dtype = values.dtype if is_array else readable(values[:0]).dtype
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or values.dtype.itemsize != dtype.itemsize:
        return None
    _check_one_number(r)
    if is_array:
        values = np.require(values, dtype.newbyteorder("="), ["C", "A"])
    targets, is_exact = _cast_tokens(_numbers(tokens), dtype.newbyteorder("="))
    targets = targets[is_exact]
    if dtype.kind == "f":
        zeros = targets[targets == 0]
        targets = np.concatenate([targets, -zeros, abs(zeros)])
    if dtype.kind == "b":  # any byte but 0 is True
        targets = targets.view(np.uint8) != 0
    bits = np.unique(targets.view(f"u{dtype.itemsize}"))
    result: Any = backend_of(values).erase(values, r.levels[-1], bits)
    if result is NotImplemented:
        return None
    rows, out_level = result
    rows = rows.astype(dtype, copy=False) if is_array else rows
    return r._make(rows, (*r.levels[:-1], out_level))


def _check_one_number(r: Ragged[Any]) -> None:
    if r.values.shape[1:] not in ((), (1,)):
        raise one_number_error("x", r.values.shape[1:], "rows of one number")


def _kept_mask(r: Ragged[Any], index: int, tokens: SequencesLike) -> Any:
    """Which rows, or which sequences below level `index`, equal no token: bool."""
    _check_one_number(r)
    rows = _comparable(r.values).reshape(-1)
    rows = rows.astype(rows.dtype.newbyteorder("="), copy=False)
    depth = len(r.levels) - index - 1
    if not depth:
        targets, is_exact = _cast_tokens(_numbers(tokens), rows.dtype)
        return ~np.isin(rows, targets[is_exact])
    token_seqs, numbers = _token_sequences(tokens)
    if token_seqs is None:
        return np.ones(r.levels[index].total, np.bool_)
    if len(token_seqs.levels) != depth:
        raise value_error(
            "tokens", f"expected {depth} levels, as the sequences to erase have, got {len(token_seqs.levels)}"
        )
    if len(numbers) != token_seqs.total:
        raise one_number_error("tokens", token_seqs.values.shape[1:], "rows of one number")
    targets, is_exact = _cast_tokens(numbers, rows.dtype)
    return ~_equal_a_token(
        Ragged._make(rows, r.levels[index + 1 :]), Ragged._make(targets, token_seqs.levels), is_exact
    )


def _comparable(values: SequencesLike) -> Any:
    """Numbers that NumPy can compare: dtypes that it does not know become float32, which holds them."""
    numbers = array_of(values, "tokens")
    return (
        numbers.astype(np.float32)
        if numbers.dtype.kind == "V" and numbers.dtype.type is not np.void
        else numbers
    )


def _numbers(tokens: SequencesLike) -> Any:
    """Tokens laid end to end: NumPy numbers, or Python numbers if no dtype holds them all."""
    values = tokens.values if isinstance(tokens, Ragged) else tokens
    try:
        numbers = _comparable(as_values([values] if _is_scalar(values) else values, "tokens")).reshape(-1)
    except TypeError:
        _refuse_wide(values)
        raise
    if numbers.dtype.kind not in "biuf":
        raise dtype_error("tokens", "numbers", numbers.dtype)
    if numbers.dtype.kind == "f" and isinstance(values, (list, tuple)):
        objects = np.asarray(values, np.object_).reshape(-1)
        return objects if any(isinstance(x, (int, np.integer)) for x in objects) else numbers
    return numbers


def _refuse_wide(values: SequencesLike) -> None:
    """Refuse lists of integers beyond 64 bits, which NumPy reads as objects."""
    for x in np.asarray(values, np.object_).reshape(-1):
        if isinstance(x, int) and not -(2**63) <= x < 2**64:
            raise overflow_error("tokens", f"{x} does not fit 64 bits", number=x)


def _is_scalar(value: object) -> bool:
    """Whether it is one value, not a list of values."""
    return isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or getattr(value, "ndim", 1) == 0


def _token_sequences(tokens: Any) -> tuple[Ragged[Any] | None, Any]:
    """Tokens that are sequences, None where there are none, and their numbers."""
    if isinstance(tokens, Ragged):
        return tokens, _numbers(tokens)
    if _is_scalar(tokens):
        raise instance_error("tokens", "a list of sequences", tokens)
    if not len(tokens):
        return None, None
    for item in tokens:
        if _is_scalar(item):
            raise type_error("tokens", f"expected sequences like those to erase, got {item!r}")
    try:
        is_tensor = is_any_array(tokens) and not isinstance(tokens, np.ndarray)
        # What floats round is compared as it is, below; the levels are the same.
        dtype = np.float64 if _holds_float(tokens) else None
        token_seqs = Ragged.from_list(tokens if is_tensor else list(refuse_mask(tokens, "tokens")), dtype)
    except (TypeError, ValueError, OverflowError) as error:
        where = getattr(error, "argument", "")
        raise name_argument(error, where.replace("data", "tokens", 1)) from None
    leaves = tokens
    if isinstance(token_seqs.values, np.ndarray) and token_seqs.values.dtype.kind == "f":
        for _ in token_seqs.levels:
            leaves = [x for leaf in leaves for x in leaf]
        if len(leaves) == token_seqs.total and all(isinstance(x, (int, float)) for x in leaves):
            return token_seqs, _numbers(leaves)
    return token_seqs, _numbers(token_seqs)


def _holds_float(tokens: SequencesLike) -> bool:
    if isinstance(tokens, (list, tuple)):
        return any(map(_holds_float, tokens))
    return isinstance(tokens, float)


def _cast_tokens(tokens: Any, dtype: np.dtype) -> tuple[Any, Any]:
    """Tokens in the dtype of x, and which of them it holds exactly: others, and NaN, equal nothing."""
    if dtype.kind not in "biufc":
        if len(tokens):
            raise type_error("tokens", f"numbers never equal values of {dtype}, the dtype of x")
        return np.empty(0, dtype), np.empty(0, np.bool_)
    if dtype.kind == "c":
        dtype = np.empty(0, dtype).real.dtype
    if tokens.dtype.hasobject:
        parts = [_cast_tokens(np.asarray(x).reshape(1), dtype) for x in tokens]
        return np.concatenate([result for result, _ in parts]), np.concatenate([exact for _, exact in parts])
    if tokens.dtype == dtype:
        return tokens, tokens == tokens
    numbers = tokens.view(np.uint8) if tokens.dtype.kind == "b" else tokens
    if dtype.kind in "iu" and numbers.dtype.kind == "f":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        wide = numbers.astype(np.promote_types(numbers.dtype, np.float64))
        is_exact = (wide >= float(low)) & (wide < float(high // 2 + 1) * 2) & (wide == np.trunc(wide))
        return np.where(is_exact, wide, 0).astype(dtype), is_exact
    with np.errstate(all="ignore"):
        result = numbers.astype(dtype)
        if dtype.kind == "f" and numbers.dtype.kind in "iu":
            # What was rounded up beyond the integers must not go back among them.
            wide = result.astype(np.promote_types(dtype, np.float64))
            is_exact = np.isfinite(wide) & (wide < float(int(np.iinfo(numbers.dtype).max) + 1))
            is_exact &= np.where(is_exact, result, 0).astype(numbers.dtype) == numbers
            return result, is_exact
        return result, (result.astype(numbers.dtype) == numbers) & ((result < 0) == (numbers < 0))


def _equal_a_token(r: Ragged[Any], tokens: Ragged[Any], is_exact: Any) -> Any:
    """Which sequences of the outermost level are equal to one of the tokens, whole: bool.

    Each row gets the number of the token's row that it equals, or -1; a token's row that cannot be held
    exactly gets -2. Then, from the innermost level outwards, sequences that hold the same numbers get the
    same number, until each of the outermost has one.
    """
    vocab = np.unique(tokens.values[is_exact])
    row_ids, token_ids = _ids_among(r.values, vocab), np.where(is_exact, _ids_among(tokens.values, vocab), -2)
    for level, token_level in zip(reversed(r.levels), reversed(tokens.levels), strict=True):
        row_ids, token_ids = _label_sequences(row_ids, level, token_ids, token_level)
    return np.isin(row_ids, token_ids[token_ids >= 0])


def _ids_among(values: Any, vocab: Any) -> Any:
    if not len(vocab):
        return np.full(len(values), -1)
    ids = np.minimum(np.searchsorted(vocab, values), len(vocab) - 1)
    return np.where(vocab[ids] == values, ids, -1)


def _label_sequences(ids: object, level: Level, token_ids: object, token_level: Level) -> tuple[Any, Any]:
    """A number for each sequence, the same for equal ones; -1 where no token is as long."""
    may_match = np.isin(level.lengths, token_level.lengths)
    candidates = Ragged._make(ids, (level,))[may_match]
    union = concatenate([candidates, Ragged._make(token_ids, (token_level,))])
    block = union.to_dense(fill=-3)
    _, labels = np.unique(block, axis=0, return_inverse=True) if block.shape[1] else (0, np.zeros(len(block)))
    result = np.full(len(level), -1)
    result[may_match] = labels.reshape(-1)[: len(candidates)]
    return result, labels.reshape(-1)[len(candidates) :]
