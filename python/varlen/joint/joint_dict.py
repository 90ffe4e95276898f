"""JointNestedRaggedTensorDict: many ragged keys that share their nesting from the top down."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from varlen import _core
from varlen._hints import JOINT, hint_names
from varlen._methods import adopt_methods
from varlen.arguments import as_bool, as_mapping, as_path, check_hashable, new_words
from varlen.errors import contract_error, type_error, value_error
from varlen.interop.arrow_nodes import Leaf, Node, joint_node
from varlen.interop.arrow_parts import is_foreign
from varlen.interop.frames import FrameMethods
from varlen.io import columns
from varlen.io.arrow_joint import joint_of_arrow
from varlen.io.mappings import columns_of_mappings
from varlen.io.schema import make_metadata
from varlen.joint import compat, files
from varlen.joint.combine import CombineMethods
from varlen.joint.dense import DenseMethods
from varlen.joint.device_methods import PlacedMethods
from varlen.joint.display import DisplayMethods
from varlen.joint.from_dims import NamedMethods
from varlen.joint.keys import KeyMethods

__all__ = ["JointNestedRaggedTensorDict"]

Self = TypeVar("Self", bound="JointNestedRaggedTensorDict")

Array = np.ndarray[tuple[Any, ...], np.dtype]


def _as_columns(raw: Any) -> Any:
    """A list of mappings, one a row, as columns; all else as it is."""
    if not (isinstance(raw, (list, tuple)) and raw and isinstance(raw[0], Mapping)):
        return raw
    if not raw[0]:
        raise value_error("raw_tensors[0]", "has no keys")
    return columns_of_mappings("", list(raw), "raw_tensors")


@adopt_methods
class JointNestedRaggedTensorDict(
    KeyMethods, DenseMethods, CombineMethods, PlacedMethods, NamedMethods, DisplayMethods, FrameMethods
):
    """Named ragged values that share their nesting: patients > visits > codes, say.

    The values of a key of dim d lie under levels 1 to d; keys share their common levels. All keys have the
    same number of rows at dim 0.

    Parameters
    ----------
    raw_tensors
        A dict from keys to nested lists of numbers or strings; the innermost lists may be arrays. A flat list
        has dim 0. A Ragged keeps its nesting. Arrays of times keep their unit. Strings become ids with their
        vocabulary. Or a list of dicts, one for each row, that have the same keys. Or a table that Arrow
        reads, whose columns are the keys and keep their dtypes.
    processed_tensors
        A dict of flat arrays, as `.tensors` gives it. It is used as it is, not copied.
    tensors_fp
        A file that `save` wrote; it is opened on first use.
    schema
        A dict from keys to dtypes; other dtypes are inferred. `str` stores the strings of a key as ids, with
        their vocabulary.
    keys
        With `tensors_fp`: the keys to read, with the levels that they need.
    tensors, pre_raggedified
        Names of the first generation: `tensors` is `raw_tensors`, or with `pre_raggedified=True` flat tensors
        or one array per row.
    narrow
        True infers the smallest integer type that holds the values, unsigned if none is negative, and float32
        for floats. False keeps the dtypes of arrays, and takes int64 and float64 for Python's numbers. By
        default arrays, tensors and Raggeds keep their dtypes, and Python's numbers are narrowed.
    trailing_dims
        A dict from keys to the number of fixed dims after the ragged ones. The values of these keys are
        arrays of that many dims, or nested lists of equal lengths.
    vocabularies
        A dict from keys of strings to their words, in the order of the ids; any other word is refused.
    row_ids
        The key of dim 0 whose values identify the rows, for `rows_of`; kept in files.
    padding_id
        True: new vocabularies, except that of row ids, begin with "[PAD]", and `to_dense` pads with its id 0.
        False: they begin with the first word.

    Raises
    ------
    ValueError
        There is no source or more than one, a key has an empty list, values are not nested lists of numbers
        or strings, keys do not share their nesting, a name is reserved (`bounds`, `mask`), or no dtype holds
        the values.
    KeyError
        The file lacks one of `keys`.
    FileNotFoundError
        There is no file at `tensors_fp`.

    Examples
    --------
    >>> from varlen import JointNestedRaggedTensorDict
    >>> J = JointNestedRaggedTensorDict({
    ...     "id": [7, 8, 9],
    ...     "time": [[0.5, 1.5], [], [2.0]],
    ...     "code": [[[1, 2], [3]], [], [[4]]],
    ... }, row_ids="id")
    >>> len(J), J.max_n_dims, sorted(J.keys())
    (3, 3, ['code', 'id', 'time'])
    >>> J[0].to_dense()["code"]
    array([[1, 2],
           [3, 0]], dtype=uint8)
    >>> J[0, -1:].to_list()
    {'id': 7, 'time': [1.5], 'code': [[3]]}
    >>> J[J.rows_of([9, 7])].to_list()["time"]
    [[2.0], [0.5, 1.5]]
    >>> rows = [{"id": 7, "time": [0.5, 1.5]}, {"id": 8, "time": []}]
    >>> JointNestedRaggedTensorDict(rows).to_list()
    {'id': [7, 8], 'time': [[0.5, 1.5], []]}
    """

    def __init__(
        self,
        raw_tensors: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        processed_tensors: dict[str, Array] | None = None,
        tensors_fp: str | os.PathLike[str] | None = None,
        schema: Mapping[str, Any] | None = None,
        keys: Iterable[str] | None = None,
        *,
        tensors: Mapping[str, object] | None = None,
        pre_raggedified: bool = False,
        narrow: bool | None = None,
        trailing_dims: Mapping[str, int] | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        row_ids: str | None = None,
        padding_id: bool = True,
    ) -> None:
        processed_tensors, tensors_fp, schema, pre_raggedified = compat.first_generation(
            processed_tensors, tensors_fp, schema, pre_raggedified
        )
        if tensors is not None and raw_tensors is None:
            raw_tensors = tensors
            tensors = None
        raw: Any = _as_columns(raw_tensors)
        if as_bool(pre_raggedified, "pre_raggedified") and raw is not None and processed_tensors is None:
            processed_tensors = compat.flat_tensors(raw)
            raw = None
        entries = {
            "raw_tensors": raw,
            "processed_tensors": processed_tensors,
            "tensors_fp": tensors_fp,
        }
        if sum(value is not None for value in entries.values()) + (tensors is not None) != 1:
            got = " ".join(f"{name}={value}" for name, value in entries.items())
            message = "Exactly one of `raw_tensors`, `processed_tensors`, `tensors_fp` must be non-null!"
            raise value_error("", f"{message} Got {got}")
        if keys is not None and tensors_fp is None:
            raise contract_error(ValueError, "keys", "`keys` may only be specified alongside `tensors_fp`.")
        entries = {**entries, "schema": schema, "trailing_dims": trailing_dims, "vocabularies": vocabularies}
        if isinstance(raw, (str, bytes, os.PathLike)):
            raise type_error(
                "raw_tensors",
                f"expected a dict from keys to nested lists, got {type(raw).__name__}; "
                "pass a file as tensors_fp=",
            )
        check_hashable(row_ids, "row_ids")
        if is_foreign(raw) and schema is None:
            first_words = functools.partial(
                new_words, padding_id=as_bool(padding_id, "padding_id"), row_ids=row_ids
            )
            self._joint = joint_of_arrow(raw, first_words, row_ids)
            return
        for argument in ("raw_tensors", "processed_tensors", "schema", "trailing_dims", "vocabularies"):
            if entries[argument] is not None:
                as_mapping(entries[argument], argument, "keys to what they have")
        if raw is not None:
            first_words = functools.partial(
                new_words, padding_id=as_bool(padding_id, "padding_id"), row_ids=row_ids
            )
            options = columns.ColumnOptions(schema, narrow, trailing_dims, vocabularies, row_ids, first_words)
            self._joint = columns.build_joint(raw, options, "raw_tensors")
            self._given_schema = options.schema
            return
        if schema is not None:
            self._given_schema = dict(schema)
        if processed_tensors is not None:
            self._live = processed_tensors
            self._metadata = make_metadata(vocabularies, row_ids)
            return
        assert tensors_fp is not None
        path = tensors_fp if isinstance(tensors_fp, Path) else Path(as_path(tensors_fp, "tensors_fp"))
        if not path.is_file():
            raise FileNotFoundError(f"Tensors filepath must exist, got {path}")
        self._tensors_fp = path
        if keys is not None:
            self._subset_keys = files.resolve_keys(path, keys)

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        cls._own_init = cls.__init__ is not JointNestedRaggedTensorDict.__init__

    def _open(self) -> _core.Joint:
        assert self._tensors_fp is not None
        return files.open_joint(self._tensors_fp, self._subset_keys)

    def _arrow_node(self, leaf: Leaf | None = None) -> Node:
        return joint_node(self._view(), leaf=leaf)

    def _file_order(self) -> tuple[str, ...] | None:
        return None if self._tensors_fp is None else files.tensor_names(self._tensors_fp, self._subset_keys)

    @classmethod
    def _infer_dtype(cls, vals: Sequence[object]) -> Any:
        return columns.infer_dtype(vals)

    def save(
        self,
        fp: str | os.PathLike[str],
        *,
        durable: bool = True,
        checksums: bool = False,
        compress: bool = False,
    ) -> None:
        """Write a file that upstream and safetensors can read, completely or not at all.

        Parameters
        ----------
        fp
            The file to write. An existing file is replaced once the new one is safe.
        durable
            False skips the fsync, which is faster. Other processes still see either the old file or the new
            one, complete; a power cut within seconds may lose both.
        checksums
            Store a checksum of each array, as `varlen.io.save` does.
        compress
            True stores the numbers in as few bits as they need, as `varlen.io.save` says; only varlen reads
            such files.

        Raises
        ------
        ValueError
            The object is a file that was not read yet, or its levels do not fit its values.
        TypeError
            The format lacks the dtype.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from varlen import JointNestedRaggedTensorDict
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "visits.nrt"
        ...     JointNestedRaggedTensorDict({"a": [[1, 2], [3]]}).save(path)
        ...     JointNestedRaggedTensorDict(tensors_fp=path)[0].to_list()
        {'a': [1, 2]}
        """
        if self._is_lazy:
            raise value_error("", f"Already saved to {self._tensors_fp}!")
        self._view().check()
        files.save(fp, self._arrays(), self._meta, durable=durable, checksums=checksums, compress=compress)

    @classmethod
    def load(cls: type[Self], fp: str | os.PathLike[str]) -> Self:
        """Open and map a whole file; values are read when you use them.

        Afterwards you may delete the file, or replace it by `save`, but not write into it.

        Parameters
        ----------
        fp : path
            A file that `save` or nested_ragged_tensors wrote.

        Returns
        -------
        JointNestedRaggedTensorDict
            The rows of the file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from varlen import JointNestedRaggedTensorDict
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     JointNestedRaggedTensorDict({"a": [[1, 2], [3]]}).save(Path(folder) / "visits.nrt")
        ...     J = JointNestedRaggedTensorDict.load(Path(folder) / "visits.nrt")
        >>> J.to_list()
        {'a': [[1, 2], [3]]}
        """
        return cls._wrap(files.open_joint(fp))

    @classmethod
    def load_slice(cls: type[Self], fp: str | os.PathLike[str], idx: Any) -> Self:
        """Load the rows that an index selects, as `load(fp)[idx]` does.

        Parameters
        ----------
        fp : path
            A file that `save` or nested_ragged_tensors wrote.
        idx : int, slice, array or tuple
            An index as for `J[...]`.

        Returns
        -------
        JointNestedRaggedTensorDict
            These rows.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from varlen import JointNestedRaggedTensorDict
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     JointNestedRaggedTensorDict({"a": [[1, 2], [3]]}).save(Path(folder) / "visits.nrt")
        ...     J = JointNestedRaggedTensorDict.load_slice(Path(folder) / "visits.nrt", 1)
        >>> J.to_list()
        {'a': [3]}
        """
        part = files.open_joint(fp).get(idx)
        out: Self = cls._wrap(files.open_joint(fp))[idx] if part is None else cls._wrap(part)
        return out


hint_names(JointNestedRaggedTensorDict, JOINT)
