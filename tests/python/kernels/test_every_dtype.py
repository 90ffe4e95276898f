"""Every verb with every dtype that NumPy and torch have: what it gives, or whose dtype the error names."""

import warnings

import numpy as np
import pytest
import varlen as vl
from varlen import ops

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

LENGTHS = [3, 0, 2]
VALUES = np.array([[1, 0], [2, 1], [0, 2], [1, 1], [2, 0]])
MASK = vl.Ragged(np.array([True, False, True, True, False]), LENGTHS)
OF_NUMPY = [
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
    "float64", "complex64", "complex128",
]  # fmt: skip
OF_TORCH = [
    *OF_NUMPY, "bfloat16", "complex32", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e8m0fnu",
]  # fmt: skip


def deep(r):
    return vl.Ragged(r.values, [[2, 1], LENGTHS])


def reductions():
    """Each along the sequences, across them and of all."""
    found = {}
    for name in ("sum", "mean", "prod", "max", "min", "any", "all", "norm", "var", "std", "logsumexp"):
        options = {"empty": 1} if name in ("max", "min") else {}
        for axis in (None, 0, (0, 1)):
            found[f"{name} {axis}"] = lambda r, name=name, axis=axis, options=options: getattr(r, name)(
                axis=axis, **options
            )
    return found


MOVES = {
    "row": lambda r: r.row(0), "index": lambda r: r[[2, 0, 2]], "mask": lambda r: r[r.lengths > 1],
    "slice": lambda r: r[::-1], "slices": lambda r: r[:, :1], "reversed slices": lambda r: r[:, ::-1],
    "column": lambda r: r[[0, 2]][:, 0], "iterate": list, "copy": lambda r: r.copy(),
    "boolean_mask": lambda r: r.boolean_mask(MASK),
    "broadcast_rows": lambda r: r.broadcast_rows(r.values[:3]),
    "concatenate": lambda r: vl.concatenate([r, r]),
    "concatenate 1": lambda r: vl.concatenate([r, r], axis=1),
    "stack": lambda r: vl.stack([r, r]), "stack 1": lambda r: vl.stack([r, r], axis=1),
    "split": lambda r: r.split(2), "tile": lambda r: r.tile((2, 3, *(1,) * (r.ndim - 2))),
    "fill_empty_rows": lambda r: r.fill_empty_rows(1)[0], "gather": lambda r: r.gather([2, 0]),
    "gather in sequences": lambda r: r.gather(vl.Ragged([2, 0, 1], [2, 0, 1]), batch_dims=1),
    "pack": lambda r: (r.pack().values, r.pack().to_ragged(), r.pack()[0]),
    "to_padded": lambda r: (r.to_padded().data, r.to_padded().to_ragged(), r.to_padded().to_packed()),
    "columns of Padded": lambda r: r.to_padded()[[0, 1]].data, "reverse": lambda r: r.reverse(),
    "reverse of sequences": lambda r: deep(r).reverse(level=0), "roll": lambda r: r.roll(1),
    "shift": lambda r: r.shift(1), "shift with fill": lambda r: r.shift(1, fill=1),
    "sliding_window": lambda r: r.sliding_window(2), "to_dense": lambda r: r.to_dense(),
    "to_dense left": lambda r: r.to_dense(padding_side="left", fill=1),
    "to_dense of two levels": lambda r: deep(r).to_dense(max_len=2),
    "from_dense": lambda r: vl.Ragged.from_dense(r.to_dense(), LENGTHS),
    "windows": lambda r: ops.windows(r, size=2, step=1), "pad": lambda r: ops.pad(list(r)),
    "list2padded": lambda r: ops.list2padded(list(r)).data, "list2ragged": lambda r: ops.list2ragged(list(r)),
    "list2array": lambda r: ops.list2array(list(r)), "padded2list": lambda r: ops.padded2list(r.to_padded()),
    "minibatch": lambda r: list(ops.minibatch(2, list(r))), "where": lambda r: vl.where(MASK, r, r),
    "where of sequences": lambda r: vl.where([True, False, True], r, r),
    "where one": lambda r: vl.where(MASK, r, 1),
    "first": lambda r: r.first(empty=1), "last": lambda r: r.last(empty=1),
    "unpad": lambda r: ops.unpad(r.to_dense(), LENGTHS),
    "gather_dense": lambda r: ops.gather_dense(r, [0, 2]),
    "insert_rows": lambda r: ops.insert_rows(r.values, [1, 4]), "to_list": lambda r: r.to_list(),
    "flatten rows": lambda r: r.flatten(), "equals": lambda r: r.equals(r.copy()),
    "count": lambda r: r.count(),
    "pool last": lambda r: vl.sequence_pool(r, "last", pad_value=1),
    "sequence_expand": lambda r: vl.sequence_expand(r[[0, 2, 0]], r), "sequence_reverse": vl.sequence_reverse,
    "sequence_slice": lambda r: vl.sequence_slice(r[[0, 2]], [0, 0], [1, 1]),
    "sequence_pad": lambda r: vl.sequence_pad(r, 1)[0],
}  # fmt: skip
MOVES_ROWS = {
    "inner": lambda r: r[..., 0], "concatenate 2": lambda r: vl.concatenate([r, r], axis=2),
    "stack 2": lambda r: vl.stack([r, r], axis=2), "flatten": lambda r: r.flatten(1, 2),
    "unflatten": lambda r: r.unflatten(2, (1, 2)), "shift a row": lambda r: r.shift(1, fill=[1, 1]),
    "dense of a row": lambda r: r.to_dense(fill=[1, 1]), "first or a row": lambda r: r.first(empty=[1, 1]),
}  # fmt: skip
MOVES_NUMBERS = {"cross": lambda r: ops.cross([r, r])}
COMPUTES = {
    **reductions(), "argmax": lambda r: r.argmax(empty=0), "argmin": lambda r: r.argmin(empty=0),
    **{
        f"{name} {axis}": lambda r, name=name, axis=axis: getattr(r, name)(axis=axis)
        for name in ("cumsum", "cumprod", "cummax", "cummin", "softmax", "log_softmax", "sort", "argsort")
        for axis in (1, 0)
    },
    "rank": lambda r: r.rank(), "diff": lambda r: r.sort().diff(), "topk": lambda r: r.topk(2)[0],
    "topk dense": lambda r: r.topk(2, dense=True, fill=1)[0], "seq2col": lambda r: ops.seq2col(r, 1),
    "gather_add": lambda r: ops.gather_add(r.values, np.array([[0, 1], [2, 2]])),
    "reduce_dense": lambda r: ops.reduce_dense(r.to_dense(), LENGTHS, op="sum"), "add": lambda r: r + r,
    "add a number": lambda r: r + 1, "multiply": lambda r: r * 2, "equal": lambda r: r == r[::-1][::-1],
    "less": lambda r: r < 2, "negative": lambda r: -r.astype(r.dtype), "maximum": lambda r: np.maximum(r, r),
    "least": lambda r: np.minimum(r, 1),
    "add to sequences": lambda r: r + r.values[:3][:, None], "sigmoid": lambda r: r.sigmoid(),
    "tanh": lambda r: r.tanh(), "pool sum": lambda r: vl.sequence_pool(r, "sum"),
    "pool max": lambda r: r.max(empty=1),
}  # fmt: skip
COMPUTES_ROWS = {
    "matmul": lambda r: r @ r.values[:2], "einsum": lambda r: ops.einsum("btf,fg->btg", r, r.values[:2]),
    "matmul of sequences": lambda r: vl.matmul(r, r, transpose_b=True),
}  # fmt: skip
COMPUTES_NUMBERS = {
    "unique": lambda r: r.unique(), "bincount": lambda r: r.bincount(3),
    "searchsorted": lambda r: r.sort().searchsorted(r),
    "edit_distance": lambda r: ops.edit_distance(r, r[::-1][::-1]),
    "ngrams": lambda r: ops.ngrams(2, r), "sequence_erase": lambda r: vl.sequence_erase(r, [1]),
    "sequence_enumerate": lambda r: vl.sequence_enumerate(r, 2, 0), "hash": lambda r: ops.hash(r.values, 0),
}  # fmt: skip
TABLES = (
    (MOVES, (1, 2), True), (MOVES_ROWS, (2,), True), (MOVES_NUMBERS, (1,), True), (COMPUTES, (1, 2), False),
    (COMPUTES_ROWS, (2,), False), (COMPUTES_NUMBERS, (1,), False),
)  # fmt: skip
CELLS = [
    pytest.param(call, rank, moves, id=f"{name}-{rank}")
    for table, ranks, moves in TABLES
    for name, call in table.items()
    for rank in ranks
]


def numbers_of(dtype):
    """Numbers that the dtype holds, and its machine precision."""
    if dtype == "float8_e8m0fnu":
        return np.where(VALUES, VALUES, 4), 1.0
    return VALUES, 2e-2 if "16" in dtype or dtype == "complex32" else 0.3 if "float8" in dtype else 1e-3


def parts(x):
    """The numbers of a result, and the lengths of its levels."""
    if isinstance(x, (list, tuple)):
        return [part for each in x for part in parts(each)]
    if isinstance(x, vl.Ragged):
        return [*parts(x.values), *(level.lengths for level in x.levels)]
    return [x if torch is not None and isinstance(x, torch.Tensor) else np.asarray(x)]


def wide(x, narrow=None):
    """Doubles, of numbers as a dtype of torch that NumPy has no name for holds them."""
    if narrow is not None:
        x = torch.from_numpy(np.asarray(x)).to(narrow)
    if torch is not None and isinstance(x, torch.Tensor):
        x = x.to(torch.complex128 if x.is_complex() else torch.float64).numpy()
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def agree(result, wanted, tolerance):
    result, wanted = parts(result), parts(wanted)
    assert len(result) == len(wanted)
    for one, other in zip(result, wanted, strict=True):
        kind = str(one.dtype).removeprefix("torch.")
        narrow = one.dtype if kind in OF_TORCH and kind not in OF_NUMPY else None
        np.testing.assert_allclose(wide(one), wide(other, narrow), rtol=tolerance, atol=tolerance)


def outcome(call, r, dtype, moves):
    """The result; None where it is refused by the dtype's name."""
    try:
        return call(r)
    except TypeError as error:
        assert not moves, dtype
        said = str(error)
        assert dtype in said or "NumPy" in said or "numpy" in said, said
        assert "expected" in said or "torch does not compute" in said or "numpy" in said, said
        return None


@pytest.mark.parametrize(("call", "rank", "moves"), CELLS)
def test_arrays_of_every_dtype_are_moved_and_computed_as_doubles_or_refused(call, rank, moves):
    for dtype in OF_NUMPY:
        values = (VALUES if rank == 2 else VALUES[:, 0]).astype(dtype)
        result = outcome(call, vl.Ragged(values, LENGTHS), dtype, moves)
        if result is None:
            continue
        if moves:
            agree(result, call(vl.Ragged(wide(values), LENGTHS)), 0)


@pytest.mark.filterwarnings("ignore:ComplexHalf:UserWarning")
@pytest.mark.parametrize(("call", "rank", "moves"), CELLS)
def test_tensors_of_every_dtype_are_moved_and_computed_as_arrays_or_refused(call, rank, moves):
    pytest.importorskip("torch")
    for dtype in OF_TORCH:
        if not hasattr(torch, dtype):
            continue
        values, tolerance = numbers_of(dtype)
        values = values if rank == 2 else values[:, 0].copy()
        tensor = torch.from_numpy(values).to(getattr(torch, dtype))
        result = outcome(call, vl.Ragged(tensor, LENGTHS), dtype, moves)
        if result is None:
            continue
        kind = dtype if dtype in OF_NUMPY else "complex128" if tensor.is_complex() else "float64"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            wanted = outcome(call, vl.Ragged(values.astype(kind), LENGTHS), kind, moves)
        if wanted is not None:
            agree(result, wanted, tolerance)


def named(values):
    time, feature = vl.Dim("time", lengths=LENGTHS), vl.Dim("feature", 2)
    return vl.Data(values, [vl.dims.batch_dim, time, feature])


NAMED = {
    "add": lambda x: x + x, "subtract": lambda x: x - 0, "multiply": lambda x: 2 * x, "less": lambda x: x < 2,
    "equal": lambda x: x == x, "power": lambda x: x**2, "combine": lambda x: vl.dims.combine("max", x, 1),
    "clip": lambda x: vl.dims.clip_by_value(x, 0, 1), "sum": lambda x: x.sum("time"),
    "sum of all": lambda x: x.sum(),
    "max": lambda x: x.max(vl.dims.batch_dim, empty=1), "sort": lambda x: vl.dims.sort(x, "time")[0],
    "cumsum": lambda x: vl.dims.cumsum(x, "time"), "reverse": lambda x: vl.dims.reverse(x, "time"),
    "to_padded": lambda x: x.to_padded(), "stack": lambda x: vl.dims.stack([x, x]), "negative": lambda x: -x,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:ComplexHalf:UserWarning")
@pytest.mark.parametrize("name", NAMED)
def test_data_of_tensors_of_every_dtype_is_moved_and_computed_as_arrays_or_refused(name):
    pytest.importorskip("torch")
    for dtype in OF_TORCH:
        if not hasattr(torch, dtype):
            continue
        values, tolerance = numbers_of(dtype)
        tensor = torch.from_numpy(values).to(getattr(torch, dtype))
        result = outcome(NAMED[name], named(tensor), dtype, name in ("reverse", "to_padded", "stack"))
        if result is None:
            continue
        kind = dtype if dtype in OF_NUMPY else "complex128" if tensor.is_complex() else "float64"
        wanted = outcome(NAMED[name], named(values.astype(kind)), kind, False)
        if wanted is not None:
            plain = (x.values if isinstance(x, vl.Data) else x for x in (result, wanted))
            agree(*plain, tolerance)


def _data(x, *dims):
    return vl.Data(x, dims)


_TIME, _PLACE, _OUT = vl.Dim("time", lengths=LENGTHS), vl.Dim("place", 5), vl.Dim("out", 1)
OF_TWO = {
    "concatenate": lambda x, y: vl.concatenate([x, y]).values,
    "stack": lambda x, y: vl.stack([x, y], axis=1).values,
    "where": lambda x, y: vl.where(MASK, x, y).values,
    "sequence_concat": lambda x, y: vl.sequence_concat([x, y]).values,
    "einsum": lambda x, y: ops.einsum("bt,bt->b", x, y),
    "sequence_conv": lambda x, y: vl.sequence_conv(x, y.values[:3].reshape(3, 1)).values,
    "row_conv": lambda x, y: vl.sequence.row_conv(
        vl.Ragged(x.values.reshape(5, 1), LENGTHS), y.values[:2].reshape(2, 1)
    ).values,
    "dims.dot": lambda x, y: vl.dims.dot(
        _data(x.values.reshape(1, 5), vl.dims.batch_dim, _PLACE),
        _data(y.values.reshape(5, 1), _PLACE, _OUT),
        _PLACE,
    ).values,
    "dims.concat": lambda x, y: vl.dims.concat(
        *((_data(r.values, vl.dims.batch_dim, _TIME), _TIME) for r in (x, y))
    ).values,
}  # fmt: skip


@pytest.mark.skipif(torch is None, reason="needs torch")
@pytest.mark.parametrize("other", ["bool", "uint8", "uint64", "int8", "int64", "uint16", "float32"])
@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_tensors_of_unsigned_integers_meet_others_as_arrays_do(dtype, other):
    for name, call in OF_TWO.items():
        for pair in ((dtype, other), (other, dtype)):
            arrays = [vl.Ragged(VALUES[:, 0].astype(each), LENGTHS) for each in pair]
            tensors = [
                vl.Ragged(torch.tensor(VALUES[:, 0]).to(getattr(torch, each)), LENGTHS) for each in pair
            ]
            wanted, found = call(*arrays), call(*tensors)
            if other != "float32":  # torch's floats are not NumPy's
                assert str(found.dtype) == f"torch.{wanted.dtype}", name
            assert np.array_equal(found.double().numpy(), wanted), name


@pytest.mark.skipif(torch is None, reason="needs torch")
def test_floats_of_a_byte_are_refused_beside_others_by_both_names():
    x = vl.Ragged(torch.ones(5).to(torch.float8_e5m2), LENGTHS)
    y = vl.Ragged(torch.ones(5), LENGTHS)
    for name, call in (*OF_TWO.items(), ("attention_pool", lambda x, y: ops.attention_pool(x, y))):
        with pytest.raises(
            TypeError, match=r"torch.float8_e5m2 and torch.float32|torch.float32 and torch.float8_e5m2"
        ):
            call(x, y)
        assert call(x, x).dtype is torch.float8_e5m2, name
