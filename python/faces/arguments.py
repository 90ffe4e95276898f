"""Arguments that several verbs take."""

from verb import Argument

AXES = Argument(
    "axis",
    "Axes",
    "None",
    (
        "In place of `level`: the axis or axes that are reduced, as NumPy counts those of the container: "
        "0 is across the sequences, place by place, and what is left is as long as the longest that come "
        "together."
    ),
)
AXIS = Argument(
    "axis",
    "int | None",
    "None",
    (
        "In place of `level`: the axis along which it runs, as NumPy counts those of the container: 0 is "
        "across the sequences, place by place."
    ),
)
LEVEL = Argument(
    "level",
    "int",
    "-1",
    (
        "The level whose sequences become one row each, together with all that nests below it; -1 is the "
        "innermost. The levels above it are kept."
    ),
)
LEVEL_IN_PLACE = Argument(
    "level",
    "int",
    "-1",
    "The level whose sequences start anew, with all that nests below them; -1 is the innermost.",
)
EMPTY = Argument("empty", "Any", "None", "What a sequence without rows gives; None refuses such a sequence.")
OUT = Argument(
    ("out"), "Any", "None", "(n, ...) of the result's dtype, C-contiguous: filled and given back.", "None"
)
OUT_IN_PLACE = Argument(
    "out",
    "Any",
    "None",
    ("(total, ...) of the result's dtype, C-contiguous, not in the memory of X: filled and given back."),
    "None",
)
DTYPE = Argument(
    "dtype",
    "Any",
    "None",
    "In which rows are added up, and what the result has, as NumPy's `dtype`: values become it first.",
)
OVERFLOW = Argument(
    "overflow",
    "str",
    '"wrap"',
    (
        'What becomes of integers that the result\'s dtype cannot hold. "wrap" keeps what is left of them '
        'modulo 2 to its bits, as NumPy does. "raise" refuses them: exactly, and for a look at the values'
        " where none can be so large, a second pass where one could."
    ),
)
DDOF = Argument(
    "ddof",
    "float",
    "0",
    "What is taken off the number of rows before squares are divided by it, as NumPy calls it.",
)
WHICH = Argument(
    "which",
    "bool",
    "False",
    (
        "Give also the first row inside each sequence that holds the number; not along other axes, and "
        "not with `out`."
    ),
    "False",
)
WHICH_IN_PLACE = Argument("which", "bool", "False", "Say which row it is, too.", "False")
EXCLUSIVE = Argument("exclusive", "bool", "False", "Leave the row itself out.")
REVERSE = Argument("reverse", "bool", "False", "From the last row of each sequence to the first.")
TEMPERATURE = Argument(
    "temperature",
    "float",
    "1.0",
    "What X is divided by, 1e-30 to 1e30: above 1 the shares draw near each other, below 1 apart.",
)
INPLACE = Argument(
    "inplace", "bool", "False", "Write into X, C-contiguous floats, and give it back.", "False"
)
