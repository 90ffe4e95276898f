"""Functions and methods of torch along an axis: on a Ragged they give what each sequence alone gives."""

import numpy as np
import pytest
import varlen as vl
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch")
nn = torch.nn.functional

ROWS = [torch.tensor([3.0, 1.0, 4.0, 1.0]), torch.tensor([2.0]), torch.tensor([1.0, float("nan"), 5.0])]
MATRICES = [torch.arange(12.0).reshape(3, 4) % 5, torch.ones(1, 4), torch.arange(8.0).reshape(2, 4) * -1]

ALONG = {
    "sort": lambda x, dim: torch.sort(x, dim=dim, stable=True),
    "sort, falling": lambda x, dim: torch.sort(x, dim=dim, descending=True, stable=True),
    "argsort": lambda x, dim: torch.argsort(x, dim=dim, stable=True),
    "topk": lambda x, dim: torch.topk(x, 1, dim=dim),
    "topk, smallest": lambda x, dim: torch.topk(x, 1, dim=dim, largest=False),
    "max": lambda x, dim: torch.max(x, dim=dim),
    "min, kept": lambda x, dim: torch.min(x, dim=dim, keepdim=True),
    "median": lambda x, dim: torch.median(x, dim=dim)[0],
    "median, kept": lambda x, dim: torch.median(x, dim=dim, keepdim=True)[0],
    "quantile": lambda x, dim: torch.quantile(x, 0.3, dim=dim),
    "cummax": lambda x, dim: torch.cummax(x, dim=dim),
    "cummin": lambda x, dim: torch.cummin(x, dim=dim),
    "diff": lambda x, dim: torch.diff(x, dim=dim),
    "flip": lambda x, dim: torch.flip(x, [dim]),
    "roll": lambda x, dim: torch.roll(x, 1, dim),
    "norm": lambda x, dim: torch.norm(x, dim=dim),
    "norm of order 1": lambda x, dim: torch.linalg.vector_norm(x, 1, dim=dim, keepdim=True),
    "norm of order inf": lambda x, dim: torch.linalg.norm(x, float("inf"), dim=dim),
    "norm of order 0": lambda x, dim: torch.linalg.vector_norm(x, 0, dim=dim).int(),
    "norm of order 3": lambda x, dim: torch.norm(x, 3, dim=dim),
    "nansum": lambda x, dim: torch.nansum(x, dim=dim),
    "nanmean": lambda x, dim: torch.nanmean(x, dim=dim),
    "count_nonzero": lambda x, dim: torch.count_nonzero(x, dim=dim),
    "repeat_interleave": lambda x, dim: torch.repeat_interleave(x, 2, dim=dim),
    "unsqueeze": lambda x, dim: torch.unsqueeze(x, -1),
    "method sum": lambda x, dim: x.sum(dim=dim),
    "method mean, kept": lambda x, dim: x.mean(dim=dim, keepdim=True),
    "method mean, of a place": lambda x, dim: x.mean(dim, keepdim=True),
    "method std": lambda x, dim: x.std(dim=dim),
    "method var, biased": lambda x, dim: x.var(dim=dim, unbiased=False),
    "method softmax": lambda x, dim: x.softmax(dim=dim),
    "method cumsum": lambda x, dim: x.cumsum(dim=dim),
    "method max": lambda x, dim: x.max(dim=dim),
    "method topk": lambda x, dim: x.topk(1, dim=dim),
    "method sort": lambda x, dim: x.sort(dim=dim, descending=True, stable=True),
    "method argmax": lambda x, dim: x.argmax(dim=dim),
    "method diff": lambda x, dim: x.diff(dim=dim),
    "method roll": lambda x, dim: x.roll(2, dims=dim),
    "method norm": lambda x, dim: x.norm(dim=dim),
    "method logsumexp": lambda x, dim: x.logsumexp(dim=dim),
    "method cummax": lambda x, dim: x.cummax(dim=dim),
    "method any": lambda x, dim: x.any(dim=dim),
    "method median": lambda x, dim: x.median(dim=dim)[0],
    "method flip": lambda x, dim: x.flip(dim),
}
EACH = {
    "exp": lambda x: x.exp(),
    "abs": lambda x: x.abs(),
    "clamp": lambda x: x.clamp(min=2, max=3),
    "pow": lambda x: x.pow(2),
    "masked_fill": lambda x: x.masked_fill(x > 2, 0.0),
    "add": lambda x: x.add(x, alpha=2),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "isnan": lambda x: x.isnan(),
    "where": lambda x: x.where(x > 1, torch.tensor(0.0)),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([1.0, 3.0]), right=True),
    "searchsorted": lambda x: torch.searchsorted(torch.tensor([1.0, 3.0]), x),
    "isin": lambda x: torch.isin(x, torch.tensor([1.0, 2.0])),
}


def parts(result):
    return list(result) if isinstance(result, tuple) else [result]


def check(result, each):
    """Part by part, a result holds what each sequence alone gave."""
    for part, alone in zip(parts(result), zip(*map(parts, each), strict=True), strict=True):
        rows = list(part)
        assert len(rows) == len(alone)
        for row, expected in zip(rows, alone, strict=True):
            torch.testing.assert_close(row, expected, equal_nan=True, check_dtype=False)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")  # torch says so of one number
@pytest.mark.parametrize("name", ALONG)
def test_along_sequences_and_along_rows(name):
    function = ALONG[name]
    if name != "quantile":  # torch refuses what it would compare with NaN in its own way
        rows = ROWS if "median" not in name and "method max" not in name else [x.nan_to_num() for x in ROWS]
        check(function(vl.Ragged.from_list(rows), 1), [function(x, 0) for x in rows])
    r = vl.Ragged.from_list(MATRICES)
    check(function(r, 1), [function(x, 0) for x in MATRICES])
    check(function(r, -1), [function(x, -1) for x in MATRICES])


@pytest.mark.parametrize("name", EACH)
def test_methods_of_tensors_work_on_each_number(name):
    check(EACH[name](vl.Ragged.from_list(ROWS)), [EACH[name](x) for x in ROWS])


def test_gather_and_selection():
    r, places = vl.Ragged.from_list(ROWS), [torch.tensor([3, 0]), torch.tensor([0]), torch.tensor([2, 2, 0])]
    index = vl.Ragged.from_list(places)
    each = [x.gather(0, i) for x, i in zip(ROWS, places, strict=True)]
    check(torch.gather(r, 1, index), each)
    check(torch.take_along_dim(r, index, 1), each)
    assert_array_equal(r.masked_select(r > 1), torch.cat(ROWS)[torch.cat(ROWS) > 1])
    assert r.index_select(0, torch.tensor([1, 1])).tolist() == [[2.0], [2.0]]
    wide = vl.Ragged.from_list(MATRICES)
    check(wide.index_select(-1, torch.tensor([3, 0])), [x[:, [3, 0]] for x in MATRICES])


@pytest.mark.parametrize("name", ["split", "chunk", "tensor_split"])
@pytest.mark.parametrize("sizes", [1, 2, [1, 2]])
def test_pieces(name, sizes):
    if name == "chunk" and isinstance(sizes, list):
        return
    r = vl.Ragged.from_list(MATRICES)
    function = getattr(torch, name)
    expected = function(torch.arange(3), sizes)
    assert [[int(i) for i in run] for run in expected] == [
        [next(k for k, m in enumerate(MATRICES) if torch.equal(m, x)) for x in piece]
        for piece in function(r, sizes)
    ]
    sizes = [1, 3] if isinstance(sizes, list) else sizes
    for got, *alone in zip(
        function(r, sizes, dim=-1), *(function(x, sizes, dim=-1) for x in MATRICES), strict=True
    ):
        check(got, alone)
    check(r.split(2, dim=-1)[1], [x[:, 2:] for x in MATRICES])
    with pytest.raises(TypeError, match="along an axis of its rows"):
        function(r, sizes, dim=1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hstack", {"tensors": 2}),
        ("vstack", {"tensors": 2}),
        ("cat", {"tensors": 2, "dim": 1}),
        ("split", {"tensor": 1, "split_size_or_sections": 2, "dim": -1}),
        ("matmul", {"input": 1, "other": torch.ones(4, 2)}),
        ("flatten", {"input": 1, "start_dim": 1, "end_dim": 2}),
        ("unflatten", {"input": 1, "dim": -1, "sizes": (2, 2)}),
        ("nn.functional.glu", {"input": 1, "dim": -1}),
        ("nn.functional.normalize", {"input": 1, "p": 1.0, "dim": 2}),
    ],
)
def test_arguments_have_the_names_that_torch_gives_them(name, options):
    function = torch
    for part in name.split("."):
        function = getattr(function, part)
    r = vl.Ragged.from_list(MATRICES)
    (first, count), *others = options.items()
    x = r if count == 1 else [r] * count
    found, expected = function(**{**options, first: x}), function(x, *[value for _, value in others])
    for a, b in zip(parts(found), parts(expected), strict=True):
        assert_array_equal(getattr(a, "values", a), getattr(b, "values", b))


def test_split_of_arrays_along_rows():
    r = vl.Ragged(np.arange(12).reshape(3, 4), [2, 1])
    assert [x.values.tolist() for x in r.split([1, 3], axis=-1)] == [
        r.values[:, :1].tolist(), r.values[:, 1:].tolist(),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="sizes: they add up to 3, but there are 4 columns"):
        r.split([1, 2], axis=2)
    with pytest.raises(TypeError, match="axis: expected 0 or an axis of the rows, got 1"):
        r.split(1, axis=1)
    assert [x.tolist() for x in np.split(r, [1])] == [r[:1].tolist(), r[1:].tolist()]
    with pytest.raises(ValueError, match="equal division"):
        np.split(r, 3)


def test_gradients_reach_the_values():
    def losses(xs):
        return [x.max(dim=-1)[0].sum() + x.sort(dim=-1)[0][..., 0].sum() + x.norm(dim=-1).sum() for x in xs]

    alone = [x.clone().requires_grad_() for x in MATRICES]
    sum(losses(alone)).backward()
    values = torch.cat(MATRICES).requires_grad_()
    r = vl.Ragged(values, [len(x) for x in MATRICES])
    (
        torch.max(r, -1)[0].values.sum() + torch.sort(r)[0].values[..., 0].sum() + r.norm(dim=-1).values.sum()
    ).backward()
    torch.testing.assert_close(values.grad, torch.cat([x.grad for x in alone]))


INF = float("inf")
TIES = [[3.0, 1.0, 3.0], [2.0, 2.0, 2.0, 1.0], [INF, 1.0, INF], [-INF, -INF], [5.0]]
TIED = {
    "amax": lambda x, dim: torch.amax(x, dim),
    "amin, kept": lambda x, dim: torch.amin(x, dim, keepdim=True),
    "max": lambda x, dim: torch.max(x, dim)[0],
    "min": lambda x, dim: torch.min(x, dim)[0],
    "method max": lambda x, dim: x.max(dim=dim)[0],
    "cummax": lambda x, dim: torch.cummax(x, dim)[0],
    "cummin": lambda x, dim: torch.cummin(x, dim)[0],
    "median": lambda x, dim: torch.median(x, dim)[0],
    "norm of order inf": lambda x, dim: torch.linalg.vector_norm(x.clamp(-9, 9), INF, dim=dim),
}


@pytest.mark.parametrize("name", TIED)
@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("along", [1, -1])
def test_ties_have_the_gradients_that_they_have_alone(name, is_wide, along):
    rows = [
        torch.tensor(row)[:, None].expand(-1, 3) * torch.ones(3) if is_wide else torch.tensor(row)
        for row in TIES
    ]
    alone = [x.clone().requires_grad_() for x in rows]
    values = torch.cat(rows).requires_grad_()
    expected = torch.cat([TIED[name](x, 0 if along == 1 else -1).reshape(-1) for x in alone])
    found = TIED[name](vl.Ragged(values, [len(x) for x in rows]), along)
    for result in (expected, (found.values if isinstance(found, vl.Ragged) else found).reshape(-1)):
        result.backward(torch.arange(1.0, 1 + len(result)))
    torch.testing.assert_close(values.grad, torch.cat([x.grad for x in alone]))


def test_ties_of_all_numbers_share_the_gradient():
    x = torch.tensor([2.0, 5.0, 5.0, 1.0, 5.0])
    for function in (torch.max, torch.amax, torch.min):
        found = torch.func.grad(lambda x, f=function: f(vl.Ragged(x, [2, 3])))(x)
        torch.testing.assert_close(found, torch.func.grad(function)(x))
    for amax in (lambda r: torch.amax(r, 1), vl.vmap(torch.amax), vl.vmap(lambda x: x.max())):
        found = torch.func.grad(lambda x, f=amax: f(vl.Ragged(x, [2, 3])).sum())(x)
        assert found.tolist() == [0, 1, 0.5, 0, 0.5]
    assert torch.func.grad(lambda x: vl.Ragged(x, [2, 3]).max().sum())(x).tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("name", ["max", "min", "sum", "std", "sort", "argsort", "norm", "cummax", "softmax"])
def test_a_place_alone_is_the_axis_of_arrays_too(name):
    """`r.std(1)` is that of arrays, `r.std(dim=1)` torch's; more places are an error."""
    values = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0])
    r = vl.Ragged(values, [2, 3])
    found, expected = (getattr(x, name)(1) for x in (r, vl.Ragged(values.numpy(), [2, 3])))
    assert_array_equal(
        getattr(found, "values", found) if isinstance(found, vl.Ragged) else found,
        getattr(expected, "values", expected),
    )
    with pytest.raises(TypeError, match="positional arguments but 3 were given"):
        getattr(r, name)(1, True)


def test_nested_sequences():
    nested = vl.Ragged.from_list([[torch.tensor([3.0, 1.0]), torch.tensor([2.0])], [], [torch.tensor([5.0])]])
    assert torch.max(nested, -1)[0].tolist() == [[3.0, 2.0], [], [5.0]]
    assert torch.median(nested, -1)[1].tolist() == [[1, 0], [], [0]]
    assert nested.flip(2).tolist() == [[[1.0, 3.0], [2.0]], [], [[5.0]]]
    assert nested.flip(0, 1).tolist() == [[[5.0]], [], [[2.0], [3.0, 1.0]]]
    assert torch.sort(nested, dim=2)[0].tolist() == [[[1.0, 3.0], [2.0]], [], [[5.0]]]


def test_products_and_equality():
    r, w = vl.Ragged.from_list(MATRICES), torch.arange(8.0).reshape(4, 2)
    check(torch.einsum("btd,de->bte", r, w), [x @ w for x in MATRICES])
    check(torch.einsum("b t d, d e -> b t e", [r, w]), [x @ w for x in MATRICES])
    check(torch.bmm(r, torch.stack([w, w, w])), [x @ w for x in MATRICES])
    a = vl.Ragged(torch.cat(MATRICES).numpy(), [3, 1, 2])
    check(np.einsum("btd,de->bte", a, w.numpy()).torch(), [x @ w for x in MATRICES])
    check(np.dot(a, w.numpy()).torch(), [x @ w for x in MATRICES])
    assert [torch.equal(r, r.clone()), torch.equal(r, r + 1), torch.allclose(r, r + 1e-9)] == [
        True,
        False,
        True,
    ]
    assert torch.equal(torch.max(r, 2 - r).values, torch.maximum(r.values, 2 - r.values))
    assert torch.equal(torch.min(r, other=2 - r).values, torch.minimum(r.values, 2 - r.values))
    values, inverse, counts = torch.unique(r, return_inverse=True, return_counts=True)
    assert_array_equal(values, np.unique(r.values))
    check(vl.Ragged(values[inverse.values], inverse.lengths), MATRICES)
    assert counts.sum() == r.size
    assert torch.histc(r, 3, -9, 9).sum() == 24


def test_reshape_and_view():
    r = vl.Ragged.from_list(MATRICES)
    for x in (r.view(3, None, 2, 2), r.reshape(-1, None, 2, -1), r.view(*r.shape[:-1], 2, 2)):
        check(x, [m.view(len(m), 2, 2) for m in MATRICES])
    flat = torch.cat(MATRICES)
    for got, width in ((r.view(-1, 4), 4), (r.reshape((-1, 2)), 2)):
        assert torch.equal(got, flat.view(-1, width))
    assert torch.equal(r.view(-1), flat.view(-1))
    loss = torch.nn.functional.cross_entropy(r.view(-1, 4), torch.zeros(6, dtype=torch.int64))
    assert loss.shape == ()
    a = vl.Ragged(np.arange(8).reshape(2, 4), [1, 1])
    assert [np.reshape(a, (-1, 2)).shape, a.reshape(2, None, 2, 2).shape] == [(4, 2), (2, None, 2, 2)]
    assert a.reshape(2, None, 4).equals(a)
    empty = vl.Ragged(np.zeros((0, 4)), [0, 0])
    assert [empty.reshape(-1, 2).shape, empty.reshape(2, None, 2, 2).values.shape] == [(0, 2), (0, 2, 2)]


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        ((-1, 3), "shape: .-1, 3. does not divide the rows, of shape .4,."),
        ((-1, 8), "does not divide the rows"),
        ((4, None, 4), "shape: expected it to begin with .3, None., or -1"),
        ((3, 4), "expected it to begin with"),
        ((3,), "expected it to begin with"),
        ((3, None, 5), "does not divide the rows"),
    ],
)
def test_reshape_never_mixes_sequences(shape, text):
    with pytest.raises(ValueError, match=text):
        vl.Ragged.from_list(MATRICES).reshape(*shape)


def test_padding_of_plain_numbers():
    rows = [x.nan_to_num() for x in ROWS]
    r, pad = vl.Ragged.from_list(rows), torch.nn.functional.pad
    check(pad(r, (1, 2), value=7.0), [pad(x, (1, 2), value=7.0) for x in rows])
    check(pad(r.long(), [0, 1]), [pad(x.long(), [0, 1]) for x in rows])
    check(pad(r, (2, 1), mode="replicate"), [pad(x[None], (2, 1), mode="replicate")[0] for x in rows])


def test_squeeze_as_torch_and_as_numpy():
    r = vl.Ragged.from_list(MATRICES)
    for same in (r.unsqueeze(-1).squeeze(-1), r.unsqueeze(-1).squeeze(), r.squeeze(-1)):
        assert same.equals(r)  # torch keeps an axis that is longer
    a = vl.Ragged(np.ones((3, 1, 2)), [2, 1])
    assert np.squeeze(a, 2).shape == np.squeeze(a).shape == (2, None, 2)
    with pytest.raises(ValueError, match=r"axis: .* is not 1 long"):
        np.squeeze(a, -1)
    with pytest.raises(TypeError, match=r"use r\.drop_level"):
        r.squeeze(1)


@pytest.mark.parametrize("axis", [None, 1, 2, (1, 2)])
@pytest.mark.filterwarnings("ignore:All-NaN", "ignore:Mean of empty")
@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanmax", "nanmin"])
def test_numpy_leaves_nan_out_of_rows_with_columns(name, axis):
    rows = np.arange(6.0).reshape(3, 2) + 1
    rows[0, 1] = rows[2, 0] = np.nan
    r, function = vl.Ragged(rows, [2, 1]), getattr(np, name)
    own = None if axis is None else tuple(np.subtract(axis, 1)) if isinstance(axis, tuple) else axis - 1
    expected = function(rows) if axis is None else [function(x, axis=own) for x in (rows[:2], rows[2:])]
    with np.errstate(invalid="ignore"):
        result = function(r, axis=axis)
    for got, number in zip(
        *((list(result), expected) if axis is not None else ([result], [expected])), strict=True
    ):
        assert_array_equal(got, number)


def test_masks_of_numbers_compress():
    r = vl.Ragged([3, 1, 4, 1], [2, 1, 1])
    assert np.compress([1, 0, 1], r, axis=0).tolist() == [[3, 1], [1]]
    assert np.compress([True, False, True], r, axis=0).tolist() == [[3, 1], [1]]


def test_arrays_name_their_own_keywords():
    r = vl.Ragged([3.0, 1.0], [1, 1])
    for call, text in [
        (lambda: r.sum(dim=1), r"Ragged.sum\(\) got an unexpected keyword argument 'dim'; use axis="),
        (lambda: r.std(unbiased=False), "use ddof="),
        (lambda: r.sum(axes=1), "did you mean axis"),
        (lambda: r.torch().softmax(dimm=1), "did you mean dim"),
        (lambda: r.torch().sum(1, dim=1), "takes either axis or dim, got both"),
        (lambda: r.torch().sum(dim=1, empty=3), "has no argument empty"),
        (
            lambda: r.torch().unsqueeze(1, 2),
            "torch.unsqueeze of a Ragged takes input, dim; got 3 by position",
        ),
        (lambda: np.save("x.npy", r), r"use r.save\(path\)"),
    ]:
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(AttributeError, match=r"use numpy.exp\(r\)"):
        r.exp()
    with pytest.raises(AttributeError, match=r"use torch\.relu"):
        r.relu()
    assert [name in dir(x) for x in (r.torch(), r) for name in ("exp", "relu", "from_lengths")] == [
        True,
        True,
        *[False] * 4,
    ]
    with pytest.raises(ValueError, match="sequence 1 is empty and has no median"):
        torch.median(vl.Ragged(torch.ones(1), [1, 0]), 1)


def test_axes_are_any_integers():
    r = vl.Ragged.from_list(MATRICES)
    for axis in (np.int64(2), np.int64(-1)):
        for function in (torch.max, torch.sum, torch.norm, torch.nansum, torch.count_nonzero):
            results = (parts(function(r, dim=dim)) for dim in (axis, -1))
            assert all(part.equals(same) for part, same in zip(*results, strict=True))
        assert torch.max(r, axis)[1].equals(torch.max(r, -1)[1])
    assert r.flip(np.int64(1)).equals(r.flip(1))
    assert torch.repeat_interleave(r, torch.tensor([2]), 1).equals(torch.repeat_interleave(r, 2, 1))
    assert torch.max(r, other=r + 1).equals(r + 1)
    assert torch.min(input=r, other=r + 1).equals(r)
    check(r.norm(p=1, dim=1, keepdim=True), [x.norm(p=1, dim=0, keepdim=True) for x in MATRICES])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: torch.gather(torch.arange(3), 0, r.long()), TypeError, "input: .* use r.values"),
        (lambda r: torch.bucketize(torch.ones(2), r), TypeError, "input: .* use r.values"),
        (lambda r: torch.masked_select(torch.ones(8), r > 1), TypeError, "input: .* use r.values"),
        (lambda r: torch.split(r, 0), ValueError, "split_size_or_sections: expected at least 1"),
        (lambda r: torch.split(r, [1, 1]), ValueError, "they add up to 2, but there are 3"),
        (lambda r: torch.split(r[..., None], [2], -1), ValueError, "they add up to 2, but there are 1"),
        (lambda r: torch.chunk(r, 0), ValueError, "chunks: expected at least 1"),
        (lambda r: torch.tensor_split(r, 0), ValueError, "indices_or_sections: expected at least 1"),
        (lambda r: torch.norm(r, "nuc"), ValueError, "ord: .* use a number"),
        (lambda r: torch.linalg.norm(r, ord="fro"), ValueError, "ord: .* use a number"),
        (lambda r: r.cumsum(dim=1, keepdim=True), TypeError, "keepdim: .* leave it out"),
        (lambda r: r.softmax(dim=1, keepdim=True), TypeError, "keepdim: .* leave it out"),
        (lambda r: r.std(dim=1, ddof=2), TypeError, "ddof: .* use correction="),
        (lambda r: r.var(ddof=1, unbiased=False), TypeError, "ddof: .* use correction="),
        (lambda r: r.unsqueeze(-1).quantile(torch.tensor([0.1]), -1), ValueError, "q: .* one at a time"),
        (lambda r: torch.cosine_similarity(r, r), TypeError, "rows have an axis; use r.unsqueeze"),
        (lambda r: nn.pairwise_distance(r, r), TypeError, "rows have an axis; use r.unsqueeze"),
        (lambda r: torch.median(r, 0), TypeError, r"use r\.to_dense\(\)"),
        (lambda r: torch.topk(r, 1, 0), TypeError, r"use r\.to_dense\(\)"),
        (lambda r: torch.cummax(r.add_level([3]), 1), TypeError, r"not along 1; use r\.cummax\(axis=1\)"),
        (lambda r: torch.repeat_interleave(r, -1, 1), ValueError, "repeats: expected at least 0, got -1"),
        (
            lambda r: torch.repeat_interleave(r, torch.tensor([1, 2]), 0),
            ValueError,
            "repeats: has 2 entries, expected one or 3",
        ),
        (
            lambda r: torch.searchsorted(torch.tensor([1.0]), r, side="left", right=True),
            ValueError,
            "side: 'left' contradicts right=True",
        ),
    ],
)
def test_refusals_name_the_argument_and_a_way(call, error, text):
    with pytest.raises(error, match=text):
        call(vl.Ragged.from_list(ROWS))


@pytest.mark.parametrize("name", ["equal", "allclose", "quantile along sequences"])
def test_what_no_graph_holds_says_so(name):
    function = getattr(torch, name.split()[0])
    compiled = torch.compile(lambda r: function(r, 0.5 if "quantile" in name else r, 1), fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match=f"torch.{name} of varlen runs only outside"):
        compiled(vl.Ragged.from_list(ROWS))


def test_an_error_of_a_graph_in_the_making_has_its_text():
    compiled = torch.compile(lambda r: torch.sort(r, dim=7), fullgraph=True, backend="eager")
    with pytest.raises(torch._dynamo.exc.Unsupported, match="dim: 7 is out of range for 2 axes"):
        compiled(vl.Ragged.from_list(ROWS))


def test_one_graph():
    def step(r):
        best, _ = r.max(dim=1)
        return (
            r.softmax(dim=1).exp().sum(dim=1)
            + best
            + torch.split(r, 1)[0].sum()
            + torch.median(r)
            + torch.sort(r, dim=1)[0].clamp(max=3).mean(dim=1, keepdim=True)[:, 0]
        )

    r = vl.Ragged.from_list(ROWS[:2])
    compiled = torch.compile(step, fullgraph=True, backend="eager", dynamic=True)
    torch.testing.assert_close(compiled(r), step(r))
