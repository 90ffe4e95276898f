"""Named axes: dims with an exact algebra and lengths of any shape.

Examples
--------
>>> time = Dim("time", lengths=[3, 0, 2])
>>> (2 * time + 1).lengths
array([7, 1, 5])
>>> (time + 2) - 2 == time
True
"""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from typing import TYPE_CHECKING

from varlen._core import Dim
from varlen._lazy import loaded_from
from varlen.dims.beam import Beam
from varlen.dims.constructors import FeatureDim, SpatialDim, batch_dim
from varlen.dims.data import Data
from varlen.dims.errors import AmbiguousAxisError, LengthMismatchError, OutShapeError
from varlen.dims.ops.combine import combine, expand_dim, where
from varlen.dims.ops.concat import concat, split, stack
from varlen.dims.ops.conv import conv1d, conv_out_dim, transposed_conv1d
from varlen.dims.ops.dot import dot
from varlen.dims.ops.elementwise import (
    abs,
    ceil,
    clip_by_value,
    cos,
    elu,
    exp,
    expm1,
    floor,
    gelu,
    is_finite,
    log,
    log1p,
    log_sigmoid,
    logical_not,
    relu,
    round,
    rsqrt,
    sigmoid,
    sign,
    silu,
    sin,
    softplus,
    sqrt,
    square,
    tan,
    tanh,
)
from varlen.dims.ops.faces import (
    cummax,
    cummin,
    cumprod,
    cumsum,
    log_softmax,
    ones,
    ones_like,
    softmax,
    zeros,
    zeros_like,
)
from varlen.dims.ops.gather import gather
from varlen.dims.ops.loss import cross_entropy, ctc_loss, edit_distance
from varlen.dims.ops.make_values import (
    arange,
    full,
    full_like,
    last_frame_position_of_dim,
    num_elements_of_shape,
    one_hot,
    range_over_dim,
)
from varlen.dims.ops.merge import flatten, merge_dims, split_dims, squeeze, unflatten
from varlen.dims.ops.norm import Moments, batch_norm, layer_norm, moments
from varlen.dims.ops.pad import pad
from varlen.dims.ops.random import dropout, random
from varlen.dims.ops.reduce import reduce
from varlen.dims.ops.repeat import repeat
from varlen.dims.ops.scatter import scatter
from varlen.dims.ops.select import masked_scatter, masked_select
from varlen.dims.ops.shift import reverse, shift
from varlen.dims.ops.slice import slice
from varlen.dims.ops.sort import argsort, search_sorted, sort, top_k, unique
from varlen.dims.ops.window import pool, window
from varlen.dims.out_shape import ImplicitDim, ImplicitDynSizeDim, ImplicitSparseDim, OptionalDim
from varlen.dims.records.data_dict import DataDict
from varlen.dims.records.spec import DataSpec
from varlen.dims.records.specs import DataSpecs
from varlen.dims.table import read_dims, write_dims
from varlen.dims.vocabulary import Vocabulary

__all__ = [
    "AmbiguousAxisError",
    "Beam",
    "Data",
    "DataDict",
    "DataSpec",
    "DataSpecs",
    "Dim",
    "FeatureDim",
    "ImplicitDim",
    "ImplicitDynSizeDim",
    "ImplicitSparseDim",
    "LengthMismatchError",
    "Moments",
    "OptionalDim",
    "OutShapeError",
    "SpatialDim",
    "Vocabulary",
    "abs",
    "arange",
    "argsort",
    "batch_dim",
    "batch_norm",
    "ceil",
    "clip_by_value",
    "combine",
    "concat",
    "conv1d",
    "conv_out_dim",
    "cos",
    "cross_entropy",
    "ctc_loss",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "dot",
    "dropout",
    "edit_distance",
    "elu",
    "exp",
    "expand_dim",
    "expm1",
    "flatten",
    "floor",
    "full",
    "full_like",
    "gather",
    "gelu",
    "is_finite",
    "last_frame_position_of_dim",
    "layer_norm",
    "log",
    "log1p",
    "log_sigmoid",
    "log_softmax",
    "logical_not",
    "masked_scatter",
    "masked_select",
    "merge_dims",
    "moments",
    "num_elements_of_shape",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "pool",
    "random",
    "range_over_dim",
    "read_dims",
    "reduce",
    "relu",
    "repeat",
    "reverse",
    "round",
    "rsqrt",
    "scatter",
    "search_sorted",
    "shift",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "slice",
    "softmax",
    "softplus",
    "sort",
    "split",
    "split_dims",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "tan",
    "tanh",
    "top_k",
    "transposed_conv1d",
    "unflatten",
    "unique",
    "where",
    "window",
    "write_dims",
    "zeros",
    "zeros_like",
]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
