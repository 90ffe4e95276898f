"""Equations of einsum as the core reads them: terms of letters, ragged letters, static letters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from varlen import _core, tracing
from varlen._core import Level
from varlen.levels import equal_lengths

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from varlen.levels import Levels


@dataclass(frozen=True)
class Equation:
    """Terms, what comes out, the letter of sequences with the ragged ones behind it, and the static ones."""

    terms: tuple[str, ...]
    out: str
    ragged: str
    fixed_letters: str
    text: str = ""  # as the core reads it
    rows_of: str = ""  # the letters of what comes out that are one axis

    def __post_init__(self) -> None:
        text = f"{','.join(self.terms)}->{self.out};{self.ragged};{self.fixed_letters}"
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "rows_of", self.out[: self.prefix(self.out)])

    def prefix(self, term: str) -> int:
        """How many letters of a term are one axis: those up to the last ragged one."""
        return prefix_of(term, self.ragged[1:])

    def ndim(self, term: str) -> int:
        """Axes of the array of a term."""
        prefix = self.prefix(term)
        return len(term) - prefix + 1 if prefix else len(term)

    def rows(self, levels: Levels, extents: Sequence[Any]) -> Any:
        """How many rows come out; 0 where nothing ragged does."""
        if not self.rows_of:
            return 0
        by_letter = dict(zip(self.ragged[1:], levels, strict=True))
        return rows_of_prefix(self.rows_of, by_letter, dict(zip(self.fixed_letters, extents, strict=True)))

    def swap_terms(self, *terms: str) -> Equation:
        """The equation of other terms, the last of which comes out, of the same letters."""
        return Equation(terms[:-1], terms[-1], self.ragged, self.fixed_letters)

    def with_column(self) -> Equation:
        """The equation of arrays that all have one more axis, the last one."""
        terms = tuple(term + "|" for term in self.terms)
        return Equation(terms, self.out + "|", self.ragged, self.fixed_letters + "|")


def prefix_of(term: str, letters: Container[str]) -> int:
    """How many letters of a term there are up to the last ragged one."""
    prefix = 0
    for k, letter in enumerate(term):
        if letter in letters:
            prefix = k + 1
    return prefix


@lru_cache(maxsize=512)
def equation_of(text: str) -> Equation:
    """The equation that the core reads."""
    arrow, ragged_letters, static_letters = text.split(";")
    operands, out = arrow.split("->")
    return Equation(tuple(operands.split(",")), out, ragged_letters, static_letters)


def in_graph(level: Any) -> Any:
    """A level whose numbers are tensors where a function is traced."""
    return tracing.as_traced(level) if tracing.is_tracing() else level


def nested_levels(letters: str, levels: Mapping[str, Level], extents: Mapping[str, int]) -> Levels:
    """A level for each letter behind that of sequences: how the rows of such a term nest."""
    if not tracing.is_tracing():
        return _core.nested_levels([levels[x] if x in levels else extents[x] for x in letters[1:]])
    result: list[Any] = []
    units: Any = None  # the sequence that each item of the last level is in
    for letter in letters[1:]:
        if letter in levels:
            level: Any = levels[letter]
            if units is not None:
                level = tracing.level_of(in_graph(level).lengths[units])
        else:
            count = result[-1].total if result else tracing.count_of(next(iter(levels.values())))
            level = equal_lengths(count, extents[letter])
        result.append(level)
        if len(result) < len(letters) - 1:
            row_ids = in_graph(level).row_ids
            units = row_ids if units is None else units[row_ids]
    return tuple(result)


def rows_of_prefix(letters: str, levels: Mapping[str, Level], extents: Mapping[str, int]) -> Any:
    """How many rows there are of the letters that are one axis."""
    if len(letters) == 2:
        return levels[letters[1]].total
    if not tracing.is_tracing():
        return _core.nested_rows([levels[x] if x in levels else extents.get(x, 1) for x in letters[1:]])
    ragged_levels = [levels[letter] for letter in letters[1:] if letter in levels]
    times: Any = 1
    for letter in letters[1:]:
        times = times * extents.get(letter, 1)
    if len(ragged_levels) == 1:
        return ragged_levels[0].total * times
    sizes: Any = in_graph(ragged_levels[0]).lengths
    for level in ragged_levels[1:]:
        sizes = sizes * in_graph(level).lengths
    return sizes.sum().item() * times
