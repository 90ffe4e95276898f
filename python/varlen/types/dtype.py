"""The dtype of a container as type checkers see it: NumPy's or torch's, by the kind of its arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np
    import torch

    from varlen.types.packed import Packed
    from varlen.types.padded import Padded
    from varlen.types.ragged import Ragged

    class DType:
        """The property `dtype`, whose type depends on the kind of array that the container holds."""

        @overload
        def __get__(
            self, container: Ragged[np.ndarray] | Padded[np.ndarray] | Packed[np.ndarray], kind: Any
        ) -> np.dtype: ...
        @overload
        def __get__(
            self, container: Ragged[torch.Tensor] | Padded[torch.Tensor] | Packed[torch.Tensor], kind: Any
        ) -> torch.dtype: ...
        def __get__(self, container: Any, kind: Any) -> Any: ...
