"""Thinc's ops, layers and types on varlen's kernels, with or without Thinc.

Import from `varlen.thinc` instead of `thinc.api`. `from_thinc` and `to_thinc` convert between Thinc's
containers and varlen's. Only `to_thinc`, `VarlenOps`, `VarlenCupyOps`, `install` and `uninstall` need thinc.
Thinc's `use_ops("varlen")` selects varlen's ops, and `install()` makes them the default on the CPU.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from varlen._lazy import loaded_from

# python/faces, names: begin

# fmt: off
if TYPE_CHECKING:
    from varlen.thinc.arrays import (
        alloc,
        alloc1f,
        alloc1i,
        alloc2f,
        alloc2i,
        alloc3f,
        alloc3i,
        alloc4f,
        alloc4i,
        alloc_f,
        alloc_i,
        as_contig,
        asarray,
        asarray1f,
        asarray1i,
        asarray2f,
        asarray2i,
        asarray3f,
        asarray3i,
        asarray4f,
        asarray4i,
        asarray_f,
        asarray_i,
        get_dropout_mask,
        reshape,
        reshape1,
        reshape1f,
        reshape1i,
        reshape2,
        reshape2f,
        reshape2i,
        reshape3,
        reshape3f,
        reshape3i,
        reshape4,
        reshape4f,
        reshape4i,
        reshape_f,
        reshape_i,
    )
    from varlen.thinc.attention import ParametricAttention
    from varlen.thinc.current import get_current_ops, get_ops, set_current_ops, use_ops
    from varlen.thinc.directions import bidirectional
    from varlen.thinc.dropout import Dropout, set_dropout_rate
    from varlen.thinc.initializers import get_width, glorot_uniform_init, zero_init
    from varlen.thinc.layers import (
        add,
        chain,
        clone,
        concatenate,
        expand_window,
        list2array,
        list2padded,
        list2ragged,
        map_list,
        noop,
        padded2list,
        ragged2list,
        reduce_first,
        reduce_last,
        reduce_max,
        reduce_mean,
        reduce_sum,
        residual,
        tuplify,
        with_array,
        with_array2d,
        with_flatten,
        with_flatten_v2,
        with_getitem,
        with_list,
        with_padded,
        with_ragged,
        with_reshape,
    )
    from varlen.thinc.linear import Linear
    from varlen.thinc.lstm import LSTM, PyTorchLSTM
    from varlen.thinc.model import Model
    from varlen.thinc.numpy_ops import NumpyOps
    from varlen.thinc.registration import install, uninstall
    from varlen.thinc.sequence_ops import Ops
    from varlen.thinc.types import Padded, Pairs, Ragged, from_thinc, to_thinc
    from varlen.thinc.varlen_cupy_ops import VarlenCupyOps
    from varlen.thinc.varlen_ops import VarlenOps

__all__ = [
    "LSTM",
    "Dropout",
    "Linear",
    "Model",
    "NumpyOps",
    "Ops",
    "Padded",
    "Pairs",
    "ParametricAttention",
    "PyTorchLSTM",
    "Ragged",
    "VarlenCupyOps",
    "VarlenOps",
    "add",
    "alloc",
    "alloc1f",
    "alloc1i",
    "alloc2f",
    "alloc2i",
    "alloc3f",
    "alloc3i",
    "alloc4f",
    "alloc4i",
    "alloc_f",
    "alloc_i",
    "as_contig",
    "asarray",
    "asarray1f",
    "asarray1i",
    "asarray2f",
    "asarray2i",
    "asarray3f",
    "asarray3i",
    "asarray4f",
    "asarray4i",
    "asarray_f",
    "asarray_i",
    "bidirectional",
    "chain",
    "clone",
    "concatenate",
    "expand_window",
    "from_thinc",
    "get_current_ops",
    "get_dropout_mask",
    "get_ops",
    "get_width",
    "glorot_uniform_init",
    "install",
    "list2array",
    "list2padded",
    "list2ragged",
    "map_list",
    "noop",
    "padded2list",
    "ragged2list",
    "reduce_first",
    "reduce_last",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "reshape",
    "reshape1",
    "reshape1f",
    "reshape1i",
    "reshape2",
    "reshape2f",
    "reshape2i",
    "reshape3",
    "reshape3f",
    "reshape3i",
    "reshape4",
    "reshape4f",
    "reshape4i",
    "reshape_f",
    "reshape_i",
    "residual",
    "set_current_ops",
    "set_dropout_rate",
    "to_thinc",
    "tuplify",
    "uninstall",
    "use_ops",
    "with_array",
    "with_array2d",
    "with_flatten",
    "with_flatten_v2",
    "with_getitem",
    "with_list",
    "with_padded",
    "with_ragged",
    "with_reshape",
    "zero_init",
]

# The module that each name lives in.
_HOMES = {
    "LSTM": "varlen.thinc.lstm",
    "Dropout": "varlen.thinc.dropout",
    "Linear": "varlen.thinc.linear",
    "Model": "varlen.thinc.model",
    "NumpyOps": "varlen.thinc.numpy_ops",
    "Ops": "varlen.thinc.sequence_ops",
    "Padded": "varlen.thinc.types",
    "Pairs": "varlen.thinc.types",
    "ParametricAttention": "varlen.thinc.attention",
    "PyTorchLSTM": "varlen.thinc.lstm",
    "Ragged": "varlen.thinc.types",
    "VarlenCupyOps": "varlen.thinc.varlen_cupy_ops",
    "VarlenOps": "varlen.thinc.varlen_ops",
    "add": "varlen.thinc.layers",
    "alloc": "varlen.thinc.arrays",
    "alloc1f": "varlen.thinc.arrays",
    "alloc1i": "varlen.thinc.arrays",
    "alloc2f": "varlen.thinc.arrays",
    "alloc2i": "varlen.thinc.arrays",
    "alloc3f": "varlen.thinc.arrays",
    "alloc3i": "varlen.thinc.arrays",
    "alloc4f": "varlen.thinc.arrays",
    "alloc4i": "varlen.thinc.arrays",
    "alloc_f": "varlen.thinc.arrays",
    "alloc_i": "varlen.thinc.arrays",
    "as_contig": "varlen.thinc.arrays",
    "asarray": "varlen.thinc.arrays",
    "asarray1f": "varlen.thinc.arrays",
    "asarray1i": "varlen.thinc.arrays",
    "asarray2f": "varlen.thinc.arrays",
    "asarray2i": "varlen.thinc.arrays",
    "asarray3f": "varlen.thinc.arrays",
    "asarray3i": "varlen.thinc.arrays",
    "asarray4f": "varlen.thinc.arrays",
    "asarray4i": "varlen.thinc.arrays",
    "asarray_f": "varlen.thinc.arrays",
    "asarray_i": "varlen.thinc.arrays",
    "bidirectional": "varlen.thinc.directions",
    "chain": "varlen.thinc.layers",
    "clone": "varlen.thinc.layers",
    "concatenate": "varlen.thinc.layers",
    "expand_window": "varlen.thinc.layers",
    "from_thinc": "varlen.thinc.types",
    "get_current_ops": "varlen.thinc.current",
    "get_dropout_mask": "varlen.thinc.arrays",
    "get_ops": "varlen.thinc.current",
    "get_width": "varlen.thinc.initializers",
    "glorot_uniform_init": "varlen.thinc.initializers",
    "install": "varlen.thinc.registration",
    "list2array": "varlen.thinc.layers",
    "list2padded": "varlen.thinc.layers",
    "list2ragged": "varlen.thinc.layers",
    "map_list": "varlen.thinc.layers",
    "noop": "varlen.thinc.layers",
    "padded2list": "varlen.thinc.layers",
    "ragged2list": "varlen.thinc.layers",
    "reduce_first": "varlen.thinc.layers",
    "reduce_last": "varlen.thinc.layers",
    "reduce_max": "varlen.thinc.layers",
    "reduce_mean": "varlen.thinc.layers",
    "reduce_sum": "varlen.thinc.layers",
    "reshape": "varlen.thinc.arrays",
    "reshape1": "varlen.thinc.arrays",
    "reshape1f": "varlen.thinc.arrays",
    "reshape1i": "varlen.thinc.arrays",
    "reshape2": "varlen.thinc.arrays",
    "reshape2f": "varlen.thinc.arrays",
    "reshape2i": "varlen.thinc.arrays",
    "reshape3": "varlen.thinc.arrays",
    "reshape3f": "varlen.thinc.arrays",
    "reshape3i": "varlen.thinc.arrays",
    "reshape4": "varlen.thinc.arrays",
    "reshape4f": "varlen.thinc.arrays",
    "reshape4i": "varlen.thinc.arrays",
    "reshape_f": "varlen.thinc.arrays",
    "reshape_i": "varlen.thinc.arrays",
    "residual": "varlen.thinc.layers",
    "set_current_ops": "varlen.thinc.current",
    "set_dropout_rate": "varlen.thinc.dropout",
    "to_thinc": "varlen.thinc.types",
    "tuplify": "varlen.thinc.layers",
    "uninstall": "varlen.thinc.registration",
    "use_ops": "varlen.thinc.current",
    "with_array": "varlen.thinc.layers",
    "with_array2d": "varlen.thinc.layers",
    "with_flatten": "varlen.thinc.layers",
    "with_flatten_v2": "varlen.thinc.layers",
    "with_getitem": "varlen.thinc.layers",
    "with_list": "varlen.thinc.layers",
    "with_padded": "varlen.thinc.layers",
    "with_ragged": "varlen.thinc.layers",
    "with_reshape": "varlen.thinc.layers",
    "zero_init": "varlen.thinc.initializers",
}
# fmt: on

# python/faces, names: end

if find_spec("thinc") is None:  # `import *` takes what there is
    for _name in ("VarlenCupyOps", "VarlenOps", "install", "uninstall"):
        __all__.remove(_name)

_load = loaded_from(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("varlen"):
            raise
        raise ImportError(
            f"varlen.thinc.{name} needs thinc ({error}): pip install 'varlen[thinc]'", name="thinc"
        ) from error


def __dir__() -> list[str]:
    return sorted(__all__)
