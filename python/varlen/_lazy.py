"""Names that are loaded on first use, and advice about names that a package lacks."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any

# Packages and classes where a name may be instead, and what others call it.
_PACKAGES = ("varlen", "varlen.ops", "varlen.data", "varlen.io", "varlen.transforms", "varlen.dims")
_CLASSES = ("varlen.Ragged", "varlen.Data", "varlen.JointNestedRaggedTensorDict")
_MOST = 3
_SYNONYMS = {
    "array": "Ragged",
    "asarray": "Ragged",
    "ragged": "Ragged",
    "jagged": "Ragged",
    "nested_tensor": "Ragged",
    "tensor": "Ragged",
    "DataLoader": "Loader",
    "BucketSampler": "LengthBuckets",
    "cat": "concatenate concat",
    "concat": "concatenate",
    "hstack": "concatenate",
    "vstack": "concatenate",
    "flip": "reverse",
    "from_lists": "from_list",
    "length_mask": "mask",
    "lengths2mask": "mask",
    "lengths_to_mask": "mask",
    "sequence_mask": "mask",
    "pack_padded_sequence": "pack",
    "pack_sequence": "pack",
    "pad_sequence": "pad",
    "read": "open",
    "repeat_interleave": "broadcast_rows repeat",
    "scatter_sum": "scatter_add scatter",
    "segment_max": "reduce_max reduce",
    "segment_mean": "reduce_mean reduce",
    "segment_min": "reduce_min reduce",
    "segment_softmax": "softmax",
    "segment_sum": "reduce_sum reduce",
    "set_threads": "set_num_threads",
    "get_num_threads": "num_threads",
    "take": "gather",
    "write": "save",
}


def loaded_from(
    package: str, homes: dict[str, str], adapt: Callable[[Any, str], Any] | None = None
) -> Callable[[str], Any]:
    """The `__getattr__` of a package: `homes` maps names to modules, and `adapt` may change each object."""

    def get(name: str) -> Any:
        if name not in homes:
            text = f"module {package!r} has no attribute {name!r}{_advice(package, name)}"
            raise AttributeError(text, name=name, obj=sys.modules[package])
        value = getattr(importlib.import_module(homes[name]), name)
        value = value if adapt is None else adapt(value, name)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _advice(package: str, name: str) -> str:
    """The other places of a name in varlen; importing a submodule asks for its name, too."""
    if name.startswith("_") or importlib.util.find_spec(f"{package}.{name}") is not None:
        return ""
    words = [name, f"reduce_{name}", *_SYNONYMS.get(name, "").split()]
    ways = [way for word in words for way in _find(word)] or [
        f"{package}.{word}" for word in _matches(package, name)
    ]
    ways = sorted(dict.fromkeys(ways), key=lambda way: not way.startswith(f"{package}."))[:_MOST]
    return f"; see {' or '.join(ways)}" if ways else ""


def _matches(package: str, name: str) -> list[str]:
    """Names of the package that look like a misspelt one."""
    import difflib  # 1.5 ms, for errors alone

    return difflib.get_close_matches(name, importlib.import_module(package).__all__, 2, 0.75)


def _find(word: str) -> Iterator[str]:
    for package in _PACKAGES:
        if word in importlib.import_module(package).__all__:
            yield f"{package}.{word}"
    for path in _CLASSES:
        if hasattr(getattr(sys.modules["varlen"], path.removeprefix("varlen.")), word):
            yield f"{path}.{word}"
