"""Data by name: a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from varlen._core import Dim, Joint
from varlen._methods import adopt_methods
from varlen._restored import by_torch, saved
from varlen.arguments import as_mapping, check_key
from varlen.backends.values import device_of, is_tensor
from varlen.dims.axes import describe
from varlen.dims.base import check_data, dtype_name
from varlen.dims.data import Data
from varlen.dims.errors import LengthMismatchError
from varlen.dims.records import data_file, joint_data
from varlen.errors import error_of
from varlen.interop.arrow_nodes import Leaf, Node, struct_node
from varlen.interop.frames import FrameMethods
from varlen.levels import describe_difference
from varlen.types.device_methods import DeviceMethods

if TYPE_CHECKING:
    import os

    from typing_extensions import Self


@adopt_methods
class DataDict(DeviceMethods, FrameMethods, Mapping[str, Data[Any]]):
    """The Data of a batch by name. Dims that several Data share have the same lengths.

    It is a mapping that does not change; `batch | {"loss": loss}` makes another one.

    Parameters
    ----------
    data
        A Data for each key.

    Raises
    ------
    TypeError
        A value is not a Data, or a key is not a string.
    LengthMismatchError
        A dim has different lengths in two keys; the message names both.

    Notes
    -----
    RETURNN's `TensorDict`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> batch = vl.dims.DataDict({
    ...     "x": vl.Data(np.array([0.5, 1.5, 2.5]), [vl.dims.batch_dim, time]),
    ...     "id": vl.Data(np.array([7, 8]), [vl.dims.batch_dim]),
    ... })
    >>> batch
    DataDict(x: [batch(2), time(1 to 2)] float64, id: [batch(2)] int64)
    >>> batch["x"].to_list(), batch.dims == (vl.dims.batch_dim, time)
    ([[0.5, 1.5], [2.5]], True)
    """

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Data[Any]]) -> None:
        self._data: dict[str, Data[Any]] = dict(as_mapping(data, "data", "keys to Data"))
        owners: dict[Dim, tuple[Dim, str]] = {}
        for key, value in self._data.items():
            check_key(key, "data")
            check_data(value, f"data[{key!r}]")
            for dim in value._shape.dims:
                other, first = owners.setdefault(dim, (dim, key))
                if other is not dim:
                    _check_same(other, first, dim, key)

    # A mapping.

    def __getitem__(self, key: str) -> Data[Any]:
        return self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __or__(self, other: Mapping[str, Data[Any]]) -> DataDict:
        return DataDict({**self._data, **other}) if isinstance(other, Mapping) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return saved(type(self), self._data) if by_torch(protocol) else (type(self), (self._data,))

    @classmethod
    def _from_saved(cls, data: dict[str, Data[Any]]) -> DataDict:
        return cls(data)

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        return struct_node({key: partial(data._arrow_node, leaf) for key, data in self._data.items()})

    # What it is.

    @property
    def dims(self) -> tuple[Dim, ...]:
        """All dims with their lengths, each once, including those of classes."""
        return all_dims((data.dims, data.sparse_dim) for data in self._data.values())

    def for_inference(self) -> DataDict:
        """The keys that are available without labels.

        Returns
        -------
        DataDict
            The Data of these keys.

        Examples
        --------
        >>> two = vl.Dim("two", 2)
        >>> x = vl.Data(np.zeros(2), [two])
        >>> vl.dims.DataDict({"x": x, "y": x.copy(available_for_inference=False)}).for_inference()
        DataDict(x: [two(2)] float64)
        """
        return DataDict({key: data for key, data in self._data.items() if data.available_for_inference})

    # Where values lie.

    @property
    def device(self) -> str:
        """The device of the first key's values: "cpu", or the device of its tensor."""
        return next((device_of(data._values) for data in self._data.values()), "cpu")

    def _leaves(self) -> dict[str, Any]:
        return self._data

    def _with_leaves(self, leaves: Sequence[Any]) -> Self:
        result = object.__new__(type(self))
        result._data = dict(zip(self._data, leaves, strict=True))
        return result

    def _parts(self) -> tuple[str, ...]:
        return tuple(self._data)

    def _move(self, move: Callable[[Any], Any]) -> Self:
        columns = {key: data._move(move) for key, data in self._data.items()}
        if all(map(lambda a, b: a is b, columns.values(), self._data.values())):
            return self
        return type(self)(columns)

    def record_stream(self, stream: Any) -> None:
        """Tell torch's allocator that a stream uses tensors made on another stream.

        Parameters
        ----------
        stream
            A torch stream. The memory is not reused before the stream has finished its present work.

        Examples
        --------
        >>> vl.dims.DataDict({"x": vl.Data(np.zeros(2), [vl.Dim("two", 2)])}).record_stream(None)
        """
        for data in self._data.values():
            values: Any = data._values
            if is_tensor(values) and values.is_cuda:
                values.record_stream(stream)

    def numpy(self) -> DataDict:
        """Convert to NumPy arrays; memory is shared where possible.

        Returns
        -------
        DataDict
            The same keys.

        Examples
        --------
        >>> vl.dims.DataDict({"x": vl.Data(np.zeros(2), [vl.Dim("two", 2)])}).numpy()["x"].values
        array([0., 0.])
        """
        return DataDict({key: data.numpy() for key, data in self._data.items()})

    def torch(self) -> DataDict:
        """Convert to tensors; memory is shared where possible.

        Returns
        -------
        DataDict
            The same keys.

        Examples
        --------
        >>> vl.dims.DataDict({"x": vl.Data(np.zeros(2), [vl.Dim("two", 2)])}).torch()["x"].values
        tensor([0., 0.], dtype=torch.float64)
        """
        return DataDict({key: data.torch() for key, data in self._data.items()})

    # Joint dicts and files.

    @classmethod
    def from_joint(cls, joint: Any, dims: Sequence[Dim] | None = None) -> DataDict:
        """Make Data from a joint dict: a Dim for its rows and each level, a Data for each key.

        Parameters
        ----------
        joint
            A `JointNestedRaggedTensorDict`, the `JointArrays` that its `to` gives, or any mapping to `Ragged`
            and arrays that share their levels.
        dims
            A Dim for the rows, and one for each level. By default the batch, then "dim1", "dim2" and so on,
            which are new at each call.

        Returns
        -------
        DataDict
            A Data for each key, which shares values and levels. A key with a vocabulary has a sparse_dim that
            holds it.

        Raises
        ------
        ValueError
            There are fewer dims than levels, or levels differ.

        Examples
        --------
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8], "code": [[1, 2], [3]]})
        >>> vl.dims.DataDict.from_joint(J, [vl.dims.batch_dim, vl.Dim("visit")])
        DataDict(id: [batch(2)] uint8, code: [batch(2), visit(1 to 2)] uint8)
        """
        return cls(joint_data.from_joint(joint, dims))

    def __varlen_joint__(self) -> Joint:
        """The core's columns: what datasets and writers take, and `JointNestedRaggedTensorDict.from_data`."""
        return joint_data.joint_of(self)

    def save(self, path: str | os.PathLike[str], *, durable: bool = True) -> None:
        """Write a safetensors file: the values under their keys, the dims in its metadata.

        Parameters
        ----------
        path
            The file to write. An existing file is replaced once the new one is safe.
        durable
            False returns before the disk has the bytes (no fsync), which is faster.

        Raises
        ------
        ValueError
            A key has the form of the tensors of a joint file, "dim1/x".
        TypeError
            The format does not have the dtype.

        Notes
        -----
        Values on a device are copied to the host. Beams and gradients are not kept.

        Examples
        --------
        >>> import os, tempfile
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> batch = vl.dims.DataDict({"x": vl.Data(np.arange(3), [vl.dims.batch_dim, time])})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "batch.safetensors")
        ...     batch.save(path)
        ...     again = vl.dims.DataDict.load(path)
        >>> again["x"].to_list(), again["x"].axis("T") == time
        ([[0, 1], [2]], True)
        """
        data_file.save(self, path, durable)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DataDict:
        """Map a file that `save` wrote: values are read when they are needed.

        Parameters
        ----------
        path
            A file that `save` wrote.

        Returns
        -------
        DataDict
            The Data of the file: read-only arrays, or tensors if NumPy lacks the dtype. Keys that shared a
            dim share it again. Dims that come from the same Dim are equal across files.

        Raises
        ------
        ValueError
            The file has no dims, or its values do not have their shape.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "batch.safetensors")
        ...     vl.dims.DataDict({"x": vl.Data(np.arange(2), [vl.Dim("two", 2)])}).save(path)
        ...     vl.dims.DataDict.load(path)
        DataDict(x: [two(2)] int64)
        """
        return cls(data_file.load(path))

    # How it looks.

    def __repr__(self) -> str:
        parts = [f"{key}: {describe(data.dims)} {dtype_name(data.dtype)}" for key, data in self._data.items()]
        if self.device != "cpu":
            parts.append(f"device={self.device}")
        return f"DataDict({', '.join(parts)})"

    def _repr_html_(self) -> str:
        parts = [f"<b>{escape(key)}</b>{data._repr_html_()}" for key, data in self._data.items()]
        return f"<div>{''.join(parts)}</div>"


def _check_same(one: Dim, first: str, other: Dim, second: str) -> None:
    """Refuse a dim of other lengths in another key."""
    if one.over == other.over and one.level is not None and other.level is not None:
        if one.level is other.level or one.level == other.level:
            return
        difference = describe_difference((one.level,), (other.level,))
        raise error_of(LengthMismatchError, "", f"'{one.name}' of {first!r} and of {second!r}: {difference}")
    if one.level != other.level or one.size != other.size:
        raise error_of(
            LengthMismatchError,
            "",
            f"'{one.name}' is {describe([one])[1:-1]} over {describe(one.over)} in {first!r}, but "
            f"{describe([other])[1:-1]} over {describe(other.over)} in {second!r}",
        )


def all_dims(groups: Any) -> tuple[Dim, ...]:
    """Dims of several groups, and of classes, each once."""
    result: dict[Dim, None] = {}
    for dims, sparse in groups:
        result |= dict.fromkeys(dims)
        if sparse is not None:
            result.setdefault(sparse)
    return tuple(result)
