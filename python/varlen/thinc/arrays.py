"""Thinc's functions that allocate, convert and reshape arrays, one for each number of axes and dtype.

In their names a digit is the number of axes; `f` and `i` stand for the default dtypes float32 and int32.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, overload

import numpy as np

from varlen.arguments import as_bool, as_dtype, as_float
from varlen.backends import backend_of
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    import torch
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from varlen.backends.values import ArrayT

F = TypeVar("F")


class _Alloc(Protocol):
    def __call__(
        self, *d: int, dtype: DTypeLike = ..., zeros: bool = True, **keywords: int
    ) -> np.ndarray: ...


class _AllocShape(Protocol):
    def __call__(
        self, shape: int | tuple[int, ...], *, dtype: DTypeLike = ..., zeros: bool = True
    ) -> np.ndarray: ...


class _Asarray(Protocol):
    @overload
    def __call__(self, data: ArrayT, *, dtype: DTypeLike | torch.dtype | None = ...) -> ArrayT: ...
    @overload
    def __call__(self, data: ArrayLike, *, dtype: DTypeLike | None = ...) -> np.ndarray: ...


class _Reshape(Protocol):
    def __call__(self, array: ArrayT, *d: int, **keywords: int) -> ArrayT: ...


class _ReshapeShape(Protocol):
    def __call__(self, array: ArrayT, shape: int | tuple[int, ...]) -> ArrayT: ...


@overload
def as_contig(data: ArrayT, dtype: DTypeLike | torch.dtype | None = None) -> ArrayT: ...
@overload
def as_contig(data: ArrayLike, dtype: DTypeLike | None = None) -> np.ndarray: ...
def as_contig(data: Any, dtype: Any = None) -> np.ndarray | torch.Tensor | Any:
    """Return the array itself if it is C-contiguous and of the dtype, else a copy that is.

    Parameters
    ----------
    data
        An array, a tensor, or anything that `np.asarray` reads.
    dtype
        The dtype of the result. A number that does not fit raises an error; floats round.

    Returns
    -------
    A tensor for a tensor, otherwise an array; both C-contiguous.

    Raises
    ------
    ValueError
        A number does not fit the dtype.
    TypeError
        The data are Python objects, or there is no such dtype.

    Notes
    -----
    Like Thinc's `Ops.as_contig`, which wraps numbers that do not fit.

    Examples
    --------
    >>> vl.thinc.as_contig(np.zeros((2, 3)).T).flags.c_contiguous
    True
    """
    result = asarray(data, dtype=dtype)
    return backend_of(result).contiguous(result)


@overload
def asarray(data: ArrayT, dtype: DTypeLike | torch.dtype | None = None) -> ArrayT: ...
@overload
def asarray(data: ArrayLike, dtype: DTypeLike | None = None) -> np.ndarray: ...
def asarray(data: Any, dtype: Any = None) -> np.ndarray | torch.Tensor | Any:
    """Convert to an array, copying only if needed.

    Parameters
    ----------
    data
        An array, a tensor, which stays a tensor, or nested lists of numbers.
    dtype
        The dtype of the result, torch's for a tensor. A number that does not fit raises an error; floats
        round.

    Returns
    -------
    A tensor for a tensor, otherwise an array.

    Raises
    ------
    ValueError
        A number does not fit the dtype, or the lists are not a rectangle.
    TypeError
        The data are Python objects, or there is no such dtype.

    Notes
    -----
    Like Thinc's `Ops.asarray`, which wraps numbers that do not fit, and converts a tensor to an array of the
    tensor's dtype.

    Examples
    --------
    >>> vl.thinc.asarray([3, 1], dtype="f")
    array([3., 1.], dtype=float32)
    """
    return _as(data, dtype, None)


def alloc(shape: int | tuple[int, ...], *, dtype: DTypeLike = "float32", zeros: bool = True) -> np.ndarray:
    """Allocate an array of this shape.

    Parameters
    ----------
    shape
        The size of each axis; an int for one axis.
    dtype
        Any dtype but that of Python objects.
    zeros
        Whether to fill with zeros; otherwise the memory is uninitialized.

    Returns
    -------
    numpy.ndarray
        C-contiguous.

    Raises
    ------
    ValueError
        A size is below 0, or there are too many sizes.
    TypeError
        There is no such dtype, or it is that of Python objects.

    Notes
    -----
    Like Thinc's `Ops.alloc`.

    Examples
    --------
    >>> vl.thinc.alloc((2, 1))
    array([[0.],
           [0.]], dtype=float32)
    """
    result = np.zeros if as_bool(zeros, "zeros") else np.empty
    return result(shape, as_dtype(dtype, "dtype"))


def reshape(array: ArrayT, shape: int | tuple[int, ...]) -> ArrayT:
    """Reshape an array, sharing memory where possible.

    Parameters
    ----------
    array
        An array or a tensor.
    shape
        The size of each axis; one of them may be -1, for the rest.

    Returns
    -------
    An array or a tensor, like the input, of the same dtype.

    Raises
    ------
    ValueError
        The shape makes another number of elements.

    Notes
    -----
    Like Thinc's `Ops.reshape`.

    Examples
    --------
    >>> vl.thinc.reshape(np.arange(4), (2, -1))
    array([[0, 1],
           [2, 3]])
    """
    try:
        result: ArrayT = backend_of(array).as_array(array, "array").reshape(shape)
        return result
    except RuntimeError as error:
        raise value_error("shape", f"{error}") from None


def get_dropout_mask(
    shape: int | tuple[int, ...], drop: float | None, *, seed: int | np.random.Generator | None = None
) -> NDArray[np.float32]:
    """A dropout mask to multiply activations with: 0 with probability `drop`, else 1 / (1 - drop).

    Parameters
    ----------
    shape
        The size of each axis; an int for one axis.
    drop
        The probability of 0. None, 0 and less give ones; 1 and more give zeros.
    seed
        A seed or Generator, as for `np.random.default_rng`. None draws from NumPy's global state, which
        `np.random.seed` sets.

    Returns
    -------
    numpy.ndarray
        float32, of this shape.

    Raises
    ------
    ValueError
        `drop` is NaN.

    Notes
    -----
    Like Thinc's `Ops.get_dropout_mask`, which has no seed.

    Examples
    --------
    >>> vl.thinc.get_dropout_mask((2, 3), 0.5, seed=1)
    array([[0., 2., 2.],
           [2., 0., 0.]], dtype=float32)
    """
    drop = None if drop is None else as_float(drop, "drop")
    if drop is not None and drop != drop:
        raise value_error("drop", "expected a number, got nan")
    if drop is None or drop <= 0:
        return np.ones(shape, np.float32)
    if drop >= 1:
        return np.zeros(shape, np.float32)
    noise: np.ndarray
    if seed is None:
        noise = np.random.uniform(0.0, 1.0, shape)  # noqa: NPY002 - as Thinc draws
    else:
        noise = np.random.default_rng(seed).random(shape, np.float32)
    result: NDArray[np.float32] = (noise >= noise.dtype.type(drop)).astype(np.float32)
    result *= np.float32(1 / (1 - drop))
    return result


def _as(data: Any, dtype: Any, ndim: int | None) -> Any:
    backend = backend_of(data)
    try:
        result = backend.as_array(data, "data")
    except ValueError as error:
        raise value_error("data", f"not a rectangle of numbers ({error})") from None
    if dtype is not None:
        result = backend.cast(result, dtype, "data")
    elif getattr(result.dtype, "hasobject", False):
        raise type_error("data", f"holds Python objects (dtype {result.dtype})")
    if ndim is not None and result.ndim != ndim:
        raise value_error("data", f"expected {_axes(ndim)}, got shape {tuple(result.shape)}")
    return result


def _axes(ndim: int) -> str:
    return "1 axis" if ndim == 1 else f"{ndim} axes"


def _with_name(result: F, name: str, parameters: list[Parameter], doc: str) -> F:
    function: Any = result
    function.__name__ = function.__qualname__ = name
    function.__signature__ = Signature(parameters)
    function.__doc__ = doc
    return result


def _option(name: str, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default)


def _parameters(*names: str) -> list[Parameter]:
    return [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]


def _sizes(name: str, ndim: int, args: tuple[int, ...], keywords: dict[str, int]) -> tuple[int, ...]:
    """d0, d1, ..., as many as there are axes, by place or by name."""
    sizes = [*args, *(keywords.pop(f"d{k}") for k in range(len(args), ndim) if f"d{k}" in keywords)]
    if len(sizes) != ndim or keywords:
        names = ", ".join(f"d{k}" for k in range(ndim))
        raise type_error("", f"{name}() takes the sizes {names}; got {[*sizes, *keywords]}")
    return tuple(sizes)


def _alloc(name: str, ndim: int, default: str) -> _Alloc:
    def result(*d: int, dtype: DTypeLike = default, zeros: bool = True, **keywords: int) -> np.ndarray:
        return alloc(_sizes(name, ndim, d, keywords), dtype=dtype, zeros=zeros)

    sizes = ", ".join(["2", *["1"] * (ndim - 1)])
    names = ", ".join(f"d{k}" for k in range(ndim))
    doc = f"""Allocate an array of {_axes(ndim)}: `alloc` of a shape.

    Parameters
    ----------
    {names}
        The size of {"the axis" if ndim == 1 else "each axis"}.
    dtype
        Any dtype but that of Python objects.
    zeros
        Whether to fill with zeros; otherwise the memory is uninitialized.

    Returns
    -------
    numpy.ndarray
        ({names}{"," if ndim == 1 else ""}), C-contiguous.

    Notes
    -----
    Like Thinc's `Ops.{name}`.

    Examples
    --------
    >>> vl.thinc.{name}({sizes}).shape
    ({sizes}{"," if ndim == 1 else ""})
    """
    options = [_option("dtype", default), _option("zeros", True)]
    return _with_name(result, name, _parameters(*(f"d{k}" for k in range(ndim))) + options, doc)


def _alloc_shape(name: str, default: str) -> _AllocShape:
    def result(shape: int | tuple[int, ...], *, dtype: DTypeLike = default, zeros: bool = True) -> np.ndarray:
        return alloc(shape, dtype=dtype, zeros=zeros)

    doc = f"""Allocate an array of this shape: `alloc` with its own dtype.

    Parameters
    ----------
    shape
        The size of each axis; an int for one axis.
    dtype
        Any dtype but that of Python objects.
    zeros
        Whether to fill with zeros; otherwise the memory is uninitialized.

    Returns
    -------
    numpy.ndarray
        C-contiguous.

    Notes
    -----
    Like Thinc's `Ops.{name}`.

    Examples
    --------
    >>> vl.thinc.{name}((2, 1)).dtype
    dtype('{default}')
    """
    options = [_option("dtype", default), _option("zeros", True)]
    return _with_name(result, name, _parameters("shape") + options, doc)


def _asarray(name: str, ndim: int | None, default: str) -> _Asarray:
    def result(data: Any, *, dtype: Any = default) -> np.ndarray | torch.Tensor | Any:
        return _as(data, dtype, ndim)

    number = "5" if default == "int32" else "5.0"
    nested = "[" * (ndim or 1) + number + "]" * (ndim or 1)
    phrase = f" of {_axes(ndim)}" if ndim else ""
    doc = f"""Convert to an array{phrase}, copying only if needed.

    Parameters
    ----------
    data
        An array, a tensor, which stays a tensor, or nested lists of numbers.
    dtype
        The dtype of the result, torch's for a tensor. A number that does not fit raises an error; floats
        round.

    Returns
    -------
    A tensor for a tensor, otherwise an array.

    Raises
    ------
    ValueError
        A number does not fit the dtype; the lists are not a rectangle{"; the axes differ" if ndim else ""}.
    TypeError
        The data are Python objects, or there is no such dtype.

    Notes
    -----
    Like Thinc's `Ops.{name}`, which {"does not check the axes" if ndim else "wraps numbers that do not fit"}.

    Examples
    --------
    >>> vl.thinc.{name}({nested}).dtype
    dtype('{default}')
    """
    return cast("_Asarray", _with_name(result, name, [*_parameters("data"), _option("dtype", default)], doc))


def _reshape(name: str, ndim: int, kind: str = "") -> _Reshape:
    def result(array: ArrayT, *d: int, **keywords: int) -> ArrayT:
        return reshape(array, _sizes(name, ndim, d, keywords))

    sizes = ", ".join(["2", *["1"] * (ndim - 1)])
    number = "np.zeros(2, int)" if kind == "integers" else "np.zeros(2)"
    names = ", ".join(f"d{k}" for k in range(ndim))
    doc = f"""Reshape {kind or "numbers"} to {_axes(ndim)}: `reshape` to a shape.

    Parameters
    ----------
    array
        An array or a tensor.
    {names}
        {"The size of the axis, -1" if ndim == 1 else "The size of each axis; one may be -1,"} for the rest.

    Returns
    -------
    An array or a tensor, like the input, of the same dtype. It shares memory if possible.

    Raises
    ------
    ValueError
        The sizes make another number of {kind or "numbers"}.

    Notes
    -----
    Like Thinc's `Ops.{name}`.

    Examples
    --------
    >>> vl.thinc.{name}({number}, {sizes}).ndim
    {ndim}
    """
    return _with_name(result, name, _parameters("array", *(f"d{k}" for k in range(ndim))), doc)


def _reshape_shape(name: str, kind: str) -> _ReshapeShape:
    def result(array: ArrayT, shape: int | tuple[int, ...]) -> ArrayT:
        return reshape(array, shape)

    doc = f"""Reshape {kind}: `reshape` under another name.

    Parameters
    ----------
    array
        An array or a tensor.
    shape
        The size of each axis; one of them may be -1, for the rest.

    Returns
    -------
    An array or a tensor, like the input, of the same dtype. It shares memory if possible.

    Raises
    ------
    ValueError
        The shape makes another number of {kind}.

    Notes
    -----
    Like Thinc's `Ops.{name}`.

    Examples
    --------
    >>> vl.thinc.{name}(np.arange(4), (2, 2)).shape
    (2, 2)
    """
    return _with_name(result, name, _parameters("array", "shape"), doc)


alloc1f, alloc2f, alloc3f, alloc4f = (_alloc(f"alloc{n}f", n, "float32") for n in range(1, 5))
alloc1i, alloc2i, alloc3i, alloc4i = (_alloc(f"alloc{n}i", n, "int32") for n in range(1, 5))
alloc_f, alloc_i = _alloc_shape("alloc_f", "float32"), _alloc_shape("alloc_i", "int32")
asarray1f, asarray2f, asarray3f, asarray4f = (_asarray(f"asarray{n}f", n, "float32") for n in range(1, 5))
asarray1i, asarray2i, asarray3i, asarray4i = (_asarray(f"asarray{n}i", n, "int32") for n in range(1, 5))
asarray_f, asarray_i = _asarray("asarray_f", None, "float32"), _asarray("asarray_i", None, "int32")
reshape1, reshape2, reshape3, reshape4 = (_reshape(f"reshape{n}", n) for n in range(1, 5))
reshape1f, reshape2f, reshape3f, reshape4f = (_reshape(f"reshape{n}f", n, "floats") for n in range(1, 5))
reshape1i, reshape2i, reshape3i, reshape4i = (_reshape(f"reshape{n}i", n, "integers") for n in range(1, 5))
reshape_f, reshape_i = _reshape_shape("reshape_f", "floats"), _reshape_shape("reshape_i", "integers")
