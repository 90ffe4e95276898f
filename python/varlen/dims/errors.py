"""Errors about dims."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from varlen.errors import name_place

Given = ParamSpec("Given")
Found = TypeVar("Found")


class LengthMismatchError(ValueError):
    """Lengths differ that must be equal; the message names the row.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 0, 2])
    >>> time + time.bind([3, 1, 2])
    Traceback (most recent call last):
    varlen.dims.errors.LengthMismatchError: row 1 of 'time' has length 0 in one and 1 in the other
    """


class AmbiguousAxisError(IndexError):
    """An axis description fits more than one dim; the message names them.

    Examples
    --------
    >>> time, source = vl.Dim("time", lengths=[2]), vl.Dim("source", lengths=[1])
    >>> energies = vl.Data(np.zeros(2), [time.over[0], time, source])
    >>> energies.axis("T")
    Traceback (most recent call last):
    varlen.dims.errors.AmbiguousAxisError: axis: 'T' may be 'time' or 'source'; give the Dim
    """


class OutShapeError(ValueError):
    """The dims of a result differ from the expected ones.

    Examples
    --------
    >>> t = vl.Dim("t", 2)
    >>> x = vl.Data(np.zeros((4, 2)), [vl.Dim("s", 4), t])
    >>> x.verify_out_shape({t})
    Traceback (most recent call last):
    varlen.dims.errors.OutShapeError: expected: expected {t(2)}, got [s(4), t(2)]: 's' is not expected
    """


def names_itself(operation: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let lengths that differ name the operation that came upon them."""

    @functools.wraps(operation)
    def wrapper(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        try:
            return operation(*args, **kwargs)
        except LengthMismatchError as error:
            raise name_place(error, operation.__name__, LengthMismatchError) from None

    return wrapper
