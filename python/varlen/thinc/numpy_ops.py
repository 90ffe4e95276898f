"""`NumpyOps`, for Thinc's code without thinc installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from varlen import ops
from varlen._methods import adopt_methods
from varlen.arguments import as_bool, as_int
from varlen.errors import contract_error, index_error, instance_error, naming, value_error
from varlen.thinc import arrays
from varlen.thinc.cpu_ops import CpuOps
from varlen.thinc.types import Ragged

if TYPE_CHECKING:
    from types import ModuleType

    Array = np.ndarray


@adopt_methods
class NumpyOps(CpuOps):
    """Thinc's `NumpyOps` without Thinc: its names, arguments, results and dtypes on the kernels of varlen.

    It has the ops that make arrays, the ops on sequences, and those that `LSTM`, `Linear` and `maxout` need.
    `VarlenOps` also has the ops of other layers; it needs thinc.

    Parameters
    ----------
    device_type, device_id, use_blis
        Accepted as in Thinc's `NumpyOps`, and stored; they have no effect.

    Notes
    -----
    Like Thinc's `NumpyOps`. The manual's page "Coming from Thinc" lists the differences.

    Examples
    --------
    >>> ops = vl.thinc.NumpyOps()
    >>> X = ops.asarray2f([[1, 5], [3, 2], [4, 4]])
    >>> ops.reduce_max(X, ops.asarray1i([2, 1]))
    (array([[3., 5.],
           [4., 4.]], dtype=float32), array([[1, 0],
           [0, 0]], dtype=int32))
    """

    name = "numpy"

    alloc = staticmethod(arrays.alloc)
    alloc1f = staticmethod(arrays.alloc1f)
    alloc2f = staticmethod(arrays.alloc2f)
    alloc3f = staticmethod(arrays.alloc3f)
    alloc4f = staticmethod(arrays.alloc4f)
    alloc_f = staticmethod(arrays.alloc_f)
    alloc1i = staticmethod(arrays.alloc1i)
    alloc2i = staticmethod(arrays.alloc2i)
    alloc3i = staticmethod(arrays.alloc3i)
    alloc4i = staticmethod(arrays.alloc4i)
    alloc_i = staticmethod(arrays.alloc_i)
    as_contig = staticmethod(arrays.as_contig)
    asarray = staticmethod(arrays.asarray)
    asarray1f = staticmethod(arrays.asarray1f)
    asarray2f = staticmethod(arrays.asarray2f)
    asarray3f = staticmethod(arrays.asarray3f)
    asarray4f = staticmethod(arrays.asarray4f)
    asarray_f = staticmethod(arrays.asarray_f)
    asarray1i = staticmethod(arrays.asarray1i)
    asarray2i = staticmethod(arrays.asarray2i)
    asarray3i = staticmethod(arrays.asarray3i)
    asarray4i = staticmethod(arrays.asarray4i)
    asarray_i = staticmethod(arrays.asarray_i)
    reshape = staticmethod(arrays.reshape)
    reshape1 = staticmethod(arrays.reshape1)
    reshape2 = staticmethod(arrays.reshape2)
    reshape3 = staticmethod(arrays.reshape3)
    reshape4 = staticmethod(arrays.reshape4)
    reshape1f = staticmethod(arrays.reshape1f)
    reshape2f = staticmethod(arrays.reshape2f)
    reshape3f = staticmethod(arrays.reshape3f)
    reshape4f = staticmethod(arrays.reshape4f)
    reshape_f = staticmethod(arrays.reshape_f)
    reshape1i = staticmethod(arrays.reshape1i)
    reshape2i = staticmethod(arrays.reshape2i)
    reshape3i = staticmethod(arrays.reshape3i)
    reshape4i = staticmethod(arrays.reshape4i)
    reshape_i = staticmethod(arrays.reshape_i)
    get_dropout_mask = staticmethod(arrays.get_dropout_mask)

    def __init__(self, device_type: str = "cpu", device_id: int = -1, *, use_blis: bool = True) -> None:
        self.device_type = device_type
        self.device_id = device_id
        self.use_blis = use_blis

    @property
    def xp(self) -> ModuleType:
        """The module of the arrays: numpy."""
        return np

    def minibatch(
        self, size: int | Iterable[int], sequence: Any, *, shuffle: bool = False, buffer: int = 1
    ) -> ops.SizedGenerator[Any]:
        """Batches of `size` items; the last batch holds the rest.

        Parameters
        ----------
        size
            The number of items in a batch, or one number for each batch.
        sequence
            Ragged, Padded, Pairs, an array, a list or a tuple; batches are of the same kind.
        shuffle
            Whether to shuffle the items, with NumPy's global random state.
        buffer
            The number of batches to make before the first one is returned.

        Returns
        -------
        SizedGenerator
            Its length is the number of batches.

        Raises
        ------
        ValueError
            The sequence has no length, a size is below 1, or the sizes end before the items do.

        Notes
        -----
        Like Thinc's `Ops.minibatch`. `varlen.ops.minibatch` takes a seed.

        Examples
        --------
        >>> list(vl.thinc.NumpyOps().minibatch(2, [3, 1, 4]))
        [[3, 1], [4]]
        """
        return ops.minibatch(size, sequence, shuffle=shuffle, buffer=buffer, seed=_seed(shuffle))

    def multibatch(
        self,
        size: int | Iterable[int],
        sequence: Any,
        *others: Any,
        shuffle: bool = False,
        buffer: int = 1,
    ) -> ops.SizedGenerator[list[Any]]:
        """Batches of several sequences of equal length, side by side.

        Parameters
        ----------
        size
            As in `minibatch`.
        sequence, *others
            Ragged, Padded, Pairs, arrays, lists or tuples, all with the same number of items.
        shuffle, buffer
            As in `minibatch`.

        Returns
        -------
        SizedGenerator
            It yields lists with a batch of each sequence.

        Raises
        ------
        ValueError
            As in `minibatch`, or the sequences differ in their number of items.

        Notes
        -----
        Like Thinc's `Ops.multibatch`. `varlen.ops.multibatch` takes a seed.

        Examples
        --------
        >>> list(vl.thinc.NumpyOps().multibatch(2, [3, 1, 4], "abc"))
        [[[3, 1], 'ab'], [[4], 'c']]
        """
        seed = _seed(shuffle)
        return ops.multibatch(size, sequence, *others, shuffle=shuffle, buffer=buffer, seed=seed)

    def to_numpy(self, data: Array, *, byte_order: str | None = None) -> Array:
        """Return the array itself, or convert its byte order.

        Parameters
        ----------
        data
            A NumPy array.
        byte_order
            "<", ">" or "=", as `dtype.newbyteorder` takes it; None leaves it as it is.

        Returns
        -------
        numpy.ndarray
            The same numbers.

        Raises
        ------
        ValueError
            `data` is not a NumPy array.

        Notes
        -----
        Like Thinc's `Ops.to_numpy`.

        Examples
        --------
        >>> vl.thinc.NumpyOps().to_numpy(np.array([1, 2], "<i4"), byte_order=">").dtype
        dtype('>i4')
        """
        if not isinstance(data, np.ndarray):
            raise value_error("data", f"expected a NumPy array, got a {type(data).__name__}")
        order: Any = byte_order
        return data if order is None else np.asarray(data, data.dtype.newbyteorder(order))

    def gemm(
        self, x: Array, y: Array, *, out: Array | None = None, trans1: bool = False, trans2: bool = False
    ) -> Array:
        """The product of two matrices.

        Parameters
        ----------
        x, y
            (n, k) and (k, m) floats.
        out
            (n, m), filled and returned.
        trans1, trans2
            Whether to transpose x, or y, first.

        Returns
        -------
        (n, m) of the dtype of x and y.

        Raises
        ------
        ValueError
            An array does not have two axes, or the shapes do not fit.

        Notes
        -----
        Like Thinc's `NumpyOps.gemm`, which takes only float32 unless its ops are made with `use_blis=False`.

        Examples
        --------
        >>> vl.thinc.NumpyOps().gemm(np.ones((2, 3)), np.ones((1, 3)), trans2=True)
        array([[3.],
               [3.]])
        """
        for name, matrix in (("x", x), ("y", y)):
            if not hasattr(matrix, "ndim"):
                raise instance_error(name, "an array", matrix)
            if matrix.ndim != 2:
                raise contract_error(
                    ValueError,
                    name,
                    f"Provided '{name}' array should be 2-dimensional, but found {matrix.ndim} dimension(s).",
                )
        left = x.T if as_bool(trans1, "trans1") else x
        right = y.T if as_bool(trans2, "trans2") else y
        if left.shape[1] != right.shape[0]:
            raise value_error("y", f"has {right.shape[0]} rows, x has {left.shape[1]} columns")
        shape = (left.shape[0], right.shape[1])
        if out is not None and tuple(out.shape) != shape:
            raise value_error("out", f"expected the shape {shape}, got {tuple(out.shape)}")
        result: Array = np.matmul(left, right, out=out)
        return result

    def affine(self, X: Array, W: Array, b: Array) -> Array:
        """Multiply rows by weights and add a bias: `X @ W.T + b`.

        Parameters
        ----------
        X, W, b
            (n, nI) rows, (nO, nI) weights and (nO,) biases.

        Returns
        -------
        (n, nO) of the dtype of X and W.

        Raises
        ------
        ValueError
            The shapes do not fit.

        Notes
        -----
        Like Thinc's `Ops.affine`.

        Examples
        --------
        >>> vl.thinc.NumpyOps().affine(np.ones((1, 3)), np.ones((2, 3)), np.array([0.0, 1.0]))
        array([[3., 4.]])
        """
        with naming(x="X", y="W"):
            Y = self.gemm(X, W, trans2=True)
        if not hasattr(b, "shape"):
            raise instance_error("b", "an array", b)
        if tuple(b.shape) not in ((Y.shape[1],), (1, Y.shape[1]), Y.shape, (1,), ()):
            raise value_error("b", f"expected the shape ({Y.shape[1]},), got {tuple(b.shape)}")
        Y += b
        return Y

    def tile(self, X: Array, reps: int) -> Array:
        """Repeat the columns of each row several times.

        Parameters
        ----------
        X
            (n, width) of any dtype.
        reps
            The number of repetitions.

        Returns
        -------
        (n, reps * width) of the dtype of X.

        Notes
        -----
        Like Thinc's `Ops.tile`.

        Examples
        --------
        >>> vl.thinc.NumpyOps().tile(np.array([[1, 2]]), 2)
        array([[1, 2, 1, 2]])
        """
        return np.tile(X, as_int(reps, "reps"))

    def backprop_maxout(self, dY: Array, which: Array, P: int) -> Array:
        """The gradient of `maxout`: each number goes back to its piece, the others get zeros.

        Parameters
        ----------
        dY
            (n, nO) the gradient of the result.
        which
            (n, nO) the pieces that `maxout` gave.
        P
            The number of pieces.

        Returns
        -------
        (n, nO, P) of the dtype of dY.

        Raises
        ------
        IndexError
            `which` names a piece that does not exist.

        Notes
        -----
        Like Thinc's `NumpyOps.backprop_maxout`, which does not check `which`.

        Examples
        --------
        >>> vl.thinc.NumpyOps().backprop_maxout(np.array([[5.0]]), np.array([[1]]), 2)
        array([[[0., 5.]]])
        """
        pieces = as_int(P, "P")
        if which.size and which.max() >= pieces:
            raise index_error("which", f"piece {which.max()} is out of range for {pieces} pieces")
        dX = np.zeros((*dY.shape, pieces), dY.dtype)
        np.put_along_axis(dX, which[..., None], dY[..., None], -1)
        return dX

    def list2ragged(self, seqs: Sequence[Array]) -> Ragged[Array]:
        """Lay arrays end to end, and return their lengths.

        Parameters
        ----------
        seqs
            (length, ...) arrays that agree in all other axes.

        Returns
        -------
        Ragged
            A Ragged of `varlen.thinc` with one level.

        Notes
        -----
        Thinc's page on sequences names `Ops.list2ragged`, but Thinc has it only as a layer.

        Examples
        --------
        >>> vl.thinc.NumpyOps().list2ragged([np.array([[1.0], [2.0]]), np.array([[3.0]])]).lengths
        array([2, 1], dtype=int32)
        """
        with naming(arrays="seqs"):
            r = ops.list2ragged(seqs)
        return Ragged._make(r.values, r.levels)

    def ragged2list(self, ragged: Ragged[Array]) -> list[Array]:
        """Split the result of `list2ragged` into views of its arrays.

        Parameters
        ----------
        ragged
            A Ragged of one level.

        Returns
        -------
        One array for each sequence, which shares the memory of the values.

        Notes
        -----
        Thinc's page on sequences names `Ops.ragged2list`, but Thinc has it only as a layer.

        Examples
        --------
        >>> vl.thinc.NumpyOps().ragged2list(vl.thinc.Ragged(np.array([1.0, 2.0, 3.0]), [2, 1]))
        [array([1., 2.]), array([3.])]
        """
        return ops.ragged2list(ragged)

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self).__name__
        hint = "" if name.startswith("_") else "; VarlenOps has all of Thinc's: pip install 'varlen[thinc]'"
        raise AttributeError(f"{kind!r} object has no attribute {name!r}{hint}", name=name, obj=self)


def _seed(shuffle: bool) -> int | None:
    return int(np.random.randint(2**31)) if as_bool(shuffle, "shuffle") else None  # noqa: NPY002 - as Thinc draws
