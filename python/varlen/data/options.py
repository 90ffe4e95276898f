"""The options of batches: declared once, checked once, used for many batches."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import (
    as_bool,
    as_dtype,
    as_int,
    as_list,
    one_of,
    option_error,
    refuse_gradient,
    refuse_mask,
    word_as_id,
)
from varlen.backends.devices import device_name, framework_of
from varlen.backends.values import is_tensor, memory_of
from varlen.data.model_inputs import DEFAULTS as MODEL_DEFAULTS
from varlen.data.model_inputs import ModelInputs, ModelKeywords
from varlen.errors import error_of, name_item, name_place, value_error

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from varlen._core import Dim
    from varlen.data.sources.memory import ColumnLike
    from varlen.dims import DataSpecs

__all__: list[str] = []

Side = Literal["left", "right"]
PerAxis = int | Sequence[int | None] | None
Function = TypeVar("Function", bound=Callable[..., Any])

WINDOWS = ("from_start", "to_end", "random", "balanced_random")


class _LayoutKeywords(TypedDict, total=False):
    """The options of every batch, of rows and of samples, except the kind of arrays."""

    max_len: PerAxis
    truncate: Side
    padding_side: Side
    pad_to_multiple_of: PerAxis
    fill: Any
    dtype: Any
    masks: bool


class PaddingKeywords(_LayoutKeywords, total=False):
    """The options of batches of samples; `Collate` explains each."""

    layout: Literal["padded", "ragged"]
    keys: Sequence[str] | None
    framework: Literal["numpy", "torch"] | None


class _RowKeywords(_LayoutKeywords, total=False):
    """The options of batches of rows, except their layout and the kind of arrays."""

    dims: Sequence[Dim] | DataSpecs | None
    keys: Sequence[str] | None
    window: Literal["from_start", "to_end", "random", "balanced_random"] | None
    flatten: bool
    fill_mode: Literal["first", "repeat", "nan"]
    nan: Any
    pad_to: PerAxis
    prefix: Any
    suffix: Any
    lengths: bool
    positions: bool
    parts: bool
    windows: bool
    cu_seqlens: bool
    max_bytes: int | None


class DataBatchKeywords(_RowKeywords, total=False):
    """The options of batches of Data."""


class ArrayBatchKeywords(_RowKeywords, ModelKeywords, total=False):
    """The options of batches of rows, except the kind of arrays."""

    layout: Literal["padded", "ragged", "packed", "named"]


class BatchKeywords(ArrayBatchKeywords, total=False):
    """The options of batches of rows; `Dataset.batch` explains each."""

    framework: Literal["numpy", "torch", "cupy"] | None
    device: Any


# Options that are not listed default to None.
_DEFAULTS: BatchKeywords = {
    **MODEL_DEFAULTS,  # type: ignore[typeddict-item]
    "truncate": "right",
    "padding_side": "right",
    "masks": True,
    "layout": "padded",
    "flatten": False,
    "fill_mode": "first",
    "lengths": False,
    "positions": False,
    "parts": False,
    "windows": False,
    "cu_seqlens": True,
}
_NAMES = tuple(BatchKeywords.__annotations__)
_FLAGS = tuple(name for name, value in _DEFAULTS.items() if isinstance(value, bool))
_CORE_FLAGS = tuple(name for name in _FLAGS if name not in MODEL_DEFAULTS or name == "cu_seqlens")
# What a batch has beside its keys, and no model takes.
_BESIDE = ("masks", "lengths", "positions", "parts", "windows")
_CHOICES: dict[str, tuple[Any, ...]] = {
    "window": (None, *WINDOWS),
    "fill_mode": ("first", "repeat", "nan"),
    "padding_side": ("left", "right"),
    "truncate": ("left", "right"),
    "layout": ("padded", "ragged", "packed", "named"),
    "framework": ("numpy", "torch", "cupy", None),
}
_RENAMED = {"layout": {"data": "named"}}


class BatchOptions:
    """The checked options of a batch, with defaults for the others.

    `values` holds them by name. Dicts and lists are copied, so changing them later has no effect.
    """

    _is_of_samples = False

    def __init__(self, **options: Unpack[BatchKeywords]) -> None:
        check_names(options, BatchKeywords)
        self.user_options = {name: _copy(name, value) for name, value in options.items()}
        self.values: BatchKeywords = {**dict.fromkeys(_NAMES), **_DEFAULTS, **self.user_options}  # type: ignore[typeddict-item]
        values = self.values
        for name, choices in _CHOICES.items():
            one_of(values[name], name, choices, _RENAMED.get(name, {}))  # type: ignore[literal-required]
        for name in _FLAGS:
            values[name] = as_bool(values[name], name)  # type: ignore[literal-required]
        for name in ("max_len", "pad_to", "pad_to_multiple_of"):
            self.per_axis(name)
        if values["max_bytes"] is not None:
            as_int(values["max_bytes"], "max_bytes")
        dtype = values["dtype"]
        for name, one in dtype.items() if isinstance(dtype, Mapping) else (("dtype", dtype),):
            if one is not None:
                place = f"dtype of {name!r}" if one is not dtype else name
                as_dtype(one, place, objects=True, stand_in=values["framework"] != "numpy")
        self.model = self._model_inputs(values)
        self.device = self._checked_device(values)
        self.goes_to: str | None = None
        if values["window"] is not None and values["max_len"] is None:
            raise value_error("window", f"{values['window']!r} needs max_len")
        if values["layout"] == "named":
            self._refuse_padding(values)
            values["cu_seqlens"] = False
            if values["keys"] is None and isinstance(values["dims"], Mapping):
                values["keys"] = list(values["dims"])  # the others are not asked for
            if self.device is not None:  # Data go there once they are made
                values["framework"] = "torch"
                self.device, self.goes_to = None, self.device
        elif values["dims"] is not None:
            raise value_error("dims", "only named batches have dims", "pass layout='named'")
        if values["layout"] == "packed":
            self._check_packed(values)
        elif values["layout"] != "padded":
            for name in ("pad_to", "pad_to_multiple_of"):
                if self.per_axis(name):
                    raise value_error(
                        name, "does not apply: a ragged batch has no padding", "pass layout='padded'"
                    )
        if values["layout"] != "padded" and len(self.per_axis("max_len")) > 1:
            raise value_error("max_len", "a ragged batch cuts only its first axis", "pass one number")
        if self.model is not None and self.device is not None:  # what models take is made on the host
            self.device, self.goes_to = None, self.device

    def _model_inputs(self, values: BatchKeywords) -> ModelInputs | None:
        """The maker of a model's keywords, or None if no option requests them."""
        entries: dict[str, Any] = {**values}
        keywords = {
            name: entries[name] for name in ModelKeywords.__annotations__ if name in self.user_options
        }
        model_options = {name: value for name, value in keywords.items() if _says_something(value)}
        if not (self._is_of_samples or model_options.keys() - {"cu_seqlens"}):
            return None
        if values["layout"] == "named":
            raise value_error(
                f"{next(iter(model_options))}",
                "does not apply: models take arrays",
                "pass a layout other than 'named'",
            )
        model = ModelInputs(model_options, values["layout"])
        for name in _BESIDE:
            if self.user_options.get(name):
                raise value_error(name, f"{model.asked_by} already makes batches for models", "leave it out")
        if values["framework"] == "cupy":
            raise value_error("framework", "expected 'numpy' or 'torch' for a batch for models")
        values["masks"], values["cu_seqlens"] = model.needs_masks, "cu_seqlens" in model_options
        return model

    def _check_packed(self, values: BatchKeywords) -> None:
        """Refuse options that packed batches do not have; they are made from ragged ones, on the host."""
        sizes = self.per_axis("pad_to")
        if len(sizes) != 1 or sizes[0] < 1:
            raise value_error(
                "pad_to", f"a packed batch needs the size of its bins, got {values['pad_to']!r}"
            )
        if self.per_axis("pad_to_multiple_of"):
            raise value_error(
                "pad_to_multiple_of", "does not apply: the bins of a packed batch have the size pad_to"
            )
        if values["padding_side"] != "right":
            raise value_error("padding_side", "packed bins are padded at their end", "pass 'right'")
        if values["positions"]:
            raise value_error(
                "positions", "does not apply: a packed batch always has position_ids", "leave it out"
            )
        if values["framework"] == "cupy":
            raise value_error("framework", "expected 'numpy' or 'torch' for a packed batch")
        values["cu_seqlens"] = False  # those of the ragged batch; the block has its own
        if self.device is not None:
            self.device, self.goes_to = None, self.device

    def _refuse_padding(self, values: BatchKeywords) -> None:
        """Refuse options that batches of Data do not have."""
        if values["padding_side"] != "right":
            raise value_error(
                "padding_side", "Data have no padding", "pass layout='padded', or call x.to_padded()"
            )
        if values["fill"] is not None and not self.has_edges:
            raise value_error(
                "fill",
                "Data have no padding, and no prefix or suffix lacks a key",
                "pass layout='padded', or call x.to_padded()",
            )
        if values["fill_mode"] != "first" and not values["flatten"]:
            raise value_error("fill_mode", f"{values['fill_mode']!r} needs flatten=True", "pass flatten=True")
        if values["cu_seqlens"] and "cu_seqlens" in self.user_options:
            raise value_error(
                "cu_seqlens", "named batches keep their lengths in their dims", "pass layout='ragged'"
            )

    @staticmethod
    def _checked_device(values: BatchKeywords) -> str | None:
        """The name of the target device, whose framework is set; None for the host."""
        if values["layout"] == "named" and values["framework"] == "cupy":
            raise value_error("framework", "expected 'numpy' or 'torch' for named batches")
        if values["device"] is None:
            if values["framework"] != "cupy":
                return None
            values["device"] = "cuda"
        name = device_name(values["device"])
        if values["framework"] == "numpy":
            raise value_error(
                "framework", "NumPy arrays have no device", "leave out either device or framework"
            )
        if name == "cpu" and values["framework"] == "cupy":
            raise value_error("framework", "CuPy arrays lie on CUDA devices, not on the CPU")
        if values["framework"] is None:
            values["framework"] = "torch" if name == "cpu" else framework_of(values["device"])
        return None if name == "cpu" else name

    def per_axis(self, name: str) -> list[int]:
        """An option that is a number, or one for each ragged axis, as a list with -1 for none."""
        value: PerAxis = self.values[name]  # type: ignore[literal-required]
        if value is None:
            return []
        minimum = 1 if name == "pad_to_multiple_of" else 0
        axes = value if isinstance(value, (tuple, list)) else [value]
        return [-1 if item is None else as_int(item, name, minimum) for item in axes]

    @functools.cached_property
    def is_named(self) -> bool:
        """Whether batches hold Data."""
        return self.values["layout"] == "named"

    @functools.cached_property
    def bin_size(self) -> int | None:
        """The bin size of packed batches; None for other layouts."""
        return self.per_axis("pad_to")[0] if self.values["layout"] == "packed" else None

    @functools.cached_property
    def is_random(self) -> bool:
        """Whether a seed matters."""
        return self.values["window"] in ("random", "balanced_random")

    @property
    def has_edges(self) -> bool:
        """Whether a prefix or suffix joins the windows."""
        return self.values["prefix"] is not None or self.values["suffix"] is not None

    @functools.cached_property
    def tensors(self) -> bool:
        """Whether batches hold tensors."""
        return self.values["framework"] == "torch"

    def core_options(self) -> dict[str, Any]:
        """The options as the core takes them."""
        values = self.values
        max_len = self.per_axis("max_len")
        window = values["window"] or ("from_start" if values["truncate"] == "right" else "to_end")
        out: dict[str, Any] = {name: values[name] for name in _CORE_FLAGS}  # type: ignore[literal-required]
        out |= {
            "fill_mode": values["fill_mode"],
            "padding_side": values["padding_side"],
            "truncate": values["truncate"],
            "draw": WINDOWS.index(window),
            "ragged": values["layout"] != "padded",
            "max_len": max_len[0] if max_len else -1,
            "inner_max": max_len[1:],
            "pad_to": [] if self.bin_size else self.per_axis("pad_to"),
            "multiple": self.per_axis("pad_to_multiple_of"),
        }
        if values["max_bytes"] is not None:
            out["max_bytes"] = int(values["max_bytes"])
        return out

    def replace(self, **options: Unpack[BatchKeywords]) -> BatchOptions:
        """The same with some options replaced."""
        keywords: BatchKeywords = {**self.user_options, **options}  # type: ignore[typeddict-item]
        return type(self)(**keywords)


class ModelBatchOptions(BatchOptions):
    """The options of batches for models; as for samples, `cu_seqlens` alone requests one too."""

    _is_of_samples = True


class OptionsCache:
    """A cache of checked options by their values, so a loop checks its options once."""

    def __init__(self) -> None:
        self._cache: dict[Any, BatchOptions] = {}
        # The last options, if none can change in place: then the same objects have the same values.
        self._last: tuple[tuple[str, ...], tuple[Any, ...], BatchOptions] | None = None

    def __call__(self, keywords: BatchKeywords) -> BatchOptions:
        """The checked options; those of an earlier call if the values are the same."""
        device = keywords.get("device")
        if device is not None:  # what was imported meanwhile counts
            name, framework = device_name(device), keywords.get("framework")
            if framework is None:
                framework = "torch" if name == "cpu" else framework_of(device)
            keywords = {**keywords, "device": name, "framework": framework}
        last = self._last
        names, values = tuple(keywords), tuple(keywords.values())
        if last is not None and all(map(is_, values, last[1])) and names == last[0]:
            return last[2]
        key = names, tuple(map(_by_value, values))
        options = self._cache.get(key)
        if options is None:
            options = BatchOptions(**keywords)
            while len(self._cache) > 7:
                self._cache.pop(next(iter(self._cache)), None)
            self._cache[key] = options
        if all(type(value) in _IMMUTABLE for value in values):
            self._last = names, values, options
        return options


def _says_something(value: object) -> bool:
    is_empty = isinstance(value, Mapping) and not value
    return value is not None and value is not False and not is_empty


_IMMUTABLE = (str, int, bool, float, type(None))


class _Identity:
    """An object as a key that equals only itself."""

    __slots__ = ("target",)

    def __init__(self, value: object) -> None:
        self.target = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.target is other.target

    def __hash__(self) -> int:
        return id(self.target)


def _by_value(value: Any) -> Any:
    """A key that is equal only for equal values: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    if kind.__name__ == "device":
        return kind, str(value)
    if kind in _IMMUTABLE or isinstance(value, (type, np.dtype)):
        return kind, value
    if isinstance(value, Mapping):
        return kind, tuple((key, _by_value(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return kind, tuple(map(_by_value, value))
    is_array = isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, np.ma.MaskedArray)
    if is_array and not value.dtype.hasobject:
        return kind, value.dtype, value.shape, value.tobytes()
    if is_tensor(value):
        return kind, value.dtype, value.shape, memory_of(value.detach().cpu()).tobytes()
    return _Identity(view_of(value) or value)


def _copy(name: str, value: Any) -> Any:
    """The value, without what could be changed in place; records for prefix and suffix as the core's view."""
    refuse_mask(value, name)
    if name == "dims":
        return value if value is None or isinstance(value, Mapping) else tuple(as_list(value, name, "dims"))
    if isinstance(value, Mapping):
        return {key: _copy(name, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_copy(name, item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    if is_tensor(value):
        refuse_gradient(value, name)
        return value.detach().clone()
    if isinstance(value, np.ndarray):
        return value.copy()
    return view_of(value) or value


def view_of(value: object) -> _core.Joint | None:
    """The core's view of a JointNestedRaggedTensorDict, or of a DataDict; None for anything else."""
    view = getattr(value, "_view", None) or getattr(value, "__varlen_joint__", None)
    result = view() if callable(view) else value
    return result if isinstance(result, _core.Joint) else None


# What collate functions of other libraries call an option.
_ELSEWHERE = {
    "label_pad_token_id": "fill",
    "max_length": "max_len",
    "pad_id": "fill",
    "pad_token_id": "fill",
    "padding_idx": "fill",
    "padding_value": "fill",
    "return_flash_attn_kwargs": "cu_seqlens",
    "return_seq_idx": "document_ids",
    "return_tensors": "framework",
}


def _suggestion(name: object, choices: Iterable[str]) -> str:
    """Known names that mean, or look like, an unknown one."""
    names = list(choices)
    alias = _ELSEWHERE.get(str(name), "")
    matches = [alias] if alias in names else difflib.get_close_matches(str(name), names, 2, 0.6)
    return f"; did you mean {' or '.join(map(repr, matches))}?" if matches else ""


_OF_WORKERS = {
    "num_workers", "workers", "prefetch_factor", "persistent_workers", "pin_memory", "worker_init_fn",
    "multiprocessing_context",
}  # fmt: skip


def check_names(
    options: Iterable[str], keywords: object, function: Callable[..., object] | None = None
) -> None:
    """Refuse options that are not declared; the suggestion may be another argument of the function."""
    names = keywords.__annotations__
    for name in options:
        if name in _OF_WORKERS:
            raise option_error(
                name,
                "; it is of a DataLoader, whose collate_fn is ds.collator(...); "
                "a varlen.data.Loader has threads= and prefetch=",
            )
        if name not in names:
            others = inspect.signature(function).parameters if function else ()
            raise option_error(name, _suggestion(name, dict.fromkeys([*names, *others])))


def no_such_key(option: str, key: object, keys: Iterable[Any]) -> KeyError:
    """The error for a key that is not among the known ones."""
    names = sorted(map(str, keys))
    return error_of(KeyError, option, f"{key!r} is not one of {names}{_suggestion(key, names)}")


def with_options(
    keywords: object = BatchKeywords, defaults: Mapping[str, object] | None = None, *, others: bool = False
) -> Callable[[Function], Function]:
    """Show the keywords behind `**options` in a function's signature, all of them or with others behind."""
    all_defaults = {**_DEFAULTS, **(defaults or {})}

    def show(function: Function) -> Function:
        signature = inspect.signature(function)
        *parameters, rest = signature.parameters.values()
        extras = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=all_defaults.get(name),
                annotation=getattr(annotation, "__forward_arg__", annotation),
            )
            for name, annotation in keywords.__annotations__.items()
        ]
        function.__signature__ = signature.replace(parameters=[*parameters, *extras, *[rest] * others])  # type: ignore[attr-defined]
        return function

    return show


def select_columns(columns: Mapping[str, ColumnLike], keys: Sequence[str] | None) -> dict[str, ColumnLike]:
    """The columns of a batch, in the order of `keys`."""
    if keys is None:
        return dict(columns)
    names = as_list(keys, "keys", "keys")
    for key in names:
        if not isinstance(key, str) or key not in columns:
            raise no_such_key("keys", key, columns)
    return {key: columns[key] for key in names}


def per_key(option: str, value: object, keys: Iterable[str], columns: Mapping[str, object]) -> dict[str, Any]:
    """An option that is one value for all keys, or a mapping from some keys to theirs."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        for key in value:
            if key not in columns:
                raise no_such_key(option, key, columns)
        return dict(value)
    return dict.fromkeys(keys, value)


def fill_row(option: str, key: str, row_shape: tuple[int, ...], dtype: np.dtype, value: object) -> np.ndarray:
    """One row of a value that the dtype must hold; zeros by default."""
    return _core.fill_row(value, dtype, row_shape, f"{option} of {key!r}" if key else option)


def overflow_of_padding(error: Exception, values: BatchKeywords, place: str = "") -> Exception:
    """A size that does not fit 63 bits, by the option that asks for it."""
    is_size = getattr(error, "code", "") == "padded_size"
    names = [name for name in ("pad_to", "pad_to_multiple_of") if is_size and values[name] is not None]
    if not names:
        return name_item(error, place) if place else error
    overflow = name_item(error, names[0])
    return name_place(overflow, place) if place else overflow


def padding_rows(
    value: object,
    selection: Mapping[str, ColumnLike],
    columns: Mapping[str, ColumnLike],
    dtypes: Mapping[str, np.dtype],
    needs_fill: bool,
) -> dict[str, np.ndarray]:
    """The padding of each key in its dtype: a number, a row, or a word of its vocabulary.

    A fill for all keys only applies to keys that are padded; `needs_fill` says whether one is.
    """
    fills = per_key("fill", value, selection, columns)
    for_all = value is not None and not isinstance(value, Mapping)
    rows = {}
    for key, column in selection.items():
        fill = None if for_all and not (needs_fill and column.dim > 0) else fills.get(key)
        if fill is None and column.dim > 0 and dtypes[key].kind in "iuf":
            fill = column.padding_id
        fill = word_as_id(fill, column.vocabulary, column.dtype, f"fill of {key!r}")
        rows[key] = fill_row("fill", key, column.trailing, dtypes[key], fill)
    return rows
