"""Softmax inside sequences, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.softmax import log_softmax, softmax

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.levels import Levels


class Softmaxes:
    """Methods of `varlen.Ragged`, which inherits them.

    Both take `level`: the level whose sequences, together with all that nests below, add up to one; -1 is the
    innermost. The result has the levels of the Ragged.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[0.0, 0.0], [5.0]], [[1.0]]])
    >>> r.softmax().to_list()
    [[[0.5, 0.5], [1.0]], [[1.0]]]
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

    def softmax(self, axis: Any = None, *, level: int = -1, temperature: float = 1.0) -> Self:
        """Exponentials of the rows of each sequence, as shares of their sum, column by column.

        Floats keep their dtype, others become float64. `varlen.ops.softmax` says more.

        Examples
        --------
        >>> vl.Ragged([0.0, 0.0, 7.0], [2, 1]).softmax().values
        array([0.5, 0.5, 1. ])
        """
        result: Self = softmax(self, axis=axis, level=level, temperature=temperature)
        return result

    def log_softmax(self, axis: Any = None, *, level: int = -1, temperature: float = 1.0) -> Self:
        """The logarithm of `softmax`, without its rounding.

        Examples
        --------
        >>> vl.Ragged([0.0, 1000.0, 7.0], [2, 1]).log_softmax().values
        array([-1000.,     0.,     0.])
        """
        result: Self = log_softmax(self, axis=axis, level=level, temperature=temperature)
        return result
