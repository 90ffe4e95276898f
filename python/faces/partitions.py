"""TensorFlow's names of levels: constructors of a RaggedTensor, and views of its levels."""

from __future__ import annotations

from frontend import Face

IGNORED = (
    "Accepted for compatibility with TensorFlow: names have no effect, and partitions are always checked."
)
ROWS = (
    "Rows laid end to end, (total, ...), or a Ragged, whose sequences become the items of a new outermost "
    "level."
)
VALUES = "ArrayT | RaggedBase[ArrayT] | Sequence[Any]"
TAKEN = "name: str | None = None, validate: bool = True"


def _constructor(
    what: str,
    summary: str,
    level: str,
    text: str,
    error_text: str,
    also: str,
    example: str,
    values: str = "As in `from_row_splits`.",
    texts: dict[str, str] | None = None,
) -> Face:
    """`level` makes the level; `texts` has the text of each argument behind, with its type: "nrows: int"."""
    options = texts or {}
    arguments = ", ".join(
        [f"values: {VALUES}, {what}: ArrayLike", *(f"{argument} = None" for argument in options), TAKEN]
    )
    return Face(
        f"from_{what}",
        arguments,
        summary,
        f'cls._make(*nest_rows(values, ({level},), "{what}"))',
        f">>> vl.tf.RaggedTensor.from_{what}{example}",
        {
            "values": values,
            what: text,
            **{argument.partition(":")[0]: note for argument, note in options.items()},
            "name, validate": IGNORED,
        },
        "One level, or one more than the Ragged has. The values are shared.",
        "Self",
        notes=f"Like `tf.RaggedTensor.from_{what}`{also}.",
        raises={"ValueError": error_text},
    )


def _nested(what: str, summary: str, level: str, text: str, raises: dict[str, str], example: str) -> Face:
    name = f"nested_{what}"
    levels = f'nested_levels({name}, {level}, "{name}")'
    return Face(
        f"from_{name}",
        f"flat_values: {VALUES}, {name}: Any, {TAKEN}",
        f"Make one from {summary} per level, outermost first.",
        f'cls._make(*nest_rows(flat_values, {levels}, "{name}", "flat_values"))',
        f">>> vl.tf.RaggedTensor.from_{name}{example}",
        {"flat_values": "Rows laid end to end, (total, ...).", name: text, "name, validate": IGNORED},
        "One level for each entry. The values are shared.",
        "Self",
        raises=raises,
    )


def _view(name: str, summary: str, call: str, type: str, returns: str, tensor: str, gives: str) -> Face:
    """`tensor` is the tensor of the example."""
    parameter = "out_type: Any = None, " if name == "nrows" else ""
    return Face(
        name,
        f"{parameter}name: str | None = None",
        summary,
        call,
        f">>> vl.tf.RaggedTensor{tensor}.{name}()\n{gives}",
        {"out_type, name" if parameter else "name": "Ignored."},
        returns,
        type,
    )


FLAT, DEEP = "([3, 1, 4], [2, 1])", ".from_list([[[1, 2], [3]], []])"
CONSTRUCTORS = (
    _constructor(
        "row_splits",
        "Make one from offsets: row i goes from row_splits[i] to row_splits[i + 1].",
        'level_from(row_splits, Level.from_offsets, "row_splits")',
        "(n + 1,) integers, which start at 0, never decrease, and end at the number of items.",
        "The splits break one of these rules; the error names the row and the number.",
        "; `varlen.Ragged.from_offsets` under TensorFlow's name",
        "([7, 8, 9], [0, 2, 3]).to_list()\n[[7, 8], [9]]",
        ROWS,
    ),
    _constructor(
        "row_lengths",
        "Make one from the length of each row.",
        'level_from(row_lengths, Level.from_lengths, "row_lengths")',
        "(n,) integers of 0 or more, which add up to the number of items.",
        "A length is negative, or the lengths do not add up to the items.",
        "",
        "([7, 8, 9], [2, 1]).to_list()\n[[7, 8], [9]]",
    ),
    _constructor(
        "row_limits",
        "Make one from the end of each row; a row starts where the previous one ends.",
        'level_from(row_limits, Level.from_bounds, "row_limits")',
        "(n,) integers, none below the one before it; the last is the number of items.",
        "The limits decrease, are negative, or do not end at the number of items.",
        "; `varlen.Level.from_bounds` makes a level from them",
        "([7, 8, 9], [2, 3]).to_list()\n[[7, 8], [9]]",
    ),
    _constructor(
        "value_rowids",
        "Make one from the row number of each item.",
        'level_of_ids(value_rowids, nrows, "value_rowids", "nrows")',
        "(items,) integers of 0 or more, none below the one before it.",
        "Ids decrease, are below 0 or are not below nrows, or their number is not that of the items.",
        "; `varlen.Ragged.from_row_ids` under TensorFlow's name",
        "([7, 8, 9], [0, 0, 2], nrows=4).to_list()\n[[7, 8], [], [9], []]",
        texts={"nrows: int | None": "How many rows there are; by default the last id + 1."},
    ),
    _nested(
        "row_lengths",
        "lengths",
        "Level.from_lengths",
        "A list of (n,) integers, one for each level; each adds up to the number of rows of the next level.",
        {"TypeError, ValueError": "As in `from_nested_row_splits`."},
        "([7, 8, 9], [[1, 1], [2, 1]]).to_list()\n[[[7, 8]], [[9]]]",
    ),
)
VIEWS = (
    _view(
        "nrows",
        "The number of rows, like `len`.",
        "len(self._levels[0])",
        "int",
        "The number of sequences of the outermost level.",
        FLAT,
        "2",
    ),
    _view(
        "row_starts",
        "The start of each row.",
        "self._levels[0].offsets[:-1]",
        "Ints",
        "int64 (n,), read-only.",
        FLAT,
        "array([0, 2])",
    ),
    _view(
        "row_limits",
        "The end of each row.",
        "self._levels[0].bounds",
        "Ints",
        "int64 (n,), read-only.",
        FLAT,
        "array([2, 3])",
    ),
    _view(
        "value_rowids",
        "The row number of each item: `varlen.Level.row_ids` of the outermost level.",
        "self._levels[0].row_ids",
        "Ints",
        "int64, an entry for each item; read-only, cached.",
        FLAT,
        "array([0, 0, 1])",
    ),
    _view(
        "nested_row_lengths",
        "Lengths of each level, outermost first.",
        "tuple(level.lengths for level in self._levels)",
        "tuple[Ints, ...]",
        "int64 (n,) for each level of n rows; read-only, cached.",
        DEEP,
        "(array([2, 0]), array([2, 1]))",
    ),
    _view(
        "nested_value_rowids",
        "The row number of each item, per level, outermost first.",
        "tuple(level.row_ids for level in self._levels)",
        "tuple[Ints, ...]",
        "int64, one for each level; read-only, cached.",
        DEEP,
        "(array([0, 0]), array([0, 0, 1]))",
    ),
)
