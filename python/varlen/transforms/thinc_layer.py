"""Models of Thinc: their containers as varlen's and back. Thinc is imported when a Model is made."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from varlen._core import Level
from varlen.backends.values import is_array
from varlen.interop import thinc as interop
from varlen.ops.support.inputs import one_level
from varlen.transforms.layer import as_layer
from varlen.transforms.models import ModelKind
from varlen.types import Padded, Pairs, Ragged

# Thinc's arrays of lengths, by the level that was made of each, so that the same array is handed back.
Kept = dict[int, tuple[Level, Any]]


def chain(*layers: Any) -> Any:
    """Thinc's own chain of Models, and of other layers as Models."""
    from thinc.api import Model
    from thinc.api import chain as chained

    models = [layer if isinstance(layer, Model) else as_layer(layer).to_thinc() for layer in layers]
    return chained(*models) if len(models) > 1 else models[0]


def from_thinc(x: Any, cache: Kept | None = None) -> Any:
    """Containers of Thinc as varlen's, in lists and tuples too; all else stays."""
    types = _types()
    if types is None:
        return x
    if isinstance(x, types.Ragged):
        values, level = interop.ragged_parts(x)
        if cache is not None:
            cache[id(level)] = level, x.lengths
        return Ragged(values, levels=level)
    if isinstance(x, types.Padded):
        return Padded(*interop.padded_parts(x))
    if isinstance(x, types.Pairs):
        return Pairs(from_thinc(x.one, cache), from_thinc(x.two, cache))
    return _map_items(x, partial(from_thinc, cache=cache))


def to_thinc(x: Any, cache: Kept | None = None) -> Any:
    """Containers of varlen as Thinc's, in lists and tuples too; refuses a nested Ragged."""
    if isinstance(x, Pairs):
        return _types().Pairs(to_thinc(x.one, cache), to_thinc(x.two, cache))
    if not isinstance(x, (Ragged, Padded)):
        return _map_items(x, partial(to_thinc, cache=cache))
    if isinstance(x, Padded):
        return interop.new_padded(x.data, *x._fields)
    level = one_level(x)
    result = interop.new_ragged(x.values, level)
    if cache and id(level) in cache:
        result.lengths = cache[id(level)][1]
    return result


def _types() -> Any:
    """Thinc's types; without them nothing is of Thinc's."""
    return sys.modules.get("thinc.types")


def _map_items(x: Any, convert: Callable[[Any], Any]) -> Any:
    if type(x) not in (list, tuple) or not x or is_array(x[0]):
        return x
    result = [convert(item) for item in x]
    return x if all(a is b for a, b in zip(result, x, strict=True)) else type(x)(result)


def _is_ours(x: Any) -> bool:
    if type(x) in (list, tuple):
        return any(_is_ours(item) for item in x if not is_array(item))
    return isinstance(x, (Ragged, Padded, Pairs))


def _model_class() -> Any:
    from thinc.api import Model

    return Model


THINC = ModelKind(_model_class, from_thinc, to_thinc, _is_ours)
