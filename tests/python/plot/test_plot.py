"""Pictures: what they draw of each kind of source, what they say, and how little they read."""

import sys
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from varlen.display.picture import count_lengths
from varlen.plot.blocks import block_of

plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib comes with the extra `plot`")
plt.switch_backend("agg")


@pytest.fixture(autouse=True)
def _no_figures():
    yield
    plt.close("all")


NESTED = [[[3, 1], [4]], [], [[1, 5]]]


def joint(**more):
    rows = {"age": [61, 40, 7], "time": [[0.5, 2.0], [], [5.5]], "code": NESTED}
    return vl.JointNestedRaggedTensorDict({**rows, **more})


def title(ax):
    return ax.get_title(loc="left").splitlines()


def bars(ax):
    """(counts, edges) of a histogram."""
    (stairs,) = ax.patches
    return stairs.get_data().values.tolist(), stairs.get_data().edges.tolist()


def data():
    time = vl.Dim("time", lengths=[2, 0, 1])
    return vl.Data(np.arange(3.0), [vl.dims.batch_dim, time])


SOURCES = {
    "ragged": lambda: vl.Ragged(np.arange(3), [2, 0, 1]),
    "padded": lambda: vl.Ragged(np.arange(3), [2, 0, 1]).to_padded(),
    "level": lambda: vl.Level.from_lengths([2, 0, 1]),
    "list": lambda: [2, 0, 1],
    "array": lambda: np.array([2, 0, 1], np.uint8),
    "data": data,
    "joint": lambda: joint().select(["time"]),
    "dataset": lambda: vl.Dataset(joint()).select([0, 1, 2]),
    "sampler": lambda: vl.data.BatchSampler([2, 0, 1], 2),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_lengths_of_every_kind_of_source(kind):
    ax = vl.plot.lengths(SOURCES[kind](), level=0)
    assert bars(ax) == ([1, 1, 1], [-0.5, 0.5, 1.5, 2.5])
    assert title(ax)[1] == "3 sequences, 1 empty"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "sequences")


def test_lengths_of_tensors():
    torch = pytest.importorskip("torch")
    assert bars(vl.plot.lengths(torch.tensor([2, 0, 1])))[0] == [1, 1, 1]
    assert bars(vl.plot.lengths(vl.Ragged(torch.ones(3), [2, 0, 1])))[0] == [1, 1, 1]


def test_lengths_draws_each_level():
    axes = vl.plot.lengths(joint())
    assert [title(ax)[0] for ax in axes] == ["Lengths at level 0", "Lengths at level 1"]
    assert bars(axes[1]) == ([1, 2], [0.5, 1.5, 2.5])
    assert title(vl.plot.lengths(vl.Ragged.from_list(NESTED), level=-1))[0] == "Lengths at level 1"
    mine = plt.subplots(1, 2)[1]
    assert vl.plot.lengths(joint(), ax=list(mine)).tolist() == list(mine)
    assert vl.plot.lengths(joint(), key="time", ax=mine[0]) is mine[0]


def test_lengths_bins_a_million_sequences():
    lengths = np.full(1_000_000, 7)
    lengths[3] = 4106
    counts, edges = bars(vl.plot.lengths(lengths, bins=40))
    assert (counts[0], counts[-1], sum(counts), len(counts)) == (999_999, 1, 1_000_000, 40)
    assert (edges[0], edges[-1] >= 4106.5) == (6.5, True)


def test_lengths_marks_the_median_and_the_tail():
    ax = vl.plot.lengths([1] * 10 + [2] * 9 + [9])
    assert [line.get_xdata()[0] for line in ax.lines] == [1, 2]
    assert title(ax)[2] == "median 1, 95% up to 2 (dashed)"


def test_padding_is_what_samplers_say():
    lengths = np.random.default_rng(0).integers(0, 50, 300)
    ax = vl.plot.padding(lengths, batch_sizes=[4, 16, 1000])
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert list(lines) == ["random", "LengthBuckets", "TokenBudget", "sorted", "BinPacking"]
    want = [vl.data.BatchSampler(lengths, size, shuffle=True).padding_share() for size in (4, 16)]
    assert lines["random"] == want
    assert all(lines["sorted"][i] < lines["random"][i] for i in (0, 1))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0] == "random"
    assert sorted(labels) == sorted(lines)


def test_padding_takes_rules_of_users():
    rules = {
        "by hand": lambda lengths, size: [[0, 1], [2], []],
        "sampler": lambda lengths, size: vl.data.LengthBuckets(lengths, size, shuffle=False),
    }
    lines = vl.plot.padding([3, 1, 2], batch_sizes=[2], samplers=rules).lines
    assert [line.get_ydata()[0] for line in lines] == pytest.approx([2 / 8, 1 / 7])


def test_padding_samples_many_rows(monkeypatch):
    monkeypatch.setattr("varlen.plot.padding_curves.MOST_ROWS", 100)
    ax = vl.plot.padding(np.arange(1000), samplers=["random"])
    assert title(ax) == ["Padding by batch size", "a sample of 100 of 1,000 rows"]


def cells(ax):
    """The values that are drawn, None for padding."""
    (image,) = ax.images
    return image.get_array().tolist()


ROWS = [[3.0, 1.0, 4.0], [], [1.0, 5.0]]
CELLS = [[3.0, 1.0, 4.0], [None] * 3, [1.0, 5.0, None]]


def ragged():
    return vl.Ragged.from_list(ROWS)


def batch(**options):
    return vl.Dataset(vl.JointNestedRaggedTensorDict({"x": ROWS})).batch([0, 1, 2], **options)


BATCHES = {
    "ragged": ragged,
    "masked": lambda: np.ma.masked_array(
        *(f(m) for f, m in zip((np.array, np.logical_not), dense(), strict=True))
    ),
    "data": lambda: batch(layout="named")["x"],
    "named batch": lambda: batch(layout="named"),
    "joint dict": lambda: vl.JointNestedRaggedTensorDict({"id": [7, 8, 9], "x": ROWS}),
    "packed steps": lambda: ragged().pack(),
    "padded batch": batch,
    "ragged batch": lambda: batch(layout="ragged"),
    "torch batch": lambda: pytest.importorskip("torch") and batch(framework="torch"),
}


def dense():
    values, mask = ragged().to_dense(mask=True)
    return values, mask


@pytest.mark.parametrize("kind", BATCHES)
def test_raster_of_every_kind_of_batch(kind):
    ax = vl.plot.raster(BATCHES[kind]())
    assert cells(ax) == CELLS
    assert title(ax) == ["3 rows of 3 steps", "44% padding (hatched)"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "row")


@given(st.lists(st.lists(st.integers(-9, 9), max_size=6), min_size=1, max_size=6))
def test_blocks_of_any_rows_are_those_of_plain_lists(rows):
    width = max(map(len, rows))
    r = vl.Ragged(np.array([x for row in rows for x in row], int), [len(row) for row in rows])
    for source in (r, vl.JointNestedRaggedTensorDict({"x": r})):
        block = block_of(source, None, None, 99, 99)
        assert block.mask.tolist() == [[i < len(row) for i in range(width)] for row in rows]
        assert [row[mask].tolist() for row, mask in zip(block.values, block.mask, strict=True)] == rows
        assert block.padding == pytest.approx(1 - len(r.values) / (len(rows) * width) if width else 0)
        assert block.shape == (len(rows), width)


@given(st.lists(st.integers(0, 300), min_size=1), st.integers(1, 50))
def test_bars_count_every_length(numbers, bins):
    counts, edges = count_lengths(np.array(numbers), bins)
    assert len(counts) <= bins
    want = [sum(low <= n < high for n in numbers) for low, high in pairwise(edges)]
    assert counts.tolist() == want
    assert sum(want) == len(numbers)


def test_raster_of_arrays_with_a_mask():
    values, mask = dense()
    assert cells(vl.plot.raster(values, mask=mask)) == CELLS
    assert title(vl.plot.raster(values))[1] == "0% padding (hatched)"
    left, left_mask = ragged().to_dense(padding_side="left", mask=True)
    assert cells(vl.plot.raster(left, mask=left_mask))[2] == [None, 1.0, 5.0]


def test_raster_of_padded_and_packed_rows():
    longest_first = [CELLS[0], CELLS[2], CELLS[1]]
    assert cells(vl.plot.raster(ragged().to_padded())) == longest_first
    packed = batch(layout="packed", pad_to=4)
    assert cells(vl.plot.raster(packed, "x")) == [[3.0, 1.0, 4.0, None], [1.0, 5.0, None, None]]
    assert cells(vl.plot.raster(batch(padding_side="left")))[2] == [None, 1.0, 5.0]


def test_raster_lays_inner_levels_side_by_side():
    r = vl.Ragged.from_list(NESTED)
    want = [[3, 1, 4, None], [None] * 4, [1, 5, None, None]]
    assert cells(vl.plot.raster(r)) == want
    both = vl.Dataset(joint()).batch([0, 1, 2])
    assert cells(vl.plot.raster(both, "code")) == want
    assert title(vl.plot.raster(both))[0] == "3 rows of 2 steps"


def test_raster_tells_nan_from_padding():
    ax = vl.plot.raster(vl.Ragged.from_list([[1.0, np.nan], [2.0]]))
    assert cells(ax) == [[1.0, 5.0], [2.0, None]]  # above the largest finite one
    assert title(ax)[1] == "25% padding (hatched), 1 not finite (red)"


def test_raster_writes_small_values_and_words():
    def texts(source):
        return sorted(text.get_text() for text in vl.plot.raster(source).texts)

    assert texts(ragged()) == ["1", "1", "3", "4", "5"]
    assert texts(vl.Ragged(np.array(["to", "be", "or"]), [2, 1])) == ["be", "or", "to"]
    assert texts(vl.Ragged(np.arange(3000.0), [1500, 1500])) == []


def test_raster_reads_the_first_rows_and_steps_only():
    r = vl.Ragged(np.zeros(1_000_000), np.full(100_000, 10))
    ax = vl.plot.raster(r, max_rows=5, max_steps=4)
    assert title(ax) == ["100,000 rows of 10 steps", "first 5 x 4 drawn; 0% padding (hatched)"]
    deep = vl.Ragged.from_list([[[0] * 50_000, [1]], [[2]]])
    assert np.shape(cells(vl.plot.raster(deep, max_steps=100))) == (2, 100)


def test_raster_of_vectors_has_one_colour():
    ax = vl.plot.raster(vl.Ragged(np.ones((3, 2)), [2, 1]))
    assert cells(ax) == [[0.0, 0.0], [0.0, None]]
    assert len(ax.figure.axes) == 1


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def marks(ax):
    """(x, y) of every line that is drawn."""
    return [
        (np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()) for line in ax.lines
    ]


def test_timeline_has_a_lane_for_each_word():
    words = vl.JointNestedRaggedTensorDict(
        {"time": [[0.5, 2.0]], "code": [[["b", "a"], ["b"]]], "sex": ["F"]}, schema={"code": str, "sex": str}
    )
    for source in (words, vl.Dataset(words), words[0]):
        ax = vl.plot.timeline(source)
        assert labels(ax) == ["b", "a"]
        ((x, y),) = marks(ax)
        assert x == [0.5, 0.5, 2.0]
        assert y[0] == y[2] < y[1]
        assert title(ax)[1] == "sex F"
        assert ax.get_xlabel() == "time"


def test_timeline_scales_numbers_to_their_lane():
    record = {"time": [1.0, 3.0, 2.0], "pulse": [60.0, 90.0, np.nan]}
    ax = vl.plot.timeline(record)
    assert labels(ax) == ["90", "60"]
    ((x, y),) = marks(ax)
    assert x == [1.0, 3.0]
    assert y[0] > y[1]  # time 1 has the smaller value, which is lower: y grows downwards
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_timeline_takes_times():
    days = np.array(["2020-01-01", "NaT", "2020-03-01"], "M8[D]")
    J = vl.JointNestedRaggedTensorDict({"time": [days], "x": [np.array([1.0, 2.0, 3.0])]})
    ax = vl.plot.timeline(J)
    assert len(marks(ax)[0][0]) == 2
    waits = np.array([1, 2], "m8[h]")
    J = vl.JointNestedRaggedTensorDict({"wait": [waits], "x": [np.array([1.0, 3.0])]})
    ax = vl.plot.timeline(J, "wait")
    assert (ax.get_xlabel(), marks(ax)[0][0]) == ("wait (hours)", [1.0, 2.0])


def test_timeline_gathers_rare_words():
    codes = [str(i) for i in range(20)] + ["0"]
    record = vl.JointNestedRaggedTensorDict(
        {"time": [list(range(21))], "code": [codes]}, schema={"code": str}
    )
    ax = vl.plot.timeline(record)
    assert len(labels(ax)) == 8
    assert (labels(ax)[0], labels(ax)[-1]) == ("0", "13 others")


def test_timeline_draws_times_alone():
    assert labels(vl.plot.timeline({"time": [1.0, 2.0]})) == ["time"]


def test_timeline_draws_the_first_values_of_many(monkeypatch):
    monkeypatch.setattr("varlen.plot.events.MOST_EVENTS", 5)
    ax = vl.plot.timeline({"time": list(range(9)), "x": [0.5] * 9})
    assert title(ax) == ["9 events, first 5 values drawn"]
    assert len(marks(ax)[0][0]) == 5


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda ax: vl.plot.lengths([], ax=ax), "no sequences"),
        (lambda ax: vl.plot.padding([], ax=ax), "no rows"),
        (lambda ax: vl.plot.raster(vl.Ragged(np.zeros(0), []), ax=ax), "no rows"),
        (lambda ax: vl.plot.raster(vl.Ragged(np.zeros(0), [0, 0]), ax=ax), "no steps"),
        (lambda ax: vl.plot.timeline(joint(), row=1, ax=ax), "no events"),
    ],
)
def test_pictures_of_nothing_are_labelled(draw, text):
    ax = plt.subplots()[1]
    assert draw(ax) is ax
    assert [each.get_text() for each in ax.texts] == [text]
    assert ax.get_xlabel()
    assert title(ax)


@pytest.mark.parametrize(
    ("draw", "error", "text"),
    [
        (
            lambda: vl.plot.lengths("a.nrt"),
            TypeError,
            "^source: expected a Ragged.* vl.open.path. opens files",
        ),
        (lambda: vl.plot.lengths([1.5]), TypeError, "^source: .* got an array of float64"),
        (lambda: vl.plot.lengths([[1], [2, 3]]), ValueError, "^source: .* lists of different lengths"),
        (lambda: vl.plot.lengths([1, -1]), ValueError, "-1"),
        (lambda: vl.plot.lengths([1], level=1), ValueError, "^level: 1 is out of range for 1 levels"),
        (lambda: vl.plot.lengths([1], key="x"), TypeError, "^key: only a joint dict and a Dataset have keys"),
        (
            lambda: vl.plot.lengths(joint(), key="x"),
            KeyError,
            "^\"?'?key: there is no 'x'; there are age, code",
        ),
        (lambda: vl.plot.lengths(joint(), key="age"), ValueError, "^source: key 'age' has one value a row"),
        (lambda: vl.plot.lengths([1], bins=0), ValueError, "^bins: expected at least 1, got 0"),
        (lambda: vl.plot.lengths([1], ax=3), TypeError, "^ax: expected an Axes of matplotlib, got int"),
        (
            lambda: vl.plot.lengths(joint(), ax=3),
            ValueError,
            "^ax: expected Axes for each of 2 levels, got 1",
        ),
        (lambda: vl.plot.padding([1], samplers=["x"]), ValueError, "^samplers: 'x' is none of random"),
        (
            lambda: vl.plot.padding([1], samplers={"x": 3}),
            TypeError,
            r"^samplers\['x'\]: expected a function",
        ),
        (
            lambda: vl.plot.padding([1], batch_sizes=[0]),
            ValueError,
            "^batch_sizes: expected at least 1, got 0",
        ),
        (lambda: vl.plot.raster(3), TypeError, "^source: expected a batch, Ragged"),
        (lambda: vl.plot.raster(vl.Dataset(joint())), TypeError, "got Dataset; ds.batch.rows. makes a batch"),
        (lambda: vl.plot.raster(joint(), "age"), ValueError, "^source: key 'age' has one value a row"),
        (lambda: vl.plot.raster(joint(), "y"), KeyError, "there is no 'y'; there are age, code, time"),
        (lambda: vl.plot.raster([1, 2]), ValueError, r"^source: expected rows and steps, got shape \(2,\)"),
        (lambda: vl.plot.raster(batch(), "y"), KeyError, "^\"?'?key: there is no 'y'; there are"),
        (lambda: vl.plot.raster(ragged(), "y"), TypeError, "^key: only a batch has keys, got Ragged"),
        (lambda: vl.plot.raster(np.ones((2, 3)), mask=[True]), ValueError, "^mask: expected the first axes"),
        (lambda: vl.plot.raster(ragged(), mask=[True]), ValueError, "^mask: "),
        (lambda: vl.plot.timeline(3), TypeError, "^source: expected a Dataset, a joint dict or a record"),
        (lambda: vl.plot.timeline(joint(), "when"), KeyError, "^\"?'?time: there is no 'when'"),
        (
            lambda: vl.plot.timeline(vl.Dataset(joint()), "age"),
            ValueError,
            "^time: 'age' has one value in a record",
        ),
        (
            lambda: vl.plot.timeline({"time": ["a", "b"]}),
            TypeError,
            "^time: expected numbers or times in 'time', got words",
        ),
        (
            lambda: vl.plot.timeline({"time": [True]}),
            TypeError,
            "^time: expected numbers or times in 'time', got bool",
        ),
        (lambda: vl.plot.timeline(joint(), row=3), IndexError, "^row: 3 is out of range for 3 rows"),
        (lambda: vl.plot.timeline(joint()[0], row=0), TypeError, "^row: this is one record already"),
        (lambda: vl.plot.timeline(joint(), keys=["x"]), KeyError, "^\"?'?keys: there is no 'x'"),
        (
            lambda: vl.plot.timeline(joint(), keys=["age"]),
            ValueError,
            "^keys: 'age' has no value for each 'time'",
        ),
    ],
)
def test_errors_name_the_argument(draw, error, text):
    with pytest.raises(error, match=text):
        draw()
    assert len(plt.get_fignums()) <= 1


def test_pictures_need_matplotlib_only_when_they_are_drawn(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ImportError, match=r"needs matplotlib, which is not installed; pip install 'varlen\[plot\]'"
    ):
        vl.plot.lengths([1, 2])
