"""Thinc's ops, layers and types on varlen's kernels, with or without Thinc.

`from varlen.thinc import Ragged, get_current_ops, list2ragged` stands in the place of `thinc.api`, and
needs no thinc. `from_thinc` and `to_thinc` convert between the containers of both.
`VarlenOps`, `install` and `uninstall` need it: `use_ops("varlen")` of Thinc selects the ops, once varlen is
installed beside thinc, and `install()` makes them the default on the CPU.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from varlen._lazy import loaded_from

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
    from varlen.thinc.initializers import (
        get_width,
        glorot_uniform_init,
        zero_init,
    )
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
    from varlen.thinc.linear import (
        Linear,
    )
    from varlen.thinc.lstm import (
        LSTM,
        PyTorchLSTM,
    )
    from varlen.thinc.model import (
        Model,
    )
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

if find_spec("thinc") is None:  # `import *` takes what there is
    for _name in ("VarlenCupyOps", "VarlenOps", "install", "uninstall"):
        __all__.remove(_name)

_ARRAYS = ("alloc", "as_contig", "asarray", "get_dropout_mask", "reshape")
_HOMES = {
    "arrays": tuple(name for name in __all__ if name.startswith(_ARRAYS)),
    "attention": ("ParametricAttention",),
    "current": ("get_current_ops", "get_ops", "set_current_ops", "use_ops"),
    "directions": ("bidirectional",),
    "dropout": ("Dropout", "set_dropout_rate"),
    "initializers": (
        "get_width",
        "glorot_uniform_init",
        "zero_init",
    ),
    "linear": ("Linear",),
    "lstm": (
        "LSTM",
        "PyTorchLSTM",
    ),
    "model": ("Model",),
    "numpy_ops": ("NumpyOps",),
    "registration": ("install", "uninstall"),
    "sequence_ops": ("Ops",),
    "types": ("Padded", "Pairs", "Ragged", "from_thinc", "to_thinc"),
    "varlen_cupy_ops": ("VarlenCupyOps",),
    "varlen_ops": ("VarlenOps",),
}

_load = loaded_from(
    __name__,
    dict.fromkeys(__all__, f"{__name__}.layers")  # all that have no other home
    | {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names},
)


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
