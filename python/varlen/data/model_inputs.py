"""Batches as keywords of models: names, an attention mask, positions, labels ignored in padding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from varlen import _core
from varlen.arguments import as_bool
from varlen.backends.values import is_tensor, memory_of
from varlen.errors import error_of, instance_error, name_place, type_error, value_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import RowsLike


__all__: list[str] = []

IGNORED = -100  # what losses of torch, and so of most models, leave out
_TOKENS = "input_ids"
LABELS = "labels"
_MASK = "attention_mask"
DEFAULTS = {"attention_mask": False, "position_ids": False, "document_ids": False, "cu_seqlens": False}

# What is made, and what the models of transformers call it where that is something else.
_MADE = {name: (name,) for name in DEFAULTS} | {
    "cu_seqlens": ("cu_seq_lens_q", "cu_seq_lens_k"),
    "max_seqlen": ("max_length_q", "max_length_k"),
}

_INT64 = np.dtype(np.int64)

#: What packed batches have beside their keys.
PACKED_NAMES = ("position_ids", "document_ids", "cu_seqlens", "max_seqlen")

Array = np.ndarray[tuple[Any, ...], np.dtype]


class ModelKeywords(TypedDict, total=False):
    """The options of batches for models; `Collate` says what each does."""

    names: Mapping[str, str] | None
    labels: str | None
    attention_mask: bool
    position_ids: bool
    document_ids: bool
    cu_seqlens: bool


class ModelInputs:
    """Leaves of samples, padded or end to end, as the keywords of a model."""

    def __init__(self, options: Mapping[str, Any], layout: str) -> None:
        self.names = _checked_names(options.get("names"))
        self._labels: str | None = options.get("labels")
        if self._labels is not None and not isinstance(self._labels, str):
            raise instance_error("labels", "the name of the tokens", self._labels)
        self._names = {name for name in DEFAULTS if as_bool(options.get(name, False), name)}
        #: What is made may be called by other names, too.
        self._all_names = [*self._names, *["max_seqlen"] * ("cu_seqlens" in self._names)]
        names = [
            *sorted(self._names),
            *["labels"] * (self._labels is not None),
            *["names"] * bool(self.names),
        ]
        #: The option that says that batches are for models; None where no option does.
        self.asked_by = names[0] if names else None
        self._layout = layout
        self._is_flat = layout == "ragged"
        if layout == "padded":
            for name in ("document_ids", "cu_seqlens"):
                if name in self._names:
                    raise value_error(name, "a padded batch has one sample per row", "pass layout='ragged'")
        elif "attention_mask" in self._names:
            instead = (
                "ragged batch has no padding; use cu_seqlens or document_ids"
                if self._is_flat
                else "packed batch has many samples per row; use document_ids and data.attention_mask"
            )
            raise value_error("attention_mask", f"a {instead}")

    @property
    def needs_masks(self) -> bool:
        """Whether the keywords depend on the place of padding."""
        return self._layout == "padded" and (bool(self._names) or self._labels is not None)

    def name_of(self, key: Any) -> Any:
        """The model's name for a key of the samples."""
        return self.names.get(key, key)

    def fill_of(self, key: Any, fill: object, default: Any = 0) -> Any:
        """The padding value of a key: -100 for labels; a single number applies to the tokens."""
        name = self.name_of(key)
        if isinstance(fill, Mapping):
            return fill.get(key, IGNORED if name == LABELS else default)
        return IGNORED if name == LABELS else fill if name == _TOKENS and fill is not None else default

    def dtype_of(self, key: object, values: Sequence[object]) -> Any:
        """The dtype to cast values of a key to before padding: int64 for integers."""
        name = self.name_of(key)
        is_label = name == LABELS
        if set(map(type, values)) == {list}:  # whose integers are int64
            return np.int64 if name in (_TOKENS, LABELS) and not any(values) else None
        kinds = set(map(_kind_of, values)) - {"no items"}
        return np.int64 if kinds and kinds <= set("iub" if is_label else "iu") else None

    def list_values(self, key: object, flat: tuple[Array, Any]) -> tuple[Array, Any]:
        """Values of lists with their levels, as they are padded: labels that are bools as int64."""
        values, levels = flat
        dtype = self.dtype_before(key, values.dtype)
        return flat if dtype == values.dtype else (values.astype(dtype), levels)

    def dtype_before(self, key: object, dtype: np.dtype) -> np.dtype:
        """The dtype in which values of a key are padded: labels that are bools as int64."""
        return _INT64 if dtype.kind == "b" and self.name_of(key) == LABELS else dtype

    def as_model_takes(self, name: object, leaf: Mapping[str, object]) -> dict[str, Any]:
        """A leaf in the dtypes of layers and losses: int64, float32, and no bools for labels."""
        try:
            return {**leaf, "": _as_model_takes(leaf[""], name == LABELS)}
        except ValueError as error:
            raise name_place(error, repr(name), advice="models take int64, give dtype") from None

    def check_keys(self, keys: Any, fill: RowsLike) -> None:
        """Refuse names of missing keys, two values under one name, and a fill without tokens."""
        keys = list(keys)
        for key in self.names:
            if key not in keys and key not in self._all_names:
                raise error_of(
                    KeyError, "names", f"{key!r} is not one of {sorted(map(str, [*keys, *self._all_names]))}"
                )
        key_of: dict[Any, Any] = {}
        for key in [*keys, *(key for key in self._all_names if key in self.names and key not in keys)]:
            name = self.name_of(key)
            if name in key_of:
                raise value_error("names", f"{key_of[name]!r} and {key!r} are both called {name!r}")
            key_of[name] = key
        if fill is not None and not isinstance(fill, Mapping) and _TOKENS not in key_of and not self._is_flat:
            raise value_error(
                "fill",
                f"one value is that of {_TOKENS!r}, as none of {sorted(map(str, key_of))} is called",
                "give names, or a mapping from keys",
            )
        if self._labels not in (None, LABELS) and LABELS in key_of:
            raise value_error(
                "labels",
                f"the samples have their own, {key_of[LABELS]!r}",
                f"leave the option out, or take labels={LABELS!r} where a model predicts the next token",
            )

    def batch_keywords(
        self, arrays: Mapping[str, object], depths: Mapping[str, int], casts: Mapping[str, object]
    ) -> dict[str, Any]:
        """The keywords of the model from a batch of a dataset."""
        leaves: dict[str, Any] = {}
        for key, depth in depths.items():
            leaf = {"": arrays[key]}
            if depth and self._layout == "padded":
                leaf["mask"] = arrays.get(f"dim{depth}/mask")
            elif depth and self._is_flat:
                leaf |= {name: arrays.get(f"dim1/{name}") for name in ("offsets", "cu_seqlens", "max_length")}
            elif depth:
                leaf |= {name: arrays[name] for name in PACKED_NAMES}
            name = self.name_of(key)
            leaves[name] = leaf if casts.get(key) is not None else self.as_model_takes(name, leaf)
        return self.batch(leaves)

    def batch(self, leaves: Mapping[Any, Any]) -> dict[Any, Any]:
        """The keywords of the model; a leaf is a dict of values and their mask or offsets, or a list."""
        if self._layout != "padded" and _is_sequence(leaves.get(_MASK)):
            _refuse_hidden(leaves[_MASK])
            leaves = {name: leaf for name, leaf in leaves.items() if name != _MASK}
        out = {
            name: self._value(leaf) if isinstance(leaf, dict) and "" in leaf else leaf
            for name, leaf in leaves.items()
        }
        if not self._names and self._labels is None:
            return out
        tokens = self._tokens(leaves)
        leaf = leaves[tokens]
        if self._layout != "packed" and (self._is_flat or self._labels == LABELS):
            _check_lengths(leaves.get(LABELS), leaf, tokens)
        if self._labels is not None:
            out[LABELS] = self._labels_of(leaves)
        if self._layout == "packed":
            extras = {name: leaf[name] for name in PACKED_NAMES if name in self._all_names}
            if "document_ids" in extras:
                extras["document_ids"] = _as_model_takes(extras["document_ids"], False)
        else:
            extras = self._flat_extras(leaf) if self._is_flat else self._padded_extras(leaf)
        for key, value in extras.items():
            first, *others = [self.names[key]] if key in self.names else _MADE[key]
            out.setdefault(first, value)
            for other in others:
                out.setdefault(other, value if isinstance(value, int) else _copy(value))
        return out

    def _tokens(self, leaves: Mapping[Any, object]) -> Any:
        """The name of the token sequences, whose lengths count."""
        sequences = [name for name, leaf in leaves.items() if _is_sequence(leaf) and name != LABELS]
        if _TOKENS in sequences:
            return _TOKENS
        if len(sequences) == 1:
            return sequences[0]
        raise value_error(
            "names",
            f"none of the sequences {sorted(map(str, sequences))} is called {_TOKENS!r}",
            "say which is",
        )

    def _value(self, leaf: Mapping[str, Any]) -> Any:
        value = leaf[""]
        return value[None] if self._is_flat and _is_sequence(leaf) else value

    def _labels_of(self, leaves: Mapping[Any, Any]) -> Any:
        """The tokens as labels, with -100 in padding and at tokens predicted from it or another sample."""
        source = self._labels
        if source not in leaves or not _is_sequence(leaves[source]):
            names = sorted(str(name) for name, leaf in leaves.items() if _is_sequence(leaf))
            raise error_of(KeyError, "labels", f"{source!r} is not one of the sequences {names}")
        leaf = leaves[source]
        if self._layout == "packed":
            return labels_of_bins(leaf[""], leaf["position_ids"], leaf["document_ids"])
        value = _copy(leaf[""])
        if self._is_flat:
            bounds = memory_of(leaf["offsets"])
            starts = bounds[:-1][bounds[1:] > bounds[:-1]]
            value[starts.tolist()] = IGNORED
            return value[None]
        mask = leaf["mask"]
        if source != LABELS:  # which have been padded with it, or with what `fill` says
            value[~mask] = IGNORED
        outer = (slice(None),) * (mask.ndim - 1)
        head, tail = (*outer, slice(None, -1)), (*outer, slice(1, None))
        value[tail][mask[tail] & ~mask[head]] = IGNORED
        return value

    def _padded_extras(self, leaf: Mapping[str, Any]) -> dict[str, Any]:
        extras: dict[str, Any] = {}
        mask = memory_of(leaf["mask"])
        if "attention_mask" in self._names:
            extras["attention_mask"] = mask.astype(np.int64)
        if "position_ids" in self._names:
            if mask.ndim != 2:
                raise value_error("position_ids", f"the tokens have {mask.ndim} axes, positions are of two")
            extras["position_ids"] = np.maximum(np.cumsum(mask, axis=1, dtype=np.int64) - 1, 0) * mask
        return _like(leaf[""], extras)

    def _flat_extras(self, leaf: Mapping[str, Any]) -> dict[str, Any]:
        extras: dict[str, Any] = {}
        bounds = memory_of(leaf["offsets"])
        lengths = np.diff(bounds)
        if "position_ids" in self._names:
            total = np.arange(bounds[-1], dtype=np.int64)
            extras["position_ids"] = (total - np.repeat(bounds[:-1], lengths))[None]
        if "document_ids" in self._names:
            extras["document_ids"] = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)[None]
        if "cu_seqlens" in self._names:
            extras["cu_seqlens"] = memory_of(leaf["cu_seqlens"])
            extras["max_seqlen"] = int(leaf["max_length"])
        return _like(leaf[""], extras)


def _checked_names(names: object) -> dict[str, str]:
    if names is None:
        return {}
    if not isinstance(names, Mapping):
        raise instance_error("names", "a mapping from keys to names", names)
    for key, name in names.items():
        if not isinstance(name, str):
            raise type_error("names", f"expected a name for {key!r}, got {type(name).__name__}")
    return dict(names)


def _is_sequence(leaf: object) -> bool:
    return isinstance(leaf, dict) and not leaf.keys().isdisjoint(("mask", "offsets", "document_ids"))


def _kind_of(value: Any) -> str | None:
    """The kind of dtype of an array or a tensor, "b" for a bool or a list of them; None for the rest."""
    if is_tensor(value):
        if value.dtype.is_floating_point or value.dtype.is_complex:
            return "f"
        return "b" if str(value.dtype) == "torch.bool" else "i"
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind
    if isinstance(value, list):
        if not value:
            return "no items"
        value = value[0]
    return "b" if isinstance(value, bool) else None


def as_label_dtype(value: object) -> Any:
    """Labels in a dtype that holds -100 and that losses take: int64 for integers and bools, or floats."""
    return _as_model_takes(value, True)


def labels_of_bins(block: object, position_ids: Any, document_ids: Any) -> Any:
    """Tokens of packed rows as labels, with -100 at the first of each sequence and in padding."""
    labels = _copy(as_label_dtype(block))
    labels[(position_ids == 0) | (document_ids < 0)] = IGNORED
    return labels


def _as_model_takes(value: Any, is_label: bool) -> Any:
    if is_tensor(value):
        import torch

        if value.dtype == torch.uint64:
            return torch.from_numpy(_core.cast(memory_of(value), _INT64))
        if value.dtype == torch.float64:
            return value.float()
        is_integer = not (value.dtype.is_floating_point or value.dtype.is_complex)
        return value.long() if is_integer and (is_label or value.dtype != torch.bool) else value
    if value.dtype == np.float64:
        return value.astype(np.float32)
    if value.dtype == np.uint64:
        return _core.cast(value, _INT64)  # which refuses numbers that do not fit
    return value.astype(np.int64, copy=False) if value.dtype.kind in ("iub" if is_label else "iu") else value


def _copy(value: Any) -> Any:
    return value.clone() if is_tensor(value) else value.copy()


def _check_lengths(labels: Any, tokens: Mapping[str, Any], name: object) -> None:
    """Refuse labels that differ in number from their tokens."""
    if not _is_sequence(labels):
        return
    label_lengths, token_lengths = _lengths_of(labels), _lengths_of(tokens)
    if not np.array_equal(label_lengths, token_lengths):
        sample = int(np.argmax(label_lengths != token_lengths))
        raise value_error(
            f"samples[{sample}][{LABELS!r}]",
            f"has {label_lengths[sample]}, expected one for each of the {token_lengths[sample]} of {name!r}",
            row=sample,
            number=int(label_lengths[sample]),
        )


def _lengths_of(leaf: Mapping[str, Any]) -> Array:
    if "offsets" in leaf:
        return np.diff(memory_of(leaf["offsets"]))
    mask: Array = memory_of(leaf["mask"])
    lengths: Array = mask.sum(tuple(range(1, mask.ndim)))
    return lengths


def _refuse_hidden(leaf: Mapping[str, Any]) -> None:
    """Refuse masks that hide tokens of samples laid end to end: models would see them."""
    mask = memory_of(leaf[""])
    if "document_ids" in leaf:
        hidden = (mask == 0) & (memory_of(leaf["document_ids"]) >= 0)
        if hidden.any():
            raise value_error(
                f"{_MASK!r}",
                f"hides tokens in bin {int(np.argmax(hidden.any(1)))}, and a packed batch has no mask",
                "leave them out of the rows, or the key out of the batch",
            )
    elif not mask.all():
        offsets = memory_of(leaf["offsets"])
        sample = int(np.searchsorted(offsets, np.argmin(mask != 0), side="right")) - 1
        raise value_error(
            f"samples[{sample}][{_MASK!r}]",
            "hides tokens, and a ragged batch has no mask",
            "leave them out of the sample",
            row=sample,
        )


def _like(value: object, extras: dict[str, object]) -> dict[str, Any]:
    """What was made as tensors where the values are."""
    if not is_tensor(value):
        return extras
    from varlen.data.tensors import to_tensors

    return to_tensors(extras)
