"""CTC over packed rows: the plain sum of all alignments, torch's loss of padded rows, and its gradient."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import losses as oracle
from varlen import ops


def log_probs_of(rng, rows, classes, sharp=1.0):
    x = rng.normal(size=(rows, classes)) * sharp
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))


@st.composite
def batches(draw):
    """Log probabilities, labels that repeat, rows enough or not; the blank is any class."""
    lengths = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=4))
    classes = draw(st.integers(2, 4))
    blank = draw(st.integers(0, classes - 1))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    n, m = ([x[k] for x in lengths] for k in (0, 1))
    others = [c for c in range(classes) if c != blank]
    x = log_probs_of(rng, sum(n), classes, draw(st.sampled_from([0.1, 3])))
    x[rng.random(x.shape) < draw(st.sampled_from([0, 0.2]))] = -np.inf
    return x, rng.choice(others, sum(m)).astype(np.int64), n, m, blank


def rows_of(x, lengths):
    return np.split(x, np.cumsum(lengths)[:-1]) if len(lengths) else []


def wanted(x, y, n, m, blank):
    parts = zip(rows_of(x, n), rows_of(y, m), strict=True)
    return [oracle.ctc_loss(rows.tolist(), labels.tolist(), blank) for rows, labels in parts]


@given(batches())
def test_losses_are_the_sum_of_all_alignments(batch):
    x, y, n, m, blank = batch
    expected = wanted(*batch)
    found = ops.ctc_loss(x, y, n, m, blank=blank)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    single = ops.ctc_loss(x.astype(np.float32), y, n, m, blank=blank)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=3e-6, atol=3e-6)
    finite = np.where(np.isinf(expected), 0, expected)
    zeroed = ops.ctc_loss(x, y, n, m, blank=blank, zero_infinity=True)
    np.testing.assert_allclose(zeroed, finite, rtol=1e-11, atol=1e-12)


@given(batches())
def test_gradients_are_shares_of_alignments(batch):
    """By finite differences of the loss along each log probability, with exp of it added."""
    x, y, n, m, blank = batch
    d = np.linspace(1, 2, len(n))
    found = ops.backprop_ctc_loss(d, x, y, n, m, blank=blank)
    loss = ops.ctc_loss(x, y, n, m, blank=blank)
    each = np.repeat(np.arange(len(n)), n)
    expected = np.exp(x)
    step = 1e-6
    for c in range(x.shape[1]):
        for sign in (1, -1):
            moved = np.repeat(x[:, None], 2, axis=1)[:, 0].copy()
            for row in range(len(x)):
                kept = moved[row, c]
                moved[row, c] += sign * step
                with np.errstate(invalid="ignore"):
                    change = ops.ctc_loss(moved, y, n, m, blank=blank) - loss
                expected[row, c] += sign * change[each[row]] / (2 * step)
                moved[row, c] = kept
    expected *= d[each][:, None]
    infinite = np.isinf(loss)[each]
    assert np.isnan(found[infinite]).all()
    np.testing.assert_allclose(found[~infinite], expected[~infinite], atol=2e-8)
    nothing = ops.backprop_ctc_loss(d, x, y, n, m, blank=blank, zero_infinity=True)
    assert not nothing[infinite].any()
    assert np.array_equal(nothing[~infinite], found[~infinite])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_losses_and_gradients_are_those_of_torch(dtype, zero_infinity):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(4)
    m = np.array([0, 1, 7, 8, 9, 15, 16, 17, 40, 3, 12])
    n = np.array([4, 1, 30, 20, 33, 60, 40, 90, 200, 2, 12])
    classes = 11
    labels = torch.tensor(rng.integers(1, classes, m.sum()))
    labels[30:36] = 5
    exact = torch.tensor(log_probs_of(rng, n.sum(), classes, 2), requires_grad=True)
    padded = torch.nn.utils.rnn.pad_sequence(list(exact.split(n.tolist())))
    sizes = torch.tensor(n), torch.tensor(m)
    options = {"reduction": "none", "zero_infinity": zero_infinity}
    expected = torch.nn.functional.ctc_loss(padded, labels, *sizes, **options)
    d = torch.linspace(0.5, 1.5, len(n), dtype=torch.float64)
    expected.backward(d)
    x = exact.detach().to(getattr(torch, dtype)).requires_grad_()
    found = ops.ctc_loss(x, labels, n, m, zero_infinity=zero_infinity)
    found.backward(d.to(x.dtype))
    assert found.dtype == x.dtype
    near = {"rtol": 1e-10, "atol": 1e-12} if dtype == "float64" else {"rtol": 2e-6, "atol": 2e-5}
    np.testing.assert_allclose(found.detach(), expected.detach(), **near)
    np.testing.assert_allclose(x.grad, exact.grad, **near)
    assert torch.isinf(expected).any() != zero_infinity
    alone = ops.ctc_loss(x.detach(), labels, n, m, zero_infinity=zero_infinity)
    assert torch.equal(alone, found.detach())
    back = ops.backprop_ctc_loss(d, x.detach(), labels, n, m, zero_infinity=zero_infinity)
    assert torch.equal(torch.nan_to_num(back), torch.nan_to_num(x.grad))


def test_gradients_through_log_softmax_are_those_of_the_logits():
    torch = pytest.importorskip("torch")
    logits = torch.tensor(np.random.default_rng(5).normal(size=(9, 4)), requires_grad=True)

    def loss(x):
        return ops.ctc_loss(x.log_softmax(-1), [1, 1, 3], [6, 3], [2, 1])

    assert torch.autograd.gradcheck(loss, logits)
    with pytest.raises(NotImplementedError, match="ctc_loss: a second derivative"):
        torch.autograd.gradgradcheck(loss, logits)


def test_long_sequences_of_float32_keep_their_digits():
    rng = np.random.default_rng(6)
    x = log_probs_of(rng, 5000, 30, 4)
    y = rng.integers(1, 30, 900)
    [exact], [single] = (ops.ctc_loss(x.astype(k), y, [5000], [900]) for k in ("f8", "f4"))
    assert abs(single - exact) < 1e-6 * exact
    both = [ops.backprop_ctc_loss(np.ones(1), x.astype(k), y, [5000], [900]) for k in ("f8", "f4")]
    np.testing.assert_allclose(both[1], both[0], atol=5e-4)
    for gradient, near in zip(both, (1e-12, 2e-6), strict=True):  # as much is taken off as is there
        np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=near)


def test_sequences_give_the_same_bits_alone_and_with_any_threads():
    rng = np.random.default_rng(7)
    n = rng.integers(0, 60, 80)
    n[3] = 3000
    m = n // 3
    x, y = log_probs_of(rng, n.sum(), 40).astype(np.float32), rng.integers(1, 40, m.sum())
    d = np.ones(len(n), np.float32)
    before, found = vl.num_threads(), []
    try:
        for threads in (1, 3):
            vl.set_num_threads(threads)
            found.append((ops.ctc_loss(x, y, n, m), ops.backprop_ctc_loss(d, x, y, n, m)))
    finally:
        vl.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()
    some = [3, 5, 11]
    one, labels = vl.Ragged(x, n)[some], vl.Ragged(y, m)[some]
    assert ops.ctc_loss(one, labels).tobytes() == found[0][0][some].tobytes()
    gradient = ops.backprop_ctc_loss(d[:3], one, labels)
    assert isinstance(gradient, vl.Ragged)
    assert gradient.values.tobytes() == vl.Ragged(found[0][1], n)[some].values.tobytes()


def test_halves_are_computed_in_float32():
    x = log_probs_of(np.random.default_rng(8), 5, 3).astype(np.float16)
    found = ops.ctc_loss(x, [1, 2], [5], [2])
    assert found.dtype == np.float32
    assert found == ops.ctc_loss(x.astype(np.float32), [1, 2], [5], [2])
    gradient = ops.backprop_ctc_loss(np.ones(1), x, [1, 2], [5], [2])
    assert gradient.dtype == np.float16
    torch = pytest.importorskip("torch")
    half = torch.tensor(x).bfloat16().requires_grad_()
    loss = ops.ctc_loss(half, [1, 2], [5], [2])
    loss.sum().backward()
    assert (loss.dtype, half.grad.dtype) == (torch.float32, torch.bfloat16)


def test_nan_stays():
    x = log_probs_of(np.random.default_rng(9), 6, 3)
    x[1, 0] = np.nan
    for labels in ([1], []):
        found = ops.ctc_loss(x, labels, [3, 3], [len(labels), 0])
        assert np.isnan(found).tolist() == [True, False]
        gradient = ops.backprop_ctc_loss(np.ones(2), x, labels, [3, 3], [len(labels), 0])
        assert np.isnan(gradient).any(axis=1).tolist() == [True] * 3 + [False] * 3


def test_rows_are_taken_from_any_memory():
    x = log_probs_of(np.random.default_rng(10), 12, 4)
    expected = ops.ctc_loss(x, [1, 2], [12], [2])
    frozen = x.copy()
    frozen.flags.writeable = False
    for rows in (np.repeat(x, 2, axis=0)[::2], np.asfortranarray(x), frozen, x.astype(">f8")):
        assert ops.ctc_loss(rows, np.array([1, 9, 2], np.int8)[::2], [12], [2]) == expected


def test_levels_above_are_kept():
    x = log_probs_of(np.random.default_rng(11), 9, 4)
    r = vl.Ragged(x, [[2, 1], [4, 3, 2]])
    labels = vl.Ragged(np.array([1, 2, 3, 1]), [[2, 1], [2, 1, 1]])
    found = ops.ctc_loss(r, labels)
    assert isinstance(found, vl.Ragged)
    assert found.values.tolist() == ops.ctc_loss(x, labels.values, [4, 3, 2], [2, 1, 1]).tolist()
    whole = ops.ctc_loss(r, labels, level=0)
    assert whole.tolist() == ops.ctc_loss(x, labels.values, [7, 2], [3, 1]).tolist()
    with pytest.raises(ValueError, match="targets: nest differently"):
        ops.ctc_loss(r, vl.Ragged(labels.values, [[1, 2], [2, 1, 1]]))


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"targets": [1, 2, 3]}, ValueError, "label 3 of sequence 1 at position 0 is none of 3 classes"),
        ({"targets": [1, -1, 1]}, ValueError, "label -1 of sequence 0 at position 1 is none of 3 classes"),
        ({"targets": [1, 1, 0]}, ValueError, "label 0 of sequence 1 at position 0 is the blank"),
        ({"targets": [1, 2, 1], "blank": 2}, ValueError, "label 2 of sequence 0 at position 1 is the blank"),
        ({"blank": 3}, ValueError, "blank: 3 is none of 3 classes"),
        ({"target_lengths": [3]}, ValueError, "targets: has 1 sequences, expected 2 as log_probs"),
        ({"lengths": [3, 3]}, ValueError, "lengths: add up to 6, but log_probs has 5 rows"),
        ({"target_lengths": [2, 2]}, ValueError, "lengths: add up to 4, but targets has 3 rows"),
        ({"targets": [1.0, 1.0, 1.0]}, TypeError, "targets: .*integers"),
        ({"log_probs": np.zeros(5)}, ValueError, "log_probs: expected .rows, classes., got 1 dimensions"),
        ({"log_probs": np.zeros((5, 3), int)}, TypeError, "log_probs: expected float"),
        ({"level": 1}, IndexError, "level"),
    ],
)
def test_bad_batches_are_refused(change, error, text):
    given = {"log_probs": np.zeros((5, 3)), "targets": [1, 1, 1], "lengths": [3, 2], "target_lengths": [2, 1]}
    given |= change
    back = {"d": np.ones(2), **given}
    for call, arguments in ((ops.ctc_loss, given), (ops.backprop_ctc_loss, back)):
        with pytest.raises(error, match=text):
            call(**arguments)
    torch = pytest.importorskip("torch")
    given["log_probs"] = torch.as_tensor(given["log_probs"])
    with pytest.raises(error, match=text):
        ops.ctc_loss(**given)


def test_gradients_are_one_number_for_each_sequence():
    x = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"d: expected shape \(1,\), got \(2,\)"):
        ops.backprop_ctc_loss(np.ones(2), x, [1], [3], [1])


def test_devices_have_the_loss_of_torch_from_a_rectangle():
    """What runs on a device, on the CPU, where the core says what is right."""
    torch = pytest.importorskip("torch")
    from varlen.backends.torch.ctc import padded_loss

    rng = np.random.default_rng(12)
    for n, m in (([4, 0, 6, 0], [2, 0, 3, 1]), ([0, 0], [0, 1]), ([], [])):
        x = torch.tensor(log_probs_of(rng, sum(n), 5), requires_grad=True)
        labels = torch.tensor(rng.integers(1, 5, sum(m)), dtype=torch.int32)
        levels = vl.Level(n), vl.Level(m)
        found = padded_loss(x, levels[0], labels, levels[1], 0, False)
        np.testing.assert_allclose(found.detach(), ops.ctc_loss(x.detach(), labels, n, m), rtol=1e-12)
        found = padded_loss(x, levels[0], labels, levels[1], 0, True)
        found.sum().backward()
        expected = ops.backprop_ctc_loss(np.ones(len(n)), x.detach(), labels, n, m, zero_infinity=True)
        np.testing.assert_allclose(x.grad, expected, atol=1e-12)
    with pytest.raises(ValueError, match="label 9 of sequence 0"):
        padded_loss(torch.zeros(3, 5), vl.Level([3]), torch.tensor([9]), vl.Level([1]), 0, False)


def test_losses_are_compiled_into_one_graph():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(13)
    x = torch.tensor(log_probs_of(rng, 12, 4), requires_grad=True)
    r, labels = vl.Ragged(x, [7, 5]), vl.Ragged(torch.tensor([1, 2, 3]), [2, 1])

    def step(r, labels):
        return vl.ops.ctc_loss(r.log_softmax(axis=-1), labels).sum()

    step(r, labels).backward()
    expected, x.grad = x.grad, None
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    compiled(r, labels).backward()
    torch.testing.assert_close(x.grad, expected)
