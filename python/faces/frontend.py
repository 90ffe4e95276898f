"""Functions of RETURNN's frontend that are a verb of `varlen.dims` under another name."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Face:
    """A function: its arguments as Python writes them, its sentence, and what it returns."""

    name: str
    arguments: str
    summary: str
    call: str
    example: str
    #: What each argument is, or several: "a, b". An argument that is not in it has its text of `TEXTS`.
    texts: dict[str, str] = field(default_factory=dict)
    returns: str = "The results, over the same dims."
    type: str = "Tensor"
    #: What the manual says in place of the type.
    kind: str = ""
    #: What the manual says in place of the type and of `returns`.
    shape: str = ""
    notes: str = ""
    raises: dict[str, str] = field(default_factory=dict)
    #: To a type checker the call gives anything; the result is named, and gets its type by that.
    is_any: bool = False
    #: The arguments and the type of each overload.
    overloads: tuple[tuple[str, str], ...] = ()
    #: As `Verb.has_dim`.
    has_dim: bool = False


#: What an argument is wherever nothing else is said of it.
TEXTS = {
    "a": "Numbers.",
    "axis": "The dim.",
    "distributed": "False, as in `reduce`.",
    "handle_dynamic_dims": "Accepted for compatibility: each row ends at its own end.",
    "other": "Any values.",
    "source": "Any values.",
    "spatial_dim": "The dim.",
    "tensor": "Any values.",
    "use_mask": "Accepted for compatibility: there is no padding to mask.",
    "x": "Any values.",
}
X = '>>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])'
ROWS = """
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])"""
OPERAND = "Data[Any] | complex"


def _unary_face(name: str, what: str, call: str, numbers: str, gives: str, argument: str = "a") -> Face:
    example = f"""
    >>> rf.{name}(vl.Data(np.array({numbers}), [vl.Dim("two", 2)])).values
    {gives}
    """
    arguments = f"{argument}: Data[Any]"
    return Face(
        name, arguments, f"{what}, number by number.", f"as_tensor({call})", example, {argument: "Numbers."}
    )


def _dims_face(name: str, what: str) -> Face:
    example = f"""
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.{name}(x).dims == x.dims
    True
    """
    return Face(name, "a: Data[Any]", f"{what}, number by number.", f"as_tensor(_dims.{name}(a))", example)


def _binary_face(name: str, what: str, kind: str, call: str) -> Face:
    example = f"""
    {X}
    >>> rf.{name}(x, 2).dims == x.dims
    True
    """
    return Face(
        name,
        f"a: {OPERAND}, b: {OPERAND}",
        f"{what}, number by number.",
        f'{call}(a, "{kind}", b)',
        example,
        {"a, b": "Tensors or numbers; one of them has all dims."},
        "The results, over the dims of both.",
    )


def _extreme(name: str, what: str) -> Face:
    example = f"""
    {X}
    >>> rf.{name}(x, 2, x).dims == x.dims
    True
    """
    return Face(
        name,
        "a: Data[Any] | float, b: Data[Any] | float, *other_tensors: Data[Any] | float",
        f"{what} of several, number by number.",
        f'as_tensor(_dims.combine("{name}", a, b, *other_tensors))',
        example,
        {"a, b, *other_tensors": "Tensors or numbers; one of them has all dims."},
        "The results, over the dims of all.",
    )


def _reduce(mode: str, what: str) -> Face:
    is_bool = mode in ("any", "all")
    numbers = "[True, False, True]" if is_bool else "[3.0, 1.0, 5.0]"
    example = f"""
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array({numbers}), [vl.dims.batch_dim, time])
    >>> rf.reduce_{mode}(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    parameter, keyword = (
        (", distributed: bool = False", ", distributed=distributed") if mode == "sum" else ("", "")
    )
    return Face(
        f"reduce_{mode}",
        f"source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True{parameter}",
        f"{what} over some dims.",
        f'reduce(source, mode="{mode}", axis=axis{keyword})',
        example,
        {"source": "Bools." if is_bool else "Numbers.", "axis": "The dims to reduce."},
        "The results, over the remaining dims.",
    )


def _bc(name: str, kind: str, number: str, gives: str, returns: str) -> Face:
    example = f"""
    {X}
    >>> y = vl.Data(np.array([{number}]), [vl.Dim("one", 1)])
    >>> rf.{name}_bc(x, "{kind}", y).to_list()
    {gives}
    """
    return Face(
        f"{name}_bc",
        f"a: {OPERAND}, kind: str, b: {OPERAND}, *, dim_order: Sequence[Dim] | None = None",
        f"Like `{name}`, but both operands may lack dims of the result.",
        f"{name}(a, kind, b, allow_broadcast_all_sources=True, dim_order=dim_order)",
        example,
        {"a, kind, b, dim_order": f"As in `{name}`."},
        returns,
    )


def _like(name: str, what: str, gives: str) -> Face:
    example = f"""
    >>> rf.{name}_like(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])).values
    {gives}
    """
    return Face(
        f"{name}_like",
        "other: Data[Any]",
        f"{what} over the dims of another tensor, with its dtype and device.",
        f"with_roles(_dims.{name}(other.dims, like=other), other.sparse_dim)",
        example,
    )


def _default(kind: str, what: str, constant: str, returns: str) -> Face:
    name = f"get_default_{kind}_dtype"
    example = f"""
    >>> rf.{name}()
    {returns.split(",")[0].replace('"', "'")}
    """
    return Face(name, "", what, constant, example, returns=returns, type="str")


def _random(distribution: str, what: str, numbers: str, example: str) -> Face:
    """What `random` draws from one distribution, which these numbers say: "mean=0.0, stddev=1.0"."""
    defaults = dict(number.split("=") for number in numbers.split(", "))
    own = ", ".join(f"{name}: Data[Any] | float | None = {default}" for name, default in defaults.items())
    words = ("dtype", "device", "sparse_dim", "feature_dim", *defaults)
    keywords = ", ".join(f"{word}={word}" for word in words)
    return Face(
        f"random_{distribution}",
        "dims: Sequence[Dim], *, dtype: DTypeLike | None = None, device: str | None = None, "
        f"sparse_dim: Dim | None = None, feature_dim: Dim | None = None, {own}, "
        "seed: SeedLike | None = None, algorithm: str | None = None, explicit_state: None = None, "
        "auto_update_state: bool | None = None, "
        "static: bool | None = None, out: None = None, like: Data[Any] | None = None",
        what,
        f'random(dims, distribution="{distribution}", {keywords}, seed=seed, explicit_state=explicit_state, '
        "out=out, like=like)",
        example,
        {
            f"dims, {', '.join(words)}": "As in `random`.",
            "seed, algorithm, explicit_state, auto_update_state, static, out, like": "As in `random`.",
        },
        "The random numbers, over these dims.",
    )


def _max_pool(
    name: str, type: str, dim: str, dims: str, what: str, argument: str, returns: tuple[str, str]
) -> Face:
    """`name` is what it calls; `type` is that of a number, `dim` the ending of its arguments."""
    words = ("pool_size", "padding", "dilation_rate", "strides", f"in_spatial_{dim}", f"out_spatial_{dim}")
    example = f"""
    >>> time = vl.Dim("time", lengths=[4, 2])
    >>> x = vl.Data(np.array([3, 1, 4, 1, 5, 9]), [vl.dims.batch_dim, time])
    >>> rf.max_{name}(x, pool_size=2, in_spatial_{dim}={argument})[0].to_list()
    [[3, 4], [9]]
    """
    return Face(
        f"max_{name}",
        f'source: Data[Any], *, pool_size: {type}, padding: str = "valid", dilation_rate: {type} = 1, '
        f"strides: {type} | None = None, in_spatial_{dim}: {dims}, out_spatial_{dim}: {dims} | None = None",
        f"The greatest number in windows along {what}.",
        f'{name}(source, mode="max", ' + ", ".join(f"{word}={word}" for word in words) + ")",
        example,
        {f"source, {', '.join(words)}": f"As in `{name}`."},
        *returns,
    )


FACES = (
    *(
        _dims_face(name, what)
        for name, what in {
            "abs": "The absolute value",
            "ceil": "The ceiling",
            "cos": "The cosine",
            "elu": "The exponential linear unit",
            "exp": "The exponential",
            "expm1": "The exponential minus one",
            "floor": "The floor",
            "is_finite": "True for finite numbers",
            "log": "The logarithm",
            "log1p": "The logarithm of one plus the number",
            "logical_not": "The logical negation",
            "log_sigmoid": "The logarithm of the sigmoid",
            "relu": "The rectified linear unit",
            "round": "The nearest integer",
            "rsqrt": "The reciprocal of the square root",
            "gelu": "The Gaussian error linear unit",
            "sigmoid": "The logistic function",
            "silu": "The sigmoid linear unit",
            "sin": "The sine",
            "softplus": "The logarithm of one plus the exponential",
            "sqrt": "The square root",
            "square": "The square",
            "tanh": "The hyperbolic tangent",
        }.items()
    ),
    _unary_face("neg", "The negative", "-a", "[2.0, -3.0]", "array([-2.,  3.])"),
    _unary_face("reciprocal", "The reciprocal", "1 / a", "[2.0, 4.0]", "array([0.5 , 0.25])"),
    _unary_face(
        "is_infinite",
        "True for infinite numbers",
        "_dims.abs(a) == np.inf",
        "[1.0, -np.inf]",
        "array([False,  True])",
    ),
    _unary_face(
        "is_neg_infinite",
        "True for minus infinity",
        "a == -np.inf",
        "[np.inf, -np.inf]",
        "array([False,  True])",
    ),
    _unary_face(
        "relu_square",
        "The square of the rectified linear unit",
        "_dims.square(_dims.relu(x))",
        "[-1.0, 3.0]",
        "array([0., 9.])",
        "x",
    ),
    Face(
        "identity",
        "x: Data[Any]",
        "Return the values as they are.",
        "as_tensor(x)",
        """
        >>> rf.identity(vl.Data(np.ones(2), [vl.Dim("two", 2)])).values
        array([1., 1.])
        """,
        returns="`x` itself, if it is a Tensor.",
    ),
    *(
        _binary_face(name, what, kind, "combine")
        for name, what, kind in (
            ("add", "The sum", "+"),
            ("sub", "The difference", "-"),
            ("mul", "The product", "*"),
            ("true_divide", "The quotient", "/"),
            ("floor_divide", "The quotient, rounded down", "//"),
            ("mod", "The remainder of `floor_divide`", "%"),
            ("pow", "The power", "**"),
            ("squared_difference", "The square of the difference", "squared_difference"),
            ("log_add_exp", "The logarithm of the sum of exponentials", "logaddexp"),
            ("logical_and", "Whether both are true", "logical_and"),
            ("logical_or", "Whether at least one is true", "logical_or"),
        )
    ),
    *(
        _binary_face(name, what, kind, "compare")
        for name, what, kind in (
            ("equal", "Whether both are equal", "=="),
            ("not_equal", "Whether they differ", "!="),
            ("less", "Whether the first is less", "<"),
            ("less_equal", "Whether the first is not greater", "<="),
            ("greater", "Whether the first is greater", ">"),
            ("greater_equal", "Whether the first is not less", ">="),
        )
    ),
    _bc("combine", "+", "10", "[[13], [11]]", "The results, over the dims of both."),
    _bc("compare", "<", "2", "[[False], [True]]", "Bools over the dims of both."),
    Face(
        "ceil_divide",
        f"a: Data[Any], b: {OPERAND}",
        "The quotient of each pair of numbers, rounded up.",
        "as_tensor(-floor_divide(-a, b))",
        """
        >>> rf.ceil_divide(vl.Data(np.array([4, 5]), [vl.Dim("two", 2)]), 2).values
        array([2, 3])
        """,
        {"a, b": "Tensors; one of them has all dims. `b` may be a number."},
        "The quotients, over the dims of both.",
    ),
    _extreme("maximum", "The greatest"),
    _extreme("minimum", "The least"),
    Face(
        "matmul",
        "a: Data[Any], b: Data[Any], *, reduce: Dim | Sequence[Dim], use_mask: bool = True",
        "Sum products over some dims, including ragged ones.",
        "as_tensor(_dims.dot(a, b, reduce))",
        """
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
        >>> rf.matmul(x, x, reduce=time).values
        array([10, 16])
        """,
        {"a, b": "Tensors.", "reduce": "The dims to sum over, which both have."},
        "The products, over the common dims, then the other dims of `a`, then those of `b`.",
        notes="RETURNN's `matmul` takes no dynamic dim without a mask.",
    ),
    Face(
        "softmax",
        "a: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True",
        "The softmax over some dims.",
        "as_tensor(_dims.softmax(a, axis))",
        """
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> rf.softmax(vl.Data(np.zeros(3), [vl.dims.batch_dim, time]), axis=time).values
        array([0.5, 0.5, 1. ])
        """,
        {"axis": "The dims over which the results sum to one."},
    ),
    Face(
        "log_softmax",
        "a: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True",
        "The logarithm of `softmax`.",
        "as_tensor(_dims.log_softmax(a, axis))",
        """
        >>> time = vl.Dim("time", lengths=[1, 1])
        >>> rf.log_softmax(vl.Data(np.zeros(2), [vl.dims.batch_dim, time]), axis=time).values
        array([0., 0.])
        """,
        {"a, axis, use_mask": "As in `softmax`."},
    ),
    *(
        _reduce(mode, what)
        for mode, what in {
            "sum": "The sum",
            "mean": "The mean",
            "max": "The greatest number",
            "min": "The least number",
            "any": "Whether any is true",
            "all": "Whether all are true",
            "argmax": "The position of the greatest number",
            "argmin": "The position of the least number",
            "logsumexp": "The logarithm of the sum of exponentials",
            "logmeanexp": "The logarithm of the mean of exponentials",
        }.items()
    ),
    _default("float", "The dtype of Python floats.", "FLOAT", '"float32", always.'),
    _default("int", "The dtype of Python ints.", "INT", '"int32", always.'),
    _default("array_index", "The dtype of positions.", "PLACE", '"int64", where RETURNN has int32.'),
    Face(
        "is_float_dtype",
        "dtype: str",
        "Whether a dtype is a float type.",
        'dtype.startswith(("float", "bfloat"))',
        """
        >>> rf.is_float_dtype("bfloat16"), rf.is_float_dtype("int8")
        (True, False)
        """,
        {"dtype": "The name."},
        "True for bfloat16 too.",
        "bool",
    ),
    Face(
        "cast",
        "tensor: Data[Any], dtype: DTypeLike",
        "Convert the values to another dtype.",
        "as_tensor(tensor.cast(dtype))",
        """
        >>> rf.cast(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), "float32").dtype
        'float32'
        """,
        {"dtype": "A name, or a dtype of NumPy or torch."},
    ),
    Face(
        "copy_to_device",
        "x: Data[Any], device: str | None = None",
        "Move the values to a device.",
        "on_device(x, device)",
        """
        >>> rf.copy_to_device(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), "cpu").device
        'cpu'
        """,
        {
            "device": (
                '"cpu", "cuda" and so on; arrays become tensors for any but the CPU. By default they stay.'
            )
        },
        "The values on the device, over the same dims.",
    ),
    Face(
        "set_sparse_dim",
        "source: Data[Any], sparse_dim: Dim",
        "Declare integers as positions of a dim.",
        "with_roles(source, sparse_dim)",
        """
        >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)])
        >>> rf.set_sparse_dim(x, vl.Dim("words", 3)).sparse_dim.name
        'words'
        """,
        {"source": "Integers.", "sparse_dim": "The dim."},
        "A Tensor that shares the values.",
    ),
    Face(
        "expand_dim",
        "source: Data[Any], dim: Dim",
        "Repeat the values over one more dim.",
        "as_tensor(_dims.expand_dim(source, dim))",
        """
        >>> rf.expand_dim(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), vl.Dim("three", 3)).ndim
        2
        """,
        {"dim": "A dim that `source` lacks."},
        "The values, with that dim.",
    ),
    Face(
        "squeeze",
        "source: Data[Any], axis: Dim",
        "Remove a dim of one position.",
        "as_tensor(_dims.squeeze(source, axis))",
        """
        >>> one = vl.Dim("one", 1)
        >>> rf.squeeze(vl.Data(np.array([[3, 1]]), [one, vl.Dim("two", 2)]), one).to_list()
        [3, 1]
        """,
        returns="The values, without that dim.",
    ),
    Face(
        "split",
        "source: Data[Any], *, axis: Dim, out_dims: Sequence[Dim]",
        "Split along a dim that is a sum of dims.",
        "tuple([as_tensor(part) for part in _dims.split(source, axis, out_dims)])",
        """
        >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
        >>> x = vl.Data(np.arange(5), [two + three])
        >>> [part.to_list() for part in rf.split(x, axis=two + three, out_dims=[two, three])]
        [[0, 1], [2, 3, 4]]
        """,
        {"out_dims": "A dim for each part. Their lengths add up to those of `axis`."},
        "A part for each dim.",
        "tuple[Tensor, ...]",
    ),
    Face(
        "shift_right",
        "source: Data[Any], *, axis: Dim, pad_value: Any, amount: int = 1",
        "Shift right: each position gets the value some positions before it, row by row.",
        'as_tensor(_dims.shift(source, axis, amount, value=number(pad_value, "pad_value")))',
        f"""{ROWS}
    >>> rf.shift_right(x, axis=time, pad_value=0).to_list()
    [[0, 3, 1], [0]]
        """,
        {"pad_value": "The value of the positions that become free.", "amount": "The number of places."},
    ),
    Face(
        "shift_left",
        "source: Data[Any], *, axis: Dim, pad_value: Any, amount: int = 1",
        "Shift left: each position gets the value some positions after it, row by row.",
        'as_tensor(_dims.shift(source, axis, -amount, value=number(pad_value, "pad_value")))',
        f"""{ROWS}
    >>> rf.shift_left(x, axis=time, pad_value=0).to_list()
    [[1, 4, 0], [0]]
        """,
        {"source, axis, pad_value, amount": "As in `shift_right`."},
    ),
    Face(
        "reverse_sequence",
        "tensor: Data[Any], *, axis: Dim, handle_dynamic_dims: bool = True",
        "Reverse each row.",
        "as_tensor(_dims.reverse(tensor, axis))",
        f"""{ROWS}
    >>> rf.reverse_sequence(x, axis=time).to_list()
    [[4, 1, 3], [1]]
        """,
    ),
    Face(
        "cumsum",
        "source: Data[Any], *, spatial_dim: Dim",
        "The running sum of each row.",
        "as_tensor(_dims.cumsum(source, spatial_dim))",
        f"""{ROWS}
    >>> rf.cumsum(x, spatial_dim=time).to_list()
    [[3, 4, 8], [1]]
        """,
        {"source": "Numbers."},
    ),
    Face(
        "pad_packed",
        "source: Data[Any], *, in_dim: Dim, dims: Sequence[Dim]",
        "The inverse of `pack_padded`.",
        "as_tensor(_dims.unflatten(source, in_dim, dims))",
        """
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
        >>> y, frames = rf.pack_padded(x, dims=[vl.dims.batch_dim, time])
        >>> rf.pad_packed(y, in_dim=frames, dims=x.dims).to_list()
        [[3, 1], [4]]
        """,
        {"in_dim": "The dim to replace.", "dims": "The dims that replace it, the slowest first."},
        "The values, over these dims, without padding.",
    ),
    Face(
        "search_sorted",
        'sorted_seq: Data[Any], values: Data[Any], *, axis: Dim, side: str = "left", '
        'out_dtype: DTypeLike = "int32"',
        "Find where numbers would go in each ascending row.",
        "as_tensor(_dims.search_sorted(sorted_seq, values, axis, side=side).cast(out_dtype))",
        """
        >>> time = vl.Dim("time", lengths=[3, 1])
        >>> x = vl.Data(np.array([1, 3, 4, 2]), [vl.dims.batch_dim, time])
        >>> rf.search_sorted(x, vl.Data(np.array([3, 3]), [vl.dims.batch_dim]), axis=time).values
        array([1, 1], dtype=int32)
        """,
        {
            "sorted_seq": "Numbers that ascend along the dim.",
            "values": "The numbers to look up.",
            "axis": "The dim; its lengths may differ, unlike in RETURNN.",
            "side": '"left" or "right" of equal numbers.',
            "out_dtype": "The dtype of the positions.",
        },
        "The positions, over the dims of `values` and the remaining dims of `sorted_seq`.",
    ),
    Face(
        "one_hot",
        "source: Data[Any]",
        "1 at the class of each position, 0 at the others.",
        'as_tensor(_dims.one_hot(source, dtype="float32"))',
        """
        >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=vl.Dim("words", 3))
        >>> rf.one_hot(x).to_list()
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
        """,
        {"source": "Classes, with a `sparse_dim`."},
        "float32, with the dim of the classes as the last.",
    ),
    _like("zeros", "Zeros", "array([0, 0])"),
    _like("ones", "Ones", "array([1, 1])"),
    Face(
        "last_frame_position_of_dim",
        "dim: Dim, *, device: str | None = None, allow_scalar_on_cpu: bool = True",
        "The last position of each row of a dim.",
        "on_device(_dims.last_frame_position_of_dim(dim), device)",
        """
        >>> rf.last_frame_position_of_dim(vl.Dim("time", lengths=[3, 0])).values
        array([ 2, -1])
        """,
        {
            "dim": "A dim with lengths.",
            "device": "The device of the result.",
            "allow_scalar_on_cpu": "Accepted for compatibility, and ignored.",
        },
        "The positions, over the dims that the dim depends on; -1 for an empty row, where RETURNN gives 0.",
    ),
    Face(
        "cross_entropy",
        "*, estimated: Data[Any], target: Data[Any], axis: Dim, "
        'estimated_type: Literal["logits", "probs", "log-probs"]',
        "The cross entropy of target classes.",
        "as_tensor(_dims.cross_entropy(estimated, target, axis, estimated_type=estimated_type))",
        """
        >>> words, time = vl.Dim("words", 2), vl.Dim("time", lengths=[2, 1])
        >>> target = vl.Data(np.array([0, 1, 1]), [vl.dims.batch_dim, time], sparse_dim=words)
        >>> logits = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, words])
        >>> loss = rf.cross_entropy(estimated=logits, target=target, axis=words, estimated_type="logits")
        >>> loss.values.round(3)
        array([0.693, 0.693, 0.693])
        """,
        {
            "estimated": "Floats over the classes.",
            "target": "Classes, or a probability for each.",
            "axis": "The dim of the classes.",
            "estimated_type": 'The kind of numbers in `estimated`: "logits", "probs" or "log-probs".',
        },
        "The loss at each position, over the dims of both without the classes.",
    ),
    Face(
        "edit_distance",
        'a: Data[Any], a_spatial_dim: Dim, b: Data[Any], b_spatial_dim: Dim, *, dtype: DTypeLike = "int32"',
        "The edit distance between sequences: the fewest substitutions, insertions and deletions.",
        "as_tensor(_dims.edit_distance(a, b, axis=a_spatial_dim, b_axis=b_spatial_dim).cast(dtype))",
        """
        >>> found, true = vl.Dim("found", lengths=[3, 1]), vl.Dim("true", lengths=[2, 2])
        >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, found])
        >>> y = vl.Data(np.array([3, 4, 1, 5]), [vl.dims.batch_dim, true])
        >>> rf.edit_distance(x, found, y, true).values
        array([1, 1], dtype=int32)
        """,
        {
            "a, b": "Integers.",
            "a_spatial_dim, b_spatial_dim": "The dims of their sequences.",
            "dtype": "The dtype of the result.",
        },
        "The distances, over the remaining dims.",
    ),
    Face(
        "normalize",
        "a: Data[Any], *, axis: Dim | Sequence[Dim], epsilon: float = 1e-6",
        "Normalize over some dims: subtract the mean, divide by the standard deviation.",
        "as_tensor(_dims.layer_norm(a, axis, eps=epsilon))",
        """
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([1.0, 3.0, 5.0]), [vl.dims.batch_dim, time])
        >>> rf.normalize(x, axis=time).values.round(3)
        array([-1.,  1.,  0.])
        """,
        {"axis": "The dims of mean and variance.", "epsilon": "A small number, added to the variance."},
    ),
    _random(
        "uniform",
        "Draw uniform random numbers.",
        "minval=None, maxval=None",
        """
        >>> rf.random_uniform([vl.Dim("two", 2)], dtype="int32", minval=3, maxval=4).values
        array([3, 3], dtype=int32)
        """,
    ),
    _random(
        "normal",
        "Draw normal random numbers.",
        "mean=0.0, stddev=1.0",
        """
        >>> rf.random_normal([vl.Dim("two", 2)], seed=0).values.round(3)
        array([ 0.126, -0.132], dtype=float32)
        """,
    ),
    _random(
        "truncated_normal",
        "Draw normal random numbers, none beyond two standard deviations.",
        "mean=0.0, stddev=1.0, minval=None, maxval=None",
        """
        >>> bool((np.abs(rf.random_truncated_normal([vl.Dim("many", 99)]).values) <= 2).all())
        True
        """,
    ),
    _max_pool(
        "pool",
        "int | Sequence[int]",
        "dims",
        "Dim | Sequence[Dim]",
        "some dims",
        "[time]",
        ("The results, and the dims of the windows.", "tuple[Tensor, list[Dim]]"),
    ),
    _max_pool(
        "pool1d",
        "int",
        "dim",
        "Dim",
        "a dim",
        "time",
        ("The results, and the dim of the windows.", "tuple[Tensor, Dim]"),
    ),
)
