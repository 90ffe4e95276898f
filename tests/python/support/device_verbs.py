"""What people call with arrays, by name: each step takes a Ragged and what makes an array of its library.

Tests compare what steps give for arrays of NumPy with what they give for those of other libraries.
"""

import numpy as np
import varlen as vl
from varlen import lod, ops, sequence, tf, transforms
from varlen import thinc as types

LENGTHS = [3, 0, 2, 1]
OUTER = [2, 0, 2]
FLOATS = np.array([[3, -1], [1, 5], [4, 2.5], [1, 1], [-2, 0], [0.5, 7]])
WHOLE = np.array([3, 1, 4, 1, 5, 9])


def flat():
    return FLOATS, [vl.Level(LENGTHS)]


def whole():
    return WHOLE, [vl.Level(LENGTHS)]


def deep():
    return FLOATS, [vl.Level(OUTER), vl.Level(LENGTHS)]


def halves():
    return FLOATS.astype(np.float16), [vl.Level(LENGTHS)]


def waves():
    return FLOATS - 1j * FLOATS[::-1], [vl.Level(LENGTHS)]


def _doubled(X, is_train):
    return X * 2, lambda dY: dY * 2


def _doubled_each(X, is_train):
    return [x * 2 for x in X], lambda dY: [d * 2 for d in dY]


def _as_it_is(X, is_train):
    return X, lambda dY: dY


def _mask(r, xp):
    return xp(np.array([True, False, True, True, False, True]))


OF_FLAT = {
    "subscripts": lambda r, xp: (r[0], r[-1], r[1:], r[::-1], r[:-1:2], r[[1, 0]], r[r.lengths > 1]),
    "subscripts by arrays": lambda r, xp: (
        r[xp(np.array([2, 0]))],
        r[xp(np.array([True, False, True, False]))],
    ),
    "columns": lambda r, xp: (
        r[:, :1],
        r[:, 1:],
        r[:, ::-1],
        r[[0, 2, 3]][:, 0],
        r[[0, 2]][:, -1],
        r[:, :, 1],
    ),
    "gather": lambda r, xp: (
        r.gather([0, 2]),
        r.gather([[0], [2]]),
        r.gather([1], axis=2),
        r.gather(xp(WHOLE % 4)),
    ),
    "masks": lambda r, xp: (
        r.boolean_mask(_mask(r, xp).reshape(6)[:4]),
        r.boolean_mask(r > 1),
        r.boolean_mask(r.count() > 1),
    ),
    "where": lambda r, xp: (
        vl.where(r > 1, r, 0.0),
        vl.where(r > 1, r, -r),
        vl.where(r.count() > 1, r, 2 * r),
    ),
    "joins": lambda r, xp: (
        vl.concatenate([r, r[1:]]),
        vl.concatenate([r, r * 2], 1),
        vl.concatenate([r, r], 2),
        vl.stack([r, r]),
        vl.stack([r, r], 1),
        ops.concatenate([r, r[:1]]),
        r.split(2),
        vl.cross([r, r]),
    ),
    "reductions": lambda r, xp: (
        r.sum(),
        r.mean(),
        r.prod(),
        r.max(empty=0),
        r.min(empty=xp(np.array(2.0))),
        r.any(),
        r.all(),
        r.norm(),
        r.logsumexp(),
        r.var(empty=0),
        r.std(empty=0),
        r.first(empty=7),
        r.last(empty=[1, 2]),
        r.argmax(empty=-1),
        r.argmin(empty=-1),
        r.count(),
        ops.reduce_max(r, empty=0, which=True),
    ),
    "accumulated": lambda r, xp: (
        r.sum(dtype="float32"),
        r.mean(dtype="float16"),
        r.cumsum(dtype="int8"),
        vl.Ragged(xp(np.array([2**62, 2**62, -(2**62)])), [3]).sum(overflow="raise"),
        vl.Ragged(xp(np.array([2**63, 7, 2**62], "uint64")), [2, 1]).cumsum(overflow="raise"),
        vl.Ragged(xp(np.array([2**31, 2**31, -1])), [3]).prod(overflow="raise", dtype="int64"),
    ),
    "axes": lambda r, xp: (
        r.sum(axis=1),
        r.mean(axis=2),
        r.max(axis=(1, 2), empty=0),
        r.sum(axis=(0, 1)),
        r.sum(axis=0),
        r.softmax(axis=2),
        r.cumsum(axis=2),
    ),
    "rows": lambda r, xp: (
        r.softmax(),
        r.log_softmax(),
        r.softmax(temperature=2.0),
        r.cumsum(),
        r.cumprod(exclusive=True),
        r.cummax(),
        r.cummin(reverse=True),
        r.reverse(),
        r.shift(1, fill=9),
        r.shift([1, 0, -1, 0]),
        r.roll(1),
        r.sigmoid(),
        r.tanh(),
        r.copy(),
        r.astype(np.float32),
        ops.cummax(r, which=True),
    ),
    "orders": lambda r, xp: (
        r.sort(),
        r.sort(descending=True),
        r.argsort(),
        r.rank(),
        r.topk(2),
        r.topk(2, dense=True),
        r.diff(),
        r.diff(2),
        ops.sort(r, descending=True),
        r.topk(1),
    ),
    "operators": lambda r, xp: (
        r + 1,
        1 - r,
        r * r,
        r / 2,
        r // 2,
        r % 2,
        abs(r) ** 2,
        -r,
        abs(r),
        divmod(r, 2.0),
        r + r.sum(),
        r - r.mean(),
        r * xp(np.array([1.5, 2])),
        r + xp(np.arange(8.0).reshape(4, 2)),
        xp(np.array([1.5, 2])) * r,
        r < 1,
        (r > 1) & (r < 4) | (r == 3),
        r != r,
    ),
    "functions of NumPy": lambda r, xp: (
        np.add(r, 1),
        np.exp(r),
        np.clip(r, 0, 2),
        np.round(r),
        np.where(r > 1, r, 0),
        np.isnan(r),
        np.zeros_like(r),
        np.sum(r, axis=1),
        np.modf(r),
        np.concatenate([r, r]),
        np.array_equal(r, r),
        np.allclose(r, r + 1e-12),
    ),
    "rectangles": lambda r, xp: (
        r.to_dense(),
        r.to_dense(padding_side="left", fill=-1, mask=True),
        r.to_dense(max_len=2, truncate="left"),
        r.to_dense(fill=xp(np.array([7.0, 8]))),
        vl.Ragged.from_dense(r.to_dense(), r.lengths),
        vl.Ragged.from_dense(r.to_dense(), mask=r.to_dense(mask=True)[1]),
        r.to_dense(pad_to_multiple_of=4),
        ops.mask(r),
        ops.mask(r, max_len=2),
        ops.mask(r, width=5),
        ops.block_mask(r, dtype=np.float32),
    ),
    "numbers": lambda r, xp: (
        r.row_ids,
        r.positions,
        r.cu_seqlens,
        ops.segment_ids(r),
        ops.positions(r),
        ops.cu_seqlens(r),
    ),
    "lists": lambda r, xp: (
        list(r),
        r.to_list(),
        vl.Ragged.from_list(list(r)),
        vl.Ragged.from_list([list(r), list(r)[:1]]),
        ops.list2ragged(list(r)),
        ops.ragged2list(r),
        ops.list2array(list(r)),
        ops.flatten(list(r), pad=1),
        ops.unflatten(r.values, r.lengths),
        ops.pad(list(r)),
        ops.list2padded(list(r)),
        ops.unpad(r.to_dense(), r.lengths),
        [row.tolist() for row in r],
    ),
    "padded": lambda r, xp: (
        r.to_padded(),
        r.to_padded().to_ragged(),
        r.to_padded().data,
        r.pack(),
        r.pack().to_ragged(),
        r.pack().to_padded(),
        r.pack().values,
        r.to_padded()[1:],
        r.pack().with_values(r.pack().values * 2),
        ops.padded2list(ops.list2padded(list(r))),
        r.to_padded().to_list(),
        r.pack().steps(),
    ),
    "windows": lambda r, xp: (
        ops.seq2col(r, 1),
        ops.windows(r, size=2, step=1),
        r.sliding_window(2),
        ops.backprop_seq2col(ops.seq2col(r, 1), 1),
        ops.average_windows(ops.windows(r, size=2, step=1), lengths=r.lengths, size=2, step=1),
    ),
    "spans": lambda r, xp: (
        ops.spans(r, np.array([[0, 2], [1, 2]]), row_ids=[0, 2]),
        ops.insert_rows(r, [0, 1], row_ids=[0, 2]),
        ops.insert_rows(r, [0, 1], row_ids=[0, 2], rows=[[9.0, 9], [8, 8]]),
        ops.insert_rows(r, [0, 1], row_ids=[0, 2], rows=r.values[:2]),
        r.fill_empty_rows(-1),
        r.fill_empty_rows([5.0, 6]),
        r.tile([2, 1, 1]),
        r.broadcast_rows(r.sum()),
    ),
    "tables": lambda r, xp: (
        ops.gather_add(r.values, np.array([[0, 1], [2, 2]])),
        ops.gather_add(r.values, xp(np.array([[0, 1], [2, 2]]))),
        ops.backprop_gather_add(r.values[:2], np.array([[0, 1], [2, 2]]), 6),
    ),
    "products": lambda r, xp: (
        vl.matmul(r, xp(np.arange(6.0).reshape(2, 3))),
        r @ xp(np.arange(6.0).reshape(2, 3)),
        ops.einsum("btd,bsd->bts", r, r),
        ops.einsum("btd,dk->btk", r, xp(np.arange(6.0).reshape(2, 3))),
        ops.einsum("btd,bse->bde", r, r),
        ops.einsum("btd->bdt", r.values, lengths={"t": LENGTHS}),
        ops.einsum("ij,ik->jk", r.values, r.values),
    ),
    "shape": lambda r, xp: (
        r.shape,
        r.nbytes,
        r.ndim,
        r.dtype,
        r.longest,
        r.total,
        r.equals(r * 1),
        r.data,
        r.flatten(),
    ),
    "gradients": lambda r, xp: (
        ops.backprop_reduce_sum(r.sum(), r.lengths),
        ops.backprop_reduce_mean(r.sum(), r.lengths),
        ops.backprop_reduce_max(r.sum(), ops.reduce_max(r, empty=0, which=True)[1], r.lengths),
        ops.backprop_reduce_prod(r.sum(), r),
        ops.backprop_reduce_norm(r.sum(), r),
        ops.backprop_reduce_std(r.sum(), r),
        ops.backprop_reduce_logsumexp(r.sum(), r),
        ops.backprop_softmax(r, r.softmax()),
        ops.backprop_cumsum(r),
        ops.backprop_cumprod(r, r),
        ops.backprop_reverse(r),
        ops.backprop_shift(r, by=1),
        ops.backprop_roll(r, by=1),
        ops.backprop_sort(r, r.argsort()),
        ops.backprop_cummax(r, ops.cummax(r, which=True)[1]),
    ),
    "first and last": lambda r, xp: (
        ops.backprop_reduce_first(r.sum()[:3], [3, 2, 1]),
        ops.backprop_reduce_last(r.sum()[1:], [3, 2, 1]),
    ),
    "sequences": lambda r, xp: (
        *(
            vl.sequence_pool(r, kind, pad_value=0.5)
            for kind in ("sum", "average", "sqrt", "max", "first", "last")
        ),
        vl.sequence_softmax(r[:, :, 0]),
        vl.sequence_reverse(r),
        vl.sequence_concat([r, r]),
        vl.sequence_pad(r, 0.0),
        vl.sequence_unpad(r.to_dense(), r.lengths),
        vl.sequence_expand(r[[0, 2]], vl.Ragged(WHOLE[:3], [1, 2])),
        vl.sequence_expand_as(r.values[:4], r),
        vl.sequence_first_step(r),
        vl.sequence_last_step(r),
        vl.sequence_slice(r, [0, 0, 1, 0], [2, 0, 1, 1]),
        vl.sequence_reshape(r, 1),
        vl.sequence_mask(r.lengths),
        vl.sequence_conv(r, xp(np.arange(12.0).reshape(6, 2)), context_length=3),
        vl.row_conv(r, xp(np.arange(4.0).reshape(2, 2))),
        vl.sequence_enumerate(r, 2, 7.0),
        vl.sequence_scatter(
            r.values[:4] * 0, vl.Ragged(np.array([0, 1, 0, 1, 0, 1]), r.lengths), r[:, :, 0].values
        ),
        vl.im2sequence(xp(np.arange(18.0).reshape(1, 2, 3, 3)), filter_size=2, padding=1),
        vl.sequence_topk_avg_pooling(
            vl.Ragged(xp(np.array([1.0, 5, 3, 2, 2, 9])), [6]),
            vl.Ragged(np.zeros(2), [2]),
            vl.Ragged(np.zeros(3), [3]),
            [1, 2],
            1,
        ),
    ),
    "steps": lambda r, xp: (
        sequence.reorder_lod_tensor_by_rank(r, sequence.lod_rank_table(r)),
        r.pack().steps(),
        sequence.lod_tensor_to_array(r, sequence.lod_rank_table(r)),
        sequence.sort_by_length(r).lengths,
        sequence.split_lod_tensor(r, np.array([True, False, True, False])),
        sequence.segment_inputs(r, sequence.lod_rank_table(r)),
        sequence.concat_outputs(sequence.segment_inputs(r, sequence.lod_rank_table(r))),
        sequence.shrink_memory(r.sum(), 1, sequence.lod_rank_table(r)),
    ),
    "rnn": lambda r, xp: sequence.rnn(lambda x, h: x + h, r, xp(np.zeros((4, 2)))),
    "gradients of sequences": lambda r, xp: (
        *(
            sequence.backprop_sequence_pool(r.sum(), r, kind)
            for kind in ("sum", "average", "sqrt", "max", "first", "last")
        ),
        sequence.backprop_sequence_concat(vl.sequence_concat([r, r]), [r, r]),
        sequence.backprop_sequence_reverse(r),
        sequence.backprop_sequence_pad(r.to_dense(), r),
        sequence.backprop_sequence_softmax(r, r.softmax()),
        sequence.backprop_sequence_slice(r[:, :1], r, 0, [1, 0, 1, 1]),
        sequence.backprop_sequence_enumerate(vl.sequence_enumerate(r, 2, 7.0), r, 2),
        sequence.backprop_row_conv(r, r, xp(np.arange(4.0).reshape(2, 2))),
        sequence.backprop_sequence_conv(r, r, xp(np.arange(12.0).reshape(6, 2)), context_length=3),
    ),
    "transforms": lambda r, xp: (
        transforms.with_array(_doubled)(r, True)[0],
        transforms.with_list(_doubled_each)(r, True)[0],
        transforms.with_padded(_as_it_is)(r, True)[0],
        transforms.with_ragged(_doubled)(r, True)[0],
        transforms.reduce_mean()(r, True)[0],
        transforms.reduce_mean()(r, True)[1](r.mean()),
        transforms.chain(transforms.expand_window(1), transforms.reduce_sum())(r, True)[0],
        transforms.list2ragged()(list(r), True)[0],
        transforms.residual(_doubled)(r, True)[0],
        transforms.concatenate(_doubled, _doubled)(r, True)[0],
    ),
    "dialects": lambda r, xp: (
        tf.RaggedTensor.from_row_lengths(r.values, LENGTHS).to_tensor(),
        tf.RaggedTensor.from_value_rowids(r.values, r.row_ids).values,
        tf.boolean_mask(
            tf.RaggedTensor.from_row_lengths(r.values, LENGTHS), [True, False, True, True]
        ).values,
        types.Ragged(r.values, LENGTHS).dataXd,
        types.Ragged(r.values, LENGTHS)[1:].data,
        types.Padded(
            *(getattr(r.to_padded(), name) for name in ("data", "size_at_t", "lengths", "indices"))
        ).data,
        lod.create_lod_tensor(r.values, [LENGTHS]).values,
    ),
    "rare": lambda r, xp: (
        r.equals(r * 1, equal_nan=True),
        vl.matmul(r, r, transpose_a=True),
        r @ vl.Ragged(xp(np.arange(8.0).reshape(8, 1)), [2, 2, 2, 2]),
        vl.Ragged.from_list(list(r), np.float32),
        ops.flatten(list(r), np.float32),
        ops.ragged2list(r),
        ops.sort(r, axis=2),
        vl.sequence_conv(
            r,
            xp(np.arange(12.0).reshape(6, 2)),
            context_length=3,
            padding_data=xp(np.array([[7.0, 8], [9, 1]])),
        ),
        vl.sequence_topk_avg_pooling(
            vl.Ragged(xp(np.array([1.0, np.nan, 3.0, -np.inf, np.inf, 9])), [6]),
            vl.Ragged(np.zeros(2), [2]),
            vl.Ragged(np.zeros(3), [3]),
            [1, 2],
            1,
        ),
        r.boolean_mask(vl.Ragged(r.values > 1, levels=r.levels)),
        r[:, :, 0].boolean_mask(r[:, :, 0] > 1),
    ),
    "text": lambda r, xp: (str(r.astype(int)), len(r._repr_html_()) > 0, r.to_padded().to_list()),
    "beams": lambda r, xp: vl.Beam(2, like=r.values).expand(r.values[:2]),
    "masks of rows": lambda r, xp: r.boolean_mask(r.sum(axis=2) > 2),
}
OF_WHOLE = {
    "integers": lambda r, xp: (
        r // 2,
        r % 2,
        r << 1,
        r >> 1,
        r & 3,
        r | 3,
        r ^ 3,
        ~r,
        r.sum(),
        r.mean(),
        r.max(empty=0),
        r / 2,
    ),
    "counts": lambda r, xp: (
        r.bincount(10),
        r.unique(counts=True, inverse=True),
        r.sort().searchsorted([1, 2, 3, 4]),
    ),
    "weights": lambda r, xp: (
        r.bincount(10, weights=r / 2),
        ops.bincount(r, weights=r.astype(np.float32)),
        r.bincount(10, weights=r > 2),
    ),
    "hashes": lambda r, xp: (
        ops.hash(r.values, 3),
        ops.ngrams(2, r),
        ops.ngrams(2, r.values),
        ops.ngrams(2, r.values, lengths=r.lengths),
    ),
    "erase": lambda r, xp: (
        vl.sequence_erase(r, [1, 9]),
        vl.sequence_erase(r, xp(np.array([1, 9]))),
        vl.sequence_erase(r, []),
    ),
    "enumerate": lambda r, xp: (vl.sequence_enumerate(r, 2, 0), vl.sequence_enumerate(r, 2, 7)),
    "casts": lambda r, xp: (
        r.astype(np.uint8),
        r.astype(bool),
        r.astype(np.float16),
        r.to_dense(dtype=np.int8),
    ),
    "bools": lambda r, xp: ((r > 2).any(), (r > 2).all(), (r > 2).sum(), vl.where(r > 2, r, 0)),
}
OF_DEEP = {
    "subscripts": lambda r, xp: (r[0], r[-1], r[1:], r[[2, 0]], r[:, :1], r[:, :, :1], r[0, 0], r.row(2)),
    "levels": lambda r, xp: (
        r.sum(),
        r.sum(level=0),
        r.softmax(level=0),
        r.cumsum(level=0),
        r.to_dense(),
        r.reverse(level=0),
        r.sort(level=0),
        r.max(level=0, empty=0),
        r.first(level=0, empty=0),
        r.reverse(),
        r.drop_level(),
    ),
    "joins": lambda r, xp: (
        vl.concatenate([r, r]),
        vl.concatenate([r, r * 2], 1),
        vl.concatenate([r, r], 2),
        list(r),
    ),
    "outer": lambda r, xp: (r - r.mean(), r - r.mean(level=0), r.broadcast_rows(r.sum(level=0), level=0)),
    "gather": lambda r, xp: (
        r.gather([1, 0]),
        r.tile([1, 2, 1, 1]),
        vl.sequence_pool(r, "sum", level=0),
        r.flatten(),
    ),
    "lists": lambda r, xp: (r.to_list(), vl.Ragged.from_list([list(row) for row in r])),
}
OF_HALVES = {
    "reductions": lambda r, xp: (r.sum(), r.mean(), r.max(empty=0), r.softmax(), r.cumsum(), r.sort(), r * 2),
    "rectangles": lambda r, xp: (r.to_dense(fill=0.5), vl.Ragged.from_dense(r.to_dense(), r.lengths)),
}

OF_WAVES = {
    "sums": lambda r, xp: (
        vl.sequence_pool(r, "first"),
        vl.sequence_enumerate(r, 2),
        sequence.backprop_sequence_enumerate(vl.sequence_enumerate(r, 2), r, 2),
    ),
    "moves": lambda r, xp: (r.to_dense(), r[[2, 0]], r.reverse(), r * 1j, r.boolean_mask(r.count() > 1)),
    "products": lambda r, xp: (
        vl.row_conv(r, xp(np.arange(4.0).reshape(2, 2) * 1j)),
        vl.sequence_conv(r, xp(np.arange(12.0).reshape(6, 2) + 1j), context_length=3),
        r @ xp(np.arange(6.0).reshape(2, 3) + 1j),
    ),
}

CASES = [
    (make, name, step)
    for make, table in (
        (flat, OF_FLAT),
        (whole, OF_WHOLE),
        (deep, OF_DEEP),
        (halves, OF_HALVES),
        (waves, OF_WAVES),
    )
    for name, step in table.items()
]


def leaves(result):
    """The arrays, levels and plain things that a result is made of, in order."""
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in leaves(each)]
    if isinstance(result, vl.Ragged):
        return [*leaves(result.values), *result.levels]
    if isinstance(result, vl.Padded):
        return [*leaves(result.data), *map(list, (result.size_at_t, result.lengths, result.indices))]
    if isinstance(result, vl.Packed):
        return [*leaves(result.values), result.lengths.tolist()]
    return [result]


def check(step, make, put, kind, take):
    """A step gives for arrays of a library what it gives for those of NumPy, and of that library.

    `put` makes an array of it, `kind` is the type of these, `take` brings one back.
    """
    values, levels = make()
    wanted = leaves(step(vl.Ragged(values.copy(), levels=tuple(levels)), np.asarray))
    found = leaves(step(vl.Ragged(put(values), levels=tuple(levels)), put))
    assert len(found) == len(wanted)
    for k, (x, y) in enumerate(zip(found, wanted, strict=True)):
        if isinstance(y, (np.ndarray, np.generic)):
            is_host = isinstance(x, (np.ndarray, np.generic))
            if kind is not np.ndarray and isinstance(y, np.ndarray) and is_host:  # of levels, which lie there
                assert not y.flags.writeable or not y.ndim or y.dtype == np.int64, (
                    f"part {k} lies on the host"
                )
            assert is_host or isinstance(x, kind), f"part {k} is {type(x)}"
            number = x if is_host else take(x)
            assert number.dtype == y.dtype, f"part {k}: {number.dtype}, not {y.dtype}"
            assert number.shape == y.shape, f"part {k}: {number.shape}, not {y.shape}"
            rtol = 1e-2 if y.dtype.itemsize == 2 else 1e-5 if y.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(number, y, rtol=rtol, atol=rtol, equal_nan=True)
        else:
            assert x == y, f"part {k}"
