"""Identities of dims: which expressions are one, which are not, and what declaring them the same does."""

import copy
import random
import sys

import numpy as np
import pytest
from deep import mostly_deep
from oracles.dims import words
from oracles.dims.expressions import LENGTHS, build, count_mismatches, draw
from varlen import Dim, dims
from varlen._core import count_expressions
from varlen.dims import FeatureDim, LengthMismatchError, SpatialDim, Vocabulary, batch_dim

p, q, r = (Dim(name, kind="spatial") for name in "pqr")
k, v, h = FeatureDim("k", 6), FeatureDim("v", 10), FeatureDim("h", 2)

EQUAL = {
    "rebuilt": [(p, p), (p + q, p + q), (p * q, p * q), (p // q, p // q)],
    "built anew": [(p, p), (p + q, p + q), (p * q, p * q), (p // q, p // q)],
    "taken off again": [(p + 2 - 2, p), (p + q - q, p), (p + 2 * q - q + (-q), p)],
    "copies are sums": [(2 * p, p + p), (3 * p, p + p + p), (2 * p + q, p + p + q)],
    "left distribution": [
        (p * q + q, (p + 1) * q),
        ((p + q) * 2, p * 2 + q * 2),
        ((p + q) * r, p * r + q * r),
    ],
    "zero": [
        (0 + p + 0, p),
        (sum([0, p, 0, p, 0]), 2 * p),
        (p.__neg__().__neg__(), p),
        (p * 0, 0 * p),
        (p - p, 0 * q),
    ],
    "ints on both sides": [(2 * (p * 3), (2 * p) * 3)],
    "factors": [((p * q) // q, p), ((q * p).div_left(q), p), ((2 * p).div_left(2), p), ((p * 2) // 2, p)],
    "quotients of quotients": [
        (p.ceildiv_right(2).ceildiv_right(3), p.ceildiv_right(6)),
        (p // 2 // 3, p // 6),
        (p // q // r, p // (r * q)),
        (p.div_left(q).div_left(r), p.div_left(q * r)),
    ],
    "padded": [
        (2 + p + 2, 2 + p + 2),
        ((-2) + (2 + p + 2) + (-2), p),
        ((2 + p + 2).sub_right(2).sub_left(2), p),
        ((2 + p + 2).sub_left(2).sub_right(2).ceildiv_right(1), p),
        ((1 + p + 1).sub_left(1).sub_right(1).ceildiv_right(2), p.ceildiv_right(2)),
    ],
    "features": [(2 * k + v, k + k + v), (2 * k, k + k)],
    "merged runs": [
        (q + p * q, (1 + p) * q),
        (2 * p + p, 3 * p),
        (p + 2 * p, 3 * p),
        (p * 2 + p * 2, (2 * p) * 2),
    ],
    "left ends": [((q + p).sub_left(q), p), ((p * 2) * 3, p * 6), (2 * (3 * p), 6 * p)],
    "associative": [(p * q * r, p * (q * r)), (p + (q + r), (p + q) + r), (1 + (p + 1), (1 + p) + 1)],
    "negative copies": [(3 * p - 2 * p, p), (p - 2 * p, -p)],
    "sums of ints": [(p + 1 + 1, p + 2), (p - 3 + 1, p - 2), (p + 3 - 1, p + 2)],
    "both ends": [(2 + p - 2, 2 + (p - 2)), ((2 + p + 2).sub_left(1) - 1, 1 + p + 1)],
    "written out": [(2 * (p + q), p + q + p + q), (p * q - q, (p - 1) * q)],
    "longer factors": [
        ((p * q * r) // r, p * q),
        ((p + q + r).sub_left(p), q + r),
        ((p * q) // (p * q), Dim(0) + 1 - 0),
    ],
    "order of what is taken off": [
        (p - (q + r), p - r - q),
        (-(p + q), -q + -p),
        ((p + q) * r - q * r, p * r),
    ],
    "factors that are sums": [(((p + 1) * (q + r)) // (q + r), p + 1), (((p + q) * r).div_left(p + q), r)],
    "roots": [((3 * (p + q)).div_left(3), p + q), ((2 * (p + q - p)).div_left(2), p + q - p)],
}
EQUAL["longer factors"][-1] = ((p * q) // (p * q), 1 + 0 * p)

DIFFER = {
    "order": [(p + q, q + p), (p * q, q * p), (p * 2, 2 * p), (p + 1, 1 + p), (2 * (p * 3), p * 6)],
    "the other side": [((q * p) // q, p), ((2 * p) // 2, p), (r * (p + q), r * p + r * q)],
    "right distribution": [(2 * (p + q), 2 * p + 2 * q), (p * 2 + p * 2, p * 4), ((p + 1) * q, (1 + p) * q)],
    "shifted": [(1 + p - 1, p), (2 + p - 2, p)],
    "rounded": [
        ((p // 2) * 2, p),
        (p.ceildiv_right(2) * 2, p),
        (p // 2, p.ceildiv_right(2)),
        (p * q // r, p * (q // r)),
    ],
    "a name is no number": [(h + p, 2 + p), (Dim(0, name="a"), Dim(0, name="a")), (h, 0 * p + 2)],
    "the batch": [(batch_dim + 1, batch_dim), (batch_dim + 1, 1 + batch_dim)],
}


def pairs(table):
    return [
        pytest.param(a, b, id=f"{law}-{i}") for law, found in table.items() for i, (a, b) in enumerate(found)
    ]


@pytest.mark.parametrize(("a", "b"), pairs(EQUAL))
def test_equal_words_are_equal(a, b):
    assert a == b
    assert hash(a) == hash(b)
    assert (a != b) is False


@pytest.mark.parametrize(("a", "b"), pairs(DIFFER))
def test_other_words_differ(a, b):
    assert a != b


def test_static_dims_of_one_name_differ_after_sums_too():
    a, b = Dim(0, name="a"), Dim(0, name="a")
    assert a != b
    assert a + 1 != b + 1
    assert a + 1 + 1 != b + 1 + 1


def test_sizes_of_static_dims():
    assert (2 * k + v).size == 22
    assert (k // h).size == k.div_left(h).size == 3
    assert (k // h + k // h + v // h).size == 11
    assert (FeatureDim("a", 1) + FeatureDim("b", 1)).size == 2
    assert (Dim(3) - 5).size == 0
    assert (p - p).size == 0
    assert (p - p).is_static


def test_kinds_of_derived_dims():
    assert (k + v).kind == "feature"
    assert (p + k).kind == "feature"
    assert (batch_dim + 1).kind == (batch_dim * k).kind == "spatial"
    assert (p + 1).kind == "spatial"
    assert (p + k - k).kind == p.kind
    assert Dim("x").kind == "unspecified"
    assert Dim("x", kind="feature").kind == "feature"


@pytest.mark.parametrize("words", mostly_deep([5_000, 20_000], 5_000))
def test_words_agree_with_the_sequences_of_labels(words):
    mismatches, classes, _ = count_mismatches(words)
    assert classes > words // 20
    assert mismatches == 0


def test_division_undoes_any_product():
    source = random.Random(5)
    names = {"p": p, "q": q, "r": r}
    done = 0
    while done < 2000:
        x, y = (0 * p + build(draw(source, 3), names) for _ in range(2))
        if y == 0 * p:
            continue
        done += 1
        if y - y // 1 == 0 * p and not (y.is_static and y.size == 0):
            assert (x * y) // y == x
            assert (y * x).div_left(y) == x


def test_other_sums_in_between_change_nothing():
    before = p + 1
    others = [p + n for n in range(2, 1002)]
    assert p + 1 == before
    assert hash(p + 1) == hash(before)
    assert len({other._id for other in others}) == 1000


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (2 * p + 1, "2*p+1"),
        (p - q, "p-q"),
        (-(p + q), "-q-p"),
        (p * (q + r), "p*(q+r)"),
        (p // 2, "p//2"),
        ((p + 1) // (q + r), "(p+1)//(q+r)"),
        ((p // 2) * 2, "(p//2)*2"),
        (2 * (p // q) + 1, "2*(p//q)+1"),
        (p.ceildiv_right(2), "ceildiv_right(p,2)"),
        (p.div_left(2), "div_left(p,2)"),
        (p * -1, "p*(-1)"),
        (p - p, "0"),
    ],
)
def test_names_are_written_as_people_do(dim, text):
    assert dim.name == text


def test_derived_dims_know_their_root():
    assert (p * 2).derived_from == p
    assert p.derived_from is None
    assert not p.is_derived
    assert (h + p + 2).derived_from == p
    assert "p" in (p + 2).name


def test_ints_and_other_objects_are_no_dims():
    assert Dim(3) != 3
    assert (p == 3) is False
    for other in (1.5, True, "x", None, np.arange(2)):
        with pytest.raises(TypeError):
            p + other
    with pytest.raises(TypeError, match="other: expected a Dim or an int"):
        p.sub_left("x")
    assert p + np.int64(1) == p + 1


# Declared the same.


def test_declaring_changes_what_was_built_before():
    a, b = Dim("a"), Dim("b")
    before = [a + 1, (a + 1) * q, 2 * a // 3, p * (a + q)]
    after = [b + 1, (b + 1) * q, 2 * b // 3, p * (b + q)]
    assert all(x != y for x, y in zip(before, after, strict=True))
    a.declare_same_as(b)
    assert a == b
    assert before == after
    assert [hash(x) for x in before] == [hash(x) for x in after]


def test_keys_are_found_after_a_declaration():
    a, b = Dim("a"), Dim("b")
    keys = {a: 1, a + 1: 2, p: 3}
    other = {b: 4, b + 1: 5}
    a.declare_same_as(b)
    assert (keys[a], keys[b], keys[a + 1], keys[b + 1], keys[p]) == (1, 1, 2, 2, 3)
    assert (other[a], other[a + 1]) == (4, 5)


def test_a_key_that_would_get_another_hash_is_refused():
    a = Dim("a")
    keys = {a + 1: 1}
    with pytest.raises(ValueError, match="cannot be declared the same"):
        a.declare_same_as(Dim(4, name="four"))
    assert keys[a + 1] == 1
    assert a + 1 - 1 == a
    assert not a.is_static
    b = Dim("b")  # nothing of it was hashed
    b.declare_same_as(four := Dim(4, name="four"))
    assert b == four
    assert b.size == 4


def test_a_prefix_of_one_is_the_number_once_it_is_declared():
    time = Dim("time", lengths=[3, 0, 2])
    prefix = Dim(1, name="prefix")
    padded, plain = prefix + time, 1 + time
    assert padded != plain
    padded.declare_same_as(plain)
    assert padded == plain == 1 + time == prefix + time
    assert len({padded, plain, 1 + time}) == 1
    assert h + p != 2 + p


def test_a_dim_is_its_own_halves():
    f = FeatureDim("f", 12)
    half = f // 2
    both = half + half
    assert both != f
    both.declare_same_as(f)
    assert both == f == f // 2 + f // 2
    assert len({both, f, f // 2, half}) == 2
    assert (f.size, half.size, (f + 1).size) == (12, 6, 13)
    time = Dim("time", lengths=[4, 6])
    (time // 2 + time // 2).declare_same_as(time)
    assert (time // 2).lengths.tolist() == [2, 3]
    assert time.lengths.tolist() == [4, 6]
    assert (time + 1).lengths.tolist() == [5, 7]


def test_lengths_are_taken_over():
    time = Dim("time", lengths=[4, 2])
    assert ((time - 1) + time).lengths.tolist() == [7, 3]
    out = Dim("out")
    before = out + 1
    for lengths in ([4, 2], [1, 2, 3], [1, 2, 3]):
        bound = time.bind(lengths)
        out.declare_same_as(bound * 2)
        assert out == time * 2
        assert out.lengths.tolist() == [2 * n for n in lengths]
        assert before.lengths.tolist() == [2 * n + 1 for n in lengths]
        assert (out + bound).lengths.tolist() == [3 * n for n in lengths]


def test_lengths_from_the_other_side_are_taken_over():
    time, out = Dim("time", lengths=[4, 2]), Dim("out")
    (time * 2).declare_same_as(out)
    assert out.lengths.tolist() == [8, 4]


def test_common_factors_are_left_out_of_a_declaration():
    a, b, c, d = (Dim(name) for name in "abcd")
    (2 * a).declare_same_as(2 * b)
    assert a == b
    (p * c * q).declare_same_as(p * d * q)
    assert c == d


@pytest.mark.parametrize(
    ("a", "b"),
    [(p, p * 2), (p + q, q + p), (2 * p, 3 * q), (p * q, q * p), (p, (p + 1) // 2 + p), (p, p * p)],
)
def test_a_dim_of_itself_is_refused(a, b):
    before = a == p, a + b, count_expressions()
    with pytest.raises(
        ValueError, match="cannot be declared the same: no name in them can stand for the rest"
    ):
        a.declare_same_as(b)
    assert before == (a == p, a + b, count_expressions())
    assert a != b


def test_sizes_that_differ_are_refused():
    with pytest.raises(LengthMismatchError, match="'k' and 'v' have lengths 6 and 10"):
        k.declare_same_as(v)
    with pytest.raises(LengthMismatchError, match="'a' and 'b' have lengths 2 and 3 in row 1"):
        Dim("a", lengths=[1, 2]).declare_same_as(Dim("b", lengths=[1, 3]))
    assert k != v


# What a dim is.


def test_all_dims_of_the_batch_are_one():
    assert (
        Dim(5, kind="batch")
        == batch_dim
        == Dim(kind="batch", name="other")
        == Dim([1, 2], kind="batch", over=p.bind(2))
    )
    assert Dim(5, kind="batch").max_size() == 5
    assert Dim("x", kind="batch").name == "x"
    assert batch_dim.kind == "batch"
    with pytest.raises(ValueError, match="all dims of the batch are the same"):
        batch_dim.copy(same_as_self=False)


def test_copies():
    time = Dim("time", lengths=[3, 0])
    assert copy.copy(time) is copy.deepcopy(time) is time
    again = time.copy(name="again", match_priority=2)
    assert (again == time, again.name, again.match_priority) == (True, "again", 2)
    assert again.lengths.tolist() == [3, 0]
    other = time.copy(same_as_self=False)
    assert (other == time, other.name, other.lengths.tolist()) == (False, "time", [3, 0])
    assert (2 * time).copy(same_as_self=False, name="x").lengths.tolist() == [6, 0]
    letters = Dim(vocab=["ab", "c"], name="letters")
    assert letters.copy(same_as_self=False).vocab is letters.vocab


def test_vocabularies():
    words = Vocabulary(["<s>", "a", "b"], unknown=0, bos=0)
    classes = FeatureDim("classes", vocab=words)
    assert classes.size == 3
    assert classes.vocab is words
    assert (classes + 1).vocab is None
    assert (words["b"], words["zebra"], "a" in words, len(words), list(words)) == (
        2,
        0,
        True,
        3,
        ["<s>", "a", "b"],
    )
    with pytest.raises(ValueError, match="vocab: expected 4 labels"):
        Dim(4, vocab=words)
    with pytest.raises(ValueError, match="'a' stands at positions 0 and 1"):
        Vocabulary(["a", "a"])
    with pytest.raises(IndexError, match="eos: there is no class 2"):
        Vocabulary(["a", "b"], eos=2)
    with pytest.raises(TypeError, match="labels: expected str at position 1"):
        Vocabulary(["a", 1])
    with pytest.raises(KeyError):
        Vocabulary(["a"])["b"]


def test_matching_in_looser_ways():
    one, other = Dim(1), Dim(6, name="other")
    assert not p.matches(q)
    assert p.matches(p + 0)
    assert not k.matches(other)
    assert k.matches(other, same_size=True)
    assert p.matches(one, broadcast=True)
    assert not p.matches(k, broadcast=True)
    assert (p + 1).matches(2 * p, derived=True)
    assert not (p + 1).matches(q + 1, derived=True)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Dim(-1), ValueError, "size: expected at least 0, got -1"),
        (lambda: Dim(1.5), TypeError, "lengths: expected"),
        (lambda: Dim("x", name="y"), TypeError, "name: given twice"),
        (lambda: Dim(3, lengths=[1]), TypeError, "lengths: a dim of one size has none"),
        (lambda: Dim([3], lengths=[1]), TypeError, "lengths: given twice"),
        (
            lambda: Dim(3, kind="time"),
            ValueError,
            "kind: expected 'batch', 'spatial', 'feature' or 'unspecified'",
        ),
        (lambda: Dim(3, over=batch_dim), TypeError, "over: there are no lengths"),
        (lambda: Dim([3], over="B"), TypeError, "over: expected a Dim or a sequence of them, got str"),
        (lambda: Dim([3], vocab=["a"]), ValueError, "vocab: a dim with lengths has no vocabulary"),
        (lambda: Dim(name=3), TypeError, "name: expected a str, got int"),
        (lambda: p // 0, ValueError, "divisor: expected more than 0 positions"),
        (lambda: p // -2, ValueError, "divisor: expected at least 1, got -2"),
        (lambda: k // (h - 2), ValueError, "divisor: .* has size 0"),
        (lambda: p * 2**62 * 4, OverflowError, "a factor"),
        (lambda: p * 2**63, OverflowError, "does not fit 64 bits"),
        (lambda: Dim(2**62) * Dim(4), OverflowError, "the size"),
        (lambda: p.matches(3), TypeError, "other: expected a Dim, got int"),
        (lambda: p.declare_same_as(3), TypeError, "other: expected a Dim, got int"),
        (lambda: (p + q).bind([1]), ValueError, "worked out of other dims"),
        (lambda: k.bind([1]), ValueError, "k: it has size 6"),
    ],
)
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_long_expressions_stay_right():
    """Beyond what is written out, expressions are kept whole: equal where they were built alike."""
    wide = 1000 * (p + q)
    assert wide == 1000 * (p + q)
    assert wide - wide == 0 * p
    names = {x: Dim(x, lengths=[2, 3]) for x in "pq"}
    a, b = names.values()
    assert (1000 * (a + b) + 1).lengths.tolist() == [4001, 6001]
    chain = sum((a + b for _ in range(2000)), 0 * a)
    assert chain.lengths.tolist() == [8000, 12000]
    deep = [a]
    with pytest.raises(ValueError, match="nested more than 500 deep"):
        deep.extend((deep[-1] // 2) + 1 for _ in range(600))


def test_what_nobody_holds_is_forgotten():
    start = count_expressions()
    for i in range(300):
        time = Dim("time", lengths=[1, 2, i])
        out = Dim("out")
        out.declare_same_as((2 + time * q + 1).ceildiv_right(3))
        del time, out
    assert count_expressions() == start


def test_expressions_of_depth_six_have_the_lengths_of_arithmetic():
    source = random.Random(3)
    generator = np.random.default_rng(3)
    lengths = {name: generator.integers(0, 5, 4) for name in LENGTHS}
    names = {name: Dim(name, lengths=numbers) for name, numbers in lengths.items()}
    for _ in range(3000):
        expression = draw(source)
        dim = 0 * names["p"] + 0 * names["q"] + 0 * names["r"] + build(expression, names)
        expected = np.maximum(words.length(expression, lengths), 0)
        assert (dim.lengths == expected).all(), dim.name


def with_quotients(source, expression):
    """The same expression, divided here and there by what has at least one position."""
    if not isinstance(expression, tuple):
        return expression
    expression = (expression[0], *(with_quotients(source, part) for part in expression[1:]))
    divisor = source.choice([2, 3, ("+", source.choice("pqr"), 1)])
    return (source.choice(["//", "ceildiv"]), expression, divisor) if source.random() < 0.3 else expression


def parts_of(expression):
    yield expression
    if isinstance(expression, tuple):
        for part in expression[1:]:
            yield from parts_of(part)


def test_quotients_have_the_lengths_of_arithmetic():
    """Where no part of it is below 0, whatever was divided out."""
    source = random.Random(4)
    generator = np.random.default_rng(4)
    lengths = {name: generator.integers(1, 9, 4) for name in LENGTHS}
    names = {name: Dim(name, lengths=numbers) for name, numbers in lengths.items()}
    compared = 0
    while compared < 1000:
        expression = with_quotients(source, draw(source, 4))
        if any(np.min(words.length(part, lengths)) < 0 for part in parts_of(expression)):
            continue
        compared += 1
        dim = 0 * names["p"] + 0 * names["q"] + 0 * names["r"] + build(("+", expression, "p"), names)
        assert (dim.lengths == words.length(expression, lengths) + lengths["p"]).all(), dim.name


def put_in_place(expression, name, value):
    if isinstance(expression, tuple):
        return (expression[0], *(put_in_place(part, name, value) for part in expression[1:]))
    return value if expression == name else expression


def drawn_dims(source, names, depth, count):
    """Expressions whose quotients have divisors, and their dims."""
    found = []
    while len(found) < count:
        expression = with_quotients(source, draw(source, depth))
        try:
            found.append((expression, 0 * names["p"] + build(expression, names)))
        except ValueError:  # a divisor that is 0
            continue
    return zip(*found, strict=True)


def test_declared_names_are_replaced_everywhere():
    """What is built on a name, before and after, is what is built on the value; what differed, differs."""
    source = random.Random(6)
    start = count_expressions()
    for _ in range(150):
        names = {name: Dim(name) for name in "pqr"}
        zero = 0 * names["p"]
        value = put_in_place(draw(source, 3), "r", "q")
        expressions, before = drawn_dims(source, names, 4, 6)
        before = list(before)
        hashes = [hash(dim) for dim in before]
        replaced = [put_in_place(expression, "r", value) for expression in expressions]
        try:
            expected = [zero + build(expression, names) for expression in replaced]
        except ValueError:  # a divisor that becomes 0
            with pytest.raises(ValueError, match="cannot be declared the same"):
                names["r"].declare_same_as(zero + build(value, names))
            continue
        are_equal = [[x == y for x in expected] for y in expected]
        try:
            names["r"].declare_same_as(zero + build(value, names))
        except ValueError:  # a number, which what was hashed as a dim with lengths cannot become
            assert (zero + build(value, names)).is_static
            continue
        assert before == expected
        assert [zero + build(expression, names) for expression in expressions] == expected
        assert [[x == y for x in before] for y in expected] == are_equal
        assert [hash(dim) for dim in before] == hashes
        assert [hash(dim) for dim in expected] == hashes
    del before, expected, names, zero
    assert count_expressions() - start < 10


def test_declared_expressions_are_equal_or_refused():
    source = random.Random(8)
    refused = 0
    for _ in range(300):
        names = {name: Dim(name) for name in "pqr"}
        zero = 0 * names["p"]
        (a, b), (x, y) = drawn_dims(source, names, 3, 2)
        z = x * (y + names["p"])
        w = y * (x + names["p"])
        were_equal = x == y, z == w
        try:
            x.declare_same_as(y)
        except ValueError:
            refused += 1
            assert (x == y, z == w) == were_equal
            assert zero + build(a, names) == x
        else:
            assert x == y
            assert z == w == x * (x + names["p"])
            assert zero + build(a, names) == zero + build(b, names)
    assert 20 < refused < 280


def test_any_expression_survives_a_table():
    source = random.Random(9)
    names = {name: Dim(name) for name in "pqr"}
    _, drawn = drawn_dims(source, names, 5, 500)
    assert dims.read_dims(dims.write_dims(drawn)) == list(drawn)


def test_names_live_at_the_top_level_and_in_dims():
    assert dims.Dim is Dim
    assert SpatialDim("x").kind == "spatial"
    assert sys.modules["varlen.dims"] is dims


def test_offsets_count_the_rows_that_are_asked_for():
    time = Dim("time", lengths=[3, 0, 2])
    batch, two = time.over[0], Dim("two", 2)
    assert time.offsets().tolist() == [0, 3, 3, 5]
    assert time.offsets([batch, two]).tolist() == [0, 3, 6, 6, 6, 8, 10]
    assert time.offsets([two, batch]).tolist() == [0, 3, 3, 5, 8, 8, 10]
    assert (time + 1).offsets().tolist() == [0, 4, 5, 8]
    with pytest.raises(
        ValueError, match="over: 'time' has lengths over 'batch', which has to come before it"
    ):
        time.offsets(two)


def test_mask_is_true_where_there_are_positions():
    time, two = Dim("time", lengths=[2, 0, 1]), Dim("two", 2)
    batch = time.over[0]
    assert time.mask().values.tolist() == [[True, True], [False, False], [True, False]]
    assert time.mask([time, batch]).values.tolist() == [[True, False, True], [True, False, False]]
    assert time.mask([batch, two, time]).values.shape == (3, 2, 2)
    assert time.mask([batch, two, time]).values[2].tolist() == [[True, False], [True, False]]
    with pytest.raises(ValueError, match="dims: 'time' is not among"):
        time.mask([batch])
    with pytest.raises(ValueError, match="has no lengths"):
        Dim("time").mask()
