"""A cell run over sequences of different lengths, whose state shrinks as they end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen.backends.values import as_values, is_array, is_tensor, one_device
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import same_levels
from varlen.sequence.inputs import gradient_rows, require_row_shape, sequences
from varlen.sequence.layers import is_layer, run_layer
from varlen.sequence.outputs import check_steps, packed_of
from varlen.sequence.states import as_many, each_state
from varlen.sequence.steps import backprop_reorder, init_memories
from varlen.sequence.sweeps import BackwardSweep, ForwardSweep, SingleStep, Sweep, cut
from varlen.types import Packed, Ragged, RankTable

if TYPE_CHECKING:
    from varlen.backends.values import ArrayT, SequencesLike, Values


@overload
def rnn(
    cell: Callable[..., Any], inputs: Ragged[ArrayT] | Packed[ArrayT], init: SequencesLike | None = None, *,
    level: int = -1,
    reverse: bool = False, order: Any = "stable", is_train: Literal[False] = False,
) -> tuple[Ragged[ArrayT], Any]: ...  # fmt: skip
@overload
def rnn(
    cell: Callable[..., Any], inputs: Ragged[ArrayT] | Packed[ArrayT], init: SequencesLike | None = None, *,
    level: int = -1,
    reverse: bool = False, order: Any = "stable", is_train: Literal[True],
) -> tuple[tuple[Ragged[ArrayT], Any], Callable[..., tuple[Ragged[ArrayT], Any]]]: ...  # fmt: skip
def rnn(
    cell: Callable[..., Any],
    inputs: Ragged[Any] | Packed[Any],
    init: Any = None,
    *,
    level: int = -1,
    reverse: bool = False,
    order: Any = "stable",
    is_train: bool = False,
) -> tuple[Any, Any]:
    """Run a recurrent cell over the sequences of a level, step by step, without padding.

    Step t takes element t of every sequence longer than t, the longest sequence first, so the states still
    needed are a prefix. Nothing is masked, and no work goes into padding.

    Parameters
    ----------
    cell
        cell(x, h) gives (y, h), or h alone, which is then the output too. x is (size, ...), the rows of the
        step; above the innermost level a Ragged of whole sub-sequences. h has `size` rows. States may be a
        tuple of arrays, as in an LSTM: cell(x, (h, c)) gives (y, (h, c)), or (h, c), whose first is the
        output. torch's LSTMCell, GRUCell and RNNCell are such cells. torch's LSTM, GRU and RNN work too: they
        run over all packed steps by themselves, with cuDNN on a GPU. Their states are rows (n, width), or
        (n, layers * directions, width) if there are several of these.
    inputs
        A Ragged of any depth, or a Packed, which sets the level and the order.
    init
        The initial states: an array (n, ...), a Ragged of such rows under the levels above, as `rnn` returns
        its last states, or a tuple of these. None means zeros, for torch's cells and layers.
    level
        The level whose sequences the cell runs over; -1 is the innermost, whose elements are rows.
    reverse
        If True, run from the last element of each sequence to its first; outputs stay at the places of their
        inputs.
    order
        As in `sort_by_length`; or a `RankTable` to share.
    is_train
        If True, also return a function for the gradients. The cell is then called as cell(x, h,
        is_train=True), and returns its result and its own backprop: backprop(dy, dh), or backprop(dh) if the
        result is h alone, which returns (dx, dh). Tensors do not need this: autograd follows them.

    Returns
    -------
    tuple
        (outputs, last). `outputs` is a Ragged that nests as the inputs, down to the level. `last` is the
        state after the last element of each sequence, in the original order; for an empty sequence, its
        initial state. It is an array at the outermost level, otherwise a Ragged under the levels above, over
        which the next `rnn` can run. With `is_train`, ((outputs, last), backprop): backprop(d_outputs,
        d_last=None) returns (d_inputs, d_init).

    Raises
    ------
    TypeError
        The inputs are not a Ragged; a state differs in structure from `init`, or is a list of arrays instead
        of a tuple; the cell does not return arrays at a step (the message names it); or `is_train` is
        combined with a layer of torch.
    ValueError
        Rows do not fit: those of `init`, of the cell's result at a step (the message names it), or of a
        gradient.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's DynamicRNN. If there are no steps, the cell is called once without rows, to learn the dtype
    and the trailing dimensions of its outputs.

    Examples
    --------
    >>> x = vl.Ragged([1, 2, 3, 4, 5], [2, 0, 3])
    >>> running_sum = lambda x, h: h + x
    >>> outputs, last = vl.sequence.rnn(running_sum, x, np.zeros(3, int))
    >>> outputs.to_list(), last
    ([[1, 3], [], [3, 7, 12]], array([ 3,  0, 12]))

    Words within sentences, then sentences within documents:

    >>> words = vl.Ragged.from_list([[[1, 2], [3]], [[4, 5]]])
    >>> _, sentences = vl.sequence.rnn(running_sum, words, np.zeros(3, int))
    >>> sentences.to_list()
    [[3, 3], [9]]
    >>> vl.sequence.rnn(running_sum, sentences, np.zeros(2, int))[1]
    array([6, 9])
    """
    x = _packed(inputs, level, order)
    table = x.table
    if is_layer(cell):
        if is_train:
            raise type_error(
                "is_train",
                f"autograd already computes the gradients of {type(cell).__name__}",
                "leave it out",
            )
        outputs, last = run_layer(cell, x, init, reverse, lambda one, name: _start_of(one, x, name))
        return outputs, _in_original_order(last, x)
    forward, backward = (BackwardSweep, ForwardSweep) if reverse else (ForwardSweep, BackwardSweep)
    start = init_memories(_start(cell, init, x), table)
    run = _Run(cell, is_train)
    last = run.forward(x.steps(), forward(table, start))
    ys = run.ys
    if table.total == 0:
        dry_run = _Run(cell, is_train)
        dry_run.forward([_empty_step(x)], SingleStep(cut(start, 0, 0)))
        ys = dry_run.ys
    outputs = _packed_outputs(ys, x, run.kinds).to_ragged()
    result = outputs, _in_original_order(last, x)
    if not is_train:
        return result

    def backprop(d_outputs: Ragged[Any], d_last: object = None) -> tuple[Ragged[Any], Any]:
        inner = tuple(outputs.values.shape[1:])
        gradient_rows(sequences(d_outputs, "d_outputs"), outputs.total, outputs.levels, "d_outputs", inner)
        d = Packed.from_ragged(d_outputs, order=table)
        if d_last is None:
            ends = each_state(lambda one, _: np.zeros_like(one), last)
        else:
            ends = init_memories(_gradient_of(d_last, last, table), table)
        dxs, d_init = run.backward(d.steps(), backward(table, ends))
        dx = packed_of(dxs, table, x._kind) if dxs else x
        return dx.to_ragged(), _in_original_order(d_init, x)

    return result, backprop


class _Run:
    """One pass of a cell, with its data for the backward pass. A state is an array, or a tuple of arrays."""

    def __init__(self, cell: Callable[..., Any], is_train: bool) -> None:
        self.cell = cell
        self.is_train = is_train
        self.output_is_state = False
        self.kind: Any = None  # the kind of the last result, which most others have
        self.kinds: set[type] = set()

    def forward(self, steps: list[Any], sweep: Sweep) -> Any:
        """Run all steps in the order of the sweep, and return the last states, by rank."""
        cell, is_train = self.cell, self.is_train
        kind: Any = None  # of results that are a state alone
        ys: list[Any] = []
        callbacks: list[Any] = []
        state, n_active = sweep.start()
        state_count = len(state) if type(state) is tuple else 0
        for x, size in zip(sweep.reorder(steps), sweep.sizes, strict=True):
            if size != n_active:
                state = sweep.resize(state, n_active, size)
                n_active = size
            if is_train:
                pair = cell(x, state, is_train=True)
                if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                    raise type_error(
                        "cell", f"with is_train, expected it to return (result, backprop), got {_kind(pair)}"
                    )
                result, callback = pair
                callbacks.append(callback)
            else:
                result = cell(x, state)
            if type(result) is kind:
                y = state = result
                try:
                    has_size = len(y) == size
                except TypeError:  # a scalar has no length
                    has_size = False
            else:
                has_size = False
                if state_count or isinstance(result, tuple):
                    y, state = self.split_result(result, state_count)
                    kind = None
                else:
                    y = state = result
                    kind = type(result)
                    self.output_is_state = True
            if not has_size:
                self.check(y, state, sweep, len(ys), size)
            ys.append(y)
        self.ys, self.backs = sweep.reorder(ys), sweep.reorder(callbacks)
        return sweep.last(state, n_active)

    def split_result(self, result: object, state_count: int) -> tuple[Any, Any]:
        """The output and the state of a cell's result; a tuple of `state_count` states if that is not 0."""
        if isinstance(result, tuple) and len(result) == 2:
            y, state = result
            if len(state) == state_count if isinstance(state, tuple) else not state_count:
                self.output_is_state = False
                return y, tuple(state) if state_count else state
        if (
            isinstance(result, tuple)
            and len(result) == state_count
            and not any(isinstance(one, tuple) for one in result)
        ):
            self.output_is_state = True
            return result[0], tuple(result)
        states = f"a tuple of {state_count} states" if state_count else "a state"
        raise type_error("cell", f"expected {states}, or an output and {states}, got {_kind(result)}")

    def check(self, y: SequencesLike, state: object, sweep: Sweep, index: int, size: int) -> None:
        """Refuse an output or a state that is not an array of the size of the step."""
        parts = (y, *state) if isinstance(state, tuple) else (y, state)
        kind = self.kind
        try:
            for one in parts:
                if type(one) is not kind or len(one) != size:
                    break
            else:
                return
        except TypeError:  # a scalar has no length
            pass
        t = sweep.reorder(range(len(sweep.sizes)))[index]
        for one in parts:
            array = isinstance(one, Ragged) or is_array(one)
            if not array or not one.ndim:
                text = "a scalar" if array else type(one).__name__
                raise type_error("cell", f"gave {text} at step {t}, expected an array of {size} rows")
            if len(one) != size:
                raise value_error("cell", f"gave {len(one)} rows at step {t}, which has {size}")
            self.kind = type(one)
            self.kinds.add(self.kind)

    def backward(self, dys: list[Any], sweep: Sweep) -> tuple[list[Any], Any]:
        """The backward pass: the gradients of the steps, and of the states before them."""
        dxs = []
        d, n_active = sweep.start()
        for callback, dy, size in zip(
            sweep.reorder(self.backs), sweep.reorder(dys), sweep.sizes, strict=True
        ):
            if size != n_active:
                d = sweep.resize(d, n_active, size)
                n_active = size
            if not self.output_is_state:
                dx, d = callback(dy, d)
            elif isinstance(d, tuple):
                dx, d = callback((dy + d[0], *d[1:]))
            else:
                dx, d = callback(dy + d)
            d = tuple(d) if isinstance(d, tuple) else d
            dxs.append(dx)
        return sweep.reorder(dxs), sweep.last(d, n_active)


def _empty_step(x: Packed[Any]) -> Any:
    return Ragged._make(x.values, x.inner)[:0] if x.inner else x.values[:0]


def _packed_outputs(ys: list[Any], x: Packed[Any], kinds: set[type]) -> Packed[Any]:
    if len(kinds) > 1:
        check_steps(ys, "cell")
    try:
        return packed_of(ys, x.table, x._kind)
    except (TypeError, ValueError, RuntimeError):
        check_steps(ys, "cell")
        raise


def _kind(result: object) -> str:
    parts = ", ".join(_kind(one) for one in result) if isinstance(result, tuple) else ""
    return f"({parts})" if parts else type(result).__name__


def _packed(inputs: Any, level: int, order: Any) -> Packed[Any]:
    return (
        inputs if isinstance(inputs, Packed) else sequences(inputs, "inputs").pack(level=level, order=order)
    )


def _start_of(state: object, x: Packed[Any], argument: str) -> Any:
    """A row for each sequence, beside the rows that the sequences hold."""
    rows = _rows(state, x.table, argument)
    one_device(rows, argument, x.values, "inputs")
    return rows


def _rows(state: Any, table: RankTable, argument: str) -> Any:
    """A row for each sequence, from an array or a Ragged under the levels above."""
    nests = isinstance(state, Ragged)
    if nests and not same_levels(state.levels, table.outer):
        raise value_error(argument, "expected a Ragged that nests like the levels above the sequences")
    rows = state.values if nests else as_values(state, argument)
    if len(rows) != len(table):
        raise value_error(argument, f"has {len(rows)} rows for {len(table)} sequences")
    return rows


def _gradient_of(d_last: object, last: object, table: RankTable) -> Any:
    """The gradient of the last states: as many, with such rows."""
    as_many(d_last, last, "d_last")
    states = iter(last if isinstance(last, tuple) else (last,))

    def one(value: object, name: str) -> Any:
        rows = _rows(value, table, name)
        require_row_shape(rows, next(states).shape[1:], name)
        return rows

    return each_state(one, d_last, "d_last")


def _start(cell: Any, init: Values | None, x: Packed[Any]) -> Any:
    """The state that sequences start with: arrays."""
    if not callable(cell):
        raise instance_error("cell", "a callable", cell)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(cell, torch.nn.RNNCellBase) and not is_tensor(x.values):
        raise type_error(
            "inputs", f"expected tensors for {type(cell).__name__}, got {type(x.values).__name__}"
        )
    if init is not None:
        return each_state(lambda one, name: _start_of(one, x, name), init, "init")
    width = getattr(cell, "hidden_size", None)
    if width is None or not is_tensor(x.values):
        raise type_error("init", "required: only torch cells over tensors start without it")
    zeros = x.values.new_zeros((len(x.table), width))
    return (zeros, zeros) if torch is not None and isinstance(cell, torch.nn.LSTMCell) else zeros


def _in_original_order(states: object, x: Packed[Any]) -> Any:
    """States by rank as a caller gets them."""
    result, outer = backprop_reorder(states, x.table), x.table.outer
    return each_state(lambda one, _: x._kind._make(one, outer), result) if outer else result
