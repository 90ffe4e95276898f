"""Sequences without what was named."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.sequence.given import gradient_rows, picked, put_back, sequences
from varlen.types import Ragged, concatenate
from varlen.types.levels import counted_before, place_of, recounted
from varlen.types.values import is_tensor, through


def sequence_erase(x: Any, tokens: Any, *, level: int = -1) -> Ragged:
    """What is in each sequence, but for what equals one of the tokens.

    Parameters
    ----------
    x
        `Ragged` of numbers (T,) or (T, 1).
    tokens
        Numbers; none are no change. Above the innermost level: sequences as those that are to go, a list or a
        `Ragged` that nests as deep as the level below.
    level
        The level whose sequences lose something: rows at the innermost, which -1 stands for; whole sequences
        of the level below, else.

    Returns
    -------
    Ragged
        As many levels as x, those above `level` shared; sequences may become empty. The values are a copy.

    Raises
    ------
    TypeError
        x is no Ragged, tokens are no numbers.
    ValueError
        Rows of more than one number; tokens that nest otherwise.
    IndexError
        No such level.

    Notes
    -----
    As Paddle's `sequence_erase`, which takes tokens and numbers of two dtypes. NaN equals nothing.

    Examples
    --------
    >>> r = vl.Ragged([2, 2, 6, 1, 3, 9, 6, 1, 0, 1], [3, 3, 4])
    >>> vl.sequence_erase(r, [2, 3, 5]).to_list()
    [[6], [1, 9], [6, 1, 0, 1]]
    >>> vl.sequence_erase(vl.Ragged.from_list([[[1, 2], [3]], [[3]]]), [[3]], level=0).to_list()
    [[[1, 2]], []]
    """
    r = sequences(x)
    at = place_of(level, r.levels)
    if at == len(r.levels) - 1 and isinstance(r.values, np.ndarray) and r.values.dtype.kind in "biuf":
        return _erased(r, tokens)
    keep = _kept(r, at, tokens)
    kept = recounted(r.levels[at], counted_before(keep))
    if at == len(r.levels) - 1:
        each = Level.from_lengths(np.ones(r.total, np.int64))
        values, _ = through(r.values, lambda rows: _core.gather(rows, (each,), keep))
        return r._make(values, (*r.levels[:at], kept))
    values, below = picked(r, at + 1, keep)
    return r._make(values, (*r.levels[:at], kept, *below))


def backprop_sequence_erase(dY: Any, x: Any, tokens: Any, *, level: int = -1) -> Ragged:
    """The gradient of `sequence_erase`: zeros for what was erased.

    Parameters
    ----------
    dY
        The gradient of what `sequence_erase` gave: a `Ragged`, or its rows.
    x, tokens, level
        As they were given to `sequence_erase`.

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
    at = place_of(level, r.levels)
    keep = _kept(r, at, tokens)
    for each in r.levels[at + 1 :]:
        keep = np.repeat(keep, each.lengths)
    where = np.flatnonzero(keep)
    d = gradient_rows(dY.values if isinstance(dY, Ragged) else dY, len(where))
    return r._make(put_back(d, where, r.total), r.levels)


def _erased(r: Ragged, tokens: Any) -> Ragged:
    """Rows of numbers, compared by their bytes."""
    _one_number(r)
    values = np.require(r.values, r.values.dtype.newbyteorder("="), ["C", "A"])
    given = _numbers(tokens)
    with np.errstate(all="ignore"):
        alike = given.astype(values.dtype)
    alike = alike[alike == given]  # what the dtype cannot hold, and NaN, is equal to nothing
    if values.dtype.kind == "f":
        zeros = alike[alike == 0]
        alike = np.concatenate([alike, -zeros, abs(zeros)])
    words = values.view(f"u{values.dtype.itemsize}")
    rows, kept = _core.erase(words, r.levels[-1], np.unique(alike.view(words.dtype)))
    rows = rows.view(values.dtype)
    return r._make(rows.astype(r.values.dtype, copy=False), (*r.levels[:-1], kept))


def _one_number(r: Ragged) -> None:
    if r.values.shape[1:] not in ((), (1,)):
        raise ValueError(f"x: expected rows of one number, got shape {tuple(r.values.shape[1:])}")


def _kept(r: Ragged, at: int, tokens: Any) -> Any:
    """Which rows, or which sequences below level `at`, equal no token: bool."""
    _one_number(r)
    rows = _read(r.values).reshape(-1)
    if at == len(r.levels) - 1:
        return ~np.isin(rows, _numbers(tokens))
    given = tokens if isinstance(tokens, Ragged) else Ragged.from_list(tokens) if len(tokens) else None
    if given is None:
        return np.ones(r.levels[at].total, np.bool_)
    if len(given.levels) != len(r.levels) - at - 1:
        raise ValueError(
            f"tokens: expected {len(r.levels) - at - 1} levels, as the sequences to erase have, "
            f"got {len(given.levels)}"
        )
    alike = Ragged(_numbers(given.values), levels=given.levels)
    return ~_among(Ragged._make(rows, r.levels[at + 1 :]), alike)


def _read(values: Any) -> Any:
    """Numbers for NumPy to compare."""
    if not is_tensor(values):
        return values
    from varlen.interop.torch import readable

    return readable(values)


def _numbers(tokens: Any) -> Any:
    numbers = np.asarray(_read(tokens.values if isinstance(tokens, Ragged) else tokens)).reshape(-1)
    if numbers.dtype.kind not in "biuf":
        raise TypeError(f"tokens: expected numbers, got {numbers.dtype}")
    return numbers


def _among(r: Ragged, tokens: Ragged) -> Any:
    """Which sequences of the outermost level are equal to one of the tokens, whole: bool.

    Rows get the number of the token's row that they equal, -1 where there is none; then, from the innermost
    level on, sequences get a number for what they hold, until there is one for each of the outermost.
    """
    known = np.unique(tokens.values)
    ids, named = _ids(r.values, known), _ids(tokens.values, known)
    for below, wanted in zip(reversed(r.levels), reversed(tokens.levels), strict=True):
        ids, named = _numbered(ids, below, named, wanted)
    return np.isin(ids, named[named >= 0])


def _ids(values: Any, known: Any) -> Any:
    if not len(known):
        return np.full(len(values), -1)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[at] == values, at, -1)


def _numbered(ids: Any, level: Level, named: Any, tokens: Level) -> tuple[Any, Any]:
    """A number for each sequence of ids that may equal one of the tokens, -1 for others."""
    may = np.isin(level.lengths, tokens.lengths)
    chosen = Ragged._make(ids, (level,))[may]
    both = concatenate([chosen, Ragged._make(named, (tokens,))])
    block = both.to_dense(fill=-2)
    _, which = np.unique(block, axis=0, return_inverse=True) if block.shape[1] else (0, np.zeros(len(block)))
    numbers = np.full(len(level), -1)
    numbers[may] = which.reshape(-1)[: len(chosen)]
    return numbers, which.reshape(-1)[len(chosen) :]
