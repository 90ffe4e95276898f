"""Methods of `varlen.Data` that a function of `varlen.dims` expresses: other forms, orders and dims."""

from __future__ import annotations

from frontend import Face

FIXTURE = '[vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])]'
#: What each class method takes beside its own, and what it refuses.
FACTS = "As in `from_list`."
LENGTHS = "Lengths differ from those of a dim; the message names the row."
SAME = "The same values."
#: What a type is to the manual, where a type checker knows nothing of what the call gives.
KINDS = {
    "ArrayT": "numpy.ndarray or torch.Tensor",
    "list[Any]": "list",
    "xarray.DataArray": "xarray.DataArray",
}


def _method(
    name: str,
    arguments: str,
    summary: str,
    call: str,
    example: str,
    texts: dict[str, str] | None = None,
    returns: str = SAME,
    raises: dict[str, str] | None = None,
    *,
    type: str = "Data[ArrayT]",
    x: str = f"vl.Data(np.arange(3), {FIXTURE})",
) -> Face:
    setup = f"    >>> x = {x}\n" if x else ""
    return Face(
        name,
        arguments,
        summary,
        call,
        f"{setup}    {example}",
        texts or {},
        returns,
        type,
        raises=raises or {},
        kind=KINDS.get(type, ""),
        is_any=type in KINDS or call.startswith(("cls(", "self.")),
    )


def _make(
    source: str,
    summary: str,
    example: str,
    texts: dict[str, str],
    returns: str,
    raises: dict[str, str] | None = None,
    *,
    values: str = "Any",
    type: str = "Data[Any]",
    dims: str = "",
    options: str = "",
    home: str = "make",
) -> Face:
    """A class method that makes Data of something else, as the function of its name does."""
    name, value = source.split()
    names = "".join(f", {option.partition(':')[0]}" for option in [options] if option)
    head = f"{value}: {values}, dims: Sequence[Dim]{dims}, {f'*, {options}, ' if options else ''}**facts: Any"
    texts = {"**facts": FACTS, **texts}
    call = f"{home}.from_{name}({value}, dims{names}, **facts)"
    return _method(f"from_{name}", head, summary, call, example, texts, returns, raises, type=type, x="")


CONSTRUCTORS = (
    _make(
        "list rows",
        "Make Data from nested lists, or lists of arrays, with one level for each dim.",
        """
    >>> time = vl.Dim("time")
    >>> x = vl.Data.from_list([[3, 1], [], [4]], [vl.dims.batch_dim, time])
    >>> x, x.axis(time).lengths
    (Data([batch(3), time(0 to 2)], int64), array([2, 0, 1]))""",
        {
            "rows": "Lists of numbers, arrays or tensors.",
            "dims": "A Dim for each level, the outermost first. Those without lengths get the lengths of the "
            "lists, which depend on the earlier dims without a fixed size; those with lengths are checked.",
            "**facts": "`name`, `dtype`, `sparse_dim`, `feature_dim`, `time_dim`, `beam`, "
            "`available_for_inference`, as `Data` takes them.",
        },
        "The values of the lists. Dims of fixed size come after those whose lengths differ.",
        {"ValueError": "The lists are nested deeper or less deep.", "LengthMismatchError": LENGTHS},
        type="Data[np.ndarray]",
    ),
    _make(
        "padded block",
        "Make Data from a rectangle with one axis per dim, in any order. Its padding is never read.",
        """
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> vl.Data.from_padded(np.array([[3, 4], [1, 9]]), [time, vl.dims.batch_dim]).to_list()
    Traceback (most recent call last):
    ValueError: a dim must come after the dims that its lengths depend on: [time(1 to 2), batch(2)]
    >>> vl.Data.from_padded(np.array([[3, 4], [1, 9]]), [time, vl.dims.batch_dim]).batch_major().to_list()
    [[3, 1], [4]]""",
        {
            "block": "An array or a tensor.",
            "dims": "A Dim for each axis, with lengths unless its size is fixed.",
            "side": 'The side of the padding: "right" or "left".',
        },
        "A copy of the valid values.",
        {
            "ValueError": "The block has another number of axes, or a dim has no lengths.",
            "LengthMismatchError": "An axis is shorter than its dim.",
        },
        options='side: str = "right"',
    ),
    _method(
        "from_packed",
        "values: ArrayT, dims: Sequence[Dim], **facts: Any",
        "Make Data from valid values that lie end to end, as `Data` itself does; nothing is copied.",
        "cls(values, dims, **facts)",
        ">>> vl.Data.from_packed(np.array([3, 1, 4]), x.dims).to_list()\n    [[3, 1], [4]]",
        {"values, dims, **facts": "As in `Data`."},
        "These values over dims.",
    ),
    _make(
        "ragged ragged",
        "Make Data from a Ragged: a dim for its sequences, one for each level and each axis of a row.",
        """
    >>> r = vl.Ragged([3, 1, 4], [2, 1])
    >>> x = vl.Data.from_ragged(r, [vl.dims.batch_dim, vl.Dim("time")])
    >>> x, x.values is r.values
    (Data([batch(2), time(1 to 2)], int64), True)""",
        {
            "ragged": "A `Ragged`, whose values and levels are shared.",
            "dims": "A Dim for each axis. Those without lengths get those of the levels.",
        },
        SAME,
        {"ValueError": "The number of dims differs from the axes.", "LengthMismatchError": LENGTHS},
        values="Ragged[ArrayT]",
        type="Data[ArrayT]",
    ),
    _make(
        "xarray array",
        "Make Data from an xarray DataArray. Its padding is never read.",
        """
    >>> try:
    ...     array = vl.Data(np.zeros(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])]).to_xarray()
    ... except ImportError:
    ...     pass
    ... else:
    ...     assert vl.Data.from_xarray(array).lengths("time").tolist() == [2, 1]""",
        {
            "array": "A `xarray.DataArray`.",
            "dims": "Dims for the axes of their names. Other axes get new dims, whose lengths come from a "
            'coordinate "NAME_lengths", else from the size; string labels become their vocabulary.',
        },
        "A copy of the valid values.",
        {
            "ValueError": "A dim names no axis.",
            "LengthMismatchError": "An axis is shorter than its dim.",
        },
        dims=" = ()",
        type="Data[np.ndarray]",
        home="named_arrays",
    ),
)
METHODS = (
    _method(
        "to_xarray",
        "fill: Any = None",
        'Convert to an xarray DataArray: a rectangle, with a coordinate "NAME_lengths" per ragged dim.',
        "named_arrays.to_xarray(self, fill)",
        """>>> try:
    ...     array = x.to_xarray()
    ... except ImportError:
    ...     pass
    ... else:
    ...     assert array.dims == ("batch", "time")""",
        {
            "fill": 'The value of the padding. By default NaN for floats, the class "[PAD]" of a vocabulary, '
            "else 0."
        },
        "A DataArray, whose axes have the names of the dims.",
        {"ImportError": "xarray is not installed.", "ValueError": "Two dims have the same name."},
        type="xarray.DataArray",
    ),
    _method(
        "to_list",
        "",
        "Convert to nested lists, one level for each dim.",
        "export.to_list(self)",
        ">>> x.to_list()\n    [[0, 1], [2]]",
        returns="The lists; for a Data without dims, the number.",
        type="list[Any]",
    ),
    _method(
        "to_padded",
        'order: Sequence[Axis] | None = None, *, fill: Any = None, side: str = "right", out: Any = None',
        "Convert to a rectangle with one axis for each dim.",
        "export.to_padded(self, order, fill, side, out)",
        """>>> x.to_padded()
    array([[0, 1],
           [2, 0]])
    >>> x.to_padded(["T", "B"], fill=-1).tolist()
    [[0, 2], [1, -1]]""",
        {
            "order": "All dims, in the order of the axes. By default the order of `dims`.",
            "fill": 'The fill value. By default the class "[PAD]" of a vocabulary, else 0.',
            "side": 'The side of the padding: "right" or "left".',
            "out": "A C-contiguous array of the result's shape and dtype, which is filled and returned.",
        },
        "The rectangle. A dim whose lengths differ becomes as long as the longest.",
        type="ArrayT",
    ),
    _method(
        "to_ragged",
        "",
        "Convert to a Ragged, whose levels are the dims after the first; nothing is copied.",
        "export.to_ragged(self)",
        ">>> x.to_ragged().to_list()\n    [[0, 1], [2]]",
        returns="A Ragged with a level for each dim after the first, up to the last whose lengths differ.",
        raises={
            "ValueError": "No dim after the first has different lengths, or a dim comes before one that its "
            "lengths depend on."
        },
        type="Ragged[ArrayT]",
    ),
    _method(
        "mask",
        'axis: Axis | Sequence[Axis] = "dynamic"',
        "Make a mask that is True where the rectangle of the dims has values.",
        "export.mask(self, axis)",
        '>>> x.mask("T").values\n    array([[ True,  True],\n           [ True, False]])',
        {"axis": "Dims or words for them."},
        "The mask, in padded storage.",
        type="Data[Any]",
    ),
    _method(
        "padded",
        'fill: Any = None, side: str = "right"',
        "Convert to padded storage: a rectangle whose padding no operation reads.",
        "export.padded(self, fill, side)",
        ">>> y = x.padded()\n    >>> y.values.tolist(), (y + 1).values\n    "
        "([[0, 1], [2, 0]], array([1, 2, 3]))",
        {
            "fill": 'The fill value. By default the class "[PAD]" of a vocabulary, else 0.',
            "side": 'The side of the padding: "right" or "left".',
        },
        "The same data in padded storage. Operations on it return packed storage.",
    ),
    _method(
        "transpose",
        "order: Sequence[Axis]",
        "Reorder the dims, for lists and rectangles. No values move.",
        "self._reorder_dims(every_place(self, order))",
        '>>> x.transpose(["dim:3", "dim:2"])\n    Data([three(3), two(2)], float64)',
        {"order": "All of its dims, or words for them."},
        raises={"ValueError": "A dim is missing, or appears twice."},
        x='vl.Data(np.zeros((2, 3)), [vl.Dim("two", 2), vl.Dim("three", 3)])',
    ),
    _method(
        "batch_major",
        "",
        "Move the batch dim to the front.",
        'self._reorder_dims(first(self, "B"))',
        ">>> x.batch_major()\n    Data([batch(3), two(2)], float64)",
        x='vl.Data(np.zeros((2, 3)), [vl.Dim("two", 2), vl.dims.batch_dim])',
    ),
    _method(
        "time_major",
        "",
        "Move the time dim to the front, then the batch.",
        'self._reorder_dims(first(self, "T", "B"))',
        ">>> x.time_major()\n    Data([time(1 to 2), batch(2)], int64)",
    ),
    _method(
        "compatible_to",
        "dims: Sequence[Dim], *, expand: bool = False",
        "Bring the dims into the given order; `expand` repeats values over missing dims.",
        "compatible_to(self, dims, expand)",
        """
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.array([1, 2, 3]), [three])
    >>> x.compatible_to([two, three]), x.compatible_to([two, three], expand=True)
    (Data([three(3)], int64), Data([two(2), three(3)], int64))""",
        {
            "dims": "All dims of this Data, and any others.",
            "expand": "If True, dims that it lacks are added; otherwise they are left out.",
        },
        "The values, with the dims in this order.",
        {"ValueError": "`dims` lacks a dim of this Data."},
        x="",
    ),
    _method(
        "replace_dim",
        "old: Axis, new: Dim",
        "Replace one dim by another.",
        "make.replace_dim(self, old, new)",
        '>>> x.replace_dim("T", vl.Dim("frames"))\n    Data([batch(2), frames(1 to 2)], int64)',
        {
            "old": "A dim of this Data, or words for it.",
            "new": "A dim of the same lengths, or one without lengths, which gets them.",
        },
        raises={"LengthMismatchError": "The lengths differ."},
    ),
)
