"""Conversions between varlen's tensors and RETURNN's own."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from varlen.backends.values import is_tensor, memory_of
from varlen.dims import Data, Dim
from varlen.dims.base import dtype_name
from varlen.dims.place import lengths_of
from varlen.errors import instance_error, value_error
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    import returnn.tensor


def from_returnn(tensor: Any, dims: MutableMapping[Any, Dim] | None = None) -> Tensor:
    """Convert a Tensor of RETURNN's eager backends to varlen's.

    Parameters
    ----------
    tensor
        A `returnn.tensor.Tensor` with a raw tensor.
    dims
        The converted dims, from RETURNN's to varlen's. The call reads and fills it; pass the same one for all
        tensors of a model.

    Returns
    -------
    Tensor
        A Tensor of the valid values.

    Raises
    ------
    ValueError
        The tensor has no raw tensor, or one of its dims has no lengths.

    Examples
    --------
    >>> try:
    ...     from returnn.tensor import Dim as TheirDim, Tensor as TheirTensor
    ... except ImportError:
    ...     pass
    ... else:
    ...     two = TheirDim(2, name="two")
    ...     tensor = TheirTensor("x", [two], "float32", raw_tensor=np.zeros(2, np.float32))
    ...     assert from_returnn(tensor).dims[0].size == 2
    """
    if not hasattr(tensor, "raw_tensor"):
        raise instance_error("tensor", "a tensor of RETURNN", tensor)
    if not (dims is None or isinstance(dims, MutableMapping)):
        raise instance_error("dims", "a dict from dims of RETURNN to Dims", dims)
    if tensor.raw_tensor is None:
        raise value_error("tensor", f"{tensor} has no raw tensor")
    dim_map: MutableMapping[Any, Dim] = {} if dims is None else dims
    dim_list = [_from_dim(dim, dim_map) for dim in tensor.dims]
    sparse = None if tensor.sparse_dim is None else _from_dim(tensor.sparse_dim, dim_map)
    feature = None if tensor.feature_dim is None else _from_dim(tensor.feature_dim, dim_map)
    # A batch has no lengths of its own: the raw tensor says how many rows there are.
    facts: dict[str, Any] = {"sparse_dim": sparse, "feature_dim": None if sparse is not None else feature}
    flag = bool(tensor.available_for_inference)
    data = Data.from_padded(
        tensor.raw_tensor, dim_list, name=tensor.name, available_for_inference=flag, **facts
    )
    return as_tensor(data)


def _from_dim(dim: Any, dim_map: MutableMapping[Any, Dim]) -> Dim:
    kind = "batch" if dim.is_batch_dim() else getattr(dim.kind, "name", None) or "unspecified"
    if dim not in dim_map:
        vocab = getattr(dim.vocab, "labels", None)
        size = dim.dimension if dim.dimension is not None and kind != "batch" else None
        dim_map[dim] = Dim(size, name=dim.name, kind=kind, vocab=None if vocab is None else list(vocab))
    own = dim_map[dim]
    lengths = dim.dyn_size_ext
    if own.is_static or kind == "batch" or lengths is None or lengths.raw_tensor is None:
        return own
    if not lengths.dims:
        return own.bind(int(lengths.raw_tensor))
    numbers = Data.from_padded(lengths.raw_tensor, [_from_dim(other, dim_map) for other in lengths.dims])
    return own.bind(memory_of(numbers.values), numbers.dims)


def to_returnn(data: Data[Any], dims: MutableMapping[Dim, Any] | None = None) -> returnn.tensor.Tensor:
    """Convert a Data to a Tensor of RETURNN, padded.

    Parameters
    ----------
    data
        A Data of arrays or tensors.
    dims
        The converted dims, from varlen's to RETURNN's. The call reads and fills it; pass the same one for all
        tensors of a batch.

    Returns
    -------
    returnn.tensor.Tensor
        A Tensor whose raw tensor is padded with zeros.

    Raises
    ------
    ImportError
        RETURNN is not installed.

    Examples
    --------
    >>> try:
    ...     theirs = to_returnn(Data(np.zeros(2, np.float32), [Dim("two", 2)]))
    ... except ImportError:
    ...     pass
    """
    from returnn import tensor as theirs

    dim_map: MutableMapping[Dim, Any] = {} if dims is None else dims
    dim_list = [_to_dim(theirs, dim, data, dim_map) for dim in data.dims]
    sparse = None if data.sparse_dim is None else _to_dim(theirs, data.sparse_dim, data, dim_map)
    result: returnn.tensor.Tensor = theirs.Tensor(
        data.name or "data",
        dims=dim_list,
        dtype=dtype_name(data.dtype),
        sparse_dim=sparse,
        raw_tensor=data.to_padded(),
        available_for_inference=data.available_for_inference,
    )
    return result


def _to_dim(theirs: Any, dim: Dim, data: Data[Any], dim_map: MutableMapping[Dim, Any]) -> Any:
    if dim.kind == "batch":
        return theirs.batch_dim
    if dim not in dim_map:
        kinds = {"spatial": theirs.Dim.Types.Spatial, "feature": theirs.Dim.Types.Feature}
        size: Any = dim.size
        if dim.is_dynamic:
            outer_dims = [_to_dim(theirs, other, data, dim_map) for other in dim.over]
            lengths = lengths_of(dim).cast("int32")
            block = (lengths.torch() if is_tensor(data._values) else lengths).to_padded()
            size = theirs.Tensor(f"{dim.name}:size", dims=outer_dims, dtype="int32", raw_tensor=block)
        vocab = {} if dim.vocab is None else {"vocab": _vocabulary(dim)}
        dim_map[dim] = theirs.Dim(size, name=dim.name, kind=kinds.get(dim.kind), **vocab)
    return dim_map[dim]


def _vocabulary(dim: Dim) -> Any:
    from returnn.datasets.util.vocabulary import Vocabulary

    labels = [] if dim.vocab is None else list(dim.vocab.labels)
    return Vocabulary.create_vocab_from_labels(labels)
