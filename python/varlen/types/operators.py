"""The operators of Python, as the ufuncs that NumPy has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import RaggedBase
from varlen.types.arithmetic import apply

if TYPE_CHECKING:
    Operator = Callable[..., Any]


def _disables(other: Any) -> bool:
    """Whether an operand says, as NumPy reads it, that it alone knows what an operator means."""
    return getattr(other, "__array_ufunc__", True) is None


def _binary(ufunc: np.ufunc, name: str) -> tuple[Operator, Operator, Operator]:
    """`r op x`, `x op r` and `r op= x`."""
    # The name stands for the ufunc in a graph of torch.compile, which knows no ufunc of a Ragged.
    torch_name = ufunc.__name__

    def forward(self: Any, other: Any) -> Any:
        return NotImplemented if _disables(other) else apply(ufunc, "__call__", (self, other), {}, torch_name)

    def reflected(self: Any, other: Any) -> Any:
        return NotImplemented if _disables(other) else apply(ufunc, "__call__", (other, self), {}, torch_name)

    def inplace(self: Any, other: Any) -> Any:
        return apply(ufunc, "__call__", (self, other), {"out": (self,)}, torch_name)

    for prefix, function in (("", forward), ("r", reflected), ("i", inplace)):
        function.__name__ = f"__{prefix}{name}__"
    return forward, reflected, inplace


def _unary(ufunc: np.ufunc, name: str) -> Operator:
    torch_name = ufunc.__name__

    def run(self: Any) -> Any:
        return apply(ufunc, "__call__", (self,), {}, torch_name)

    run.__name__ = f"__{name}__"
    return run


class Operators(RaggedBase):
    """Methods of `varlen.Ragged`, which inherits them: what `+`, `<`, `@` and their kin do to values.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4], [2, 1])
    >>> (2 * r + 1).to_list(), (r > 1).to_list(), (-r).to_list()
    ([[7, 3], [9]], [[True, False], [True]], [[-3, -1], [-4]])
    """

    __slots__ = ()

    __lt__ = _binary(np.less, "lt")[0]
    __le__ = _binary(np.less_equal, "le")[0]
    __eq__ = _binary(np.equal, "eq")[0]
    __ne__ = _binary(np.not_equal, "ne")[0]
    __gt__ = _binary(np.greater, "gt")[0]
    __ge__ = _binary(np.greater_equal, "ge")[0]
    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__, __iadd__ = _binary(np.add, "add")
    __sub__, __rsub__, __isub__ = _binary(np.subtract, "sub")
    __mul__, __rmul__, __imul__ = _binary(np.multiply, "mul")
    __matmul__, __rmatmul__, __imatmul__ = _binary(np.matmul, "matmul")
    __truediv__, __rtruediv__, __itruediv__ = _binary(np.true_divide, "truediv")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary(np.floor_divide, "floordiv")
    __mod__, __rmod__, __imod__ = _binary(np.remainder, "mod")
    __divmod__, __rdivmod__, _ = _binary(np.divmod, "divmod")
    __pow__, __rpow__, __ipow__ = _binary(np.power, "pow")
    __lshift__, __rlshift__, __ilshift__ = _binary(np.left_shift, "lshift")
    __rshift__, __rrshift__, __irshift__ = _binary(np.right_shift, "rshift")
    __and__, __rand__, __iand__ = _binary(np.bitwise_and, "and")
    __xor__, __rxor__, __ixor__ = _binary(np.bitwise_xor, "xor")
    __or__, __ror__, __ior__ = _binary(np.bitwise_or, "or")
    del _

    __neg__ = _unary(np.negative, "neg")
    __pos__ = _unary(np.positive, "pos")
    __abs__ = _unary(np.absolute, "abs")
    __invert__ = _unary(np.invert, "invert")
