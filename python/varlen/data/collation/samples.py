"""Collating samples of any dataset: dicts, tuples, arrays, tensors, numbers, nested lists, strings."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen import _core
from varlen.arguments import as_list, one_of
from varlen.backends.values import is_tensor, like
from varlen.data.batch import Batch
from varlen.data.collation.arrow_samples import as_arrow_samples, from_arrow_samples, is_arrow, rows_of_arrow
from varlen.data.collation.collator import collate_joints
from varlen.data.collation.leaves import Flat, Leaves, holds_data, is_data, not_data
from varlen.data.collation.mappings import (
    as_mappings,
    frame_as_columns,
    is_frame,
    rows_of_columns,
    rows_of_frames,
)
from varlen.data.collation.null_types import Stand, stands_of
from varlen.data.collation.nulls import (
    HINT,
    NullPolicy,
    as_floats,
    as_stand,
    checked_policy,
    depth_of,
    first_leaf,
    holds_null,
    place_of_null,
    without_nulls,
)
from varlen.data.model_inputs import DEFAULTS, ModelInputs, ModelKeywords
from varlen.data.options import (
    BatchOptions,
    ModelBatchOptions,
    PaddingKeywords,
    check_names,
    fill_row,
    no_such_key,
    view_of,
    with_options,
)
from varlen.data.records import Records
from varlen.data.transport import as_sent, offer, raise_in_worker
from varlen.errors import name_item, type_error, value_error
from varlen.io.mappings import columns_of_mappings
from varlen.types.ragged import Ragged

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from varlen.backends.values import RowsT
    from varlen.joint import JointNestedRaggedTensorDict

__all__ = ["Collate", "collate"]


class CollateKeywords(PaddingKeywords, ModelKeywords, total=False):
    """The options of `Collate`, which explains each."""

    nulls: NullPolicy | Mapping[str, NullPolicy]


class Collate:
    """A `collate_fn` for DataLoader that pads values of different lengths, or lays them end to end.

    Samples have one structure, and the batch has it too:

    ==================================  ==================================================================
    in the samples                      in the batch
    ==================================  ==================================================================
    a mapping                           a Batch, which is a dict, or a dict if nested; masks, offsets and so
                                        on are called `key/mask` and so on
    a tuple, a named tuple              a tuple of as many; values with a mask or offsets are a pair
    arrays, tensors of one dimension    rows padded to (samples, longest, ...), and a bool mask, True where
    and more; lists of numbers          data is; or `layout="ragged"`: end to end, and int64 offsets, in a
                                        mapping also int32 `cu_seqlens` and `max_length`
    lists of lists, of arrays; Raggeds  padded on every axis that is a list, and the mask of all
    numbers, arrays of no dimension     stacked
    JointNestedRaggedTensorDict         as in `Dataset.batch`
    tables and scalars of pyarrow       as their rows, each a mapping of arrays; so is what shows itself to
                                        Arrow: relations of DuckDB, arrays of awkward, a Series of Polars
    one mapping of columns              as its rows: a slice of `datasets`, the output of a tokenizer, a frame
                                        of pandas or Polars
    strings, bytes, None, the rest      a list
    ==================================  ==================================================================

    Parameters
    ----------
    layout
        "padded" or "ragged"; ragged takes one level, arrays and flat lists.
    padding_side, truncate
        "right" or "left".
    max_len
        The longest length; longer rows are cut at the `truncate` side.
    pad_to_multiple_of
        Round the padded length up to a multiple of this.
    fill, dtype
        The padding value and the output's dtype: one for all keys, or a mapping from keys. The defaults are
        zero and NumPy's promotion. A fill for all keys must fit all values that it pads.
    masks
        False leaves masks out.
    nulls
        What nulls among numbers (None, or masked) become: one word for all keys, or a mapping from keys.
        "refuse", the default, raises an error that names the sample, the key and the place. "fill" stores
        `fill`, and the mask is False; single numbers and ragged batches then have a mask, too. "nan" stores
        NaN, and integers become float64 in every batch. "drop" leaves nulls out of lists. A null list counts
        as empty. Text keeps None. So do keys whose samples are all null, unless `dtype` names the key, or its
        Arrow, Polars or pandas column has a numeric type.
    keys
        The keys of mappings to batch, in this order. By default all keys, which must be the same in each
        sample.
    framework
        "numpy", "torch", or None: tensors if a sample holds one, else arrays.
    names
        New names for keys, as the model expects them: `{"tokens": "input_ids"}`. This option and those below
        make batches for `model(**batch)`. Samples must then be mappings, rows of a varlen dataset, named
        tuples or dataclasses. Integers become int64 and float64 becomes float32, unless `dtype` says
        otherwise. `labels` are padded with -100. A single number as `fill` applies to `input_ids`, and is an
        error if no key has that name. The batch has only the masks that you ask for, and `layout="ragged"`
        gives one row (1, tokens) of all samples. The default `framework` is "torch".
    labels
        The name of the tokens that the model predicts. "input_ids" copies these tokens to `labels`, with -100
        in padding, and at a sample's first token if another sample or padding comes before it. "labels" uses
        the samples' own labels, with -100 in the same places.
    attention_mask
        True: adds an int64 mask that is 1 at tokens, unless the samples bring their own. A ragged batch has
        no mask: masks of the samples must be all ones, and are left out.
    position_ids
        True: adds the position of each token in its sample, 0 in padding.
    document_ids, cu_seqlens
        True, for ragged batches: adds the sample number of each token; adds where each sample begins, int32,
        and the longest length, for attention without a mask. The latter are called `cu_seq_lens_q`,
        `cu_seq_lens_k`, `max_length_q` and `max_length_k`, as transformers models expect, unless `names`
        renames "cu_seqlens" and "max_seqlen".

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

    @with_options(CollateKeywords, {**DEFAULTS, "nulls": "refuse"})
    def __init__(self, **options: Unpack[CollateKeywords]) -> None:
        check_names(options, CollateKeywords)
        entries: dict[str, Any] = dict(options)
        self._nulls = checked_policy(entries.pop("nulls", "refuse"))
        model_options = {name: entries.pop(name) for name in ModelKeywords.__annotations__ if name in entries}
        layout: str | None = options.get("layout")
        if isinstance(layout, str) and layout in _ELSEWHERE:
            raise value_error("layout", f"expected 'padded' or 'ragged'; {_ELSEWHERE[layout]}")
        one_of(options.get("layout", "padded"), "layout", ("padded", "ragged"))
        one_of(options.get("framework"), "framework", ("numpy", "torch", None))
        self._options = BatchOptions(**entries)
        model = ModelInputs(model_options, self._options.values["layout"])
        self._model = None if model.asked_by is None else model
        self._user_options = {**self._options.user_options, **model_options}
        if self._model is not None:
            if "masks" in options:
                raise value_error(
                    "masks", f"{model.asked_by} already makes batches for models", "leave it out"
                )
            self._options = self._options.replace(framework=options.get("framework") or "torch")
        self._values = self._options.values
        kind = BatchOptions if self._model is None else ModelBatchOptions
        self._for_records = kind(**{**self._user_options, "framework": self._values["framework"]})
        self._leaves = Leaves(self._options)
        self._stands: dict[Any, Stand] = {}
        keys = self._values["keys"]
        self._keys = None if keys is None else as_list(keys, "keys", "keys")

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
        """Make the batch of these samples.

        Parameters
        ----------
        samples
            At least one sample, all of one structure; or one mapping of columns, with a value for each
            sample.

        Returns
        -------
        object
            A batch of the same structure, with each value of all samples together.

        Raises
        ------
        ValueError, TypeError
            There are no samples (except rows of a varlen dataset, which make a batch of no rows), or samples
            differ in structure; the message names the key and the sample.
        KeyError
            `fill` or `dtype` names a key that no sample has.

        Examples
        --------
        >>> from varlen.data import Collate
        >>> Collate(masks=False, fill={"x": -1})([{"x": [1, 2]}, {"x": [3]}])
        {'x': array([[ 1,  2],
               [ 3, -1]])}
        """
        offer()
        try:
            return self._batch_of(samples)
        except Exception as error:
            raise_in_worker(error)
            raise

    def _batch_of(self, samples: Sequence[object]) -> Any:
        if isinstance(samples, Records) and (self._model is not None or not len(samples)):
            dataset: Any = samples.dataset
            return dataset._run(self._for_records, samples.rows)
        if type(samples) is not list:
            samples = as_arrow_samples(samples)
        items = rows_of_samples(samples)
        stands = stands_of(samples)
        if stands:  # for this batch alone
            return _with_stands(self, stands)._collate(items)
        return self._collate(items)

    def _collate(self, items: list[object]) -> Any:
        """The batch of samples without objects of Arrow and frames."""
        for option, value in (*((name, self._values[name]) for name in _PER_KEY), ("nulls", self._nulls)):
            if isinstance(value, Mapping):
                keys = set(_keys_of(items[0]))
                for key in value:
                    if key not in keys:
                        raise no_such_key(option, key, keys)
        if self._model is not None:
            return _placed_batch(self._for_model(self._model, items))
        if self._keys is not None and not isinstance(items[0], Mapping) and view_of(items[0]) is None:
            raise type_error("keys", f"samples[0] is {type(items[0]).__name__}, which has none")
        return _placed_batch(self._merge("", items))

    def __repr__(self) -> str:
        keywords = self._user_options
        keywords = keywords if self._nulls == "refuse" else {**keywords, "nulls": self._nulls}
        return f"Collate({', '.join(f'{name}={value!r}' for name, value in keywords.items())})"

    def _for_model(self, model: ModelInputs, items: list[Any]) -> Any:
        """The batch of mappings as the keywords of a model."""
        if view_of(items[0]) is not None:
            return collate_joints(items, self._for_records)
        items = as_mappings(items)
        if not isinstance(items[0], Mapping):
            kind = type(items[0]).__name__
            raise type_error(model.asked_by or "", f"a model's batch is of mappings, samples[0] is {kind}")
        columns = self._columns("", items)
        model.check_keys(columns, self._values["fill"])
        leaves = self._arrays("", columns)
        arrays: dict[Any, Any] = {}
        for key, values in columns.items():
            name = model.name_of(key)
            if key not in leaves:
                arrays[name] = self._merge(f"[{key!r}]", values)
            elif self._dtype_of(key) is None:
                arrays[name] = model.as_model_takes(name, leaves[key])
            else:
                arrays[name] = leaves[key]
        return model.batch(arrays)

    def _columns(self, name: str, items: list[Any]) -> dict[Any, Any]:
        """The values of mappings by their keys; those that are lists of numbers may be read already."""
        keys = None if name else self._keys
        for key in keys or ():
            if key not in items[0]:
                raise no_such_key("keys", key, items[0])
        return columns_of_mappings(name, items, "samples", keys, read=self._values["dtype"] is None)

    def _arrays(self, name: str, columns: Mapping[Any, Any]) -> dict[Any, dict[str, Any]]:
        """The columns of numbers as arrays; all lists are read first, as reading empties the caches."""
        read: dict[Any, Flat | None] = {}
        items, null = dict(columns), dict[Any, Any]()
        for key, values in columns.items():
            flat = values if type(values) is tuple else None
            if flat is None:
                place = f"{name}[{key!r}]"
                items[key], null[key] = self._without_nulls(place, key, values)
                if not holds_data(items[key]):
                    continue
                flat = self._leaves.read(place, items[key], self._wanted_dtype(key, items[key]))
            if flat is not None and self._model is not None and self._dtype_of(key) is None:
                flat = self._model.list_values(key, flat)
            read[key] = flat
        return {
            key: self._array(f"{name}[{key!r}]", items[key], key, flat, null.get(key))
            for key, flat in read.items()
        }

    def _array(self, name: str, items: Any, key: Any, flat: Flat | None, null: Any = None) -> dict[str, Any]:
        fill = self._values["fill"]
        if self._model is not None:
            fill = self._model.fill_of(key, fill)
        fill = fill.get(key) if isinstance(fill, Mapping) else fill
        dtype = None if flat is not None else self._wanted_dtype(key, items)
        leaf = self._leaves.array(name, items, fill, dtype, flat)
        policy = self._null_policy(key)
        if policy in ("nan", "fill"):
            self._put_nulls(name, leaf, null, policy, fill)
        return leaf

    def _null_policy(self, key: object) -> NullPolicy:
        value = self._nulls
        policy: NullPolicy = value.get(key, "refuse") if isinstance(value, Mapping) else value
        return policy

    def _without_nulls(self, name: str, key: object, items: list[Any]) -> tuple[list[Any], list[Any] | None]:
        """Numbers with one in the place of each null, and where these are; anything else as it is."""
        items = _without_raggeds(items)
        policy, dtypes = self._null_policy(key), self._values["dtype"]
        is_said = isinstance(dtypes, Mapping) and key in dtypes
        are_numbers = is_said or (key in self._stands and name == f"[{key!r}]")  # though there may be none
        if (policy == "refuse" and not are_numbers) or not any(map(holds_null, items)):
            return items, None
        pair = first_leaf(items)
        if policy == "refuse":
            null = place_of_null(items) if pair is None else None
            if null is not None:
                raise value_error(f"samples[{null[0]}]{name}{null[1]}", f"is null; {HINT}", row=null[0])
            return items, None
        if pair is None and are_numbers:
            pair = self._stands.get(key) or (depth_of(items), as_stand(dtypes[key]))
        if pair is None and list in set(map(type, items)) and not any(map(holds_null, filter(None, items))):
            return [[] if item is None else item for item in items], None  # lists without numbers
        if pair is None and isinstance(self._nulls, Mapping):
            raise value_error(
                f"samples{name}", "all are null, so their type is unknown", f"give dtype={{{key!r}: ...}}"
            )
        if pair is None or not is_data(pair[1]):
            return items, None
        try:
            return without_nulls(items, policy, pair)
        except ValueError as error:
            raise name_item(error, f"samples{name}") from None

    def _put_nulls(self, name: str, leaf: dict[str, Any], null: Any, policy: NullPolicy, fill: Any) -> None:
        """What stands for nulls in the array of a leaf, and the mask that is False there."""
        if policy == "nan":
            leaf[""] = as_floats(name, leaf[""])
        value = leaf[""]
        if "mask" not in leaf and policy == "fill" and self._values["masks"] and self._model is None:
            leaf["mask"] = like(np.ones(len(value), bool), value)
        if null is None:
            return
        where = self._leaves.array(name, null, False, np.bool_)[""]  # though there may be none
        where = where if is_tensor(where) else like(where, value)
        stand = float("nan")
        if policy == "fill":
            stand = 0 if fill is None else fill
            if not is_tensor(value):
                fill_row("fill", "", (), value.dtype, stand)  # which the dtype has to hold
            if "mask" in leaf:
                leaf["mask"] &= ~where
        value[where] = stand

    def _wanted_dtype(self, key: object, items: list[object]) -> Any:
        """The dtype that was asked for, or that models take."""
        dtype = self._dtype_of(key)
        return self._model.dtype_of(key, items) if dtype is None and self._model is not None else dtype

    def _dtype_of(self, key: object) -> Any:
        """The dtype that was asked for; None where none was."""
        dtype = self._values["dtype"]
        return dtype.get(key) if isinstance(dtype, Mapping) else dtype

    def _merge(self, name: str, items: list[Any]) -> Any:
        first = items[0]
        if isinstance(first, Mapping):
            return self._merge_mappings(name, items)
        if isinstance(first, tuple):
            return self._merge_tuples(name, items)
        items, null = self._without_nulls(name, None, items)
        first = items[0]
        if isinstance(first, (str, bytes)) or first is None:
            return not_data(name, items)
        if view_of(first) is not None:
            return collate_joints(items, self._joint_options(items[0]))
        if holds_data(items):
            flat = self._leaves.read(name, items, self._wanted_dtype(None, items))
            return _without_key(self._array(name, items, None, flat, null))
        for item in items:
            _core.refuse_cycles(item, "samples")
        pair, place = first_leaf(items), place_of_null(items)
        if place is not None and pair is not None and is_data(pair[1]):  # which hides behind a null
            raise value_error(f"samples[{place[0]}]{name}{place[1]}", f"is null; {HINT}", row=place[0])
        return items

    def _merge_mappings(self, name: str, items: list[Any]) -> dict[str, Any]:
        columns = self._columns(name, items)
        arrays = self._arrays(name, columns)
        out: dict[str, Any] = {}
        for key, values in columns.items():
            if key in arrays:
                leaf = arrays[key]
                out[key] = leaf.pop("")
                for extra, value in leaf.items():
                    full_name = f"{key}/{extra}"
                    if full_name in columns:
                        raise value_error(
                            f"samples{name}",
                            f"{full_name!r} is a key, but also the name of the {extra} of {key!r}",
                            "rename the key, or choose others by keys=",
                        )
                    out[full_name] = value
            else:
                out[key] = self._merge(f"{name}[{key!r}]", values)
        return out

    def _merge_tuples(self, name: str, items: list[Any]) -> Any:
        first = items[0]
        for i, item in enumerate(items):
            if not isinstance(item, tuple) or len(item) != len(first):
                raise value_error(
                    f"samples[{i}]{name}", f"expected a tuple of {len(first)}, as samples[0] has", row=i
                )
        parts = [self._merge(f"{name}[{k}]", [item[k] for item in items]) for k in range(len(first))]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)

    def _joint_options(self, joint: object) -> BatchOptions:
        """The options of the keys that a joint dict has."""
        keys = set(_keys_of(joint))
        own: PaddingKeywords = {}
        for option in _PER_KEY:
            setting = self._values[option]
            if isinstance(setting, Mapping):
                own[option] = {key: value for key, value in setting.items() if key in keys}
        return self._options.replace(**own) if own else self._options


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
def collate(samples: Sequence[object]) -> object: ...
def collate(samples: Sequence[object]) -> object:
    """Make one padded batch of samples of any dataset: `Collate()` as a plain function.

    Parameters
    ----------
    samples
        At least one sample, all of one structure.

    Returns
    -------
    object
        A batch of the same structure, with each value of all samples together.

    Examples
    --------
    >>> from varlen.data import collate
    >>> collate([(np.array([1.5, 2.5]), 0), (np.array([3.5]), 1)])
    ((array([[1.5, 2.5],
           [3.5, 0. ]]), array([[ True,  True],
           [ True, False]])), array([0, 1]))
    """
    return _DEFAULT(samples)


def _with_stands(collate: Collate, stands: dict[Any, Stand]) -> Collate:
    """The same, which knows what nulls would be."""
    clone = copy.copy(collate)
    clone._stands = stands
    return clone


def _placed_batch(result: object) -> Any:
    """A dict of arrays as a Batch, which goes to devices and out of workers as a whole; all else as it is."""
    if type(result) is not dict or any(isinstance(value, (dict, tuple)) for value in result.values()):
        return as_sent(result)
    return Batch(result)


def rows_of_samples(samples: Any) -> list[Any]:
    """The samples as a list, rows of Arrow's tables among them as dicts of arrays."""
    if is_arrow(samples):
        items = rows_of_arrow(samples)
    else:
        samples = frame_as_columns(samples)
        has_columns = isinstance(samples, Mapping) and view_of(samples) is None
        items = rows_of_columns(samples) if has_columns else as_list(samples, "samples", "samples")
        if items and _holds_arrow(items[0]):
            items = from_arrow_samples(items)
        elif items and is_frame(items[0]):
            items = rows_of_frames(items)
    if not items:
        raise value_error("samples", "a batch needs at least one")
    return items


def _without_raggeds(items: list[Any]) -> list[Any]:
    """Raggeds as lists of their sequences."""
    if Ragged not in set(map(type, items)):
        return items
    return [_without_raggeds(list(item)) if type(item) is Ragged else item for item in items]


def _holds_arrow(sample: object) -> bool:
    if type(sample) is dict:
        return any(map(is_arrow, sample.values()))
    return is_arrow(sample)


def _keys_of(sample: object) -> Iterator[Any]:
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


def _without_key(leaf: Mapping[str, object]) -> Any:
    """A leaf without a key: the values, or a pair of values and their mask or offsets."""
    extra = leaf.get("mask", leaf.get("offsets"))
    return leaf[""] if extra is None else (leaf[""], extra)


_DIMS = "dims.DataSpecs makes Data of samples"
_ELSEWHERE = {"data": _DIMS, "named": _DIMS, "packed": "data.pack fills rows of one size"}
_PER_KEY: tuple[Literal["fill", "dtype"], ...] = ("fill", "dtype")
_DEFAULT = Collate()
