"""Show a Data in a terminal and in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from varlen.backends.values import device_of
from varlen.dims.axes import describe
from varlen.dims.base import dtype_name
from varlen.dims.export import levels_of
from varlen.display import html as _html
from varlen.display import text as _text

if TYPE_CHECKING:
    from varlen.dims.data import Data


def text(data: Data[Any]) -> str:
    """The name, the dims with their lengths, the dtype and what else is not as usual."""
    facts = data._facts
    parts = [] if facts.name is None else [repr(facts.name)]
    parts.append(describe(data.dims))
    parts.append(dtype_name(data._values.dtype))
    if facts.sparse_dim is not None:
        parts.append(f"sparse_dim={describe([facts.sparse_dim])[1:-1]}")
    parts += [
        f"{x}_dim={d.name}" for x in ("time", "feature") if (d := getattr(facts, f"{x}_dim")) is not None
    ]
    if facts.beam is not None:
        parts.append(f"beam={describe([facts.beam.dim])[1:-1]}")
    if not facts.available_for_inference:
        parts.append("available_for_inference=False")
    if data._dense is not None:
        parts.append("padded")
    device = device_of(data._values)
    if device != "cpu":
        parts.append(f"device={device}")
    if getattr(data._values, "requires_grad", False):
        parts.append("requires_grad")
    return f"{type(data).__name__}({', '.join(parts)})"


def html(data: Data[Any]) -> str:
    """A table of the dims, and a picture of the lengths of each whose lengths differ."""
    rows = [(type(data).__name__, escape(text(data)))]
    pictures = []
    for k, dim in enumerate(data._shape.dims):
        names = ", ".join(escape(x.name) for x in dim.over)
        rows.append((escape(dim.name), escape(describe([dim])[1:-1]) + (f" over {names}" if names else "")))
        if data._shape.is_ragged(k) and dim.level is not None:
            pictures.append(f"<div>{escape(dim.name)}</div>" + _html.histogram(dim.level))
    return f"<div>{_html.table(rows)}{''.join(pictures)}</div>"


def print_text(data: Data[Any]) -> str:
    """What `print` shows: `text`, and the numbers below it, of many only some."""
    if data._shape.ragged > 1 and data._order is None:
        numbers = _text.ragged_text("", data._values, levels_of(data._shape, 1)).partition("\n")[2]
    else:
        numbers = str(data._values)
    return f"{text(data)}\n{numbers}"
