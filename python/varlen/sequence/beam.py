"""Beam search: the best hypotheses of each source, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.arguments import SMALLEST, as_array, as_int
from varlen.backends import backend_of
from varlen.backends.values import as_ints, as_values, like, take
from varlen.errors import dtype_error, index_error, type_error, value_error
from varlen.levels import flatten_levels
from varlen.sequence.states import each_state
from varlen.types import Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.backends.values import SequencesLike, StateT

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


class Beam:
    """One step of a beam search: the hypotheses of each source, best first, and their history.

    A beam never changes: `step` returns the next one, which remembers this one. A source has as many
    hypotheses as possible, at most k. An ended hypothesis stays, with its score, as long as it is among the
    best.

    Parameters
    ----------
    sources
        The number of sources; each starts with one hypothesis of score 0 and without tokens.
    first
        The `tokens` before the first step: an int, or one for each source. They are not part of the
        hypotheses.
    like
        An array or tensor that gives the kind and dtype of the scores; by default float32 arrays.

    Raises
    ------
    TypeError, ValueError
        `sources` is not an integer of 0 or more; or `first` does not hold one integer for each source.

    Notes
    -----
    As Paddle's `beam_search` and `beam_search_decode`, in any number of sources and hypotheses.

    Examples
    --------
    Decoding: what follows a token depends on it alone here, and 2 ends a hypothesis.

    >>> follows = np.log([[0.15, 0.6, 0.25], [0.3, 0.2, 0.5], [0.4, 0.3, 0.3]])
    >>> beam = vl.Beam(2, first=[0, 1], like=follows)
    >>> while not beam.done:
    ...     beam = beam.step(follows[beam.tokens.values], k=2, end=2)
    >>> beam.hypotheses().to_list()
    [[[1, 2], [2]], [[2], [0, 1, 2]]]
    >>> np.exp(beam.scores.values).round(3)
    array([0.3 , 0.25, 0.5 , 0.09])
    """

    __slots__ = ("_is_added", "_is_finished", "_level", "_parents", "_previous", "_scores", "_tokens")

    _previous: Beam | None
    _level: Level
    _scores: Any
    _tokens: Ints
    _is_added: Bools
    _is_finished: Bools
    _parents: Ints

    def __init__(self, sources: int, first: Any = 0, like: Any = None) -> None:
        count = as_int(sources, "sources")
        ones = _first(first, count)
        rows = np.zeros(0, np.float32) if like is None else as_values(like, "like")
        scores = backend_of(rows).zeros(rows, (count,))
        flags = np.zeros(count, bool)
        self._set(None, Level(np.ones(count, np.int64)), scores, np.arange(count), ones, flags, flags)

    def _set(
        self, previous: Beam | None, level: Level, scores: SequencesLike, parents: Ints, tokens: Ints,
        is_added: Bools,
        is_finished: Bools,
    ) -> None:  # fmt: skip
        self._previous = previous
        self._level = level
        self._scores = scores
        self._parents = parents
        self._tokens = tokens
        self._is_added = is_added
        self._is_finished = is_finished

    @property
    def previous(self) -> Beam | None:
        """The beam before this step; None before the first step."""
        return self._previous

    @property
    def level(self) -> Level:
        """The number of hypotheses of each source."""
        return self._level

    @property
    def scores(self) -> Ragged[Any]:
        """The scores of each source's hypotheses, descending; autograd follows tensors."""
        return Ragged._make(self._scores, (self._level,))

    @property
    def tokens(self) -> Ragged[Any]:
        """The last token of each hypothesis, int64; an ended one keeps its end token."""
        return Ragged._make(like(self._tokens, self._scores), (self._level,))

    @property
    def finished(self) -> Ragged[Any]:
        """Which hypotheses have ended."""
        return Ragged._make(like(self._is_finished, self._scores), (self._level,))

    @property
    def parents(self) -> Ints:
        """The previous hypothesis that each one continues: int64, counted across all sources."""
        return self._parents

    @property
    def done(self) -> bool:
        """Whether every hypothesis has ended."""
        return bool(self._is_finished.all())

    def __len__(self) -> int:
        return len(self._level)

    def __repr__(self) -> str:
        count = int(self._is_finished.sum())
        return f"Beam({len(self)} sources, {self._level.total} hypotheses, {count} of them ended)"

    def expand(self, log_probs: SequencesLike) -> Ragged[Any]:
        """The scores of every continuation, by source, hypothesis and token.

        An ended hypothesis only continues as itself. `step` keeps the best of these.

        Parameters
        ----------
        log_probs
            (hypotheses, tokens), an array or a tensor as the scores are: the number that each next token adds
            to the score, with rows in the order of `tokens`. Rows of ended hypotheses are not read.

        Returns
        -------
        Ragged
            The scores, under two levels, sources > hypotheses: one for each token, or a single one for an
            ended hypothesis.

        Raises
        ------
        TypeError
            A tensor is given but the scores are arrays, or the reverse.
        ValueError
            The number of rows differs from the hypotheses, or rows have no tokens.

        Examples
        --------
        >>> vl.Beam(2, like=np.zeros(0)).expand(np.array([[-1.0, -2.0], [-3.0, -4.0]])).to_list()
        [[[-1.0, -2.0]], [[-3.0, -4.0]]]
        """
        rows = self._rows(log_probs)
        width = int(rows.shape[1])
        scores = self._scores[:, None]
        total = scores + rows
        if not self._is_finished.any():
            token_level = Level(np.full(len(rows), width))
            return Ragged._make(total.reshape(-1), (self._level, token_level))
        token_level = Level(np.where(self._is_finished, 1, width))
        total = backend_of(rows).where(like(self._is_finished, rows)[:, None], scores, total)
        return Ragged._make(Ragged.from_dense(total, token_level).values, (self._level, token_level))

    def _rows(self, log_probs: SequencesLike) -> Any:
        """A row for each hypothesis, of the kind of scores."""
        rows = as_values(log_probs, "log_probs")
        count = self._level.total
        if rows.ndim != 2 or len(rows) != count or rows.shape[1] < 1:
            raise value_error(
                "log_probs", f"expected a row for each of {count} hypotheses, got shape {tuple(rows.shape)}"
            )
        if backend_of(rows) is not backend_of(self._scores):
            raise type_error(
                "log_probs", "expected the same kind as the beam's, array or tensor", "set it with like="
            )
        return rows

    def step(self, log_probs: SequencesLike, k: int, end: int | Sequence[int] | Any = None) -> Self:
        """The k best continuations of each source.

        Parameters
        ----------
        log_probs
            (hypotheses, tokens), with rows in the order of `tokens`: the number that each next token adds to
            the score. Rows of ended hypotheses are not read. -inf marks an impossible token.
        k
            The most hypotheses that a source keeps. Equal scores keep their order.
        end
            The token that ends a hypothesis when it is added, or several such tokens; None if there is none.
            An ended hypothesis stays as it is, even if `end` differs at later steps: no token is added, and
            `tokens` keeps the one that ended it.

        Returns
        -------
        Beam
            The next beam; its `gather` reorders states to match.

        Raises
        ------
        TypeError
            A tensor is given but the scores are arrays, or the reverse; an end that is not an integer.
        ValueError
            The number of rows is wrong, or a score is NaN, even one that would not be chosen, or the sum of
            inf and -inf.
        IndexError
            There is no such token as `end`.

        Examples
        --------
        >>> beam = vl.Beam(2).step(np.float32([[-1, -2, -3], [-4, -3, -9]]), k=2)
        >>> beam.tokens.to_list(), beam.scores.to_list()
        ([[0, 1], [1, 0]], [[-1.0, -2.0], [-3.0, -4.0]])
        >>> vl.Beam(1).step(np.float32([[-1, -2, -3]]), k=3, end=[0, 2]).finished.to_list()
        [[True, False, True]]
        """
        limit, rows = as_int(k, "k", 1), self._rows(log_probs)
        ends = _ends(end, int(rows.shape[1]))
        with np.errstate(invalid="ignore"):  # inf - inf is refused below
            candidates = self.expand(rows)
        per_source, token_level = flatten_levels(candidates.levels), candidates.levels[1]
        self._no_nan(candidates.values, token_level, rows)
        best, which = Ragged._make(candidates.values, (per_source,)).topk(limit)
        level = best.levels[0]
        scores: Any = best.values
        picks = per_source.offsets[level.row_ids] + as_ints(which.values)
        possible = as_ints(scores > -math.inf)
        if not possible.all():
            keep_rows = np.flatnonzero(possible)
            level = Level(np.bincount(level.row_ids[keep_rows], minlength=len(level)))
            scores, picks = scores[like(keep_rows, scores)], picks[keep_rows]
        parents = np.searchsorted(token_level.offsets, picks, side="right") - 1
        is_added = ~self._is_finished[parents]
        tokens = np.where(is_added, picks - token_level.offsets[parents], self._tokens[parents])
        is_finished = ~is_added
        if len(ends):
            is_finished |= tokens == ends[0] if len(ends) == 1 else np.isin(tokens, ends)
        result = object.__new__(type(self))
        result._set(self, level, scores, parents, tokens, is_added, is_finished)
        return result

    def _no_nan(self, candidates: Any, token_level: Level, rows: Any) -> None:
        """Refuse NaN, which would be dropped with impossible tokens."""
        if not len(candidates):
            return
        maximum = candidates.max()  # NaN where there is one
        if maximum == maximum:
            return
        index = int(np.flatnonzero(as_ints(candidates != candidates))[0])
        h = int(token_level.row_ids[index])
        t = index - int(token_level.offsets[h])
        score, log_prob = (x.item() for x in (self._scores[h], rows[h, t]))
        note = "" if math.isnan(log_prob) else f", NaN beside its score, {score}"
        culprit = log_prob if note else "NaN"
        raise value_error("log_probs", f"the row of hypothesis {h} holds {culprit} at token {t}{note}", row=h)

    def gather(self, state: StateT) -> StateT:
        """Reorder the states of the previous step to match the hypotheses of this one.

        Parameters
        ----------
        state
            An array or a tensor with a row for each hypothesis before, a Ragged with a sequence for each, or
            a tuple of them. Tuples may nest.

        Returns
        -------
        numpy.ndarray, torch.Tensor, Ragged or tuple
            The states, a copy of the kind and dtype of `state`, with a row or a sequence for each current
            hypothesis.

        Raises
        ------
        TypeError
            The state is a list of arrays.
        ValueError
            The number of rows differs from the previous hypotheses.

        Examples
        --------
        >>> beam = vl.Beam(2).step(np.float32([[-1, -2], [-3, -1]]), k=2)
        >>> beam.gather(np.array([[10], [20]])).ravel()
        array([10, 10, 20, 20])
        """
        count = (self._level if self._previous is None else self._previous._level).total

        def one(value: object, name: str) -> Any:
            rows = value if isinstance(value, Ragged) else as_values(value, name)
            if len(rows) != count:
                raise value_error(name, f"has {len(rows)} rows, but there were {count} hypotheses")
            return rows[self._parents] if isinstance(rows, Ragged) else take(rows, self._parents)

        result: StateT = each_state(one, state, nested=True)
        return result

    def hypotheses(self) -> Ragged[Any]:
        """The tokens of each source's hypotheses, the best first, end tokens included.

        Returns
        -------
        Ragged
            The tokens, int64, under two levels, sources > hypotheses, and of the kind of the scores.

        Examples
        --------
        >>> beam = vl.Beam(1).step(np.float32([[-1, -2]]), k=2, end=1)
        >>> beam.step(np.float32([[-5, -4], [0, 0]]), k=2, end=1).hypotheses().to_list()
        [[[1], [0, 1]]]
        """
        ancestors = np.arange(self._level.total)
        tokens, flags = [], []
        beam = self
        while beam._previous is not None:
            tokens.append(beam._tokens[ancestors])
            flags.append(beam._is_added[ancestors])
            ancestors = beam._parents[ancestors]
            beam = beam._previous
        shape = (len(tokens), self._level.total)
        block = np.array(tokens[::-1], np.int64).reshape(shape)
        lengths = np.array(flags, bool).reshape(shape).sum(axis=0, dtype=np.int64)
        result = Ragged.from_dense(np.ascontiguousarray(block.T), lengths)
        return Ragged._make(like(result.values, self._scores), (self._level, *result.levels))


def _first(first: object, count: int) -> Ints:
    """The first token of each source."""
    numbers = as_array(first, "first", f"an int, or {count}, one for each source")
    if numbers.dtype.kind not in "iu" and (numbers.size or numbers.ndim != 1):
        raise dtype_error("first", "integers", numbers.dtype)
    if numbers.shape not in ((), (1,), (count,)):
        raise value_error(
            "first", f"expected an int, or {count}, one for each source, got shape {numbers.shape}"
        )
    if numbers.dtype == np.uint64 and numbers.size:
        as_int(numbers.max(), "first")
    return np.broadcast_to(numbers.astype(np.int64, copy=False), count)


def _ends(end: object, width: int) -> list[int]:
    """The tokens that end a hypothesis, of `width` that there are."""
    argument = as_ints(end)
    if getattr(argument, "ndim", 0) > 1:
        raise value_error("end", f"expected one token, or one axis of tokens, got shape {argument.shape}")
    is_list = isinstance(argument, Sequence) and not isinstance(argument, (str, bytes))
    if is_list or getattr(argument, "ndim", 0) == 1:
        pairs = [(token, f"end[{i}]") for i, token in enumerate(argument)]
    else:
        pairs = [] if argument is None else [(argument, "end")]
    tokens = []
    for token, name in pairs:
        token_id = as_int(as_ints(token), name, SMALLEST, None)
        if not 0 <= token_id < width:
            raise index_error(name, f"token {token_id} is out of range for {width} tokens", number=token_id)
        tokens.append(token_id)
    return tokens
