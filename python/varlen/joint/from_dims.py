"""Joint dicts from values over dims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from varlen.arguments import as_mapping
from varlen.dims import Data, DataDict
from varlen.joint.state import JointState

__all__: list[str] = []

if TYPE_CHECKING:
    Self = TypeVar("Self", bound="NamedMethods")


class NamedMethods(JointState):
    """Conversion of a `DataDict` to a joint dict; `DataDict.from_joint` converts back."""

    @classmethod
    def from_data(cls: type[Self], data: Mapping[str, Data[Any]]) -> Self:
        """Make a joint dict from Data: the first dim counts the rows, ragged dims become levels.

        Parameters
        ----------
        data
            A `varlen.dims.DataDict`, or a `Data` for each key.

        Returns
        -------
        JointNestedRaggedTensorDict
            A joint dict that shares the arrays if they lie in the order of their dims. Keys keep their
            vocabularies.

        Raises
        ------
        ValueError
            The keys do not share their levels from the first on.

        Examples
        --------
        >>> import numpy as np
        >>> import varlen as vl
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
        >>> vl.JointNestedRaggedTensorDict.from_data({"x": x}).to_list()
        {'x': [[3, 1], [4]]}
        """
        as_mapping(data, "data", "keys to Data")
        return cls._wrap((data if isinstance(data, DataDict) else DataDict(data)).__varlen_joint__())
