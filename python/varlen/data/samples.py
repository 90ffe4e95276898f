"""Collating samples of any dataset: dicts, tuples, arrays, tensors, numbers, nested lists, strings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, as_int, as_list, one_of
from varlen.backends.values import is_tensor
from varlen.data.arrow_samples import from_arrow_samples, is_arrow
from varlen.data.collator import collate_joints
from varlen.data.mappings import as_mappings, columns_of_mappings, frame_as_columns, rows_of_columns
from varlen.data.memory import as_joint, columns_of
from varlen.data.model_inputs import DEFAULTS, ModelInputs, ModelKeywords
from varlen.data.options import (
    BatchOptions,
    PaddingKeywords,
    check_names,
    fill_row,
    no_such_key,
    overflow_of_padding,
    per_key,
    select_columns,
    view_of,
    with_options,
)
from varlen.data.records import Records
from varlen.data.tensors import TensorLeaf, to_tensors

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from varlen.backends.values import RowsT
    from varlen.data.batch import Batch
    from varlen.data.memory import ColumnLike
    from varlen.joint import JointNestedRaggedTensorDict

__all__ = ["Collate", "collate"]

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Flat = tuple[Array, list[_core.Level]]


class CollateKeywords(PaddingKeywords, ModelKeywords, total=False):
    """The options of `Collate`, which says what each does."""


_LISTS = {list}
_MOST_LEVELS = 65  # one more than the core takes
_NOTHING = object()


class Collate:
    """A function for DataLoader's `collate_fn`: pads values of different lengths, or lays them end to end.

    Samples have one structure, and the batch has it too:

    ==================================  ==================================================================
    in the samples                      in the batch
    ==================================  ==================================================================
    a mapping                           a dict; masks, offsets and so on are called `key/mask` and so on
    a tuple, a named tuple              a tuple of as many; values with a mask or offsets are a pair
    arrays, tensors of one dimension    rows padded to (samples, longest, ...), and a bool mask, True where
    and more; lists of numbers          data is; or `layout="ragged"`: end to end, and int64 offsets, in a
                                        mapping also int32 `cu_seqlens` and `max_length`
    lists of lists, of arrays           padded on every axis that is a list, and the mask of all
    numbers, arrays of no dimension     stacked
    JointNestedRaggedTensorDict         as `Dataset.batch` has them
    tables and scalars of pyarrow       as the rows that they hold, each a mapping of arrays
    one mapping of columns              as its rows: a slice of `datasets`, what a tokenizer gives, a frame of
                                        pandas or Polars
    strings, bytes, None, the rest      a list
    ==================================  ==================================================================

    Parameters
    ----------
    layout
        "padded" or "ragged"; ragged takes one level, arrays and flat lists.
    padding_side, truncate
        "right" or "left".
    max_len
        Longer rows are cut, at the `truncate` side.
    pad_to_multiple_of
        The padded length is a multiple of it.
    fill, dtype
        Of padding, of the output: one for all, or a mapping from keys. Zero, and NumPy's promotion, by
        default. A fill for all has to fit the values that are padded with it.
    masks
        False leaves them out.
    keys
        Of mappings: those that the batch has, in this order. By default all, which are then the same in each.
    framework
        "numpy", "torch", or None: tensors where a sample holds one.
    names
        What a model calls keys of the samples: `{"tokens": "input_ids"}`, and what is made by the next
        options. With this option or one of the next, samples are mappings, rows of a varlen dataset, named
        tuples or dataclasses, and the batch holds what `model(**batch)` takes: integers are int64, and
        float64 is float32, where `dtype` says nothing; `labels` are padded with -100; one number as `fill` is
        that of `input_ids`; there are no masks but the one asked for; and `layout="ragged"` is one row
        (1, tokens) of all samples. `framework` is "torch" by default then.
    labels
        The name of the tokens that a model predicts, each from those before it. "input_ids": `labels` are
        these tokens, -100 in padding, and at the first token of each sample where another sample, or padding
        at the left, is before it. "labels": those of the samples, with the same -100.
    attention_mask
        True: int64, 1 where a token is, unless the samples have their own. A ragged batch has none: those of
        the samples have to be ones, and are left out.
    position_ids
        True: the number of each token in its sample, 0 in padding.
    document_ids, cu_seqlens
        True: of a ragged batch, the number of each token's sample; and where each sample begins, int32, with
        the longest length, for attention without a mask. They are `cu_seq_lens_q`, `cu_seq_lens_k`,
        `max_length_q` and `max_length_k`, as models of transformers take them, unless `names` calls
        "cu_seqlens" and "max_seqlen" something.

    Examples
    --------
    >>> from varlen.data import Collate
    >>> of_model = Collate(names={"x": "input_ids"}, labels="input_ids", fill=9, framework="numpy")
    >>> of_model([{"x": [1, 2]}, {"x": [3]}])["labels"]
    array([[   1,    2],
           [   3, -100]])
    >>> batch = Collate(padding_side="left")([{"x": [1, 2, 3], "name": "a"}, {"x": [4], "name": "b"}])
    >>> batch["x"], batch["name"]
    (array([[1, 2, 3],
           [0, 0, 4]]), ['a', 'b'])
    >>> batch["x/mask"]
    array([[ True,  True,  True],
           [False, False,  True]])
    """

    @with_options(CollateKeywords, DEFAULTS)
    def __init__(self, **options: Unpack[CollateKeywords]) -> None:
        check_names(options, CollateKeywords)
        given: dict[str, Any] = dict(options)
        of_model = {name: given.pop(name) for name in ModelKeywords.__annotations__ if name in given}
        layout: str | None = options.get("layout")
        if isinstance(layout, str) and layout in _ELSEWHERE:
            raise ValueError(f"layout: expected 'padded' or 'ragged'; {_ELSEWHERE[layout]}")
        one_of(options.get("layout", "padded"), "layout", ("padded", "ragged"))
        one_of(options.get("framework"), "framework", ("numpy", "torch", None))
        self._options = BatchOptions(**given)
        model = ModelInputs(of_model, self._options.values["layout"])
        self._model = None if model.asked_by is None else model
        self._given = {**self._options.given, **of_model}
        if self._model is not None:
            if "masks" in options:
                raise ValueError(f"masks: {model.asked_by} makes batches for models; leave it out")
            self._options = self._options.changed(framework=options.get("framework") or "torch")
        self._values = self._options.values
        self._for_records: tuple[dict[str, Any], BatchOptions | None] = {}, None
        keys = self._values["keys"]
        self._keys = None if keys is None else as_list(keys, "keys", "keys")
        self._max_len = self._one_number("max_len")
        self._multiple = self._one_number("pad_to_multiple_of")

    def _one_number(self, name: Literal["max_len", "pad_to_multiple_of"]) -> int | None:
        given = self._values[name]
        return None if given is None else as_int(given, name)

    @overload
    def __call__(self, samples: Sequence[Mapping[Any, Any]]) -> dict[str, Any]: ...
    @overload
    def __call__(self, samples: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]: ...
    @overload
    def __call__(self, samples: Sequence[str]) -> list[str]: ...
    @overload
    def __call__(self, samples: Sequence[JointNestedRaggedTensorDict]) -> Batch[Any]: ...
    @overload
    def __call__(self, samples: Sequence[RowsT]) -> RowsT | tuple[RowsT, RowsT]: ...
    @overload
    def __call__(self, samples: Sequence[Any]) -> object: ...
    def __call__(self, samples: Sequence[Any]) -> Any:
        """The batch of these samples.

        Parameters
        ----------
        samples
            Of one structure, at least one; or one mapping of columns, a value for each sample.

        Returns
        -------
        object
            The same structure, each value of all samples together.

        Raises
        ------
        ValueError, TypeError
            Samples of different structure; the key and the sample are named.
        KeyError
            `fill` or `dtype` name a key that no sample has.

        Examples
        --------
        >>> from varlen.data import Collate
        >>> Collate(masks=False, fill={"x": -1})([{"x": [1, 2]}, {"x": [3]}])
        {'x': array([[ 1,  2],
               [ 3, -1]])}
        """
        if isinstance(samples, Records) and self._model is not None and len(samples):
            return self._model.batch(self._leaves_of_records(self._model, samples))
        items = rows_of_samples(samples)
        for option in _PER_KEY:
            given = self._values[option]
            if isinstance(given, Mapping):
                known = set(_keys_of(items[0]))
                for key in given:
                    if key not in known:
                        raise no_such_key(option, key, known)
        if self._model is not None:
            return self._for_model(self._model, items)
        if self._keys is not None and not isinstance(items[0], Mapping) and view_of(items[0]) is None:
            raise TypeError(f"keys: samples[0] is {type(items[0]).__name__}, which has none")
        return self._merge("", items)

    def __repr__(self) -> str:
        given = self._given
        return f"Collate({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _for_model(self, model: ModelInputs, items: list[Any]) -> dict[Any, Any]:
        """The batch of mappings as the keywords of a model."""
        if view_of(items[0]) is not None:
            return model.batch(self._leaves_of_records(model, items))
        items = as_mappings(items)
        if not isinstance(items[0], Mapping):
            raise TypeError(
                f"{model.asked_by}: a model's batch is of mappings, samples[0] is {type(items[0]).__name__}"
            )
        columns = columns_of_mappings("", items, keys=self._keys)
        model.check_keys(columns)
        leaves: dict[Any, Any] = {}
        for key, values in columns.items():
            place, name = f"[{key!r}]", model.name_of(key)
            if not holds_data(values):
                leaves[name] = self._merge(place, values)
            elif self._dtype_of(key) is None:
                leaves[name] = model.as_model_takes(name, self._leaf(place, values, key))
            else:
                leaves[name] = self._leaf(place, values, key)
        return model.batch(leaves)

    def _leaves_of_records(self, model: ModelInputs, items: Any) -> dict[Any, Any]:
        """The values of a dataset's rows by the names of a model, each with its mask or offsets."""
        dataset: Any = items.dataset if isinstance(items, Records) else None
        columns = (
            dataset.fields if dataset is not None else columns_of(as_joint(items[0], "samples[0]"), lift=1)
        )
        columns = select_columns(columns, self._keys)
        model.check_keys(columns)
        options = self._options_for(model, columns)
        try:
            batch = (
                dataset._run(options, items.rows) if dataset is not None else collate_joints(items, options)
            )
        except OverflowError as error:
            raise overflow_of_padding(error, self._values, "samples: ") from None
        leaves: dict[Any, Any] = {}
        for key, column in columns.items():
            leaf: dict[str, Any] = {"": batch[key]}
            for beside in ("mask", "offsets", "cu_seqlens", "max_length") if column.dim else ():
                found = batch.get(f"dim{column.dim}/{beside}")
                leaf |= {} if found is None else {beside: found}
            name = model.name_of(key)
            leaves[name] = leaf if self._dtype_of(key) is not None else model.as_model_takes(name, leaf)
        return leaves

    def _options_for(self, model: ModelInputs, columns: Mapping[str, ColumnLike]) -> BatchOptions:
        """The options of batches of records; a dataset knows the last ones again."""
        dtypes = {key: column.dtype for key, column in columns.items()}
        known, options = self._for_records
        if options is not None and known == dtypes:
            return options
        for option in _PER_KEY:
            per_key(option, self._values[option], columns, columns)
        fill: dict[str, Any] = {key: model.fill_of(key, self._values["fill"]) for key in columns}
        dtype: dict[str, Any] = {key: self._dtype_of(key) for key in columns}
        for key, own in dtypes.items():
            if dtype[key] is None and own.kind in "iu":
                dtype[key] = np.int64
        options = self._options.changed(fill=fill, dtype=dtype)
        self._for_records = dtypes, options
        return options

    def _dtype_of(self, key: Any) -> Any:
        """The dtype that was asked for; None where none was."""
        dtype = self._values["dtype"]
        return dtype.get(key) if isinstance(dtype, Mapping) else dtype

    def _merge(self, name: str, items: list[Any]) -> Any:
        first = items[0]
        if isinstance(first, Mapping):
            return self._merge_mappings(name, items)
        if isinstance(first, tuple):
            return self._merge_tuples(name, items)
        if isinstance(first, (str, bytes)) or first is None:
            return _not_data(name, items)
        if view_of(first) is not None:
            return collate_joints(items, self._joint_options(items[0]))
        if holds_data(items):
            return _without_key(self._leaf(name, items))
        for item in items:
            _core.refuse_cycles(item, "samples")
        return items

    def _merge_mappings(self, name: str, items: list[Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        keys = None if name else self._keys
        for key, values in columns_of_mappings(name, items, keys=keys).items():
            if holds_data(values):
                leaf = self._leaf(f"{name}[{key!r}]", values, key)
                out[key] = leaf.pop("")
                out |= {f"{key}/{extra}": value for extra, value in leaf.items()}
            else:
                out[key] = self._merge(f"{name}[{key!r}]", values)
        return out

    def _merge_tuples(self, name: str, items: list[Any]) -> Any:
        first = items[0]
        for i, item in enumerate(items):
            if not isinstance(item, tuple) or len(item) != len(first):
                raise ValueError(f"samples[{i}]{name}: expected a tuple of {len(first)}, as samples[0] has")
        merged = [self._merge(f"{name}[{k}]", [item[k] for item in items]) for k in range(len(first))]
        return type(first)(*merged) if hasattr(first, "_fields") else tuple(merged)

    def _leaf(self, name: str, items: list[Any], key: Any = None) -> dict[str, Any]:
        """A dict: the values under "", and their mask or offsets."""
        fill, dtype = self._values["fill"], self._dtype_of(key)
        if self._model is not None:
            fill = self._model.fill_of(key, fill)
            dtype = self._model.dtype_of(key, items) if dtype is None else dtype
        fill = fill.get(key) if isinstance(fill, Mapping) else fill
        fill = 0 if fill is None else fill
        try:
            flat = self._flat(items, dtype)
            if flat is not None or not _holds_tensor(items):
                result = self._collate_arrays(items, fill, self._array_dtype(dtype, items), flat)
                return to_tensors(result) if self._values["framework"] == "torch" else result
            leaf = TensorLeaf(items, dtype)
            result = self._collate_arrays(leaf.arrays, leaf.fill(fill), leaf.array_dtype)
            return leaf.to_arrays(result) if self._values["framework"] == "numpy" else leaf.to_tensors(result)
        except OverflowError as error:
            raise overflow_of_padding(error, self._values, f"samples{name}: ") from None
        except (ValueError, TypeError) as error:
            raise type(error)(f"samples{name}: {error}{_hint(items)}") from None

    def _flat(self, items: list[Any], dtype: Any) -> Flat | None:
        """Lists of numbers and arrays as values and levels, in one look at each; None where there is more."""
        if list not in set(map(type, items)) and not any(isinstance(item, list) for item in items):
            return None
        flat = _core.from_lists(items, dtype=self._array_dtype(dtype, items), plain=True)
        if flat is None:
            for item in items:
                _core.refuse_cycles(item, "samples")
        return flat

    def _array_dtype(self, given: Any, items: list[Any]) -> np.dtype[Any] | None:
        if given is not None:
            return as_dtype(given, "dtype", objects=True)
        if set(map(type, items)) == _LISTS:
            return None
        kinds = {item.dtype.kind for item in items if isinstance(item, (np.ndarray, np.generic))}
        # torch takes int64 as indices; lists of integers are int64 anyway.
        return (
            np.dtype(np.int64)
            if self._values["framework"] == "torch" and kinds and kinds <= set("iu")
            else None
        )

    def _collate_arrays(
        self, items: list[Any], fill: Any, dtype: np.dtype[Any] | None, flat: Flat | None = None
    ) -> dict[str, Any]:
        if _rank(items[0]) == 0:
            return {"": _stack_numbers(items, dtype)}
        if flat is None and any(isinstance(item, list) for item in items):
            flat = _core.from_lists(items, dtype=dtype)
        if flat is not None:
            values, levels = flat
            if len(levels) > 1:
                return self._pad_nested(values, levels, fill)
            if self._values["layout"] == "padded":
                padded = _core.pad(
                    values,
                    levels[0],
                    self._values["padding_side"],
                    fill,
                    self._values["masks"],
                    self._max_len,
                    self._values["truncate"],
                    pad_to_multiple=self._multiple or 1,
                )
                return {"": padded[0], "mask": padded[1]} if self._values["masks"] else {"": padded}
            items = _core.ragged2list(values, levels[0])
        if self._values["layout"] == "ragged":
            return _ragged(*_core.list2ragged(self._truncate(items), dtype))
        dense = _core.list2dense(
            items,
            self._multiple or 1,
            fill,
            self._values["padding_side"],
            self._max_len,
            self._values["truncate"],
            self._values["masks"],
            dtype=dtype,
        )
        return {"": dense[0], "mask": dense[1]} if self._values["masks"] else {"": dense}

    def _truncate(self, items: list[Array]) -> list[Array]:
        if self._max_len is None:
            return items
        most = self._max_len
        return [
            item[max(0, len(item) - most) :] if self._values["truncate"] == "left" else item[:most]
            for item in items
        ]

    def _pad_nested(self, values: Array, levels: list[_core.Level], fill: Any) -> dict[str, Any]:
        if self._values["layout"] == "ragged":
            raise ValueError("lists of lists have more than one level; give layout='padded', or flat lists")
        depth = len(levels)
        row = fill_row("fill", "", values.shape[1:], values.dtype, fill)
        result = _core.Joint([""], [depth], [values], levels).dense(
            padding_side=self._values["padding_side"],
            truncate=self._values["truncate"],
            fill={"": row},
            max_sizes=[] if self._max_len is None else [self._max_len],
            masks=self._values["masks"],
        )
        out = {"": result.get("", np.empty((len(levels[0]), *[0] * depth), values.dtype))}
        return out | ({"mask": result[f"dim{depth}/mask"]} if self._values["masks"] else {})

    def _joint_options(self, joint: Any) -> BatchOptions:
        """The options of the keys that a joint dict has."""
        keys = set(_keys_of(joint))
        own: PaddingKeywords = {}
        for option in _PER_KEY:
            given = self._values[option]
            if isinstance(given, Mapping):
                own[option] = {key: value for key, value in given.items() if key in keys}
        return self._options.changed(**own) if own else self._options


@overload
def collate(samples: Sequence[Mapping[Any, Any]]) -> dict[str, Any]: ...
@overload
def collate(samples: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]: ...
@overload
def collate(samples: Sequence[str]) -> list[str]: ...
@overload
def collate(samples: Sequence[JointNestedRaggedTensorDict]) -> Batch[Any]: ...
@overload
def collate(samples: Sequence[RowsT]) -> RowsT | tuple[RowsT, RowsT]: ...
@overload
def collate(samples: Sequence[Any]) -> object: ...
def collate(samples: Sequence[Any]) -> object:
    """Samples of any dataset as one padded batch: `Collate()` as a plain function.

    Parameters
    ----------
    samples
        Of one structure, at least one.

    Returns
    -------
    object
        The same structure, each value of all samples together.

    Examples
    --------
    >>> from varlen.data import collate
    >>> collate([(np.array([1.5, 2.5]), 0), (np.array([3.5]), 1)])
    ((array([[1.5, 2.5],
           [3.5, 0. ]]), array([[ True,  True],
           [ True, False]])), array([0, 1]))
    """
    return _DEFAULT(samples)


def _hint(items: list[Any]) -> str:
    """What to do where some samples have nested lists, and others what a library made arrays of."""
    arrays = [item for item in items if isinstance(item, np.ndarray) or is_tensor(item)]
    of_objects = any(isinstance(array, np.ndarray) and array.dtype.hasobject for array in arrays)
    if of_objects or (len(arrays) < len(items) and any(array.ndim > 1 for array in arrays)):
        return "; give nested lists as lists, as `datasets` do without a format"
    return ""


def _stack_numbers(items: list[Any], dtype: np.dtype[Any] | None) -> Array:
    """A number of each sample."""
    try:
        array = np.asarray(items)
    except ValueError:
        raise ValueError("a number in the first sample, but not in all") from None
    if dtype is not None and array.dtype != dtype:
        array = _core.cast(array, dtype) if array.dtype.kind in "biuf" else np.asarray(items, dtype)
    text = array.dtype.kind in "SU" and dtype is None and not all(isinstance(x, str) for x in items)
    if array.dtype.hasobject or text:
        _core.from_lists(items, 0, name="samples")  # names the sample that is not a number
        raise TypeError(f"dtype: {array.dtype} is not a dtype of numbers")
    return array


def rows_of_samples(samples: Any) -> list[Any]:
    """The samples as a list, rows of Arrow's tables among them as dicts of arrays.

    Raises
    ------
    ValueError
        There are none.
    """
    if is_arrow(samples):
        items = from_arrow_samples([samples])
    else:
        samples = frame_as_columns(samples)
        has_columns = isinstance(samples, Mapping) and view_of(samples) is None
        items = rows_of_columns(samples) if has_columns else as_list(samples, "samples", "samples")
        if items and _holds_arrow(items[0]):
            items = from_arrow_samples(items)
    if not items:
        raise ValueError("samples: a batch needs at least one")
    return items


def _holds_arrow(sample: Any) -> bool:
    if type(sample) is dict:
        return any(map(is_arrow, sample.values()))
    return is_arrow(sample)


def holds_data(items: list[Any]) -> bool:
    """Whether the values of many samples are numbers: arrays, tensors, numbers, or lists that begin with one.

    The first value that is no list without items says it for all.
    """
    return next((_is_data(leaf) for leaf in map(_first_leaf, items) if leaf is not _NOTHING), True)


def _first_leaf(value: Any, depth: int = _MOST_LEVELS) -> Any:
    """What a nested list begins with."""
    if not isinstance(value, list):
        return value
    if depth == 0:
        return 0  # the core refuses lists that are nested so deep
    return next(
        (leaf for leaf in (_first_leaf(inner, depth - 1) for inner in value) if leaf is not _NOTHING),
        _NOTHING,
    )


def _is_data(leaf: Any) -> bool:
    if isinstance(leaf, (str, bytes)):  # those of NumPy too
        return False
    return isinstance(leaf, (np.ndarray, np.generic, bool, int, float, complex)) or is_tensor(leaf)


def _not_data(name: str, items: list[Any]) -> list[Any]:
    """Values that stay a list, without numbers, which another order of the samples would make data."""
    for i, item in enumerate(items):
        if item is None or isinstance(item, (str, bytes)):
            continue
        leaf = _first_leaf(item)
        if leaf is not _NOTHING and _is_data(leaf):
            first, other = type(items[0]).__name__, type(item).__name__
            raise TypeError(f"samples[{i}]{name}: has {other}, samples[0] has {first}")
    return items


def _keys_of(sample: Any) -> Iterator[Any]:
    """The keys that a sample has at any depth."""
    joint = view_of(sample)
    if joint is not None:
        yield from joint.names
    elif isinstance(sample, Mapping):
        yield from sample
        for value in sample.values():
            yield from _keys_of(value)
    elif isinstance(sample, tuple):
        for value in sample:
            yield from _keys_of(value)


def _holds_tensor(value: Any, depth: int = _MOST_LEVELS) -> bool:
    """Whether a tensor is among the leaves; the core refuses lists that are nested deeper."""
    if isinstance(value, list):
        return depth > 0 and any(_holds_tensor(inner, depth - 1) for inner in value)
    return is_tensor(value)


def _rank(value: Any) -> int:
    return 1 if isinstance(value, list) else int(np.ndim(value))


def _ragged(values: Array, level: _core.Level) -> dict[str, Any]:
    if level.total > np.iinfo(np.int32).max:
        raise OverflowError(f"cu_seqlens: {level.total} rows do not fit int32")
    cu_seqlens = level.offsets.astype(np.int32)
    return {
        "": values,
        "offsets": level.offsets.copy(),
        "cu_seqlens": cu_seqlens,
        "max_length": level.longest,
    }


def _without_key(leaf: dict[str, Any]) -> Any:
    """A leaf without a key: the values, or a pair of values and their mask or offsets."""
    extra = leaf.get("mask", leaf.get("offsets"))
    return leaf[""] if extra is None else (leaf[""], extra)


_ELSEWHERE = {"data": "dims.Schema makes Data of samples", "packed": "data.pack fills rows of one size"}
_PER_KEY: tuple[Literal["fill", "dtype"], ...] = ("fill", "dtype")
_DEFAULT = Collate()
