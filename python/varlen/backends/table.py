"""The verbs that every kind of values has: values and levels in, values out.

`backend_of(values)` gives the module that implements them for the kind of the values: `backends.arrays` for
NumPy, `backends.torch` for tensors, `backends.torch.graph` for those that torch.compile traces, and objects
with the same names for arrays of CuPy (`backends.namespace`), JAX and Numba (`backends.bridge`). A Level
travels through all of them as the object that it is. What a backend lacks it says in a function of that
name, in one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import TypeAlias

    from varlen._core import Level
    from varlen.backends.blocks import Blocks
    from varlen.backends.equation import Equation
    from varlen.levels import Levels

    # What the backend is for: an array or a tensor; its own module says more.
    Array: TypeAlias = Any
    # Numbers that the host reads, wherever they lie.
    Numbers: TypeAlias = Any


class Backend(Protocol):
    """A module with these functions; the arguments are checked as the core checks them."""

    # One row for each sequence, and the gradients of that.
    def reduce(
        self, op: str, values: Array, level: Level, empty: Numbers = ..., out: Array = ..., ddof: float = ...
    ) -> Array:
        """(n, ...): one row for each sequence, by a name of `ops/faces/folds.py`; `empty` of no rows."""

    def reduce_dense(
        self,
        op: str,
        block: Array,
        level: Level,
        padding_side: str = ...,
        empty: Numbers = ...,
        out: Array = ...,
        ddof: float = ...,
    ) -> Array:
        """The same of the rows of a padded block (n, longest, ...) that the level says are there."""

    def reduce_extreme(
        self, op: str, values: Array, level: Level, empty: Numbers = ..., narrow: bool = ...
    ) -> tuple[Array, Array]:
        """The largest or smallest row of each sequence, and its place inside it: (n, ...), -1 for none."""

    def reduce_end(self, values: Array, level: Level, last: bool, empty: Numbers = ...) -> Array:
        """The first or last row of each sequence; `empty`, a number or a row, where there is none."""

    def expand(self, rows: Array, level: Level, out: Array = ...) -> Array:
        """Row i for every row of sequence i: (n, ...) to (total, ...), and the gradient of a sum."""

    def expand_mean(self, rows: Array, level: Level, out: Array = ...) -> Array:
        """Row i over the length of sequence i, for every row of it: the gradient of a mean."""

    def expand_which(self, rows: Array, level: Level, which: Array, out: Array = ...) -> Array:
        """Row i at the place `which` of sequence i, zeros elsewhere: the gradient of an extreme."""

    def expand_end(self, rows: Array, level: Level, last: bool, out: Array = ...) -> Array:
        """Row i at the first or last row of sequence i, zeros elsewhere: the gradient of `reduce_end`."""

    def backprop_reduce(
        self,
        op: str,
        rows: Array,
        values: Array,
        level: Level,
        ddof: float,
        out: Array = ...,
        argument: str = ...,
    ) -> Array:
        """The gradient of a reduction that depends on its values: prod, norm, var, std, logsumexp."""

    def weighable(self, values: Array, scores: Array) -> tuple[Array, Array]:
        """Values and scores in one float dtype; the scores of halves in float32."""

    def weighted_sum(self, weights: Array, values: Array, level: Level) -> Array:
        """(n, ...): the sum of the rows of each sequence, each times its weight."""

    def weighted_sum_to_values(self, sums: Array, weights: Array, level: Level, dtype: Any) -> Array:
        """Its gradient of the values, in a dtype."""

    def weighted_sum_to_weights(self, sums: Array, values: Array, level: Level) -> Array:
        """Its gradient of the weights."""

    # A row for each row.
    def softmax(
        self,
        values: Array,
        level: Level,
        log: bool,
        temperature: Numbers,
        out: Array = ...,
        inplace: bool = ...,
    ) -> Array:
        """exp(values / temperature) over its sum in the sequence, or the logarithm of that: (total, ...)."""

    def backprop_softmax(
        self, dY: Array, Y: Array, level: Level, log: bool, temperature: Numbers, out: Array = ...
    ) -> Array:
        """The gradient of the values, from that of Y and Y itself."""

    def scan(
        self,
        op: str,
        values: Array,
        level: Level,
        exclusive: bool = ...,
        reverse: bool = ...,
        out: Array = ...,
    ) -> Array:
        """Each row with those before it in its sequence, by a name of `reduce`; (total, ...) in and out."""

    def scan_extreme(
        self,
        op: str,
        values: Array,
        level: Level,
        exclusive: bool = ...,
        reverse: bool = ...,
        out: Array = ...,
    ) -> tuple[Array, Array]:
        """Running extremes, and the place inside the sequence of the row that holds each."""

    def backprop_cumprod(
        self, dY: Array, values: Array, level: Level, exclusive: bool, reverse: bool, out: Array = ...
    ) -> Array:
        """The gradient of running products."""

    def backprop_scan_which(self, dY: Array, which: Array, level: Level, out: Array = ...) -> Array:
        """The gradient of running extremes: each row of dY to the row that `which` names."""

    # Rows that change places inside their sequence.
    def reverse(self, values: Array, level: Level, out: Array = ...) -> Array:
        """The rows of each sequence, the last first."""

    def shift(self, values: Array, level: Level, by: Numbers, fill: Numbers = ..., out: Array = ...) -> Array:
        """The rows of each sequence `by` places on, a number or one for each; `fill` where none arrives."""

    def roll(self, values: Array, level: Level, by: Numbers, out: Array = ...) -> Array:
        """The same, cyclically."""

    # Numbers in order.
    def sort(
        self,
        values: Array,
        level: Level,
        descending: bool = ...,
        limit: int | None = ...,
        with_values: bool = ...,
        with_places: bool = ...,
        out: Array = ...,
    ) -> tuple[Array, Array, Level]:
        """The first `limit` rows of each sequence in order, the places that they had, and their level."""

    def unsort(self, dY: Array, level: Level, new_level: Level, which: Array, out: Array = ...) -> Array:
        """The gradient of `sort`: each element at the row of its sequence that `which` names, else zeros."""

    def rank(self, values: Array, level: Level, method: str, descending: bool = ...) -> Array:
        """The rank of each number inside its sequence, from 1; `method` as SciPy's `rankdata` names ties."""

    def unique(
        self, values: Array, level: Level, inverse: bool = ..., counts: bool = ...
    ) -> tuple[Array, Array, Array, Level]:
        """Each sequence's distinct numbers in order, which of them rows are, how often; their level."""

    # Neighbours, windows and counts.
    def diff(self, values: Array, level: Level, n: int = ...) -> tuple[Array, Level]:
        """Each row less the one before it in its sequence, n times over, and the level of what is left."""

    def bincount(self, cells: Array, weights: Array, size: int) -> Array:
        """(size,): the sum of the weights of each cell."""

    def counts_there(self, ids: Array, level: Level, minlength: int, weights: Array) -> Array:
        """(n, k): how often each id is in each sequence, counted on a device; None where the host counts."""

    def search(self, values: Array, level: Level, queries: Array, sequences: Any, side: str) -> Array:
        """For each query the place inside its sequence, which ascends, before which it goes: int64."""

    def windows(
        self,
        values: Array,
        level: Level,
        size: int,
        step: int,
        drop_last: bool = ...,
        max_bytes: int | None = ...,
        share: bool = ...,
    ) -> tuple[Array, Level, Level]:
        """Windows of rows, end to end; the level of windows in each sequence, that of rows in each window."""

    def merge_windows(
        self,
        Y: Array,
        levels: Levels | None,
        level: Level,
        size: int,
        step: int,
        drop_last: bool,
        mean: bool,
        max_bytes: int | None = ...,
    ) -> Array:
        """(total, ...): the rows of windows added up, or averaged, where windows overlap."""

    def seq2col(
        self,
        values: Array,
        level: Level,
        left: int,
        right: int,
        dilation: int = ...,
        stride: int = ...,
        out: Array = ...,
        max_bytes: int | None = ...,
    ) -> tuple[Array, Level]:
        """Each row with its neighbours beside it, zeros outside its sequence; and the level of such rows."""

    def backprop_seq2col(
        self,
        dY: Array,
        level: Level,
        left: int,
        right: int,
        dilation: int = ...,
        stride: int = ...,
        out: Array = ...,
        max_bytes: int | None = ...,
        new_level: Level | None = ...,
    ) -> Array:
        """The gradient of `seq2col`: what lies beside each row goes back to where it stood."""

    # Rows taken, put in and added up.
    def take_rows(self, values: Array, rows: Array, max_bytes: int | None = ...) -> Array:
        """Rows by number, in any order, as lookups of one row each."""

    def spans(
        self, values: Array, level: Level, groups: Level, pairs: Numbers, max_bytes: int | None = ...
    ) -> tuple[Array, Level]:
        """The rows of (start, end) pairs of sequences, one span after another, and the level of spans."""

    def insert_rows(
        self, values: Array, places: Array, rows: Array = ..., max_bytes: int | None = ...
    ) -> Array:
        """New rows, zeros by default, each in front of the row of values that `places` names."""

    def insert_row(self, values: Array, places: Array, row: Any) -> Array:
        """One row (1, ...) in front of each of the rows that `places` names."""

    def remove_rows(self, dY: Array, places: Numbers) -> tuple[Array, Array]:
        """The gradient of both: that of the rows that were there, and of those that were put in."""

    def erase(self, values: Array, level: Level, tokens: Numbers) -> tuple[Array, Level]:
        """The rows that equal none of the tokens, and their level; NotImplemented under autograd."""

    def compress(self, values: Array, level: Level, marks: Numbers) -> tuple[Array, Level]:
        """The rows that a bool each marks, and their level; NotImplemented under autograd and on devices."""

    def gather_add(self, table: Array, indices: Array, out: Array = ...) -> Array:
        """For each row of indices (k, m) the sum of the m rows of the table that it names: (k, ...)."""

    def backprop_gather_add(self, dY: Array, indices: Array, rows: int, out: Array = ...) -> Array:
        """The gradient of the table, of so many rows."""

    def scatter_add(self, table: Array, indices: Array, values: Array) -> None:
        """Each row of values is added to the row of the table that its index names, in place."""

    # Hashes of keys, and of runs of them.
    def hash(self, ids: Array, seed: int) -> Array:
        """(k, 4) uint32: four hashes of each id."""

    def ngrams(self, n: int, keys: Array, level: Level) -> tuple[Array, Level]:
        """A hash of every n consecutive keys of a sequence, and the level of them."""

    # How far sequences are from each other, and from labels.
    def edit_distance(
        self, a: Array, a_level: Level, b: Array, b_level: Level, normalize: bool, counts: bool
    ) -> tuple[Array, Array]:
        """(n,) distances, or shares of the lengths of b; counts of the kinds of edits, or None."""

    def ctc_loss(
        self,
        log_probs: Array,
        level: Level,
        targets: Array,
        target_level: Level,
        blank: int,
        zero_infinity: bool,
    ) -> Array:
        """(n,): the loss of each sequence of log probabilities (total, classes)."""

    def backprop_ctc_loss(
        self,
        d: Array,
        log_probs: Array,
        level: Level,
        targets: Array,
        target_level: Level,
        blank: int,
        zero_infinity: bool,
    ) -> Array:
        """The gradient of the log probabilities, from that of the losses."""

    # Lists of arrays.
    def flatten(self, X: Array, dtype: Any = ..., pad: int = ...) -> Array:
        """Arrays end to end, with `pad` rows of zeros between them."""

    def list2ragged(self, arrays: Array, dtype: Any = ..., out: Array = ...) -> tuple[Array, Levels]:
        """Arrays end to end, and their level."""

    def ragged2list(self, values: Array, levels: Any) -> list[Array]:
        """Each sequence as a view; lists of lists of views where there are several levels."""

    def list2dense(
        self,
        arrays: Array,
        pad_to_multiple: int = ...,
        fill: Any = ...,
        padding_side: str = ...,
        max_len: int | None = ...,
        truncate: str = ...,
        mask: bool = ...,
        out: Array = ...,
        dtype: Any = ...,
        max_bytes: int | None = ...,
    ) -> Array:
        """Arrays of different lengths as one block (n, longest, ...), and its mask where asked."""

    def views(self, values: Array, begins: Any, ends: Any) -> list[Array]:
        """Rows from each begin to its end, sharing memory."""

    def as_array(self, x: Array, argument: str) -> Array:
        """What is given as an array of this kind, of any strides."""

    def is_contiguous(self, x: Array) -> bool:
        """Whether the memory of an array is in C order."""

    # Time-major blocks and packed rows.
    def list2padded(
        self, seqs: Array, ties: str = ..., fill: Any = ..., max_bytes: int | None = ...
    ) -> tuple[Array, Array, Array, Array]:
        """Arrays side by side, time-major, the longest first: the block, size_at_t, lengths and indices."""

    def ragged2padded(
        self, values: Array, level: Level, ties: str = ..., fill: Numbers = ..., max_bytes: int | None = ...
    ) -> tuple[Array, Array, Array, Array]:
        """The same of sequences."""

    def padded2ragged(
        self, data: Array, size_at_t: Numbers, lengths: Numbers, indices: Numbers
    ) -> tuple[Array, Level]:
        """The sequences of such a block, end to end in the order that they had, and their level."""

    def ragged2packed(self, values: Array, level: Level, table: Array) -> Array:
        """Rows in the packed order of a rank table: all first rows, then all second ones."""

    def packed2ragged(self, values: Array, table: Array) -> Array:
        """The inverse of `ragged2packed`."""

    def permute_rows(self, values: Array, rows: Array, inverse: Any) -> Array:
        """Rows in the order of a permutation, whose inverse is `inverse`."""

    # Masks and recurrent layers.
    def mask_to_level(self, mask: Numbers, padding_side: str) -> Level:
        """The level of the rows that a mask (n, longest) shows."""

    def mask(
        self,
        level: Level,
        max_len: int | None,
        padding_side: str,
        width: int | None,
        multiple: int,
        max_bytes: int | None,
        model: Any,
    ) -> Array:
        """(n, longest) bools, True where there is data, on the device of `model`."""

    def level_array(self, level: Level, name: str, model: Any) -> Array:
        """Row_ids, positions, lengths or int32 cu_seqlens of a level, by name, on the device of `model`."""

    def block_mask(
        self,
        level: Level,
        dtype: Any,
        lookback: int | None,
        lookahead: int | None,
        out: Array,
        max_bytes: int | None,
        model: Any = ...,
    ) -> Array:
        """(total, total): which rows may look at which; bools, or 0 and -inf in a float dtype."""

    def lstm(
        self, params: Any, H0: Array, C0: Array, X: Array, sizes: list[int], training: bool
    ) -> tuple[Array, tuple[Array, ...]]:
        """The forward pass of packed rows: Y, and the state that `backprop_lstm` takes."""

    def backprop_lstm(
        self, dY: Array, sizes: list[int], params: Any, state: tuple[Any, ...]
    ) -> tuple[Array, Array]:
        """Gradients of X and of params."""

    # Sequences picked, cut, brought together, and as rectangles.
    def gather(self, values: Array, levels: Levels, index: Numbers) -> tuple[Array, Levels]:
        """The sequences of a slice, a mask or integers, and their levels; slices of step 1 share memory."""

    def gather_row(self, values: Array, levels: Levels, i: int) -> tuple[Array, Levels]:
        """Sequence i, and the levels below it."""

    def gather_window(
        self, values: Array, levels: Levels, window: slice, index: Numbers = ...
    ) -> tuple[Array, Levels]:
        """A slice of every sequence, or of those of an index."""

    def gather_column(self, values: Array, levels: Levels, position: int) -> tuple[Array, Levels]:
        """Item `position` of every sequence, and the levels below it."""

    def concat(self, values: list[Array], axis: int = ..., argument: str = ...) -> Array:
        """Arrays one after another along an axis, of the dtype that holds all."""

    def concat_levels(self, levels: list[Level], /) -> Level:
        """The sequences of each level after those of the one before it."""

    def interleave(self, values: list[Array], levels: list[Level], argument: str) -> tuple[Array, Level]:
        """Sequence i of every part, end to end, and their level."""

    def from_list(self, data: Array, dtype: Any = ...) -> tuple[Array, Levels]:
        """Nested lists of numbers or arrays, end to end, and their levels."""

    def split(self, values: Array, level: Level) -> list[Array]:
        """The rows of each sequence, sharing memory."""

    def pad(
        self,
        values: Array,
        levels: Levels,
        padding_side: str = ...,
        fill: Numbers = ...,
        mask: bool = ...,
        max_len: Numbers = ...,
        truncate: str = ...,
        out: Array = ...,
        dtype: Any = ...,
        pad_to_multiple: int = ...,
        max_bytes: int | None = ...,
        sizes: Any = ...,
    ) -> Array:
        """A block (n, longest, ...) of sequences, and its mask where asked; one axis for each level."""

    def gather_dense(
        self,
        values: Array,
        levels: Levels,
        indices: Array,
        positions: bool,
        padding_side: str,
        fill: Numbers,
        max_len: Any,
        truncate: str,
        dtype: Any,
        multiple: int,
        max_bytes: int | None,
    ) -> tuple[Array, ...]:
        """The block of some sequences, its mask, and positions where asked."""

    def unpad(self, block: Array, levels: Levels, padding_side: str = ..., out: Array = ...) -> Array:
        """The rows of a block that the levels say are there."""

    # Sequences repeated as a whole, and the gradient of that.
    def repeat(self, values: Array, levels: Levels, times: Level) -> tuple[Array, Levels]:
        """The sequences of the first level, each as often as that of `times` is long, and their levels."""

    def reduce_blocks(self, dY: Array, groups: Level, blocks: Level) -> Array:
        """The gradient of `repeat`: the repeats of each sequence, added up."""

    def in_parts(self, values: Array, add: Any) -> Array:
        """What `add`, which adds rows up, gives; complex numbers are passed to it as two columns."""

    # Numbers put in, axes moved, images.
    def put_rows(self, values: Array, places: Array, rows: Array) -> Array:
        """Values with the rows `places` replaced; a copy, or values themselves where these may be written."""

    def fill_where(self, values: Array, gaps: Array, fill: Numbers) -> Array:
        """Values with one number wherever a mask is true; the same memory where it may be written."""

    def add_rows(self, table: Array, rows: Array, places: Any) -> Array:
        """A copy of a table after each row was added to the row that its place names."""

    def transpose(self, values: Array, axes: tuple[int, ...]) -> Array:
        """Axes in another order; a view."""

    def order_with_nan_first(self, values: Array, level: Level) -> Array:
        """The row numbers of each sequence, the largest value first, NaN before all; ties in their order."""

    def pad_images(self, images: Array, padding: tuple[int, int, int, int]) -> Array:
        """Images (n, channels, height, width) with zeros around them: up, left, below, right."""

    def patches(self, images: Array, size: tuple[int, int], stride: tuple[int, int]) -> Array:
        """(n, down, across, channels, *size): the patches of images."""

    # Values as what they are.
    def cast(self, values: Array, dtype: Any, argument: str) -> Array:
        """Numbers in another dtype; one that it does not hold is an error that names the argument."""

    def to_dtype(self, values: Array, dtype: Any) -> Array:
        """Values in a dtype, themselves where they have it; floats round, integers wrap."""

    def contiguous(self, x: Array) -> Array:
        """An array in C order, copied only where it was not."""

    def take_columns(self, x: Array, columns: Any) -> Array:
        """Some columns, in any order."""

    def zeros(self, values: Array, shape: tuple[int, ...]) -> Array:
        """Zeros of the dtype of values, where they lie."""

    def tile(self, values: Array, multiples: tuple[int, ...]) -> Array:
        """What lies along each axis, so many times."""

    def astype(self, values: Array, dtype: Any) -> Array:
        """Values of another dtype, always copied."""

    def readable(self, values: Array) -> Array:
        """Values as an array on the CPU that NumPy can print."""

    def as_rows(self, x: Array, argument: str = ...) -> Array:
        """What is given as rows that kernels read: in C order, copied only where it was not."""

    def as_numpy(self, values: Array) -> Array:
        """The memory of values as an array that shares it."""

    def apply_rows(self, values: Array, call: Any) -> Array:
        """What `call` gives for the memory of values, which it only moves, and what it says beside."""

    def copy(self, values: Array) -> Array:
        """Values in memory of their own."""

    def device_of(self, values: Array) -> str:
        """Where values are: "cpu", "cuda:0"."""

    def to_device(self, values: Array, device: Any, non_blocking: bool) -> Array:
        """Values on a device, themselves where they lie there."""

    def pin(self, values: Array) -> Array:
        """Values in memory of the host that a device reads by itself."""

    def row_as(self, value: Numbers, values: Array, argument: str) -> Array:
        """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of values."""

    def to_state(self, values: Array) -> Array:
        """What a pickle holds of values."""

    def take(self, values: Array, rows: Array) -> Array:
        """Rows by number, in any order."""

    def layer_norm(self, values: Array, axes: int, scale: Any, bias: Any, eps: float) -> Array:
        """Each row less its mean, over its standard deviation; a row is the last `axes` axes."""

    def true_places(self, marks: Any) -> Array:
        """The places of the bools that are True: int64."""

    def broadcast_rows(self, rows: Array, level: Level) -> Array:
        """Row i for every row of sequence i, of any dtype."""

    def like(self, array: Array, values: Array) -> Array:
        """An array of NumPy as one of the kind of values, on their device."""

    def from_memory(self, array: Array, values: Array) -> Array:
        """What the core made of `as_numpy(values)`, as values of their kind and dtype."""

    def where(self, mask: Array, values: Array, others: Array) -> Array:
        """Values where a mask is true, others where it is not; both may be numbers."""

    def ufunc(self, function: Any, inputs: list[Array], kwargs: dict[str, Any]) -> Array:
        """What the ufunc, or the one of a name, makes of its inputs; "sigmoid", which NumPy lacks, too."""

    def equal(self, a: Array, b: Array, equal_nan: bool) -> bool:
        """Whether arrays of one shape have equal entries."""

    # Products of matrices that lie end to end.
    def product(self, a: Array, A: Blocks, b: Array, B: Blocks) -> Array:
        """The products of matrices that lie end to end."""

    def promote_pair(self, a: Array, b: Array) -> tuple[Array, Array]:
        """Both as arrays of one dtype, on the device of the first."""

    def einsum(
        self,
        equation: Equation,
        values: list[Array],
        levels: Levels,
        extents: tuple[int, ...],
        out: Array = ...,
    ) -> Array:
        """The sum of products of one or two arrays of one dtype."""

    # Results.
    def assign(self, out: Array, result: Array) -> Array:
        """`out` with the numbers of a result, of whose dtype and shape it has to be."""


VERBS = tuple(name for name in vars(Backend) if name[0] != "_")
