"""Layers of `varlen.transforms`: reductions, conversions of containers, and layers around other layers."""

from __future__ import annotations

from frontend import Face

ROWS = "(n, ...) for a Ragged, a Padded or a list of n sequences."
REFUSES = "The result for a sequence without rows{}; None{} raises an error for it."
KINDS = "Y and the gradient have the types that `reduce_sum` gives"
LISTS = "[np.array([1.0]), np.array([2.0, 3.0])]"


def _reduce(
    name: str, summary: str, returns: str, gives: str, gradient: str, default: str = "None", empty: str = ""
) -> Face:
    return Face(
        f"reduce_{name}",
        f"*, empty: Any = {default}",
        summary,
        f'Layer("reduce_{name}", partial(reduce_rows, "{name}", empty))',
        f"""
        >>> Y, backprop = vl.transforms.reduce_{name}()(vl.Ragged([1.0, 2.0, 3.0], [2, 1]), True)
        >>> Y, backprop(Y).to_list()
        (array({gives}), {gradient})
        """,
        {"empty": REFUSES.format(empty, ", the default," if default == "None" else "")},
        returns,
        "Layer",
        notes=f"Like Thinc's `reduce_{name}`, but trailing axes stay.",
    )


def _convert(name: str, summary: str, returns: str, notes: str, example: str) -> Face:
    return Face(
        name,
        "",
        summary,
        f'Layer("{name}", partial(convert, "{name}"))',
        example,
        returns=returns,
        type="Layer",
        notes=notes,
    )


def _wrapper(
    name: str,
    summary: str,
    call: str,
    raises: dict[str, str],
    notes: str,
    example: str,
    *,
    layer: str = ".",
    arguments: str = "layer: Any",
    texts: dict[str, str] | None = None,
    returns: str = "The layer; a Thinc Model if `layer` is one.",
) -> Face:
    """A layer around another; `layer` is what is said of that behind its kind."""
    text = f"Anything that `as_layer` takes{layer}"
    return Face(
        name,
        arguments,
        summary,
        call,
        example,
        {"layer": text, "*layers": f"At least one; {text[0].lower()}{text[1:]}", **(texts or {})},
        returns,
        "Layer | Any",
        kind="Layer",
        notes=notes,
        raises=raises,
    )


REDUCTIONS = (
    _reduce(
        "sum",
        f"The sum of each sequence's rows: {ROWS}",
        "Y is an array. A nested Ragged is reduced over its innermost sequences and gives a Ragged of the "
        "levels above. The gradient has the type of X.",
        "[3., 3.]",
        "[[3.0, 3.0], [3.0]]",
        "0",
    ),
    _reduce(
        "mean",
        f"The mean of each sequence's rows: {ROWS}",
        f"{KINDS}. Floats keep their dtype; integers give float64.",
        "[1.5, 3. ]",
        "[[0.75, 0.75], [3.0]]",
        "0",
    ),
    _reduce(
        "max",
        "The largest number of each sequence, column by column: (n, ...) for n sequences.\n\n"
        "    The gradient goes to the first row that holds it.",
        f"{KINDS}, and the dtype of X.",
        "[2., 3.]",
        "[[0.0, 2.0], [3.0]]",
    ),
    _reduce(
        "first",
        f"The first row of each sequence: {ROWS}",
        f"{KINDS}. Rows may be of any dtype.",
        "[1., 3.]",
        "[[1.0, 0.0], [3.0]]",
        empty=", a number or a row",
    ),
    _reduce(
        "last",
        f"The last row of each sequence: {ROWS}",
        f"{KINDS}. Rows may be of any dtype.",
        "[2., 3.]",
        "[[0.0, 2.0], [3.0]]",
        empty=", a number or a row",
    ),
    _convert(
        "list2array",
        "Lay the arrays of a list end to end as one array; for a Ragged return its values.",
        "Y is (total, ...). The gradient is split like X, and has its type.",
        "Like Thinc's `list2array`, which is documented to take a Ragged, but does not.",
        f"""
        >>> Y, backprop = vl.transforms.list2array()({LISTS}, True)
        >>> Y, backprop(Y)
        (array([1., 2., 3.]), [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "list2ragged",
        "Convert a list of arrays (length, ...) to a Ragged. A Ragged passes through.",
        "Y is a Ragged of one level. The gradient is a list of arrays of the original shapes.",
        "Like Thinc's `list2ragged`, whose gradients lose trailing axes, and which refuses a Ragged.",
        f"""
        >>> r, backprop = vl.transforms.list2ragged()({LISTS}, True)
        >>> r.lengths.tolist(), backprop(r)
        ([1, 2], [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "ragged2list",
        "Convert a Ragged of one level to a list of views, (length, ...) each.",
        "Y is a list. The gradient is a Ragged.",
        "Like Thinc's `ragged2list`.",
        """
        >>> Y, backprop = vl.transforms.ragged2list()(vl.Ragged([1.0, 2.0], [0, 2]), True)
        >>> Y, backprop(Y).lengths.tolist()
        ([array([], dtype=float64), array([1., 2.])], [0, 2])
        """,
    ),
    _convert(
        "list2padded",
        "Convert a list of arrays (length, ...) to a Padded. A Padded passes through.",
        "Y is a Padded. The gradient is a list of arrays of the original shapes.",
        "Like Thinc's `list2padded`, which takes arrays of two axes only.",
        f"""
        >>> p, backprop = vl.transforms.list2padded()({LISTS}, True)
        >>> p.data.tolist(), backprop(p)
        ([[2.0, 1.0], [3.0, 0.0]], [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "padded2list",
        "Convert a Padded to a list of arrays (length, ...), in their original order.",
        "Y is a list. The gradient is a Padded with the columns in the order of X.",
        "Like Thinc's `padded2list`; the gradient has the columns of X.",
        """
        >>> vl.transforms.padded2list().predict(vl.Padded.from_list([[1], [2, 3]]))
        [array([1]), array([2, 3])]
        """,
    ),
)


WRAPPERS = (
    _wrapper(
        "with_array",
        """The layer sees one array: all rows of all sequences, without their bounds.

    It sees the values of a Ragged, the data of a Padded, (L, B, ...) with padding, the arrays of a list or
    tuple end to end, or an array as it is. It returns as many rows. A `varlen.Ragged` or `Padded` keeps its
    levels.""",
        'wrap("with_array({})", partial(as_array, pad=as_int(pad, "pad")), layer)',
        {
            "TypeError": "X is no container of rows, or the layer returns no array.",
            "ValueError": "The layer returns another number of rows, or a gradient does not fit the result.",
        },
        (
            "Like Thinc's `with_array`, but the gradient must have the structure, shapes and dtype of the "
            "result."
        ),
        """
        >>> layer = vl.transforms.with_array(np.negative)
        >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
        [[-1, -2], [-3]]
        >>> layer.predict([np.array([1, 2]), np.array([3])])
        [array([-1, -2]), array([-3])]
        """,
        arguments="layer: Any, pad: int=0",
        texts={
            "pad": (
                "For lists only: the number of zero rows before each array that has rows, and after the "
                "last, so that windows of neighbours do not reach into another sequence."
            )
        },
    ),
    _wrapper(
        "with_array2d",
        """Like `with_array`, but the layer sees a table with trailing axes merged; (T, 1) for (T,).

    The steps and columns of a Padded become one axis of rows. A result as wide as the table gets the trailing
    axes back; one of another width stays a table.""",
        'wrap("with_array2d({})", partial(as_array2d, pad=as_int(pad, "pad")), layer)',
        {"TypeError, ValueError": "As in `with_array`, when it is called."},
        "Like Thinc's `with_array2d`, which drops the trailing axes of a Ragged.",
        """
        >>> layer = vl.transforms.with_array2d(lambda table: table * [1, 10, 100, 1000])
        >>> layer.predict(vl.Ragged(np.ones((1, 2, 2), int), [1])).to_list()
        [[[[1, 10], [100, 1000]]]]
        """,
        arguments="layer: Any, pad: int=0",
        texts={"pad": "As in `with_array`."},
    ),
    _wrapper(
        "with_padded",
        """The layer sees a Padded: sequences side by side, time-major, the longest first.

    A Ragged, list or tuple of arrays is padded, and comes out in its own type. A nested Ragged is padded by
    its innermost sequences. An array (steps, columns, ...) holds columns of equal length. A recurrent module
    of torch sees a PackedSequence, and reads no padding in either direction.""",
        'wrap("with_padded({})", as_padded, layer)',
        {
            "TypeError": "X is none of these, or the layer returns no Padded.",
            "ValueError": "The gradient does not fit the result.",
        },
        (
            "Like Thinc's `with_padded`, which flattens trailing axes. A tuple of a block and three "
            "arrays of integers of one axis holds the fields of a Padded, and comes out as such. Any "
            "other tuple holds sequences, like a list."
        ),
        """
        >>> def steps(padded):
        ...     data = padded.data.cumsum(axis=0)
        ...     return vl.Padded(data, padded.size_at_t, padded.lengths, padded.indices)
        >>> vl.transforms.with_padded(steps).predict(vl.Ragged([1, 2, 3, 4], [3, 1])).to_list()
        [[1, 3, 6], [4]]
        """,
        layer="; it returns a Padded, or a PackedSequence if it is a recurrent module of torch.",
    ),
    _wrapper(
        "with_ragged",
        "The layer sees a Ragged. A Padded, list or tuple of arrays comes out in its own type.",
        'wrap("with_ragged({})", as_ragged, layer)',
        {
            "TypeError": (
                "X is none of these, or the layer returns no Ragged. An array has no bounds of sequences."
            ),
            "ValueError": "The gradient does not fit the result.",
        },
        (
            "Like Thinc's `with_ragged`. A tuple of two holds values and lengths, and comes out as such, "
            "if the second is integers of one axis (or a `Level`) and the first is not. Any other "
            "tuple holds sequences, like a list."
        ),
        """
        >>> vl.transforms.with_ragged(lambda r: r * 10).predict([np.array([1, 2]), np.array([3])])
        [array([10, 20]), array([30])]
        """,
        layer="; it returns a Ragged.",
    ),
    _wrapper(
        "with_list",
        """The layer sees a list with an array per sequence. A Ragged or Padded comes out in its own type.

    It sees the innermost sequences of a nested Ragged.""",
        'wrap("with_list({})", as_list, layer)',
        {
            "TypeError": (
                "X is none of these, or the layer returns no list. An array has no bounds of sequences."
            ),
            "ValueError": "The gradient does not fit the result.",
        },
        "Like Thinc's `with_list`, which flattens trailing axes.",
        """
        >>> layer = vl.transforms.with_list(lambda seqs: [seq[::-1] for seq in seqs])
        >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
        [[2, 1], [3]]
        """,
        layer="; it returns a list of as many arrays.",
    ),
    _wrapper(
        "with_flatten",
        """The layer sees all items of nested lists as one list; its result is nested as before.

    Lists may nest to any depth that is the same everywhere. Everything that is not a list is an item, even a
    tuple.""",
        'layer_around("with_flatten({})", nested.run_flatten, nested.items_of, layer)',
        {
            "TypeError": "X is not a list, or the layer returns neither a list nor an array.",
            "ValueError": (
                "Items and lists are mixed, the numbers of results and items differ, or a gradient nests "
                "differently."
            ),
        },
        (
            "Like Thinc's `with_flatten.v2`, which takes only one level. `with_flatten.v1` cuts gradients at "
            "the wrong axis."
        ),
        """
        >>> layer = vl.transforms.with_flatten(lambda items: [2 * item for item in items])
        >>> layer.predict([[1, 2], [], [3]]), layer.predict([[[1], [2, 3]], []])
        ([[2, 4], [], [6]], [[[2], [4, 6]], []])
        """,
        layer=(
            "; it returns a list with a result for each item, or an array with a row for each, which "
            "is split into the innermost lists."
        ),
    ),
    _wrapper(
        "with_getitem",
        ("The layer sees item `idx` of a tuple, and its result replaces the item. Gradients do the same."),
        "nested.item_layer(idx, layer)",
        {"TypeError": "X is not a tuple or list.", "IndexError": "It has no such item."},
        "Like Thinc's `with_getitem`, which doubles items if idx is negative.",
        """
        >>> vl.transforms.with_getitem(-1, np.negative).predict((np.array([1]), np.array([2])))
        (array([1]), array([-2]))
        """,
        arguments="idx: int, layer: Any",
        texts={"idx": "The position of the item; a negative one counts from the end."},
    ),
    _wrapper(
        "with_reshape",
        "The layer sees an array (..., width) as a table: all axes but the last are merged.",
        'layer_around("with_reshape({})", nested.run_reshape, nested.as_table, layer)',
        {
            "TypeError": "X is not an array, or the layer returns none.",
            "ValueError": (
                "X has fewer than two axes, the layer returns another number of rows, or a gradient "
                "does not fit."
            ),
        },
        (
            "Like Thinc's `with_reshape`, whose gradients fail for layers that change the width, and for "
            "tables."
        ),
        """
        >>> layer = vl.transforms.with_reshape(lambda table: table @ np.ones((3, 5)))
        >>> layer.predict(np.ones((4, 2, 3))).shape
        (4, 2, 5)
        """,
        layer="; it returns as many rows, which may have another width.",
    ),
    _wrapper(
        "map_list",
        ("The layer sees each item of a list by itself; the results are a list. Tuples give tuples."),
        'layer_around("map_list({})", nested.run_each, nested.first_item, layer)',
        {
            "TypeError": "X or a gradient is not a list or tuple.",
            "ValueError": "A gradient has another number of items than the result.",
        },
        "Like Thinc's `map_list`.",
        """
        >>> vl.transforms.map_list(np.sum).predict([np.array([1, 2]), np.array([3])])
        [np.int64(3), np.int64(3)]
        """,
    ),
    _wrapper(
        "concatenate",
        """Give X to all layers and concatenate their results along the last axis.

    The results have one type, with sequences of the same lengths: arrays, Ragged, Padded, lists or tuples.
    Rows of one number count as (T, 1). The gradients for X are added.""",
        'join_layers("|", run_concatenate, layers)',
        {
            "TypeError": "There is no layer, or one that cannot be called.",
            "ValueError": "When it is called: results that differ in more than their last axis.",
        },
        (
            "Like Thinc's `concatenate`, which takes no Padded, does not add gradients of a Ragged, and "
            "puts gradients of lists one after another."
        ),
        """
        >>> layer = vl.transforms.concatenate(vl.transforms.reduce_sum(), vl.transforms.reduce_max())
        >>> layer.predict(vl.Ragged([[1], [2], [3]], [2, 1]))
        array([[3, 2],
               [3, 3]])
        """,
        arguments="*layers: Any",
        returns="The layer; a Thinc Model if one of `layers` is one.",
    ),
    _wrapper(
        "add",
        """Give X to all layers and add their results: arrays, Ragged, Padded, lists or tuples.

    The gradients for X are added too.""",
        'join_layers("+", run_add, layers)',
        {
            "TypeError": "There is no layer, or one that cannot be called.",
            "ValueError": "When it is called: results of different kinds, structures or shapes.",
        },
        "Like Thinc's `add`, which takes only arrays.",
        """
        >>> vl.transforms.add(np.negative, np.square).predict(np.array([1, 2, 3]))
        array([0, 2, 6])
        """,
        arguments="*layers: Any",
        returns="The layer; a Thinc Model if one of `layers` is one.",
    ),
    _wrapper(
        "residual",
        "Add X to the layer's result for it: arrays, Ragged, Padded, lists or tuples.",
        'layer_around("residual({})", run_residual, None, layer)',
        {
            "TypeError": "The layer cannot be called.",
            "ValueError": "When it is called: the layer returns another kind, structure or shape than X has.",
        },
        "Like Thinc's `residual`, which loses the trailing axes of a Ragged.",
        """
        >>> vl.transforms.residual(np.square).predict(np.array([1, 2, 3]))
        array([ 2,  6, 12])
        """,
        layer="; its result has the kind, structure and shape of X.",
    ),
)
LAYERS = (*REDUCTIONS, *WRAPPERS)
