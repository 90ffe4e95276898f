"""What ops that move numbers along dims mean, on the models of `varlen.testing.model`.

Most of them are `move`: a function says for each position of the result where its number comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from varlen._core import Dim
from varlen.dims import LengthMismatchError
from varlen.testing.model import At, Axis, Model, describe, fill, walk

from oracles.dims.arithmetic import constant, fold
from oracles.dims.axes import drop, union

Source = Callable[[At], At | None]


def move(
    x: Model,
    dims: Sequence[Dim],
    new: Sequence[Axis],
    source: Source,
    *,
    value: Model | float = 0,
    reads: Iterable[Dim] = (),
) -> Model:
    """Some dims replaced by others, where a function says where the numbers come from.

    Dims that are over those replaced have the lengths that they had there, and 0 where nothing was.
    """
    old = [x.axis(dim) for dim in dims]
    first = min(x.dims.index(dim) for dim in dims)
    stay = [axis for axis in x.axes if axis.dim not in dims]
    if twice := {axis.dim for axis in new} & {axis.dim for axis in stay}:
        raise ValueError(f"{twice} would stand twice")
    axes = {axis.dim: axis for axis in [*(a for a in x.axes[:first] if a in stay), *new, *stay]}
    seen = {*reads, *(axis.dim for axis in new), *(dim for axis in [*old, *new] for dim in axis.over)}
    for axis in sorted(stay, key=lambda axis: len(axis.over)):
        if axis.over & set(dims):
            over = [axes[dim] for dim in seen | axis.over if dim in axes and dim != axis.dim]
            axes[axis.dim] = Axis.derived(axis.dim, over, _length_there(axis, source))
    filled = constant(value)

    def number(at: At) -> Any:
        there = source(at)
        return filled[at] if there is None else x[{**at, **there}]

    return fill(axes.values(), number)


def _length_there(axis: Axis, source: Source) -> Callable[[At], int]:
    def length(at: At) -> int:
        there = source(at)
        return 0 if there is None else axis.length({**at, **there})

    return length


def along(x: Model, dim: Dim, out_dim: Dim, length: Callable[[At], int], reads: Iterable[Dim] = ()) -> Axis:
    """An axis that takes the place of a dim, over what that is over."""
    over = {*x.axis(dim).over, *reads} - {dim}
    return Axis.derived(out_dim, [axis for axis in x.axes if axis.dim in over], lambda at: max(0, length(at)))


def number_at(count: Model | int, at: At) -> int:
    """An int, or the number of a model at a position.

    >>> number_at(3, {})
    3
    """
    return int(count if isinstance(count, int) else count[at])


def _dims_of(*counts: Any) -> set[Dim]:
    return {dim for count in counts if isinstance(count, Model) for dim in count.dims}


def concat(parts: Sequence[tuple[Model, Dim]], out_dim: Dim | None = None) -> Model:
    """Models one behind the other along a dim of each, row by row.

    >>> x, y = Model.from_rows([[7, 8], [9]]), Model.from_rows([[1], [2]], "labels")
    >>> concat([(x, x.dims[1]), (y, y.dims[1])]).to_list()
    [[7, 8, 1], [9, 2]]
    """
    x, dim = parts[0]
    if any({*y.dims} - {d} != {*x.dims} - {dim} for y, d in parts):
        raise ValueError(f"other dims differ: {[y.dims for y, _ in parts]}")
    total = parts[0][1]
    for _, each in parts[1:]:
        total = total + each
    out = total if out_dim is None else out_dim

    def find(at: At) -> tuple[Model, dict[Dim, int]]:
        i = at[out]
        for y, d in parts:
            n = y.axis(d).length(at)
            if i < n:
                return y, {**at, d: i}
            i -= n
        raise IndexError(f"{at[out]} is no position of {out.name}")

    same = union(*([each for each in y.axes if d not in each.over | {each.dim}] for y, d in parts))
    axes = {axis.dim: axis for axis in same}
    over = [axis for axis in same if any(axis.dim in y.axis(d).over for y, d in parts)]
    axes[out] = Axis.derived(out, over, lambda at: sum(y.axis(d).length(at) for y, d in parts))
    for axis in sorted(x.axes, key=lambda axis: len(axis.over)):
        if dim in axis.over:
            over = [axes[each] for each in {*axis.over, out, *axes[out].over} if each in axes]
            axes[axis.dim] = Axis.derived(axis.dim, over, _length_in(axis.dim, find))
    order = [out if each == dim else each for each in x.dims]

    def number(at: At) -> Any:
        y, there = find(at)
        return y[there]

    return fill([axes[each] for each in order], number)


def _length_in(dim: Dim, find: Callable[[At], tuple[Model, dict[Dim, int]]]) -> Callable[[At], int]:
    def length(at: At) -> int:
        y, there = find(at)
        return y.axis(dim).length(there)

    return length


def split(x: Model, dim: Dim, parts: Sequence[Dim | Axis]) -> list[Model]:
    """Pieces of a dim, one behind the other.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> parts = vl.Dim("a", lengths=[1, 1]), vl.Dim("b", lengths=[1, 0])
    >>> [part.to_list() for part in split(x, x.dims[1], parts)]
    [[[7], [9]], [[8], []]]
    """
    axes = [Axis.from_dim(part) for part in parts]
    for at in walk([axis for axis in x.axes if any(axis.dim in each.over for each in [x.axis(dim), *axes])]):
        lengths, whole = [axis.length(at) for axis in axes], x.axis(dim).length(at)
        if sum(lengths) != whole:
            raise LengthMismatchError(f"{lengths} do not add up to the length {whole} of {dim.name}")

    def source(k: int) -> Source:
        return lambda at: {dim: at[axes[k].dim] + sum(axis.length(at) for axis in axes[:k])}

    return [move(x, [dim], [axes[k]], source(k)) for k in range(len(axes))]


def stack(models: Iterable[Model], dim: Dim) -> Model:
    """Models one after the other, along a new first dim.

    >>> x = Model.from_rows([[7, 8], [9]])
    >>> stack([x, x], vl.Dim(2, name="two")).to_list()
    [[[7, 8], [9]], [[7, 8], [9]]]
    """
    models = list(models)
    return fill(
        [Axis.fixed(dim, len(models)), *union(*(x.axes for x in models))], lambda at: models[at[dim]][at]
    )


def pad(
    x: Model,
    dim: Dim,
    left: int | Dim | Axis = 0,
    right: int | Dim | Axis = 0,
    *,
    value: float = 0,
    mode: str = "constant",
    out_dim: Dim | None = None,
) -> Model:
    """More positions at both ends of each row.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> pad(x, x.dims[1], 2, 1, mode="reflect").to_list()
    [[9, 8, 7, 8, 9, 8], [4, 4, 4, 4], [0, 0, 0]]
    """
    if mode not in ("constant", "replicate", "reflect"):
        raise ValueError(f"mode: {mode!r} is none of 'constant', 'replicate', 'reflect'")
    before, behind = (_amount(each) for each in (left, right))
    named = [each.dim if isinstance(each, Axis) else each for each in (left, right)]
    out = named[0] + dim + named[1] if out_dim is None else out_dim
    reads = before.over | behind.over
    axis = x.axis(dim)

    def length(at: At) -> int:
        return before.length(at) + axis.length(at) + behind.length(at)

    def source(at: At) -> At | None:
        i, n = at[out] - before.length(at), axis.length(at)
        if mode == "replicate":
            i = min(max(i, 0), n - 1)
        elif mode == "reflect" and n > 0:
            i %= max(1, 2 * (n - 1))
            i = min(i, 2 * (n - 1) - i)
        return {dim: i} if 0 <= i < n else None

    return move(x, [dim], [along(x, dim, out, length, reads)], source, value=value, reads=reads)


def _amount(count: int | Dim | Axis) -> Axis:
    return Axis.fixed(Dim(name="amount"), count) if isinstance(count, int) else Axis.from_dim(count)


def slice_dim(
    x: Model,
    dim: Dim,
    start: Model | int | None = None,
    end: Model | int | None = None,
    step: int = 1,
    *,
    size: Model | int | Dim | Axis | None = None,
    out_dim: Dim | None = None,
) -> Model:
    """A slice of each row, as Python slices a list.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> slice_dim(x, x.dims[1], None, 2).to_list(), slice_dim(x, x.dims[1], -1).to_list()
    ([[7, 8], [4], []], [[9], [4], []])
    """
    axis, reads = x.axis(dim), _dims_of(start, end, size)
    if isinstance(size, Dim | Axis):
        return _sliced_to(x, dim, 0 if start is None else start, Axis.from_dim(size))

    def kept(at: At) -> range:
        n = axis.length(at)
        begin, stop = (None if each is None else number_at(each, at) for each in (start, end))
        if size is not None:
            begin = range(n)[begin:].start
            stop = begin + number_at(size, at)
        return range(n)[begin:stop:step]

    out = sliced(dim, start, end, step, size) if out_dim is None else out_dim
    new = along(x, dim, out, lambda at: len(kept(at)), reads)
    return move(x, [dim], [new], lambda at: {dim: kept(at)[at[out]]}, reads=reads)


def _sliced_to(x: Model, dim: Dim, start: Model | int, size: Axis) -> Model:
    axis, reads = x.axis(dim), _dims_of(start)

    def source(at: At) -> At:
        begin, n = number_at(start, at), axis.length(at)
        begin += n if begin < 0 else 0
        if not 0 <= begin <= begin + size.length(at) <= n:
            raise IndexError(f"{size.length(at)} positions from {begin} are out of a row of {n}")
        return {dim: begin + at[size.dim]}

    return move(x, [dim], [size], source, reads=reads)


def sliced(dim: Dim, start: Any, end: Any, step: int, size: Any = None) -> Dim:
    """Who a slice of a dim is: what the algebra says, or a new dim where the length is no expression.

    >>> sliced(vl.Dim("time"), 1, -2, 1), sliced(vl.Dim("time"), None, 2, 1)
    (Dim('-1+time-2'), Dim('slice'))
    """
    start = 0 if start is None else start
    ints = isinstance(start, int) and (end is None or isinstance(end, int)) and size is None
    if not ints or start < 0 or step < 1 or (end is not None and end >= 0):
        return Dim(name="slice")
    part = dim.sub_left(start).sub_right(-end if end else 0)
    return part if step == 1 else part.ceildiv_right(step)


def shift(x: Model, dim: Dim, amount: int, *, value: float = 0) -> Model:
    """Numbers further along their row, which keeps its length.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> shift(x, x.dims[1], 1).to_list(), shift(x, x.dims[1], -1).to_list()
    ([[0, 7, 8], [0], []], [[8, 9, 0], [0], []])
    """
    axis = x.axis(dim)

    def source(at: At) -> At | None:
        i = at[dim] - amount
        return {dim: i} if 0 <= i < axis.length(at) else None

    return move(x, [dim], [axis], source, value=value)


def reverse(x: Model, dim: Dim) -> Model:
    """Each row from its end to its start.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> reverse(x, x.dims[1]).to_list()
    [[9, 8, 7], [4], []]
    """
    axis = x.axis(dim)
    return move(x, [dim], [axis], lambda at: {dim: axis.length(at) - 1 - at[dim]})


def masked_select(x: Model, mask: Model, dims: Sequence[Dim], out_dim: Dim | None = None) -> Model:
    """What stands where a mask is True, in row-major order of some dims, in the place of them.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> odd = fill(x.axes, lambda at: x[at] % 2 == 1)
    >>> masked_select(x, odd, x.dims[1:]).to_list(), masked_select(x, odd, x.dims).to_list()
    ([[7, 9], [], []], [7, 9])
    """
    out = Dim(name="selected") if out_dim is None else out_dim
    old = [x.axis(dim) for dim in dims]

    def chosen(at: At) -> list[dict[Dim, int]]:
        others = {dim: i for dim, i in at.items() if dim not in dims}
        return [there for there in walk(old, others) if mask[there]]

    reads = {*mask.dims, *(dim for axis in old for dim in axis.over)}.difference(dims)
    new = Axis.derived(out, [axis for axis in x.axes if axis.dim in reads], lambda at: len(chosen(at)))
    return move(x, dims, [new], lambda at: {dim: chosen(at)[at[out]][dim] for dim in dims}, reads=reads)


def masked_scatter(
    x: Model, dim: Dim, mask: Model, dims: Sequence[Dim], *, backup: Model | float = 0
) -> Model:
    """The inverse of `masked_select`: what it took goes back, in the same order.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> odd = fill(x.axes, lambda at: x[at] % 2 == 1)
    >>> taken = masked_select(x, odd, x.dims)
    >>> masked_scatter(taken, taken.dims[0], odd, x.dims).to_list()
    [[7, 0, 9], [0], []]
    """
    axis, new = x.axis(dim), [mask.axis(each) for each in dims]
    others = {*mask.dims, *(each for a in new for each in a.over)}.difference(dims)
    for at in walk([each for each in x.axes if each.dim in others | axis.over]):
        count = sum(bool(mask[there]) for there in walk(new, at))
        if count != axis.length(at):
            raise LengthMismatchError(
                f"{axis.length(at)} numbers where the mask takes {count}, at {describe(at)}"
            )

    def source(at: At) -> At | None:
        others = {d: i for d, i in at.items() if d not in dims}
        here = [at[d] for d in dims]
        before = [there for there in walk(new, others) if mask[there] and [there[d] for d in dims] < here]
        return {dim: len(before)} if mask[at] else None

    return move(x, [dim], new, source, value=backup, reads=others)


def flatten(x: Model, dims: Sequence[Dim], out_dim: Dim | None = None) -> Model:
    """All valid positions of some dims, in row-major order of these dims as given, along one new dim.

    >>> x = Model.from_rows([[7, 8, 9], [4], []])
    >>> flatten(x, x.dims).to_list(), flatten(x, x.dims[::-1]).to_list()
    ([7, 8, 9, 4], [7, 4, 8, 9])
    """
    return masked_select(x, constant(True), dims, Dim(name="flat") if out_dim is None else out_dim)


def merge_dims(x: Model, dims: Sequence[Dim], out_dim: Dim | None = None) -> Model:
    """Some dims as their product: position (i, j) is i * length of j's dim + j.

    >>> x = Model.from_rows([[7, 8], [9, 4]])
    >>> merge_dims(x, x.dims).to_list()
    [7, 8, 9, 4]
    """
    product = dims[0]
    for dim in dims[1:]:
        product = product * dim
    out = product if out_dim is None else out_dim
    merged = flatten(x, dims, out)
    for at in walk([each for each in x.axes if each.dim in merged.axis(out).over]):
        if merged.axis(out).length(at) != math.prod(x.axis(dim).length(at) for dim in dims):
            raise LengthMismatchError(f"{[dim.name for dim in dims]} are no rectangle; flatten takes them")
    return merged


def split_dims(x: Model, dim: Dim, dims: Sequence[Dim | Axis], *, pad_value: float | None = None) -> Model:
    """A dim as the product of others, the inverse of `merge_dims`.

    >>> x = Model.from_rows([[7, 8, 9, 4], [5], []])
    >>> split_dims(x, x.dims[1], [vl.Dim("pairs"), vl.Dim(2, name="two")], pad_value=0).to_list()
    [[[7, 8], [9, 4]], [[5, 0]], []]
    """
    axis = x.axis(dim)
    known = {i: Axis.from_dim(d) for i, d in enumerate(dims) if isinstance(d, Axis) or d.is_defined}
    if len(known) < len(dims) - 1:
        raise ValueError("dims: more than one has no length")
    rest = _rest(axis, list(known.values()))
    axes = [known[i] if i in known else along(x, dim, _dim_of(d), rest) for i, d in enumerate(dims)]
    for at in walk([each for each in x.axes if each.dim in axis.over]):
        n, product = axis.length(at), math.prod(each.length(at) for each in axes)
        if n > product or (n < product and pad_value is None):
            raise LengthMismatchError(
                f"{dim.name} has length {n}, the product is {product}, at {describe(at)}"
            )

    def source(at: At) -> At | None:
        i = 0
        for each in axes:
            i = i * each.length(at) + at[each.dim]
        return {dim: i} if i < axis.length(at) else None

    return move(x, [dim], axes, source, value=0 if pad_value is None else pad_value)


def _dim_of(dim: Dim | Axis) -> Dim:
    return dim.dim if isinstance(dim, Axis) else dim


def _rest(axis: Axis, known: Sequence[Axis]) -> Callable[[At], int]:
    """The whole over what is known of it, rounded up."""
    return lambda at: -(-axis.length(at) // max(1, math.prod(each.length(at) for each in known)))


def repeat(x: Model, dim: Dim, counts: Model | int, out_dim: Dim | None = None) -> Model:
    """Each position of a dim so many times.

    >>> x = Model.from_rows([[7, 8], [9], []])
    >>> repeat(x, x.dims[1], 2).to_list()
    [[7, 7, 8, 8], [9, 9], []]
    >>> repeat(x, x.dims[1], fill(x.axes, lambda at: x[at] - 7)).to_list()
    [[8], [9, 9], []]
    """
    axis = x.axis(dim)
    out = (dim * counts if isinstance(counts, int) else Dim(name="repeated")) if out_dim is None else out_dim

    def places(at: At) -> list[int]:
        return [i for i in range(axis.length(at)) for _ in range(number_at(counts, {**at, dim: i}))]

    reads = _dims_of(counts) - {dim}
    new = along(x, dim, out, lambda at: len(places(at)), reads)
    return move(x, [dim], [new], lambda at: {dim: places(at)[at[out]]}, reads=reads)


def gather(x: Model, indices: Model, dim: Dim, *, clip: bool = False) -> Model:
    """The numbers at some positions of a dim; dims that both have go together.

    >>> x = Model.from_rows([[7, 8, 9], [4]])
    >>> gather(x, Model(x.axes[:1], {(0,): 2, (1,): 0}), x.dims[1]).to_list()
    [9, 4]
    """
    axis = x.axis(dim)
    rest = [each for each in x.axes if each.dim != dim]
    shared = {each.dim for each in rest}
    union(rest, indices.axes)
    new = [each for each in indices.axes if each.dim not in shared]

    def source(at: At) -> At:
        i, n = indices[at], axis.length(at)
        i = min(max(i, 0), n - 1) if clip else i
        if not 0 <= i < n:
            raise IndexError(f"{indices[at]} is no position of {dim.name}, which has {n}, at {describe(at)}")
        return {dim: i}

    return move(x, [dim], new, source, reads=indices.dims)


def scatter(
    x: Model,
    indices: Model,
    dims: Sequence[Dim],
    out: Dim | Axis,
    *,
    mode: str = "sum",
    fill_value: Any = None,
    is_float: bool = True,
) -> Model:
    """Numbers brought to the positions of a new axis that indices say, where a mode makes one of several.

    >>> x = Model.from_rows([[7, 8, 9], [4]])
    >>> indices = fill(x.axes, lambda at: [[1, 1, 0], [3]][at[x.dims[0]]][at[x.dims[1]]])
    >>> scatter(x, indices, x.dims, vl.Dim(4, name="bins")).to_list()
    [9, 15, 0, 4]
    """
    axis, together = Axis.from_dim(out), fill(union(x.axes, indices.axes), lambda at: x[at])
    goes: dict[tuple[int, ...], list[Any]] = {}
    first = min(together.dims.index(dim) for dim in dims)
    before = drop(together.axes[:first], dims)
    axes = [*drop(together.axes, dims)]
    axes.insert(len(before), axis)
    for at in walk(together.axes):
        if not 0 <= indices[at] < axis.length(at):
            raise IndexError(f"{indices[at]} is no position of {axis.dim.name}, at {describe(at)}")
        there = {**at, axis.dim: indices[at]}
        goes.setdefault(tuple(there[each.dim] for each in axes), []).append(x[at])

    def number(at: At) -> Any:
        return fold(
            mode, goes.get(tuple(at[each.dim] for each in axes), []), empty=fill_value, is_float=is_float
        )

    return fill(axes, number)


def expand(x: Model, dim: Dim | Axis) -> Model:
    """The same numbers at each position of a new last axis.

    >>> expand(Model.from_rows([[7], [9]]), vl.Dim(2, name="two")).to_list()
    [[[7, 7]], [[9, 9]]]
    """
    return fill([*x.axes, Axis.from_dim(dim)], lambda at: x[at])


def squeeze(x: Model, dim: Dim) -> Model:
    """The same numbers without a dim of one position.

    >>> x = Model.from_rows([[7], [9]])
    >>> squeeze(x, x.dims[1]).to_list()
    [7, 9]
    """
    axis = x.axis(dim)
    for at in walk([each for each in x.axes if each.dim in axis.over]):
        if axis.length(at) != 1:
            raise LengthMismatchError(f"{dim.name} has length {axis.length(at)}, not 1, at {describe(at)}")
    return move(x, [dim], [], lambda _: {dim: 0})


def range_over_dim(dim: Dim | Axis) -> Model:
    """The positions of a dim, over nothing else: as many as its longest row has.

    >>> range_over_dim(vl.Dim("time", lengths=[3, 1, 0])).to_list()
    [0, 1, 2]
    """
    axis = Axis.from_dim(dim)
    return fill([axis], lambda at: at[axis.dim])


def arange(dim: Dim | Axis, start: float = 0, step: float = 1) -> Model:
    """Numbers at equal distances along a dim.

    >>> arange(vl.Dim(3, name="three"), 10, 5).to_list()
    [10, 15, 20]
    """
    axis = Axis.from_dim(dim)
    return fill([axis], lambda at: start + step * at[axis.dim])


def one_hot(x: Model, dim: Dim | Axis) -> Model:
    """1 at the position that a number says, 0 elsewhere, along a new last axis.

    >>> one_hot(Model.from_rows([[1], [0]]), vl.Dim(2, name="two")).to_list()
    [[[0, 1]], [[1, 0]]]
    """
    axis = Axis.from_dim(dim)
    for at in walk(x.axes):
        if not 0 <= x[at] < axis.length(at):
            raise IndexError(f"{x[at]} is no position of {axis.dim.name}, at {describe(at)}")
    return fill([*x.axes, axis], lambda at: int(at[axis.dim] == x[at]))
