"""Running sums, products and extremes of tensors, and gradients of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_bool
from varlen.backends.torch.autograd import (
    AutogradOp,
    SavedContext,
    level_of,
    no_second_gradient,
    offsets_of,
    require_device,
    write_result,
)
from varlen.backends.torch.memory import tensor_of
from varlen.backends.torch.sums import multiply
from varlen.errors import instance_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


_UNSIGNED = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)


def _fake(x: torch.Tensor, *_: Any) -> torch.Tensor:
    """Of running sums and products."""
    kind = torch.uint64 if x.dtype in _UNSIGNED else torch.int64
    return x.new_empty(x.shape, dtype=x.dtype if x.dtype.is_floating_point else kind)


def _run(op: str) -> Any:
    def run(x: Array, offsets: Any, *flags: Any) -> Array:
        return _core.scan(op, x, offsets if type(offsets) is Level else level_of(offsets), *flags)

    return run


# The gradient of a running sum is the running sum the other way.
_sum: AutogradOp = AutogradOp(
    "cumsum(Tensor x, Tensor offsets, bool exclusive, bool reverse) -> Tensor",
    _run("sum"),
    _fake,
    lambda context, d: _sum(d, context.rest[0], context.rest[1], not context.rest[2]),
    like=lambda *_: "cumsum",
)

_prod: AutogradOp = AutogradOp(
    "cumprod(Tensor x, Tensor offsets, bool exclusive, bool reverse) -> Tensor",
    _run("prod"),
    _fake,
    lambda context, d: _prod_back(d, context.saved[0], *context.rest),
    saves=(0,),
    like=lambda *_: "cumprod",
)


_prod_back: AutogradOp = AutogradOp(
    "backprop_cumprod(Tensor d, Tensor x, Tensor offsets, bool exclusive, bool reverse) -> Tensor",
    lambda d, x, offsets, *flags: _core.backprop_cumprod(d, x, level_of(offsets), *flags),
    lambda d, *_: torch.empty_like(d),
    no_second_gradient("cumprod"),
    columns=2,
)


def _run_found(x: Array, offsets: Array, op: str, exclusive: bool, reverse: bool) -> Array:
    return _core.scan(op, x, level_of(offsets), exclusive, reverse)


def _run_extreme(x: Array, offsets: Array, op: str, exclusive: bool, reverse: bool) -> tuple[Array, Array]:
    level = level_of(offsets)
    extremes = _core.scan(op, x, level, exclusive, reverse)
    return extremes, _core.scan_which(extremes, level, exclusive, reverse)


_extreme: AutogradOp = AutogradOp(
    "cumextreme(Tensor x, Tensor offsets, str op, bool exclusive, bool reverse) -> (Tensor, Tensor)",
    _run_extreme,
    lambda x, *_: (torch.empty_like(x), x.new_empty(x.shape, dtype=torch.int64)),
    lambda context, d: _which_back(d, context.saved[0], context.rest[0]),
    saves=(-2,),
    run_first=_run_found,
)


def _gradient_of_which(context: SavedContext, d: torch.Tensor) -> Any:
    (which,), offsets = context.saved, context.rest[0]
    edges = offsets_of(offsets, d)
    starts = torch.repeat_interleave(edges[:-1], edges.diff(), output_size=which.shape[0])
    rows = starts.reshape(-1, *(1 for _ in which.shape[1:])) + which
    marks = which >= 0
    return torch.where(marks, d.gather(0, torch.where(marks, rows, 0)), 0), None


_which_back: AutogradOp = AutogradOp(
    "backprop_scan_which(Tensor d, Tensor which, Tensor offsets) -> Tensor",
    lambda d, which, offsets: _core.backprop_scan_which(d, which, level_of(offsets)),
    lambda d, *_: torch.empty_like(d),
    _gradient_of_which,
    columns=2,
    saves=(1,),
)


def others_of(x: torch.Tensor, offsets: torch.Tensor) -> tuple[torch.Tensor, Any]:
    """For each row the product of the others in its sequence, and its gradients."""
    prefixes, suffixes = (_prod(x, offsets, True, reverse) for reverse in (False, True))

    def callback(d: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = _prod_back(multiply(d, suffixes), x, offsets, True, False)
        return result + _prod_back(multiply(d, prefixes), x, offsets, True, True)

    return prefixes * suffixes, callback


def scan(
    op: str, x: torch.Tensor, level: Level, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> torch.Tensor:
    """`_core.scan` of a tensor, watched by autograd."""
    if exclusive is not False or reverse is not False:
        exclusive, reverse = as_bool(exclusive, "exclusive"), as_bool(reverse, "reverse")
    result: torch.Tensor
    if op in ("max", "min"):
        result = _extreme.first(x, level, op, exclusive, reverse)
    else:
        result = (_sum if op == "sum" else _prod)(x, level, exclusive, reverse)
    return result if out is None else write_result(result, out)


def scan_extreme(
    op: str, x: torch.Tensor, level: Level, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Running extremes of a tensor, and the rows inside the sequences that hold them."""
    extremes, which = _extreme(x, level, op, as_bool(exclusive, "exclusive"), as_bool(reverse, "reverse"))
    return write_result(extremes, out), which


def backprop_cumprod(
    d: Any, x: Any, level: Level, exclusive: bool, reverse: bool, out: Any = None
) -> torch.Tensor:
    """The gradient of running products."""
    for tensor, name in ((d, "dY"), (x, "X")):
        if not isinstance(tensor, torch.Tensor):
            raise instance_error(name, "a tensor as the other", tensor)
        require_device(tensor, name)
    return write_result(
        _prod_back(d, x, level, as_bool(exclusive, "exclusive"), as_bool(reverse, "reverse")), out
    )


def backprop_scan_which(d: torch.Tensor, which: Any, level: Level, out: Any = None) -> torch.Tensor:
    """The gradient of running extremes."""
    places = which if isinstance(which, torch.Tensor) else tensor_of(which)
    return write_result(_which_back(d, places, level), out)
