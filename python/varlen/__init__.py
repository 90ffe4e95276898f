"""Sequences of different lengths, from a file to a padded batch."""

import importlib
from typing import TYPE_CHECKING, Any

from varlen import _hooks, _lazy, _pytrees, _restored, _threads
from varlen._core import Dim, Level, __version__, num_threads, set_num_threads

if TYPE_CHECKING:  # `from varlen import *` keeps the builtin
    from varlen.data import open as open

# python/faces, names: begin

# fmt: off
if TYPE_CHECKING:
    from varlen import cuda, data, dims, io, ops, sequence, transforms
    from varlen.data import Dataset
    from varlen.dims import Data
    from varlen.joint import JointNestedRaggedTensorDict
    from varlen.joint.object_files import load, save
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
    from varlen.transforms.vmap import vmap
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
    "load",
    "lod_append",
    "lod_reset",
    "matmul",
    "num_threads",
    "ops",
    "row_conv",
    "save",
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
    "vmap",
    "where",
]

# The module that each name lives in.
_HOMES = {
    "Beam": "varlen.sequence",
    "Data": "varlen.dims",
    "Dataset": "varlen.data",
    "JointNestedRaggedTensorDict": "varlen.joint",
    "Packed": "varlen.types",
    "Padded": "varlen.types",
    "Pairs": "varlen.types",
    "Ragged": "varlen.types",
    "RankTable": "varlen.types",
    "concatenate": "varlen.ops.combine",
    "cross": "varlen.ops.cross",
    "im2sequence": "varlen.sequence",
    "load": "varlen.joint.object_files",
    "lod_append": "varlen.sequence",
    "lod_reset": "varlen.sequence",
    "matmul": "varlen.ops.matmul",
    "open": "varlen.data",
    "row_conv": "varlen.sequence",
    "save": "varlen.joint.object_files",
    "sequence_concat": "varlen.sequence",
    "sequence_conv": "varlen.sequence",
    "sequence_enumerate": "varlen.sequence",
    "sequence_erase": "varlen.sequence",
    "sequence_expand": "varlen.sequence",
    "sequence_expand_as": "varlen.sequence",
    "sequence_first_step": "varlen.sequence",
    "sequence_last_step": "varlen.sequence",
    "sequence_mask": "varlen.sequence",
    "sequence_pad": "varlen.sequence",
    "sequence_pool": "varlen.sequence",
    "sequence_reshape": "varlen.sequence",
    "sequence_reverse": "varlen.sequence",
    "sequence_scatter": "varlen.sequence",
    "sequence_slice": "varlen.sequence",
    "sequence_softmax": "varlen.sequence",
    "sequence_topk_avg_pooling": "varlen.sequence",
    "sequence_unpad": "varlen.sequence",
    "split": "varlen.ops.combine",
    "stack": "varlen.ops.combine",
    "vmap": "varlen.transforms.vmap",
    "where": "varlen.ops.where",
}
# fmt: on

# python/faces, names: end

# Loaded when first asked for, as those names are, so that `import varlen` costs numpy and the core.
_MODULES = (
    "arguments", "backends", "cli", "cuda", "data", "dims", "display", "interop", "io", "joint", "levels",
    "lod", "ops", "plot", "returnn", "sequence", "testing", "tf", "thinc", "transforms", "types",
)  # fmt: skip
_hooks.install()
_threads.limit_worker()
_restored.tell_torch()
_pytrees.tell_libraries()


_load_name = _lazy.loaded_from("varlen", _HOMES)


def __getattr__(name: str) -> Any:
    return importlib.import_module(f"varlen.{name}") if name in _MODULES else _load_name(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES, *_MODULES})
