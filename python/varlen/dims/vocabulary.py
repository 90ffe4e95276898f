"""Labels of the positions of a dim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from varlen.arguments import SMALLEST, as_int, is_listed, padding_id
from varlen.errors import index_error, type_error, value_error


@dataclass(frozen=True, init=False)
class Vocabulary:
    """The labels of classes, and which of them are special.

    Parameters
    ----------
    labels
        A string for each class.
    unknown
        The class of labels outside the vocabulary; None if there is none.
    bos, eos
        The classes that begin and end a sequence; None if there are none.

    Raises
    ------
    TypeError
        A label is not a string.
    ValueError
        A label appears twice.
    IndexError
        A special class has no label.

    Examples
    --------
    >>> words = Vocabulary(["<s>", "the", "cat"], bos=0)
    >>> words["cat"], words.labels[1], len(words)
    (2, 'the', 3)
    """

    labels: tuple[str, ...]
    unknown: int | None
    bos: int | None
    eos: int | None
    _ids: dict[str, int] = field(repr=False, compare=False)

    def __init__(
        self,
        labels: Sequence[str],
        unknown: int | None = None,
        bos: int | None = None,
        eos: int | None = None,
    ) -> None:
        if isinstance(labels, str) or not is_listed(labels):
            raise type_error("labels", f"expected a sequence of str, got {type(labels).__name__}")
        ids: dict[str, int] = {}
        for i, label in enumerate(labels):
            if not isinstance(label, str):
                raise type_error("labels", f"expected str at position {i}, got {type(label).__name__}", row=i)
            if ids.setdefault(label, i) != i:
                raise value_error("labels", f"{label!r} stands at positions {ids[label]} and {i}", row=i)
        for name, place in (("unknown", unknown), ("bos", bos), ("eos", eos)):
            if place is not None and not 0 <= as_int(place, name, SMALLEST) < len(ids):
                raise index_error(name, f"there is no class {place} among {len(ids)} labels")
            object.__setattr__(self, name, place)
        object.__setattr__(self, "labels", tuple(ids))
        object.__setattr__(self, "_ids", ids)

    def _file_parts(self) -> dict[str, Any]:
        return {"labels": self.labels, "unknown": self.unknown, "bos": self.bos, "eos": self.eos}

    @classmethod
    def _from_saved(cls, *parts: Any) -> Vocabulary:
        return cls(*parts)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._ids

    def __getitem__(self, label: str) -> int:
        """The class of a label; the class of unknown labels if there is one."""
        index = self._ids.get(label, self.unknown)
        if index is None:
            raise KeyError(label)
        return index


def padding_class(vocab: Vocabulary | None) -> int:
    """The class "[PAD]", which stands for no value; 0 where no label is called so."""
    return 0 if vocab is None else padding_id(vocab.labels) or 0


def as_vocabulary(labels: Vocabulary | Sequence[str]) -> Vocabulary:
    """A Vocabulary of labels, or the one that was given."""
    return labels if isinstance(labels, Vocabulary) else Vocabulary(labels)
