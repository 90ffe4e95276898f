"""Make dims by their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varlen._core import Dim
from varlen.dims.vocabulary import Vocabulary
from varlen.errors import naming

batch_dim = Dim(name="batch", kind="batch")
"""The dim of the batch. All dims of its kind are equal."""


def SpatialDim(
    name: str,
    size: Any = None,
    *,
    over: Dim | Sequence[Dim] | None = None,
    vocab: Vocabulary | Sequence[str] | None = None,
) -> Dim:
    """Make a dim of kind 'spatial': time, or any other axis of positions.

    Parameters
    ----------
    name
        The name.
    size
        An int, or lengths as `Dim` takes them. None leaves it open, for `Dim.bind`.
    over
        The dims that the lengths depend on. By default the batch, for lengths of one axis.
    vocab
        A Vocabulary or its labels.

    Returns
    -------
    Dim
        A new Dim, equal to no other.

    Examples
    --------
    >>> SpatialDim("time", [3, 0, 2]).kind
    'spatial'
    """
    with naming(lengths="size", labels="vocab"):
        return Dim(size, name=name, kind="spatial", over=over, vocab=vocab)


def FeatureDim(
    name: str,
    size: int | None = None,
    *,
    vocab: Vocabulary | Sequence[str] | None = None,
) -> Dim:
    """Make a dim of kind 'feature': channels or classes.

    Parameters
    ----------
    name
        The name.
    size
        The number of features; None takes it from the vocabulary.
    vocab
        A Vocabulary or its labels.

    Returns
    -------
    Dim
        A new Dim, equal to no other.

    Examples
    --------
    >>> FeatureDim("model", 512)
    Dim('model', 512)
    >>> FeatureDim("letters", vocab=["a", "b", "c"]).size
    3
    """
    with naming(lengths="size", labels="vocab"):
        return Dim(size, name=name, kind="feature", vocab=vocab)
