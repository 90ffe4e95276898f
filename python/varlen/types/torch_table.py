"""Functions of torch called with a Ragged: one table says what each of them is."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import tracing
from varlen.arguments import as_bool
from varlen.backends.values import is_tensor
from varlen.errors import type_error
from varlen.ops.support.inputs import same_kind
from varlen.types import layers, torch_functions
from varlen.types.channels import CHANNELS, call_arguments
from varlen.types.convolutions import CONVOLUTIONS, POOLS
from varlen.types.elementwise import EACH_NUMBER
from varlen.types.functions import (
    combine,
    first_argument,
    has_method,
    is_ragged,
    on_each_number,
    reduce_axis,
    refusal,
)
from varlen.types.namesakes import KEEP_ROWS, TORCH
from varlen.types.signatures import given_to
from varlen.types.tensor_calls import refuse_adaptive

if TYPE_CHECKING:
    from varlen.types.ragged import Ragged

    Function = Callable[..., Any]


class Entry(NamedTuple):
    """A function of torch: what takes its name, itself and its arguments, and how it takes Raggeds."""

    call: Callable[[str, Function, Any, dict[str, Any]], Any]
    rule: tuple[int, int, int] | None = None


# Functions of torch that were called before, and how they take Raggeds: `on_values` of the core calls them
# the next time without a look at their names.
RULES: dict[Function, tuple[int, int, int]] = {}
_MOST = 64  # the axes that a tensor has at most


def by_torch(func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of torch that is called with a Ragged."""
    full = tracing.name_of(func)
    name = full.strip("_")
    if full.endswith("_") and not full.endswith("__"):
        raise refusal(f"torch.Tensor.{full}", f"{name}(), which writes nothing in place")
    if name in ("to", "type_as") and not is_ragged(args[0] if args else None):
        raise refusal(f"torch.Tensor.{name}", "r.dtype and r.device")
    if kwargs.get("out") is not None:
        raise refusal(f"torch.{name} with out", "the result")
    entry = _TABLE.get(name)
    if entry is None:
        raise _no_meaning(name, args)
    result = entry.call(name, func, args, kwargs)
    if entry.rule is not None and not (isinstance(result, tuple) or tracing.is_tracing()):
        RULES[func] = entry.rule
    return result


def _no_meaning(name: str, args: Any) -> TypeError:
    return refusal(f"torch.{name}", f"r.{name}()" if has_method(args, name) else "r.values, or r.to_dense()")


def _on_numbers(name: str, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of each number."""
    if name == "where" and len(args) + len(kwargs) < 3:
        raise refusal("torch.where of a condition alone", "r.values")
    return on_each_number(func, args, kwargs)


def _on_rows(name: str, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of the last axes of each row, on the values of the Ragged that comes first."""
    x = call_arguments("input second", args, kwargs)
    r: Any = x["input"]
    axes = row_axes(name, x.get("second", ()), kwargs)
    if not is_ragged(r) or r.values.ndim - 1 < axes:
        raise refusal(f"torch.{name} of rows with fewer than {axes} axes", "r.values, or r.to_dense()")
    return same_kind(r, func(r.values, *args[1:], **{key: y for key, y in kwargs.items() if key != "input"}))


def row_axes(name: str, second: Any, kwargs: dict[str, Any]) -> int:
    """How many of the last axes of a row a function of torch takes, by its second argument."""
    if name == "prelu":
        weight: Any = kwargs.get("weight", second)
        return int(weight.numel() > 1)
    shape: Any = kwargs.get("normalized_shape", second) if name.endswith("norm") else ()
    return 1 if name == "linear" or isinstance(shape, int) else len(shape)


def _reduce(name: str, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function along axes of the container that is a method of it: a reduction, a scan, a softmax."""
    if not is_ragged(first_argument(args, kwargs, "input", "a", "x")):
        raise _no_meaning(name, args)
    arguments = given_to("torch", name, args, kwargs)
    arguments.pop("_stacklevel", None)
    if name == "argmax":
        refuse_adaptive(3)
    if name in ("max", "min") and ("other" in arguments or "dim" in arguments):
        dim: Any = arguments.get("other", arguments.get("dim"))
        if not isinstance(dim, (int, np.integer)):
            return (np.maximum if name == "max" else np.minimum)(arguments["input"], dim)
        return torch_functions.extremes(name, arguments["input"], dim, arguments.get("keepdim", False))
    dim = arguments.get("dim")
    if isinstance(dim, (tuple, list)) and not dim and name not in KEEP_ROWS:
        if name in ("any", "all"):
            return arguments["input"] != 0  # no axes
        del arguments["dim"]  # all axes
    if name == "softmin":
        name, arguments["input"] = "softmax", -arguments["input"]
    if name in ("std", "var"):
        arguments["ddof"] = _correction(name, arguments)
    return reduce_axis(f"torch.{name}", name, arguments.pop("input"), arguments.pop("dim", None), arguments)


def _correction(name: str, arguments: dict[str, Any]) -> Any:
    """The correction of torch.std and torch.var, which they subtract from the count of rows; 1 by default."""
    if "ddof" in arguments:
        raise type_error("ddof", f"torch.{name} knows no ddof", "use correction=")
    is_unbiased, correction = arguments.pop("unbiased", None), arguments.pop("correction", None)
    if is_unbiased is None:
        return 1 if correction is None else correction
    if correction is not None:
        raise type_error("", f"torch.{name} takes either correction or unbiased, got both")
    return int(as_bool(is_unbiased, "unbiased"))


def _pool(name: str, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A pooling to a number of steps, which sequences of different lengths have not."""
    raise refusal(f"torch.{name}", f"r.{POOLS[name]}(), which gives one row a sequence")


# Python's operators that have a reflected form.
_REFLECTED = "add and div floordiv lshift mod mul or pow rshift sub truediv xor"

# What each function of torch is, by its name; all others are refused.
_TABLE: dict[str, Entry] = {
    **dict.fromkeys(EACH_NUMBER, Entry(_on_numbers, (0, 0, _MOST))),
    **{f"r{name}": Entry(_on_numbers, (0, 0, _MOST)) for name in _REFLECTED.split()},
    "where": Entry(_on_numbers),
    "linear": Entry(_on_rows, (1, 2, _MOST)),
    "layer_norm": Entry(_on_rows, (1, -1, _MOST)),
    "rms_norm": Entry(_on_rows, (1, -1, _MOST)),
    "embedding": Entry(_on_rows, (1, 1, _MOST)),
    "one_hot": Entry(_on_rows),
    "prelu": Entry(_on_rows),
    **dict.fromkeys((*TORCH, "softmin"), Entry(_reduce)),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), Entry(combine)),
    **dict.fromkeys(torch_functions.FUNCTIONS, Entry(torch_functions.call)),
    **{name: Entry(layers.loss, (count, 1, _MOST)) for name, count in layers.LOSSES.items()},
    "ctc_loss": Entry(layers.ctc),
    "batch_norm": Entry(layers.batch_norm, (1, 2, 2)),
    **{name: Entry(call) for name, call in (CHANNELS | CONVOLUTIONS).items()},
    **dict.fromkeys(layers.RECURRENT, Entry(layers.recur)),
    "multi_head_attention_forward": Entry(layers.multi_head),
    "scaled_dot_product_attention": Entry(layers.attention),
    **dict.fromkeys(POOLS, Entry(_pool)),
}


def method_of_tensors(r: Ragged[Any], name: str) -> Function | None:
    """The method of that name that torch's tensors have, of a Ragged of tensors; None where there is none."""
    if not is_tensor(r._values):
        return None
    import torch

    function = getattr(torch.Tensor, name, None)
    return None if function is None else functools.partial(_call_method, function, r)


def _call_method(function: Function, r: Ragged[Any], *args: Any, **kwargs: Any) -> Any:
    return type(r).__torch_function__(function, (type(r),), (r, *args), kwargs)


# Methods of torch's tensors that a Ragged of tensors has as well: the functions of their names.
TENSOR_METHODS = (EACH_NUMBER | torch_functions.FUNCTIONS.keys()) - {
    "and", "or", "linalg_norm", "glu", "gumbel_softmax", "normalize",
    "floordiv", "linalg_vector_norm", "log_sigmoid", "lshift", "nested_to_padded_tensor", "rshift", "truediv",
    "xor",
}  # fmt: skip
# Where torch has those of them that it does not have itself.
HOMES = dict.fromkeys(
    (
        "elu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish", "relu6",
        "silu", "softplus", "softshrink", "softsign", "tanhshrink",
    ),
    "torch.nn.functional",
)  # fmt: skip
