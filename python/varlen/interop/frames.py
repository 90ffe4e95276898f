"""Tables of pandas, Polars and awkward over the memory that a container shows to Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from varlen.errors import type_error
from varlen.interop.arrow_nodes import ArrowSource

if TYPE_CHECKING:
    import awkward
    import pandas as pd
    import polars as pl

__all__: list[str] = []


class FrameMethods(ArrowSource):
    """Conversions of a container whose keys are the columns of a table."""

    __slots__ = ()

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        text = f"{type(self).__name__} is a table, not one array"
        raise type_error("", text, "use to_pandas(), to_polars() or to_awkward(), or the array of one key")

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a DataFrame of pandas, a column a key.

        Returns
        -------
        pandas.DataFrame
            Numbers, times and words of whole rows have the dtypes that any frame has, and are copied. Lists
            have Arrow's dtypes, which share the memory: `.list` and `explode` work on them. Words are text.

        Raises
        ------
        TypeError
            Arrow has no type for the dtype of a key, which the error names.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8], "word": [["to", "be"], []]})
        >>> frame = vl.data.Dataset(J).to_pandas()
        >>> frame["id"].tolist(), frame["word"].list.len().tolist()
        ([7, 8], [2, 0])
        """
        import pandas
        import pyarrow as pa

        from varlen.interop.arrow_columns import without_dictionaries

        table = pa.table(self)
        plain = pa.schema([field.with_type(without_dictionaries(field.type)) for field in table.schema])
        return table.cast(plain).to_pandas(
            types_mapper=lambda kind: pandas.ArrowDtype(kind) if pa.types.is_nested(kind) else None,
            date_as_object=False,
        )

    def to_polars(self) -> pl.DataFrame:
        """Convert to a DataFrame of Polars, a column a key, over the same memory.

        Returns
        -------
        polars.DataFrame
            Lists are List columns, axes of a row Arrays, words Categorical. pyarrow is not needed.

        Raises
        ------
        TypeError
            Arrow has no type for the dtype of a key, which the error names.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8], "word": [["to", "be"], []]})
        >>> J.to_polars().to_dicts()
        [{'id': 7, 'word': ['to', 'be']}, {'id': 8, 'word': []}]
        """
        import polars

        return polars.DataFrame(self)

    def to_awkward(self) -> awkward.Array:
        """Convert to an array of awkward, a field a key, over the same memory.

        Returns
        -------
        awkward.Array
            Records. Lists are as deep as the levels of a key, axes of a row are regular, words are strings.

        Raises
        ------
        TypeError
            Awkward or Arrow has no type for the dtype of a key, which the error names.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8], "word": [["to", "be"], []]})
        >>> J.to_awkward().to_list()
        [{'id': 7, 'word': ['to', 'be']}, {'id': 8, 'word': []}]
        """
        from varlen.interop.awkward_nodes import array_of_node

        return array_of_node(self._arrow_node())


def series_of(source: ArrowSource) -> pd.Series:
    """A Series of pandas with a dtype of Arrow, over the same memory."""
    import pandas
    import pyarrow as pa

    return pandas.Series(pandas.arrays.ArrowExtensionArray(pa.array(source)))
