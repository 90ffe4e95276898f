"""Layers of `varlen.transforms`: reductions, conversions of containers, and layers around other layers."""

from __future__ import annotations

from frontend import Face

ROWS = "(n, ...) for a Ragged, a Padded or a list of n sequences."
REFUSES = "The result for a sequence without rows{}; None{} raises an error for it."
KINDS = "Y and the gradient are of the kinds that `reduce_sum` gives"
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
        notes=f"As Thinc's `reduce_{name}`, but trailing axes stay.",
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
        "Y is an array, or for a nested Ragged, whose innermost sequences are taken, a Ragged of the levels "
        "above. The gradient is of the kind of X.",
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
        f"{KINDS}, and of the dtype of X.",
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
        "Y is (total, ...). The gradient is cut as X was, and of its kind.",
        "As Thinc's `list2array`, which says that it takes a Ragged, but does not.",
        f"""
        >>> Y, backprop = vl.transforms.list2array()({LISTS}, True)
        >>> Y, backprop(Y)
        (array([1., 2., 3.]), [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "list2ragged",
        "Convert a list of arrays (length, ...) to a Ragged. A Ragged passes through.",
        "Y is a Ragged of one level. The gradient is a list of arrays of the shapes that came.",
        "As Thinc's `list2ragged`, whose gradients lose trailing axes, and which refuses a Ragged.",
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
        "As Thinc's `ragged2list`.",
        """
        >>> Y, backprop = vl.transforms.ragged2list()(vl.Ragged([1.0, 2.0], [0, 2]), True)
        >>> Y, backprop(Y).lengths.tolist()
        ([array([], dtype=float64), array([1., 2.])], [0, 2])
        """,
    ),
    _convert(
        "list2padded",
        "Convert a list of arrays (length, ...) to a Padded. A Padded passes through.",
        "Y is a Padded. The gradient is a list of arrays of the shapes that came.",
        "As Thinc's `list2padded`, which takes arrays of two axes only.",
        f"""
        >>> p, backprop = vl.transforms.list2padded()({LISTS}, True)
        >>> p.data.tolist(), backprop(p)
        ([[2.0, 1.0], [3.0, 0.0]], [array([1.]), array([2., 3.])])
        """,
    ),
    _convert(
        "padded2list",
        "Convert a Padded to a list of arrays (length, ...), in their original order.",
        "Y is a list. The gradient is a Padded with the order of columns that X has.",
        "As Thinc's `padded2list`; the gradient has the columns that X has.",
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

    Of a Ragged it sees the values, of a Padded the data, padding included, (L, B, ...), of a list or tuple of
    arrays these end to end; an array is seen as it is. It gives as many rows. `varlen.Ragged` and `Padded` go
    out with the very levels that came.""",
        'wrap("with_array({})", partial(as_array, pad=as_int(pad, "pad")), layer)',
        {
            "TypeError": "X is no container of rows, or the layer gives no array.",
            "ValueError": "The layer returns another number of rows, or a gradient does not fit the result.",
        },
        (
            "As Thinc's `with_array`; the gradient's structure, shapes and dtype are compared with "
            "those of the result."
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
                "For lists alone: the number of zero rows before each array that has rows, and after the "
                "last, so that windows of neighbours do not reach into another sequence."
            )
        },
    ),
    _wrapper(
        "with_array2d",
        """As `with_array`, but the layer sees a table with trailing axes merged; (T, 1) for (T,).

    The steps and columns of a Padded are one axis of rows. A result as wide as what was seen gets its
    trailing axes back; one of another width stays a table.""",
        'wrap("with_array2d({})", partial(as_array2d, pad=as_int(pad, "pad")), layer)',
        {"TypeError, ValueError": "As in `with_array`, when it is called."},
        "As Thinc's `with_array2d`, of which a Ragged comes out without its trailing axes.",
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

    A Ragged, a list or a tuple of arrays is padded and comes out as what it was; of a nested Ragged the
    innermost sequences are. An array (steps, columns, ...) is seen as columns that are all as long. A
    recurrent module of torch sees a PackedSequence, so that it reads no padding in either direction.""",
        'wrap("with_padded({})", as_padded, layer)',
        {
            "TypeError": "X is none of these, or the layer gives no Padded.",
            "ValueError": "The gradient does not fit the result.",
        },
        (
            "As Thinc's `with_padded`, which flattens trailing axes. A tuple of a block and three "
            "arrays of integers of one axis is the fields of a Padded, and comes out as such; any "
            "other tuple is sequences, as a list is."
        ),
        """
        >>> def steps(padded):
        ...     data = padded.data.cumsum(axis=0)
        ...     return vl.Padded(data, padded.size_at_t, padded.lengths, padded.indices)
        >>> vl.transforms.with_padded(steps).predict(vl.Ragged([1, 2, 3, 4], [3, 1])).to_list()
        [[1, 3, 6], [4]]
        """,
        layer="; it gives a Padded, a recurrent module of torch a PackedSequence.",
    ),
    _wrapper(
        "with_ragged",
        "The layer sees a Ragged. A Padded, list or tuple of arrays comes out in its own type.",
        'wrap("with_ragged({})", as_ragged, layer)',
        {
            "TypeError": (
                "X is none of these, or the layer gives no Ragged. An array does not say where sequences end."
            ),
            "ValueError": "The gradient does not fit the result.",
        },
        (
            "As Thinc's `with_ragged`. A tuple of two is values and lengths, and comes out as such, "
            "where the second is integers of one axis (or a `Level`) and the first is not; any other "
            "tuple is sequences, as a list is."
        ),
        """
        >>> vl.transforms.with_ragged(lambda r: r * 10).predict([np.array([1, 2]), np.array([3])])
        [array([10, 20]), array([30])]
        """,
        layer="; it gives a Ragged.",
    ),
    _wrapper(
        "with_list",
        """The layer sees a list with an array per sequence. A Ragged or Padded comes out in its own type.

    Of a nested Ragged it sees the innermost sequences.""",
        'wrap("with_list({})", as_list, layer)',
        {
            "TypeError": (
                "X is none of these, or the layer gives no list. An array does not say where sequences end."
            ),
            "ValueError": "The gradient does not fit the result.",
        },
        "As Thinc's `with_list`, which flattens trailing axes.",
        """
        >>> layer = vl.transforms.with_list(lambda seqs: [seq[::-1] for seq in seqs])
        >>> layer.predict(vl.Ragged([1, 2, 3], [2, 1])).to_list()
        [[2, 1], [3]]
        """,
        layer="; it gives a list of as many arrays.",
    ),
    _wrapper(
        "with_flatten",
        """The layer sees all items of nested lists as one list; its result is nested as before.

    Lists may nest to any depth that is the same everywhere. Everything that is not a list is an item, a tuple
    too.""",
        'layer_around("with_flatten({})", nested.run_flatten, nested.items_of, layer)',
        {
            "TypeError": "X is not a list, or the layer gives neither a list nor an array.",
            "ValueError": (
                "Items stand beside lists, the numbers of results and items differ, or a gradient nests "
                "differently."
            ),
        },
        (
            "As Thinc's `with_flatten.v2`, which knows one level. `with_flatten.v1` cuts gradients at "
            "the wrong axis."
        ),
        """
        >>> layer = vl.transforms.with_flatten(lambda items: [2 * item for item in items])
        >>> layer.predict([[1, 2], [], [3]]), layer.predict([[[1], [2, 3]], []])
        ([[2, 4], [], [6]], [[[2], [4, 6]], []])
        """,
        layer=(
            "; it gives a list with a result for each item, or an array with a row for each, which is "
            "cut into the innermost lists."
        ),
    ),
    _wrapper(
        "with_getitem",
        ("The layer sees item `idx` of a tuple, and its result replaces the item. Gradients do the same."),
        "nested.item_layer(idx, layer)",
        {"TypeError": "X is not a tuple or list.", "IndexError": "It has no such item."},
        "As Thinc's `with_getitem`, which doubles items where idx is negative.",
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
            "TypeError": "X is not an array, or the layer gives none.",
            "ValueError": (
                "Fewer than two axes; the layer gives another number of rows; a gradient that does not fit."
            ),
        },
        (
            "As Thinc's `with_reshape`, whose gradients fit no layer that changes the width, nor one "
            "of tables."
        ),
        """
        >>> layer = vl.transforms.with_reshape(lambda table: table @ np.ones((3, 5)))
        >>> layer.predict(np.ones((4, 2, 3))).shape
        (4, 2, 5)
        """,
        layer="; it gives as many rows, which may be of another width.",
    ),
    _wrapper(
        "map_list",
        ("The layer sees each item of a list by itself; the results are a list. Tuples give tuples."),
        'layer_around("map_list({})", nested.run_each, nested.first_item, layer)',
        {
            "TypeError": "X or a gradient is not a list or tuple.",
            "ValueError": "A gradient has another number of items than the result.",
        },
        "As Thinc's `map_list`.",
        """
        >>> vl.transforms.map_list(np.sum).predict([np.array([1, 2]), np.array([3])])
        [np.int64(3), np.int64(3)]
        """,
    ),
    _wrapper(
        "concatenate",
        """Give X to all layers and concatenate their results along the last axis.

    Their results are of one kind, with sequences of the same lengths: arrays, Ragged, Padded, lists or
    tuples. Rows of one number count as (T, 1). The gradients that they give for X are added.""",
        'join_layers("|", run_concatenate, layers)',
        {
            "TypeError": "No layer, or something that cannot be called.",
            "ValueError": "When it is called: results that differ in more than their last axis.",
        },
        (
            "As Thinc's `concatenate`, which knows no Padded, adds no gradients of a Ragged, and of "
            "lists puts the gradients one after another."
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

    The gradients that they give for X are added too.""",
        'join_layers("+", run_add, layers)',
        {
            "TypeError": "No layer, or something that cannot be called.",
            "ValueError": "When it is called: results of different kinds, structures or shapes.",
        },
        "As Thinc's `add`, which knows arrays only.",
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
            "ValueError": "When it is called: the layer gives another kind, structure or shape than X has.",
        },
        "As Thinc's `residual`, which loses the trailing axes of a Ragged.",
        """
        >>> vl.transforms.residual(np.square).predict(np.array([1, 2, 3]))
        array([ 2,  6, 12])
        """,
        layer="; it gives what has the kind, structure and shape of its X.",
    ),
)
LAYERS = (*REDUCTIONS, *WRAPPERS)
