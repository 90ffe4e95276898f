"""How a joint dict looks: text, notebook HTML, and a table of what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from varlen.arguments import as_int
from varlen.display.text import Column, key_texts, keys_text, plural
from varlen.joint.state import JointState

if TYPE_CHECKING:
    from varlen.display.summary import Summary

__all__: list[str] = []

Self = TypeVar("Self", bound="DisplayMethods")


class DisplayMethods(JointState):
    """Views of `JointNestedRaggedTensorDict` for people."""

    def head(self: Self, n: int = 5) -> Self:
        """Take the first rows: `J[:n]`.

        Parameters
        ----------
        n
            The number of rows, at least 0.

        Returns
        -------
        JointNestedRaggedTensorDict
            Views of the first `n` rows, or of all if there are fewer.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"a": [[1, 2], [], [3]]}).head(2).to_list()
        {'a': [[1, 2], []]}
        """
        return self._wrap(self._view().slice(0, min(as_int(n, "n"), len(self))), self._given_schema)

    def describe(self) -> Summary:
        """Summarize the lengths of each level and the values of each key.

        Returns
        -------
        Summary
            A dict of columns, which `pandas.DataFrame` takes. Each row has the count, the missing values
            (NaN, NaT), the mean, the standard deviation and the quartiles, or the most frequent words.

        Examples
        --------
        >>> from varlen import JointNestedRaggedTensorDict
        >>> JointNestedRaggedTensorDict({"a": [[1, 2], [3]], "w": [["x", "y"], ["x"]]}).describe()
        name          dtype    count  missing  mean      std  min  25%  50%   75%  max  most frequent
        dim1/lengths  lengths      2        0   1.5      0.5    1  1.25  1.5  1.75    2
        a             uint8        3        0     2  0.8165    1   1.5    2   2.5    3
        w             words        3        0                                            'x' 2, 'y' 1
        """
        from varlen.display.summary import summarize

        view = self._view()
        lengths = [(f"dim{d}/lengths", view.level(d).lengths) for d in range(1, view.depth + 1)]
        return summarize(lengths, self._columns())

    def _columns(self) -> list[Column]:
        view = self._view()
        levels = self._levels_of(view, view.depth)
        words = self._meta.get("vocabularies", {})
        return [
            Column(name, view.values(name), levels[: max(dim, 0)], words.get(name), dim < 0)
            for dim, name in zip(view.dims, view.names, strict=True)
        ]

    def _title(self) -> str:
        counts = [plural(len(self), "row"), plural(len(self._names()), "key")]
        return f"{type(self).__name__}({', '.join(counts)})"

    def __repr__(self) -> str:
        if self._is_lazy:
            return f"JointNestedRaggedTensorDict(tensors_fp={self._tensors_fp!s}, schema={self.schema})"
        if self._origin is not None or self._meta.get("vocabularies"):
            return keys_text(self._title(), key_texts(self._columns()))
        return f"JointNestedRaggedTensorDict(processed_tensors={self._arrays()}, schema={self.schema})"

    def _repr_html_(self) -> str:
        from varlen.display.html import keys_html

        rows = [("rows", f"{len(self):,}"), ("keys", f"{len(self._names()):,}")]
        levels = self._levels_of(self._view(), self._view().depth)
        return keys_html(type(self).__name__, rows, key_texts(self._columns()), levels)
