"""Functions of NumPy and torch that are verbs here."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

#: The parameters of NumPy's functions.
NUMPY: dict[str, str] = {
    "sum": "a axis dtype out keepdims initial where",
    "mean": "a axis dtype out keepdims where",
    "prod": "a axis dtype out keepdims initial where",
    "max": "a axis out keepdims initial where",
    "amax": "a axis out keepdims initial where",
    "min": "a axis out keepdims initial where",
    "amin": "a axis out keepdims initial where",
    "argmax": "a axis out keepdims",
    "argmin": "a axis out keepdims",
    "any": "a axis out keepdims where",
    "all": "a axis out keepdims where",
    "var": "a axis dtype out ddof keepdims where mean correction",
    "std": "a axis dtype out ddof keepdims where mean correction",
    "ptp": "a axis out keepdims",
    "cumsum": "a axis dtype out",
    "cumprod": "a axis dtype out",
}

#: The parameters of torch's functions.
TORCH: dict[str, str] = {
    "sum": "input dim keepdim dtype",
    "mean": "input dim keepdim dtype",
    "prod": "input dim keepdim dtype",
    "max": "input dim keepdim",
    "amax": "input dim keepdim",
    "min": "input dim keepdim",
    "amin": "input dim keepdim",
    "argmax": "input dim keepdim",
    "argmin": "input dim keepdim",
    "any": "input dim keepdim",
    "all": "input dim keepdim",
    "var": "input dim unbiased keepdim",
    "std": "input dim unbiased keepdim",
    "logsumexp": "input dim keepdim",
    "cumsum": "input dim dtype",
    "cumprod": "input dim dtype",
    "softmax": "input dim dtype",
    "log_softmax": "input dim dtype",
}

#: The methods of a Ragged that both are.
METHODS: dict[str, str] = {
    "sum": "sum",
    "mean": "mean",
    "prod": "prod",
    "max": "max",
    "amax": "max",
    "min": "min",
    "amin": "min",
    "argmax": "argmax",
    "argmin": "argmin",
    "any": "any",
    "all": "all",
    "var": "var",
    "std": "std",
    "logsumexp": "logsumexp",
    "ptp": "ptp",
    "cumsum": "cumsum",
    "cumprod": "cumprod",
    "softmax": "softmax",
    "log_softmax": "log_softmax",
}

#: Those that methods of ufuncs are.
UFUNCS: dict[str, str] = {
    "add.reduce": "sum",
    "multiply.reduce": "prod",
    "maximum.reduce": "max",
    "minimum.reduce": "min",
    "logical_or.reduce": "any",
    "logical_and.reduce": "all",
    "logaddexp.reduce": "logsumexp",
    "add.accumulate": "cumsum",
    "multiply.accumulate": "cumprod",
    "maximum.accumulate": "cummax",
    "minimum.accumulate": "cummin",
}

#: Those that give a row for each row.
KEEP_ROWS = ("cumsum", "cumprod", "softmax", "log_softmax")
