"""What stands for each sequence while a function runs once over the values of all of them.

A Proxy holds what the function would have of one sequence, for every sequence: a Ragged of one level, where
the first axis is that of the sequence, or an array with a row for each, where it has no such axis. What works
on each number goes to the values as they lie; what goes along the sequence is a verb. Anything else is a
Detour: the function runs another way, so an answer is never another one than that of a plain loop.
"""

from __future__ import annotations

import dis
import functools
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from varlen import tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import check_step
from varlen.backends import backend_of
from varlen.backends.values import broadcast_rows, is_array, is_tensor
from varlen.levels import equal_lengths
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.outputs import new_ragged

Function = Callable[..., Any]

_NUMBERS = (bool, int, float, complex)
_ENDS = {int, type(None)}  # of slices
_LARGEST = 2**53

# Names in a function that asks for a class; torch's core asks too, in the name of one that does not.
_ASKS = {"isinstance", "_abc_instancecheck", "__class__"}
_MATCH = dis.opmap.get("MATCH_CLASS")

#: What functions of NumPy and torch do with proxies; `proxy_functions` fills it.
DISPATCH: dict[str, Function] = {}


class Detour(Exception):
    """A function did what cannot run over all sequences at once; `reason` says what."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Run:
    """A call of a function for all sequences at once, and why it cannot be one."""

    __slots__ = ("count", "is_torch", "reason", "values")

    def __init__(self, values: Any, count: Any) -> None:
        self.values, self.count, self.reason = values, count, ""
        self.is_torch = is_tensor(values)

    def leave(self, reason: str) -> NoReturn:
        """Say why, also where the function catches the error."""
        self.reason = self.reason or reason
        raise Detour(reason)

    def keep(self, error: Exception) -> None:
        """Keep an error of all sequences, which the function may catch while a sequence alone has none."""
        self.reason = self.reason or f"what raises {type(error).__name__} for all at once"

    def wrap(self, content: Any, is_weak: bool = False) -> Any:
        """What stands for each sequence: content is a Ragged, or an array with a row for each."""
        kind = Proxy if tracing.is_tracing() else TensorProxy if self.is_torch else ArrayProxy
        return kind(self, content, is_weak)


def door(call: Function) -> Function:
    """A method of a proxy: errors are kept, so that a function that catches them runs another way."""

    @functools.wraps(call)
    def run(self: Proxy, *args: Any, **kwargs: Any) -> Any:
        try:
            return call(self, *args, **kwargs)
        except Exception as error:
            self.run.keep(error)
            raise

    return run


def proxies_in(x: Any) -> Iterable[Proxy]:
    """The proxies among arguments, inside lists and tuples too."""
    if isinstance(x, Proxy):
        return [x]
    items = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    return [proxy for item in items for proxy in proxies_in(item)]


# The operands of a function of each number, as arrays that broadcast.


def _direct_result(run: Run, func: Function, args: Any) -> Any:
    """The same for a sequence that comes first, where nothing is to be asked; None where something is.

    It stands alone, or beside a number of Python, a sequence of the same level and dtype, or a number of the
    same dtype for each sequence.
    """
    first: Any = args[0]
    content: Any = first.content if isinstance(first, Proxy) and first.run is run else None
    if not isinstance(content, RaggedBase) or len(args) > 2 or tracing.is_tracing():
        return None
    values = content._values
    if len(args) == 1:
        rows = func(values)
    elif type(args[1]) in (int, float):
        rows = func(values, args[1])
    else:
        second: Any = args[1]
        if (
            not isinstance(second, Proxy)
            or second.is_weak
            or second.run is not run
            or second.dtype != values.dtype
        ):
            return None
        other: Any = second.content
        if isinstance(other, RaggedBase):
            if other._levels[0] is not content._levels[0] or other._values.ndim != values.ndim:
                return None
            rows = func(values, other._values)
        elif values.ndim == other.ndim == 1:
            rows = func(values, broadcast_rows(other, content._levels[0]))
        else:
            return None
    if isinstance(rows, tuple):
        return tuple(run.wrap(content._make(part, content._levels)) for part in rows)
    return run.wrap(content._make(rows, content._levels))


def each_number(run: Run, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of each number, on values as they lie."""
    if not kwargs and (short := _direct_result(run, func, args)) is not None:
        return short
    level, operands = operands_of(run, (*args, *kwargs.values()))
    names = dict(zip(kwargs, operands[len(args) :], strict=True))
    result = func(*operands[: len(args)], **names)
    if isinstance(result, tuple):
        return tuple(_like_rows(run, part, level) for part in result)
    return _like_rows(run, result, level)


def _like_rows(run: Run, rows: Any, level: Level | None) -> Any:
    return run.wrap(rows if level is None else new_ragged(rows, (level,)))


def operands_of(run: Run, items: Sequence[Any]) -> tuple[Level | None, list[Any]]:
    """The level of what is a sequence among operands, and arrays that broadcast as each sequence's would."""
    proxies = [x for x in items if isinstance(x, Proxy)]
    if any(x.run is not run for x in proxies):
        run.leave("sequences of two calls of vmap in one operation")
    model = next((x.content for x in proxies if isinstance(x.content, RaggedBase)), None)
    for x in proxies:
        rows = x.content
        if model is None or rows is model or not isinstance(rows, RaggedBase):
            continue
        if rows._values.ndim != model._values.ndim:
            run.leave("sequences whose rows have different numbers of axes in one operation")
        if not _same_level(rows._levels[0], model._levels[0]):
            run.leave("sequences of different lengths in one operation")
    plain = [x for x in items if not isinstance(x, Proxy) and _is_plain_array(run, x)]
    if model is not None:
        axes = model._values.ndim - 1
    else:
        axes = max([*(x.ndim for x in proxies), *(x.ndim for x in plain)])
    kinds = [x.content for x in proxies if not x.is_weak] + plain
    if run.is_torch:
        _check_promotion(run, proxies, plain, axes, model is None)
    level = None if model is None else model._levels[0]
    return level, [_operand(run, x, level, axes, kinds) for x in items]


def _same_level(a: Any, b: Any) -> bool:
    return a is b or (tracing.is_tracing() and tracing.same_levels((a,), (b,))) or a == b


def _is_plain_array(run: Run, x: Any) -> bool:
    """Whether an operand is an array that all sequences share; what could mean something else is a detour."""
    if isinstance(x, RaggedBase):
        run.leave("another Ragged in an operation")
    if isinstance(x, (list, tuple)):
        run.leave("a list in an operation")
    if isinstance(x, _NUMBERS) or not (is_array(x) or isinstance(x, np.generic)):
        return False
    if is_tensor(x) != run.is_torch:
        run.leave("arrays of two libraries in one operation")
    return True


def _operand(run: Run, x: Any, level: Level | None, axes: int, kinds: list[Any]) -> Any:
    if not isinstance(x, Proxy):
        if level is None or not is_array(x) or x.ndim <= axes:
            return x
        if x.ndim == axes + 1 and x.shape[0] == 1:
            return x
        run.leave("an array beside a sequence, along its axis")
    content = x.content
    if isinstance(content, RaggedBase):
        return content._values
    if x.is_weak:
        content = _strong(run, content, kinds)
    shape = tuple(content.shape)
    if level is not None and len(shape) == axes + 2 and shape[1] == 1:
        shape = (shape[0], *shape[2:])
    if len(shape) - 1 > axes:
        run.leave("an array for each sequence beside it, along its axis")
    content = content.reshape((shape[0], *(1,) * (axes + 1 - len(shape)), *shape[1:]))
    return content if level is None else broadcast_rows(content, level)


def _strong(run: Run, numbers: Any, kinds: list[Any]) -> Any:
    """Numbers of Python, one for each sequence, in the dtype that they take beside arrays."""
    if not kinds:
        return numbers
    dtype = kinds[0].dtype
    if any(x.dtype != dtype for x in kinds[1:]):
        run.leave("a length beside arrays of different dtypes")
    if run.is_torch:
        kind: Any = dtype if "bool" not in str(dtype) else numbers.dtype
        if numbers.is_floating_point() and not (kind.is_floating_point or kind.is_complex):
            import torch

            kind = torch.get_default_dtype()
        is_narrow = not (kind.is_floating_point or kind.is_complex) and kind.itemsize < 4
        result = numbers.to(kind)
    else:
        kind = np.result_type(dtype, 1.0 if numbers.dtype.kind == "f" else 1)
        is_narrow = kind.kind in "iu" and kind.itemsize < 8 and numbers.max(initial=0) > np.iinfo(kind).max
        is_narrow = is_narrow or (kind.kind == "u" and numbers.min(initial=0) < 0)
        result = numbers.astype(kind)
    if is_narrow:
        run.leave("a length that may not fit the dtype beside it")
    return result


def _check_promotion(run: Run, proxies: list[Proxy], plain: list[Any], axes: int, is_alone: bool) -> None:
    """Leave where torch would give another dtype, as it does for tensors without axes beside others."""
    contents = [(x.content, x.ndim) for x in proxies if not x.is_weak] + [(x, x.ndim) for x in plain]
    kinds = [(x.dtype, ndim) for x, ndim in contents if "bool" not in str(x.dtype)]
    if all(dtype == kinds[0][0] for dtype, _ in kinds):
        return
    has_axes = {bool(ndim) for _, ndim in kinds}
    if len(has_axes) == 1 and (True in has_axes or not plain):
        return
    is_alike = {(dtype.is_floating_point, dtype.is_complex) for dtype, _ in kinds}
    if len(is_alike) < len({dtype for dtype, _ in kinds}) or any(dtype.is_complex for dtype, _ in kinds):
        run.leave("tensors of different dtypes, some without axes")


# Indices.


def item(x: Proxy, key: Any) -> Any:
    """`x[key]` for each sequence."""
    run, content = x.run, x.content
    if isinstance(key, Proxy):
        return _by_proxy(run, x, key)
    if isinstance(content, RaggedBase) and (type(key) is int or _is_plain_slice(key)):
        return run.wrap(content[:, key])
    keys = key if isinstance(key, tuple) else (key,)
    if isinstance(keys[0], list) and len(keys) == 1 and all(type(i) is int for i in key):
        keys = (backend_of(_rows(content)).like(np.array(key, np.int64), _rows(content)),)
    for one in keys:
        _check_key(run, one)
    _check_order(run, keys)
    front = (slice(None), *keys)
    if not isinstance(content, RaggedBase):
        if x.ndim == 0:
            run.leave("an index of a number")
        if sum(is_array(one) or isinstance(one, list) for one in keys) > 1:
            run.leave("several arrays as an index")
        return run.wrap(content[front])
    if keys and any(one is None for one in keys):
        run.leave("a new axis of a sequence")
    if is_array(keys[0]) and (keys[0].ndim != 1 or "int" not in str(keys[0].dtype) or len(keys) > 1):
        run.leave("an array as an index of a sequence")
    return run.wrap(content[front])


def _is_plain_slice(key: Any) -> bool:
    """Whether it is a slice of ints without a step."""
    return type(key) is slice and key.step is None and {type(key.start), type(key.stop)} <= _ENDS


def _rows(content: Any) -> Any:
    return content._values if isinstance(content, RaggedBase) else content


def _check_key(run: Run, key: Any) -> None:
    if isinstance(key, slice):
        if any(isinstance(part, Proxy) for part in (key.start, key.stop, key.step)):
            run.leave("a slice up to a number that differs between sequences")
        check_step(key)
    elif isinstance(key, (bool, np.bool_, RaggedBase, Proxy, list)):
        run.leave(f"an index of {type(key).__name__}")


def _check_order(run: Run, keys: tuple[Any, ...]) -> None:
    """Leave where an array and an int stand apart, whose axis NumPy would put before all others."""
    places = [k for k, key in enumerate(keys) if not (isinstance(key, slice) or key is None or key is ...)]
    if any(is_array(key) for key in keys) and places[-1] - places[0] >= len(places):
        run.leave("an array and an int as indices that stand apart")


def _by_proxy(run: Run, x: Proxy, key: Proxy) -> Any:
    """Items at a mask or at places of each sequence."""
    content, places = x.content, key.content
    if not isinstance(content, RaggedBase) or key.run is not run or key.is_weak:
        run.leave("an index that differs between sequences")
    kind = str(places.dtype)
    if isinstance(places, RaggedBase):
        if places._values.ndim > 1 or not ("bool" in kind or "int" in kind):
            run.leave("an index of rows with axes")
        if "bool" in kind and not _same_level(places._levels[0], content._levels[0]):
            run.leave("a mask of another length")
        return run.wrap(content[places])
    if places.ndim > 1 or "int" not in kind or tracing.is_tracing():
        run.leave("an index that differs between sequences")
    return run.wrap(content[np.arange(run.count), backend_of(places).readable(places)])


# Numbers of Python.


def _weak(run: Run, op: Function, a: Any, b: Any) -> Any:
    """An operation of lengths and numbers of Python, whose result is a number of Python for each sequence."""
    name = op.__name__
    x, y = (z.content if isinstance(z, Proxy) else z for z in (a, b))
    if (isinstance(a, Proxy) and isinstance(b, Proxy)) or name not in ("add", "sub", "mul", "truediv"):
        run.leave(f"{name} of numbers of Python that differ between sequences")
    number = b if isinstance(a, Proxy) else a
    if (
        isinstance(number, complex)
        or not abs(number) < 2**20
        or (name == "truediv" and not isinstance(a, Proxy))
    ):
        run.leave(f"{name} of {number} and a length")
    if name == "truediv" and number == 0:
        run.leave("a length over 0")
    result = op(x, y)
    if not run.is_torch and np.abs(result).max(initial=0) >= _LARGEST:
        run.leave("a large number of Python")
    if run.is_torch:
        result = result.double() if result.is_floating_point() else result
    return run.wrap(result, True)


def _binary(op: Function, a: Any, b: Any) -> Any:
    run = (a if isinstance(a, Proxy) else b).run
    if op is operator.pow and any(isinstance(x, Proxy) and x.is_weak for x in (a, b)):
        run.leave("the power of a length")
    if all(x.is_weak if isinstance(x, Proxy) else isinstance(x, _NUMBERS) for x in (a, b)):
        return _weak(run, op, a, b)
    return each_number(run, op, (a, b), {})


def _operators(name: str) -> tuple[Function, Function, Function]:
    op = getattr(operator, name)

    @door
    def forward(self: Proxy, other: Any) -> Any:
        return _binary(op, self, other)

    @door
    def reflect(self: Proxy, other: Any) -> Any:
        return _binary(op, other, self)

    def write(self: Proxy, other: Any) -> NoReturn:
        self.run.leave(f"{name} in place")

    return forward, reflect, write


def _unary(name: str) -> Function:
    op = getattr(operator, name)

    @door
    def run(self: Proxy) -> Any:
        if self.is_weak:
            self.run.leave(f"{name} of a length")
        return each_number(self.run, op, (self,), {})

    return run


def _refusal(name: str) -> Function:
    def refuse(self: Proxy, *args: Any, **kwargs: Any) -> NoReturn:
        self.run.leave(name)

    return refuse


class Proxy:
    """What a function gets instead of one sequence, while it runs for all of them."""

    __slots__ = ("content", "is_weak", "run")

    def __init__(self, run: Run, content: Any, is_weak: bool = False) -> None:
        self.run, self.content, self.is_weak = run, content, is_weak

    @property
    def is_sequence(self) -> bool:
        """Whether the first axis is that of the sequence."""
        return isinstance(self.content, RaggedBase)

    @property
    def ndim(self) -> int:
        """The number of axes that the function sees."""
        ndim: int = self.content.ndim - 1
        return ndim

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of axes: that of the sequence stands for a number of Python for each."""
        content = self.content
        if not isinstance(content, RaggedBase):
            return tuple(content.shape[1:])
        values, level = content._values, content._levels[0]
        length = self.run.wrap(backend_of(values).level_array(level, "lengths", values), True)
        return (length, *values.shape[1:])

    @property
    def size(self) -> Any:
        """The number of entries, and the sizes of axes as a function, as torch has it."""
        if self.run.is_torch:
            return self._size
        result = 1
        for size in self.shape:
            result = size * result
        return result

    def _size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        if self.is_weak:
            self.run.leave("the dtype of a length")
        return self.content.dtype

    @property
    def device(self) -> Any:
        """The device of the numbers."""
        return _rows(self.content).device

    @property
    def requires_grad(self) -> bool:
        """Whether autograd follows the numbers."""
        return bool(_rows(self.content).requires_grad)

    @property
    def T(self) -> Any:
        """The axes in the other order."""
        content = self.content
        if self.ndim < 2:
            return self
        if isinstance(content, RaggedBase):
            self.run.leave("the transpose of a sequence")
        return self.run.wrap(content.swapaxes(1, 2) if self.ndim == 2 else self.run.leave("T of many axes"))

    def dim(self) -> int:
        """The number of axes, as torch calls it."""
        return self.ndim

    @door
    def __getitem__(self, key: Any) -> Any:
        return item(self, key)

    def __len__(self) -> int:
        if isinstance(self.content, RaggedBase) or self.ndim == 0:
            self.run.leave("len(x), which is one int; x.shape[0] is a length for each sequence")
        return int(self.content.shape[1])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.run.leave(f"x.{name}")

    @door
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return DISPATCH["ufunc"](self.run, ufunc, method, inputs, kwargs)

    @door
    def __array_function__(self, func: Function, types: Any, args: Any, kwargs: Any) -> Any:
        return DISPATCH["numpy"](self.run, func, args, kwargs)

    @classmethod
    def __torch_function__(cls, func: Function, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        options = kwargs or {}
        run = next(iter(proxies_in((*args, *options.values())))).run
        try:
            return DISPATCH["torch"](run, func, args, options)
        except Exception as error:
            run.keep(error)
            raise

    __lt__, __gt__ = _operators("lt")[0], _operators("gt")[0]
    __le__, __ge__ = _operators("le")[0], _operators("ge")[0]
    __eq__, __ne__ = _operators("eq")[0], _operators("ne")[0]
    __add__, __radd__, __iadd__ = _operators("add")
    __sub__, __rsub__, __isub__ = _operators("sub")
    __mul__, __rmul__, __imul__ = _operators("mul")
    __truediv__, __rtruediv__, __itruediv__ = _operators("truediv")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _operators("floordiv")
    __mod__, __rmod__, __imod__ = _operators("mod")
    __pow__, __rpow__, __ipow__ = _operators("pow")
    __lshift__, __rlshift__, __ilshift__ = _operators("lshift")
    __rshift__, __rrshift__, __irshift__ = _operators("rshift")
    __and__, __rand__, __iand__ = _operators("and_")
    __or__, __ror__, __ior__ = _operators("or_")
    __xor__, __rxor__, __ixor__ = _operators("xor")
    __neg__, __pos__, __abs__, __invert__ = map(_unary, ("neg", "pos", "abs", "invert"))

    @door
    def __matmul__(self, other: Any) -> Any:
        return product(self.run, self, other)

    @door
    def __rmatmul__(self, other: Any) -> Any:
        return product(self.run, other, self)

    __bool__ = _refusal("a condition on numbers, such as an if, which differs between sequences")
    __int__ = __float__ = __complex__ = __index__ = _refusal("a Python number of each sequence")
    __iter__ = _refusal("a loop over the rows of a sequence")
    __contains__ = _refusal("a search with `in`")
    __array__ = _refusal("a function that needs an array, such as np.asarray")
    __setitem__ = _refusal("a write, x[key] = value")
    __imatmul__ = _refusal("matmul in place")
    __divmod__ = __rdivmod__ = _refusal("divmod")
    __round__ = __trunc__ = __floor__ = __ceil__ = _refusal("a rounded number of Python")
    __repr__ = __str__ = __format__ = _refusal("text, as print and str make it")
    __hash__ = _refusal("a hash, as sets and keys need it")
    __copy__ = __deepcopy__ = __reduce_ex__ = _refusal("copy.copy")
    __delitem__ = _refusal("del x[key]")


def _class_for(x: Proxy, kind: type) -> type:
    """What a proxy passes for; a function that asks would get another answer than of a sequence alone."""
    frame = sys._getframe(2)
    code = frame.f_code
    is_asked = not _ASKS.isdisjoint(code.co_names) or code.co_code[frame.f_lasti] == _MATCH
    if is_asked and not frame.f_globals["__name__"].startswith("varlen."):
        x.run.leave("isinstance")
    return kind


class ArrayProxy(Proxy):
    """The proxy of an array, which passes for one; a number may be an int or a scalar of NumPy."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray if self.ndim and not self.is_weak else _class_for(self, ArrayProxy)


class TensorProxy(Proxy):
    """The proxy of a tensor. It cannot pass for one, which torch's core would read: who asks is a detour."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return _class_for(self, TensorProxy)


def product(run: Run, a: Any, b: Any) -> Any:
    """`a @ b` of each sequence: rows by a matrix or a vector that all share, or two rows of numbers."""
    x, y = (z.content if isinstance(z, Proxy) else z for z in (a, b))
    result: Any = None
    if any(not (isinstance(z, Proxy) and not z.is_weak) and not _is_plain_array(run, z) for z in (a, b)):
        run.leave("a matrix product of other things than arrays")
    if isinstance(x, RaggedBase) and isinstance(y, RaggedBase):
        if a.ndim == b.ndim == 1 and a.dtype == b.dtype and "float" in str(a.dtype):
            result = each_number(run, operator.mul, (a, b), {}).content.sum(axis=1)
    elif isinstance(x, RaggedBase):
        if not isinstance(b, Proxy) and a.ndim == 2 and y.ndim in (1, 2):
            result = same_kind(x, x._values @ y)
    elif isinstance(a, Proxy) and not isinstance(y, RaggedBase):
        is_batch = a.ndim >= 2 and b.ndim >= 2 if isinstance(b, Proxy) else a.ndim >= 1 and y.ndim in (1, 2)
        result = x @ y if is_batch else None
    if result is None:
        run.leave("a matrix product along the sequence")
    return run.wrap(result)


def as_sequence(run: Run, x: Any) -> Any:
    """An operand along the axis of the sequence, as a Ragged."""
    content = x.content if isinstance(x, Proxy) else x
    if isinstance(content, RaggedBase):
        return content
    if not isinstance(x, Proxy) and not _is_plain_array(run, x):
        run.leave("a number beside sequences")
    rows = content if isinstance(x, Proxy) else for_each(x, run.count)
    if rows.ndim < 2:
        run.leave("a number beside sequences")
    count, width = rows.shape[:2]
    return new_ragged(rows.reshape((count * width, *rows.shape[2:])), (equal_lengths(count, width),))


def for_each(x: Any, count: Any) -> Any:
    """An array that all sequences share, once for each."""
    return x[None].repeat(count, *(1,) * x.ndim) if is_tensor(x) else np.repeat(x[None], count, axis=0)
