"""RETURNN's names: its tensors and dims, and the functions of its frontend.

Only `from_returnn` and `to_returnn` import RETURNN. The manual's page "Coming from RETURNN" lists the
differences.

    from varlen.returnn import Tensor, Dim, TensorDict, batch_dim
    import varlen.returnn.frontend as rf
"""

from varlen.dims import Dim, FeatureDim, SpatialDim, batch_dim
from varlen.returnn.convert import from_returnn, to_returnn
from varlen.returnn.tensor import Template, Tensor
from varlen.returnn.tensor_dict import TemplateDict, TensorDict

__all__ = [
    "Dim",
    "FeatureDim",
    "SpatialDim",
    "Template",
    "TemplateDict",
    "Tensor",
    "TensorDict",
    "batch_dim",
    "from_returnn",
    "to_returnn",
]
