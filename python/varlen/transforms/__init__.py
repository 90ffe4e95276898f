"""Layers around arrays and containers, with gradients, with or without a framework."""

from functools import partial
from typing import Any

from varlen.transforms.combine import chain
from varlen.transforms.faces import (
    add,
    concatenate,
    list2array,
    list2padded,
    list2ragged,
    map_list,
    padded2list,
    ragged2list,
    reduce_first,
    reduce_last,
    reduce_max,
    reduce_mean,
    reduce_sum,
    residual,
    with_array,
    with_array2d,
    with_flatten,
    with_getitem,
    with_list,
    with_padded,
    with_ragged,
    with_reshape,
)
from varlen.transforms.layer import Layer, as_layer, register
from varlen.transforms.models import from_model, model
from varlen.transforms.reduce import expand_window
from varlen.transforms.thinc_layer import THINC
from varlen.transforms.vmap import LoopWarning

__all__ = [
    "Layer",
    "LoopWarning",
    "add",
    "as_layer",
    "chain",
    "concatenate",
    "expand_window",
    "list2array",
    "list2padded",
    "list2ragged",
    "map_list",
    "padded2list",
    "ragged2list",
    "reduce_first",
    "reduce_last",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "residual",
    "with_array",
    "with_array2d",
    "with_flatten",
    "with_getitem",
    "with_list",
    "with_padded",
    "with_ragged",
    "with_reshape",
]


def _from_module(module: Any) -> Layer:
    """A Layer of a torch module; what wraps it imports torch."""
    from varlen.transforms import torch_layer

    return torch_layer.as_layer(module)


register(from_model=partial(from_model, THINC), to_model=partial(model, THINC), from_module=_from_module)
