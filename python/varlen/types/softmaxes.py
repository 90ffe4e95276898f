"""Softmax inside sequences, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen._core import Level
from varlen.backends.values import is_tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.levels import Levels


def softened(
    values: Any, level: Level, log: bool, temperature: float, out: Any = None, inplace: bool = False
) -> Any:
    """Softmax, or its logarithm, inside each sequence of a level over arrays or tensors.

    Examples
    --------
    >>> softened(np.zeros(3), vl.Level([2, 1]), False, 1.0)
    array([0.5, 0.5, 1. ])
    """
    if is_tensor(values):
        from varlen.backends.torch.softmax import softmax

        return softmax(values, level, log, temperature, out, inplace)
    return _core.softmax(values, level, log, temperature, out, inplace)


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

        def _over(self, level: int) -> tuple[Any, Level, Levels]: ...

    def softmax(self, level: int = -1, *, temperature: float = 1.0) -> Self:
        """Exponentials of the rows of each sequence, as shares of their sum, column by column.

        Floats keep their dtype, others become float64. `varlen.ops.softmax_sequences` says more.

        Examples
        --------
        >>> vl.Ragged([0.0, 0.0, 7.0], [2, 1]).softmax().values
        array([0.5, 0.5, 1. ])
        """
        values, over, _ = self._over(level)
        return self._make(softened(values, over, False, temperature), self._levels)

    def log_softmax(self, level: int = -1, *, temperature: float = 1.0) -> Self:
        """The logarithm of `softmax`, without its rounding.

        Examples
        --------
        >>> vl.Ragged([0.0, 1000.0, 7.0], [2, 1]).log_softmax().values
        array([-1000.,     0.,     0.])
        """
        values, over, _ = self._over(level)
        return self._make(softened(values, over, True, temperature), self._levels)
