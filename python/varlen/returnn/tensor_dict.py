"""`TensorDict` and `TemplateDict`, with RETURNN's constructor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from varlen.arguments import as_mapping
from varlen.dims import Data, DataDict, DataSpec, DataSpecs
from varlen.dims.records.spec import spec_of
from varlen.returnn.tensor import Template


class TemplateDict(DataSpecs):
    """A `TensorDict` without values: a `Template` for each key.

    Parameters
    ----------
    specs
        For each key a DataSpec, or a dict as in RETURNN's `extern_data`.

    Notes
    -----
    Like RETURNN's `TensorDict`.

    Examples
    --------
    >>> from varlen.returnn import SpatialDim, TensorDict, batch_dim
    >>> extern_data = TensorDict({"data": {"dims": [batch_dim, SpatialDim("time")]}})
    >>> extern_data.data["data"].get_axis_from_description("T")
    1
    """

    __slots__ = ()

    def __init__(self, specs: Mapping[str, DataSpec | Mapping[str, Any]]) -> None:
        super().__init__(specs)
        for key, spec in self._specs.items():
            if not isinstance(spec, Template):
                self._specs[key] = Template(key, spec.dims, spec.dtype, **spec.facts, default=spec.default)

    @property
    def data(self) -> dict[str, DataSpec]:
        """The templates by name."""
        return dict(self)

    def copy_template(self) -> TemplateDict:
        """Copy the templates.

        Returns
        -------
        TemplateDict
            A copy of the same templates.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, TensorDict
        >>> TensorDict({"x": {"dims": [FeatureDim("two", 2)]}}).copy_template()
        TemplateDict({'x': Template('x', [two(2)])})
        """
        return type(self)(self)


class TensorDict(DataDict):
    """A `varlen.dims.DataDict`; a `TemplateDict` for keys without values.

    Parameters
    ----------
    data
        For each key a Data, a DataSpec, or a dict as in RETURNN's `extern_data`.

    Notes
    -----
    Like RETURNN's `TensorDict`.

    Examples
    --------
    >>> from varlen.returnn import FeatureDim, SpatialDim, TensorDict, batch_dim
    >>> TensorDict({"data": {"dim_tags": [batch_dim, SpatialDim("time"), FeatureDim("feature", 40)]}})
    TemplateDict({'data': Template('data', [batch, time, feature(40)])})
    >>> TensorDict({"x": vl.Data(np.zeros(2), [FeatureDim("two", 2)])}).data["x"]
    Data([two(2)], float64)
    """

    __slots__ = ()

    def __new__(cls, data: Mapping[str, Data[Any] | DataSpec | Mapping[str, Any]]) -> Any:
        values = as_mapping(data, "data", "keys to Tensors").values()
        if values and not any(isinstance(value, Data) for value in values):
            return TemplateDict(data)  # type: ignore[arg-type]
        return object.__new__(cls)

    @property
    def data(self) -> dict[str, Data[Any]]:
        """The Data by name."""
        return dict(self)

    def copy_template(self) -> TemplateDict:
        """Copy the templates of the keys: everything but the values.

        Returns
        -------
        TemplateDict
            A Template for each key.

        Examples
        --------
        >>> from varlen.returnn import FeatureDim, TensorDict
        >>> TensorDict({"x": vl.Data(np.zeros(2), [FeatureDim("two", 2)])}).copy_template()
        TemplateDict({'x': Template('x', [two(2)], float64)})
        """
        return TemplateDict({key: spec_of(one) for key, one in self.items()})
