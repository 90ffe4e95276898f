"""Layers that no graph can hold as they are: a registered op each, which runs the layer as outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from varlen import tracing
from varlen._core import Level
from varlen.backends.torch.autograd import level_of, no_second_gradient
from varlen.backends.torch.memory import tensor_of
from varlen.backends.torch.tracing import fake_offsets
from varlen.tracing import TracedLevel

Tensors = Sequence[torch.Tensor]
Run = Callable[..., Sequence[Any]]

_NO_STATE = torch.empty(0, dtype=torch.uint8)
_BELOW_AUTOGRAD = torch._C.DispatchKey.AutogradFunctionality


class LayerOp:
    """A layer of tensors, levels and options; its gradient runs it again, with the same random numbers.

    `run(inputs, levels, *options)` gives tensors; where the layer nests, rows, their level, and further rows
    of integers. `fake(inputs, offsets, *options)` gives tensors of their shapes; where it nests, the shapes
    of a row of each. `casts`: whether torch.autocast casts the inputs. `draws`: whether options ask for
    random numbers. `backprop(ds, marks, results, inputs, levels, *options)`: a shorter way to the gradients
    of the marked inputs, or None where there is none.
    """

    def __init__(
        self,
        name: str,
        options: str,
        run: Run,
        fake: Callable[..., Any],
        nests: bool = False,
        casts: bool = True,
        draws: Callable[..., bool] = lambda *options: False,
        backprop: Callable[..., Any] | None = None,
    ) -> None:
        self.run, self.fake, self.nests, self.casts, self.draws = run, fake, nests, casts, draws
        self.backprop = backprop
        inputs = f"Tensor[] inputs, Tensor[] offsets, {options}"
        self._register(name, f"({inputs}) -> Tensor[]", self._forward, self._fake)
        self._register(
            f"{name}_back", f"(Tensor[] ds, bool[] marks, Tensor[] results, {inputs}) -> Tensor[]",
            self._backward, _fake_back,
        )  # fmt: skip
        self.op = getattr(torch.ops.varlen, name).default
        self.gradient_op = getattr(torch.ops.varlen, f"{name}_back").default
        torch.library.register_autograd(f"varlen::{name}", self._gradient, setup_context=self._keep)
        torch.library.register_autograd(f"varlen::{name}_back", no_second_gradient(name))

    def __call__(self, inputs: Tensors, levels: Sequence[Any], *options: Any) -> Any:
        """What the layer gives, in a graph and outside."""
        if not tracing.is_tracing():
            return self.run(inputs, levels, *options)
        device = inputs[0].device.type
        if self.casts and torch.is_autocast_enabled(device):  # the op itself runs outside of autocast
            dtype = torch.get_autocast_dtype(device)
            inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
        *results, _ = self.op(inputs, [tracing.offsets_of(level) for level in levels], *options)
        if self.nests:
            results[1] = TracedLevel(results[1], results[0].shape[0])
        return results

    @staticmethod
    def _register(name: str, schema: str, run: Callable[..., Any], fake: Callable[..., Any]) -> None:
        torch.library.define(f"varlen::{name}", schema, tags=(torch.Tag.nondeterministic_seeded,))
        for kind in ("CPU", "CUDA"):
            torch.library.impl(f"varlen::{name}", kind, run)
        torch.library.register_fake(f"varlen::{name}", fake)

    def _forward(self, inputs: Tensors, offsets: Tensors, *options: Any) -> list[torch.Tensor]:
        state = _random_state(inputs[0]) if self.draws(*options) else _NO_STATE.clone()
        with torch.no_grad():
            results = self.run(inputs, _levels_of(offsets), *options)
        tensors = [tensor_of(y.offsets.copy()) if type(y) is Level else y.contiguous() for y in results]
        return [*tensors, state]

    def _fake(self, inputs: Tensors, offsets: Tensors, *options: Any) -> list[torch.Tensor]:
        size = (16 if inputs[0].is_cuda else 5056) if self.draws(*options) else 0
        results = self.fake(inputs, offsets, *options)
        if self.nests:
            count = torch.library.get_ctx().new_dynamic_size()
            rows, *numbers = (inputs[0].new_empty((count, *shape)) for shape in results)
            level = fake_offsets(offsets[-1], offsets[-1].shape[0])
            results = [rows, level, *(item.long() for item in numbers)]
        return [*results, torch.empty(size, dtype=torch.uint8)]

    def _backward(
        self, ds: Tensors, marks: Sequence[bool], results: Tensors, inputs: Tensors, offsets: Tensors,
        *options: Any,
    ) -> list[torch.Tensor]:  # fmt: skip
        levels = _levels_of(offsets)
        gradients = self.backprop and self.backprop(ds, marks, results, inputs, levels, *options)
        if gradients is not None:
            return list(gradients)
        # Results of an op are nobody's views, and lie as its fake ones.
        others = self._run_again(ds, marks, results[-1], inputs, levels, options)
        return [x.clone(memory_format=torch.contiguous_format) for x in others]

    def _run_again(
        self, ds: Tensors, marks: Sequence[bool], state: torch.Tensor, inputs: Tensors, levels: list[Level],
        options: tuple[Any, ...],
    ) -> Any:  # fmt: skip
        """The gradients of the marked inputs, from autograd."""
        devices = [inputs[0].device] if inputs[0].is_cuda else []
        with (
            torch._C._SetExcludeDispatchKeyGuard(_BELOW_AUTOGRAD, False),
            torch.enable_grad(),
            torch.random.fork_rng(devices, enabled=self.draws(*options)),
        ):
            if self.draws(*options):
                _set_random_state(inputs[0], state)
            leaves = [x.detach().requires_grad_(mark) for x, mark in zip(inputs, marks, strict=True)]
            results = self.run(leaves, levels, *options)
            floats = [y for y in results if type(y) is not Level and y.is_floating_point()]
            sources = [x for x in leaves if x.requires_grad]
            pairs = [(y, d) for y, d in zip(floats, ds, strict=True) if y.requires_grad]
            if not pairs:
                return map(torch.zeros_like, sources)
            return torch.autograd.grad(
                [y for y, _ in pairs], sources, [d for _, d in pairs], materialize_grads=True
            )

    def _keep(self, ctx: Any, inputs: tuple[Any, ...], output: Tensors) -> None:
        """Keep what the gradient needs: the results too, if there is a shorter way."""
        tensors, offsets, *ctx.options = inputs
        ctx.counts = len(tensors), len(offsets)
        ctx.floats = [y.is_floating_point() for y in output]
        ctx.save_for_backward(*tensors, *offsets, *(output if self.backprop else output[-1:]))

    def _gradient(self, ctx: Any, ds: Any) -> Any:
        count, depth = ctx.counts
        tensors = ctx.saved_tensors
        inputs, offsets, results = tensors[:count], tensors[count : count + depth], tensors[count + depth :]
        floats = [d for d, is_float in zip(ds, ctx.floats, strict=True) if is_float]
        marks = list(ctx.needs_input_grad[0])
        gradients = iter(self.gradient_op(floats, marks, results, inputs, offsets, *ctx.options))
        others = [None] * depth, *(None for _ in ctx.options)
        return [next(gradients) if mark else None for mark in marks], *others


def _fake_back(
    ds: Tensors, marks: Sequence[bool], results: Tensors, inputs: Tensors, *_: Any
) -> list[torch.Tensor]:
    return [x.new_empty(x.shape) for x, mark in zip(inputs, marks, strict=True) if mark]


def _levels_of(offsets: Tensors) -> list[Level]:
    return [level_of(x.cpu().numpy()) for x in offsets]


def _random_state(x: torch.Tensor) -> torch.Tensor:
    """The state of the random numbers of a tensor's device."""
    return torch.cuda.get_rng_state(x.device) if x.is_cuda else torch.get_rng_state()


def _set_random_state(x: torch.Tensor, state: torch.Tensor) -> None:
    if x.is_cuda:
        torch.cuda.set_rng_state(state, x.device)
    else:
        torch.set_rng_state(state)
