"""Hypotheses of a search: their scores, parents and choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Shape
from varlen.arguments import as_int, as_list
from varlen.backends import backend_of
from varlen.dims.axes import describe
from varlen.dims.base import Annotations, BeamBase, check_data, make_data
from varlen.dims.errors import LengthMismatchError
from varlen.dims.make import check_dim
from varlen.dims.ops.gather import gather
from varlen.dims.ops.sort import top_k
from varlen.dims.place import move
from varlen.errors import error_of, instance_error, value_error

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data


class Beam(BeamBase):
    """One step of a search: the scores of the hypotheses, and which previous hypothesis each continues.

    Parameters
    ----------
    dim
        The Dim that counts hypotheses.
    scores
        The scores, over the batch and `dim`.
    src
        The position of each hypothesis on the dim of the parent, over the same dims; None at the start.
    parent
        The Beam of the previous step; None at the start.
    name
        The name in messages.

    Examples
    --------
    Two hypotheses at the start, of which the second goes on twice:

    >>> pair, words = vl.Dim("pair", 2), vl.Dim("words", 3)
    >>> start = vl.dims.Beam(pair, vl.Data(np.array([[-5.0, 0.0]]), [vl.dims.batch_dim, pair]))
    >>> logs = vl.Data(np.log([[[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]]), [vl.dims.batch_dim, pair, words])
    >>> beam, word = start.grow(start.scores + logs, words, vl.Dim("beam", 2))
    >>> word.to_list(), beam.src.to_list()
    ([[2, 1]], [[1, 1]])
    """

    def __init__(
        self,
        dim: Dim,
        scores: Data[Any],
        src: Data[Any] | None = None,
        parent: Beam | None = None,
        name: str | None = None,
    ) -> None:
        check_dim(dim)
        operands = {"scores": scores} if src is None else {"scores": scores, "src": src}
        for argument, data in operands.items():
            check_data(data, argument)
            if data._shape.find(dim) < 0:
                raise value_error(argument, f"'{dim.name}' is not among {describe(data.dims)}")
        if not (parent is None or isinstance(parent, Beam)):
            raise instance_error("parent", "a Beam", parent)
        if (src is None) != (parent is None):
            raise value_error(
                "src", "positions on the dim of the parent", "pass both, or neither at the start"
            )
        self.dim, self.scores, self.src, self.parent, self.name = dim, scores, src, parent, name

    def __repr__(self) -> str:
        steps = len(self._line())
        label = "" if self.name is None else f"{self.name!r}, "
        return f"Beam({label}{describe(self.scores.dims)}, {steps} step{'s' * (steps != 1)})"

    def _line(self) -> list[Beam]:
        """Itself and the beams before, the last first."""
        beams, beam = [], self
        while True:
            beams.append(beam)
            if beam.parent is None:
                return beams
            beam = beam.parent

    def grow(
        self, scores: Data[Any], axis: Axis, k: int | Dim, *, name: str | None = None
    ) -> tuple[Beam, Data[Any]]:
        """Keep the best continuations.

        Parameters
        ----------
        scores
            The score of each continuation: over the batch, this beam and the classes. Scores that lack this
            beam apply to all hypotheses.
        axis
            The classes.
        k
            The number to keep, or the Dim that counts them.
        name
            What messages call the new beam.

        Returns
        -------
        Beam
            The next beam, with this one as its parent.
        Data
            The class that each hypothesis appends: int64 over the batch and the new dim.

        Raises
        ------
        ValueError
            The scores lack this beam, or there are fewer continuations than k.
        IndexError
            The scores have no such dim.

        Examples
        --------
        >>> one, words = vl.Dim("one", 1), vl.Dim("words", 3)
        >>> start = vl.dims.Beam(one, vl.dims.zeros([one]))
        >>> scores = vl.Data(np.array([[0.1, 0.7, 0.2]]), [one, words])
        >>> start.grow(scores, words, 2)[1].values
        array([1, 2])
        """
        check_data(scores, "scores")
        best, (src, classes), dim = top_k(scores, [self.dim, scores.axis(axis)], k)
        beam = Beam(dim, best, src._with_facts(sparse_dim=self.dim), self, name)
        return beam, classes._with_facts(beam=beam)

    def select(self, state: Data[Any]) -> Data[Any]:
        """Reorder a state of the previous hypotheses to match these.

        Parameters
        ----------
        state
            Values over the dim of the parent, and any others. A state that lacks the parent's dim is shared
            by all hypotheses.

        Returns
        -------
        Data
            The state over this beam's dim instead of the parent's. Whole sequences move, whatever their
            lengths.

        Raises
        ------
        LengthMismatchError
            The state is over another batch.

        Notes
        -----
        RETURNN does this with its `SearchBeam`, inside the batch.

        Examples
        --------
        >>> pair = vl.Dim("pair", 2)
        >>> start = vl.dims.Beam(pair, vl.dims.zeros([pair]))
        >>> src = vl.Data(np.array([1, 1, 0]), [vl.Dim("beam", 3)], sparse_dim=pair)
        >>> beam = vl.dims.Beam(src.dims[0], src * 0.0, src, start)
        >>> beam.select(vl.Data(np.array([7, 8]), [pair])).values
        array([8, 8, 7])
        """
        check_data(state, "state")
        if self.parent is None or self.src is None or state._shape.find(self.parent.dim) < 0:
            return state
        return gather(state, self.src, self.parent.dim)._with_facts(beam=self)

    def backtrace(
        self, choices: Sequence[Data[Any]], *, eos: int | None = None, out_dim: Dim | None = None
    ) -> Data[Any]:
        """Follow each hypothesis back to the start, and return its choices.

        Parameters
        ----------
        choices
            One Data for each step, from the first, over the batch and the dim of that step's beam.
        eos
            The class that ends a hypothesis; the result leaves it out. By default each hypothesis has all
            steps.
        out_dim
            The Dim of the steps. By default a new one, "steps".

        Returns
        -------
        Data
            The choices over the dims of `scores`, then the steps, whose lengths depend on these dims.

        Raises
        ------
        ValueError
            There are no choices, or more choices than beams.
        LengthMismatchError
            Choices are over another batch or beam.

        Examples
        --------
        >>> pair = vl.Dim("pair", 2)
        >>> start = vl.dims.Beam(pair, vl.dims.zeros([pair]))
        >>> src = vl.Data(np.array([1, 0]), [vl.Dim("beam", 2)], sparse_dim=pair)
        >>> beam = vl.dims.Beam(src.dims[0], src * 0.0, src, start)
        >>> first = vl.Data(np.array([7, 8]), [pair])
        >>> second = vl.Data(np.array([5, 6]), [src.dims[0]])
        >>> beam.backtrace([first, second]).to_list()
        [[8, 5], [7, 6]]
        >>> beam.backtrace([first, second], eos=6).to_list()
        [[8, 5], [7]]
        """
        choices, line = as_list(choices, "choices", "Data"), self._line()
        for step, choice in enumerate(choices):
            check_data(choice, f"choices[{step}]")
        if out_dim is not None:
            check_dim(out_dim, "out_dim")
        if not 1 <= len(choices) <= len(line):
            raise value_error("choices", f"expected 1 to {len(line)}, one a step, got {len(choices)}")
        shape = Shape(self.scores._shape.dims)
        steps: list[Any] = []
        ancestor: Data[Any] | None = None
        for choice, beam in zip(reversed(choices), line, strict=False):
            classes = choice if ancestor is None else gather(choice, ancestor, beam.dim)
            steps.append(move(classes, shape)[..., None])
            if beam.src is not None:
                ancestor = beam.src if ancestor is None else gather(beam.src, ancestor, beam.dim)
        values = backend_of(steps[0]).concat(steps[::-1], axis=-1)
        return _cut_beam(values, shape, eos, out_dim, choices[-1]._facts.sparse_dim, self)


def _cut_beam(
    values: Values, shape: Shape, eos: int | None, out_dim: Dim | None, sparse_dim: Dim | None, beam: Beam
) -> Data[Any]:
    """Rows up to the first class that ends them."""
    backend, count = backend_of(values), values.shape[-1]
    rows = values.reshape((-1, count))
    lengths = np.full(shape.count(shape.rank), count, np.int64)
    if eos is not None:
        ends = backend.readable(rows) == as_int(eos, "eos")
        lengths = np.where(ends.any(axis=1), ends.argmax(axis=1), count)
        mask = np.arange(count) < lengths[:, None]
        rows = backend.take_rows(rows.reshape(-1), np.flatnonzero(mask))
    if out_dim is not None and out_dim.is_static and (lengths != out_dim.size).any():
        reason = f"'{out_dim.name}' has {out_dim.size} positions, but there are {int(lengths.max())} steps"
        raise error_of(LengthMismatchError, "out_dim", reason)
    steps = (Dim(name="steps", kind="spatial") if out_dim is None else out_dim)._bound(
        lengths.reshape([shape.extent(k) for k in range(shape.rank)]), shape.dims
    )
    target = Shape([*shape.dims, steps])
    facts = Annotations(sparse_dim=sparse_dim, time_dim=target.dims[-1], beam=beam)
    return make_data(rows.reshape(target.array_shape), target, None, facts)
