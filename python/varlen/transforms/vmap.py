"""Any function of one sequence, over all sequences."""

from __future__ import annotations

import dis
import functools
import warnings
from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from varlen import tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import one_of
from varlen.backends import backend_of
from varlen.backends.values import is_array, is_tensor, like, one_device, take
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import check_nest, equal_lengths, resolve_level
from varlen.ops.combine import stack
from varlen.ops.support.outputs import new_ragged, ragged_like
from varlen.transforms import proxy_functions  # noqa: F401  # which gives proxies their methods
from varlen.transforms.proxy import Detour, Proxy, Run, for_each

Function = Callable[..., Any]
RESULTS = ("sequence", "row")
_FUNCTIONS = (FunctionType, functools.partial)
_EMPTY_CELL = CellType()
_ASKED = {"numpy", "torch", "varlen"}  # whose functions ask a proxy what it is by their protocols
_WRITE = "a write to a tensor that all sequences share"
_IN_PLACE = {
    "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__iand__",
    "__ior__", "__ixor__", "__ilshift__", "__irshift__",
}  # fmt: skip
_ONE: Sequence[bool] = (False,)


class LoopWarning(UserWarning):
    """A function that `varlen.vmap` has to call once for each sequence, and why.

    Examples
    --------
    >>> import warnings
    >>> import varlen as vl
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     vl.vmap(lambda x: sorted(x.tolist())[0])(vl.Ragged([3, 1, 4], [2, 1]))
    array([1, 4])
    >>> caught[0].category.__name__
    'LoopWarning'
    """


def vmap(
    f: Function, in_axes: int | Sequence[int | None] | None = 0, *, level: int = -1, result: str = "sequence"
) -> Function:
    """A function of one sequence as a function of all sequences of a Ragged.

    `vl.vmap(f)(r)` holds what `[f(x) for x in r]` holds, end to end again. A function made of operators,
    functions of NumPy or torch, reductions, scans, sorts, indices and slices is called once, for all values
    as they lie. Any other is called once for each length, with all sequences of that length, or else once for
    each sequence, with a warning that says why.

    Parameters
    ----------
    f
        The function. Its arguments are arrays or tensors, (length, ...). It gives an array, a tensor, a
        number, or a tuple, list or dict of these. It has no side effects: it may be called any number of
        times, what it draws at random may be drawn once for all, and what it writes to an argument reaches
        a copy.
    in_axes
        For each argument: 0 gives each sequence its own, None gives all of it to each. A Ragged gives
        sequences, one of the levels above gives rows, and so does an array, (number of sequences, ...).
        Numbers go to each sequence as they are, and so do keyword arguments.
    level
        The level whose sequences `f` gets; -1 is the innermost. Above it, `f` gets a Ragged for each.
    result
        What an array that `f` gives is: "sequence" takes its first axis for a ragged one, also where it has
        the same size everywhere; "row" takes it for a row, and all rows have one shape. Numbers are numbers.

    Returns
    -------
    function
        It returns a Ragged for sequences, an array or a tensor, (number of sequences, ...), for numbers and
        rows, and tuples, lists and dicts of these; below further levels each is a Ragged.

    Raises
    ------
    TypeError
        No argument is a Ragged, or `f` gives neither arrays nor numbers.
    ValueError
        Arguments nest differently or lie on different devices, or what `f` gives differs in kind between
        sequences.

    Warns
    -----
    LoopWarning
        `f` is called once for each sequence; `varlen.transforms.LoopWarning`.

    Notes
    -----
    The kind of a result depends on `f` and on `result` alone, and on no length. `f` gets empty sequences as
    they are, and an error that it raises is raised. Without sequences, a function that does not run for all
    at once is called for one row of zeros, to learn what it gives. `x.shape[0]` is a length for each
    sequence, while `len(x)` is one int, for which `f` is called once for each length. The gradient of a
    maximum that several rows share goes to the first of them, and `np.argsort` keeps the order of equal
    numbers, which NumPy does not promise. Where `f` meets an error for all sequences at once, or asks for a
    class by `isinstance` or `type`, it is called once for each length, or for each sequence. So it is where a
    function that `f` names asks for a type, one of SciPy for example, and where `f` writes to what all share.

    Under `torch.compile`, a function that runs for all values at once is one graph for any number of
    sequences; others break the graph.

    Examples
    --------
    >>> r = vl.Ragged([3.0, 1, 5, 1, 5], [3, 2])
    >>> vl.vmap(lambda x: (x - x.mean()) / x.max())(r).to_list()
    [[0.0, -0.4, 0.4], [-0.4, 0.4]]
    >>> vl.vmap(lambda x: x[-1] - x[0])(r), vl.vmap(lambda x: x[1:])(r).to_list()
    (array([2., 4.]), [[1.0, 5.0], [5.0]])
    >>> vl.vmap(lambda x, w: x * w)(r, np.array([10, 100])).to_list()
    [[30.0, 10.0, 50.0], [100.0, 500.0]]
    """
    one_of(result, "result", RESULTS)
    if not callable(f):
        raise instance_error("f", "a function", f)

    asks_type = _asks_type(f, set())

    @functools.wraps(f)
    def run_all(*args: Any, **kwargs: Any) -> Any:
        units = _Units(args, in_axes, level, result, asks_type)
        if tracing.is_tracing():
            return _run_flat(f, units, kwargs)[1]
        return _run(f, units, kwargs)

    return run_all


class _Units:
    """The arguments of a call: what each sequence gets, how many there are, and the levels above."""

    def __init__(self, args: Sequence[Any], in_axes: Any, level: int, result: str, asks_type: bool) -> None:
        axes = _axes_of(in_axes, len(args))
        model = _first_ragged(args, axes)
        if model is None:
            raise type_error("", "no argument is a Ragged, whose sequences the function would get")
        place = resolve_level(level, model._levels)
        self.outer = model._levels[:place]
        self.level: Any = model._levels[place]
        self.is_innermost = place == len(model._levels) - 1
        self.count = tracing.count_of(self.level)
        self.model, self.result, self.asks_type = model, result, asks_type
        self.tensors: list[Any] = []  # that all sequences share
        self.is_shared: Sequence[bool]
        self.contents: list[Any]
        if len(args) == 1 and not place:
            self.is_shared, self.contents = _ONE, [new_ragged(model._values, model._levels)]
            return
        self.is_shared = [
            axis is None or not hasattr(x, "ndim") or x.ndim == 0 for x, axis in zip(args, axes, strict=True)
        ]
        self.contents = [
            x if is_shared else self._content(x, f"argument {k}")
            for k, (x, is_shared) in enumerate(zip(args, self.is_shared, strict=True))
        ]

    def _content(self, x: Any, argument: str) -> Any:
        """An argument as sequences under one level or more, or as rows, one for each sequence."""
        values = x._values if _is_ragged(x) else x
        if not is_array(values) or is_tensor(values) != is_tensor(self.model._values):
            raise instance_error(
                argument, f"what nests as a Ragged of {type(self.model._values).__name__}", values
            )
        one_device(values, argument, self.model._values, "the first Ragged")
        if not _is_ragged(x):
            if tracing.holds_surely(x.shape[0] != self.count):
                text = f"has {x.shape[0]} rows for {self.count} sequences"
                raise value_error(argument, text, "in_axes=None gives all of it to each sequence")
            return x
        depth = len(self.outer)
        if x is not self.model:
            expected = self.outer if len(x._levels) == depth else (*self.outer, self.level)
            check_nest(x._levels[: depth + 1], expected, argument)
        if len(x._levels) == depth:
            return values
        return new_ragged(values, x._levels[depth:])

    def seal(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Let no function write to the arrays that all sequences share; of tensors, a watch has to see it."""
        if not kwargs and not any(self.is_shared):
            return kwargs
        items = zip(self.contents, self.is_shared, strict=True)
        self.contents = [_seal(x) if is_shared else x for x, is_shared in items]
        parts = (*(x for x, is_shared in zip(self.contents, self.is_shared, strict=True) if is_shared),)
        rows = [x._values if _is_ragged(x) else x for x in (*parts, *kwargs.values())]
        self.tensors = [x for x in rows if is_array(x) and is_tensor(x)]
        return {key: _seal(x) for key, x in kwargs.items()}

    def nest(self, content: Any) -> Any:
        """A result for each sequence, under the levels above."""
        if not self.outer:
            return (
                ragged_like(self.model, content._values, content._levels) if _is_ragged(content) else content
            )
        levels = content._levels if _is_ragged(content) else ()
        return ragged_like(self.model, content._values if levels else content, (*self.outer, *levels))

    def like_values(self, x: Any) -> Any:
        """A number of Python, a scalar or an array as an array of a library."""
        if is_array(x):
            return x
        if is_tensor(self.model._values) and not isinstance(x, np.generic):
            return _as_tensor(x, self.model._values)
        return np.asarray(x)


def _is_written(x: Any) -> bool:
    """Whether a function may write to it: an array, a tensor, a Ragged."""
    return _is_ragged(x) or isinstance(x, np.ndarray) or (is_array(x) and is_tensor(x))


def _seal(x: Any) -> Any:
    """An array of NumPy, or a Ragged of it, that shares its memory and cannot be written to; others as is."""
    if _is_ragged(x):
        return x._make(_seal(x._values), x._levels) if isinstance(x._values, np.ndarray) else x
    if isinstance(x, np.ndarray):
        x = x.view()
        x.flags.writeable = False
    return x


def _as_tensor(x: Any, values: Any) -> Any:
    import torch

    return torch.tensor(x, device=values.device)


def _asks_type(f: Any, visits: set[Any]) -> bool:
    """Whether a function, or one that it names, calls `type`, to which nothing else can pass for an array."""
    if isinstance(f, functools.partial):
        return _asks_type(f.func, visits)
    if not hasattr(f, "__code__"):  # a module of torch, or what else is called as a function
        f = getattr(type(f), "forward", None) or type(f).__call__
    code = getattr(f, "__code__", None)
    if code is None or code in visits or (f.__module__ or "").partition(".")[0] in _ASKED:
        return False
    visits.add(code)
    codes = [code]
    for one in codes:
        codes.extend(inner for inner in one.co_consts if isinstance(inner, CodeType))
    names = {name for one in codes for name in one.co_names}
    if "type" in names:
        return True
    cells = {
        name: cell.cell_contents
        for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=False)
        if cell != _EMPTY_CELL
    }
    values = {name: f.__globals__[name] for name in names if name in f.__globals__} | cells
    helpers = [x for x in values.values() if isinstance(x, _FUNCTIONS)]
    if any(isinstance(x, ModuleType) and x.__name__ not in _ASKED for x in values.values()):
        helpers.extend(x for one in codes for x in _module_functions(one, values))
    return any(_asks_type(x, visits) for x in helpers)


def _module_functions(code: CodeType, values: dict[str, Any]) -> list[Any]:
    """The functions that code reads from modules, such as `zscore` of `scipy.stats.zscore(x)`."""
    value, functions = None, []
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
            value = values.get(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            value = vars(value).get(step.argval)
            functions.append(value)
        else:
            value = None
    return [x for x in functions if isinstance(x, _FUNCTIONS)]


def _is_ragged(x: object) -> bool:
    return isinstance(x, RaggedBase)


def _first_ragged(args: Sequence[Any], axes: Sequence[Any]) -> Any:
    """The first argument that is a Ragged of which each sequence gets its own, or None."""
    for x, axis in zip(args, axes, strict=True):
        if axis == 0 and isinstance(x, RaggedBase):
            return x
    return None


def _axes_of(in_axes: Any, count: int) -> tuple[Any, ...]:
    axes = tuple(in_axes) if isinstance(in_axes, (tuple, list)) else (in_axes,) * count
    if len(axes) != count:
        raise value_error("in_axes", f"has {len(axes)} entries for {count} arguments")
    for axis in axes:
        if axis is not None and (type(axis) is not int or axis != 0):
            raise value_error("in_axes", f"expected 0 or None for each argument, got {axis!r}")
    return axes


# One call for all, or for all of a length, or for each.


def _run(f: Function, units: _Units, kwargs: dict[str, Any]) -> Any:
    if not units.is_innermost:
        reason = "each is a Ragged"
    elif not isinstance(units.model._values, np.ndarray) and not is_tensor(units.model._values):
        reason = "values are neither of NumPy nor of torch"
    else:
        contents, options = units.contents, units.seal(kwargs)
        reason, result = _run_flat(f, units, options)
        if not reason:
            return result
        result = _run_groups(f, units, options)
        if result is not None:
            return result[0]
        units.contents = contents
    if any(units.is_shared):
        units.contents = [
            _copy_of(x) if is_shared and _is_written(x) else x
            for x, is_shared in zip(units.contents, units.is_shared, strict=True)
        ]
    kwargs = {key: _copy_of(x) if _is_written(x) else x for key, x in kwargs.items()}
    if units.count:
        name = getattr(f, "__name__", type(f).__name__)
        text = f"vmap calls {name} for each sequence alone: {reason}"
        warnings.warn(text, LoopWarning, stacklevel=3)
    return _run_loop(f, units, kwargs)


def _run_flat(f: Function, units: _Units, kwargs: dict[str, Any]) -> tuple[str, Any]:
    """Why the function cannot run for all values at once, or what it gives."""
    run = Run(units.model._values, units.count)
    if units.asks_type:
        run.reason = "type(x)"
        if tracing.is_tracing():
            run.leave(run.reason)
        return f"it uses {run.reason}", None
    args = [
        x if is_shared else run.wrap(x) for x, is_shared in zip(units.contents, units.is_shared, strict=True)
    ]
    if tracing.is_tracing():
        return "", _finish(units, run, f(*args, **kwargs), units.nest)
    try:
        if units.tensors:
            with _watch_of_torch()(units.tensors, run):
                value = f(*args, **kwargs)
        else:
            value = f(*args, **kwargs)
        result = _finish(units, run, value, units.nest)
    except Exception as error:
        return f"it uses {run.reason}" if run.reason else _reason(error), None
    return run.reason and f"it uses {run.reason}", result


def _reason(error: Exception) -> str:
    return f"for all at once it raises {type(error).__name__}: {getattr(error, 'reason', None) or error}"


def _finish(units: _Units, run: Run, value: Any, nest: Function) -> Any:
    """What the function gave for all sequences, as results."""
    if isinstance(value, Proxy):
        if value.run is not run:
            run.leave("what belongs to another call of vmap")
        return nest(_as_result(units, run, value))
    return _map_parts(
        value, lambda part: _finish(units, run, part, nest), lambda part: nest(_constant(units, part))
    )


def _as_result(units: _Units, run: Run, x: Proxy) -> Any:
    content = x.content
    if x.is_weak and run.is_torch and content.is_floating_point():
        import torch

        content = content.to(torch.get_default_dtype())
    if _is_ragged(content):
        return content if units.result == "sequence" else _rectangle(run, content)
    if x.ndim == 0 or units.result == "row":
        return content
    count, width = content.shape[:2]
    return new_ragged(content.reshape((count * width, *content.shape[2:])), (equal_lengths(count, width),))


def _rectangle(run: Run, content: Any) -> Any:
    """Sequences of one length as rows of an array."""
    level = content._levels[0]
    if tracing.is_tracing() or level.longest != level.shortest:
        run.leave("sequences as rows")
    return content._values.reshape((len(level), level.longest, *content._values.shape[1:]))


def _constant(units: _Units, part: Any) -> Any:
    """A result that is the same for all sequences."""
    rows = for_each(units.like_values(part), units.count)
    if rows.ndim == 1 or units.result == "row":
        return rows
    count, width = rows.shape[:2]
    return new_ragged(rows.reshape((count * width, *rows.shape[2:])), (equal_lengths(count, width),))


def _map_parts(value: Any, call: Function, end: Function) -> Any:
    """A tuple, list or dict with a function called on each part; anything else by another function."""
    if isinstance(value, dict):
        return {key: call(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [call(part) for part in value]
        return _like_parts(value, parts)
    _check_result(value)
    return end(value)


def _like_parts(value: Any, parts: list[Any]) -> Any:
    kind = type(value)
    if hasattr(value, "_fields"):
        return kind(*parts)
    return kind(parts) if kind in (list, tuple) or not isinstance(value, list) else parts


def _check_result(value: Any, row: int | None = None) -> None:
    if not (
        _is_ragged(value) or is_array(value) or isinstance(value, (bool, int, float, complex, np.generic))
    ):
        raise instance_error("f", "a function that gives arrays or numbers", value, row=row)


# All sequences of a length.


def _run_groups(f: Function, units: _Units, kwargs: dict[str, Any]) -> tuple[Any] | None:
    """The results by a call for each length, in a tuple, or None where that cannot be."""
    if not units.count or (units.asks_type and not is_tensor(units.model._values)):
        return None
    lengths = units.level.lengths
    results, order = [], []
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        batch = [
            x if is_shared else _batch(x, places, int(length))
            for x, is_shared in zip(units.contents, units.is_shared, strict=True)
        ]
        try:
            results.append(_call_batch(f, units, batch, len(places), kwargs))
        except Exception:
            return None
        order.append(places)
    inverse = np.empty(units.count, np.int64)
    inverse[np.concatenate(order)] = np.arange(units.count)
    try:
        return (_join_groups(units, results, inverse),)
    except Exception:  # the loop tells which sequence it is
        return None


def _batch(content: Any, places: Any, length: int) -> Any:
    """What sequences of one length have, stacked."""
    if not _is_ragged(content):
        return take(content, like(places, content))
    values = content._values
    index = (content._levels[0].offsets[places][:, None] + np.arange(length)).reshape(-1)
    return take(values, like(index, values)).reshape((len(places), length, *values.shape[1:]))


def _call_batch(f: Function, units: _Units, batch: list[Any], count: int, kwargs: dict[str, Any]) -> Any:
    """What a function gives for some sequences of one length: parts with a row for each."""
    if is_tensor(units.model._values):
        return _call_tensors(f, units, batch, kwargs)
    run = Run(units.model._values, count)
    args = [x if is_shared else run.wrap(x) for x, is_shared in zip(batch, units.is_shared, strict=True)]
    value = _rows_of(units, run, f(*args, **kwargs))
    if run.reason:
        raise Detour(run.reason)
    return value


def _call_tensors(f: Function, units: _Units, batch: list[Any], kwargs: dict[str, Any]) -> Any:
    """The same by torch's vmap, unless something fails for all, which the function may catch."""
    import torch

    in_dims = tuple(None if is_shared else 0 for is_shared in units.is_shared)
    watch = _watch_of_torch()(units.tensors)
    with watch:
        result = torch.func.vmap(functools.partial(f, **kwargs), in_dims=in_dims)(*batch)
    if watch.has_failed:
        raise Detour("an error of all sequences of a length")
    return result


@functools.cache
def _watch_of_torch() -> Any:
    from torch.overrides import TorchFunctionMode

    class Watch(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        """Whether a function of torch fails inside of a function that may catch it; writes to some fail."""

        has_failed = False

        def __init__(self, tensors: list[Any], run: Run | None = None) -> None:
            super().__init__()
            self.run, self.memory = run, {_memory_of(x) for x in tensors}

        def __torch_function__(self, func: Function, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            try:
                if self.memory and not self.memory.isdisjoint(_written_memory(func, args, kwargs or {})):
                    raise Detour(_WRITE)
                return func(*args, **(kwargs or {}))
            except Exception as error:
                self.has_failed = True
                if self.run is not None and isinstance(error, Detour):
                    self.run.reason = self.run.reason or error.reason
                raise

    return Watch


def _written_memory(func: Function, args: Any, kwargs: dict[str, Any]) -> set[int]:
    """Where the tensors lie that a function of torch writes to: it says so by its name, or by `out`."""
    name, out = tracing.name_of(func), kwargs.get("out", ())
    is_in_place = name.endswith("_") and not name.endswith("__")
    places = args[:1] if is_in_place or name == "__setitem__" or name in _IN_PLACE else ()
    return {_memory_of(x) for x in (*places, *(out if isinstance(out, (tuple, list)) else (out,)))}


def _memory_of(x: Any) -> int:
    """Where a tensor's memory begins; -1 of what has none, as inside torch's vmap."""
    try:
        place: int = x.untyped_storage().data_ptr()
    except Exception:
        return -1
    return place or -1


def _rows_of(units: _Units, run: Run, value: Any) -> Any:
    if isinstance(value, Proxy):
        return value.content
    return _map_parts(
        value,
        lambda part: _rows_of(units, run, part),
        lambda part: for_each(units.like_values(part), run.count),
    )


def _join_groups(units: _Units, results: list[Any], inverse: Any) -> Any:
    first = results[0]
    if isinstance(first, dict):
        return {key: _join_groups(units, [x[key] for x in results], inverse) for key in first}
    if isinstance(first, (tuple, list)):
        if len({len(x) for x in results}) > 1:
            raise Detour("results of different structure")
        parts = [_join_groups(units, list(items), inverse) for items in zip(*results, strict=True)]
        return _like_parts(first, parts)
    backend = backend_of(*results)
    index = like(inverse, first)
    if first.ndim == 1 or units.result == "row":
        return units.nest(take(backend.concat(results), index))
    lengths = np.concatenate([np.full(x.shape[0], x.shape[1]) for x in results])
    rows = [x.reshape((x.shape[0] * x.shape[1], *x.shape[2:])) for x in results]
    return units.nest(new_ragged(backend.concat(rows), (Level.from_lengths(lengths),))[inverse])


# Each sequence.


def _run_loop(f: Function, units: _Units, kwargs: dict[str, Any]) -> Any:
    if not units.count:
        return _run_none(f, units, kwargs)
    results = []
    for i in range(units.count):
        args = [
            x if is_shared else _copy_of(x[i])
            for x, is_shared in zip(units.contents, units.is_shared, strict=True)
        ]
        try:
            results.append(f(*args, **kwargs))
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"vmap called the function for sequence {i}")
            raise
    return _join(units, results, "")


def _copy_of(x: Any) -> Any:
    """A copy of what one sequence has, which the function may write to."""
    if _is_ragged(x):
        return x.clone()
    return x.clone() if is_tensor(x) else x.copy()


def _run_none(f: Function, units: _Units, kwargs: dict[str, Any]) -> Any:
    """No results, of the kind that one row of zeros gives."""
    args = [
        x if is_shared else _probe(x) for x, is_shared in zip(units.contents, units.is_shared, strict=True)
    ]
    try:
        result = f(*args, **kwargs)
    except Exception as error:
        text = "there are no sequences, and the function fails for one row of zeros, so its result is unknown"
        raise value_error("f", text) from error
    units.outer, outer = (), units.outer
    one = _join(units, [result], "")
    units.outer = outer
    return _without_rows(units, one)


def _probe(content: Any) -> Any:
    values = content._values if _is_ragged(content) else content
    rows: Any = backend_of(values).zeros(values, (1, *values.shape[1:]))
    if not _is_ragged(content):
        return rows[0]
    for _ in content._levels[1:]:
        rows = new_ragged(rows, (equal_lengths(1, 1),)) if not _is_ragged(rows) else stack([rows])
    return rows


def _without_rows(units: _Units, one: Any) -> Any:
    if isinstance(one, dict):
        return {key: _without_rows(units, part) for key, part in one.items()}
    if isinstance(one, (tuple, list)):
        return _like_parts(one, [_without_rows(units, part) for part in one])
    return units.nest(one[:0])


def _join(units: _Units, results: list[Any], place: str) -> Any:
    """What the function gave for each sequence, as one result; place says which part of it this is."""
    first = results[0]
    kind, names = type(first), _names(first)
    for i, x in enumerate(results):
        if isinstance(first, (tuple, list, dict)):
            if type(x) is not kind or _names(x) != names:
                raise _difference(place, _words(first), _words(x), i)
        else:
            if isinstance(x, (tuple, list, dict)):
                raise _difference(place, _words(first), _words(x), i)
            _check_result(x, i)
    if isinstance(first, dict):
        return {key: _join(units, [x[key] for x in results], f"{place}[{key!r}]") for key in first}
    if isinstance(first, (tuple, list)):
        columns = zip(*results, strict=True)
        return _like_parts(first, [_join(units, list(x), f"{place}[{k}]") for k, x in enumerate(columns)])
    if any(map(_is_ragged, results)):
        if not all(map(_is_ragged, results)):
            i = next(i for i, x in enumerate(results) if _is_ragged(x) != _is_ragged(first))
            raise _difference(place, _words(first), _words(results[i]), i)
        return units.nest(stack(results))
    return units.nest(_join_arrays(units, [units.like_values(x) for x in results], place))


def _join_arrays(units: _Units, arrays: list[Any], place: str) -> Any:
    first = arrays[0]
    is_row = units.result == "row"
    rest = tuple(first.shape if is_row else first.shape[1:])
    for i, x in enumerate(arrays):
        shape = tuple(x.shape if is_row else x.shape[1:])
        if x.ndim != first.ndim or shape != rest or is_tensor(x) != is_tensor(first):
            raise _difference(place, _words(first), _words(x), i)
        one_device(x, "f", first, "its first result")
    backend = backend_of(*arrays)
    if first.ndim == 0 or is_row:
        return backend.concat([x[None] for x in arrays])
    lengths = np.array([x.shape[0] for x in arrays])
    return new_ragged(backend.concat(arrays), (Level.from_lengths(lengths),))


def _names(x: Any) -> Any:
    return list(x) if isinstance(x, dict) else len(x) if isinstance(x, (tuple, list)) else None


def _words(x: Any) -> str:
    if isinstance(x, (tuple, list, dict)):
        return f"a {type(x).__name__} of {len(x)}"
    if _is_ragged(x):
        return "a Ragged"
    shape = tuple(getattr(x, "shape", ()))
    return f"an array of shape {shape}" if shape else "a number"


def _difference(place: str, first: str, other: str, row: int) -> ValueError:
    text = f"{f'part {place} of ' if place else ''}what it gives is {first} for sequence 0"
    return value_error("f", f"{text} and {other} for sequence {row}", row=row)
