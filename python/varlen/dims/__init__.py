"""Named axes: dims, with an exact algebra and lengths of any shape.

Examples
--------
>>> time = Dim("time", lengths=[3, 0, 2])
>>> (2 * time + 1).lengths
array([7, 1, 5])
>>> (time + 2) - 2 == time
True
"""

from varlen._core import Dim
from varlen.dims.constructors import FeatureDim, SpatialDim, batch_dim
from varlen.dims.errors import LengthMismatchError
from varlen.dims.table import read_dims, write_dims
from varlen.dims.vocabulary import Vocabulary

__all__ = [
    "Dim",
    "FeatureDim",
    "LengthMismatchError",
    "SpatialDim",
    "Vocabulary",
    "batch_dim",
    "read_dims",
    "write_dims",
]
