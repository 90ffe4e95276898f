"""Containers that are no arrays: functions of NumPy and torch that get one say what to take instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from varlen.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from varlen.backends.values import DTypes


class NoArray:
    """Methods that functions of arrays look for; containers inherit them, and each raises a TypeError.

    Without them, some functions call a method of their own name with their own arguments, and others take the
    container for a single object: `np.array_equal(p, p)` is False.

    Examples
    --------
    >>> np.clip(vl.Ragged([3, 1], [2]).pack(), 0, 1)
    Traceback (most recent call last):
    TypeError: np.clip cannot take a Packed; use its .values, .steps() or .to_ragged()
    """

    __slots__ = ()
    _instead = ""  # what is an array, or computes

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> NoReturn:
        self._refuse(f"np.{func.__name__}", func.__name__)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> NoReturn:
        name = getattr(func, "__name__", str(func))
        cls._refuse(f"torch.{name}", name)

    def __array__(self, dtype: DTypes | None = None, copy: bool | None = None) -> NDArray[Any]:
        # Without this NumPy makes an array of one Python object.
        raise type_error("", f"a {type(self).__name__} is not an array", f"use its {self._instead}")

    @classmethod
    def _refuse(cls, function: str, name: str) -> NoReturn:
        method = "equals" if name.startswith("array_equ") else name
        own = f".{method}(), " if not name.startswith("_") and callable(getattr(cls, method, None)) else ""
        raise type_error("", f"{function} cannot take a {cls.__name__}", f"use its {own}{cls._instead}")
