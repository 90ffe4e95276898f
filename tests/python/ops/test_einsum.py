"""Sums of products by letters, against NumPy's einsum of each sequence by itself."""

import math
import os

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from einsum_samples import EQUATIONS, EXTENTS, Sample, samples
from house import in_python
from hypothesis import given
from hypothesis import strategies as st
from varlen import Level, _core, ops
from varlen.testing import strategies

DTYPES = ["float32", "float64", "complex64", "complex128", "int8", "int32", "uint64", "bool"]
DTYPES += ["float16", ml_dtypes.bfloat16, "longdouble", ">f4"]


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


@pytest.mark.parametrize("equation", EQUATIONS)
def test_each_sequence_is_that_of_numpy(equation):
    for sample in samples(equations=[equation]):
        found = ops.einsum(equation, *sample.operands, lengths={**EXTENTS_OF[equation], **sample.lengths})
        assert found.dtype == sample.dtype
        assert found.shape == sample.result.shape
        assert np.array_equal(found, sample.result)


EXTENTS_OF = {x: {k: n for k, n in EXTENTS.items() if k in x.partition("->")[0]} for x in EQUATIONS}


@given(
    st.sampled_from(EQUATIONS),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5),
    st.sampled_from(DTYPES),
    st.fixed_dictionaries({letter: st.sampled_from([0, 1, 2, 3, 17]) for letter in EXTENTS}),
    st.data(),
)
def test_drawn_operands_give_what_numpy_gives(equation, lengths, dtype, extents, data):
    t, s = [x for x, _ in lengths], [x for _, x in lengths]
    low = 0 if np.dtype(dtype).kind in ("b", "u") else -1  # what is small is exact in all dtypes
    sample = Sample(equation, {"t": t, "s": s}, extents, dtype, low=low)
    operands = [data.draw(strategies.layouts(x)) if x.ndim else x for x in sample.operands]
    kept = [x.copy() for x in operands]
    sizes = {letter: extents[letter] for letter in EXTENTS_OF[equation]}
    found = ops.einsum(equation, *operands, lengths={**sizes, **sample.lengths})
    wanted = sample.result.astype(np.dtype(dtype).newbyteorder("="))
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if np.dtype(dtype).itemsize > 2 or np.dtype(dtype).kind in "biu":
        assert np.array_equal(found, wanted)
    else:
        assert np.allclose(found.astype("f8"), wanted.astype("f8"), rtol=0.01)
    assert all(np.array_equal(x, y) for x, y in zip(operands, kept, strict=True))


@pytest.mark.parametrize("equation", EQUATIONS)
def test_a_ragged_brings_lengths_and_is_given_back(equation):
    for sample in samples(equations=[equation]):
        if not any(map(sample.prefix, sample.terms)):
            continue
        given = sample.raggeds()
        needed = {k: n for k, n in EXTENTS_OF[equation].items() if not _is_visible(sample, k)}
        if _hides_lengths(sample):
            needed |= sample.lengths
        found = ops.einsum(equation, *given, lengths=needed)
        if not sample.prefix(sample.out):
            assert np.array_equal(found, sample.result)
            continue
        wanted = sample.ragged(sample.out, sample.result)
        assert isinstance(found, vl.Ragged)
        assert np.array_equal(found.values, sample.result)
        assert [x.lengths.tolist() for x in found.levels] == [x.lengths.tolist() for x in wanted.levels]


def _is_visible(sample, letter):
    return any(letter in term[sample.prefix(term) :] for term in sample.terms)


def _hides_lengths(sample):
    """Whether a sequence without units says nothing of the lengths below."""
    return any(sample.prefix(term) > 2 for term in sample.terms) and min(sample.lengths["t"], default=0) == 0


def test_attention_is_einsum_softmax_einsum():
    rng = np.random.default_rng(0)
    t, s, h, d = [5, 0, 40, 3], [2, 3, 70, 0], 3, 16
    q = vl.Ragged(rng.normal(size=(sum(t), h, d)), t)
    k, v = (vl.Ragged(rng.normal(size=(sum(s), h, d)), s) for _ in range(2))
    energies = ops.einsum("bthd,bshd->bhts", q, k)
    assert [len(level) for level in energies.levels] == [4, 4 * h, sum(t) * h]
    weights = ops.softmax(energies)
    found = ops.einsum("bhts,bshd->bthd", weights, v)
    assert found.levels[0] == q.levels[0]
    for a, b, c, y in zip(q, k, v, found, strict=True):
        e = np.einsum("thd,shd->hts", a, b)
        e = np.exp(e - e.max(-1, keepdims=True, initial=-np.inf)) if len(b) else e
        w = e / e.sum(-1, keepdims=True)
        assert np.allclose(y, np.einsum("hts,shd->thd", w, c), rtol=1e-12, atol=1e-12)


def test_levels_above_are_kept():
    r = vl.Ragged.from_list([[[1.0, 2.0], []], [[3.0]]])
    assert ops.einsum("bt,bs->bts", r, r).to_list() == [[[[1, 2], [2, 4]], []], [[[9]]]]
    assert ops.einsum("bt->b", r).to_list() == [[3, 0], [3]]
    assert ops.einsum("bt->", r) == 6


def test_letters_that_a_level_counts_may_be_said_to_be_static():
    sample = Sample("bhts->bht", {"t": [2, 1], "s": [1, 3]})
    (r,) = sample.raggeds()
    ragged = ops.einsum("bhts->bhst", r)
    assert [x.lengths.tolist() for x in ragged.levels] == [[2, 2], [1, 1, 3, 3], [2, 2, 1, 1, 1, 1, 1, 1]]
    static = ops.einsum("bhts->bsth", r, lengths={"h": 2})
    assert static.values.shape == (5, 2)


def test_results_are_written_to_out():
    for dtype in ("float64", "float16", "int32"):
        for equation in ("btd,bsd->bts", "btd->bd", "btd,dk->btk", "bts->bst"):
            sample = Sample(equation, {"t": [2, 3], "s": [1, 4]}, dtype=dtype)
            out = np.full_like(sample.result, 7)
            assert ops.einsum(equation, *sample.operands, lengths=sample.lengths, out=out) is out
            assert np.array_equal(out, sample.result)


@pytest.mark.parametrize(
    "equation", ["btd,bsd->bts", "bthd,bshd->bhts", "bhts,bthd->bshd", "btd,dk->btk", "btk,btm->km"]
)
def test_large_work_has_the_same_bits_with_any_number_of_threads(equation, threads):
    rng = np.random.default_rng(1)
    sizes = {"t": [900, 3, 0, 150, 40], "s": [700, 50, 3, 0, 40]}
    extents = {"h": 2, "d": 64, "k": 96, "m": 80}
    sample = Sample(equation, sizes, extents, np.float32)
    operands = [rng.normal(size=x.shape).astype("f4") for x in sample.operands]
    lengths = {**sample.lengths, **{k: n for k, n in extents.items() if k in equation}}
    found = []
    for count in (1, 4):
        threads(count)
        found.append(ops.einsum(equation, *operands, lengths=lengths))
    assert found[0].tobytes() == found[1].tobytes()
    wide = ops.einsum(equation, *(x.astype("f8") for x in operands), lengths=lengths)
    assert np.allclose(found[0], wide, rtol=1e-3, atol=1e-3)


def test_a_sequence_alone_is_that_of_the_batch():
    rng = np.random.default_rng(2)
    t, s = np.array([30, 1, 200]), np.array([7, 90, 64])
    q, k = rng.normal(size=(t.sum(), 8)), rng.normal(size=(s.sum(), 8))
    whole = ops.einsum("btd,bsd->bts", vl.Ragged(q, t), vl.Ragged(k, s))
    for i, (x, y) in enumerate(zip(vl.Ragged(q, t), vl.Ragged(k, s), strict=True)):
        alone = ops.einsum("btd,bsd->bts", x, y, lengths={"t": [len(x)], "s": [len(y)]})
        assert np.allclose(alone, np.concatenate(whole[i].to_list()), rtol=1e-13, atol=1e-13)


def test_numbers_that_are_not_finite_stay_in_their_sequence():
    x = np.array([np.nan, 1.0, np.inf, 2.0])
    found = ops.einsum("bt,bt->b", x, x, lengths={"t": [1, 1, 2, 0]})
    assert np.array_equal(found, [np.nan, 1.0, np.inf, 0.0], equal_nan=True)


def test_equations_without_ragged_letters_are_those_of_numpy():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    assert np.array_equal(ops.einsum("ij, jk -> ki", x, y), np.einsum("ij,jk->ki", x, y))
    assert ops.einsum("ij->", x) == 15
    assert ops.einsum("->", np.float64(3)) == 3
    assert ops.einsum("ij,->j", x, 2.0).tolist() == [6, 10, 14]


X, LEVELS = np.ones((3, 2)), {"t": [2, 1]}


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.einsum("btd", X, lengths=LEVELS), ValueError, "has no output"),
        (lambda: ops.einsum("btd->b", X, X, lengths=LEVELS), ValueError, "1 terms, but 2 operands"),
        (lambda: ops.einsum("bt...->b", X, lengths=LEVELS), ValueError, "got '.'"),
        (lambda: ops.einsum("btt->b", X, lengths=LEVELS), ValueError, "t stands twice in 'btt'"),
        (lambda: ops.einsum("btd->bdd", X, lengths=LEVELS), ValueError, "d stands twice in 'bdd'"),
        (
            lambda: ops.einsum("btd->bx", X, lengths=LEVELS),
            ValueError,
            "output letter x appears in no operand",
        ),
        (lambda: ops.einsum("btd->td", X, lengths=LEVELS), ValueError, "'td' must begin with the letter"),
        (lambda: ops.einsum("tbd->bd", X, lengths=LEVELS), ValueError, "'tbd' must begin with the letter"),
        (
            lambda: ops.einsum("btd,dts->bs", X, X, lengths=LEVELS),
            ValueError,
            "'btd' begins with b and 'dts' with d",
        ),
        (lambda: ops.einsum("btd->bd", X, lengths={**LEVELS, "q": [1]}), ValueError, "no operand has 'q'"),
        (lambda: ops.einsum("btd->bd", X, lengths={**LEVELS, "td": [1]}), ValueError, "no operand has 'td'"),
        (lambda: ops.einsum("btd->bd", X), ValueError, r"operands\[0\]: expected 3 axes for 'btd'"),
        (
            lambda: ops.einsum("btd->bd", X[0], lengths=LEVELS),
            ValueError,
            "expected 2 axes for 'btd', of which 'bt'",
        ),
        (
            lambda: ops.einsum("btd->bd", X, lengths={"t": [2, 2]}),
            ValueError,
            r"operands\[0\]: has 3 rows for 'bt'.* 4",
        ),
        (lambda: ops.einsum("btd->bd", X, lengths={"t": [4, -1]}), ValueError, "row 1 has a negative length"),
        (
            lambda: ops.einsum("btd,dk->btk", X, np.ones((3, 2)), lengths=LEVELS),
            ValueError,
            r"operands\[1\]: d is 3 long, that of operands\[0\] 2",
        ),
        (
            lambda: ops.einsum("btd,bd->bt", X, np.ones((3, 2)), lengths=LEVELS),
            ValueError,
            r"operands\[1\]: has 3 sequences on b, the lengths of t are 2",
        ),
        (
            lambda: ops.einsum("btd,bsd->bts", X, X, lengths={**LEVELS, "s": [1, 1, 1]}),
            ValueError,
            "s has 3 sequences, t has 2",
        ),
        (
            lambda: ops.einsum("btd,btd->bd", vl.Ragged(X, [2, 1]), vl.Ragged(X, [1, 2])),
            ValueError,
            r"operands\[1\]: t of 'btd' is 1 long in sequence 0, that of operands\[0\] 2",
        ),
        (
            lambda: ops.einsum("bts->bt", vl.Ragged(np.ones(3), [[2], [1, 2]])),
            ValueError,
            r"operands\[0\]: s of 'bts' is 1 long in sequence 0, that of operands\[0\] 2",
        ),
        (
            lambda: ops.einsum("btsd->bt", vl.Ragged(X, [2, 1])),
            ValueError,
            "'btsd' has 4 letters, but a Ragged",
        ),
        (lambda: ops.einsum("bht->bt", np.ones(0), lengths={"t": []}), ValueError, "the length of h"),
        (lambda: ops.einsum("bht->bt", np.ones(5), lengths=LEVELS), ValueError, "the length of h"),
        (
            lambda: ops.einsum("bt->b", np.array(["a"] * 3), lengths=LEVELS),
            TypeError,
            "operands: expected numbers",
        ),
        (lambda: ops.einsum("btd->bd", X, lengths=LEVELS, out=np.ones((3, 2))), ValueError, "out"),
        (
            lambda: ops.einsum("btd->bd", X, lengths=LEVELS, out=np.ones((2, 2), "f4")),
            (TypeError, ValueError),
            "out",
        ),
        (lambda: ops.einsum("btd->btd", X, lengths=LEVELS, out=X), ValueError, "out"),
        (lambda: ops.einsum(7, X), TypeError, "equation: expected a str"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()
    assert np.array_equal(X, np.ones((3, 2)))


def test_the_core_refuses_what_does_not_fit_its_equation():
    level = Level([2, 1])
    for equation, a, levels, extents in (
        ("btd->bd;bt;d", np.ones(5), (level,), (2,)),
        ("btd->bd;bt;d", X, (level,), ()),
        ("btd->bd;bt;d", X, (), (2,)),
        ("btd->bd;bt;d", X, (level,), (-2,)),
        ("btd->bd;bt;", X, (level,), ()),
        ("btd->bd", X, (level,), (2,)),
        ("tbd->bd;bt;d", X, (level,), (2,)),
        ("bt->bt;bt;", np.ones(3, ">f8"), (level,), ()),
    ):
        with pytest.raises((ValueError, TypeError)):
            vl._core.einsum(equation, a, None, levels, extents)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4),
    st.lists(st.sampled_from([0, 1, 2, "t", "s"]), min_size=1, max_size=4).filter({"t", "s"}.intersection),
)
def test_levels_of_letters_have_a_unit_for_each_place(lengths, letters):
    t, s = [x for x, _ in lengths], [x for _, x in lengths]
    levels = {"t": Level(t), "s": Level(s)}
    found = _core.nested_levels([levels.get(x, x) for x in letters])
    extents = [[{"t": t[i], "s": s[i]}.get(x, x) for x in letters] for i in range(len(t))]
    for k, level in enumerate(found):
        units = [math.prod(each[:k]) for each in extents]
        assert level.lengths.tolist() == [
            each[k] for each, n in zip(extents, units, strict=True) for _ in range(n)
        ]
    rows = _core.nested_rows([levels.get(x, x) for x in letters])
    assert rows == found[-1].total == sum(map(math.prod, extents))
    assert _core.nest_difference(found, [levels.get(x, x) for x in letters]) is None
    seen = _core.lengths_of_units(found).lengths.tolist()
    assert seen == [each[-1] if math.prod(each[:-1]) else 0 for each in extents]


def test_a_nest_says_where_it_differs_from_its_letters():
    t, nest = Level([2, 1]), (Level([2, 1]), Level([3, 3, 4]))
    assert _core.nest_difference(nest, [t, Level([3, 4])]) is None
    assert _core.nest_difference(nest, [t, 3]) == (1, 2, 1)
    assert _core.nest_difference(nest, [Level([2, 2]), Level([3, 4])]) == (0, 1, 1)
    assert _core.nest_difference((Level([0, 1]), Level([5])), [Level([0, 1]), Level([9, 5])]) is None


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: _core.nested_rows([2, 3]), ValueError, "expected a Level among them"),
        (lambda: _core.nested_levels([]), ValueError, "expected a Level among them"),
        (lambda: _core.nested_rows([Level([1]), Level([1, 2])]), ValueError, "as many sequences in each"),
        (lambda: _core.nested_rows([Level([1]), -1]), ValueError, "none below 0, got -1"),
        (lambda: _core.nested_rows([Level([4]), 1 << 62]), OverflowError, "63 bits in sequence 0"),
        (lambda: _core.nested_levels([Level([4]), 1 << 62, 0]), OverflowError, "63 bits in sequence 0"),
        (lambda: _core.lengths_of_units([]), ValueError, "expected at least one"),
        (lambda: _core.lengths_of_units([Level([2]), Level([1])]), ValueError, "the rows of the one before"),
        (lambda: _core.lengths_of_units([3]), TypeError, "expected a Level"),
        (lambda: _core.nest_difference([Level([2])], [2, 3]), ValueError, "one for each level"),
        (lambda: _core.nest_difference([Level([2])], [Level([2, 1])]), ValueError, "as many sequences"),
    ],
)
def test_the_core_refuses_letters_that_do_not_nest(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_children_forked_amid_work_multiply():
    # Of whole numbers in the child: NumPy's own BLAS may hang in one that was forked amid a product.
    code = """
import os, signal, threading
import numpy as np, varlen as vl

x = np.random.default_rng(0).normal(size=(4096, 64))
whole = np.arange(4096 * 64).reshape(4096, 64)

def product(x):
    return vl.ops.einsum("btk,btm->bkm", x, x, lengths={"t": np.full(16, 256)})

def child():
    pid = os.fork()
    if pid == 0:
        signal.alarm(30)  # a child that waits for threads it does not have is ended
        os._exit(0 if np.array_equal(product(whole), wanted) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

vl.set_num_threads(4)
wanted = product(whole)
stop = threading.Event()
def keep_busy():
    while not stop.is_set():
        product(x)
thread = threading.Thread(target=keep_busy)
thread.start()
codes = {child() for _ in range(10)}
stop.set()
thread.join()
print(codes, np.array_equal(product(whole), wanted))
"""
    assert in_python(code)[0] == "{0} True"
