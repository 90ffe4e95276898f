"""Sums of products on devices: padded blocks of sequences of like lengths, by a device's library."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.backends.equation import Equation, nested_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.levels import Levels


# Groups of lengths in steps of the square root of 2: none is padded by more than that.
STEPS = 2


def padded_einsum(verbs: Any, equation: Equation, values: list[Any], levels: Levels, extents: Any) -> Any:
    """The sum of products of one or two arrays, by groups of sequences of like lengths.

    `verbs` are pad, unpad and gather by levels, and take, ones, concat and einsum of a library's arrays.
    """
    flat = _as_one_axis(equation)
    if flat is not None:
        return verbs.einsum(flat, *values)
    by_letter = dict(zip(equation.ragged[1:], levels, strict=True))
    sizes = dict(zip(equation.fixed_letters, extents, strict=True))
    sequences = equation.ragged[0]
    groups = _groups(levels)
    parts = [
        _multiply_group(verbs, equation, values, by_letter, sizes, index, len(groups) == 1)
        for index in groups
    ]
    if sequences not in equation.out:
        if not parts:
            return verbs.ones(values[0], tuple(sizes[letter] for letter in equation.out)) * 0
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total
    prefix = equation.prefix(equation.out)
    if not parts:
        sizes[sequences] = 0
        shape = ([0] if prefix else []) + [sizes[letter] for letter in equation.out[prefix:]]
        return verbs.ones(values[0], tuple(shape))
    if len(parts) == 1:
        return parts[0]
    order = np.concatenate(groups)
    inverse = np.argsort(order)
    if not prefix:
        axis = equation.out.index(sequences)
        return verbs.take(verbs.concat(parts, axis), inverse, axis)
    nest = {letter: Level.from_lengths(level.lengths[order]) for letter, level in by_letter.items()}
    return verbs.gather(verbs.concat(parts, 0), nested_levels(equation.out[:prefix], nest, sizes), inverse)


def _as_one_axis(equation: Equation) -> str | None:
    """The equation where all terms have the sequences in the same way, as one axis; None where not."""
    prefixes = [term[: equation.prefix(term)] for term in (*equation.terms, equation.out)]
    head = next(prefix for prefix in prefixes if prefix)
    rest = [
        term[len(prefix) :] for term, prefix in zip((*equation.terms, equation.out), prefixes, strict=True)
    ]
    if any(prefix not in ("", head) for prefix in prefixes) or any(set(head) & set(term) for term in rest):
        return None
    terms = [head[0] + term if prefix else term for prefix, term in zip(prefixes, rest, strict=True)]
    if len(terms) == 2 and not set(terms[1]) <= set(terms[0]):
        return None
    return _in_letters(terms)


def _in_letters(terms: list[str]) -> str:
    """Terms, the last of which comes out, as an equation of letters alone."""
    text = f"{','.join(terms[:-1])}->{terms[-1]}"
    spare = (letter for letter in ascii_letters if letter not in text)
    for mark in {x for term in terms for x in term if not x.isalpha()}:
        text = text.replace(mark, next(spare))
    return text


def _groups(levels: Levels) -> list[NDArray[np.int64]]:
    """Sequences of like lengths."""
    lengths = np.stack([level.lengths for level in levels], 1)
    steps = np.ceil(STEPS * np.log2(np.maximum(lengths, 0.5))).astype(np.int64)
    _, which = np.unique(steps, axis=0, return_inverse=True)
    which = which.reshape(-1)
    return [np.flatnonzero(which == k) for k in range(int(which.max(initial=-1)) + 1)]


def _multiply_group(
    verbs: Any,
    equation: Equation,
    values: list[Any],
    levels: dict[str, Level],
    sizes: dict[str, int],
    index: NDArray[np.int64],
    is_whole: bool,
) -> Any:
    group = {letter: Level.from_lengths(level.lengths[index]) for letter, level in levels.items()}
    sequences = equation.ragged[0]
    widths = {**sizes, **{letter: level.longest for letter, level in group.items()}, sequences: len(index)}
    terms, blocks = list(equation.terms), []
    for term, x in zip(equation.terms, values, strict=True):
        prefix = equation.prefix(term)
        if prefix:
            nest = nested_levels(term[:prefix], levels, sizes)
            rows = x if is_whole else verbs.gather(x, nest, index)
            nest = nested_levels(term[:prefix], group, sizes)
            blocks.append(verbs.pad(rows, nest, [widths[letter] for letter in term[1:prefix]]))
        elif sequences in term and not is_whole:
            blocks.append(verbs.take(x, index, term.index(sequences)))
        else:
            blocks.append(x)
    extra_letters = "".join(letter for letter in equation.out if not any(letter in term for term in terms))
    if extra_letters:
        terms.append(extra_letters)
        blocks.append(verbs.ones(values[0], tuple(widths[letter] for letter in extra_letters)))
    block = verbs.einsum(_in_letters([*terms, equation.out]), *blocks)
    prefix = equation.prefix(equation.out)
    return verbs.unpad(block, nested_levels(equation.out[:prefix], group, sizes)) if prefix else block
