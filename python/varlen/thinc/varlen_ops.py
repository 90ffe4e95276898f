"""Thinc's NumpyOps on the kernels of the core. Importing this module imports thinc."""

from __future__ import annotations

from thinc import registry
from thinc.backends import NumpyOps

from varlen._methods import adopt_methods
from varlen.interop.thinc import new_padded
from varlen.thinc.cpu_ops import CpuOps


@adopt_methods
@registry.ops("VarlenOps")
class VarlenOps(CpuOps, NumpyOps):  # type: ignore[misc]
    """NumpyOps with varlen's kernels for sequence ops and maxout.

    `use_ops("varlen")` selects it; `varlen.thinc.install()` makes it the default on the CPU. Unless
    documented otherwise, it behaves like NumpyOps: results, dtypes (float64 stays), order of ties, texts of
    errors. Large results use recycled memory. Work from 2 MB on runs in several threads, with the same bits
    for any number of them.

    Parameters
    ----------
    device_type, device_id, use_blis
        As in NumpyOps. `use_blis=False` multiplies matrices with NumPy.

    Examples
    --------
    >>> from varlen.thinc import VarlenOps
    >>> VarlenOps().reduce_sum(np.array([[1.0], [2.0], [3.0]]), np.array([2, 0, 1]))
    array([[3.],
           [0.],
           [3.]])
    """

    name = "varlen"
    _new_padded = staticmethod(new_padded)
