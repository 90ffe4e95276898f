"""Cross entropy, CTC and edit distance over dims: against models, with gradients, and what they refuse."""

import math

import numpy as np
import pytest
from dims_ops import numbers_over
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.dims import arithmetic as model
from oracles.losses import edits
from varlen import Data, Dim, dims, ops
from varlen.dims import batch_dim
from varlen.testing.model import Model, differences, take
from varlen.testing.strategies_data import data_of, orders, row_alone, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
few = settings(max_examples=60, report_multiple_bugs=False)

TIME, WORDS = Dim("time", lengths=[2, 0, 3]), Dim(4, name="words")


def agree(found, expected, ordered=True):
    assert differences(Model.from_data(found), expected, tolerance=1e-9, ordered=ordered) is None


def logits(seed=0):
    draw = np.random.default_rng(seed)
    return Data(draw.standard_normal((5, 4)), [batch_dim, TIME, WORDS])


def targets(numbers=(0, 3, 1, 1, 2)):
    return Data(np.array(numbers), [batch_dim, TIME], sparse_dim=WORDS)


@few
@given(samples(shapes=["BTF", "BTSF", "BHTF", "BF"], min_size=1), st.data())
def test_cross_entropy_of_classes_is_that_of_the_model(x, data):
    feature = x.letters()["F"]
    others = [
        dim for letter, dim in x.letters().items() if letter in data.draw(st.sampled_from(["BT", "BTS"]))
    ]
    target = data.draw(numbers_over(others, st.integers(0, feature.size - 1)))
    expected = model.cross_entropy(x.model, target.model, feature)
    agree(dims.cross_entropy(data_of(x), data_of(target, "int64"), feature), expected)
    x, target = data.draw(orders(x)), data.draw(orders(target))
    agree(dims.cross_entropy(data_of(x), data_of(target, "int32"), feature), expected, ordered=False)


@few
@given(samples(shapes=["BT", "BTS", "BHT"], min_size=1), st.data())
def test_cross_entropy_points_at_positions_of_any_length(x, data):
    """The classes are the positions of a row: none is pointed at behind its end."""
    batch, time = x.letters()["B"], x.letters()["T"]
    heads = [dim for letter, dim in x.letters().items() if letter == "H"]
    lengths = np.asarray(time.lengths).reshape(-1).tolist()
    if not lengths or min(lengths) == 0 or "S" in x.letters():
        return
    drawn = data.draw(st.tuples(*(st.integers(0, n - 1) for n in lengths)))
    target = Data(np.array(drawn, np.int64), [batch])
    found = dims.cross_entropy(data_of(x), target, time)
    logs = dims.log_softmax(data_of(x), time).transpose([batch, *heads, time]).to_list()
    for row, picked in enumerate(drawn):
        rows = logs[row] if heads else [logs[row]]
        values = found.transpose([batch, *heads]).to_list()[row]
        assert np.allclose(values, [-each[picked] for each in rows])


@few
@given(samples(shapes=["BTF", "BF"], min_size=1), st.data())
def test_cross_entropy_of_shares_is_that_of_the_model(x, data):
    feature = x.letters()["F"]
    target = data.draw(numbers_over(list(x.dims), st.sampled_from([0.0, 0.25, 1.0])))
    found = dims.cross_entropy(data_of(x), data_of(target), feature)
    agree(found, model.cross_entropy(x.model, target.model, feature))


def test_cross_entropy_of_a_row_alone_is_its_slice():
    x, target = logits(), targets()
    whole = dims.cross_entropy(x, target, WORDS)
    for row in range(3):
        part = slice(*[int(TIME.lengths[:k].sum()) for k in (row, row + 1)])
        time = TIME.bind(TIME.lengths[row : row + 1])
        alone = dims.cross_entropy(
            Data(x.values[part], [batch_dim, time, WORDS]),
            Data(target.values[part], [batch_dim, time]),
            WORDS,
        )
        agree(alone, take(Model.from_data(whole), batch_dim, [row]))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("dense", [False, True])
def test_cross_entropy_is_that_of_torch(smoothing, dense):
    torch = pytest.importorskip("torch")
    x, target = logits(), targets()
    wanted = torch.nn.functional.cross_entropy(
        torch.tensor(x.values), torch.tensor(target.values), reduction="none", label_smoothing=smoothing
    )
    if dense:
        target = dims.one_hot(target, dtype="float64")
    probabilities = dims.softmax(x, WORDS)
    for kind, estimated in (
        ("logits", x),
        ("log-probs", dims.log(probabilities)),
        ("probs", probabilities),
    ):
        found = dims.cross_entropy(estimated, target, WORDS, estimated_type=kind, label_smoothing=smoothing)
        assert np.allclose(found.values, wanted.numpy())
        assert found.dims == (batch_dim, TIME)


def test_cross_entropy_of_tensors_has_gradients():
    torch = pytest.importorskip("torch")
    x, target = logits(), targets()
    hot = dims.one_hot(target, dtype="float64")
    values = torch.tensor(x.values, requires_grad=True)
    labels = target._like(torch.tensor(target.values))
    shares = hot._like(torch.tensor(hot.values))
    for other in (target, labels, shares):
        assert torch.autograd.gradcheck(
            lambda v, t=other: dims.cross_entropy(x._like(v), t, WORDS, label_smoothing=0.2).values, (values,)
        )


def test_cross_entropy_takes_nothing_of_classes_without_a_share():
    x = logits()
    masked = dims.where(Data(np.array([True, True, True, False]), [WORDS]), x, -np.inf)
    target = targets((0, 1, 2, 1, 0))
    sparse = dims.cross_entropy(masked, target, WORDS)
    shares = dims.cross_entropy(masked, dims.one_hot(target, dtype="float64"), WORDS)
    assert np.isfinite(sparse.values).all()
    assert np.allclose(sparse.values, shares.values)


def test_cross_entropy_names_the_class_that_is_not_there():
    with pytest.raises(ValueError, match=r"target: 4 at position 3 is no position of words\(4\)"):
        dims.cross_entropy(logits(), Data(np.array([0, 3, 1, 4, 2]), [batch_dim, TIME]), WORDS)
    with pytest.raises(ValueError, match="target: -1 at position 0"):
        dims.cross_entropy(logits(), Data(np.array([-1, 3, 1, 0, 2]), [batch_dim, TIME]), WORDS)
    pointed = Data(np.zeros(5), [batch_dim, TIME])
    with pytest.raises(ValueError, match="target: 2 at position 0 is no position of time"):
        dims.cross_entropy(pointed, Data(np.array([2, 0, 0]), [batch_dim]), TIME)
    letters = Data(np.zeros(5, np.int64), [batch_dim, TIME], sparse_dim=Dim(4, name="letters"))
    with pytest.raises(ValueError, match="its classes are letters"):
        dims.cross_entropy(logits(), letters, WORDS)
    with pytest.raises(ValueError, match="estimated_type"):
        dims.cross_entropy(logits(), targets(), WORDS, estimated_type="odds")
    with pytest.raises(ValueError, match="target: expected integers"):
        dims.cross_entropy(logits(), Data(np.zeros(5), [batch_dim, TIME]), WORDS)
    with pytest.raises(dims.LengthMismatchError):
        dims.cross_entropy(logits(), Data(np.zeros(5, int), [batch_dim, TIME.bind([3, 0, 2])]), WORDS)


def test_cross_entropy_does_not_read_padding():
    block = np.full((3, 3, 4), np.nan)
    block[0, :2], block[2, :3] = logits().values[:2], logits().values[2:]
    x = Data.from_padded(block, [batch_dim, TIME, WORDS])
    rows = np.full((3, 3), 99)
    rows[0, :2], rows[2, :3] = targets().values[:2], targets().values[2:]
    target = Data.from_padded(rows, [batch_dim, TIME])
    assert np.isfinite(dims.cross_entropy(x, target, WORDS).values).all()
    assert math.isfinite(dims.cross_entropy(x, target, WORDS).mean("*").item())


SPELLING = Dim("spelling", lengths=[1, 0, 2])


def spelled():
    return Data(np.array([1, 2, 1]), [batch_dim, SPELLING])


@pytest.mark.parametrize(
    "order", [[batch_dim, TIME, WORDS], [WORDS, batch_dim, TIME], [TIME, batch_dim, WORDS]]
)
def test_ctc_is_that_of_the_rows(order):
    x = logits()
    logs = dims.log_softmax(x, WORDS)
    wanted = ops.ctc_loss(logs.values, [1, 2, 1], TIME.lengths, SPELLING.lengths, blank=3)
    found = dims.ctc_loss(x.transpose(order), spelled(), blank=-1)
    assert found.dims == (batch_dim,)
    assert np.array_equal(found.values, wanted)
    given_logs = dims.ctc_loss(logs.transpose(order), spelled(), blank=3, is_normalized=True)
    assert np.array_equal(given_logs.values, wanted)


def test_ctc_pairs_the_dims_that_both_have():
    heads = Dim(2, name="heads")
    draw = np.random.default_rng(3)
    parts = [Data(draw.standard_normal((5, 4)), [batch_dim, TIME, WORDS]) for _ in range(2)]
    both = Data(np.concatenate([p.values for p in parts]), [heads, batch_dim, TIME, WORDS])
    found = dims.ctc_loss(both, spelled(), blank=0, classes=WORDS)
    for k in range(2):
        alone = dims.ctc_loss(parts[k], spelled(), blank=0)
        assert np.allclose(found.transpose([heads, batch_dim]).values[k], alone.values)


def test_ctc_of_tensors_has_gradients():
    torch = pytest.importorskip("torch")
    x = logits()
    values = torch.tensor(x.values, requires_grad=True)
    target = spelled()._like(torch.tensor(spelled().values))
    assert torch.autograd.gradcheck(lambda v: dims.ctc_loss(x._like(v), target, blank=0).values, (values,))


@pytest.mark.parametrize("blank", [4, -5, 10**6, 2**62])
def test_ctc_refuses_a_blank_that_is_no_class(blank):
    with pytest.raises(ValueError, match=rf"blank: {blank} is no class of words\(4\), which has 4"):
        dims.ctc_loss(logits(), spelled(), blank=blank)


def test_ctc_refuses_the_blank_as_a_label():
    with pytest.raises(ValueError, match="blank"):
        dims.ctc_loss(logits(), spelled(), blank=1)
    with pytest.raises(dims.LengthMismatchError):
        dims.ctc_loss(logits(), Data(np.array([1, 2]), [batch_dim, SPELLING.bind([1, 1])]), blank=0)


@few
@given(samples("int64", shapes=["BT"]), st.data())
def test_edit_distance_is_that_of_the_model(x, data):
    batch = x.letters()["B"]
    lengths = data.draw(st.lists(st.integers(0, 3), min_size=batch.max_size(), max_size=batch.max_size()))
    drawn = data.draw(st.lists(st.integers(-2, 2), min_size=sum(lengths), max_size=sum(lengths)))
    other = Data(np.array(drawn, np.int64), [batch, SPELLING.bind(lengths, [batch])])
    found = dims.edit_distance(data_of(x, "int64"), other, axis=x.letters()["T"])
    rows = x.model.to_list() if x.dims[0] == batch else None
    if rows is None:
        rows = data_of(x, "int64").batch_major().to_list()
    assert found.values.tolist() == [edits(a, b)[0] for a, b in zip(rows, other.to_list(), strict=True)]
    for row in range(batch.max_size()):
        alone = data_of(row_alone(x, row), "int64")
        part = Data.from_list([other.to_list()[row]], [batch_dim, Dim("true")], dtype="int64")
        assert dims.edit_distance(alone, part, axis=x.letters()["T"]).values.tolist() == [found.values[row]]


def test_edit_distance_compares_each_with_what_it_lacks():
    beam = Dim(2, name="beam")
    hypotheses = Data.from_list([[[1, 2], [1]], [[3], []]], [batch_dim, beam, Dim("found")])
    truth = Data.from_list([[1, 2], [3, 4]], [batch_dim, Dim("true")])
    found = dims.edit_distance(hypotheses, truth, axis="found", b_axis="true")
    assert found.transpose([batch_dim, beam]).to_list() == [[0, 1], [1, 2]]
    shares = dims.edit_distance(hypotheses, truth, axis="found", b_axis="true", normalize=True)
    assert shares.transpose([batch_dim, beam]).to_list() == [[0.0, 0.5], [0.5, 1.0]]
