"""The steps of recurrent layers as functions: rank sequences, cut steps, shrink states, join outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from varlen.arguments import as_list
from varlen.backends import backend_of
from varlen.backends.values import as_values, is_tensor
from varlen.errors import instance_error, naming, value_error
from varlen.levels import flatten_levels, resolve_level
from varlen.sequence.inputs import gradient_rows, require_row_shape, sequences
from varlen.sequence.outputs import check_steps, join_parts, packed_of
from varlen.sequence.states import as_many, each_state
from varlen.types import Packed, Ragged, RankTable
from varlen.types.packing import permute

if TYPE_CHECKING:
    from varlen.backends.values import ArrayT, SequencesLike, StateT


def sort_by_length(x: Ragged[Any], level: int = -1, *, order: Any = "stable") -> RankTable:
    """Rank the sequences of a level by length, the longest first.

    Parameters
    ----------
    x
        A Ragged of any depth.
    level
        The level to rank; the table keeps the levels above it for the way back.
    order
        The order of equally long sequences: "stable", "reversed" as in Thinc, or "torch"; or a permutation.

    Returns
    -------
    RankTable
        A table that all inputs of these lengths can share. Empty sequences come last.

    Raises
    ------
    TypeError
        The argument is not a Ragged.
    IndexError
        There is no such level.
    ValueError
        The order is unknown, or not a permutation.

    Notes
    -----
    Paddle's `lod_rank_table`, which takes the outermost level by default.

    Examples
    --------
    >>> x = vl.Ragged(np.zeros(14), [[1, 2], [5, 1, 8]])
    >>> vl.sequence.sort_by_length(x, 1).items
    [(2, 8), (0, 5), (1, 1)]
    """
    levels = sequences(x).levels
    index = resolve_level(level, levels)
    return RankTable.of(levels[index], order, levels[:index])


def max_sequence_len(rank_table: RankTable) -> int:
    """The number of steps: the longest length.

    Parameters
    ----------
    rank_table
        From `sort_by_length`.

    Returns
    -------
    int
        The length; 0 if there are no sequences.

    Raises
    ------
    TypeError
        The argument is not a table.

    Notes
    -----
    As Paddle's `max_sequence_len`.

    Examples
    --------
    >>> vl.sequence.max_sequence_len(vl.RankTable([3, 1]))
    3
    """
    return _check_table(rank_table, "rank_table").longest


def segment_inputs(x: Ragged[ArrayT], table: RankTable) -> Packed[ArrayT]:
    """Cut an input into steps: step t holds element t of every sequence longer than t, in rank order.

    If the ranked level is not the innermost, an element is a whole sub-sequence, and a step is a Ragged.

    Parameters
    ----------
    x
        A Ragged that nests as the table says, at its level and above.
    table
        From `sort_by_length`.

    Returns
    -------
    Packed
        A list of steps, each a view. `concat_outputs` is its inverse and its gradient.

    Raises
    ------
    TypeError
        x is not a Ragged, or `table` is not a table.
    ValueError
        The lengths are not those of the table.

    Notes
    -----
    Paddle's `lod_tensor_to_array`, which also works as a name. Without sequences there are no steps; Paddle
    leaves the result undefined.

    Examples
    --------
    >>> x = vl.Ragged(np.arange(10), [3, 6, 1])
    >>> steps = vl.sequence.segment_inputs(x, vl.sequence.sort_by_length(x))
    >>> [step.tolist() for step in steps]
    [[3, 0, 9], [4, 1], [5, 2], [6], [7], [8]]
    """
    with naming(ragged="x", order="table"):
        return Packed.from_ragged(sequences(x), order=_check_table(table))


def concat_outputs(
    steps: Packed[ArrayT] | Sequence[ArrayT], table: RankTable | None = None
) -> Ragged[ArrayT]:
    """Join the outputs of all steps into sequences, in their original order; inverts `segment_inputs`.

    Parameters
    ----------
    steps
        An array, or a Ragged of sub-sequences, for each step; or a Packed.
    table
        The table of the inputs. A Packed brings its own.

    Returns
    -------
    Ragged
        The sequences, under the levels that the table keeps, with those of the steps below.

    Raises
    ------
    TypeError
        `table` is not a table, or a step is not an array or differs in kind from the others (the message
        names the step).
    ValueError
        The number of steps, or of rows in a step, differs from the table, or rows differ in shape.

    Notes
    -----
    Paddle's `array_to_lod_tensor`, which also works as a name. Without steps the result is float32.

    Examples
    --------
    >>> table = vl.RankTable([2, 0, 3], [2, 0, 1])
    >>> vl.sequence.concat_outputs([np.array([6, 3]), np.array([7, 4]), np.array([8])], table).to_list()
    [[3, 4], [], [6, 7, 8]]
    """
    if isinstance(steps, Packed):
        if table is not None and steps.table != _check_table(table):
            raise value_error("steps", "they were packed with another table")
        return steps.to_ragged()
    parts, rank_table = as_list(steps, "steps", "arrays"), _check_table(table)
    if len(parts) != rank_table.longest:
        raise value_error(
            "steps", f"{len(parts)} steps, but the longest sequence has length {rank_table.longest}"
        )
    check_steps(parts, "steps")
    for t, (part, size) in enumerate(zip(parts, rank_table.size_at_t.tolist(), strict=True)):
        if len(part) != size:
            raise value_error(
                "steps",
                f"step {t} holds {len(part)}, but {size} sequences are longer than {t}",
                row=t,
                number=len(part),
            )
    return packed_of(parts, rank_table).to_ragged()


def reorder(x: StateT, table: RankTable) -> StateT:
    """Reorder rows, or the sequences of a Ragged, by rank: item i moves to the rank of sequence i.

    Parameters
    ----------
    x
        (n, ...), a row for each sequence; or a Ragged of n sequences of any lengths; or a tuple of these,
        such as the states of an LSTM.
    table
        From `sort_by_length`.

    Returns
    -------
    numpy.ndarray, torch.Tensor, Ragged or tuple
        The reordered items, of the kind and dtype of x. Autograd follows tensors.

    Raises
    ------
    TypeError
        `table` is not a table, or x has no rows or is a list of arrays.
    ValueError
        x has more or fewer rows, or sequences, than the table.

    Notes
    -----
    Paddle's `reorder_lod_tensor_by_rank`, which also works as a name; here sequences may be empty.

    Examples
    --------
    >>> table = vl.sequence.sort_by_length(vl.Ragged(np.zeros(6), [1, 3, 2]))
    >>> vl.sequence.reorder(np.array([10, 20, 30]), table)
    array([20, 30, 10])
    >>> vl.sequence.reorder(vl.Ragged([1, 2, 3, 4, 5, 6], [2, 1, 3]), table).to_list()
    [[3], [4, 5, 6], [1, 2]]
    """
    rank_table = _check_table(table)
    return cast(
        "StateT",
        each_state(
            lambda one, name: _reorder(one, rank_table, rank_table.indices, rank_table.inverse, name), x, "x"
        ),
    )


def backprop_reorder(dY: StateT, table: RankTable) -> StateT:
    """Restore the original order: the inverse of `reorder`, and its gradient.

    Parameters
    ----------
    dY
        The result of `reorder`, or its gradient: rows, a Ragged, or a tuple of these.
    table
        The table of `reorder`.

    Returns
    -------
    numpy.ndarray, torch.Tensor, Ragged or tuple
        The items in their original order, of the kind and dtype of dY.

    Raises
    ------
    TypeError, ValueError
        As in `reorder`.

    Examples
    --------
    >>> table = vl.sequence.sort_by_length(vl.Ragged(np.zeros(6), [1, 3, 2]))
    >>> vl.sequence.backprop_reorder(np.array([20, 30, 10]), table)
    array([10, 20, 30])
    """
    rank_table = _check_table(table)
    return cast(
        "StateT",
        each_state(
            lambda one, name: _reorder(one, rank_table, rank_table.inverse, rank_table.indices, name),
            dY,
            "dY",
        ),
    )


def init_memories(h0: StateT, table: RankTable) -> StateT:
    """The initial states of the sequences, in rank order: `reorder` of `h0`.

    Paddle's loop over steps expects initial states in that order, and leaves the sorting to the caller.

    Parameters
    ----------
    h0
        (n, ...), a row for each sequence in the original order; or a Ragged of n sequences; or a tuple of
        these, such as the states of an LSTM.
    table
        From `sort_by_length`.

    Returns
    -------
    numpy.ndarray, torch.Tensor, Ragged or tuple
        The memory of step 0, of the kind and dtype of h0.

    Raises
    ------
    TypeError, ValueError
        As in `reorder`.

    Examples
    --------
    >>> table = vl.sequence.sort_by_length(vl.Ragged(np.zeros(4), [1, 3]))
    >>> vl.sequence.init_memories(np.array([[10.0], [20.0]]), table)
    array([[20.],
           [10.]])
    >>> vl.sequence.init_memories((np.array([1, 2]), np.array([3, 4])), table)
    (array([2, 1]), array([4, 3]))
    """
    rank_table = _check_table(table)
    return cast(
        "StateT",
        each_state(
            lambda one, name: _reorder(one, rank_table, rank_table.indices, rank_table.inverse, name),
            h0,
            "h0",
        ),
    )


def shrink(memory: StateT, t: int, table: RankTable) -> StateT:
    """Keep the states of the sequences longer than t: a prefix of `memory`.

    Parameters
    ----------
    memory
        A row for each sequence of step t - 1, by rank; or a Ragged with as many sequences; or a tuple of
        these.
    t
        The step, from 0; past the last one nothing is left.
    table
        From `sort_by_length`.

    Returns
    -------
    numpy.ndarray, torch.Tensor, Ragged or tuple
        The states of the sequences longer than t, in the kind and dtype of `memory`, as views of it.

    Raises
    ------
    TypeError
        `table` is not a table, or `memory` has no rows or is a list of arrays.
    ValueError
        `memory` has fewer rows than there are sequences longer than t, or the step is below 0.

    Notes
    -----
    Paddle's `shrink_memory`, which also works as a name.

    Examples
    --------
    >>> table = vl.RankTable([3, 2, 1])
    >>> [vl.sequence.shrink(np.array([7, 8, 9]), t, table).tolist() for t in range(3)]
    [[7, 8, 9], [7, 8], [7]]
    """
    size = _check_table(table).active(t)

    def one(rows: Any, name: str) -> Any:
        if not hasattr(rows, "__len__") or getattr(rows, "ndim", 1) == 0:
            raise instance_error(name, "rows or sequences", rows)
        if len(rows) < size:
            raise value_error(name, f"has {len(rows)} rows, but {size} sequences are longer than {t}")
        return cast("StateT", rows[:size])

    return cast("StateT", each_state(one, memory, "memory"))


def backprop_shrink(dY: SequencesLike, memory: StateT) -> StateT:
    """The gradient of `shrink` for `memory`: zeros for the part that was cut off.

    Parameters
    ----------
    dY
        The gradient of the kept part: its rows, or its sequences under their levels in `memory`; a tuple if
        `memory` is one.
    memory
        The argument of `shrink`.

    Returns
    -------
    numpy.ndarray, torch.Tensor, Ragged or tuple
        The gradient, in the kind and shape of `memory` and the dtype of dY.

    Raises
    ------
    TypeError
        dY and `memory` are not both tuples of one size, or both single states; or dY is a list of arrays.
    ValueError
        dY has more rows than `memory`, nests differently, or has rows of another shape.

    Examples
    --------
    >>> vl.sequence.backprop_shrink(np.array([1.0, 2.0]), np.array([7.0, 8.0, 9.0]))
    array([1., 2., 0.])
    """
    as_many(dY, memory, "dY")
    each_state(lambda one, _: one, memory, "memory")
    memories = iter(memory if isinstance(memory, tuple) else (memory,))
    return cast("StateT", each_state(lambda d, name: _pad_gradient(d, next(memories), name), dY, "dY"))


def backprop_segment_inputs(dY: Packed[Any] | Sequence[Any], table: RankTable | None = None) -> Ragged[Any]:
    """The gradient of `segment_inputs`: the same as `concat_outputs`.

    Parameters
    ----------
    dY
        The gradients of all steps: an array or a Ragged for each, or a Packed.
    table
        The table of `segment_inputs`. A Packed brings its own.

    Returns
    -------
    Ragged
        Nests as the input of `segment_inputs`, of the dtype of dY.

    Raises
    ------
    TypeError, ValueError
        As in `concat_outputs`.

    Examples
    --------
    >>> d = [np.array([1.0, 2.0]), np.array([3.0])]
    >>> vl.sequence.backprop_segment_inputs(d, vl.RankTable([1, 2], [1, 0])).to_list()
    [[2.0], [1.0, 3.0]]
    """
    with naming(steps="dY"):
        return concat_outputs(dY, table)


def backprop_concat_outputs(dY: Ragged[Any], table: RankTable) -> Packed[Any]:
    """The gradient of `concat_outputs`: the same as `segment_inputs`.

    Parameters
    ----------
    dY
        The gradient of the result of `concat_outputs`: a Ragged that nests as it does.
    table
        The table of `concat_outputs`.

    Returns
    -------
    Packed
        The gradients of the steps, each a view.

    Raises
    ------
    TypeError, ValueError
        As in `segment_inputs`.

    Examples
    --------
    >>> table = vl.RankTable([1, 2], [1, 0])
    >>> vl.sequence.backprop_concat_outputs(vl.Ragged([2.0, 1.0, 3.0], [1, 2]), table).steps()
    [array([1., 2.]), array([3.])]
    """
    with naming(x="dY"):
        return segment_inputs(dY, table)


def _reorder(x: SequencesLike, table: RankTable, order: object, inverse: object, argument: str) -> Any:
    value = x if isinstance(x, Ragged) else as_values(x, argument)
    if len(value) != len(table):
        what = "sequences" if isinstance(value, Ragged) else "rows"
        raise value_error(argument, f"has {len(value)} {what}, but the table {len(table)} sequences")
    if isinstance(value, Ragged):
        return value._make(*permute(value.values, value.levels, order, inverse))
    return permute(value, (), order, inverse)[0]


def _pad_gradient(dY: SequencesLike, memory: Any, argument: str) -> Any:
    """A gradient of the first rows, or sequences, with zeros for the others."""
    nests = isinstance(memory, Ragged)
    memory_rows = memory.values if nests else as_values(memory, "memory")
    if isinstance(dY, Ragged):
        if nests and len(dY) > len(memory):
            raise value_error(argument, f"has {len(dY)} sequences, the memory {len(memory)}")
        d = gradient_rows(dY, dY.total, memory[: len(dY)].levels if nests else (), argument)
    else:
        d = as_values(dY, argument)
        if len(d) > len(memory_rows):
            raise value_error(argument, f"has {len(d)} rows, the memory {len(memory_rows)}")
        if nests and len(d) not in flatten_levels(memory.levels).offsets:
            raise value_error(argument, f"has {len(d)} rows, but no sequence of the memory ends there")
    require_row_shape(d, memory_rows.shape[1:], argument)
    missing = (len(memory_rows) - len(d), *d.shape[1:])
    zeros = d.new_zeros(missing) if is_tensor(d) else backend_of(d).zeros(d, missing)
    result = join_parts([d, zeros])
    return memory._make(result, memory.levels) if nests else result


def _check_table(table: object, argument: str = "table") -> RankTable:
    if not isinstance(table, RankTable):
        raise instance_error(argument, "a RankTable", table)
    return table


def lod_rank_table(x: Ragged[Any], level: int = 0) -> RankTable:
    """Rank the sequences of a level by length: `sort_by_length`, of the outermost level by default.

    Parameters
    ----------
    x
        A Ragged of any depth.
    level
        The level to rank; the table keeps the levels above it for the way back.

    Returns
    -------
    RankTable
        A table; equally long sequences keep their order.

    Raises
    ------
    TypeError
        The argument is not a Ragged.
    IndexError
        There is no such level.

    Notes
    -----
    Paddle's `lod_rank_table`.

    Examples
    --------
    >>> vl.sequence.lod_rank_table(vl.Ragged(np.zeros(14), [[1, 2], [5, 1, 8]])).items
    [(1, 2), (0, 1)]
    """
    return sort_by_length(x, level)


lod_tensor_to_array = segment_inputs
array_to_lod_tensor = concat_outputs
reorder_lod_tensor_by_rank = reorder
shrink_memory = shrink
