"""Gradients given to ops on sequences: of the shape and nesting of what they are for, complex ones too."""

import numpy as np
import pytest
import varlen as vl
from varlen import Level, sequence

R = vl.Ragged([1.0, 2, 3, 4], [[1, 2], [2, 0, 2]])
ROWS = vl.Ragged(np.arange(8.0).reshape(4, 2), R.levels)
BLOCK = vl.Ragged(np.arange(12.0).reshape(3, 2, 2), [1, 2])
IMAGES = vl.Ragged(np.ones((2, 1, 2, 2)), [2])

# What is done forwards, and back with a gradient; each with all that it was given but that.
CALLS = {
    "slice": (
        lambda x: vl.sequence_slice(x, [0, 0, 1], [1, 0, 1]),
        lambda d, x: sequence.backprop_sequence_slice(d, x, [0, 0, 1], [1, 0, 1]),
        (R, ROWS),
    ),
    "slice above": (
        lambda x: vl.sequence_slice(x, 0, 1, level=0),
        lambda d, x: sequence.backprop_sequence_slice(d, x, 0, 1, level=0),
        (R, ROWS),
    ),
    "reshape": (
        lambda x: vl.sequence_reshape(x, 2),
        lambda d, x: sequence.backprop_sequence_reshape(d, x, 2),
        (R, ROWS),
    ),
    "enumerate": (
        lambda x: vl.sequence_enumerate(x, 2),
        lambda d, x: sequence.backprop_sequence_enumerate(d, x, 2),
        (R, ROWS),
    ),
    "enumerate above": (
        lambda x: vl.sequence_enumerate(x, 2, level=0),
        lambda d, x: sequence.backprop_sequence_enumerate(d, x, 2, level=0),
        (R, ROWS),
    ),
    "erase": (
        lambda x: vl.sequence_erase(x, [3]),
        lambda d, x: sequence.backprop_sequence_erase(d, x, [3]),
        (R,),
    ),
    "erase above": (
        lambda x: vl.sequence_erase(x, [[3, 4]], level=0),
        lambda d, x: sequence.backprop_sequence_erase(d, x, [[3, 4]], level=0),
        (R,),
    ),
    "expand": (
        lambda x: vl.sequence_expand(x, Level([2, 3, 1])),
        lambda d, x: sequence.backprop_sequence_expand(d, x, Level([2, 3, 1])),
        (R, ROWS),
    ),
    "expand above": (
        lambda x: vl.sequence_expand(x, Level([2, 1]), level=0),
        lambda d, x: sequence.backprop_sequence_expand(d, x, Level([2, 1]), level=0),
        (R, ROWS),
    ),
    "concat": (
        lambda x: vl.sequence_concat([x, x]),
        lambda d, x: sequence.backprop_sequence_concat(d, [x, x])[0],
        (R, ROWS),
    ),
    "concat above": (
        lambda x: vl.sequence_concat([x, x], level=0),
        lambda d, x: sequence.backprop_sequence_concat(d, [x, x], level=0)[0],
        (R, ROWS),
    ),
    "pad": (
        lambda x: vl.sequence_pad(x, 0)[0],
        lambda d, x: sequence.backprop_sequence_pad(d, x),
        (R, ROWS),
    ),
    "unpad": (
        lambda x: vl.sequence_unpad(x, [1, 0, 2]),
        lambda d, x: sequence.backprop_sequence_unpad(d, x, [1, 0, 2]),
        (BLOCK,),
    ),
    "im2sequence": (
        lambda x: vl.im2sequence(x, 2),
        lambda d, x: sequence.backprop_im2sequence(d, x, 2),
        (IMAGES,),
    ),
}  # fmt: skip

each = pytest.mark.parametrize(
    ("name", "k"), [(name, k) for name in CALLS for k in range(len(CALLS[name][2]))]
)


@each
def test_gradients_nest_as_what_they_are_of(name, k):
    call, back, inputs = CALLS[name]
    x = inputs[k]
    result = call(x)
    d = result._make(np.random.default_rng(0).normal(size=result.values.shape), result.levels)
    dx = back(d, x)
    assert dx.equals(back(d.values, x))
    assert dx.levels == x.levels
    for levels in (
        (
            *result.levels[:-1],
            *(Level([0, *each.lengths[1:], each.lengths[0]]) for each in result.levels[-1:]),
        ),
        (Level([len(result)]), *result.levels),
    ):
        with pytest.raises(ValueError, match=r"^dY: nests differently: "):
            back(result._make(d.values, levels), x)


@each
def test_gradients_have_rows_of_the_shape_of_what_they_are_of(name, k):
    call, back, inputs = CALLS[name]
    x = inputs[k]
    result = call(x)
    for wrong in (np.ones((*result.values.shape, 3)), np.ones((*result.values.shape[:1], 7, 7, 7))):
        for d in (wrong, result._make(wrong, result.levels)):
            with pytest.raises(ValueError, match=r"^dY: has rows of shape \(.*\), expected \("):
                back(d, x)
    with pytest.raises(ValueError, match=r"^dY: has 50 rows, expected \d"):
        back(np.ones((50, *result.values.shape[1:])), x)


def test_gradients_of_rows_expanded_have_their_shape():
    x, y = np.ones((2, 3)), Level([2, 1])
    assert sequence.backprop_sequence_expand(np.ones((3, 3)), x, y).shape == (2, 3)
    with pytest.raises(ValueError, match=r"^dY: has rows of shape \(\), expected \(3,\)"):
        sequence.backprop_sequence_expand(np.ones(3), x, y)
    with pytest.raises(ValueError, match=r"^dY: nests differently: one has 1 levels, the other 0"):
        sequence.backprop_sequence_expand(vl.Ragged(np.ones((3, 3)), [3]), x, y)


@each
def test_gradients_of_the_other_kind_give_the_same(name, k):
    torch = pytest.importorskip("torch")
    call, back, inputs = CALLS[name]
    x = inputs[k]
    d = np.random.default_rng(0).normal(size=call(x).values.shape)
    tensors = x._make(torch.tensor(x.values), x.levels)
    for of, given in ((x, torch.tensor(d)), (tensors, d), (tensors, torch.tensor(d))):
        assert np.array_equal(np.asarray(back(given, of).values), back(d, x).values)


@each
@pytest.mark.parametrize("dtype", ["c8", "c16", ">c16"])
def test_complex_gradients_are_those_of_their_parts(name, k, dtype):
    torch = pytest.importorskip("torch")
    call, back, inputs = CALLS[name]
    x = inputs[k]
    shape = call(x).values.shape
    rng = np.random.default_rng(0)
    d = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    wanted = back(d.real.copy(), x).values + 1j * back(d.imag.copy(), x).values
    result = back(d, x).values
    assert result.dtype.newbyteorder("=") == np.dtype(dtype).newbyteorder("=")
    assert np.array_equal(result, wanted)
    if d.dtype.isnative:
        assert np.array_equal(back(torch.tensor(d), x).values.numpy(), wanted)
        assert np.array_equal(back(torch.tensor(d.conj()).conj(), x).values.numpy(), wanted)


def test_complex_gradients_of_rows_are_those_of_their_parts():
    torch = pytest.importorskip("torch")
    y = vl.Ragged(np.zeros(3), [2, 0, 1])
    for d in (np.array([1 + 2j, 3j, 5]), np.ones((3, 2)) * (1 + 2j), np.ones((3, 0), complex)):
        wanted = np.add.reduceat(d, [0, 2], axis=0)
        for back in (
            lambda d: sequence.backprop_sequence_expand(d, np.zeros((3, *d.shape[1:])), y),
            lambda d: sequence.backprop_sequence_expand_as(d, y),
        ):
            assert np.array_equal(back(d)[[0, 2]], wanted)
            assert np.array_equal(back(torch.tensor(d)).numpy(), back(d))


COMPLEX = {
    "expand as": lambda x: vl.sequence_expand_as(x, vl.Ragged(np.zeros(6), [2, 0, 3, 1])),
    "expand rows": lambda x: R._make(vl.sequence_expand(x.values, Level([2, 0, 3, 1])), (Level([6]),)),
    "expand": lambda x: vl.sequence_expand(x, Level([2, 3, 1])),
    "expand above": lambda x: vl.sequence_expand(x, Level([2, 1]), level=0),
    "enumerate": lambda x: vl.sequence_enumerate(x, 2),
    "enumerate filled": lambda x: vl.sequence_enumerate(x, 2, 1 + 2j),
    "enumerate above": lambda x: vl.sequence_enumerate(x, 2, level=0),
}


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("inner", [(), (2,), (0,)])
def test_autograd_follows_complex_numbers(name, inner):
    torch = pytest.importorskip("torch")
    x = torch.randn(4, *inner, dtype=torch.complex128, requires_grad=True)

    def call(x):
        return COMPLEX[name](R._make(x, R.levels)).values

    assert torch.autograd.gradcheck(call, x)
    assert torch.autograd.gradgradcheck(call, x)
    plain = COMPLEX[name](R._make(x.detach().numpy(), R.levels)).values
    assert np.array_equal(call(x).detach().numpy(), plain)
