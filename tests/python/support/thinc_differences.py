"""Where Thinc, `varlen.thinc` and varlen differ: the rows of the page for those who come from Thinc."""

GATES = "np.zeros(20, 'f'), np.ones((1, 1, 1), 'f'), np.zeros((1, 1, 1), 'f'), X[:1], lengths[:1] - 1"
T = "vl.transforms."
SAME = "lambda x: x"
NO = object()  # Not run: it never ends, reads other memory, or depends on the version.

# What the page says of each: an expression with Thinc's names, one of varlen's own or None, and what Thinc,
# `varlen.thinc` and varlen's own make of it.
DIFFERENCES = {
    "`flatten` given arrays without elements": [
        (
            "str(ops.flatten([np.zeros((0, 3), 'i')]).dtype)",
            "str(varlen.ops.flatten([np.zeros((0, 3), 'i')]).dtype)",
            "float32",
            "float32",
            "int32",
        ),
        (
            "ops.flatten([np.zeros((5, 0)), np.zeros((3, 0))]).shape",
            "varlen.ops.flatten([np.zeros((5, 0)), np.zeros((3, 0))]).shape",
            [5, 0],
            [5, 0],
            [8, 0],
        ),
    ],
    "`flatten`, `asarray`, `as_contig` given a number that the dtype cannot hold": [
        (
            "ops.flatten([np.array([300])], dtype='uint8')",
            "varlen.ops.flatten([np.array([300])], dtype='uint8')",
            [44],
            ValueError,
            OverflowError,
        ),
        (
            "ops.asarray(np.array([300]), dtype='uint8')",
            "thinc.asarray(np.array([300]), dtype='uint8')",
            [44],
            ValueError,
            ValueError,
        ),
        (
            "ops.as_contig(np.array([300]), dtype='uint8')",
            "thinc.as_contig(np.array([300]), dtype='uint8')",
            [44],
            ValueError,
            ValueError,
        ),
    ],
    "`unflatten` given lengths that do not add up to the rows": [
        ("len(ops.unflatten(X, [2, 1]))", "varlen.ops.unflatten(X, [2, 1])", 2, IndexError, ValueError),
    ],
    "`unpad` given a length beyond the width": [
        (
            "ops.unpad(X[None], [9])[0].shape",
            "varlen.ops.unpad(X[None], [9])",
            [6, 2],
            ValueError,
            ValueError,
        ),
    ],
    "`pad` given no arrays, or arrays of several dtypes": [
        ("ops.pad([])", "varlen.ops.pad([]).shape", ValueError, ValueError, [0, 0]),
        (
            "ops.pad([np.ones(1, 'i'), np.ones(2, 'f')])",
            "str(varlen.ops.pad([np.ones(1, 'i'), np.ones(2, 'f')]).dtype)",
            ValueError,
            ValueError,
            "float64",
        ),
    ],
    "`asarray2f` and similar, given another number of axes": [
        ("ops.asarray2f([1.0]).shape", "thinc.asarray2f([1.0])", [1], ValueError, ValueError),
    ],
    "`asarray` given a tensor": [
        (
            "type(ops.asarray(torch.ones(2))).__name__",
            "type(thinc.asarray(torch.ones(2))).__name__",
            "ndarray",
            "Tensor",
            "Tensor",
        ),
    ],
    "shuffle order of `minibatch`": [
        (
            "draws(lambda: list(ops.minibatch(3, list(range(99)), shuffle=True)))",
            "draws(lambda: list(varlen.ops.minibatch(3, list(range(99)), shuffle=True)))",
            True,
            True,
            False,
        ),
        ("draws(lambda: ops.get_dropout_mask((9, 9), 0.5))", None, True, True, NO),
    ],
    "`Ragged(data, lengths)` that do not fit each other": [
        ("Ragged(X, [1]).lengths", "vl.Ragged(X, [1])", [1], ValueError, ValueError),
    ],
    "`r.data` of a Ragged without elements": [
        (
            "Ragged(np.zeros((0, 4)), np.array([0])).data.shape",
            "vl.Ragged(np.zeros((0, 4)), [0]).data.shape",
            [0, 0],
            [0, 4],
            [0, 4],
        ),
    ],
    "`r[-1]`, `r[:2]`, `r[::2]`, `r[mask]`, `r[np.int64(1)]`": [
        ("r[-1].lengths", "len(r[-1])", [], [4], 4),
        ("r[:2].lengths", "r[:2].lengths", TypeError, [2, 4], [2, 4]),
        ("r[::2].data.shape", "r[::2].data.shape", TypeError, [2, 2], [2, 2]),
        (
            "r[np.array([False, True])].data.shape",
            "r[np.array([False, True])].data.shape",
            [6, 2],
            [4, 2],
            [4, 2],
        ),
        ("r[np.int64(1)].lengths", "len(r[np.int64(1)])", TypeError, [4], 4),
    ],
    "`r[[0, 1]]` with an empty sequence, `r[[]]`": [
        (
            "Ragged(X, np.array([6, 0], 'i'))[[0, 1]].lengths",
            "vl.Ragged(X, [6, 0])[[0, 1]].lengths",
            ValueError,
            [6, 0],
            [6, 0],
        ),
        ("r[[]].lengths", "r[[]].lengths", ValueError, [], []),
    ],
    "`r[i]` of a Ragged whose rows have several axes": [
        (
            "Ragged(X.reshape(6, 2, 1), lengths)[0].dataXd.shape",
            "vl.Ragged(X.reshape(6, 2, 1), lengths)[0].shape",
            [2, 2],
            [2, 2, 1],
            [2, 2, 1],
        ),
    ],
    "`r[i]`, and iteration": [
        ("type(r[0]).__name__", "type(r[0]).__name__", "Ragged", "Ragged", "ndarray"),
        ("[len(x.lengths) for x in r]", "[len(x) for x in r]", [1, 1], [1, 1], [2, 4]),
    ],
    "`r.lengths`, `r.starts_ends`": [
        ("str(Ragged(X, np.array([2, 4])).lengths.dtype)", "str(r.lengths.dtype)", "int64", "int32", "int64"),
        ("r.lengths.flags.writeable", "r.lengths.flags.writeable", True, False, False),
        ("str(r._get_starts_ends().dtype)", "str(r.offsets.dtype)", "int32", "int32", "int64"),
    ],
    "`lengths`, `size_at_t`, `indices` of a Padded": [
        (
            "[str(x.dtype) for x in (p.size_at_t, p.lengths, p.indices)]",
            "[str(x.dtype) for x in (p.size_at_t, p.lengths, p.indices)]",
            ["int32"] * 3,
            ["int32"] * 3,
            ["int64"] * 3,
        ),
        ("p.lengths.flags.writeable", "p.lengths.flags.writeable", True, False, False),
    ],
    "`list2padded` given one array": [
        (
            "np.shares_memory(ops.list2padded(seqs[:1]).data, seqs[0])",
            "np.shares_memory(varlen.ops.list2padded(seqs[:1]).data, seqs[0])",
            True,
            False,
            False,
        ),
    ],
    "`list2padded` given arrays of one or three axes": [
        (
            "ops.list2padded([np.ones(2), np.ones(1)]).data.shape",
            "varlen.ops.list2padded([np.ones(2), np.ones(1)]).data.shape",
            IndexError,
            [2, 2],
            [2, 2],
        ),
        (
            "ops.list2padded([np.ones((2, 1, 1))] * 2).data.shape",
            "varlen.ops.list2padded([np.ones((2, 1, 1))] * 2).data.shape",
            AssertionError,
            [2, 2, 1, 1],
            [2, 2, 1, 1],
        ),
    ],
    "`Padded(data, size_at_t, lengths, indices)` that do not fit each other": [
        (
            "Padded(X, fields[0], fields[0], fields[2]).lengths",
            "vl.Padded(X, fields[0], fields[0], fields[2])",
            [2, 2, 1, 1],
            ValueError,
            ValueError,
        ),
    ],
    "`p[i]`, `p[a:b]` of a Padded": [
        ("p[1].size_at_t", "p[1].size_at_t", [2], [1, 1], [1, 1]),
        ("p[1:2].data.shape", "p[1:2].data.shape", [4, 1, 2], [2, 1, 2], [2, 1, 2]),
    ],
    "`p[-1]`, `p[[1, 0]]`, `p[mask]`, `p[np.int64(1)]`": [
        ("len(p[-1])", "len(p[-1])", 0, 1, 1),
        ("p[[1, 0]].data.shape", "p[[1, 0]].data.shape", [2, 2, 2], [4, 2, 2], [4, 2, 2]),
        ("len(p[np.array([True, False])])", "len(p[np.array([True, False])])", IndexError, 1, 1),
        ("len(p[np.int64(1)])", "len(p[np.int64(1)])", TypeError, 1, 1),
    ],
    "iteration over a Padded": [("len(list(p))", "len(list(p))", NO, 2, 2)],
    "`Pairs` of sequences that differ in length": [
        ("len(Pairs([1], [1, 2]))", "vl.Pairs([1], [1, 2])", 1, ValueError, ValueError)
    ],
    "`minibatch` over a `Pairs` of lists": [
        (
            "len(list(ops.minibatch(1, Pairs([1, 2], [1, 2]))))",
            "len(list(varlen.ops.minibatch(1, vl.Pairs([1, 2], [1, 2]))))",
            TypeError,
            2,
            2,
        ),
    ],
    "`minibatch` with a size of 0, or with sizes that run out": [
        (
            "list(ops.minibatch(0, [1, 2]))",
            "list(varlen.ops.minibatch(0, [1, 2]))",
            NO,
            ValueError,
            ValueError,
        ),
        (
            "list(ops.minibatch(iter([1]), [1, 2]))",
            "list(varlen.ops.minibatch(iter([1]), [1, 2]))",
            StopIteration,
            ValueError,
            ValueError,
        ),
    ],
    "`seq2col` given float16 or integers": [
        (
            f"ops.seq2col(X.astype({dtype}), 1).shape",
            f"varlen.ops.seq2col(X.astype({dtype}), 1).shape",
            AssertionError,
            [6, 6],
            [6, 6],
        )
        for dtype in ("'f2'", "int")
    ],
    "`seq2col` given one or three axes": [
        ("ops.seq2col(X[0], 1)", "varlen.ops.seq2col(X[0], 1).shape", ValueError, ValueError, [2, 3]),
    ],
    "`seq2col` given lengths that do not add up to the rows": [
        (
            "ops.seq2col(X, 1, lengths=lengths[:1])",
            "varlen.ops.seq2col(X, 1, lengths=lengths[:1])",
            AssertionError,
            IndexError,
            ValueError,
        ),
    ],
    "`backprop_seq2col` given a width that is no multiple of the window": [
        (
            "ops.backprop_seq2col(X, 1).shape",
            "varlen.ops.backprop_seq2col(X, 1)",
            [6, 0],
            ValueError,
            ValueError,
        ),
    ],
    "reductions given float16, integers, bools, or one or three axes": [
        (
            "ops.reduce_sum(X.astype('f2'), lengths).shape",
            "varlen.ops.reduce_sum(X.astype('f2'), lengths).shape",
            TypeError,
            [2, 2],
            [2, 2],
        ),
        (
            "ops.reduce_mean(X.astype(int), lengths)",
            "varlen.ops.reduce_mean(X.astype(int), lengths)",
            TypeError,
            [[1, 2], [3, 4]],
            [[1, 2], [3, 4]],
        ),
        (
            "ops.reduce_max(np.arange(6), lengths)[0]",
            "varlen.ops.reduce_max(np.arange(6), lengths)",
            TypeError,
            [1, 5],
            [1, 5],
        ),
        (
            "ops.reduce_sum(X > 3, lengths)",
            "varlen.ops.reduce_sum(X > 3, lengths)",
            TypeError,
            [[0, 0], [2, 2]],
            [[0, 0], [2, 2]],
        ),
    ],
    "reductions given lengths that add up to fewer rows": [
        (
            "ops.reduce_sum(X, lengths[:1]).shape",
            "varlen.ops.reduce_sum(X, lengths[:1])",
            [1, 2],
            IndexError,
            ValueError,
        ),
    ],
    "`reduce_max` given a NaN that is not in the first row": [
        (
            "ops.reduce_max(np.array([[1], [np.nan], [2]], 'f'), lengths[:1] + 1)[1]",
            "varlen.ops.reduce_max(np.array([[1], [np.nan], [2]], 'f'), [3], which=True)[1]",
            [[2]],
            [[1]],
            [[1]],
        ),
    ],
    "`reduce_max`, `reduce_first`, `reduce_last` given an empty sequence": [
        (
            "ops.reduce_max(X, np.array([6, 0], 'i'))",
            "varlen.ops.reduce_max(X, [6, 0], empty=-1)",
            ValueError,
            ValueError,
            [[6, 7], [-1, -1]],
        ),
        (
            "ops.reduce_first(X, np.array([6, 0], 'i'))",
            "varlen.ops.reduce_first(X, [6, 0])",
            ValueError,
            ValueError,
            ValueError,
        ),
        (
            "reduce_max(empty=-1).predict(Ragged(X, np.array([6, 0], 'i')))",
            T + "reduce_max(empty=-1).predict(vl.Ragged(X, [6, 0]))",
            TypeError,
            [[6, 7], [-1, -1]],
            [[6, 7], [-1, -1]],
        ),
    ],
    "`reduce_first`, `reduce_last` given no sequences": [
        (
            f"str(ops.reduce_{end}(np.zeros((0, 3)), lengths[:0])[0].dtype)",
            f"str(varlen.ops.reduce_{end}(np.zeros((0, 3)), []).dtype)",
            "float32",
            "float64",
            "float64",
        )
        for end in ("first", "last")
    ],
    "`backprop_reduce_max` given a row outside its sequence": [
        (
            "ops.backprop_reduce_max(d, which + 9, lengths)",
            "varlen.ops.backprop_reduce_max(d, which + 9, lengths)",
            IndexError,
            IndexError,
            IndexError,
        ),
        (
            "ops.backprop_reduce_max(d, which - 9, lengths)",
            "varlen.ops.backprop_reduce_max(d, which - 9, lengths)",
            NO,
            IndexError,
            IndexError,
        ),
    ],
    "`softmax_sequences` given numbers above 20": [
        (
            "ops.softmax_sequences(np.array([[100], [90]], 'f'), lengths[:1])",
            "varlen.ops.softmax(np.array([[100], [90]], 'f'), [2])",
            [[0.5], [0.5]],
            [[0.99995], [5e-05]],
            [[0.99995], [5e-05]],
        ),
    ],
    "`softmax_sequences(inplace=True)`": [
        (
            "ops.softmax_sequences(X, lengths, inplace=True) is X",
            "varlen.ops.softmax(X, lengths, inplace=True) is X",
            False,
            False,
            True,
        ),
    ],
    "`softmax_sequences(axis=)`": [
        (
            "ops.softmax_sequences(X, lengths, axis=1)[:2, 0]",
            "varlen.ops.softmax(X, lengths, axis=-1)[:2, 0]",
            [0.1192, 0.8808],
            [0.1192, 0.8808],
            [0.26894, 0.26894],
        ),
    ],
    "`softmax_sequences` given three axes": [
        (
            "ops.softmax_sequences(X[:, :, None], lengths)",
            "varlen.ops.softmax(X[:, :, None], lengths).shape",
            NotImplementedError,
            NotImplementedError,
            [6, 2, 1],
        ),
    ],
    "`softmax_sequences` given one axis, or float16": [
        (
            "ops.softmax_sequences(X[:, 0], lengths).shape",
            "varlen.ops.softmax(X[:, 0], lengths).shape",
            TypeError,
            [6],
            [6],
        ),
        (
            "str(ops.softmax_sequences(X.astype('f2'), lengths).dtype)",
            "str(varlen.ops.softmax(X.astype('f2'), lengths).dtype)",
            TypeError,
            "float16",
            "float16",
        ),
    ],
    "`lstm_forward_training(params, H0, C0, ...)`": [
        (
            f"ops.lstm_forward_inference({GATES})",
            f"varlen.ops.lstm_forward_inference({GATES})",
            [[0.23106]],
            [[0.23106]],
            [[0]],
        ),
    ],
    "`backprop_lstm`": [("first_step(ops)", "first_step(varlen.ops)", NO, True, True)],
    "`gather_add` given an index outside the table": [
        (
            "ops.gather_add(table, indices + 9)",
            "varlen.ops.gather_add(table, indices + 9)",
            IndexError,
            IndexError,
            IndexError,
        ),
        (
            "ops.gather_add(table, indices - 1)",
            "varlen.ops.gather_add(table, indices - 1)",
            NO,
            IndexError,
            IndexError,
        ),
    ],
    "`gather_add` given int64 or unsigned indices, or none": [
        (
            "ops.gather_add(table, indices.astype(int)).shape",
            "varlen.ops.gather_add(table, indices.astype(int)).shape",
            TypeError,
            [2, 2],
            [2, 2],
        ),
        (
            "ops.gather_add(table, indices[:0]).shape",
            "varlen.ops.gather_add(table, indices[:0]).shape",
            IndexError,
            [0, 2],
            [0, 2],
        ),
    ],
    "`scatter_add` given a negative index": [
        (
            "(ops.scatter_add(table, indices[0].astype(int) - 1, d), table[-1])[1]",
            "varlen.ops.scatter_add(table, indices[0] - 1, d)",
            [7, 9],
            [7, 9],
            IndexError,
        ),
        (
            "(ops.scatter_add(table, indices[0] - 1, d), table[-1])[1]",
            "varlen.ops.scatter_add(table, indices[0] - 1, d)",
            [6, 7],
            [6, 7],
            IndexError,
        ),
    ],
    "`scatter_add` given values that broadcast, or of another dtype": [
        (
            "(ops.scatter_add(table, indices[0], d[0]), table[:2])[1]",
            "varlen.ops.scatter_add(table, indices[0], d[0])",
            [[1, 3], [3, 5]],
            [[1, 3], [3, 5]],
            ValueError,
        ),
        (
            "(ops.scatter_add(table, indices[0], d.astype('d')), table[:1])[1]",
            "varlen.ops.scatter_add(table, indices[0], d.astype('d'))",
            [[1, 3]],
            [[1, 3]],
            TypeError,
        ),
    ],
    "`ngrams` with n below 1": [
        ("ops.ngrams(0, ids).shape", "varlen.ops.ngrams(0, ids)", [0], [0], ValueError)
    ],
    "`hash` given no ids": [
        ("ops.hash(ids[:0], 1).shape", "varlen.ops.hash(ids[:0], 1).shape", NO, [0, 4], [0, 4])
    ],
    "`gemm` given float64": [
        ("ops.gemm(X.astype('d'), X.astype('d'), trans2=True).shape", None, ValueError, [6, 6], NO)
    ],
    "`list2array`, `list2ragged`, `list2padded` given their own result": [
        (
            "list2ragged().predict(r).lengths",
            T + "list2ragged().predict(r).lengths",
            ValueError,
            [2, 4],
            [2, 4],
        ),
    ],
    "gradient of `list2ragged` given arrays of one or three axes": [
        (
            "list2ragged().begin_update([np.ones(2, 'f')])[1](Ragged(np.ones(2, 'f'), lengths[:1]))[0].shape",
            T + "list2ragged().begin_update([np.ones(2, 'f')])[1](vl.Ragged(np.ones(2, 'f'), [2]))[0].shape",
            [2, 1],
            [2],
            [2],
        ),
    ],
    "`with_padded`, `with_list` given a Ragged whose rows have several axes, or arrays of one axis": [
        (
            "with_list(noop()).predict(Ragged(np.ones((6, 2, 1), 'f'), lengths)).dataXd.shape",
            T + f"with_list({SAME}).predict(vl.Ragged(np.ones((6, 2, 1)), lengths)).values.shape",
            [6, 2],
            [6, 2, 1],
            [6, 2, 1],
        ),
        (
            "with_padded(noop()).predict([np.ones(2, 'f'), np.ones(3, 'f')])[0].shape",
            T + f"with_padded({SAME}).predict([np.ones(2), np.ones(3)])[0].shape",
            IndexError,
            [2],
            [2],
        ),
    ],
    "`with_array2d`, `residual`, `reduce_*` given a Ragged whose rows have several axes": [
        (
            f"{layer}.predict(Ragged(np.ones((6, 2, 1), 'f'), lengths)).{data}shape",
            f"{T}{own}.predict(vl.Ragged(np.ones((6, 2, 1)), lengths)).{data}shape",
            [rows, 2],
            [rows, 2, 1],
            [rows, 2, 1],
        )
        for layer, own, data, rows in [
            ("with_array2d(noop())", f"with_array2d({SAME})", "dataXd.", 6),
            ("residual(noop())", f"residual({SAME})", "dataXd.", 6),
            ("reduce_sum()", "reduce_sum()", "", 2),
        ]
    ],
    "`with_ragged`, `with_list` given an array": [
        (
            "type(with_list(noop()).predict(X)).__name__",
            T + f"with_list({SAME}).predict(X)",
            "ndarray",
            TypeError,
            TypeError,
        ),
        (
            "type(with_ragged(noop()).predict(X)).__name__",
            T + f"with_ragged({SAME}).predict(X)",
            "list",
            TypeError,
            TypeError,
        ),
    ],
    "`with_flatten`": [
        (
            "with_flatten_v2(Model('count', lambda model, X, is_train: ([len(X)] * len(X), None)))"
            ".predict([[[1], [2, 3]], []])",
            T + "with_flatten(lambda X: [len(X)] * len(X)).predict([[[1], [2, 3]], []])",
            [[2, 2], []],
            [[[3], [3, 3]], []],
            [[[3], [3, 3]], []],
        ),
    ],
    "`with_getitem(-1, layer)`": [
        (
            "len(with_getitem(-1, noop()).predict((1, 2)))",
            f"len(vl.transforms.with_getitem(-1, {SAME}).predict((1, 2)))",
            4,
            2,
            2,
        ),
    ],
    "gradient of `with_reshape`": [
        (
            "with_reshape(Linear(3, 2).initialize())"
            ".begin_update(np.ones((2, 2, 2), 'f'))[1](np.ones((2, 2, 3), 'f')).shape",
            None,
            ValueError,
            [2, 2, 2],
            NO,
        ),
    ],
    "gradients of `concatenate` given a Ragged, or lists": [
        (
            "len(concatenate(with_array(twice), with_array(twice)).begin_update(seqs)[1](seqs2))",
            f"len({T}concatenate(*[{T}with_array(twice)] * 2).begin_update(seqs)[1](seqs2))",
            4,
            2,
            2,
        ),
        (
            "concatenate(with_array(twice), with_array(twice)).begin_update(r)[1](Ragged(X2, lengths)).data",
            f"{T}concatenate(*[{T}with_array(twice)] * 2).begin_update(r)[1](vl.Ragged(X2, lengths)).data",
            TypeError,
            [[0, 4], [8, 12], [0, 4], [8, 12], [16, 20], [24, 28]],
            [[0, 4], [8, 12], [0, 4], [8, 12], [16, 20], [24, 28]],
        ),
    ],
    "`concatenate` given a Padded; `add` given a Ragged, a Padded or a list": [
        (
            "concatenate(noop(), noop()).predict(p).data.shape",
            f"{T}concatenate({SAME}, {SAME}).predict(p).data.shape",
            AttributeError,
            [4, 2, 4],
            [4, 2, 4],
        ),
        (
            "add(noop(), noop()).predict(r).data.sum()",
            f"{T}add({SAME}, {SAME}).predict(r).data.sum()",
            TypeError,
            68,
            68,
        ),
    ],
    "`concatenate` given arrays of three or more axes": [
        (
            "concatenate(noop(), noop()).predict(np.ones((1, 2, 3))).shape",
            f"{T}concatenate({SAME}, {SAME}).predict(np.ones((1, 2, 3))).shape",
            [1, 4, 3],
            [1, 2, 6],
            [1, 2, 6],
        ),
    ],
    "`expand_window` given a list or a Padded": [
        (
            "type(expand_window(1).predict(seqs)).__name__",
            f"type({T}expand_window(1).predict(seqs)).__name__",
            TypeError,
            "list",
            "list",
        ),
    ],
    "a gradient whose kind, structure, shape or dtype differs from the result's": [
        (
            "with_array(noop()).begin_update(r)[1](Ragged(X.astype('d'), lengths)).dataXd.shape",
            f"{T}with_array(twice).begin_update(r)[1](vl.Ragged(X.astype('d'), lengths))",
            [6, 2],
            ValueError,
            ValueError,
        ),
    ],
    "`with_padded` around a two-directional torch LSTM": [
        (
            "alone(PyTorchLSTM(2, 2, bi=True))",
            f"alone({T}with_padded(torch.nn.LSTM(2, 1, bidirectional=True)))",
            False,
            True,
            True,
        ),
    ],
    "gradients of `tuplify` given containers": [
        (
            "tuplify(with_array(twice), with_array(twice)).begin_update(r)[1]((r, r)).data[:1]",
            None,
            TypeError,
            [[0, 4]],
            NO,
        ),
    ],
    "`bidirectional`": [("halves(bidirectional, LSTM(1, 2).initialize(), p)", None, True, False, NO)],
    "names of `with_array2d`, `map_list`, `with_getitem`, `add`": [
        (
            "[with_array2d(noop()).name, map_list(noop()).name]",
            f"[{T}with_array2d(twice).name, {T}map_list(twice).name]",
            ["with_array(noop)", "map_list"],
            ["with_array2d(noop)", "map_list(noop)"],
            ["with_array2d(<lambda>)", "map_list(<lambda>)"],
        ),
        (
            "[with_getitem(1, noop()).name, add(noop(), noop()).name]",
            None,
            ["with_getitem(noop)", "add"],
            ["with_getitem(1, noop)", "noop+noop"],
            NO,
        ),
    ],
    "`model.copy()`": [("copied(noop())", None, [False, False], [True, True], NO)],
    "`model.finish_update(optimizer)`": [
        ("left(Linear(1, 1).initialize())", None, [1], [0], NO),
    ],
}
