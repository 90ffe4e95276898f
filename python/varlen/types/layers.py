"""Layers and losses of torch on a Ragged: what they count as a batch is its sequences, or all of its rows."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from varlen import tracing
from varlen._core import Level, RaggedBase
from varlen.errors import type_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.ops.attend import attend
from varlen.ops.ctc import ctc_loss
from varlen.ops.support.inputs import regroup, same_kind
from varlen.types.channels import call_arguments, channel_rows
from varlen.types.swaps import Swap

if TYPE_CHECKING:
    from collections.abc import Callable

_TWO = {
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy",
    "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "margin_ranking_loss",
    "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
}  # fmt: skip
# The arguments that come first in losses of three containers; all others take two, input and target.
_NAMES = {
    "triplet_margin_loss": ("anchor", "positive", "negative"),
    "gaussian_nll_loss": ("input", "target", "var"),
    "margin_ranking_loss": ("input1", "input2", "target"),
    "cosine_embedding_loss": ("input1", "input2", "target"),
}
RECURRENT = ("gru", "lstm", "rnn_tanh", "rnn_relu")
# The arguments of torch.nn.functional.multi_head_attention_forward, and what they are by default.
_MULTI_HEAD: dict[str, Any] = {
    **dict.fromkeys(
        ("query", "key", "value", "embed_dim_to_check", "num_heads", "in_proj_weight", "in_proj_bias",
         "bias_k", "bias_v")
    ),
    "add_zero_attn": False, "dropout_p": 0.0, "out_proj_weight": None, "out_proj_bias": None,
    "training": True, "key_padding_mask": None, "need_weights": True, "attn_mask": None,
    "use_separate_proj_weight": False,
    **dict.fromkeys(("q_proj_weight", "k_proj_weight", "v_proj_weight", "static_k", "static_v")),
    "average_attn_weights": True, "is_causal": False,
}  # fmt: skip
# Losses of rows, and how many Raggeds come first.
LOSSES = {name: 3 if name in _NAMES else 2 for name in _TWO}


class TimeMajor(Swap):
    """A Ragged whose first two axes a module of torch has swapped, and will swap back."""

    axes = 0, 1

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name == "multi_head_attention_forward":
            output, *rest = multi_head(name, func, args, kwargs or {})
        elif name in RECURRENT and isinstance(args[0], TimeMajor):
            output, *rest = recur(name, func, (args[0].ragged, *args[1:]), {})
        else:
            raise type_error(
                "", f"torch.{name} cannot take a Ragged with its time first", "use it before transpose(0, 1)"
            )
        return (TimeMajor(output), *rest)


def loss(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A loss over all rows of Raggeds that nest alike."""
    names = _NAMES.get(name, ("input", "target"))
    parts = [args[k] if k < len(args) else kwargs.get(key) for k, key in enumerate(names)]
    rest = {key: x for key, x in kwargs.items() if key not in names}
    others = (*parts, *args[len(names) :], *rest.values())
    first: Any = next(x for x in others if isinstance(x, RaggedBase))
    for key, x in zip(names, parts, strict=True):
        if not isinstance(x, RaggedBase) and (key != "var" or hasattr(x, "ndim")):
            raise type_error(
                key, f"torch.{name} takes a Ragged beside a Ragged", f"use vl.Ragged({key}, r.lengths)"
            )
    rows = [_loss_rows(name, key, x, first) for key, x in zip(names, parts, strict=True)]
    rows += [_loss_rows(name, "", x, first) for x in args[len(names) :]]
    options = {key: _loss_rows(name, key, x, first) for key, x in rest.items()}
    if options.get("reduction") == "batchmean":  # of the sequences, as a padded batch counts them
        count = tracing.count_of(first._levels[0])
        return func(*rows, **{**options, "reduction": "sum"}) / max(count, 1)
    result = func(*rows, **options)
    return same_kind(first, result) if options.get("reduction") == "none" else result


def _loss_rows(name: str, argument: str, x: Any, first: Any) -> Any:
    """The rows of an argument of a loss, which has to nest like the first Ragged."""
    if not isinstance(x, RaggedBase):
        return x
    if not same_levels(x._levels, first._levels):
        difference = describe_difference(x._levels, first._levels)
        raise value_error(argument, f"torch.{name} takes Raggeds that nest alike: {difference}")
    return x._values


def ctc(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.nn.functional.ctc_loss` of a Ragged of log probabilities and one of labels."""
    call = inspect.signature(func).bind(*args, **kwargs)
    call.apply_defaults()
    x = call.arguments
    log_probs, targets = x["log_probs"], x["targets"]
    if not isinstance(log_probs, RaggedBase) or not isinstance(targets, RaggedBase):
        raise type_error("targets", "torch.ctc_loss takes a Ragged of labels beside a Ragged of log_probs")
    for key, r in (("input_lengths", log_probs), ("target_lengths", targets)):
        if [int(n) for n in x[key]] != r._levels[-1].lengths.tolist():
            raise value_error(key, "differ from the lengths of the Ragged")
    losses = ctc_loss(log_probs, targets, blank=x["blank"], zero_infinity=x["zero_infinity"])
    if x["reduction"] == "mean":
        lengths = losses.new_tensor(targets._levels[-1].lengths.tolist()).clamp(min=1)
        return (losses / lengths).mean()
    return losses.sum() if x["reduction"] == "sum" else losses


def batch_norm(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A batch norm over all rows: there is no padding among them."""
    r, *rest = args if args else (kwargs.pop("input"),)
    return same_kind(r, func(channel_rows(r, name), *rest, **kwargs))


def recur(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A recurrent layer over the sequences, without padding; an empty one keeps its state."""
    r, state, weights, *options, _ = args
    if not isinstance(r, RaggedBase):
        raise type_error("input", f"torch.{name} takes a Ragged as its input only")
    from varlen.backends.torch import recur as layer

    states = list(state) if isinstance(state, (list, tuple)) else [state]
    rows, *lasts = layer.recur(name, channel_rows(r, name), r._levels[-1], states, weights, tuple(options))
    return (same_kind(r, rows), *lasts)


def multi_head(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """`torch.nn.functional.multi_head_attention_forward` inside sequences."""
    x = {**_MULTI_HEAD, **call_arguments(" ".join(_MULTI_HEAD), args, kwargs)}
    q, k, v = (
        part.ragged if isinstance(part := x[name], TimeMajor) else part for name in ("query", "key", "value")
    )
    for name in ("key_padding_mask", "bias_k", "bias_v", "static_k", "static_v"):
        if x[name] is not None:
            raise type_error(name, "attention of a Ragged has none", "leave it out; nothing is padded")
    if x["add_zero_attn"]:
        raise type_error("add_zero_attn", "attention of a Ragged adds no row", "leave it out")
    from varlen.backends.torch import layers

    rows = layers.project([channel_rows(part, "multi_head_attention_forward") for part in (q, k, v)], x)
    parts = [same_kind(part, y) for part, y in zip((q, k, v), rows, strict=True)]
    mask = x["attn_mask"]
    causal = bool(x["is_causal"])
    if mask is not None and mask.ndim == 3:
        mask = mask.unflatten(0, (-1, x["num_heads"]))
    dropout = x["dropout_p"] if x["training"] else 0.0
    y = attend(*parts, mask=None if causal else _visible(mask), causal=causal, dropout=dropout)
    output = same_kind(q, layers.project_back(y._values, x))
    if not x["need_weights"]:
        return output, None
    hidden = None if causal else _visible(mask)
    return output, _weights(parts[0], parts[1], hidden, causal, x["average_attn_weights"])


def _visible(mask: Any) -> Any:
    """A mask of `nn.MultiheadAttention`, True where nothing is seen, as one that is True where it is."""
    return mask if mask is None or mask.is_floating_point() else mask.logical_not()


def _weights(q: Any, k: Any, mask: Any, causal: bool, is_mean: bool) -> Any:
    """The weights of keys for each query, the mean of the heads or rows (heads,): a Ragged of two levels."""
    from varlen.backends.torch.attend import weights_of

    level, key_level = q._levels[-1], k._levels[-1]
    rows = weights_of(q._values, k._values, level, key_level, mask, causal, is_mean)
    if tracing.is_tracing():
        lengths = tracing.as_traced(key_level).lengths[tracing.as_traced(level).row_ids]
        keys: Any = tracing.level_of(lengths, "lengths", rows.shape[0])
    else:
        keys = Level(key_level.lengths[level.row_ids])
    return regroup(q, rows, (*q._levels, keys))


def attention(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """`torch.nn.functional.scaled_dot_product_attention`; heads of keys serve several queries anyway."""
    x = call_arguments("query key value attn_mask dropout_p is_causal scale enable_gqa", args, kwargs)
    mask, causal = x.get("attn_mask"), x.get("is_causal", False)
    if causal and mask is not None:
        raise value_error("attn_mask", "pass either a mask or is_causal, got both")
    return attend(
        x["query"], x["key"], x["value"], mask=mask, causal=causal, scale=x.get("scale"),
        dropout=x.get("dropout_p", 0.0),
    )  # fmt: skip
