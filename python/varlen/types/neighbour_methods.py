"""Methods that make a Ragged from objects of other libraries, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, cast

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import as_int, as_list, check_hashable, one_of
from varlen.backends.values import ArrayT
from varlen.errors import error_of, value_error
from varlen.interop import neighbours
from varlen.levels import check_nest
from varlen.ops.support.inputs import one_level

if TYPE_CHECKING:
    import tensorflow
    import xarray
    from numpy.typing import NDArray
    from scipy.sparse import sparray

    from varlen.types.ragged import Ragged

_DLPACK = ("", "DLPack carries one array, without offsets", "pass .values, and .offsets beside it")


class NeighbourMethods(RaggedBase[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them: objects of other libraries, from and to.

    Examples
    --------
    >>> vl.Ragged([7, 8, 9], [1, 2]).to_objects()
    array([array([7]), array([8, 9])], dtype=object)
    """

    __slots__ = ()

    # For pandas, whose constructors then ask to_numpy() for a column, and not NumPy for a rectangle.
    _typ: ClassVar[str] = "npy_extension"

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise error_of(TypeError, *_DLPACK)

    @property
    def __dlpack_device__(self) -> NoReturn:
        # No attribute, for hasattr(): awkward then reads the sequences.
        raise error_of(AttributeError, *_DLPACK)

    @classmethod
    def from_scipy(cls, matrix: Any) -> tuple[Ragged[NDArray[Any]], Ragged[NDArray[Any]]]:
        """Make two Raggeds from a sparse matrix of SciPy: where its entries are, and what they hold.

        Parameters
        ----------
        matrix
            A CSR matrix or array, whose rows are sequences, or CSC, whose columns are.

        Returns
        -------
        ids : Ragged
            The columns of each row's entries; for CSC the rows of each column's. Shared.
        data : Ragged
            The entries, shared, under the same level.

        Raises
        ------
        TypeError
            The matrix has another format.

        Examples
        --------
        >>> import scipy.sparse
        >>> ids, data = vl.Ragged.from_scipy(scipy.sparse.csr_array([[0, 5, 6], [0, 0, 0], [7, 0, 0]]))
        >>> ids.to_list(), data.to_list()
        ([[1, 2], [], [0]], [[5, 6], [], [7]])
        """
        ids, data = neighbours.from_scipy(matrix)
        return _make(cls, ids), _make(cls, data)

    def to_scipy(self, ids: Any, width: int | None = None, format: Literal["csr", "csc"] = "csr") -> sparray:
        """Convert to a sparse array of SciPy, whose rows have the numbers of the sequences at `ids`.

        Parameters
        ----------
        ids
            A Ragged of integers of the same lengths, or its values: the column of each number.
        width
            The number of columns; by default the largest id plus one.
        format
            "csr", or "csc" for sequences that are columns.

        Returns
        -------
        scipy.sparse.csr_array or csc_array
            An array that shares data and ids. It may hold an entry twice, as SciPy allows.

        Raises
        ------
        ValueError
            An id is negative or beyond `width`, or there are several levels or columns.

        Examples
        --------
        >>> ids = vl.Ragged([1, 2, 0], [2, 1])
        >>> vl.Ragged([5.0, 6.0, 7.0], [2, 1]).to_scipy(ids).toarray()
        array([[0., 5., 6.],
               [7., 0., 0.]])
        """
        columns: Any = ids
        if isinstance(ids, RaggedBase):
            check_nest(ids._levels, self._levels, "ids")
            columns = ids._values
        one_of(format, "format", ("csr", "csc"))
        limit = None if width is None else as_int(width, "width")
        return neighbours.to_scipy(self._values, columns, one_level(self), limit, format)

    @classmethod
    def from_xarray(cls, dataset: Any) -> dict[str, Any]:
        """Make Raggeds from an xarray Dataset with the ragged arrays of NetCDF's CF conventions.

        Parameters
        ----------
        dataset
            A Dataset with a variable that has the attribute `sample_dimension` (contiguous: the number of
            rows of each sequence) or `instance_dimension` (indexed: the sequence of each row, in any order).

        Returns
        -------
        dict
            A Ragged for each variable with the sample dimension, all under one level, and arrays of the other
            variables. A joint dict takes it if these have a number for each sequence. Values are shared; only
            those of an indexed array out of order are copied.

        Raises
        ------
        ValueError
            No variable, or more than one, has such an attribute, or its numbers do not fit.

        Examples
        --------
        >>> import xarray as xr
        >>> rows = ("profile", [2, 1], {"sample_dimension": "obs"})
        >>> vl.Ragged.from_xarray(xr.Dataset({"rows": rows, "t": ("obs", [3.0, 1.0, 4.0])}))["t"].to_list()
        [[3.0, 1.0], [4.0]]
        """
        parts = neighbours.from_xarray(dataset)
        return {name: _make(cls, part) if isinstance(part, tuple) else part for name, part in parts.items()}

    def to_xarray(self, name: str = "values", dims: tuple[str, str] = ("sequence", "obs")) -> xarray.Dataset:
        """Convert to an xarray Dataset with a contiguous ragged array of CF, which NetCDF stores.

        Parameters
        ----------
        name
            The name of the variable.
        dims
            The dimensions of the sequences and of the rows.

        Returns
        -------
        xarray.Dataset
            The variable, which shares the values, and `row_size`, the lengths.

        Raises
        ------
        ValueError
            There is more than one level.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 4.0], [1, 2]).to_xarray("t")["row_size"].attrs
        {'sample_dimension': 'obs'}
        """
        check_hashable(name, "name")
        names = as_list(dims, "dims", "names")
        if len(names) != 2 or not all(isinstance(dim, str) for dim in names) or names[0] == names[1]:
            raise value_error("dims", f"expected two different names, got {names!r}")
        return neighbours.to_xarray({name: self._values}, one_level(self), dims)

    @classmethod
    def from_pyg(cls, values: Any, batch: Any = None, count: int | None = None) -> Ragged[Any]:
        """Make a Ragged from values and their `batch` vector, as PyTorch Geometric has them.

        Parameters
        ----------
        values
            (total, ...) rows, such as `data.x`; or a `torch_geometric.data.Batch`, whose `x` it is.
        batch
            (total,) integers, the graph of each row, in any order.
        count
            The number of graphs; by default the largest id plus one.

        Returns
        -------
        Ragged
            A sequence for each graph. The values are shared if the ids never fall, else copied in order of
            their graphs; gradients follow.

        Raises
        ------
        ValueError
            There is not an id for each row, or one is negative or beyond `count`.

        Examples
        --------
        >>> vl.Ragged.from_pyg(np.array([3, 1, 4, 1]), np.array([1, 0, 1, 0])).to_list()
        [[1, 1], [3, 4]]
        """
        if batch is None and hasattr(values, "batch"):
            values, batch, count = values.x, values.batch, values.num_graphs if count is None else count
        return _make(cls, neighbours.from_row_ids(values, batch, count))

    @classmethod
    def from_zarr(cls, group: Any) -> Ragged[NDArray[Any]]:
        """Make a Ragged from the arrays `values` and `offsets` of a group of Zarr or HDF5.

        Parameters
        ----------
        group
            What `to_zarr` filled; of several levels the offsets are called "offsets0", "offsets1" and so on.

        Returns
        -------
        Ragged
            The sequences, read into memory.

        Raises
        ------
        ValueError
            The group lacks one of the arrays.

        Examples
        --------
        >>> group = {}
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_zarr(group)
        >>> vl.Ragged.from_zarr(group).to_list()
        [[3], [1, 4]]
        """
        return _make(cls, neighbours.from_zarr(group))

    def to_zarr(self, group: Any) -> None:
        """Write values and offsets as arrays of a group of Zarr or HDF5, or into a dict.

        Parameters
        ----------
        group
            A `zarr.Group` or `h5py.Group`. Zarr has no arrays of variable length in its third version.

        Examples
        --------
        >>> group = {}
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_zarr(group)
        >>> sorted(group)
        ['offsets', 'values']
        """
        neighbours.to_zarr(self._values, self._levels, group)

    def to_objects(self) -> np.ndarray:
        """Convert to an array of Python objects, one array a sequence, as HDF5's variable lengths take it.

        Returns
        -------
        numpy.ndarray
            (n,) objects, which are views of the values. `from_list` is the inverse.

        Raises
        ------
        ValueError
            There is more than one level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_objects()
        array([array([3]), array([1, 4])], dtype=object)
        """
        return neighbours.objects_of(self._values, one_level(self))

    def to_numpy(self) -> np.ndarray:
        """Convert to an array of Python objects, one a sequence; `to_dense` and `values` have numbers.

        Returns
        -------
        numpy.ndarray
            (n,) arrays, which are views of the values; Raggeds where there are several levels.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_numpy()
        array([array([3]), array([1, 4])], dtype=object)
        """
        if len(self._levels) == 1:
            return self.to_objects()
        rows: Any = self
        result: np.ndarray = np.fromiter(rows, object, len(rows))
        return result

    @classmethod
    def from_torchrec(cls, tensor: Any) -> Ragged[Any] | dict[str, Ragged[Any]]:
        """Make a Ragged from a JaggedTensor of TorchRec, or one for each key of a KeyedJaggedTensor.

        Parameters
        ----------
        tensor
            An object with `values()` and `lengths()`, and with `keys()` if it has several.

        Returns
        -------
        Ragged or dict
            Tensors that share the values; weights stay behind. A joint dict takes those of equal lengths.

        Raises
        ------
        ValueError
            The lengths do not fit the keys or the values.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> import torch
        >>> tensor = SimpleNamespace(values=lambda: torch.arange(3), lengths=lambda: torch.tensor([1, 2]))
        >>> vl.Ragged.from_torchrec(tensor).to_list()
        [[0], [1, 2]]
        """
        parts = neighbours.from_torchrec(tensor)
        if isinstance(parts, tuple):
            return _make(cls, parts)
        return {key: _make(cls, part) for key, part in parts.items()}

    @classmethod
    def from_tensorflow(cls, tensor: Any) -> Ragged[NDArray[Any]]:
        """Make a Ragged from a RaggedTensor of TensorFlow.

        Parameters
        ----------
        tensor
            An object with `flat_values` and `nested_row_splits`.

        Returns
        -------
        Ragged
            Arrays over the memory of the tensor, where TensorFlow shares it.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> tensor = SimpleNamespace(flat_values=np.arange(3), nested_row_splits=[np.array([0, 1, 3])])
        >>> vl.Ragged.from_tensorflow(tensor).to_list()
        [[0], [1, 2]]
        """
        return _make(cls, neighbours.from_tensorflow(tensor))

    def to_tensorflow(self) -> tensorflow.RaggedTensor:
        """Convert to a RaggedTensor of TensorFlow, which copies the values.

        Returns
        -------
        tf.RaggedTensor
            The same sequences, of any depth.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_tensorflow()  # doctest: +SKIP
        <tf.RaggedTensor [[3], [1, 4]]>
        """
        return neighbours.to_tensorflow(self._values, self._levels)


def _make(cls: Any, part: neighbours.Parts) -> Ragged[Any]:
    values, cut = part
    return cast("Ragged[Any]", cls(values, **cut))
