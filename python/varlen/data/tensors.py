"""Batches of tensors: torch's dtypes, and the memory of arrays as tensors."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from reprlib import repr as short
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, gradient_error
from varlen.backends.values import is_tensor
from varlen.errors import overflow_error, type_error
from varlen.io import small_floats
from varlen.io.dtypes import kind_of, stand_in_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import DTypes
    from varlen.data.sources.memory import ColumnLike

__all__ = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

_INT64 = np.dtype(np.int64)


def tensor_dtype(column: ColumnLike) -> np.dtype:
    """The dtype of a key in a batch of tensors: int64 for integers, which torch takes as indices.

    Times keep theirs; their tensors are int64, in the unit that the dataset's fields tell.
    """
    if torch_name(column) == "bfloat16":
        return _core.bfloat16
    return _INT64 if column.dtype.kind in "iu" else column.dtype


def as_small(tensor: Any, name: str) -> Any:
    """A tensor of float32 in a dtype that torch has and NumPy has not; TypeError where torch has it not."""
    import torch

    dtype = getattr(torch, name, None)
    if dtype is None:
        raise type_error("framework", f"torch {torch.__version__} has no dtype {name}", "give dtype=")
    return tensor.to(dtype)


def torch_name(column: ColumnLike) -> str | None:
    """The name in torch of a dtype that NumPy lacks, and whose numbers it has as float32."""
    tag: str | None = getattr(column, "tag", None)
    return None if tag is None else stand_in_name(tag)


@functools.cache
def _memory() -> ModuleType:
    """What makes tensors of arrays; found once, because a statement that imports takes 0.7 us."""
    from varlen.backends.torch import memory

    return memory


def to_tensors(batch: Mapping[str, object], names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The arrays of a batch as tensors that share their memory; times as int64."""
    memory = _memory()
    tensors: dict[str, Any] | None = None if names else memory.as_tensors(batch)
    if tensors is not None:
        return tensors
    tensors = dict(batch)
    for name, value in batch.items():
        if not isinstance(value, np.ndarray):
            continue
        torch_dtype = names.get(name) if names else None
        if torch_dtype is None:
            try:
                tensors[name] = memory.tensor_of(value)
                continue
            except TypeError:  # torch has no such dtype
                pass
        tensors[name] = _by_bits(name, value, torch_dtype)
    return tensors


def _by_bits(name: str, array: Array, torch_dtype: str | None) -> Any:
    """A tensor of times, or of numbers whose dtype NumPy does not know, by what their bits mean."""
    if array.dtype.kind in "mM":
        return _memory().tensor_of(array.view(np.int64))
    import torch

    dtype = getattr(torch, torch_dtype or small_floats.name_of(array.dtype) or array.dtype.name, None)
    if isinstance(dtype, torch.dtype):
        return _memory().tensor_of(array.view(f"i{array.itemsize}")).view(dtype)
    raise type_error("framework", f"torch has no dtype for {array.dtype}, that of {name!r}")


def memory_of_buffer(buffer: Any, dtype: np.dtype | None) -> Any:
    """A tensor that is given for the output as an array of the dtype that the batch has there."""
    if not is_tensor(buffer):
        return buffer
    array = _memory().as_numpy(buffer)
    if dtype is not None and array.dtype == _bits_of(dtype):
        return array.view(dtype)
    return array


def _bits_of(dtype: np.dtype) -> np.dtype | None:
    """The integers as which a tensor shows a dtype that NumPy or torch lacks; None for other dtypes."""
    if kind_of(dtype) == "f" and dtype.itemsize == 1:
        return np.dtype(np.uint8)
    return np.dtype(f"i{dtype.itemsize}") if dtype.kind in "mMV" else None


def writing(buffers: Mapping[str, Any]) -> AbstractContextManager[None]:
    """While outputs are written, of which autograd is told where they are tensors."""
    tensors = list(filter(is_tensor, buffers.values()))
    if not tensors:
        return nullcontext()
    manager: AbstractContextManager[None] = _memory().writing(*tensors)
    return manager


class TensorLeaf:
    """Values of one place in samples, tensors among them, as arrays that the core moves, and back.

    Tensors of one dtype keep it, of several have the one that torch promotes them to. A dtype that NumPy has
    no name for, such as bfloat16, is moved as the integers of its bits.
    """

    def __init__(self, items: list[Any], dtype: Any) -> None:
        import torch

        common = None
        for tensor in _tensors_in(items):
            common = tensor.dtype if common is None else torch.promote_types(common, tensor.dtype)
        assert common is not None
        target = dtype if dtype is None or isinstance(dtype, torch.dtype) else as_dtype(dtype, "dtype")
        if isinstance(target, np.dtype):
            target = getattr(torch, target.name, None)
        self._is_asked = target is not None
        self._bits_of: Any = None  # the dtype whose bits the arrays hold
        if not _numpy_has(target or common):
            self._bits_of = target or common
        self.array_dtype = None if target is None or self._bits_of is not None else as_dtype(target, "dtype")
        self.arrays: list[Any] = [self._array(item, i) for i, item in enumerate(items)]

    def _array(self, item: Any, i: int) -> Any:
        import torch

        if isinstance(item, list) and (self._bits_of is None or any(map(is_tensor, _leaves(item)))):
            return [self._array(inner, i) for inner in item]
        if not is_tensor(item):
            if self._bits_of is None:
                return item
            try:
                item = torch.as_tensor(item, device="cpu")
            except (RuntimeError, TypeError, ValueError):
                raise type_error(
                    f"arrays[{i}]", f"expected a tensor or numbers, got {short(item)}", row=i
                ) from None
        if item.requires_grad and torch.is_grad_enabled():
            raise gradient_error("")
        item = item.detach().resolve_conj().resolve_neg()
        if self._bits_of is not None:
            bits = item.to(self._bits_of)
            if not (self._is_asked or item.is_floating_point()) and not bool(
                (bits.to(item.dtype) == item).all()
            ):
                value = item[bits.to(item.dtype) != item].reshape(-1)[0].item()
                raise overflow_error(
                    f"arrays[{i}]", f"{value} does not fit {self._bits_of}", "give a dtype", number=value
                )
            return _memory().as_numpy(bits)
        return _memory().as_numpy(item if _numpy_has(item.dtype) else item.float())

    def fill(self, fill: Any) -> Any:
        """The value of padding, in the dtype of the arrays."""
        if self._bits_of is None:
            return fill
        return _memory().fill_row(fill, self._bits_of, np.shape(fill))

    def to_tensors(self, leaf: Mapping[str, object]) -> dict[str, Any]:
        """The result of the core, as tensors."""
        tensors = to_tensors(leaf)
        if self._bits_of is not None:
            tensors[""] = tensors[""].view(self._bits_of)
        return tensors

    def to_arrays(self, leaf: dict[str, Any]) -> dict[str, Any]:
        """The result of the core, as arrays of the dtype of the tensors."""
        if self._bits_of is not None:
            leaf[""] = leaf[""].view(as_dtype(self._bits_of, "dtype"))
        return leaf


def _numpy_has(dtype: DTypes) -> bool:
    try:
        return as_dtype(dtype, "dtype").kind != "V"
    except TypeError:
        return False


def _leaves(value: object) -> Iterator[Any]:
    if isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _tensors_in(items: Sequence[object] | None) -> Iterator[Any]:
    return (leaf for leaf in _leaves(items) if is_tensor(leaf))
