"""What ops that look along a dim mean, on models: scans, order, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varlen._core import Dim
from varlen.testing.model import At, Axis, Model, fill, walk

from oracles import sort as oracle_sort
from oracles.dims.arithmetic import dot, fold, spots
from oracles.dims.axes import drop, union
from oracles.dims.moves import along, move


def cumulate(
    x: Model,
    mode: str,
    dim: Dim,
    *,
    exclusive: bool = False,
    backward: bool = False,
    is_float: bool = True,
) -> Model:
    """At each position, a mode of the numbers up to it along a dim.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> cumulate(x, "sum", x.dims[1]).to_list()
    [[7, 15, 24], [4], []]
    >>> cumulate(x, "sum", x.dims[1], exclusive=True, backward=True).to_list()
    [[17, 9, 0], [0], []]
    """

    def value(at: At) -> Any:
        line = spots(x, [dim], at)[:: -1 if backward else 1]
        here = [each[dim] for each in line].index(at[dim])
        values = [x[each] for each in line[: here + (not exclusive)]]
        return fold(mode, values, is_float=is_float)

    return fill(x.axes, value)


def sort(x: Model, dim: Dim, *, descending: bool = False) -> tuple[Model, Model]:
    """The numbers of each row in order: NaN last, equal ones in the order that they have.

    >>> x = Model.from_rows([[3, 1, 2], [4], []])
    >>> [each.to_list() for each in sort(x, x.dims[1])]
    [[[1, 2, 3], [4], []], [[1, 2, 0], [0], []]]
    """

    def place(at: At) -> int:
        line = spots(x, [dim], at)
        order = oracle_sort.places([x[each] for each in line], descending)
        return line[order[[each[dim] for each in line].index(at[dim])]][dim]

    places = fill(x.axes, place)
    return fill(x.axes, lambda at: x[{**at, dim: places[at]}]), places


def top_k(x: Model, dims: Sequence[Dim], k: int, out_dim: Dim) -> tuple[Model, list[Model]]:
    """The largest numbers at the positions of some dims, the largest first; fewer where there are fewer.

    >>> x = Model.from_rows([[3, 1, 2], [4], []])
    >>> values, [places] = top_k(x, x.dims[1:], 2, vl.Dim("best"))
    >>> values.to_list(), places.to_list()
    ([[3, 2], [4], []], [[0, 2], [0], []])
    """
    old = [x.axis(dim) for dim in dims]
    if any(axis.over & {*dims} and axis.dim not in dims for axis in x.axes):
        raise ValueError("dims: another dim is over one of them")

    def best(at: At) -> list[dict[Dim, int]]:
        here = walk(old, {dim: i for dim, i in at.items() if dim not in dims})
        return [here[i] for i in oracle_sort.places([x[each] for each in here], descending=True)][:k]

    over = [axis for axis in x.axes if any(axis.dim in each.over for each in old) and axis.dim not in dims]
    new = Axis.derived(out_dim, over, lambda at: min(k, len(walk(old, at))))
    values = move(x, dims, [new], lambda at: {dim: best(at)[at[out_dim]][dim] for dim in dims})
    at_best = fill(values.axes, lambda at: best(at)[at[out_dim]])
    return values, [Model(values.axes, {at: each[dim] for at, each in at_best.table.items()}) for dim in dims]


def search_sorted(x: Model, dim: Dim, values: Model, *, right: bool = False) -> Model:
    """Where values would be put into rows that are in order.

    >>> x = Model.from_rows([[1, 3, 3], [4], []])
    >>> search_sorted(x, x.dims[1], Model([], {(): 3})).to_list()
    [1, 0, 0]
    """

    def before(a: Any, b: Any) -> bool:
        one, other = ((1, 0) if v != v else (0, v) for v in (a, b))
        return one <= other if right else one < other

    axis = x.axis(dim)
    return fill(
        union(values.axes, drop(x.axes, [dim])),
        lambda at: sum(before(x[{**at, dim: i}], values[at]) for i in range(axis.length(at))),
    )


def unique(x: Model, dim: Dim, out_dim: Dim) -> tuple[Model, Model, Model]:
    """The distinct numbers of each row in ascending order; all NaN are one, which comes last.

    >>> x = Model.from_rows([[3, 1, 3], [4], []])
    >>> [each.to_list() for each in unique(x, x.dims[1], vl.Dim("kind"))]
    [[[1, 3], [4], []], [[1, 0, 1], [0], []], [[1, 2], [1], []]]
    """
    others = [axis for axis in x.axes if axis.dim != dim]

    def kinds(at: At) -> list[list[int]]:
        line = spots(x, [dim], {d: i for d, i in at.items() if d != out_dim})
        return [[line[i][dim] for i in each] for each in oracle_sort.groups([x[each] for each in line])]

    new = Axis.derived(out_dim, others, lambda at: len(kinds(at)))
    values = move(x, [dim], [new], lambda at: {dim: kinds(at)[at[out_dim]][0]}, reads=x.dims)
    inverse = fill(x.axes, lambda at: next(i for i, each in enumerate(kinds(at)) if at[dim] in each))
    return values, inverse, fill(values.axes, lambda at: len(kinds(at)[at[out_dim]]))


def conv_out_dim(
    dim: Dim, size: int, *, stride: int = 1, dilation: int = 1, padding: str | int = "valid"
) -> Dim:
    """Who the dim of a convolution's result is.

    >>> time = vl.Dim("time", lengths=[5, 3, 0])
    >>> conv_out_dim(time, 3).lengths, conv_out_dim(time, 3, stride=2, padding="same").lengths
    (array([3, 1, 0]), array([3, 2, 0]))
    """
    if padding != "same":
        dim = padding + dim + padding if isinstance(padding, int) else dim
        span = (size - 1) * dilation
        dim = dim.sub_left(span // 2).sub_right(span - span // 2)
    return dim if stride == 1 else dim.ceildiv_right(stride)


def windowed(
    n: int, size: int, *, stride: int = 1, dilation: int = 1, padding: str | int = "valid"
) -> list[list[int | None]]:
    """The positions that each place of a window reads in a row; None where it reaches out of it.

    >>> windowed(3, 3, padding="same"), windowed(5, 3, stride=2)
    ([[None, 0, 1], [0, 1, 2], [1, 2, None]], [[0, 1, 2], [2, 3, 4]])
    """
    span = (size - 1) * dilation
    left = {"same": span // 2, "valid": 0}[padding] if isinstance(padding, str) else padding
    starts = range(n) if padding == "same" else range(n + 2 * left - span)
    reads = [[i - left + k * dilation for k in range(size)] for i in starts[::stride]]
    return [[i if 0 <= i < n else None for i in each] for each in reads]


def window(
    x: Model,
    dim: Dim,
    width: Dim | Axis,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str | int = "same",
    value: float = 0,
    out_dim: Dim | None = None,
) -> Model:
    """The positions around each one along a dim, or those that start at it.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> window(x, x.dims[1], vl.Dim(2, name="width")).to_list()
    [[[7, 8], [8, 9], [9, 0]], [[4, 0]], []]
    >>> window(x, x.dims[1], vl.Dim(2, name="width"), padding="valid").to_list()
    [[[7, 8], [8, 9]], [], []]
    """
    axis, inside = x.axis(dim), Axis.from_dim(width)
    out = _out_dim(dim, inside.dim, stride, padding) if out_dim is None else out_dim
    size = inside.length({})

    def reads(at: At) -> list[list[int | None]]:
        return windowed(axis.length(at), size, stride=stride, dilation=dilation, padding=padding)

    def source(at: At) -> At | None:
        i = reads(at)[at[out]][at[inside.dim]]
        return None if i is None else {dim: i}

    return move(x, [dim], [along(x, dim, out, lambda at: len(reads(at))), inside], source, value=value)


def _out_dim(dim: Dim, width: Dim, stride: int, padding: str | int) -> Dim:
    if padding != "same":
        dim = (padding + dim + padding if isinstance(padding, int) else dim) - width + 1
    return dim if stride == 1 else dim.ceildiv_right(stride)


def pool(
    x: Model,
    mode: str,
    dim: Dim,
    size: int,
    *,
    stride: int | None = None,
    dilation: int = 1,
    padding: str | int = "valid",
    out_dim: Dim | None = None,
    is_float: bool = True,
) -> Model:
    """A mode of the numbers in each window; what reaches out of the row does not count.

    >>> x = Model.from_rows([[7, 8, 10], [4], []])
    >>> pool(x, "mean", x.dims[1], 2, padding="same").to_list()
    [[7.5, 10.0], [4.0], []]
    """
    stride, axis = size if stride is None else stride, x.axis(dim)
    out = out_dim or conv_out_dim(dim, size, stride=stride, dilation=dilation, padding=padding)

    def reads(at: At) -> list[list[int | None]]:
        return windowed(axis.length(at), size, stride=stride, dilation=dilation, padding=padding)

    def value(at: At) -> Any:
        here = [{**at, dim: i} for i in reads(at)[at[out]] if i is not None]
        return fold(mode, [x[each] for each in here], is_float=is_float)

    new = along(x, dim, out, lambda at: len(reads(at)))
    return fill([new if axis.dim == dim else axis for axis in x.axes], value)


def conv1d(
    x: Model,
    weights: Model,
    dim: Dim,
    filter_dim: Dim,
    in_dim: Dim,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str | int = "valid",
    out_dim: Dim | None = None,
) -> Model:
    """A convolution along one dim, as networks have it: the filter is not reversed.

    >>> taps, one = vl.Dim(2, name="taps"), vl.Dim(1, name="channels")
    >>> x = Model.from_rows([[7, 8, 10], [4], []])
    >>> weights = Model.from_list([taps, one], [[-1], [1]])
    >>> conv1d(fill([*x.axes, Axis.from_dim(one)], lambda at: x[at]), weights, x.dims[1], taps, one).to_list()
    [[1, 2], [], []]
    """
    axis = weights.axis(filter_dim)
    size = axis.length({})
    out = out_dim or conv_out_dim(dim, size, stride=stride, dilation=dilation, padding=padding)
    patches = window(x, dim, axis, stride=stride, dilation=dilation, padding=padding, out_dim=out)
    return dot(patches, weights, [filter_dim, in_dim])
