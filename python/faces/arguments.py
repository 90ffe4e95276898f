"""Arguments that several verbs take."""

from verb import Argument

AXES = Argument(
    "axis",
    "Axes",
    "None",
    (
        "Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the "
        "sequences, position by position; the result is as long as the longest sequence."
    ),
)
AXIS_OF_PLACES = Argument(
    "axis",
    "Axes",
    "None",
    (
        "Instead of `level`: the axis along which places are counted, numbered as in NumPy: that of the "
        "innermost sequences, or one of their rows."
    ),
)
AXIS = Argument(
    "axis",
    "int | None",
    "None",
    (
        "Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the "
        "sequences, position by position."
    ),
)
LEVEL = Argument(
    "level",
    "int",
    "-1",
    (
        "The level whose sequences become one row each; levels below it are merged, levels above it are "
        "kept. -1 is the innermost."
    ),
)
LEVEL_IN_PLACE = Argument(
    "level",
    "int",
    "-1",
    "The level whose sequences each start anew; -1 is the innermost. All levels are kept.",
)
EMPTY = Argument("empty", "Any", "None", "The result for a sequence without rows; None raises an error.")
OUT = Argument(
    ("out"), "Any", "None", "(n, ...) of the result's dtype, C-contiguous: filled and returned.", "None"
)
OUT_IN_PLACE = Argument(
    "out",
    "Any",
    "None",
    ("(total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned."),
    "None",
)
DTYPE = Argument(
    "dtype",
    "Any",
    "None",
    "The dtype of accumulator and result, as in NumPy: values are converted to it first.",
)
OVERFLOW = Argument(
    "overflow",
    "str",
    '"wrap"',
    (
        'Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises '
        "an error. The check is exact; it takes a second pass only if the values could overflow."
    ),
)
DDOF = Argument(
    "ddof",
    "float",
    "0",
    "Delta degrees of freedom, as in NumPy: the divisor is the number of rows minus `ddof`.",
)
WHICH = Argument(
    "which",
    "bool",
    "False",
    (
        "Also return the position of the number in its sequence, the first of equal ones. Not along "
        "other axes, and not with `out`."
    ),
    "False",
)
WHICH_IN_PLACE = Argument("which", "bool", "False", "Also return its position in the sequence.", "False")
EXCLUSIVE = Argument("exclusive", "bool", "False", "Leave out the row itself.")
REVERSE = Argument("reverse", "bool", "False", "Run from the last row of each sequence to the first.")
TEMPERATURE = Argument(
    "temperature",
    "float",
    "1.0",
    "The divisor of X, 1e-30 to 1e30: above 1 evens the shares out, below 1 sharpens them.",
)
INPLACE = Argument(
    "inplace",
    "bool",
    "False",
    "Write the result into X, C-contiguous floats, and return X.",
    "False",
)
