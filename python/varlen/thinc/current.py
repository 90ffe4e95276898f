"""Thinc's functions that choose the current ops of a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from varlen.errors import contract_error, instance_error
from varlen.thinc.numpy_ops import NumpyOps

_current: ContextVar[NumpyOps | None] = ContextVar("varlen_thinc_ops", default=None)


def get_ops(name: str, **kwargs: Any) -> NumpyOps:
    """Make new ops by name.

    Parameters
    ----------
    name
        "cpu", "numpy" or "varlen" for `NumpyOps`, which needs no thinc; "cupy" or "varlen-cuda" for
        `VarlenCupyOps`, which needs thinc and CuPy.
    **kwargs
        Arguments of the class.

    Returns
    -------
    NumpyOps, or another class of ops
        A new object.

    Raises
    ------
    ValueError
        There is no such name.
    ImportError
        "cupy" needs thinc, which is not installed.

    Notes
    -----
    Like Thinc's `get_ops`. It does not change the ops that Thinc itself uses; `install` does.

    Examples
    --------
    >>> vl.thinc.get_ops("cpu").name
    'numpy'
    """
    if name not in _MAKE:
        raise contract_error(
            ValueError, "name", f"Invalid backend: {name}; expected one of {', '.join(_MAKE)}"
        )
    return _MAKE[name](**kwargs)


def get_current_ops() -> NumpyOps:
    """The ops of this thread, as `set_current_ops` or `use_ops` chose them; by default `NumpyOps`.

    Returns
    -------
    NumpyOps, or another class of ops
        The same object each time.

    Notes
    -----
    Like Thinc's `get_current_ops`.

    Examples
    --------
    >>> ops = vl.thinc.get_current_ops()
    >>> ops.alloc2f(7, 5).shape, ops is vl.thinc.get_current_ops()
    ((7, 5), True)
    """
    ops = _current.get()
    if ops is None:
        ops = NumpyOps()
        _current.set(ops)
    return ops


def set_current_ops(ops: NumpyOps) -> None:
    """Choose the ops of this thread. Existing models keep theirs.

    Parameters
    ----------
    ops
        An object that has Thinc's ops.

    Raises
    ------
    TypeError
        `ops` is not such an object.

    Notes
    -----
    Like Thinc's `set_current_ops`.

    Examples
    --------
    >>> vl.thinc.set_current_ops(vl.thinc.NumpyOps())
    """
    if not hasattr(ops, "xp"):
        raise instance_error("ops", "ops, such as NumpyOps", ops)
    _current.set(ops)


@contextmanager
def use_ops(name: str, **kwargs: Any) -> Iterator[None]:
    """Choose the ops of this thread inside a block.

    Parameters
    ----------
    name, **kwargs
        As in `get_ops`.

    Returns
    -------
    A context manager.

    Raises
    ------
    ValueError, ImportError
        As in `get_ops`.

    Notes
    -----
    Like Thinc's `use_ops`.

    Examples
    --------
    >>> with vl.thinc.use_ops("numpy"):
    ...     vl.thinc.get_current_ops().name
    'numpy'
    """
    old_ops = get_current_ops()
    set_current_ops(get_ops(name, **kwargs))
    try:
        yield
    finally:
        set_current_ops(old_ops)


def _cupy(**kwargs: Any) -> NumpyOps:
    import varlen.thinc

    ops: NumpyOps = varlen.thinc.VarlenCupyOps(**kwargs)
    return ops


_MAKE: dict[str, Callable[..., NumpyOps]] = {
    "cpu": NumpyOps,
    "numpy": NumpyOps,
    "varlen": NumpyOps,
    "cupy": _cupy,
    "varlen-cuda": _cupy,
}
