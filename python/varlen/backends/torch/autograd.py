"""Verbs of the core on torch tensors: eager, under autograd, inside torch.func and torch.compile.

A verb is made of a schema, what it does with arrays, the shape it gives, and its gradient in terms of other
such verbs and of torch, so that gradients have gradients. An eager call goes straight to the core with the
Level that the caller has; an autograd function keeps that Level. Inside torch.compile the same verb is a
registered op of torch, to which a level is a tensor of offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import tracing
from varlen._core import Level
from varlen.backends.torch.memory import apply_rows, as_numpy, dtype_of, tensor_of
from varlen.tracing import TracedLevel

if TYPE_CHECKING:
    from numpy.typing import NDArray

_in_transform: Callable[[], bool] = torch._C._are_functorch_transforms_active
_is_compiling: Callable[[], bool] = torch.compiler.is_compiling
_from_numpy: Callable[[Any], torch.Tensor] = torch.from_numpy

_LEVELS = (Level, TracedLevel)


@dataclass
class SavedContext:
    """What a gradient may ask for: how many rows the first input had, what was saved, the constants.

    Examples
    --------
    >>> SavedContext(rows=3, saved=(), rest=("sum",)).rows
    3
    """

    rows: int
    saved: tuple[torch.Tensor, ...]
    rest: tuple[Any, ...]


class AutogradOp:
    """A verb on tensors, called with tensors, levels, numbers and texts as its schema says.

    Parameters
    ----------
    schema
        As `torch.library.define` takes it. The first `columns` arguments are tensors of rows; those after
        them are constants, and tensors among them are kept for the gradient. A Level may be given where the
        schema has a tensor of offsets.
    run
        The work, given and giving NumPy arrays; tensors among the constants come as arrays too. A level comes
        as a Level, or as the array of its offsets: `level_of` makes one of both.
    fake
        The results without numbers in them, given tensors without: `x.new_empty(shape)`.
    gradient
        gradient(context, d) gives the gradients of the first inputs: one tensor, or a tuple with None where
        there is none. Without it the op is not differentiable. Levels among the constants come as they were
        given: `offsets_of` makes a tensor of both.
    columns
        How many leading tensors have rows: vmap treats what it adds as one more column of them.
    saves
        Which of the leading inputs the gradient needs by number; -1 is the first output, -2 the second.
    batch
        The axes at which vmap puts its column, in what goes in and in what comes out; -1 is the last.

    Only the first of several outputs has a gradient.

    Examples
    --------
    >>> twice = AutogradOp("twice(Tensor x) -> Tensor", lambda x: x * 2, torch.empty_like, lambda c, d: 2 * d)
    >>> x = torch.ones(2, requires_grad=True)
    >>> twice(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """

    def __init__(
        self,
        schema: str,
        run: Callable[..., Any],
        fake: Callable[..., Any],
        gradient: Callable[[SavedContext, torch.Tensor], Any] | None = None,
        columns: int = 1,
        saves: tuple[int, ...] = (),
        batch: tuple[int, int] = (1, 1),
    ) -> None:
        name = "varlen::" + re.split(r"\(", schema)[0]
        torch.library.define(name, schema[schema.index("(") :])
        torch.library.impl(name, "CPU", lambda *args: _run_slow(run, args))
        torch.library.register_fake(name, fake)
        torch.library.register_autograd(
            name,
            lambda ctx, *ds: _like_inputs(ctx, _backward(self, ctx, ds[0])),
            setup_context=lambda ctx, inputs, output: _setup(self, ctx, inputs, output),
        )
        self.run = run
        self.registered = getattr(torch.ops.varlen, schema[: schema.index("(")]).default
        self.gradient = gradient or _no_gradient
        self.differentiable = gradient is not None
        self.columns = columns
        self.saves = saves
        self.batch = batch
        self._under_autograd: Callable[..., Any] = _autograd_function(self)
        self._transformed: Callable[..., Any] = _transformable_function(self)

    def __call__(self, *args: Any) -> Any:
        if _is_compiling():
            return self.registered(*map(_for_torch, args))
        if _in_transform():
            return self._transformed(*args)
        if self.differentiable and torch.is_grad_enabled():
            for x in args[: self.columns]:
                if x.requires_grad:
                    return self._under_autograd(*args)
        return self.plain(*args)

    def plain(self, *args: Any) -> Any:
        """The verb alone: what it gives has no gradient.

        Examples
        --------
        >>> op = AutogradOp("thrice(Tensor x) -> Tensor", lambda x: x * 3, torch.empty_like)
        >>> op.plain(torch.ones(2))
        tensor([3., 3.])
        """
        try:
            result = self.run(*[x.numpy() if isinstance(x, torch.Tensor) else x for x in args])
        except (RuntimeError, TypeError):
            if all(_shares_memory(x) for x in args if isinstance(x, torch.Tensor)):
                raise
            return self._indirect(*args)
        if type(result) is np.ndarray:
            return _from_numpy(result)
        if isinstance(result, tuple):
            return tuple(_from_numpy(each) for each in result)
        return _from_numpy(np.asarray(result))

    def _indirect(self, *args: Any) -> Any:
        """The verb where a tensor does not show its memory to NumPy as it is."""
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        if all(x.device.type == "cpu" for x in tensors) and not any(map(_is_fake, tensors)):
            return _run_slow(self.run, args)
        for x in tensors:
            on_cpu(x, "X")
        with torch.no_grad():
            return self.registered(*map(_for_torch, args))


def _no_gradient(context: SavedContext, d: torch.Tensor) -> None:
    return None


def _shares_memory(x: torch.Tensor) -> bool:
    """Whether `x.numpy()` gives the numbers of a tensor."""
    try:
        x.numpy()
    except (RuntimeError, TypeError):
        return False
    return True


def _is_fake(x: torch.Tensor) -> bool:
    """Whether a tensor has a shape alone, or is one of a mode that looks on."""
    return type(x) not in (torch.Tensor, torch.nn.Parameter)


def _run_slow(run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """`run` for tensors: floats that NumPy lacks, bfloat16 and those of 8 bits, go through float32."""
    first = next(x for x in args if isinstance(x, torch.Tensor))
    result = run(*(as_numbers(x) if isinstance(x, torch.Tensor) else x for x in args))
    if isinstance(result, tuple):
        return tuple(_tensor_like(array, first) for array in result)
    return _tensor_like(result, first)


def as_numbers(tensor: torch.Tensor) -> NDArray[Any]:
    """The numbers of a tensor on the CPU; shared, but for floats that NumPy lacks.

    Raises
    ------
    TypeError
        A dtype that is neither a float nor one that NumPy has: its bytes are no numbers.

    Examples
    --------
    >>> as_numbers(torch.ones(2, dtype=torch.bfloat16))
    array([1., 1.], dtype=float32)
    """
    if _is_short(tensor):
        return as_numpy(tensor.float())
    dtype_of(tensor.dtype)
    return as_numpy(tensor.contiguous())


def _is_short(x: torch.Tensor) -> bool:
    return x.dtype == torch.bfloat16 or has_no_name(x)


def _tensor_like(array: NDArray[Any], first: torch.Tensor) -> torch.Tensor:
    result = tensor_of(array)
    return result.to(first.dtype) if _is_short(first) and result.is_floating_point() else result


def _for_torch(x: Any) -> Any:
    """A constant as a registered op takes it."""
    if type(x) is tuple and x and type(x[0]) in _LEVELS:
        return [tracing.offsets_of(each) for each in x]
    return tracing.offsets_of(x)


def _setup(op: AutogradOp, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep what the gradient needs: tensors where autograd can see them, the rest beside."""
    outputs = output if isinstance(output, tuple) else (output,)
    followed = 1 if op.differentiable else 0
    if len(outputs) > followed:
        ctx.mark_non_differentiable(*outputs[followed:])
    rest = inputs[op.columns :]
    kept = [inputs[k] if k >= 0 else outputs[-1 - k] for k in op.saves]
    kept += [x for x in rest if isinstance(x, torch.Tensor)]
    if kept:
        ctx.save_for_backward(*kept)
    ctx.rest = tuple(... if isinstance(x, torch.Tensor) else x for x in rest)
    ctx.rows = inputs[0].shape[0]
    ctx.count = len(inputs)


def _backward(op: AutogradOp, ctx: Any, d: torch.Tensor) -> tuple[Any, ...]:
    count = len(op.saves)
    saved = ctx.saved_tensors
    rest = ctx.rest
    if len(saved) > count:
        tensors = iter(saved[count:])
        rest = tuple(next(tensors) if x is ... else x for x in rest)
    gradients: Any = op.gradient(SavedContext(ctx.rows, saved[:count], rest), d)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return (*gradients, *(None for _ in range(ctx.count - len(gradients))))


def _like_inputs(ctx: Any, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
    """Gradients as a registered op gives them: a list for a list of tensors, none of which has one."""
    columns = len(gradients) - len(ctx.rest)
    lists = [[None] * len(x) if _is_list_of_tensors(x) else None for x in ctx.rest]
    return (*gradients[:columns], *lists)


def _is_list_of_tensors(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], torch.Tensor)


def once(name: str) -> Callable[[SavedContext, torch.Tensor], Any]:
    """A gradient for ops that are gradients themselves and have no further one: it raises.

    Examples
    --------
    >>> once("cumprod")(SavedContext(0, (), ()), torch.ones(1))
    Traceback (most recent call last):
    NotImplementedError: cumprod: a second derivative is not among what is differentiated here
    """

    def refuse(context: SavedContext, d: torch.Tensor) -> Any:
        raise NotImplementedError(f"{name}: a second derivative is not among what is differentiated here")

    return refuse


def _autograd_function(op: AutogradOp) -> Any:
    """An autograd function around the verb alone."""

    class Eager(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            result = op.plain(*(x.detach() if isinstance(x, torch.Tensor) else x for x in args))
            _setup(op, ctx, args, result)
            return result

        @staticmethod
        def backward(ctx: Any, *ds: torch.Tensor) -> Any:
            return _backward(op, ctx, ds[0])

    return Eager.apply


def _transformable_function(op: AutogradOp) -> Any:
    """The same in the form that torch.func takes, which costs five times as much a call."""

    class Transformed(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(*args: Any) -> Any:
            return op.registered(*map(_for_torch, args))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            _setup(op, ctx, inputs, output)

        @staticmethod
        def backward(ctx: Any, *ds: torch.Tensor) -> Any:
            return _backward(op, ctx, ds[0])

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
            if any(isinstance(dim, int) for dim in in_dims[op.columns :]):
                raise NotImplementedError("lengths, offsets and other constants cannot be batched by vmap")
            at, out = op.batch
            columns = [
                _with_column(x, dim, at, info.batch_size)
                for x, dim in zip(args[: op.columns], in_dims, strict=False)
            ]
            result = op(*columns, *args[op.columns :])
            if isinstance(result, tuple):
                return result, tuple(out for _ in result)
            return result, out % result.ndim

    def run(*args: Any) -> Any:
        if op.differentiable:
            return Transformed.apply(*map(_for_torch, args))
        with torch.no_grad():
            return Transformed.apply(*map(_for_torch, args))

    return run


def _with_column(x: torch.Tensor, dim: int | None, at: int, size: int) -> torch.Tensor:
    """The batch of vmap as an axis of the rows; what is not batched repeats."""
    if dim is None:
        at %= x.ndim + 1
        return x.unsqueeze(at).expand(*x.shape[:at], size, *x.shape[at:]).contiguous()
    return x.movedim(dim, at).contiguous()


def level_of(given: Any) -> Level:
    """A level as verbs of the core take it, from one or from the array of its offsets.

    Examples
    --------
    >>> level_of(np.array([0, 2, 3]))
    Level(2 sequences, 3 rows, lengths 1 to 2)
    """
    return given if type(given) is Level else Level.from_offsets(given)


def offsets_of(level: Any) -> torch.Tensor:
    """The offsets of a level as a tensor, the form in which torch takes them; tensors stay as they are.

    Examples
    --------
    >>> offsets_of(Level([2, 1]))
    tensor([0, 2, 3])
    """
    return tensor_of(level.offsets) if type(level) is Level else level


def on_cpu(x: torch.Tensor, argument: str) -> torch.Tensor:
    """The tensor; TypeError where it lies on a device.

    Examples
    --------
    >>> on_cpu(torch.ones(1), "X")
    tensor([1.])
    """
    if x.device.type not in ("cpu", "meta"):
        raise TypeError(f"{argument}: expected a tensor on the CPU, got one on {x.device}")
    return x


def has_no_name(x: torch.Tensor) -> bool:
    """Whether NumPy has no name for the dtype, and sees the bytes alone; but for bfloat16.

    Examples
    --------
    >>> has_no_name(torch.ones(1, dtype=torch.bfloat16))
    False
    """
    return bool(x.dtype.is_floating_point and x.dtype.itemsize == 1)


def by_bytes(
    x: torch.Tensor, move: Callable[[NDArray[Any]], NDArray[Any]], argument: str = "X"
) -> torch.Tensor:
    """Rows moved as bytes: those of dtypes that have no name and no gradient.

    Examples
    --------
    >>> by_bytes(torch.tensor([1.0, 2.0]), lambda rows: rows[::-1].copy())
    tensor([2., 1.])
    """
    moved: torch.Tensor = apply_rows(on_cpu(x, argument), lambda rows: (move(rows), None))[0]
    return moved


def in_parts(x: torch.Tensor, add: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """What `add`, which moves or adds rows, makes of complex rows, whose two parts are columns to it.

    Examples
    --------
    >>> in_parts(torch.tensor([1 + 2j, 3j]), lambda rows: rows.sum(0, keepdim=True))
    tensor([1.+5.j])
    """
    if not x.is_complex():
        return add(x)
    # Where there is nothing, the way back of view_as_real may have strides that cannot be viewed.
    parts = torch.view_as_real(x.resolve_conj()) if x.numel() else torch.stack((x.real, x.imag), -1)
    result = add(parts)
    if not result.numel():  # what is empty may have strides that cannot be viewed
        return torch.complex(result[..., 0], result[..., 1])
    return torch.view_as_complex(result.contiguous())


def into(result: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    """`result`, or `out` with its numbers.

    Raises
    ------
    TypeError, ValueError
        `out` is no tensor of this dtype and shape, or autograd watches what would be written to it.

    Examples
    --------
    >>> into(torch.ones(2), torch.zeros(2))
    tensor([1., 1.])
    """
    if out is None:
        return result
    if not isinstance(out, torch.Tensor):
        raise TypeError(f"out: expected a tensor, got {type(out).__name__}")
    if (out.dtype, out.shape) != (result.dtype, result.shape):
        needed = f"{result.dtype}{tuple(result.shape)}"
        raise ValueError(f"out: needs {needed}, got {out.dtype}{tuple(out.shape)}")
    if result.requires_grad or out.requires_grad:
        raise ValueError("out: autograd watches the result; leave out away")
    return out.copy_(result)


def assign(out: Any, result: torch.Tensor) -> torch.Tensor:
    """`out` with the numbers of a result, of whose dtype and shape it has to be.

    Examples
    --------
    >>> assign(torch.zeros(2), torch.ones(2))
    tensor([1., 1.])
    """
    return into(result, out)
