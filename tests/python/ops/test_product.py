"""Products of the matrices of sequences."""

import itertools

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from nested import deeper, raised
from varlen import Level
from varlen.ops import matmul

lengths = st.lists(st.integers(0, 4), max_size=7)


def matrices(draw_or_rng, rows, cols, form, transposed):
    """An operand whose matrices, as they are taken, have so many rows and columns, and the matrices."""
    each = [
        draw_or_rng.normal(size=(c, r) if transposed else (r, c)) for r, c in zip(rows, cols, strict=True)
    ]
    flat = np.concatenate([m.reshape(-1) for m in each]) if each else np.zeros(0)
    heights = np.array([len(m) for m in each], np.int64)
    widths = np.array([m.shape[1] for m in each], np.int64)
    if form == "wide":
        result = vl.Ragged(flat.reshape(-1, widths[0] if len(widths) else 3), heights)
    elif form == "dense":
        result = flat.reshape(len(each), *(each[0].shape if each else (3, 3)))
    else:
        result = vl.Ragged(flat, levels=(Level(heights), Level(np.repeat(widths, heights))))
    return result, [m.T if transposed else m for m in each]


@given(st.data(), st.booleans(), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_each_sequence_is_a_matrix(data, ta, tb, seed):
    rng = np.random.default_rng(seed)
    P = data.draw(lengths)
    n = len(P)
    Q = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    K = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    forms = [data.draw(st.sampled_from(["wide", "nested", "dense"])) for _ in "ab"]
    if forms == ["dense", "dense"]:
        forms[1] = "wide"
    # What a form fixes: the columns as they are stored, or both.
    for form, turned, (rows, cols) in zip(forms, (ta, tb), ((P, K), (K, Q)), strict=True):
        for sizes, fixed in (
            (cols if not turned else rows, form != "nested"),
            (rows if not turned else cols, form == "dense"),
        ):
            sizes[:] = [3] * n if fixed else sizes
    (a, xs), (b, ys) = matrices(rng, P, K, forms[0], ta), matrices(rng, K, Q, forms[1], tb)
    result = matmul(a, b, transpose_a=ta, transpose_b=tb)
    wanted = [x @ y for x, y in zip(xs, ys, strict=True)]
    assert len(result) == n
    for got, want, k in zip(result, wanted, K, strict=True):
        rows = got.to_list() if isinstance(got, vl.Ragged) else got.tolist()
        if k == 0 and "nested" in forms:
            assert not np.any(
                np.array([x for row in rows for x in row])
            )  # without rows, columns are not known
        elif len(want):
            assert np.allclose(np.array(rows).reshape(want.shape), want)
        else:
            assert rows == []
    if isinstance(a, vl.Ragged) and isinstance(b, vl.Ragged):
        below = matmul(deeper(a), deeper(b), transpose_a=ta, transpose_b=tb)
        if isinstance(result, vl.Ragged):
            assert raised(below).equals(result)
        else:
            assert np.array_equal(raised(below), result)


def test_rows_of_all_sequences_go_with_one_matrix():
    rng = np.random.default_rng(0)
    r = vl.Ragged(rng.normal(size=(5, 3)), [2, 0, 3])
    w = rng.normal(size=(3, 4))
    assert (r @ w).levels is r.levels
    assert np.array_equal((r @ w).values, r.values @ w)
    assert np.array_equal(matmul(r, w.T, transpose_b=True).values, r.values @ w)
    assert (r @ w[:, 0]).values.shape == (5,)
    cube = vl.Ragged(rng.normal(size=(5, 2, 3)), [2, 0, 3])
    assert np.allclose((cube @ w).values, cube.values @ w)
    rows = vl.Ragged(r.values.reshape(-1), levels=(*r.levels, Level([3] * 5)))
    assert (rows @ w).equals(r @ w)
    assert (vl.Ragged(np.zeros((0, 3)), [0]) @ w).values.shape == (0, 4)
    assert (vl.Ragged(np.zeros((2, 0), np.float32), [2]) @ np.zeros((0, 4), np.float32)).dtype == np.float32


def test_attention_is_two_products():
    rng = np.random.default_rng(0)
    sizes = [3, 1, 3, 0, 2, 3, 1]
    q, k, v = (vl.Ragged(rng.normal(size=(13, 4)), sizes) for _ in range(3))
    out = matmul(q, k, transpose_b=True).softmax() @ v
    for i, (a, b, c) in enumerate(zip(q, k, v, strict=True)):
        scores = np.exp(a @ b.T)
        assert np.allclose(out[i], scores / scores.sum(1, keepdims=True) @ c)


@pytest.mark.parametrize("ta", [False, True])
def test_products_have_gradients_of_any_order(ta):
    torch = pytest.importorskip("torch")
    levels = (Level([2, 0, 2, 1, 2]),)
    a = torch.randn(7, 2, dtype=torch.float64, requires_grad=True)
    b = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    w = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)

    def calls(a, b, w):
        x, y = vl.Ragged(a, levels=levels), vl.Ragged(b, levels=levels)
        if ta:
            return matmul(x, y, transpose_a=True), (x @ w).values
        z = x @ w
        return matmul(z, y, transpose_b=True).values, (matmul(z, z, transpose_b=True) @ y).values

    assert torch.autograd.gradcheck(calls, (a, b, w), fast_mode=True)
    assert torch.autograd.gradgradcheck(calls, (a, b, w), atol=1e-4, fast_mode=True)


def test_results_do_not_depend_on_how_matrices_are_grouped():
    rng = np.random.default_rng(1)
    sizes = np.array([3, 1] * 6 + [2])
    r = vl.Ragged(rng.integers(-9, 9, (sizes.sum(), 2)), sizes)
    result = matmul(r, r, transpose_b=True)
    assert [m.to_list() for m in result] == [(x @ x.T).tolist() for x in r]
    for i, j in itertools.product(range(3), range(10, 13)):
        part = r[i : j + 1]
        assert matmul(part, part, transpose_b=True).equals(result[i : j + 1])


def test_what_is_no_matrix_or_does_not_fit_is_refused():
    r = vl.Ragged(np.zeros((3, 2)), [2, 1])
    uneven = vl.Ragged(np.zeros(5), levels=(Level([2, 1]), Level([2, 1, 2])))
    for call, kind, text in (
        (lambda: r @ np.zeros((3, 1)), ValueError, "b: has 3 rows, the rows of a have 2 columns"),
        (lambda: r @ r, ValueError, "b: matrix 1 has 1 rows, that of a has 2 columns"),
        (lambda: uneven @ r, ValueError, "a: sequence 0 is not a matrix: row 1 has 1 columns, row 0 has 2"),
        (lambda: uneven @ np.zeros((2, 2)), ValueError, "sequence 1 of the innermost level of a 1"),
        (lambda: r @ np.zeros((1, 2, 2)), ValueError, "b: has 1 matrices, a has 2"),
        (lambda: np.zeros((2, 2)) @ r, ValueError, r"a: expected \(n, p, q\), got shape \(2, 2\)"),
        (lambda: vl.Ragged(np.zeros((1, 2, 2)), [1]) @ r, ValueError, r"a: has rows of shape \(2, 2\)"),
        (lambda: deeper(r) @ r, ValueError, "b: nests differently from a"),
        (lambda: matmul(r, np.zeros((2, 2)), transpose_a=True), ValueError, "transpose_a"),
        (lambda: matmul(np.zeros((2, 2)), np.zeros((2, 2))), TypeError, "expected a Ragged"),
    ):
        with pytest.raises(kind, match=text):
            call()


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_gradients_of_complex_numbers_are_torchs(transpose_a, transpose_b):
    torch = pytest.importorskip("torch")
    a = torch.tensor([[1 + 2j, 3], [2 - 1j, 1j]], dtype=torch.complex128, requires_grad=True)
    b = torch.tensor([[3 + 4j, 2], [1j, 1 - 1j]], dtype=torch.complex128, requires_grad=True)

    def run(a, b):
        result = matmul(
            vl.Ragged(a, [2]), vl.Ragged(b, [2]), transpose_a=transpose_a, transpose_b=transpose_b
        )
        return result.values if isinstance(result, vl.Ragged) else result

    assert torch.autograd.gradcheck(run, (a, b))
