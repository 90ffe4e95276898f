"""What it costs to put a layer around a layer: containers in, the same kind out, and the gradient back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample

# What is put around a layer, and the container that comes.
WRAPS = (("with_array", "ragged"), ("with_array", "list"), ("with_padded", "ragged"), ("with_padded", "list"))


def _nothing(X: Any, is_train: bool) -> Any:
    return X, lambda dY: dY


def _parts(result: Any) -> list[np.ndarray]:
    """The values that came out, and those of the gradient."""
    return [
        np.concatenate(list(x)) if isinstance(x, list) else getattr(x, "dataXd", getattr(x, "values", x))
        for x in result
    ]


def _there_and_back(layer: Any, X: Any) -> Any:
    def call() -> Any:
        Y, backprop = layer(X, True)
        return Y, backprop(Y)

    return call


def _around(case: Case, name: str, kind: str) -> None:
    rows = sample.rows(case.size(100, 5), 20, 96)
    values, lengths, offsets = rows
    case.reference = [values, values]
    seqs = [values[a:b] for a, b in pairwise(offsets)]
    case.share(1, best=1)

    @case.contender("varlen", show=_parts)
    def _() -> Any:
        import varlen

        layer = getattr(varlen.transforms, name)(_nothing)
        return _there_and_back(layer, seqs if kind == "list" else varlen.Ragged(values, lengths))

    @case.contender("Thinc", needs="thinc", show=_parts)
    def _() -> Any:
        from thinc import api
        from thinc.types import Ragged

        layer = getattr(api, name)(api.Model("nothing", lambda model, X, is_train: _nothing(X, is_train)))
        return _there_and_back(layer, seqs if kind == "list" else Ragged(values, lengths.astype(np.int32)))


for _name, _kind in WRAPS:
    _of = "a list of 100 arrays" if _kind == "list" else "a Ragged of 100"
    row(f"transforms.{_name}.{_kind}", f"{_name} around nothing, {_of}, 96 wide: there and back")(
        lambda case, name=_name, kind=_kind: _around(case, name, kind)
    )
