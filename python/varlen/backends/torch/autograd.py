"""Verbs of the core on torch tensors: eager, under autograd, inside torch.func and torch.compile.

A verb is made of a schema, what it does with arrays, the shape it gives, and its gradient in terms of other
such verbs and of torch, so that gradients have gradients. An eager call goes straight to the core with the
Level that the caller has; an autograd function keeps that Level. Inside torch.compile the same verb is a
registered op of torch, to which a level is a tensor of offsets.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.utils._pytree import tree_leaves

from varlen import _core, tracing
from varlen._core import DeviceArray, Level, on_plain_tensors, on_tensors
from varlen.backends.torch.cast import bits_of
from varlen.backends.torch.followers import (
    Batch,
    CallPath,
    call_path,
    constant,
    constants_device,
    has_tangent,
    in_transform,
    is_batched,
    is_followed,
)
from varlen.backends.torch.memory import as_numpy, dtype_of, refuse_watched, tensor_of
from varlen.errors import error_of, instance_error, type_error, value_error
from varlen.tracing import TracedLevel

_new: Callable[..., Any] = tuple.__new__  # a third of the time that SavedContext(...) takes
_is_compiling: Callable[[], bool] = torch.compiler.is_compiling
_HALVES = (torch.float16, torch.bfloat16)
_unwrap_if_dead: Callable[[torch.Tensor], torch.Tensor] = torch._C._functorch.unwrap_if_dead

_LEVELS = (Level, TracedLevel)
_LIBRARY = torch.library.Library("varlen", "FRAGMENT")


class SavedContext(NamedTuple):
    """What a gradient may ask for: how many rows the first input had, what was saved, the constants."""

    rows: int
    saved: tuple[torch.Tensor, ...]
    rest: tuple[Any, ...]


class AutogradOp:
    """A verb on tensors, called with tensors, levels, numbers and texts as its schema says."""

    def __init__(
        self,
        schema: str,
        run: Callable[..., Any],
        fake: Callable[..., Any],
        gradient: Callable[[SavedContext, torch.Tensor], Any] | None = None,
        columns: int = 1,
        saves: tuple[int, ...] = (),
        batch: tuple[int, int] = (1, 1),
        run_first: Callable[..., Any] | None = None,
        elsewhere: Callable[..., Any] | None = None,
        like: Callable[..., str] | None = None,
    ) -> None:
        name = "varlen::" + schema[: schema.index("(")]
        torch.library.define(name, schema[schema.index("(") :])
        torch.library.impl(name, "CPU", lambda *args: _run_slow(run, args))
        torch.library.impl(name, "CUDA", lambda *args: _run_there(run, elsewhere, args))
        torch.library.register_fake(name, fake)
        _LIBRARY.impl(name, _autograd_kernel(self), "Autograd", with_keyset=True)
        torch.library.register_vmap(name, lambda info, dims, *args: _batch(self, info, dims, args))
        self.name = schema[: schema.index("(")]
        self.run = run
        self.like = like
        self.torch_op = getattr(torch.ops.varlen, self.name).default
        self.gradient = gradient or _no_gradient
        self.differentiable = gradient is not None
        self.columns = columns
        self.saves = saves
        self.results = len(self.torch_op._schema.returns)
        self.batch = batch
        self.run_first: Callable[..., Any] = run_first or run
        # Which of the constants may be tensors.
        constants = self.torch_op._schema.arguments[columns:]
        self.tensors = tuple(
            k for k, x in enumerate(constants) if str(x.type) in ("Tensor", "Optional[Tensor]")
        )
        # A gradient that needs no tensors but its own, if a level is given as a Level.
        self.is_linear = not saves and self.tensors in ((), (0,))
        self._under_autograd: Callable[..., Any] = _autograd_function(self)
        self._first_under_autograd: Callable[..., Any] = _autograd_function(self, first=True)
        self._transform: Callable[..., Any] = _transformable_function(self)

    def __call__(self, *args: Any) -> Any:
        if self.like is not None and args[0].dtype in _HALVES:
            args = (_widen(args[0], self.like, args), *args[1:])
        if _is_compiling():
            return self.torch_op(*map(_for_torch, args))
        result = on_plain_tensors(self.run, *args)
        if result is None and self.differentiable and not in_transform():
            return self._under_autograd(*args)
        return self._record(args) if result is None or result is NotImplemented else result

    def first(self, *args: Any) -> Any:
        """The first of several outputs; the others are not made where no gradient needs them."""
        if _is_compiling():
            return self.torch_op(*map(_for_torch, args))[0]
        result = on_plain_tensors(self.run_first, *args)
        if result is None and self.differentiable and not in_transform():
            return self._first_under_autograd(*args)
        return self._record(args, first=True) if result is None or result is NotImplemented else result

    def _record(self, args: tuple[Any, ...], first: bool = False) -> Any:
        """The verb where somebody follows a tensor, or where one does not show its memory to NumPy."""
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        way = call_path(tensors)
        if way is CallPath.AUTOGRAD and self.differentiable:
            return (self._first_under_autograd if first else self._under_autograd)(*args)
        if way is CallPath.AUTOGRAD:
            result = self.plain(*args)
        elif way is CallPath.TRANSFORM:
            result = self._transform(*args)
        elif way is CallPath.FORWARD_MODE:
            result = self._forward_mode(args)
        elif way is CallPath.REGISTERED:
            result = self._by_torch(args, tensors)
        else:
            result = self._indirect(*args)
        return result[0] if first else result

    def plain(self, *args: Any) -> Any:
        """The verb alone: what it gives has no gradient."""
        result = on_tensors(self.run, *args)
        return self._indirect(*args) if result is NotImplemented else result

    def _indirect(self, *args: Any) -> Any:
        """The verb where a tensor does not show its memory to NumPy as it is."""
        tensors = [x for x in args if isinstance(x, torch.Tensor)]
        if any(map(is_batched, tensors)):
            return self._in_columns(args)
        if all(x.device.type == "cpu" for x in tensors):
            return _run_slow(self.run, args)
        with torch.no_grad():
            return self._by_torch(args, tensors)

    def _in_columns(self, args: tuple[Any, ...]) -> Any:
        """The verb on the gradients of a batch, which are a column more of the rows."""
        if any(isinstance(x, torch.Tensor) and is_batched(x) for x in args[self.columns :]):
            raise NotImplementedError(f"{self.name}: lengths, offsets and other constants cannot be batched")
        axis, out = self.batch
        batch = Batch()
        dims = [0 if is_batched(x) else None for x in args[: self.columns]]
        inputs = [x if dim is None else batch.open(x) for x, dim in zip(args, dims, strict=False)]
        size = next(x.shape[0] for x, dim in zip(inputs, dims, strict=True) if dim is not None)
        columns = [_with_column(x, dim, axis, size) for x, dim in zip(inputs, dims, strict=True)]
        result = self(*columns, *args[self.columns :])
        if isinstance(result, tuple):
            return tuple(batch.close(item, out) for item in result)
        return batch.close(result, out)

    def _by_torch(self, args: tuple[Any, ...], tensors: list[torch.Tensor]) -> Any:
        """The registered op, of which modes, tracers and subclasses are told."""
        for x in tensors:
            require_device(x, "X")
        with constants_device(*tensors):
            constants = [_constant(_for_torch(x)) for x in args[self.columns :]]
            return self.torch_op(*args[: self.columns], *constants)

    def _forward_mode(self, args: tuple[Any, ...]) -> Any:
        """The verb on dual tensors, by what it gives of the numbers and the derivative of that."""
        duals = [forward_ad.unpack_dual(x) for x in args[: self.columns]]
        primals = tuple(dual.primal for dual in duals)
        rest = tuple(
            forward_ad.unpack_dual(x).primal if isinstance(x, torch.Tensor) else x
            for x in args[self.columns :]
        )
        result = self(*primals, *rest)
        outputs = result if isinstance(result, tuple) else (result,)
        residuals = tuple(primals[k] if k >= 0 else outputs[-1 - k] for k in self.saves)
        context = SavedContext(primals[0].shape[0], residuals, rest)
        tangent = self.derivative(context, outputs[0], tuple(dual.tangent for dual in duals))
        if tangent is None:
            return result
        outputs = (forward_ad.make_dual(outputs[0], tangent), *outputs[1:])
        return outputs if isinstance(result, tuple) else outputs[0]

    def derivative(self, context: SavedContext, like: torch.Tensor, tangents: tuple[Any, ...]) -> Any:
        """The derivative of the first output, shaped as `like`, along tangents; None where there is none.

        The gradient is linear in what comes back, so that its own gradient leads ahead.
        """
        columns = [k for k, tangent in enumerate(tangents) if tangent is not None]

        def callback(d: torch.Tensor) -> tuple[torch.Tensor, ...]:
            gradients: Any = self.gradient(context, d)
            gradients = gradients if type(gradients) is tuple else (gradients,)
            return tuple(gradients[k] for k in columns)

        if not columns or not self.differentiable:
            return None
        try:
            _, pushforward = torch.func.vjp(callback, torch.zeros_like(like))
            return pushforward(tuple(tangents[k] for k in columns))[0]
        except NotImplementedError as error:
            reason = "a derivative in forward mode is not among what is differentiated here"
            raise NotImplementedError(f"{self.name}: {reason}; use reverse mode") from error


def _widen(x: torch.Tensor, like: Callable[..., str], args: tuple[Any, ...]) -> torch.Tensor:
    """Halves as float32, where torch.autocast has torch's own function compute with that."""
    device = x.device.type
    if device not in ("cpu", "cuda") or not torch.is_autocast_enabled(device):
        return x
    return x.float() if _takes_float32(like(*args), device, x.dtype) else x


def _takes_float32(name: str, device: str, dtype: torch.dtype) -> bool:
    return _found_float32(name, device, dtype)


_takes_float32._dynamo_marked_constant = True  # type: ignore[attr-defined]  # called while a graph is traced


@functools.cache
def _found_float32(name: str, device: str, dtype: torch.dtype) -> bool:
    with torch.autocast(device):
        result: torch.Tensor = getattr(torch, name)(torch.ones(2, dtype=dtype, device=device), 0)
    return result.dtype is torch.float32


def _no_gradient(context: SavedContext, d: torch.Tensor) -> None:
    return None


def _run_slow(run: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """`run` for tensors of dtypes that NumPy has no name for, and for those that do not show their memory."""
    first = next(x for x in args if isinstance(x, torch.Tensor))
    result = run(*[as_numbers(x) if isinstance(x, torch.Tensor) else x for x in args])
    if isinstance(result, tuple):
        return tuple(from_numbers(array, first) for array in result)
    return from_numbers(result, first)


def _run_there(run: Callable[..., Any], elsewhere: Callable[..., Any] | None, args: tuple[Any, ...]) -> Any:
    """`run` for tensors on a device, which the core reads there; by way of float32 for floats of 8 bits."""
    first = next(x for x in args if isinstance(x, torch.Tensor))
    wide = has_no_name(first)
    inputs = [_readable(x) if isinstance(x, torch.Tensor) else x for x in args]
    result = on_tensors(run, *inputs)
    if result is NotImplemented and elsewhere is not None:
        result = elsewhere(*inputs)
    if result is NotImplemented:
        raise type_error(
            "", f"expected numbers that the core computes with, got {first.dtype} on {first.device}"
        )
    if isinstance(result, tuple):
        return tuple(_narrow(x, first.dtype) if wide else x for x in result)
    return _narrow(result, first.dtype) if wide else result


def _readable(x: torch.Tensor) -> torch.Tensor:
    """A tensor whose memory holds its numbers, in a dtype that the core has."""
    if not has_no_name(x):
        return x.resolve_conj().resolve_neg()
    return x.to(torch.complex64) if x.is_complex() else x.float()


def _narrow(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return x.to(dtype) if x.is_floating_point() or x.is_complex() else x


def as_numbers(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor on the CPU, shared.

    Those of bfloat16 have the dtype by which the core knows them. Floats of 8 bits become float32: a copy.
    """
    if tensor.dtype is torch.bfloat16:
        bits: np.ndarray = tensor.detach().resolve_neg().view(torch.int16).numpy()
        return bits.view(_core.bfloat16)
    if tensor.dtype is torch.complex32:
        raise error_of(TypeError, "X", f"expected bool, integers or floats, got {tensor.dtype}")
    if has_no_name(tensor):
        return as_numpy(tensor.float())
    dtype_of(tensor.dtype)
    return as_numpy(tensor.contiguous())


def from_numbers(array: np.ndarray, like: torch.Tensor) -> torch.Tensor:
    """What the core made of `as_numbers`, as a tensor: floats of the dtype of `like` where NumPy has no name
    for that.
    """
    if array.dtype == _core.bfloat16:
        return tensor_of(array.view(np.int16)).view(torch.bfloat16)
    result = tensor_of(array)
    if has_no_name(like):
        return _narrow(result, like.dtype)
    return result


def in_float32(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run`, of what knows no bfloat16, by way of float32."""

    def wide(x: Any) -> Any:
        return _core.cast(x, np.float32) if _is_bfloat16(x) else x

    def run_wide(*args: Any) -> Any:
        result = run(*map(wide, args))
        if not any(map(_is_bfloat16, args)):
            return result
        if isinstance(result, tuple):
            return tuple(_core.cast(item, _core.bfloat16) for item in result)
        return _core.cast(result, _core.bfloat16)

    return run_wide


def _is_bfloat16(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == _core.bfloat16


def _for_torch(x: Any) -> Any:
    """A constant as a registered op takes it."""
    if type(x) is tuple and x and type(x[0]) in _LEVELS:
        return [tracing.offsets_of(item) for item in x]
    return tracing.offsets_of(x)


def _constant(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return constant(x)
    return [constant(item) for item in x] if _is_list_of_tensors(x) else x


def _setup(op: AutogradOp, ctx: Any, inputs: tuple[Any, ...], output: Any, first: bool = False) -> None:
    """Keep what the gradient needs: tensors where autograd can see them, the rest beside."""
    rest = inputs[op.columns :]
    ctx.rows = inputs[0].shape[0]
    ctx.rest = rest
    ctx.count = 0
    if op.is_linear and (not op.tensors or type(rest[0]) is Level):
        return
    outputs = output if isinstance(output, tuple) else (output,)
    if len(outputs) > 1 and not first:
        ctx.mark_non_differentiable(*outputs[1:])
    tensors = []
    for k in op.saves:
        tensors.append(inputs[k] if k >= 0 else outputs[-1 - k])  # noqa: PERF401  # which would be a frame
    for k in op.tensors:
        if type(rest[k]) is not Level and isinstance(rest[k], torch.Tensor):
            tensors.append(rest[k])
            ctx.rest = (*ctx.rest[:k], ..., *rest[k + 1 :])
    if tensors:
        ctx.save_for_backward(*tensors)
        ctx.count = len(tensors)


def _setup_transformed(op: AutogradOp, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """The same for torch.func, which may ask for the derivative ahead as well, and of any verb."""
    _setup(op, ctx, inputs, output)
    outputs = output if isinstance(output, tuple) else (output,)
    if not op.differentiable:
        ctx.mark_non_differentiable(*outputs)
    if ctx.count:
        ctx.save_for_forward(*ctx.to_save)
    ctx.like = outputs[0]


def _saved_context(op: AutogradOp, ctx: Any) -> SavedContext:
    rest = ctx.rest
    residuals = ctx.saved_tensors if ctx.count else ()
    if ctx.count > len(op.saves):
        tensors = iter(residuals[len(op.saves) :])
        rest = tuple(next(tensors) if x is ... else x for x in rest)
        residuals = residuals[: len(op.saves)]
    context: SavedContext = _new(SavedContext, (ctx.rows, residuals, rest))
    return context


def _backward(op: AutogradOp, ctx: Any, d: torch.Tensor) -> tuple[Any, ...]:
    gradients: Any = op.gradient(_saved_context(op, ctx), d)
    gradients = gradients if type(gradients) is tuple else (gradients,)
    return (*gradients, *(None,) * (op.columns + len(ctx.rest) - len(gradients)))


def _is_list_of_tensors(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and len(x) > 0 and isinstance(x[0], torch.Tensor)


def no_second_gradient(name: str) -> Callable[[SavedContext, torch.Tensor], Any]:
    """A gradient for ops that are gradients themselves and have no further one: it raises."""

    def refuse(context: SavedContext, d: torch.Tensor) -> Any:
        raise NotImplementedError(f"{name}: a second derivative is not supported")

    return refuse


def _autograd_function(op: AutogradOp, first: bool = False) -> Any:
    """An autograd function around the verb alone, or around the first of its outputs."""

    class Eager(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            result = op.plain(*args)
            _setup(op, ctx, args, result, first)
            return result[0] if first else result

        @staticmethod
        def backward(ctx: Any, *ds: torch.Tensor) -> Any:
            return _backward(op, ctx, ds[0])

    # What torch's own `apply` adds to that of its base takes a third of the call: it looks for transforms,
    # which are not there, and at signatures.
    apply: Callable[..., Any] = super(torch.autograd.Function, Eager).apply

    def run(x: torch.Tensor, *rest: Any) -> Any:
        return apply(_unwrap_if_dead(x), *rest)

    def run_all(*args: Any) -> Any:
        return apply(*map(_unwrap_if_dead, args[: op.columns]), *args[op.columns :])

    return run if op.columns == 1 else run_all


def _autograd_kernel(op: AutogradOp) -> Any:
    """The registered op as autograd calls it: by a function that holds its way back, inside torch.func too.

    That of torch refuses torch.func, and loses derivatives in forward mode unsaid.
    """

    class KernelFunction(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, keys: Any, *args: Any) -> Any:
            result = call_kernel(keys, args)
            _setup(op, ctx, args, result)
            return result

        @staticmethod
        def backward(ctx: Any, *ds: torch.Tensor) -> Any:
            return None, *_backward(op, ctx, ds[0])

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            raise NotImplementedError(
                f"{op.name}: a graph holds no derivative in forward mode; call torch.func.jvp outside of it, "
                "or use reverse mode"
            )

    # torch's own `apply` would hand on to torch.func, which has called this already.
    apply: Callable[..., Any] = super(torch.autograd.Function, KernelFunction).apply

    def call_kernel(keys: Any, args: tuple[Any, ...]) -> Any:
        with torch._C._AutoDispatchBelowAutograd():
            return op.torch_op.redispatch(keys & torch._C._after_autograd_keyset, *args)

    def run(keys: Any, *args: Any) -> Any:
        columns = args[: op.columns]
        backward = torch.is_grad_enabled() and any(x.requires_grad for x in columns)
        if not op.differentiable or not (backward or any(map(has_tangent, columns))):
            return call_kernel(keys, args)
        with enable_single_level_autograd_function():
            return apply(keys, *args)

    return run


def _batch(op: AutogradOp, info: Any, in_dims: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """The verb on a batch of vmap, which is a column more of the rows, and where the batch lies then."""
    if any(isinstance(dim, int) for dim in tree_leaves(in_dims[op.columns :])):
        raise NotImplementedError("lengths, offsets and other constants cannot be batched by vmap")
    axis, out = op.batch
    columns = [
        _with_column(x, dim, axis, info.batch_size)
        for x, dim in zip(args[: op.columns], in_dims, strict=False)
    ]
    result = op(*columns, *args[op.columns :])
    if isinstance(result, tuple):
        return result, tuple(out for _ in result)
    return result, out % result.ndim


def _transformable_function(op: AutogradOp) -> Any:
    """The same in the form that torch.func takes, which costs five times as much a call."""

    class TransformFunction(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(*args: Any) -> Any:
            return op.torch_op(*map(_for_torch, args))

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            _setup_transformed(op, ctx, inputs, output)

        @staticmethod
        def backward(ctx: Any, *ds: torch.Tensor) -> Any:
            return _backward(op, ctx, ds[0])

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            context = _saved_context(op, ctx)
            context = context._replace(saved=tuple(forward_ad.unpack_dual(x).primal for x in context.saved))
            tangent = op.derivative(context, ctx.like, tangents[: op.columns])
            return (tangent, *(None,) * (op.results - 1)) if op.results > 1 else tangent

        @staticmethod
        def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
            return _batch(op, info, in_dims, args)

    def run(*args: Any) -> Any:
        if op.differentiable:
            return TransformFunction.apply(*map(_for_torch, args))
        with torch.no_grad():
            return TransformFunction.apply(*map(_for_torch, args))

    return run


def _with_column(x: torch.Tensor, dim: int | None, axis: int, size: int) -> torch.Tensor:
    """The batch of vmap as an axis of the rows; what is not batched repeats."""
    if dim is None:
        axis %= x.ndim + 1
        return x.unsqueeze(axis).expand(*x.shape[:axis], size, *x.shape[axis:]).contiguous()
    return x.movedim(dim, axis).contiguous()


def level_of(value: Any) -> Level:
    """A level as verbs of the core take it, from one or from the array of its offsets; those on a device are
    copied from there.
    """
    if type(value) is Level:
        return value
    return Level.from_offsets(as_numpy(value.owner.cpu()) if type(value) is DeviceArray else value)


def offsets_of(level: Any, model: torch.Tensor) -> torch.Tensor:
    """The offsets of a level as a tensor on the device of another."""
    if type(level) is Level and not level.is_on_host:
        lengths: Any = on_tensors(_core.level_numbers, level, "lengths", model.detach())
        if lengths is not NotImplemented and not isinstance(lengths, np.ndarray):
            return torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
    offsets = tensor_of(level.offsets) if type(level) is Level else level
    return offsets if offsets.device == model.device else offsets.to(model.device)


def require_device(x: torch.Tensor, argument: str) -> torch.Tensor:
    """The tensor; TypeError where it lies on a device that there are no kernels for."""
    if x.device.type not in ("cpu", "cuda", "meta"):
        raise type_error(argument, f"expected a tensor on the CPU or a CUDA device, got one on {x.device}")
    return x


# The dtypes of floats that NumPy has no name for, and sees the bytes of alone; but for bfloat16.
NAMELESS = frozenset(
    dtype
    for dtype in vars(torch).values()
    if isinstance(dtype, torch.dtype)
    and (dtype is torch.complex32 or (dtype.is_floating_point and dtype.itemsize == 1))
)


def has_no_name(x: torch.Tensor) -> bool:
    """Whether NumPy has no name for the dtype, and sees the bytes alone; but for bfloat16."""
    # torch follows the gradient of complex32, which the bytes would lose.
    return x.dtype in NAMELESS and not (x.dtype is torch.complex32 and is_followed(x))


def by_bytes(x: torch.Tensor, move: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """What `move`, which only moves rows, makes of the bytes of a dtype that has no name and no gradient."""
    return move(x.view(bits_of(x.dtype))).view(x.dtype)


def in_parts(x: torch.Tensor, add: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    """What `add`, which moves or adds rows, makes of complex rows, whose two parts are columns to it."""
    if not x.is_complex():
        return add(x)
    # Where there is nothing, the way back of view_as_real may have strides that cannot be viewed.
    parts = torch.view_as_real(x.resolve_conj()) if x.numel() else torch.stack((x.real, x.imag), -1)
    result = add(parts)
    if not result.numel():  # what is empty may have strides that cannot be viewed
        return torch.complex(result[..., 0], result[..., 1])
    return torch.view_as_complex(result.contiguous())


def write_result(result: torch.Tensor, out: torch.Tensor | None) -> torch.Tensor:
    """`result`, or `out` with its numbers."""
    if out is None:
        return result
    if not isinstance(out, torch.Tensor):
        raise instance_error("out", "a tensor", out)
    if (out.dtype, out.shape) != (result.dtype, result.shape):
        layout = f"{result.dtype}{tuple(result.shape)}"
        raise value_error("out", f"needs {layout}, got {out.dtype}{tuple(out.shape)}")
    refuse_watched(out, result)
    return out.copy_(result)


def assign(out: Any, result: torch.Tensor) -> torch.Tensor:
    """`out` with the numbers of a result, of whose dtype and shape it has to be."""
    return write_result(result, out)
