"""Sums of products of tensors by letters, watched by autograd: their gradients are such sums too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen import _core
from varlen._core import DeviceArray
from varlen.backends.equation import Equation, equation_of
from varlen.backends.padded import padded_einsum
from varlen.backends.torch.autograd import AutogradOp, write_result
from varlen.backends.torch.cast import has_bits_alone, pick
from varlen.backends.torch.followers import in_transform
from varlen.backends.torch.gather import gather
from varlen.backends.torch.pad import levels_of, pad, unpad
from varlen.errors import type_error

if TYPE_CHECKING:
    from varlen.backends.torch.autograd import SavedContext
    from varlen.levels import Levels


def _with_columns(text: str, extents: Any, x: Any) -> tuple[str, list[int]]:
    """The equation and its extents where vmap has given all arrays one more axis, the last one."""
    equation = equation_of(text)
    if x.ndim == equation.ndim(equation.terms[0]):
        return text, list(extents)
    return equation.with_column().text, [*extents, x.shape[-1]]


def _run_pair(a: Any, b: Any, offsets: Any, text: str, extents: Any, rows: Any) -> Any:
    if type(a) is DeviceArray or type(b) is DeviceArray:
        return NotImplemented
    text, sizes = _with_columns(text, extents, a)
    return _core.einsum(text, a, b, levels_of(offsets), sizes)


def _run_one(a: Any, offsets: Any, text: str, extents: Any, rows: Any) -> Any:
    if type(a) is DeviceArray:
        return NotImplemented
    text, sizes = _with_columns(text, extents, a)
    return _core.einsum(text, a, None, levels_of(offsets), sizes)


def _fake(a: torch.Tensor, text: str, offsets: Any, extents: Any, rows: Any) -> torch.Tensor:
    equation = equation_of(text)
    sizes = dict(zip(equation.fixed_letters, extents, strict=True))
    if equation.ragged:
        sizes[equation.ragged[0]] = offsets[0].shape[0] - 1
    prefix = equation.prefix(equation.out)
    shape = [*([rows] if prefix else []), *(sizes[letter] for letter in equation.out[prefix:])]
    columns = a.shape[-1:] if a.ndim > equation.ndim(equation.terms[0]) else ()
    return a.new_empty((*shape, *columns))


def _is_wanted(x: torch.Tensor) -> bool:
    """Whether somebody asks for the gradient of an operand, which costs as much as the product."""
    return x.requires_grad or in_transform() or torch.compiler.is_compiling()


def _gradient_of_pair(context: SavedContext, d: torch.Tensor) -> tuple[Any, Any]:
    (a, b), (offsets, text, extents, _) = context.saved, context.rest
    equation = equation_of(text)
    first, second = equation.terms
    d = d.contiguous()
    da = db = None
    if _is_wanted(a):
        d_text = equation.swap_terms(equation.out, second, first).text
        da = _pair(d, b.conj().resolve_conj(), offsets, d_text, extents, a.shape[0])
    if _is_wanted(b):
        d_text = equation.swap_terms(first, equation.out, second).text
        db = _pair(a.conj().resolve_conj(), d, offsets, d_text, extents, b.shape[0])
    return da, db


def _gradient_of_one(context: SavedContext, d: torch.Tensor) -> torch.Tensor:
    offsets, text, extents, _ = context.rest
    equation = equation_of(text)
    d_text = equation.swap_terms(equation.out, equation.terms[0]).text
    result: torch.Tensor = _one(d.contiguous(), offsets, d_text, extents, context.rows)
    return result


class _Tensors:
    """What padded blocks are made with."""

    @staticmethod
    def pad(x: torch.Tensor, levels: Any, sizes: list[int]) -> torch.Tensor:
        block: torch.Tensor = pad(x, levels, sizes=sizes)
        return block

    @staticmethod
    def unpad(block: torch.Tensor, levels: Any) -> torch.Tensor:
        return unpad(block, levels)

    @staticmethod
    def gather(x: torch.Tensor, levels: Any, index: Any) -> torch.Tensor:
        return gather(x, levels, index)[0]

    @staticmethod
    def take(x: torch.Tensor, index: Any, axis: int) -> torch.Tensor:
        return pick(x, torch.from_numpy(index).to(x.device), axis)

    @staticmethod
    def ones(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
        return x.new_ones(shape)

    einsum = staticmethod(torch.einsum)
    concat = staticmethod(torch.cat)


def _by_blocks(values: list[torch.Tensor], offsets: Any, text: str, extents: Any) -> torch.Tensor:
    for x in values:
        if not (x.is_floating_point() or x.is_complex()):
            raise type_error("operands", f"expected floats or complex numbers on {x.device}, got {x.dtype}")
    text, sizes = _with_columns(text, extents, values[0])
    levels = levels_of(offsets)
    result: torch.Tensor = padded_einsum(_Tensors, equation_of(text), values, levels, sizes)
    return result.contiguous()


_pair: AutogradOp = AutogradOp(
    "einsum_pair(Tensor a, Tensor b, Tensor[] offsets, str equation, SymInt[] extents, SymInt rows)"
    " -> Tensor",
    _run_pair,
    lambda a, b, offsets, text, extents, rows: _fake(a, text, offsets, extents, rows),
    _gradient_of_pair,
    columns=2,
    saves=(0, 1),
    batch=(-1, -1),
    elsewhere=lambda a, b, offsets, text, extents, rows: _by_blocks([a, b], offsets, text, extents),
)
_one: AutogradOp = AutogradOp(
    "einsum_one(Tensor a, Tensor[] offsets, str equation, SymInt[] extents, SymInt rows) -> Tensor",
    _run_one,
    lambda a, offsets, text, extents, rows: _fake(a, text, offsets, extents, rows),
    _gradient_of_one,
    batch=(-1, -1),
    elsewhere=lambda a, offsets, text, extents, rows: _by_blocks([a], offsets, text, extents),
)


def einsum(
    equation: Equation,
    values: list[torch.Tensor],
    levels: Levels,
    extents: tuple[int, ...],
    out: Any = None,
) -> torch.Tensor:
    """The sum of products of one or two tensors; floats below 32 bits are computed in float32."""
    dtype = values[0].dtype
    if dtype.is_floating_point and dtype.itemsize < 4:
        wide = einsum(equation, [x.float() for x in values], levels, extents)
        return write_result(wide.to(dtype), out)
    if not levels and not (dtype is torch.bool or has_bits_alone(dtype)):
        letters = f"{','.join(equation.terms)}->{equation.out}"
        return write_result(torch.einsum(letters, *values), out)
    if "" in (*equation.terms, equation.out):
        return write_result(_scalar_einsum(equation, values, levels, extents), out)
    operands = [x.contiguous() for x in values]
    run = _one if len(operands) == 1 else _pair
    return write_result(run(*operands, levels, equation.text, extents, equation.rows(levels, extents)), out)


def _scalar_einsum(
    equation: Equation, values: list[torch.Tensor], levels: Levels, extents: tuple[int, ...]
) -> torch.Tensor:
    """The same where a term has no letters: it gets one, of an axis of 1, and so does one that has some."""
    terms = [term or "!" for term in (*equation.terms, equation.out)]
    operands = [x.reshape(1) if x.ndim == 0 else x for x in values]
    if terms.count("!") == 1:
        k = next(k for k, term in enumerate(terms) if term != "!")
        terms[k] += "!"
        operands[k] = operands[k].unsqueeze(-1)
    full_equation = Equation(tuple(terms[:-1]), terms[-1], equation.ragged, equation.fixed_letters + "!")
    result = einsum(full_equation, operands, levels, (*extents, 1))
    return result.reshape(()) if equation.out == "" else result
