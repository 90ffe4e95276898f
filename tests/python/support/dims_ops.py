"""Ops over named dims, in one table: what they take, and how the model of them is called.

A test that holds for all ops goes through `OPS`; letters stand for dims, as in
`varlen.testing.strategies_data`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st
from oracles.dims import arithmetic, lines, moves
from varlen import Dim
from varlen.testing.model import Axis, walk
from varlen.testing.strategies_data import bound, other_over, sample_of, samples, values

MODEL = SimpleNamespace(**vars(arithmetic) | vars(moves) | vars(lines))
"""All ops of the model by their names."""

# What has a name of its own in the results, and other operands: the same in all draws.
NEW = Dim(name="new")
PICKS = Dim(name="picks", kind="spatial")
MORE = Dim(name="more", kind="spatial")
WIDTH = Dim(3, name="width")
OUT = Dim(2, name="out", kind="feature")
BINS = Dim(3, name="bins")


@dataclass
class Op:
    """One op: `run` takes a namespace of ops, the operands and their dims by letter."""

    run: Callable[..., Any]
    shapes: tuple[str, ...] = ("BT", "BTF", "BTS", "BTU", "BHTF")
    operands: list[Callable[[Any], Any]] = field(default_factory=list)
    dtype: str = "float64"
    min_size: int = 0
    keeps_rows: bool = True


def over(letters, dtype="float64"):
    """An operand over some of these dims."""
    return lambda x: other_over(x, letters, dtype)


def all_over(letters, dtype="float64"):
    """An operand over all of these dims."""
    return lambda x: numbers_over([x.letters()[each] for each in letters], values(dtype))


def numbers_over(dims, numbers):
    count = len(walk([Axis.from_dim(dim) for dim in dims]))
    return st.lists(numbers, min_size=count, max_size=count).map(lambda drawn: sample_of(dims, drawn))


def with_dim(name, letters, numbers=None, longest=3):
    """An operand over dims of the sample, and one of its own that is dynamic over the batch."""

    def draw(x):
        dims = [x.letters()[each] for each in letters]
        batch = x.letters()["B"]
        lengths = st.lists(st.integers(0, longest), min_size=batch.max_size(), max_size=batch.max_size())
        return lengths.flatmap(
            lambda drawn: numbers_over(
                [batch, bound(name, drawn, [batch]), *dims], values() if numbers is None else numbers
            )
        )

    return draw


def picks(x):
    """Positions on T that are there: none in rows of none."""
    batch, time = x.letters()["B"], Axis.from_dim(x.letters()["T"])
    lengths = [time.length(at) for at in walk([Axis.from_dim(batch)])]
    dims = [batch, bound(PICKS, [min(2, n) for n in lengths], [batch])]
    where = [at[batch] for at in walk([Axis.from_dim(dim) for dim in dims])]
    return st.tuples(*(st.integers(0, lengths[b] - 1) for b in where)).map(
        lambda drawn: sample_of(dims, drawn)
    )


def small(x):
    """A count for each position of B and T."""
    return numbers_over([x.letters()[each] for each in "BT"], st.integers(0, 2))


def amounts(x):
    """A small int for each row."""
    return numbers_over([x.letters()["B"]], st.integers(-3, 3))


def weights(x):
    return numbers_over([WIDTH, x.letters()["F"], OUT], values())


OPS = {
    "add": Op(lambda o, d, x, y: o.combine("add", x, y), operands=[over("BTSUHF")]),
    "less": Op(lambda o, d, x, y: o.combine("lt", x, y), operands=[over("BTSUHF")]),
    "where": Op(lambda o, d, x, c, y: o.where(c, x, y), operands=[over("BTSUHF", "bool"), over("BTSUHF")]),
    "softmax": Op(lambda o, d, x: o.softmax(x, [d["T"]])),
    "softmax_masked": Op(
        lambda o, d, x, m: o.softmax(x, [d["T"]], mask=m), operands=[all_over("BT", "bool")]
    ),
    "log_softmax_two": Op(lambda o, d, x: o.log_softmax(x, [d["T"], d["S"]]), ("BTS", "BTSF")),
    "dot": Op(lambda o, d, x, y: o.dot(x, y, [d["T"]]), operands=[over("BTSF")]),
    "dot_static": Op(lambda o, d, x, y: o.dot(x, y, [d["F"]]), ("BTF", "BTSF"), [over("BTSF")]),
    "dot_over_rows": Op(
        lambda o, d, x, y: o.dot(x, y, [d["B"], d["T"]]), operands=[over("BTSF")], keeps_rows=False
    ),
    "concat": Op(lambda o, d, x, y: o.concat([(x, d["T"]), (y, MORE)]), ("BTF",), [with_dim(MORE, "F")]),
    "stack": Op(lambda o, d, x, y: o.stack([x, y], OUT), ("BTF",), [all_over("BTF")]),
    "pad": Op(lambda o, d, x: o.pad(x, d["T"], 1, 2, value=5)),
    "pad_reflect": Op(lambda o, d, x: o.pad(x, d["T"], 3, 1, mode="reflect"), ("BT", "BTF", "BTS")),
    "pad_replicate": Op(lambda o, d, x: o.pad(x, d["T"], 1, 2, mode="replicate"), ("BT", "BTF", "BTS")),
    "slice": Op(lambda o, d, x: o.slice_dim(x, d["T"], 1, -1)),
    "slice_backward": Op(lambda o, d, x: o.slice_dim(x, d["T"], None, None, -2, out_dim=NEW)),
    "slice_by_row": Op(
        lambda o, d, x, a, b: o.slice_dim(x, d["T"], a, b, out_dim=NEW), operands=[amounts, amounts]
    ),
    "shift": Op(lambda o, d, x: o.shift(x, d["T"], 1)),
    "reverse": Op(lambda o, d, x: o.reverse(x, d["T"])),
    "merge_dims": Op(lambda o, d, x: o.merge_dims(x, [d["T"], d["F"]]), ("BTF", "BTSF", "BHTF")),
    "merge_two_dynamic": Op(lambda o, d, x: o.merge_dims(x, [d["S"], d["T"]]), ("BTS", "BTSF")),
    "split_dims": Op(lambda o, d, x: o.split_dims(x, d["T"], [NEW, OUT], pad_value=0)),
    "flatten": Op(lambda o, d, x: o.flatten(x, [d["T"], d["F"]], NEW), ("BTF", "BTSF")),
    "flatten_batch": Op(lambda o, d, x: o.flatten(x, [d["B"], d["T"]], NEW), keeps_rows=False),
    "flatten_time_major": Op(lambda o, d, x: o.flatten(x, [d["T"], d["B"]], NEW), keeps_rows=False),
    "masked_select": Op(
        lambda o, d, x, m: o.masked_select(x, m, [d["T"]], NEW), operands=[all_over("BT", "bool")]
    ),
    "masked_select_batch": Op(
        lambda o, d, x, m: o.masked_select(x, m, [d["B"], d["T"]], NEW),
        operands=[all_over("BT", "bool")],
        keeps_rows=False,
    ),
    "masked_scatter": Op(
        lambda o, d, x, m: o.masked_scatter(o.masked_select(x, m, [d["T"]], NEW), NEW, m, [d["T"]], backup=7),
        ("BT", "BTF", "BTS"),
        [all_over("BT", "bool")],
    ),
    "gather": Op(lambda o, d, x, i: o.gather(x, i, d["T"]), operands=[picks]),
    "scatter": Op(
        lambda o, d, x, i: o.scatter(x, i, [d["T"]], BINS, mode="max"), ("BT", "BTF", "BTS"), [small]
    ),
    "scatter_batch": Op(
        lambda o, d, x, i: o.scatter(x, i, [d["B"], d["T"]], BINS),
        ("BT", "BTF"),
        [small],
        keeps_rows=False,
    ),
    "cumsum": Op(lambda o, d, x: o.cumulate(x, "sum", d["T"]), ("BT", "BTF", "BTS")),
    "cummax_backward": Op(
        lambda o, d, x: o.cumulate(x, "max", d["T"], backward=True, exclusive=True), ("BT", "BTF", "BTS")
    ),
    "repeat": Op(lambda o, d, x, n: o.repeat(x, d["T"], n, NEW), operands=[small]),
    "top_k": Op(lambda o, d, x: o.top_k(x, [d["T"]], 2, NEW)[0], ("BT", "BTF", "BTS")),
    "top_k_places": Op(lambda o, d, x: o.top_k(x, [d["T"], d["S"]], 3, NEW)[1][1], ("BTS", "BTSF")),
    "sort": Op(lambda o, d, x: o.sort(x, d["T"])[0], ("BT", "BTF", "BTS")),
    "sort_places": Op(lambda o, d, x: o.sort(x, d["T"], descending=True)[1], ("BT", "BTF", "BTS")),
    "search_sorted": Op(
        lambda o, d, x, v: o.search_sorted(o.sort(x, d["T"])[0], d["T"], v),
        ("BT", "BTF"),
        [with_dim(PICKS, "")],
    ),
    "unique": Op(lambda o, d, x: o.unique(x, d["T"], NEW)[0], ("BT", "BTF", "BTS")),
    "unique_counts": Op(lambda o, d, x: o.unique(x, d["T"], NEW)[2], ("BT", "BTF", "BTS")),
    "window": Op(lambda o, d, x: o.window(x, d["T"], WIDTH, stride=2), ("BT", "BTF", "BTS")),
    "window_valid": Op(lambda o, d, x: o.window(x, d["T"], WIDTH, padding="valid"), ("BT", "BTF", "BTS")),
    "max_pool": Op(lambda o, d, x: o.pool(x, "max", d["T"], 2), ("BT", "BTF", "BTS")),
    "mean_pool": Op(
        lambda o, d, x: o.pool(x, "mean", d["T"], 3, stride=2, padding="same"), ("BT", "BTF", "BTS")
    ),
    "conv1d": Op(
        lambda o, d, x, w: o.conv1d(x, w, d["T"], WIDTH, d["F"], padding="same", stride=2),
        ("BTF",),
        [weights],
    ),
    "conv1d_valid": Op(
        lambda o, d, x, w: o.conv1d(x, w, d["T"], WIDTH, d["F"], dilation=2), ("BTF", "BTSF"), [weights]
    ),
    "expand": Op(lambda o, d, x: o.expand(x, OUT)),
    "one_hot": Op(lambda o, d, x: o.one_hot(x, BINS), dtype="places"),
    "layer_norm": Op(lambda o, d, x: o.layer_norm(x, [d["F"]], epsilon=0.1), ("BTF", "BTSF")),
    "layer_norm_time": Op(lambda o, d, x: o.layer_norm(x, [d["T"]], epsilon=0.1)),
    "batch_norm": Op(lambda o, d, x: o.batch_norm(x, d["F"], epsilon=0.1), ("BTF", "BTSF"), keeps_rows=False),
    "cross_entropy": Op(
        lambda o, d, x, t: o.cross_entropy(x, t, d["F"]),
        ("BTF", "BTSF"),
        [lambda x: numbers_over([x.letters()[each] for each in "BT"], st.integers(0, 0))],
        min_size=1,
    ),
}
for mode in arithmetic.EMPTY:
    dtype = "bool" if mode in ("any", "all") else "float64"
    OPS[mode] = Op(lambda o, d, x, mode=mode: o.reduce(x, mode, [d["T"]]), dtype=dtype)
    OPS[f"{mode}_batch"] = Op(
        lambda o, d, x, mode=mode: o.reduce(x, mode, [d["B"]]),
        ("BTS", "BTSF", "BHTF") if mode.startswith("arg") else ("BT", "BTS", "BTSF", "BTU"),
        dtype=dtype,
        keeps_rows=False,
    )
    OPS[f"{mode}_two"] = Op(
        lambda o, d, x, mode=mode: o.reduce(x, mode, [d["T"], d["F"]]), ("BTF", "BTSF", "BTUF"), dtype=dtype
    )


@st.composite
def drawn(draw, op):
    """The sample that an op takes, and its other operands."""
    if op.dtype == "places":
        x = draw(samples("int64", shapes=op.shapes))
        x = sample_of(x.dims, [n % 3 for n in x.model.table.values()])
    else:
        x = draw(samples(op.dtype, shapes=op.shapes, min_size=op.min_size))
    return [x, *(draw(operand(x)) for operand in op.operands)]
