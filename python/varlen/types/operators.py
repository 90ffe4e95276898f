"""The operators of Python, as the ufuncs that NumPy has for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from varlen._core import RaggedBase
from varlen.types.arithmetic import operator

if TYPE_CHECKING:
    Operator = Callable[..., Any]


def _disables(other: Any) -> bool:
    """Whether an operand says, as NumPy reads it, that it alone knows what an operator means."""
    return getattr(other, "__array_ufunc__", True) is None


def _binary(name: str, ufunc: str) -> tuple[Operator, Operator, Operator]:
    """`r op x`, `x op r` and `r op= x`."""

    def forward(self: Any, other: Any) -> Any:
        return NotImplemented if _disables(other) else operator(ufunc, (self, other), {})

    def reflected(self: Any, other: Any) -> Any:
        return NotImplemented if _disables(other) else operator(ufunc, (other, self), {})

    def inplace(self: Any, other: Any) -> Any:
        return operator(ufunc, (self, other), {"out": (self,)})

    for prefix, function in (("", forward), ("r", reflected), ("i", inplace)):
        function.__name__ = f"__{prefix}{name}__"
    return forward, reflected, inplace


def _unary(name: str, ufunc: str) -> Operator:
    def run(self: Any) -> Any:
        return operator(ufunc, (self,), {})

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

    __lt__ = _binary("lt", "less")[0]
    __le__ = _binary("le", "less_equal")[0]
    __eq__ = _binary("eq", "equal")[0]
    __ne__ = _binary("ne", "not_equal")[0]
    __gt__ = _binary("gt", "greater")[0]
    __ge__ = _binary("ge", "greater_equal")[0]
    __hash__ = None  # type: ignore[assignment]

    __add__, __radd__, __iadd__ = _binary("add", "add")
    __sub__, __rsub__, __isub__ = _binary("sub", "subtract")
    __mul__, __rmul__, __imul__ = _binary("mul", "multiply")
    __matmul__, __rmatmul__, __imatmul__ = _binary("matmul", "matmul")
    __truediv__, __rtruediv__, __itruediv__ = _binary("truediv", "true_divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _binary("floordiv", "floor_divide")
    __mod__, __rmod__, __imod__ = _binary("mod", "remainder")
    __divmod__, __rdivmod__, _ = _binary("divmod", "divmod")
    __pow__, __rpow__, __ipow__ = _binary("pow", "power")
    __lshift__, __rlshift__, __ilshift__ = _binary("lshift", "left_shift")
    __rshift__, __rrshift__, __irshift__ = _binary("rshift", "right_shift")
    __and__, __rand__, __iand__ = _binary("and", "bitwise_and")
    __xor__, __rxor__, __ixor__ = _binary("xor", "bitwise_xor")
    __or__, __ror__, __ior__ = _binary("or", "bitwise_or")
    del _

    __neg__ = _unary("neg", "negative")
    __pos__ = _unary("pos", "positive")
    __abs__ = _unary("abs", "absolute")
    __invert__ = _unary("invert", "invert")
