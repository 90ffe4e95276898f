"""Thinc's ops for CUDA on the kernels of the core. This module imports thinc, and thinc imports CuPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from thinc import registry
from thinc.backends import CupyOps

from varlen._methods import adopt_methods
from varlen.backends import cupy_backend
from varlen.interop.thinc import new_padded
from varlen.thinc.sequence_ops import Ops

if TYPE_CHECKING:
    from varlen.backends.table import Backend


@adopt_methods
@registry.ops("VarlenCupyOps")
class VarlenCupyOps(Ops, CupyOps):  # type: ignore[misc]
    """CupyOps with varlen's kernels for sequence ops.

    `use_ops("varlen-cuda")` selects it; after `varlen.thinc.install()`, `require_gpu` and `spacy.prefer_gpu`
    choose it. Arrays are CuPy's: they use its allocator (torch's, if `set_gpu_allocator` chose that) and its
    current stream. Unless documented otherwise, it behaves like CupyOps. Each call copies lengths to the host
    to check them; nothing else waits for the device. Indices are not checked: one that names no row reads a
    row of zeros, and adds to nothing.

    Parameters
    ----------
    device_type, device_id, **kwargs
        As in CupyOps.

    Examples
    --------
    >>> from thinc.api import use_ops
    >>> with use_ops("varlen-cuda"):  # doctest: +SKIP
    ...     model = thinc.api.with_padded(thinc.api.LSTM(8, 4))
    """

    name = "varlen-cuda"
    _new_padded = staticmethod(new_padded)

    @property
    def _verbs(self) -> Backend:  # type: ignore[override]
        return cupy_backend(self.xp)

    def scatter_add(self, table: Any, indices: Any, values: Any) -> None:
        """Add each row of values to the row of table that its index names, in place and in their order.

        Parameters
        ----------
        table
            (rows, ...) numbers, changed in place.
        indices
            Integers of any shape; negative ones count from the end, as in CupyOps.
        values
            The shape of `indices` followed by that of a table row, or one that broadcasts to it. Values are
            cast to the dtype of `table`.

        Notes
        -----
        Like CupyOps' `scatter_add`, whose atomics add in any order.

        Examples
        --------
        >>> ops = VarlenCupyOps()  # doctest: +SKIP
        >>> table = ops.alloc2f(2, 1)  # doctest: +SKIP
        >>> ops.scatter_add(table, ops.asarray1i([1, 1]), ops.asarray2f([[3.0], [4.0]]))  # doctest: +SKIP
        """
        if not table.flags.c_contiguous:
            super().scatter_add(table, indices, values)
            return
        xp = self.xp
        places = xp.asarray(indices)
        if places.dtype.kind == "i":
            places = xp.where(places < 0, places + len(table), places)
        shape = (*places.shape, *table.shape[1:])
        rows = xp.asarray(values, dtype=table.dtype)
        if rows.shape != shape:
            rows = xp.broadcast_to(rows, shape)
        self._verbs.scatter_add(table, places.astype(np.int64, copy=False), rows)
