"""Hashes of keys, and of runs of them, as Thinc and spaCy make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen._core import RaggedBase
from varlen.arguments import as_int
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.ops.support.inputs import rows_and_sequences
from varlen.ops.support.outputs import new_ragged
from varlen.tracing import eager_only

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from varlen.backends.values import Lengths, Rows
    from varlen.types import Ragged


@overload
def ngrams(n: int, keys: RaggedBase[Any], *, lengths: None = None) -> Ragged[Any]: ...
@overload
def ngrams(n: int, keys: Any, *, lengths: Lengths) -> Ragged[Any]: ...
@overload
def ngrams(n: int, keys: Any, *, lengths: None = None) -> NDArray[np.uint64]: ...
@eager_only()
def ngrams(n: int, keys: Any, *, lengths: Lengths | None = None) -> Rows:
    """A hash of every n consecutive keys.

    Parameters
    ----------
    n
        The number of keys in an n-gram, 1 or more.
    keys
        (T,) integers, none below 0; or a `Ragged` of them, whose innermost sequences are taken.
    lengths
        The number of keys of each sequence: integers, or a `Level`. No n-gram leaves its sequence.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The hashes, uint64: T - n + 1 of them, or none if T < n. With lengths, or for a Ragged, a Ragged with
        as many sequences.

    Raises
    ------
    TypeError
        The keys are not integers.
    ValueError
        n is below 1, a key is below 0 (the message names its position), or the keys have several dimensions.
        Keys on a device are not checked: a negative one is read as its 64 bits.

    Notes
    -----
    As Thinc's `Ops.ngrams`, bit for bit: MurmurHash64A of the keys' bytes with seed 0. Thinc takes one
    sequence of uint64, and returns nothing for n below 1.

    Examples
    --------
    >>> vl.ops.ngrams(2, np.array([1, 2, 3], np.uint64))
    array([ 2346165840139155392, 16863871380863422640], dtype=uint64)
    >>> vl.ops.ngrams(2, vl.Ragged([1, 2, 3], [1, 2])).to_list()
    [[], [16863871380863422640]]
    """
    rows, level = rows_and_sequences(keys, lengths, "keys")
    result, grams = backend_of(rows).ngrams(as_int(n, "n", 1), rows, level)
    if isinstance(keys, RaggedBase):
        return keys._make(result, (*keys._levels[:-1], grams))
    return result if lengths is None else new_ragged(result, (grams,))


@eager_only()
def hash(ids: Any, seed: int) -> Rows:
    """Four hashes of 32 bits for each id.

    Parameters
    ----------
    ids
        (T,) integers, none below 0.
    seed
        From 0 to 2**32 - 1.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        The hashes, uint32 (T, 4). Their remainders modulo the size of a table are the rows for `gather_add`
        to look up.

    Raises
    ------
    TypeError
        The ids are not integers.
    ValueError
        An id or the seed is below 0, or the ids have several dimensions. Ids on a device are not checked: a
        negative one is read as its 64 bits.
    OverflowError
        The seed exceeds 32 bits.

    Notes
    -----
    As Thinc's `Ops.hash`, bit for bit: MurmurHash3_x64_128 of the 8 bytes of each id. Thinc takes only
    uint64, and raises an error if there are no ids.

    Examples
    --------
    >>> vl.ops.hash(np.array([1], np.uint64), 0)
    array([[4211459146,    4457399, 3547175942, 1032506804]], dtype=uint32)
    """
    numbers: Any = as_values(ids, "ids")
    return backend_of(numbers).hash(numbers, as_int(seed, "seed"))
