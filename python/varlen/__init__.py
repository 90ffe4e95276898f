"""Sequences of different lengths, from a file to a padded batch."""

import importlib
from typing import TYPE_CHECKING, Any

from varlen import _hooks, _lazy, _restored, _threads
from varlen._core import Dim, Level, __version__, num_threads, set_num_threads

if TYPE_CHECKING:
    from varlen import cuda, data, dims, io, ops, sequence, transforms
    from varlen.data import Dataset
    from varlen.data import open as open
    from varlen.dims import Data
    from varlen.joint import JointNestedRaggedTensorDict
    from varlen.ops.combine import concatenate, split, stack
    from varlen.ops.cross import cross
    from varlen.ops.matmul import matmul
    from varlen.ops.where import where
    from varlen.sequence import (
        Beam,
        im2sequence,
        lod_append,
        lod_reset,
        row_conv,
        sequence_concat,
        sequence_conv,
        sequence_enumerate,
        sequence_erase,
        sequence_expand,
        sequence_expand_as,
        sequence_first_step,
        sequence_last_step,
        sequence_mask,
        sequence_pad,
        sequence_pool,
        sequence_reshape,
        sequence_reverse,
        sequence_scatter,
        sequence_slice,
        sequence_softmax,
        sequence_topk_avg_pooling,
        sequence_unpad,
    )
    from varlen.types import Packed, Padded, Pairs, Ragged, RankTable

__all__ = [
    "Beam",
    "Data",
    "Dataset",
    "Dim",
    "JointNestedRaggedTensorDict",
    "Level",
    "Packed",
    "Padded",
    "Pairs",
    "Ragged",
    "RankTable",
    "__version__",
    "concatenate",
    "cross",
    "cuda",
    "data",
    "dims",
    "im2sequence",
    "io",
    "lod_append",
    "lod_reset",
    "matmul",
    "num_threads",
    "ops",
    "row_conv",
    "sequence",
    "sequence_concat",
    "sequence_conv",
    "sequence_enumerate",
    "sequence_erase",
    "sequence_expand",
    "sequence_expand_as",
    "sequence_first_step",
    "sequence_last_step",
    "sequence_mask",
    "sequence_pad",
    "sequence_pool",
    "sequence_reshape",
    "sequence_reverse",
    "sequence_scatter",
    "sequence_slice",
    "sequence_softmax",
    "sequence_topk_avg_pooling",
    "sequence_unpad",
    "set_num_threads",
    "split",
    "stack",
    "transforms",
    "where",
]

# `open` is not among them: `from varlen import *` keeps the builtin.
# Loaded when first asked for, so that `import varlen` costs numpy and the core: modules, and the module
# that a name lives in.
_MODULES = (
    "arguments", "backends", "cli", "cuda", "data", "dims", "display", "interop", "io", "joint", "levels",
    "lod", "ops", "returnn", "sequence", "testing", "tf", "thinc", "transforms", "types",
)  # fmt: skip
_HOMES: dict[str, str] = {
    **dict.fromkeys(["Packed", "Padded", "Pairs", "Ragged", "RankTable"], "varlen.types"),
    **dict.fromkeys(["concatenate", "cross", "matmul", "split", "stack", "where"], "varlen.ops"),
    "Beam": "varlen.sequence",
    "Data": "varlen.dims",
    "Dataset": "varlen.data",
    "JointNestedRaggedTensorDict": "varlen.joint",
    "im2sequence": "varlen.sequence",
    "lod_append": "varlen.sequence",
    "lod_reset": "varlen.sequence",
    "open": "varlen.data",
    "row_conv": "varlen.sequence",
    **{name: "varlen.sequence" for name in __all__ if name.startswith("sequence_")},
}

_hooks.install()
_threads.limit_worker()
_restored.tell_torch()


_named = _lazy.loaded_from("varlen", _HOMES)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"varlen.{name}") if name in _MODULES else _named(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES, *_MODULES})
