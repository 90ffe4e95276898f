"""Finite numbers stay finite: what would become infinite in the dtype that was asked for is an error."""

from __future__ import annotations

import numpy as np
import pytest
import varlen as vl

LARGE = 1e39  # more than float32 holds
# The largest number that rounds to one, and the smallest that does not.
EDGES = {
    "float32": (np.float64(3.4028235677973362e38), np.float64(3.4028235677973366e38)),
    "float16": (np.float64(65519.99), np.float64(65520.0)),
}


@pytest.mark.parametrize("dtype", sorted(EDGES))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_cast_refuses_what_would_become_infinite_and_nothing_else(dtype, sign):
    fits, lost = (sign * x for x in EDGES[dtype])
    for at in (0, 5, 1023, 1024, 5000, 400_000):  # blocks of the check, shares of the threads
        values = np.zeros(400_001)
        values[at] = fits
        assert np.isfinite(vl._core.cast(values, dtype)).all()
        values[at] = lost
        with pytest.raises(
            ValueError, match=rf"values: element {at} \(row {at}\) is .* does not fit {dtype}"
        ):
            vl._core.cast(values, dtype)
        with pytest.raises(ValueError, match=rf"data: element {at}\b.* does not fit {dtype}|element {at} "):
            vl.thinc.asarray(values, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_infinities_and_nan_pass(dtype):
    values = np.array([np.inf, -np.inf, np.nan, 1.0])
    np.testing.assert_array_equal(vl._core.cast(values, dtype), values.astype(dtype))
    np.testing.assert_array_equal(vl.Ragged(values, [4]).to_dense(dtype=dtype)[0], values.astype(dtype))


@pytest.mark.parametrize("given", ["uint16", "int32", "uint32", "int64", "uint64", "float32"])
def test_a_half_refuses_numbers_of_every_wider_dtype(given):
    assert vl._core.cast(np.array([65519], given), "float16")[0] == 65504
    for number in [65520] if given.startswith("u") else [65520, -65520]:
        with pytest.raises(ValueError, match="element 1 "):
            vl._core.cast(np.array([1, number], given), "float16")


@pytest.mark.parametrize("width", [1, 3, 40, 3000])
@pytest.mark.parametrize("given_out", [False, True])
@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_to_dense_refuses_what_would_become_infinite(width, given_out, padding_side):
    lengths = np.array([width, 0, 1, max(1, width // 2)])
    values = np.arange(lengths.sum(), dtype=np.float64)
    values[-1] = LARGE
    r = vl.Ragged(values, lengths)
    out = np.full((4, width), 7, np.float32) if given_out else None
    at = len(values) - 1
    with pytest.raises(ValueError, match=rf"values: element {at} \(row {at}\) is 1e\+39"):
        r.to_dense(dtype="float32", out=out, padding_side=padding_side)
    assert out is None or (out == 7).all()  # refused before anything was changed


def test_to_dense_refuses_what_does_not_fit_in_a_row_that_is_cut_too():
    r = vl.Ragged(np.array([1.0, LARGE]), [2])
    with pytest.raises(ValueError, match="element 1 "):
        r.to_dense(dtype="float32", max_len=1)


def test_a_batch_refuses_what_would_become_infinite():
    J = vl.JointNestedRaggedTensorDict({"x": [[1.5, 2.0], [1e5]]})
    ds = vl.Dataset(J)
    assert np.isfinite(ds.batch([0], dtype={"x": np.float16})["x"]).all()
    with pytest.raises(ValueError, match="'x' row 2 holds a value"):
        ds.batch([0, 1], dtype={"x": np.float16})


FILLS = {
    "to_dense": lambda x, fill: x.to_dense(fill=fill),
    "shift": lambda x, fill: x.shift(1, fill=fill),
    "reduce": lambda x, fill: x.max(empty=fill),
    "first": lambda x, fill: x.first(empty=fill),
    "fill_empty_rows": lambda x, fill: x.fill_empty_rows(fill),
    "sequence_pad": lambda x, fill: vl.sequence_pad(x, fill),
    "pad": lambda x, fill: vl.ops.pad([x.values], fill=fill),
}
NAMES = {
    "reduce": "empty",
    "first": "empty",
    "fill_empty_rows": "default",
    "sequence_pad": "pad_value",
}


@pytest.mark.parametrize("verb", sorted(FILLS))
@pytest.mark.parametrize("fill", [LARGE, 10**39, np.float64(LARGE), [LARGE]])
def test_a_fill_that_would_become_infinite_is_refused_by_its_name(verb, fill):
    x = vl.Ragged(np.ones((3, 1), np.float32), [2, 0, 1])
    with pytest.raises((ValueError, OverflowError), match=f"^{NAMES.get(verb, 'fill')}"):
        FILLS[verb](x, fill)


def test_a_fill_of_a_joint_dict_stays_finite():
    J = vl.JointNestedRaggedTensorDict({"x": [[1.5, 2.0], [3.0]]})
    with pytest.raises(ValueError, match="fill"):
        J.to_dense(fill={"x": LARGE})


def test_complex_numbers_stay_finite():
    x = vl.Ragged(np.ones(3, np.complex64), [2, 1])
    with pytest.raises(ValueError, match="fill"):
        x.to_dense(fill=complex(LARGE, 0))


def test_tensors_stay_finite():
    torch = pytest.importorskip("torch")
    values = torch.tensor([1.0, LARGE, 2.0], dtype=torch.float64)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for call in (
            lambda dtype=dtype: vl.Ragged(values, [2, 1]).to_dense(dtype=dtype),
            lambda dtype=dtype: vl.thinc.asarray(values, dtype=dtype),
            lambda dtype=dtype: vl.thinc.as_contig(values, dtype=dtype),
            lambda dtype=dtype: vl.ops.pad([values], dtype=dtype),
        ):
            with pytest.raises(ValueError, match=r"element 1 is 1e\+39, which does not fit torch"):
                call()
        special = torch.tensor([torch.inf, torch.nan, -torch.inf], dtype=torch.float64)
        assert str(vl.thinc.asarray(special, dtype=dtype)) == str(special.to(dtype))
    with pytest.raises(ValueError, match=r"^fill: "):
        vl.Ragged(values.float()[:1], [1]).to_dense(fill=LARGE)
    with pytest.raises(ValueError, match=r"^empty: "):
        vl.Ragged(torch.ones(1), [1, 0]).first(empty=LARGE)
