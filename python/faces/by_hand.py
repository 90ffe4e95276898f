"""What is written by hand: the names of each file of a package, and rows in the manual."""

from verb import ByHand

#: The functions of each file of `varlen.ops`.
FUNCTIONS = {
    "attend": "attend",
    "attention": "attention_pool backprop_attention_pool",
    "bins": "bincount",
    "broadcast": "broadcast_rows",
    "combine": "concatenate split stack",
    "cross": "cross",
    "ctc": "backprop_ctc_loss ctc_loss",
    "dense": "from_dense to_dense",
    "differences": "diff",
    "edit": "edit_distance",
    "einsum": "einsum",
    "fill": "fill_empty_rows",
    "flatten": "flatten list2array unflatten unpad",
    "gather": "boolean_mask gather",
    "gather_dense": "gather_dense",
    "hash": "hash ngrams",
    "lists": "list2ragged pad ragged2list",
    "lstm": "backprop_lstm lstm_forward_inference lstm_forward_training",
    "mask": "block_mask cu_seqlens mask positions segment_ids",
    "matmul": "matmul",
    "minibatch": "SizedGenerator minibatch multibatch",
    "pack": "pack",
    "gradients.reduce": (
        "backprop_reduce_first backprop_reduce_last backprop_reduce_max backprop_reduce_mean "
        "backprop_reduce_min backprop_reduce_sum"
    ),
    "reduce_dense": "reduce_dense",
    "gradients.scan": "backprop_cummax backprop_cummin backprop_cumprod backprop_cumsum",
    "scatter": "backprop_gather_add gather_add scatter_add",
    "search": "searchsorted",
    "shift": "backprop_reverse backprop_roll backprop_shift reverse roll shift",
    "softmax": "backprop_log_softmax backprop_softmax",
    "sort": "argsort backprop_sort backprop_topk rank sort topk unique",
    "span": "align backprop_align backprop_insert_rows backprop_spans insert_rows spans",
    "gradients.statistics": (
        "backprop_reduce_logsumexp backprop_reduce_norm backprop_reduce_prod backprop_reduce_std "
        "backprop_reduce_var"
    ),
    "tile": "tile",
    "time_major": "list2padded padded2list padded2ragged ragged2padded",
    "where": "where",
    "window": (
        "average_windows backprop_average_windows backprop_seq2col backprop_windows seq2col sliding_window"
        " windows"
    ),
}

#: The functions of each file of `varlen.returnn.frontend`.
FRONTEND = {
    "convert": "convert_to_tensor copy expand_dims replace_dim",
    "learn": "ctc_loss dot_attention dropout label_smoothing moments smooth_one_hot stop_gradient",
    "make": "constant full num_elements_of_shape ones range_over_dim sequence_mask sparse_to_dense zeros",
    "math": "clip_by_value combine compare lerp safe_log where",
    "move": "concat concat_features cum_concat_step gating pad slice stack unstack",
    "pick": (
        "gather masked_scatter masked_select merge_dims pack_padded repeat scatter scatter_count "
        "scatter_logsumexp scatter_mean sort split_dims top_k top_k_mask"
    ),
    "random": "random",
    "reduce": "reduce reduce_out",
    "run_ctx": (
        "RunCtx get_run_ctx get_run_ctx_step init_forward_step_run_ctx init_train_step_run_ctx reset_run_ctx"
    ),
    "window": "conv make_conv_out_spatial_dims pool pool1d transposed_conv window",
}

#: The names of `varlen.dims`, by the file that holds them; one of another package by its whole name.
DIMS = {
    "beam": "Beam",
    "constructors": "FeatureDim SpatialDim batch_dim",
    "data": "Data",
    "errors": "AmbiguousAxisError LengthMismatchError OutShapeError",
    "ops.combine": "combine expand_dim where",
    "ops.concat": "concat split stack",
    "ops.conv": "conv1d conv_out_dim transposed_conv1d",
    "ops.dot": "dot",
    "ops.elementwise": (
        "abs ceil clip_by_value cos elu exp expm1 floor gelu is_finite log log1p log_sigmoid logical_not "
        "relu round rsqrt sigmoid sign silu sin softplus sqrt square tan tanh"
    ),
    "ops.gather": "gather",
    "ops.loss": "cross_entropy ctc_loss edit_distance",
    "ops.make_values": (
        "arange full full_like last_frame_position_of_dim num_elements_of_shape one_hot range_over_dim"
    ),
    "ops.merge": "flatten merge_dims split_dims squeeze unflatten",
    "ops.norm": "Moments batch_norm layer_norm moments",
    "ops.pad": "pad",
    "ops.random": "dropout random",
    "ops.reduce": "reduce",
    "ops.repeat": "repeat",
    "ops.scatter": "scatter",
    "ops.select": "masked_scatter masked_select",
    "ops.shift": "reverse shift",
    "ops.slice": "slice",
    "ops.sort": "argsort search_sorted sort top_k unique",
    "ops.window": "pool window",
    "out_shape": "ImplicitDim ImplicitDynSizeDim ImplicitSparseDim OptionalDim",
    "records.data_dict": "DataDict",
    "records.spec": "DataSpec",
    "records.specs": "DataSpecs",
    "table": "read_dims write_dims",
    "varlen._core": "Dim",
    "vocabulary": "Vocabulary",
}

#: The names of `varlen.sequence`.
SEQUENCE = {
    "beam": "Beam",
    "concat": "backprop_sequence_concat sequence_concat",
    "conv": "backprop_sequence_conv sequence_conv",
    "enumerate": "backprop_sequence_enumerate sequence_enumerate",
    "erase": "backprop_sequence_erase sequence_erase",
    "expand": "backprop_sequence_expand backprop_sequence_expand_as sequence_expand sequence_expand_as",
    "image": "backprop_im2sequence im2sequence",
    "lod": "lod_append lod_reset",
    "lookahead": "backprop_row_conv row_conv",
    "mask": "sequence_mask",
    "pad": "backprop_sequence_pad backprop_sequence_unpad sequence_pad sequence_unpad",
    "pool": "backprop_sequence_pool sequence_pool",
    "reshape": "backprop_sequence_reshape sequence_reshape",
    "reverse": "backprop_sequence_reverse sequence_reverse",
    "rnn": "rnn",
    "route": "merge_lod merge_lod_tensor split_lod split_lod_tensor",
    "scatter": "backprop_sequence_scatter sequence_scatter",
    "slice": "backprop_sequence_slice sequence_slice",
    "softmax": "backprop_sequence_softmax sequence_softmax",
    "steps": (
        "array_to_lod_tensor backprop_concat_outputs backprop_reorder backprop_segment_inputs "
        "backprop_shrink concat_outputs init_memories lod_rank_table lod_tensor_to_array max_sequence_len "
        "reorder reorder_lod_tensor_by_rank segment_inputs shrink shrink_memory sort_by_length"
    ),
    "topk": "backprop_sequence_topk_avg_pooling sequence_topk_avg_pooling",
}

#: What `varlen` gives, beside the sequence ops, by its home; `open` hides no builtin.
TOP = {
    "varlen.data": "Dataset open",
    "varlen.dims": "Data",
    "varlen.joint": "JointNestedRaggedTensorDict",
    "varlen.joint.object_files": "load save",
    "varlen.ops.combine": "concatenate split stack",
    "varlen.ops.cross": "cross",
    "varlen.ops.matmul": "matmul",
    "varlen.ops.where": "where",
    "varlen.sequence": "Beam im2sequence lod_append lod_reset row_conv",
    "varlen.transforms.vmap": "vmap",
    "varlen.types": "Packed Padded Pairs Ragged RankTable",
}
#: What it has by itself, and the modules that `from varlen import *` gives.
TOP_OWN = "Dim Level __version__ num_threads set_num_threads"
TOP_MODULES = "cuda data dims io ops sequence transforms"

_FORMS = ("", "_f", "_i", *(f"{n}{kind}" for n in "1234" for kind in "fi"))
#: The names of `varlen.thinc`.
THINC = {
    "arrays": " ".join(
        [
            *(f"{verb}{form}" for verb in ("alloc", "asarray", "reshape") for form in _FORMS),
            "reshape1 reshape2 reshape3 reshape4 as_contig get_dropout_mask",
        ]
    ),
    "attention": "ParametricAttention",
    "current": "get_current_ops get_ops set_current_ops use_ops",
    "directions": "bidirectional",
    "dropout": "Dropout set_dropout_rate",
    "initializers": "get_width glorot_uniform_init zero_init",
    "layers": (
        "add chain clone concatenate expand_window list2array list2padded list2ragged map_list noop "
        "padded2list ragged2list reduce_first reduce_last reduce_max reduce_mean reduce_sum residual tuplify "
        "with_array with_array2d with_flatten with_flatten_v2 with_getitem with_list with_padded with_ragged "
        "with_reshape"
    ),
    "linear": "Linear",
    "lstm": "LSTM PyTorchLSTM",
    "model": "Model",
    "numpy_ops": "NumpyOps",
    "registration": "install uninstall",
    "sequence_ops": "Ops",
    "types": "Padded Pairs Ragged from_thinc to_thinc",
    "varlen_cupy_ops": "VarlenCupyOps",
    "varlen_ops": "VarlenOps",
}

_SEQUENCES = ("expand", "concat", "slice", "erase", "reverse", "enumerate", "pad")

REDUCE = (
    ByHand(("attention_pool",), "reduce", ("ops.attention_pool",), empty="zeros, always"),
    ByHand(("bincount",), "reduce", ("ops.bincount",), empty="always zeros"),
)
IN_PLACE = (
    ByHand(("rank",), "in place", ("ops.rank",)),
    ByHand(("broadcast_rows",), "in place", ("ops.broadcast_rows",)),
    ByHand((), "in place", level=False, label="arithmetic, comparisons, NumPy's ufuncs"),
)
OTHERS = (
    ByHand(("reverse",), "move", ("ops.reverse",), out=True),
    ByHand(("shift", "roll"), "move", ("ops.shift", "ops.roll"), out=True),
    ByHand(("gather",), "move", ("ops.gather",), level=False, axis=True),
    ByHand(("boolean_mask", "tile"), "move", ("ops.boolean_mask", "ops.tile"), level=False),
    ByHand(("sort",), "rank", ("ops.sort",), axis=True, out=True),
    ByHand(("argsort",), "rank", ("ops.argsort",), axis=True),
    ByHand(("topk", "unique"), "rank", ("ops.topk", "ops.unique")),
    ByHand(("diff", "searchsorted"), "rank", ("ops.diff", "ops.searchsorted")),
    ByHand(("sliding_window",), "rank", ("ops.sliding_window",)),
    ByHand(
        (),
        "move",
        tuple(f"vl.sequence_{verb}" for verb in _SEQUENCES),
    ),
    ByHand((), "reduce", ("vl.sequence_pool",), empty="`pad_value=`"),
    ByHand((), "in place", ("vl.sequence_softmax", "vl.sequence_conv")),
)
