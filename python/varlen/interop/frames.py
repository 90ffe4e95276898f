"""Tables and columns of pyarrow, pandas, Polars and awkward over the memory that containers show to Arrow."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from varlen import _core
from varlen.errors import type_error
from varlen.interop.arrow_nodes import Leaf, Node
from varlen.interop.arrow_request import all_as_asked, as_asked
from varlen.interop.awkward_nodes import array_of, call_awkward
from varlen.tracing import eager_only

if TYPE_CHECKING:
    import awkward
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__: list[str] = []


class ArrowSource:
    """What shows itself to consumers of Arrow; a class says what its array is.

    Examples
    --------
    >>> import awkward as ak
    >>> ak.sum(vl.Ragged([3, 1, 4], [1, 2]), axis=1).to_list()
    [3, 5]
    """

    __slots__ = ()

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        raise NotImplementedError

    def _arrow_nodes(self) -> tuple[Node, Iterable[Node]]:
        """A node of the schema, and those of a stream."""
        node = self._arrow_node()
        return node, (node,)

    @eager_only()
    def __arrow_c_schema__(self) -> object:
        return _core.arrow_schema(self._arrow_nodes()[0])

    @eager_only()
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        node = as_asked(self._arrow_node(), requested_schema)
        return _core.arrow_schema(node), _core.arrow_array(node)

    @eager_only()
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _core.arrow_stream(*all_as_asked(*self._arrow_nodes(), requested_schema))

    def __awkward_function__(self, function: Any, arrays: Any, args: Any, keywords: Any) -> Any:
        return call_awkward(function, args, keywords)

    @eager_only()
    def to_awkward(self) -> awkward.Array:
        """Convert to an array of awkward, over the same memory. Containers take it back.

        Returns
        -------
        awkward.Array
            Lists as deep as the levels; a table is records, a field a key. Axes of a row are regular, words
            and text are strings, rows of a structured dtype are records.

        Raises
        ------
        TypeError
            Awkward has no type for the dtype, or the values lie on another device than the CPU. The error
            names the key.
        ValueError
            The values are a tensor that requires gradients.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.Padded.from_list([[1.0], [2.0, 3.0]]).to_awkward().to_list()
        [[1.0], [2.0, 3.0]]
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8], "word": [["to", "be"], []]})
        >>> J.to_awkward().to_list()
        [{'id': 7, 'word': ['to', 'be']}, {'id': 8, 'word': []}]
        """
        return array_of(self)


class FrameMethods(ArrowSource):
    """Conversions of a container whose keys are the columns of a table."""

    __slots__ = ()

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        text = f"{type(self).__name__} is a table, not one array"
        raise type_error("", text, "use to_pandas(), to_polars() or to_awkward(), or the array of one key")

    def _capsules(self) -> Any:
        """What shows the stream and nothing else: libraries take a dict apart by themselves."""
        return SimpleNamespace(__arrow_c_stream__=self.__arrow_c_stream__)

    def to_arrow(self) -> pa.Table:
        """Convert to a table of pyarrow, a column a key, over the same memory.

        Returns
        -------
        pyarrow.Table
            A level is a `large_list`, an axis of a row a list of fixed size, words are dictionaries.

        Raises
        ------
        TypeError
            Arrow has no type for the dtype of a key, which the error names.

        Examples
        --------
        >>> import varlen as vl
        >>> J = vl.JointNestedRaggedTensorDict({"id": [7, 8], "word": [["to", "be"], []]})
        >>> J.to_arrow().to_pylist()
        [{'id': 7, 'word': ['to', 'be']}, {'id': 8, 'word': []}]
        """
        import pyarrow

        return pyarrow.table(self._capsules())

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

        table = self.to_arrow()
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

        return polars.DataFrame(self._capsules())


class ColumnMethods(ArrowSource):
    """Conversions of a container that is one column of sequences."""

    __slots__ = ()

    def to_arrow(self) -> pa.Array:
        """Convert to an array of pyarrow, over the same memory where it is on the CPU.

        Returns
        -------
        pyarrow.Array
            The sequences; a level is a `large_list`, an axis of the rows a list of fixed size.

        Raises
        ------
        TypeError
            Arrow has no type for the dtype.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_arrow().to_pylist()
        [[3], [1, 4]]
        """
        import pyarrow

        return pyarrow.array(self)

    def to_pandas(self) -> pd.Series:
        """Convert to a Series of pandas with a dtype of Arrow, which shares values and offsets.

        `Series.list` and `explode` work on it, and `Ragged(series)` goes back. `pandas.Series(r)` and
        `frame["x"] = r` make a column of objects instead, one array a sequence.

        Returns
        -------
        pandas.Series
            The sequences; a level is a `large_list`, an axis of the rows a list of fixed size.

        Raises
        ------
        TypeError
            Arrow has no type for the dtype.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_pandas().list.len().tolist()
        [1, 2]
        """
        import pandas

        return pandas.Series(pandas.arrays.ArrowExtensionArray(self.to_arrow()))

    def to_polars(self) -> pl.Series:
        """Convert to a Series of Polars, over the same memory; `Ragged(series)` goes back.

        Returns
        -------
        polars.Series
            The sequences; a level is a List, an axis of the rows an Array. pyarrow is not needed.

        Raises
        ------
        TypeError
            Arrow has no type for the dtype.

        Examples
        --------
        >>> import varlen as vl
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_polars().list.sum().to_list()
        [3, 5]
        """
        import polars

        return polars.Series(self)
