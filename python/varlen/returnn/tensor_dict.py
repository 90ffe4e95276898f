"""`TensorDict`, as RETURNN makes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from varlen.arguments import as_mapping
from varlen.dims import Data, DataDict, DataSpec, DataSpecs


class TensorDict(DataDict):
    """A `varlen.dims.DataDict`; of keys without values a `varlen.dims.DataSpecs`.

    Parameters
    ----------
    data
        A Data for each key, or what each has: a DataSpec, or a dict as in RETURNN's `extern_data`.

    Notes
    -----
    As RETURNN's `TensorDict`.

    Examples
    --------
    >>> from varlen.returnn import FeatureDim, SpatialDim, TensorDict, batch_dim
    >>> TensorDict({"data": {"dim_tags": [batch_dim, SpatialDim("time"), FeatureDim("feature", 40)]}})
    DataSpecs({'data': DataSpec([batch, time, feature(40)])})
    >>> TensorDict({"x": vl.Data(np.zeros(2), [FeatureDim("two", 2)])}).data["x"]
    Data([two(2)], float64)
    """

    __slots__ = ()

    def __new__(cls, data: Mapping[str, Data[Any] | DataSpec | Mapping[str, Any]]) -> Any:
        values = as_mapping(data, "data", "keys to Tensors").values()
        if values and not any(isinstance(value, Data) for value in values):
            return DataSpecs(data)  # type: ignore[arg-type]
        return object.__new__(cls)

    @property
    def data(self) -> dict[str, Data[Any]]:
        """The Data by name."""
        return dict(self)

    def copy_template(self) -> DataSpecs:
        """What its keys have beside their values.

        Returns
        -------
        DataSpecs
            As `DataSpecs.of`.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, TensorDict
        >>> TensorDict({"x": vl.Data(np.zeros(2), [FeatureDim("two", 2)])}).copy_template()
        DataSpecs({'x': DataSpec([two(2)], float64)})
        """
        return DataSpecs.of(self)
