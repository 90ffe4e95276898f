"""Layers of torch whose channels are the numbers of a row: norms, bags, whole channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import tracing
from varlen._core import RaggedBase
from varlen.arguments import as_bool, as_float, as_int
from varlen.backends.values import is_tensor
from varlen.errors import type_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.ops.support.inputs import regroup, same_kind

if TYPE_CHECKING:
    from collections.abc import Callable


def channel_rows(r: Any, name: str) -> Any:
    """The values of a Ragged of tensors whose rows have one axis."""
    if not isinstance(r, RaggedBase) or r._values.ndim != 2:
        raise type_error(
            "", f"torch.{name} takes a Ragged with rows (channels,)", "use r.values, or r.to_dense()"
        )
    if not is_tensor(r._values):
        raise type_error("input", f"torch.{name} takes a Ragged of tensors", "use r.torch()")
    return r._values


def call_arguments(names: str, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names."""
    return dict(zip(names.split(), args, strict=False)) | kwargs


def _group_norm(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A norm over the rows of each sequence and the channels of each group."""
    x = call_arguments("input num_groups weight bias eps", args, kwargs)
    return _norm(x["input"], name, as_int(x["num_groups"], "num_groups", 1), x)


def _instance_norm(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A norm over the rows of each sequence, channel by channel, or by the running mean of all of them."""
    x = call_arguments(
        "input running_mean running_var weight bias use_input_stats momentum eps", args, kwargs
    )
    r, values = x["input"], channel_rows(x["input"], name)
    mean, variance = x.get("running_mean"), x.get("running_var")
    eps = as_float(x.get("eps", 1e-5), "eps")
    if not as_bool(x.get("use_input_stats", True), "use_input_stats"):
        from torch.nn.functional import batch_norm

        return same_kind(r, batch_norm(values, mean, variance, x.get("weight"), x.get("bias"), eps=eps))
    if mean is not None and variance is not None:
        _follow(r, values, (mean, variance), as_float(x.get("momentum", 0.1), "momentum"))
    return _norm(r, name, values.shape[1], x)


def _follow(r: Any, values: Any, averages: tuple[Any, Any], momentum: float) -> None:
    """Move a running mean and variance towards those of the sequences of two rows or more, all alike."""
    rows = regroup(r, values.detach().to(averages[0].dtype), r._levels[-1:])
    parts: Any = rows[rows.lengths > 1]
    if len(parts):
        for average, current in zip(averages, (parts.mean(), parts.var(ddof=1)), strict=True):
            average.lerp_(current.mean(0), momentum)


def _norm(r: Any, name: str, groups: int, x: dict[str, Any]) -> Any:
    """Numbers less the mean of their group in their sequence, over its standard deviation."""
    values = channel_rows(r, name)
    if values.shape[1] % groups:
        raise value_error("num_groups", f"rows have {values.shape[1]} channels, no multiple of {groups}")
    precise = values.float() if values.itemsize < 4 else values  # halves lose the distances
    parts: Any = regroup(r, precise.reshape(len(values), groups, values.shape[1] // groups), r._levels[-1:])
    distances = parts - _mean(parts)
    scores = distances / (_mean(distances * distances) + as_float(x.get("eps", 1e-5), "eps")).sqrt()
    rows = scores._values.reshape(values.shape)
    if x.get("weight") is not None:
        rows = rows * x["weight"]
    return same_kind(r, (rows if x.get("bias") is None else rows + x["bias"]).to(values.dtype))


def _mean(parts: Any) -> Any:
    """The mean of each group of each sequence, for every channel of it."""
    means = parts.mean(empty=0)
    return means.mean(-1, keepdim=True).expand_as(means)


def _dropout(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Channels of whole sequences set to 0."""
    x = call_arguments("input p training inplace", args, kwargs)
    r, values = x["input"], channel_rows(x["input"], name)
    if not as_bool(x.get("training", True), "training"):
        return same_kind(r, values)
    share = as_float(x.get("p", 0.5), "p")
    if not 0 <= share <= 1:
        raise value_error("p", f"expected a share from 0 to 1, got {share}", number=share)
    flat: Any = regroup(r, values, r._levels[-1:])
    factors = values.new_empty((tracing.count_of(r._levels[-1]), values.shape[1])).bernoulli_(1 - share)
    return same_kind(r, (flat * (factors / (1 - share) if share < 1 else factors))._values)


def _bag(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The sum, the mean or the largest of the embeddings of each sequence."""
    x = call_arguments(
        "input weight offsets max_norm norm_type scale_grad_by_freq mode sparse per_sample_weights"
        " include_last_offset padding_idx", args, kwargs,
    )  # fmt: skip
    r: Any = x["input"]
    if not isinstance(r, RaggedBase) or not is_tensor(r._values) or r._values.ndim != 1:
        raise type_error("input", f"torch.{name} takes a Ragged of tensors of indices")
    if x.get("offsets") is not None:
        raise type_error("offsets", "a Ragged has its own", "leave them out")
    weights: Any = x.get("per_sample_weights")
    if weights is not None:
        if not isinstance(weights, RaggedBase) or weights._levels[-1] != r._levels[-1]:
            raise value_error("per_sample_weights", "expected a Ragged that nests like the input")
        x["per_sample_weights"] = weights._values
    x["input"], x["include_last_offset"] = r._values, True
    from varlen.backends.torch.autograd import offsets_of

    level: Any = r._levels[-1]
    level = tracing.offsets_of(level) if tracing.is_tracing() else level
    x["offsets"] = offsets_of(level, r._values).to(r._values.dtype)
    rows = func(**x)
    return regroup(r, rows, r._levels[:-1]) if len(r._levels) > 1 else rows


def _rows_of_two(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of the last axis of the rows of two Raggeds that nest alike."""
    first: Any = args[0] if args else None
    second: Any = args[1] if len(args) > 1 else None
    if not (isinstance(first, RaggedBase) and isinstance(second, RaggedBase)):
        raise type_error("", f"torch.{name} takes two Raggeds that come first", "use r.values")
    if not same_levels(first._levels, second._levels):
        raise value_error(
            "", f"torch.{name} takes Raggeds that nest alike: "
            f"{describe_difference(first._levels, second._levels)}",
        )  # fmt: skip
    if first._values.ndim < 2:
        raise type_error("", f"torch.{name} takes Raggeds whose rows have an axis", "use r.unsqueeze(-1)")
    if name == "cosine_similarity":
        x = call_arguments("x1 x2 dim eps", args, kwargs)
        if (dim := x.get("dim", 1)) not in (-1, first._values.ndim + len(first._levels) - 1):
            raise type_error("dim", f"axis {dim} is no axis of the rows", "use dim=-1, the last")
        args, kwargs = (first, second), {"dim": -1, **({"eps": x["eps"]} if "eps" in x else {})}
    return same_kind(first, func(first._values, second._values, *args[2:], **kwargs))


CHANNELS: dict[str, Callable[[str, Callable[..., Any], Any, dict[str, Any]], Any]] = {
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "dropout1d": _dropout,
    "embedding_bag": _bag,
    "cosine_similarity": _rows_of_two,
    "pairwise_distance": _rows_of_two,
    "bilinear": _rows_of_two,
}
