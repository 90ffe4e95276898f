"""Describe a model's data: the DataSpec of each key, and samples as a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from varlen._core import Dim
from varlen.arguments import as_mapping, check_key
from varlen.dims.base import check_data
from varlen.dims.records.collate import collate
from varlen.dims.records.data_dict import DataDict, all_dims
from varlen.dims.records.spec import WORDS, DataSpec, dtype_name, spec_of
from varlen.errors import error_of, name_item, name_place, type_error

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike
    from varlen.dims.data import Data


class DataSpecs(Mapping[str, DataSpec]):
    """The `DataSpec` of each key: describes a model's input, and collates samples into batches.

    Parameters
    ----------
    specs
        A DataSpec for each key, or a dict of its arguments, in which `dim_tags` may stand for `dims`.

    Raises
    ------
    TypeError
        A key is not a string, or `DataSpec` does not take an argument.

    Notes
    -----
    RETURNN's `extern_data`.

    Examples
    --------
    >>> time, target = vl.Dim("time"), vl.Dim("target")
    >>> feature, words = vl.Dim("feature", 2), vl.Dim("words", 1000)
    >>> schema = vl.dims.DataSpecs({
    ...     "data": {"dims": [vl.dims.batch_dim, time, feature], "dtype": "float32"},
    ...     "classes": {"dims": [vl.dims.batch_dim, target], "sparse_dim": words,
    ...                 "available_for_inference": False},
    ... })
    >>> batch = schema.collate([
    ...     {"data": [[0.5, 1.0], [2.0, 0.0]], "classes": [7]},
    ...     {"data": [[1.5, 3.0]], "classes": [8, 9, 7]},
    ... ])
    >>> batch["classes"]
    Data('classes', [batch(2), target(1 to 3)], int64, sparse_dim=words(1000), available_for_inference=False)
    >>> list(schema.for_inference())
    ['data']
    """

    __slots__ = ("_specs",)

    def __init__(self, specs: Mapping[str, DataSpec | Mapping[str, Any]]) -> None:
        self._specs: dict[str, DataSpec] = {}
        for key, spec in as_mapping(specs, "specs", "keys to what they have").items():
            check_key(key, "specs")
            self._specs[key] = spec if isinstance(spec, DataSpec) else _spec_of(key, spec)

    def __getitem__(self, key: str) -> DataSpec:
        return self._specs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._specs,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._specs!r})"

    @property
    def dims(self) -> tuple[Dim, ...]:
        """All dims, each once, including those of classes."""
        return all_dims((spec.dims, spec.sparse_dim) for spec in self._specs.values())

    @classmethod
    def of(cls, data: Mapping[str, Data[Any]]) -> DataSpecs:
        """Describe some data: the DataSpecs of their keys.

        Parameters
        ----------
        data
            A Data for each key, as in a DataDict.

        Returns
        -------
        DataSpecs
            The descriptions; their dims keep their lengths.

        Examples
        --------
        >>> vl.dims.DataSpecs.of({"x": vl.Data(np.zeros(2), [vl.Dim("two", 2)])})
        DataSpecs({'x': DataSpec([two(2)], float64)})
        """
        return cls({key: spec_of(one) for key, one in DataDict(data).items()})

    def for_inference(self) -> DataSpecs:
        """The keys that are available without labels.

        Returns
        -------
        DataSpecs
            The descriptions of these keys.

        Examples
        --------
        >>> specs = {"x": {"dims": []}, "y": {"dims": [], "available_for_inference": False}}
        >>> vl.dims.DataSpecs(specs).for_inference()
        DataSpecs({'x': DataSpec([])})
        """
        return type(self)({key: spec for key, spec in self._specs.items() if spec.available_for_inference})

    def collate(self, samples: Sequence[Mapping[str, Any]]) -> DataDict:
        """Make one batch of samples. Pass this method to a DataLoader as `collate_fn`.

        Parameters
        ----------
        samples
            A dict for each sample, with the values of each key at one position of its batch dim: nested
            lists, arrays or tensors. Keys that the schema lacks are left out.

        Returns
        -------
        DataDict
            A Data for each key, named after it. A dim that several keys share is bound once.

        Raises
        ------
        KeyError
            A sample lacks a key that has no default.
        LengthMismatchError
            Lengths of one dim differ among keys; the message names the key and the row.
        ValueError, TypeError
            Values do not fit the dims or the dtype; the message names the key.

        Examples
        --------
        >>> time = vl.Dim("time")
        >>> schema = vl.dims.DataSpecs({"x": {"dims": [vl.dims.batch_dim, time], "default": []}})
        >>> schema.collate([{"x": [3, 1]}, {}, {"x": [4]}])["x"].to_list()
        [[3, 1], [], [4]]
        """
        return DataDict(collate(self._specs, samples))

    def check(self, data: Mapping[str, Data[Any]]) -> None:
        """Raise an error if data has other dims, dtypes or keys.

        Parameters
        ----------
        data
            A Data for each key; it may have more keys.

        Raises
        ------
        KeyError
            A key is missing.
        OutShapeError
            The dims differ; the message names the key.
        TypeError
            The dtype or the sparse_dim differs.

        Examples
        --------
        >>> two = vl.Dim("two", 2)
        >>> schema = vl.dims.DataSpecs({"x": {"dims": [two], "dtype": "float32"}})
        >>> schema.check({"x": vl.Data(np.zeros(2), [two])})
        Traceback (most recent call last):
        TypeError: 'x': expected float32, got float64
        """
        as_mapping(data, "data", "keys to Data")
        for key, spec in self._specs.items():
            if key not in data:
                raise error_of(KeyError, "", f"{key!r} is missing among {list(data)}")
            check_data(data[key], f"data[{key!r}]")
            _check(key, spec, data[key])


def _check(key: str, spec: DataSpec, data: Data[Any]) -> None:
    try:
        data.verify_out_shape(spec.dims)
    except ValueError as error:
        raise name_place(name_item(error, ""), repr(key)) from None
    dtype = dtype_name(data._values.dtype)
    if spec.dtype is not None and dtype != spec.dtype:
        raise error_of(TypeError, "", f"expected {spec.dtype}, got {dtype}", context=repr(key))
    if spec.sparse_dim is not None and data.sparse_dim != spec.sparse_dim:
        reason = f"expected sparse_dim {spec.sparse_dim!r}, got {data.sparse_dim!r}"
        raise error_of(TypeError, "", reason, context=repr(key))


def _spec_of(key: str, value: RowsLike) -> DataSpec:
    words = dict(as_mapping(value, f"specs[{key!r}]", "arguments of DataSpec to what they are"))
    if "dim_tags" in words:
        words["dims"] = words.pop("dim_tags")
    for word in words:
        if word not in WORDS:
            raise type_error(f"specs[{key!r}]", f"there is no {word!r} among {', '.join(WORDS)}")
    if "dims" not in words:
        raise type_error(f"specs[{key!r}]", "expected dims")
    try:
        return DataSpec(**words)
    except (TypeError, ValueError) as error:
        raise name_item(error, f"specs[{key!r}]") from None
