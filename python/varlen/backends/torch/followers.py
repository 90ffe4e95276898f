"""Who follows what is computed of tensors, and the way that a verb has to go for them to see it.

The core reads the memory of tensors, of which nobody else knows. Where somebody has to, torch is told of the
call: autograd and torch.func by a function with a gradient, modes, tracers and subclasses by a registered op.
`_core.is_plain_tensor` and `_core.on_plain_tensors` ask at every call whether nobody does; what is here says
who, where somebody does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._subclasses.fake_tensor import is_fake
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot
from torch.overrides import _get_current_function_mode_stack
from torch.utils._device import DeviceContext
from torch.utils._python_dispatch import _disable_current_modes

from varlen import cuda
from varlen._core import is_plain_tensor, register

_PLAIN = (torch.Tensor, torch.nn.Parameter)

in_transform: Callable[[], bool] = torch._C._are_functorch_transforms_active
count_modes: Callable[[], int] = torch._C._len_torch_dispatch_stack
_has_function_modes: Callable[[], bool] = torch._C._is_torch_function_mode_enabled
_is_tracing: Callable[[], bool] = torch._C._is_tracing
_is_grad_enabled: Callable[[], bool] = torch.is_grad_enabled

register(
    load_kernels=cuda.load,
    tensor_types=_PLAIN,
    from_numpy=torch.from_numpy,
    byte_dtypes=(torch.int8, torch.uint8),
    out_of_memory=torch.cuda.OutOfMemoryError,
    call_modes=(count_modes, _has_function_modes, _is_tracing),
    in_transform=in_transform,
    is_grad_enabled=_is_grad_enabled,
    forward_ad=forward_ad,
)


class CallPath(Enum):
    """How a verb is called, by who follows its tensors."""

    CORE = "core"  # nobody looks on: the memory is read
    AUTOGRAD = "autograd"  # a function that holds the levels
    TRANSFORM = "transform"  # torch.func: a function in the form that it takes
    FORWARD_MODE = "ahead"  # derivatives in forward mode
    REGISTERED = "registered"  # modes, tracers, subclasses: the op that torch knows


def call_path(tensors: Iterable[torch.Tensor]) -> CallPath:
    """The way that a call with these tensors has to go."""
    if in_transform():
        return CallPath.TRANSFORM
    tensors = tuple(tensors)
    if forward_ad._current_level >= 0 and any(map(has_tangent, tensors)):
        return CallPath.FORWARD_MODE
    if _modes_look_on() or any(type(x) not in _PLAIN for x in tensors):
        return CallPath.REGISTERED
    if _is_grad_enabled() and any(x.requires_grad for x in tensors):
        return CallPath.AUTOGRAD
    return CallPath.CORE


def is_followed(value: Any) -> bool:
    """Whether it is a tensor that somebody follows, so that its numbers alone do not do."""
    return (
        isinstance(value, torch.Tensor)
        and not is_plain_tensor(value)
        and call_path([value]) is not CallPath.CORE
    )


def constant(x: torch.Tensor) -> torch.Tensor:
    """A tensor of numbers that no mode has seen, as modes take it: a shape alone where they have such."""
    return torch.ops.aten.lift_fresh.default(x) if count_modes() and type(x) is torch.Tensor else x


def shows_numbers(x: torch.Tensor) -> bool:
    """Whether the numbers of a tensor can be looked at: not in a transform, a graph or a shape alone."""
    return is_plain_tensor(x) or call_path([x]) not in (CallPath.TRANSFORM, CallPath.REGISTERED)


def remove_transforms(x: torch.Tensor, verb: str) -> torch.Tensor:
    """What a tensor is without transforms, for a verb whose number of rows depends on them."""
    x = _unwrap(x)
    is_batch = torch._C._functorch.is_batchedtensor(x) or is_batched(x)
    if is_batch or _is_tracing() or get_proxy_mode() is not None or type(x) not in _PLAIN:
        raise NotImplementedError(
            f"{verb}: how many rows it gives depends on the numbers, which vmap, a tracer, a shape alone "
            "and a subclass of tensors do not show"
        )
    return x


def numbers_of(x: torch.Tensor) -> Any:
    """The numbers of lengths, offsets, indices or conditions, as an array on the host."""
    if not in_transform() and not count_modes() and not _is_tracing():
        return _as_array(x)
    x = _unwrap(x)
    mode = get_proxy_mode()
    is_input = mode is not None and get_proxy_slot(x, mode.tracer, None) is not None
    if is_input or torch._C._functorch.is_batchedtensor(x) or is_fake(x):
        raise NotImplementedError(_HIDDEN)
    if _is_tracing() and _depends_on_input(torch._C._get_value_trace(x).node()):
        raise NotImplementedError(
            "lengths, offsets, indices and conditions that are inputs of torch.jit.trace would become "
            "constants of its graph: use torch.export or torch.compile"
        )
    with suspend_modes():
        return _as_array(x)


_HIDDEN = (
    "lengths, offsets, indices and conditions have to show their numbers here, which a batch of vmap, a "
    "shape alone and an input of a graph in the making do not: give them from outside, or keep to the verbs "
    "that torch.compile and torch.export can hold"
)


def _as_array(x: torch.Tensor) -> Any:
    """The numbers on the host; those of dtypes that NumPy does not have as float32."""
    x = x.detach().cpu()
    try:
        return x.numpy()
    except (RuntimeError, TypeError):
        if is_fake(x):
            raise NotImplementedError(_HIDDEN) from None
        x = x.resolve_conj().resolve_neg()
        half = torch.complex64 if x.dtype is torch.complex32 else x.dtype
        return (x.to(half) if x.is_complex() else x.float()).numpy()


def _depends_on_input(node: Any) -> bool:
    """Whether what a node of torch.jit.trace gives is an input of the graph, or computed of one."""
    nodes, queue = set(), [node]
    while queue:
        node = queue.pop()
        if node.kind() == "prim::Param":
            return True
        nodes.add(node)
        queue += [parent for value in node.inputs() if (parent := value.node()) not in nodes]
    return False


def _unwrap(x: torch.Tensor) -> torch.Tensor:
    """A tensor without the transforms around it, up to a batch of vmap."""
    while torch._C._functorch.is_functorch_wrapped_tensor(x) and not torch._C._functorch.is_batchedtensor(x):
        x = torch._C._functorch.get_unwrapped(x)
    return x


def is_batched(x: torch.Tensor) -> bool:
    """Whether it is a batch of gradients that autograd asks for at once, without torch.func."""
    result: bool = torch._C._functorch.is_legacy_batchedtensor(x)
    return result


class Batch:
    """The batch of gradients that autograd asks for at once: the innermost, where there are several."""

    def __init__(self) -> None:
        # torch tells how deep batches nest where one is opened alone.
        self._depth: int = torch._C._vmapmode_increment_nesting() - 1
        torch._C._vmapmode_decrement_nesting()

    def open(self, x: torch.Tensor) -> torch.Tensor:
        """A tensor of the batch with that as its first axis."""
        return torch._remove_batch_dim(x, self._depth, 1, 0)

    def close(self, x: torch.Tensor, axis: int) -> torch.Tensor:
        """A tensor whose axis is the batch as one of that, which lies outermost in memory."""
        return torch._add_batch_dim(x.movedim(axis, 0).contiguous(), 0, self._depth)


def constants_device(*tensors: torch.Tensor) -> contextlib.AbstractContextManager[Any]:
    """Where constants are made that a verb takes beside tensors: of shapes alone, where one of these is."""
    for x in tensors:
        mode = None if type(x) in _PLAIN else getattr(x, "fake_mode", None)
        if mode is not None:
            result: contextlib.AbstractContextManager[Any] = mode
            return result
    return contextlib.nullcontext()


def suspend_modes() -> contextlib.AbstractContextManager[Any]:
    """Where constants are made and looked at as tensors, of which no mode is to know."""
    looks_on = in_transform() or count_modes() or _has_function_modes()
    return _suspend_modes() if looks_on else contextlib.nullcontext()


@contextlib.contextmanager
def _suspend_modes() -> Any:
    with temporarily_clear_interpreter_stack(), _disable_current_modes(), torch._C.DisableTorchFunction():
        yield


def has_tangent(x: torch.Tensor) -> bool:
    """Whether a tensor has a derivative in forward mode."""
    return not is_batched(x) and forward_ad.unpack_dual(x, level=0).tangent is not None


def _modes_look_on() -> bool:
    """Whether a mode or a tracer sees every call; what only says where new tensors lie does not count."""
    if count_modes() or _is_tracing():
        return True
    return _has_function_modes() and any(
        not isinstance(mode, DeviceContext) for mode in _get_current_function_mode_stack()
    )
