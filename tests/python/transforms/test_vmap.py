"""vmap: a function of one sequence over all of them is what a plain loop gives, whatever way it runs."""

import copy
import math
import numbers as numbers_of_python
import types
import warnings

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.transforms import LoopWarning

# Functions of sequences of numbers that run once for all sequences.
FLAT = (
    """
x | x + 1 | x * 2.5 | -x | abs(x) | x > 0 | x == x[0] | x**2 | 2**x | x // 2 | x % 3 | ~(x > 0)
x - x.mean() | (x - x.mean()) / x.std() | x.sum() | x.sum() / x.shape[0] | x * x.shape[0] | x.shape[0] - 1
x.shape[0] / 2 | x.max() - x.min() | x.argmax() | x[x.argmax()] | x.prod() | x.var(ddof=1) | x.any()
np.all(x > 0) | x[0] | x[-1] | x[1:] | x[:-1] | x[::-1] | x[::2] | x[-2:] | x[5:1] | x[3:0:-1]
x[1:] - x[:-1] | x[2:] + x[:-2] | x[x > 1] | x[x.argsort()] | x[...] | x[[0, -1]] | np.sort(x)
np.argsort(x, kind="stable") | np.cumsum(x) | x.cumsum(axis=-1) | np.cumprod(x) | np.diff(x)
np.diff(x, n=2) | np.flip(x) | np.roll(x, 1) | np.median(x) | np.ptp(x)
np.exp(x - x.max()) / np.exp(x - x.max()).sum() | np.where(x > x.mean(), x, 0)
np.clip(x, x.min(), x.mean()) | np.round(x) | np.isnan(x) | np.maximum(x, x.mean()) | np.linalg.norm(x)
x / np.linalg.norm(x) | x @ x | np.dot(x, x) | np.concatenate([x[-1:], x[:-1]])
np.concatenate([x, np.zeros(2)]) | np.stack([x.min(), x.max()]) | np.stack([x, -x], axis=1)
x.astype(np.float32) | x.copy() | np.zeros_like(x) | np.full_like(x, 3) | np.isin(x, [1.0, 2.0])
np.digitize(x, A([0.0, 1.0])) | np.interp(x, [0, 1], [0, 1]) | np.hypot(x, x.sum())
x - x.mean(keepdims=True) | x.ndim | x.size | 3 | 3.5 | A([1, 2]) | (x.sum(), x)
{"a": x.max(), "b": [x[1:], 2]} | x + A([1.0]) | np.float32(2) * x | (x > 0).mean() | x * (x.sum() > 0)
np.isclose(x, x.mean()) | x + x.shape[0] | isinstance(x, np.ndarray) | np.nansum(x) | np.nanmean(x)
x.sum(dtype=np.float32) | np.ndim(x) | np.square(x).sum() | np.cumsum(x[::-1])[::-1] | x.round(1)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
# Those that run once for each length.
GROUPS = (
    """
len(x) | x / len(x) | x[len(x) // 2 :] | x[:, None] | x * (1 / x.shape[0]) | np.fft.rfft(x)
np.trapezoid(x) | x[1:] * x[:1] | x.sum() / np.sqrt(x.shape[0])
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
# Those that run once for each sequence.
LOOP = (
    """
np.unique(x) | np.convolve(x, [1.0, 1.0]) | x if x.sum() > 0 else -x | np.array([x.min(), x.max()])
float(x.sum()) | np.pad(x, 1) | sum(x) | np.repeat(x, 2) | [v := x.copy(), v.__setitem__(0, 9.0)][0]
divmod(x, 2)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
# Functions of sequences of rows of three.
ROWS = (
    """
x.sum() | x.sum(axis=0) | x.sum(axis=1) | x.sum(axis=(0, 1)) | x - x.mean(axis=0)
(x - x.mean(0)) / x.std(0) | x - x.mean(axis=1, keepdims=True) | x - x.mean(axis=0, keepdims=True)
x.max(axis=1) | x.argmax(axis=0) | x[:, 0] | x[0, 1] | x[1:, 1] | x[:, ::-1] | x[..., 0]
x @ A([1.0, 2.0, 3.0]) | x @ np.ones((3, 2)) | np.sort(x, axis=0) | np.sort(x) | np.cumsum(x, axis=0)
np.diff(x) | np.flip(x, axis=0) | np.median(x, axis=0) | np.linalg.norm(x, axis=1)
x / np.linalg.norm(x, axis=1, keepdims=True) | np.concatenate([x, x], axis=1)
np.concatenate([x, np.zeros((1, 3))]) | np.stack([x[:, 0], x[:, 1]], axis=1)
np.stack([x.max(0), x.min(0)]) | x + A([1.0, 2.0, 3.0]) | x + A([[1.0, 2.0, 3.0]])
np.where(x > 0, x, x.min(0)) | x[x[:, 0] > 0] | x[x[:, 0].argsort(kind="stable")]
x.shape[1] | x.sum(0) / x.shape[0]
x.sum(0)[::-1] | x.sum(0)[0] | x.sum(0).sum() | x.sum(0) @ np.ones((3, 2)) | len(x.sum(0)) | x.prod(axis=1)
x[0] * x | x[:, 0] @ x[:, 1] | x - x.mean(axis=1) | x.T @ x | x[:, :, None] | np.median(x)
np.linalg.inv(x.T @ x + np.eye(3)) | x.argmax() | x * A([[1.0], [2.0]]) | np.cumsum(x) | x[[0], [1]]
x.reshape(-1) | np.linalg.norm(x) | x[0] @ x[1]
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
TENSORS = (
    """
x | x - x.mean() | (x - x.mean()) / x.std() | x.sum(dim=-1) | x.sum() / x.shape[0] | x / x.size(0) | x.max()
x.amax() | x.max(dim=0).values | x.max(0)[1] | x.argmin(0) | x.prod() | x.var(unbiased=False) | x.norm()
torch.linalg.norm(x) | x.softmax(0) | torch.softmax(x, dim=-1) | F.softmax(x, dim=0) | x.log_softmax(0)
x.logsumexp(0) | x.cumsum(0) | x.sort() | x.sort(descending=True)[0] | x.argsort(stable=True)
torch.flip(x, [0]) | x.roll(1) | torch.diff(x) | x[0] | x[1:] - x[:-1] | x[x > 0] | x[x.argsort()]
torch.where(x > x.mean(), x, 0.0) | x.clamp(min=0) | F.gelu(x) | x.relu()
torch.exp(x - x.max()) / torch.exp(x - x.max()).sum() | x.masked_fill(x > 0, 0.0) | (x > 0).sum()
x * (x > 0).sum() | x @ x | torch.dot(x, x) | torch.cat([x, torch.zeros(2)])
torch.stack([x.min(), x.max()]) | x.double() | x.int() | x * torch.tensor(2.0)
x * torch.tensor([2.0], dtype=torch.float64) | x.mean(0, keepdim=True) | x.size(0) * x | x.detach()
x.int() * x.shape[0] | x.half() / x.shape[0] | 1 - x | torch.rsub(x, 1) | 3.5 | (x.sum(), x)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
TENSORS_BY_GROUPS = (
    """
x / len(x) | x.sum(dtype=torch.float64) * x | x * torch.tensor(2.0, dtype=torch.float64)
x.int() * x.sum(dtype=torch.int64) | torch.outer(x, x).sum(0) | x.view(-1) | torch.arange(x.shape[0])
torch.fft.rfft(x) | x.cummax(0) | x.unsqueeze(1)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
TENSORS_BY_LOOP = (
    """
x if x.sum() > 0 else -x | torch.unique(x) | x.sum().item() | isinstance(x, torch.Tensor)
torch.is_tensor(x)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
TENSOR_ROWS = (
    """
x.sum(0) | x.sum(-1) | x - x.mean(0) | x - x.mean(1, keepdim=True) | x.max(0) | x.max(1).values
x.amax((0, 1)) | x.softmax(-1) | x.softmax(0) | L(x) | torch.relu(L(x)).mean(0) | N(x) | L(x.mean(0))
x @ L.weight.T | x[:, 0] | x[:, 0] * x[:, 1] | x.flip(0) | x.std(0) | x / x.norm(dim=1, keepdim=True)
F.normalize(x) | torch.cat([x, x], 1) | x.logsumexp(0) | x.mean(0)[0] | F.glu(L(x), -1)
x.mean(0) @ L.weight.T | F.layer_norm(x, (3,)) | x.masked_fill(x > 0, -9.0).softmax(1) | x.sort(1).values
x.cumsum(1) | x.T @ x | F.scaled_dot_product_attention(x, x, x) | F.batch_norm(x, None, None, training=True)
F.mse_loss(x, 2 * x)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


def kind_of(x):
    return type(x).__name__


LENGTHS = st.lists(st.integers(0, 4), min_size=1, max_size=6)
# What each function is tried on: none, one, equal, empty at both ends, mixed, as many first rows as others
# that follow. Draws try some more.
SOME = ([0], [1], [3, 3, 3], [0, 2, 0], [4, 1, 0, 2, 4, 3], [2, 1, 1, 2], [3, 1])


def names():
    """What the functions below use."""
    found = {"np": np, "A": np.array, "guess": guess, "kind_of": kind_of}
    found |= {"numbers": numbers_of_python, "math": math, "copy": copy}
    try:
        import torch
    except ImportError:
        return found
    torch.manual_seed(3)
    layers = {"L": torch.nn.Linear(3, 2), "N": torch.nn.LayerNorm(3), "I": torch.nn.ReLU(inplace=True)}
    return {**found, "torch": torch, "F": torch.nn.functional, **layers}


def function_of(source):
    """A function of x, and a list that each call makes longer."""
    calls = []
    call = eval(f"lambda x: {source}", names())

    def f(x):
        calls.append(1)
        return call(x)

    return f, calls


def numbers(lengths, rows=(), dtype=np.float64):
    values = np.random.default_rng(sum(lengths)).integers(-3, 6, (sum(lengths), *rows))
    return vl.Ragged((values * 0.75).astype(dtype), lengths)


def tensors(lengths, rows=()):
    torch = pytest.importorskip("torch")
    return vl.Ragged(torch.from_numpy(numbers(lengths, rows, np.float32).values), lengths)


def rows_of(x):
    return x.values if isinstance(x, vl.Ragged) else x


def host(x):
    return x.detach().numpy() if hasattr(x, "detach") else np.asarray(x)


def check_parts(result, expected):
    """A result against those of the single sequences, in kind, dtype and numbers."""
    first = expected[0]
    if isinstance(first, dict):
        assert result.keys() == first.keys()
        for key in first:
            check_parts(result[key], [x[key] for x in expected])
    elif isinstance(first, (tuple, list)):
        assert len(result) == len(first)
        for k in range(len(first)):
            check_parts(result[k], [x[k] for x in expected])
    else:
        assert isinstance(result, vl.Ragged) == (host(first).ndim > 0)
        assert len(result) == len(expected)
        values = result.values if isinstance(result, vl.Ragged) else result
        if hasattr(first, "dtype"):
            assert type(values) is type(first) or isinstance(first, np.generic)
            assert values.dtype == first.dtype
        for one, x in zip(result, expected, strict=True):
            tolerance = 2e-3 if host(x).dtype == np.float16 else 1e-5
            np.testing.assert_allclose(host(one), host(x), rtol=tolerance, atol=tolerance)


def check(source, r):
    """The ways that vmap takes: the number of calls, and whether it warns."""
    f, calls = function_of(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected, error = [f(x) for x in r], None
        except Exception as caught:
            expected, error = None, caught
    calls.clear()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if error is not None:
            with pytest.raises(type(error)):
                vl.vmap(f)(r)
            return None
        result = vl.vmap(f)(r)
    count = len(calls)
    check_parts(result, expected)
    return count, any(issubclass(each.category, LoopWarning) for each in found)


@pytest.mark.parametrize("source", FLAT)
def test_a_flat_function_of_numbers_is_a_loop(source):
    for lengths in SOME:
        check(source, numbers(lengths))


@pytest.mark.parametrize("source", FLAT)
def test_a_flat_function_is_called_once(source):
    assert check(source, numbers([3, 2, 4, 3])) == (1, False)


@pytest.mark.parametrize("source", GROUPS)
def test_a_function_of_a_length_is_a_loop(source):
    for lengths in SOME:
        check(source, numbers(lengths))
    way = check(source, numbers([3, 2, 4, 3]))
    assert way is None or way == (4, False)


@pytest.mark.parametrize("source", LOOP)
def test_any_other_function_warns(source):
    for lengths in SOME:
        way = check(source, numbers(lengths))
        assert way is None or way[1]


@pytest.mark.parametrize("source", ROWS)
def test_a_function_of_rows_is_a_loop(source):
    for lengths in SOME:
        check(source, numbers(lengths, (3,)))


@given(st.sampled_from(FLAT + GROUPS + LOOP), LENGTHS)
def test_a_function_of_numbers_is_a_loop_on_any_lengths(source, lengths):
    check(source, numbers(lengths))


@given(st.sampled_from(ROWS), LENGTHS)
def test_a_function_of_rows_is_a_loop_on_any_lengths(source, lengths):
    check(source, numbers(lengths, (3,)))


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.bool_])
@pytest.mark.parametrize("source", FLAT + GROUPS)
def test_dtypes_are_those_of_a_loop(source, dtype):
    check(source, numbers([3, 1, 4, 2], dtype=dtype))


@pytest.mark.parametrize("source", TENSORS + TENSORS_BY_GROUPS + TENSORS_BY_LOOP)
def test_a_function_of_tensors_is_a_loop(source):
    for lengths in SOME:
        check(source, tensors(lengths))


@given(st.sampled_from(TENSORS + TENSORS_BY_GROUPS + TENSORS_BY_LOOP), LENGTHS)
def test_a_function_of_tensors_is_a_loop_on_any_lengths(source, lengths):
    check(source, tensors(lengths))


@pytest.mark.parametrize("source", TENSORS)
def test_a_flat_function_of_tensors_is_called_once(source):
    assert check(source, tensors([3, 2, 4, 3])) == (1, False)


@pytest.mark.parametrize("source", TENSORS_BY_LOOP)
def test_any_other_function_of_tensors_warns(source):
    assert check(source, tensors([3, 2, 4, 3]))[1]


@pytest.mark.parametrize("source", TENSOR_ROWS)
def test_a_function_of_rows_of_tensors_is_a_loop(source):
    for lengths in SOME:
        check(source, tensors(lengths, (3,)))


@given(st.sampled_from(TENSOR_ROWS), LENGTHS)
def test_a_function_of_rows_of_tensors_is_a_loop_on_any_lengths(source, lengths):
    check(source, tensors(lengths, (3,)))


# Levels, axes and results.

NESTED = vl.Ragged.from_list([[[3.0, 1.0, 4.0], [1.0]], [], [[5.0, 9.0], []]])


def test_levels_above_stay():
    assert vl.vmap(lambda x: x.sum())(NESTED).to_list() == [[8, 1], [], [14, 0]]
    assert vl.vmap(lambda x: x[1:])(NESTED).to_list() == [[[1, 4], []], [], [[9], []]]
    assert vl.vmap(lambda x: x - x.mean())(NESTED).levels is not None
    with pytest.warns(LoopWarning, match="it uses np.unique"):
        assert vl.vmap(lambda x: np.unique(x))(NESTED).to_list() == [[[1, 3, 4], [1]], [], [[5, 9], []]]


def test_a_level_above_gives_raggeds():
    with pytest.warns(LoopWarning, match="each is a Ragged"):
        assert vl.vmap(lambda q: q.sum().sum(), level=0)(NESTED).tolist() == [9, 0, 14]
    with pytest.warns(LoopWarning):
        result = vl.vmap(lambda q: q.sum(), level=0)(NESTED)
    assert result.to_list() == [[8, 1], [], [14, 0]]
    with pytest.warns(LoopWarning):
        assert vl.vmap(lambda q: q * 2, level=0)(NESTED).equals(NESTED * 2)


def test_arguments_give_each_sequence_its_own():
    r = vl.Ragged(np.array([3.0, 1, 4, 1, 5, 9]), [3, 1, 2])
    assert vl.vmap(lambda x, y: x - y.max())(r, r * 2).to_list() == [[-5, -7, -4], [-1], [-13, -9]]
    assert vl.vmap(lambda x, w: x * w)(r, np.array([1, 10, 100])).to_list() == [[3, 1, 4], [10], [500, 900]]
    assert vl.vmap(lambda x, w: x.sum() * w, in_axes=(0, None))(r, np.array([1, 2])).to_list() == [
        [8, 16], [1, 2], [14, 28],
    ]  # fmt: skip
    assert vl.vmap(lambda x, y, z=0: x + y + z)(r, 1, z=2).equals(r + 3)
    outer = vl.Ragged(np.array([1.0, 2, 3, 4]), NESTED.lengths)
    assert vl.vmap(lambda x, w: x * w)(NESTED, outer).to_list() == [[[3, 1, 4], [2]], [], [[15, 27], []]]
    assert vl.vmap(lambda q, x: x - q[0])(np.ones((3, 2)), r).to_list() == [[2, 0, 3], [0], [4, 8]]


def test_rows_are_rows_where_asked():
    r = vl.Ragged(np.arange(12.0).reshape(6, 2), [3, 1, 2])
    assert vl.vmap(lambda x: x.mean(0))(r).lengths.tolist() == [2, 2, 2]
    assert vl.vmap(lambda x: x.mean(0), result="row")(r).shape == (3, 2)
    assert vl.vmap(lambda x: x.mean(0), result="row")(r[:0]).shape == (0, 2)
    assert vl.vmap(lambda x: len(x) + x.mean(0), result="row")(r).shape == (3, 2)
    with pytest.warns(LoopWarning):
        assert vl.vmap(lambda x: np.array([x.min(), 1]), result="row")(r).shape == (3, 2)
    assert vl.vmap(lambda x: x, result="row")(r[[0, 0]]).shape == (2, 3, 2)
    with pytest.warns(LoopWarning), pytest.raises(ValueError, match=r"shape \(1, 2\) for sequence 1"):
        vl.vmap(lambda x: x, result="row")(r)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_the_kind_needs_no_rows(lengths):
    r = vl.Ragged(np.zeros(0, np.float32), lengths)
    for f in (lambda x: x[1:], lambda x: x * len(x), np.unique):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoopWarning)
            result = vl.vmap(f)(r)
        assert isinstance(result, vl.Ragged)
        assert result.dtype == np.float32
        assert len(result) == len(lengths)
    assert vl.vmap(lambda x: x.sum())(r).dtype == np.float32
    assert vl.vmap(lambda x: x.sum())(r).shape == (len(lengths),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoopWarning)
        assert vl.vmap(lambda x: float(x.sum()))(r).dtype == np.float64


def test_a_function_writes_to_a_copy():
    r = vl.Ragged(np.array([3.0, 1, 4]), [2, 1])

    def f(x):
        x[0] = 9
        return x

    with pytest.warns(LoopWarning, match="a write"):
        assert vl.vmap(f)(r).to_list() == [[9, 1], [9]]
    assert r.to_list() == [[3, 1], [4]]


def writes(source):
    """A function that writes to an array that all sequences share, and gives a number times the sequence."""
    call = eval(f"lambda w: {source}", names())

    def f(x, w):
        call(w)
        return x * rows_of(w)[0]

    return f


SET = "w.__setitem__(0, 9.0)"


@pytest.mark.parametrize("is_named", [False, True])
@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("array", SET), ("array", "w.__iadd__(1)"), ("ragged", SET), ("ragged of tensors", SET),
        ("tensor", SET), ("tensor", "w.__iadd__(1)"), ("tensor", "torch.mul(w, 2, out=w)"),
        ("tensor", "w[:1].mul_(2)"), ("tensor", "F.relu(w.neg_(), inplace=True)"), ("tensor", "F.relu_(-w)"),
    ],
)  # fmt: skip
def test_what_is_written_to_shared_arrays_reaches_a_copy(kind, is_named, source):
    torch = pytest.importorskip("torch") if "tensor" in kind else None
    r, w = numbers([3, 2, 0, 1]), np.array([1.0, 2.0])
    if torch is not None:
        r, w = r.torch(), torch.from_numpy(w)
    rows = w
    w = vl.Ragged(w, [1, 1]) if kind.startswith("ragged") else w
    own = copy.deepcopy(w)
    expected = [writes(source)(x, own) for x in r]
    f = vl.vmap(writes(source), in_axes=0 if is_named else (0, None))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = f(r, w=w) if is_named else f(r, w)
    check_parts(result, expected)
    assert rows.tolist() == [1.0, 2.0]
    assert bool(found) == (source != "F.relu_(-w)")


def test_gradients_reach_what_is_shared():
    torch = pytest.importorskip("torch")
    r, w = tensors([2, 1]), torch.ones(1, requires_grad=True)
    with pytest.warns(LoopWarning):
        vl.vmap(lambda x, w: x * w * float(x.sum()), in_axes=(0, None))(r, w).sum().sum().backward()
    assert w.grad.shape == (1,)
    assert w.grad.abs().min() > 0


def asks(x):
    """A function of a library, which looks at a type."""
    return x * 2 if type(x) in (np.ndarray, names().get("torch", np).__dict__.get("Tensor")) else x * 3


def test_a_function_of_a_library_may_ask_for_a_type():
    library = types.ModuleType("library")
    library.part = types.ModuleType("part")
    library.part.asks_of_part, library.again = asks, types.ModuleType("again")
    r = numbers([3, 1, 2])
    for x in [r] + ([r.torch()] if "torch" in names() else []):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoopWarning)
            assert vl.vmap(lambda x: library.part.asks_of_part(x))(x).equals(x * 2)


@pytest.mark.filterwarnings("ignore::varlen.transforms.LoopWarning")
def test_a_module_of_torch_may_ask_for_a_type():
    torch = pytest.importorskip("torch")

    class Doubled(torch.nn.Module):
        """As users write them."""

        def forward(self, x):
            return asks(x)

    r = tensors([3, 1, 2])
    assert vl.vmap(Doubled())(r).equals(r * 2)


@pytest.mark.parametrize("name", ["zscore", "rankdata", "skew"])
@pytest.mark.filterwarnings("ignore::varlen.transforms.LoopWarning")
def test_functions_of_scipy_are_a_loop(name):
    stats = pytest.importorskip("scipy.stats")
    r = vl.Ragged(np.arange(9.0) ** 2, [3, 4, 2])
    check_parts(vl.vmap(lambda x: getattr(stats, name)(x))(r), [getattr(stats, name)(x) for x in r])


def test_a_detour_that_the_function_catches_is_one():
    def f(x):
        try:
            return np.unique(x) * 1.0
        except Exception:
            return x * 0

    r = vl.Ragged(np.array([3, 3, 4]), [2, 1])
    with pytest.warns(LoopWarning, match=r"calls f for each sequence alone: it uses np\.unique"):
        assert vl.vmap(f)(r).to_list() == [[3], [4]]


# What a function asks or catches of all sequences is not what it would of one.


def guess(x, call, errors=Exception):
    """What a call gives, or 0 where it fails."""
    try:
        return call(x)
    except errors:
        return x.sum() * 0


ASKED = (
    """
guess(x, lambda x: x[2], IndexError) | guess(x, lambda x: x.max(), ValueError) | guess(x, lambda x: x[0] * 2)
guess(x, lambda x: (x + np.arange(3)).sum()) | guess(x, lambda x: x @ np.ones(3)) | guess(x, lambda x: x.foo)
guess(x, lambda x: np.linalg.inv(x[:1, None])[0, 0]) | guess(x, lambda x: np.sort(x, axis=1).sum())
isinstance(x.sum(), np.ndarray) | isinstance(x.shape[0], int) | isinstance(x.shape[0], numbers.Number)
isinstance(x, np.ndarray) | type(x) is np.ndarray | kind_of(x) == "ndarray" | x.__class__ is np.ndarray
x.sum().__class__ is np.float64 | np.isscalar(x.sum()) | np.isscalar(x.shape[0]) | len(str(x.sum()))
f"{x.sum()}" == "0.0" | repr(x.shape) == "(3,)" | round(x.sum()) | math.floor(x.sum())
{3: 1}.get(x.shape[0], 2) | math.trunc(x.sum()) | copy.copy(x) | copy.deepcopy(x).sum()
x.sum() in {0.0, 2.25} | x.var(ddof=2)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
ASKED_OF_TENSORS = (
    """
guess(x, lambda x: x[2], IndexError) | guess(x, lambda x: x.amax()) | guess(x, lambda x: x @ torch.ones(3))
guess(x, lambda x: torch.linalg.inv(x[:1, None])[0, 0]) | guess(x, lambda x: x.sum(1))
isinstance(x, torch.Tensor) | isinstance(x.shape[0], int) | type(x) is torch.Tensor | kind_of(x) == "Tensor"
isinstance(x.shape[0], numbers.Number) | x.__class__ is torch.Tensor | x.var(correction=2)
x.abs().byte().sum() | x.byte().any() | x.abs().byte().cumsum(0) | (x > 0).argmax()
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
WRITES = (
    """
F.relu(x, inplace=True) | F.relu(x, True) | F.leaky_relu(x, 0.1, True) | F.hardtanh(x, -1, 1, True)
F.elu(x, inplace=True) | F.threshold(x, 0.5, 0, True) | F.dropout(x, 0.0, True, True) | I(x) | x.relu_()
torch.relu_(x) | x.mul_(2) | x.detach().mul_(2) | torch.add(x, 1, out=x) | torch.clamp_(x, 0)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@pytest.mark.parametrize("source", ASKED)
def test_what_a_function_asks_is_asked_of_each_sequence(source):
    for lengths in SOME:
        check(source, numbers(lengths))


@pytest.mark.parametrize("source", ASKED_OF_TENSORS)
def test_what_a_function_asks_is_asked_of_each_tensor(source):
    for lengths in SOME:
        check(source, tensors(lengths))


@pytest.mark.parametrize("source", WRITES)
def test_a_function_of_torch_writes_to_a_copy(source):
    r = tensors([3, 2, 0, 1])
    before = r.values.clone()
    f, _ = function_of(source)
    expected = [f(x.clone()) for x in r]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = vl.vmap(f)(r)
    check_parts(result, expected)
    assert r.values.equal(before)


@pytest.mark.parametrize(
    "source", ["x[0, :, A([0, 1])]", "x[A([0, 1]), :, 0]", "x[0, A([0, 1])]", "x[:, 0, A([1, 0])]"]
)
def test_arrays_and_ints_that_stand_apart_go_first(source):
    check(source, numbers([3, 2, 4], (2, 3)))
    f, _ = function_of(source)
    cubes = np.arange(72.0).reshape(3, 2, 3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = vl.vmap(lambda r, x: f(x))(numbers([3, 0, 1]), cubes)
    check_parts(result, [f(x) for x in cubes])


# Bad input.


def boom(x):
    if len(x) == 1:
        raise KeyError("boom")
    return x


R = vl.Ragged(np.arange(6.0), [3, 1, 2])
BAD = {
    "no function": (TypeError, "f: expected a function, got int", lambda: vl.vmap(3)),
    "no Ragged": (TypeError, "no argument is a Ragged", lambda: vl.vmap(abs)([1, 2])),
    "result": (ValueError, "result: expected 'sequence' or 'row'", lambda: vl.vmap(abs, result="rows")),
    "axes": (ValueError, "in_axes: expected 0 or None", lambda: vl.vmap(abs, in_axes=1)(R)),
    "axes count": (ValueError, "in_axes: has 2 entries for 1", lambda: vl.vmap(abs, in_axes=(0, 0))(R)),
    "level": (IndexError, "level: 3 is out of range", lambda: vl.vmap(abs, level=3)(R)),
    "lengths": (
        ValueError, "argument 1: nests differently: sequence 1 of level 0",
        lambda: vl.vmap(np.hypot)(R, vl.Ragged(np.arange(6.0), [3, 2, 1])),
    ),
    "rows": (ValueError, "argument 1: has 4 rows for 3", lambda: vl.vmap(np.hypot)(R, np.zeros(4))),
    "kinds": (
        ValueError, r"gives is an array of shape \(3,\) for sequence 0 and a number for sequence 1",
        lambda: vl.vmap(lambda x: x if len(x) > 1 else 1.0)(R),
    ),
    "tuples": (
        ValueError, "a tuple of 2 for sequence 0 and a number for sequence 1",
        lambda: vl.vmap(lambda x: (x, x) if float(x.sum()) < 3.5 and len(x) > 1 else x.sum())(R),
    ),
    "part": (
        ValueError, r"part \[1\] of what it gives is .* for sequence 0 and .* for sequence 1",
        lambda: vl.vmap(lambda x: (1, np.outer(x, x)))(R),
    ),
    "nothing": (TypeError, "gives arrays or numbers, got NoneType", lambda: vl.vmap(lambda x: None)(R)),
    "own error": (KeyError, "boom", lambda: vl.vmap(boom)(R)),
    "no sequences": (
        ValueError, "there are no sequences, and the function fails",
        lambda: vl.vmap(lambda x: np.unique(x)[5])(R[:0]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.filterwarnings("ignore::varlen.transforms.LoopWarning")
def test_bad_input_is_refused(name):
    kind, match, call = BAD[name]
    with pytest.raises(kind, match=match):
        call()


@pytest.mark.filterwarnings("ignore::varlen.transforms.LoopWarning")
def test_an_error_of_the_function_says_which_sequence():
    with pytest.raises(KeyError) as caught:
        vl.vmap(boom)(R)
    notes = getattr(caught.value, "__notes__", ["vmap called the function for sequence 1"])
    assert notes == ["vmap called the function for sequence 1"]


def test_arrays_beside_tensors_are_refused():
    r = tensors([3, 1, 2])
    with pytest.raises(TypeError, match="argument 1: expected"):
        vl.vmap(lambda x, y: x)(R, r)
    with pytest.raises(ValueError, match="argument 1"):
        vl.vmap(lambda x, y: x)(r, vl.Ragged(r.values.to("meta"), r.lengths))


# Gradients and graphs.

GRADIENTS = (
    """
(x - x.mean()) / x.std() | x[1:] - x[:-1] | x.softmax(0) * x.sum() | x.logsumexp(0) | x / x.shape[0]
x / x.norm() | x.sort().values | x.flip(0) * x.cumsum(0) | torch.stack([x.min(), x.max()]) | x @ x
x[0] * x[-1] | x.max(0).values | x / len(x) | torch.outer(x, x).sum(0) | x if x.sum() > 0 else -x
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@pytest.mark.parametrize("source", GRADIENTS)
@pytest.mark.filterwarnings("ignore::varlen.transforms.LoopWarning")
def test_gradients_flow_through_all_ways(source):
    torch = pytest.importorskip("torch")
    f, _ = function_of(source)
    lengths = [3, 2, 4]
    values = torch.rand(9, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()

    def flat(x):
        result = vl.vmap(f)(vl.Ragged(x, lengths))
        return result.values if isinstance(result, vl.Ragged) else result

    assert torch.autograd.gradcheck(flat, values)
    expected = torch.cat([f(x).reshape(-1) for x in values.split(lengths)]).square().sum()
    result = flat(values).square().sum()
    a, b = (torch.autograd.grad(loss, values)[0] for loss in (result, expected))
    torch.testing.assert_close(a, b)


GRAPHS = (
    """
(x - x.mean()) / x.std() | x.sum() / x.shape[0] | x.softmax(0) - x.max() | x[1:] - x[:-1] | x[0] - x[-1]
x.flip(0) + x | torch.where(x > x.mean(), x, 0.0) | (x.sum(), x[:2]) | x.sort().values | x[x > 0.5]
torch.stack([x.min(), x.max()]) | torch.cat([x, x]) | x / x.norm() | torch.dot(x, x)
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
GRAPHS_OF_ROWS = ["torch.relu(L(x)).mean(0)", "x - x.mean(0)", "x[:, 0]", "torch.matmul(x, torch.ones(3, 2))"]


@pytest.mark.parametrize("source", GRAPHS + GRAPHS_OF_ROWS)
def test_one_graph_for_any_number_of_sequences(source):
    torch = pytest.importorskip("torch")
    from torch._dynamo.testing import CompileCounterWithBackend

    torch.compiler.reset()
    f = eval(f"lambda x: {source}", names())
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda r: vl.vmap(f)(r), fullgraph=True, backend=counter, dynamic=True)
    for lengths in ([3, 2, 4], [4, 2], [2, 3, 1, 5, 2], [2] * 7 + [9]):
        rows = (3,) if source in GRAPHS_OF_ROWS else ()
        values = torch.rand(sum(lengths), *rows).requires_grad_()
        r = vl.Ragged(values, lengths)
        results = [x if isinstance(x, tuple) else (x,) for x in (compiled(r), vl.vmap(f)(r))]
        for a, b in zip(*results, strict=True):
            assert type(a) is type(b)
            if isinstance(a, vl.Ragged):
                assert a.levels == b.levels
            torch.testing.assert_close(*(rows_of(x) for x in (a, b)), equal_nan=True)
        losses = [sum(rows_of(x).nan_to_num().square().sum() for x in parts) for parts in results]
        torch.testing.assert_close(*(torch.autograd.grad(loss, values)[0] for loss in losses), equal_nan=True)
    assert counter.frame_count == 1
    torch.compiler.reset()


@pytest.mark.filterwarnings("ignore::varlen.transforms.LoopWarning")
def test_other_ways_break_the_graph():
    torch = pytest.importorskip("torch")

    torch.compiler.reset()
    r = vl.Ragged(torch.rand(5), [3, 2])
    compiled = torch.compile(
        lambda r: vl.vmap(lambda x: x - x.median())(r) * 2, backend="eager", dynamic=True
    )
    assert compiled(r).equals(vl.vmap(lambda x: x - x.median())(r) * 2)
    torch.compiler.reset()
