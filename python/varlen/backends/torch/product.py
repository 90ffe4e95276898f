"""Products of the matrices of sequences, of tensors, watched by autograd."""

from __future__ import annotations

from typing import Any

import torch

from varlen.backends.blocks import Blocks, multiply_blocks
from varlen.backends.torch.arithmetic import ufunc
from varlen.backends.torch.cast import shared_dtype
from varlen.backends.torch.gather import gather
from varlen.backends.torch.memory import tensor_of


def _empty(count: int, like: torch.Tensor) -> torch.Tensor:
    return like.new_empty(count)


def _matmul(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    # torch has no products of some integers
    result: torch.Tensor = ufunc("matmul", [a, b], {} if out is None else {"out": (out,)})
    return result


class _Product(torch.autograd.Function):  # type: ignore[misc]
    """Its gradients are products of the same kind, and have gradients too."""

    @staticmethod
    def forward(a: torch.Tensor, A: Blocks, b: torch.Tensor, B: Blocks) -> torch.Tensor:
        x = a.detach()
        result: torch.Tensor = multiply_blocks(x, A, x if b is a else b.detach(), B, _empty, _matmul, gather)
        return result

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
        a, ctx.A, b, ctx.B = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx: Any, d: torch.Tensor) -> tuple[Any, ...]:
        a, b = (x.conj().resolve_conj() for x in ctx.saved_tensors)  # themselves, but of complex numbers
        A, B = ctx.A, ctx.B
        D = Blocks(A.shape[0], B.shape[1])
        d = d.contiguous()
        da = db = None
        if ctx.needs_input_grad[0]:
            blocks = B.with_transposed(not B.is_transposed)
            da = product(b, B, d, D.with_transposed(True)) if A.is_transposed else product(d, D, b, blocks)
        if ctx.needs_input_grad[2]:
            blocks = A.with_transposed(not A.is_transposed)
            db = product(d, D.with_transposed(True), a, A) if B.is_transposed else product(a, blocks, d, D)
        return da, None, db, None


def product(a: torch.Tensor, A: Blocks, b: torch.Tensor, B: Blocks) -> torch.Tensor:
    """The products of matrices that lie end to end."""
    result: torch.Tensor = _Product.apply(a, A, b, B)
    return result


def promote_pair(a: Any, b: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Both as tensors of one dtype, on the device of the first."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.dtype is b.dtype:
        return a, b
    device = a.device if isinstance(a, torch.Tensor) else b.device
    x, y = (t if isinstance(t, torch.Tensor) else tensor_of(t).to(device) for t in (a, b))
    dtype = shared_dtype(x.dtype, y.dtype)
    return x.to(dtype), y.to(dtype)
