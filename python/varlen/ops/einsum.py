"""Sums of products by letters, some of which are as long as each sequence says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, refuse_overlap
from varlen.backends import backend_of
from varlen.backends.equation import Equation, in_graph, nested_levels, prefix_of, rows_of_prefix
from varlen.backends.values import as_values
from varlen.levels import describe_difference, same_levels
from varlen.ops.inputs import as_level
from varlen.ops.outputs import ragged_like

if TYPE_CHECKING:
    from collections.abc import Mapping

    from varlen.backends.table import Backend
    from varlen.backends.values import Lengths, Rows
    from varlen.levels import Levels


def einsum(
    equation: str,
    *operands: Any,
    lengths: Mapping[str, Lengths | Level | int] | None = None,
    out: Any = None,
) -> Rows:
    """The sum of products that letters name, as `numpy.einsum`, sequence by sequence and without padding.

    Parameters
    ----------
    equation
        The letters of each operand, "->", and those of the result: "btd,bsd->bts". A ragged letter is as
        long as each sequence says. A term with ragged letters begins with the letter that counts the
        sequences, here b. Letters that the result lacks are summed.
    *operands
        Arrays, tensors or Ragged. An operand with ragged letters is laid row by row in the order of its
        letters, one sequence behind the other: the letters up to its last ragged one are one axis, and those
        behind have an axis each. With t ragged "bthd" is (total of t, h, d); with t and s ragged "bhts" is
        (sum of h t s,). A Ragged brings the lengths of the letters behind b, a level for each.
    lengths
        For each ragged letter (n,) integers, or a `Level`. An int says how long a static letter is, where no
        axis does. A Ragged does not show how long s of "bts" is in a sequence where t is 0: 0, where nothing
        else says it.
    out
        Of the result's shape and dtype, C-contiguous: filled and given back.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        Laid by the same rule, of the dtype that the operands have together. A Ragged where an operand is one
        and the result has ragged letters: a level for each letter behind b up to the last ragged one. That of
        "bts" has the levels of t, and of s once for each t, so that `softmax` of it goes over s.

    Raises
    ------
    TypeError
        Operands that are not numbers.
    ValueError
        An equation that cannot be read, a letter twice in one term, letters without lengths, extents that
        differ: the operands, the sequence and the numbers are named.

    See Also
    --------
    softmax, attention_pool

    Notes
    -----
    Each sequence is a product of matrices by the BLAS that NumPy has; where all sequences do the same with
    one matrix, one product does all. More than two operands are contracted from the left. float16 and
    bfloat16 are computed in float32. A sum keeps the dtype, as in NumPy. A sequence gives the same numbers
    alone and in a batch, up to the rounding of sums in another order (about the square root of their count,
    times the precision of the dtype), and the same bits with any number of threads.

    On CUDA devices sequences are brought together in groups of like lengths, in which no ragged letter of a
    sequence is padded to more than 1.42 of its length, and multiplied by the library of the device.

    Autograd follows tensors, any number of times.

    Examples
    --------
    Attention of the rows of two batches of sequences, of 2 and 1, and of 1 and 2:

    >>> q = vl.Ragged(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [2, 1])
    >>> k = vl.Ragged(np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0]]), [1, 2])
    >>> energies = vl.ops.einsum("btd,bsd->bts", q, k)
    >>> energies.to_list()
    [[[1.0], [2.0]], [[3.0, 5.0]]]
    >>> vl.ops.einsum("bts,bsd->btd", vl.ops.softmax(energies), k).values.round(2)
    array([[1.  , 2.  ],
           [1.  , 2.  ],
           [0.36, 4.4 ]])

    The same of plain arrays; a sum over t, with b and without:

    >>> x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> vl.ops.einsum("btk,btm->bkm", x, x, lengths={"t": [2, 1]}).tolist()
    [[[10.0, 14.0], [14.0, 20.0]], [[25.0, 30.0], [30.0, 36.0]]]
    >>> vl.ops.einsum("btk->k", x, lengths={"t": [2, 1]})
    array([ 9., 12.])
    """
    terms, result = _terms_of(equation) if tracing.is_tracing() else _known_terms_of(equation)
    if len(operands) != len(terms):
        raise ValueError(f"equation: has {len(terms)} terms, but {len(operands)} operands were given")
    backend = backend_of(*(each._values if isinstance(each, RaggedBase) else each for each in operands))
    letters = _letters_of(terms, result, operands, {} if lengths is None else lengths)
    if out is not None:
        refuse_overlap(out, *letters.values)
    beside = next((x for x in letters.values if not isinstance(x, np.ndarray)), None)
    if beside is not None:
        letters.values = [backend.like(x, beside) if isinstance(x, np.ndarray) else x for x in letters.values]
    values = _contract(backend, terms, result, letters, out)
    if letters.model is None:
        return values
    prefix = letters.whole.prefix(result)
    if prefix:
        levels = (*letters.above, *nested_levels(result[:prefix], letters.levels, letters.extents))
        return ragged_like(letters.model, values, levels)
    if letters.above and letters.whole.ragged[0] in result:
        if result[0] != letters.whole.ragged[0]:
            raise ValueError(
                f"equation: {result} has to begin with {letters.whole.ragged[0]} under more levels"
            )
        return ragged_like(letters.model, values, letters.above)
    return values


def _terms_of(equation: str) -> tuple[tuple[str, ...], str]:
    """The terms of an equation, and what comes out."""
    if not isinstance(equation, str):
        raise TypeError(f"equation: expected a str, got {type(equation).__name__}")
    text = "".join(equation.split())
    operands, arrow, out = text.partition("->")
    if not arrow:
        raise ValueError(f"equation: {equation!r} does not say what comes out; put it behind '->'")
    terms = tuple(operands.split(","))
    for term in (*terms, out):
        for k, letter in enumerate(term):
            if not (letter.isascii() and letter.isalpha()):
                raise ValueError(f"equation: expected letters, ',' and '->', got {letter!r} in {equation!r}")
            if letter in term[:k]:
                raise ValueError(f"equation: {letter} is twice in {term!r}, and no diagonal is taken")
    for letter in out:
        if not any(letter in term for term in terms):
            raise ValueError(f"equation: {letter} comes out, but no operand has it")
    return terms, out


_known_terms_of = lru_cache(maxsize=512)(_terms_of)


@dataclass
class _Letters:
    """How long each letter is, and the values of the operands."""

    values: list[Any]
    levels: dict[str, Level]
    extents: dict[str, Any]
    whole: Equation
    model: Any = None
    above: Levels = ()

    def equation(self, *terms: str) -> Equation:
        """That of terms, the last of which comes out."""
        make = _equation if tracing.is_tracing() else _known
        return make(terms, self.whole.ragged)


def _equation(terms: tuple[str, ...], letters: str) -> Equation:
    """The equation of terms, of which these letters may be ragged, behind that of sequences."""
    ragged = [x for x in letters[1:] if any(x in term for term in terms)]
    sequences = letters[:1] if ragged else ""
    fixed = dict.fromkeys(x for term in terms for x in term if x not in ragged and x != sequences)
    return Equation(terms[:-1], terms[-1], sequences + "".join(ragged), "".join(fixed))


_known = lru_cache(maxsize=512)(_equation)


def _letters_of(
    terms: tuple[str, ...], result: str, operands: tuple[Any, ...], lengths: Mapping[str, Any]
) -> _Letters:
    values: list[Any] = []
    levels: dict[str, Level] = {}
    extents: dict[str, Any] = {}
    said_by: dict[str, str] = {}
    for letter, given in lengths.items():
        if not any(letter in term for term in terms):
            raise ValueError(f"lengths: no operand has {letter!r}")
        if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
            extents[letter] = as_int(given, f"lengths[{letter!r}]", 0)
            said_by[letter] = "lengths"
        else:
            levels[letter] = as_level(given)
            said_by[letter] = "lengths"
    sequences = _sequences_of(terms, result, levels)
    model: Any = None
    above: Levels = ()
    nests: list[tuple[int, str, Levels]] = []
    for k, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        if not isinstance(operand, RaggedBase):
            values.append(_values_of(operand, f"operand {k}"))
            continue
        own = operand._levels
        count = len(term) - operand._values.ndim
        if not 1 <= count <= len(own):
            axes = operand._values.ndim - 1
            raise ValueError(
                f"operand {k}: {term!r} has {len(term)} letters, but a Ragged of {len(own)} levels and "
                f"rows of {axes} axes {axes + 2} to {axes + 1 + len(own)}"
            )
        if model is None:
            model, above = operand, own[: len(own) - count]
        elif not same_levels(above, own[: len(own) - count]):
            difference = describe_difference(above, own[: len(own) - count])
            raise ValueError(f"operand {k}: nests differently from the one before: {difference}")
        values.append(operand._values)
        nests.append((k, term, own[len(own) - count :]))
    _see_axes(terms, values, nests, levels, extents, said_by)
    _see_nests(nests, levels, extents, said_by)
    if nests:
        sequences = _sequences_of(terms, result, levels)
    fixed = {x for term in terms for x in term if x not in levels and x != sequences}
    whole = Equation(terms, result, sequences + "".join(levels) if levels else "", "".join(sorted(fixed)))
    letters = _Letters(values, levels, extents, whole, model, above)
    _check(letters, said_by)
    return letters


def _values_of(operand: Any, argument: str) -> Any:
    """An array of any axes, of none too."""
    if isinstance(operand, (int, float, complex)):
        return np.asarray(operand)
    is_scalar = getattr(operand, "ndim", 1) == 0 and hasattr(operand, "dtype")
    if is_scalar:
        return np.asarray(operand) if isinstance(operand, np.generic) else operand
    return as_values(operand, argument)


def _sequences_of(terms: tuple[str, ...], result: str, levels: Mapping[str, Level]) -> str:
    """The letter that counts sequences: the first of all terms with ragged letters."""
    first, owner = "", ""
    for term in (*terms, result) if levels else ():
        ragged = [letter for letter in term if letter in levels]
        if not ragged:
            continue
        if term[0] in levels:
            raise ValueError(
                f"equation: {term!r} has to begin with the letter of sequences, as {ragged[0]} is ragged"
            )
        if first and term[0] != first:
            raise ValueError(
                f"equation: terms with ragged letters begin with the letter of sequences, but {owner!r} with "
                f"{first} and {term!r} with {term[0]}"
            )
        first, owner = term[0], term
    return first


def _see_axes(
    terms: tuple[str, ...],
    values: list[Any],
    nests: list[tuple[int, str, Levels]],
    levels: Mapping[str, Level],
    extents: dict[str, Any],
    said_by: dict[str, str],
) -> None:
    """The extents that the axes of the operands have."""
    nested = {k: len(own) + 1 for k, _, own in nests}
    for k, (term, x) in enumerate(zip(terms, values, strict=True)):
        prefix = nested.get(k) or prefix_of(term, levels)
        axes = len(term) - prefix + (prefix > 0)
        if x.ndim != axes:
            shape = tuple(x.shape)
            one = f", of which {term[:prefix]!r} is one" if prefix else ""
            raise ValueError(f"operand {k}: expected {axes} axes for {term!r}{one}, got shape {shape}")
        for letter, extent in zip(term[prefix:], x.shape[axes - len(term) + prefix :], strict=True):
            if letter not in extents:
                extents[letter], said_by[letter] = extent, f"operand {k}"
            elif not _same(extents[letter], extent):
                raise ValueError(
                    f"operand {k}: {letter} is {extent} long, that of {said_by[letter]} {extents[letter]}"
                )


def _see_nests(
    nests: list[tuple[int, str, Levels]],
    levels: dict[str, Level],
    extents: Mapping[str, Any],
    said_by: dict[str, str],
) -> None:
    """The lengths that each Ragged brings; those with one level say how long their letter is."""
    for k, term, own in sorted(nests, key=lambda nest: len(nest[2])):
        units: Any = None
        for at, level in enumerate(own):
            letter = term[at + 1]
            if letter not in levels and letter not in extents:
                levels[letter] = level if at == 0 else _level_of_units(level, units, tracing.count_of(own[0]))
                said_by[letter] = f"operand {k}"
            known = letter in extents
            if not tracing.is_tracing():
                _check_nest(
                    k, term, letter, level, units, extents[letter] if known else levels[letter], said_by
                )
            if at + 1 < len(own):
                row_ids = in_graph(level).row_ids
                units = row_ids if units is None else units[row_ids]


def _level_of_units(level: Any, units: Any, count: Any) -> Level:
    """The lengths that the units of each sequence have; 0 where there is none."""
    if tracing.is_tracing():
        made: Any = tracing.level_of(tracing.tensors.last_of_units(in_graph(level).lengths, units, count))
        return made  # type: ignore[no-any-return]
    found = np.zeros(count, np.int64)
    found[units] = level.lengths
    return Level.from_lengths(found)


def _check_nest(
    k: int, term: str, letter: str, level: Level, units: Any, wanted: Any, said_by: Mapping[str, str]
) -> None:
    """Refuse a level of a Ragged that is not as long as its letter everywhere."""
    if wanted is level:
        return
    if isinstance(wanted, Level):
        if units is None and len(wanted) != len(level):
            raise ValueError(
                f"operand {k}: has {len(level)} sequences for {letter}, {said_by[letter]} {len(wanted)}"
            )
        if units is not None and len(units) and units[-1] >= len(wanted):
            raise ValueError(
                f"operand {k}: has more sequences than {said_by[letter]}, which has {len(wanted)}"
            )
        expected = wanted.lengths if units is None else wanted.lengths[units]
    else:
        expected = np.full(len(level), wanted)
    differs = level.lengths != expected
    if differs.any():
        j = int(differs.argmax())
        i = j if units is None else int(units[j])
        raise ValueError(
            f"operand {k}: {letter} of {term!r} is {level.lengths[j]} long in sequence {i}, that of "
            f"{said_by[letter]} {expected[j]}"
        )


def _check(letters: _Letters, said_by: Mapping[str, str]) -> None:
    """Refuse counts of sequences and of rows that do not fit, and find extents that no axis shows."""
    levels, extents, whole = letters.levels, letters.extents, letters.whole
    sequences = whole.ragged[:1]
    if sequences:
        first = next(iter(levels))
        count = tracing.count_of(levels[first])
        for letter, level in levels.items():
            if not _same(tracing.count_of(level), count):
                raise ValueError(
                    f"lengths: {letter} has {tracing.count_of(level)} sequences, {first} has {count}"
                )
        if sequences in extents and not _same(extents[sequences], count):
            raise ValueError(
                f"{said_by[sequences]}: has {extents[sequences]} sequences on {sequences}, the lengths of "
                f"{first} are {count}"
            )
        extents.pop(sequences, None)
    for k, (term, x) in enumerate(zip(whole.terms, letters.values, strict=True)):
        prefix = whole.prefix(term)
        hidden = [y for y in term[1:prefix] if y not in levels and y not in extents]
        if prefix and hidden:
            rows = rows_of_prefix(term[:prefix], levels, extents)
            if len(hidden) > 1 or rows == 0 or x.shape[0] % rows:
                raise ValueError(
                    f"operand {k}: nothing says how long {hidden[0]} of {term!r} is; "
                    f"give lengths={{{hidden[0]!r}: ...}}"
                )
            extents[hidden[0]] = x.shape[0] // rows
    for k, (term, x) in enumerate(zip(whole.terms, letters.values, strict=True)):
        prefix = whole.prefix(term)
        if not prefix:
            continue
        rows = rows_of_prefix(term[:prefix], levels, extents)
        if not _same(rows, x.shape[0]):
            raise ValueError(
                f"operand {k}: has {x.shape[0]} rows for {term[:prefix]!r}, the lengths add up to {rows}"
            )
    for letter in whole.fixed:
        if letter not in extents:
            raise ValueError(f"lengths: nothing says how long {letter} is")


def _same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same; those of a graph are looked at when it runs."""
    return tracing.is_tracing() or bool(a == b)


def _contract(backend: Backend, terms: tuple[str, ...], result: str, letters: _Letters, out: Any) -> Any:
    """The operands from the left: two and two."""
    values = letters.values
    if len(values) == 1:
        return _one(backend, values[0], terms[0], result, letters, out)
    first, x = terms[0], values[0]
    for k in range(1, len(terms)):
        later = set(result).union(*terms[k + 1 :])
        second, y = terms[k], values[k]
        needed = later | set(second)
        first, x = _summed(backend, x, first, needed, letters)
        needed = later | set(first)
        second, y = _summed(backend, y, second, needed, letters)
        is_last = k == len(terms) - 1
        both = result if is_last else _between(first, second, later, letters)
        x = _two(backend, x, y, (first, second, both), letters, out if is_last else None)
        first = both
    return x


def _between(first: str, second: str, later: set[str], letters: _Letters) -> str:
    """What a product that others follow is laid as."""
    kept = [letter for letter in dict.fromkeys(first + second) if letter in later]
    sequences = letters.whole.ragged[:1]
    if any(letter in letters.levels for letter in kept):
        kept = [sequences, *(letter for letter in kept if letter != sequences)]
    return "".join(kept)


def _summed(backend: Backend, x: Any, term: str, needed: set[str], letters: _Letters) -> tuple[str, Any]:
    """An operand without the letters that nothing else has."""
    left = "".join(letter for letter in term if letter in needed)
    return (term, x) if left == term else (left, _one(backend, x, term, left, letters, None))


def _one(backend: Backend, x: Any, term: str, result: str, letters: _Letters, out: Any) -> Any:
    equation = letters.equation(term, result)
    ragged = equation.ragged
    is_sum = len(ragged) == 2 and term[:2] == ragged and result == term[0] + term[2:]
    if is_sum and _is_real_float(x.dtype):
        return backend.reduce("sum", x, letters.levels[ragged[1]], 0, out)
    return backend.einsum(equation, [x], *_sizes(equation, letters), out)


def _is_real_float(dtype: Any) -> bool:
    """Whether the kernel of sums keeps the dtype."""
    kind = getattr(dtype, "kind", None)
    return bool(dtype.is_floating_point) if kind is None else kind == "f" and dtype.itemsize <= 8


def _two(backend: Backend, x: Any, y: Any, terms: tuple[str, str, str], letters: _Letters, out: Any) -> Any:
    equation = letters.equation(*terms)
    return backend.einsum(equation, [*backend.of_one_kind(x, y)], *_sizes(equation, letters), out)


def _sizes(equation: Equation, letters: _Letters) -> tuple[Levels, tuple[Any, ...], Any]:
    """The levels and extents of an equation, and how many rows come out; 0 where nothing ragged does."""
    levels = tuple(letters.levels[letter] for letter in equation.ragged[1:])
    sequences = letters.whole.ragged[:1]
    count = (
        tracing.count_of(next(iter(letters.levels.values())))
        if sequences and sequences in equation.fixed
        else 0
    )
    extents = tuple(count if x == sequences else letters.extents[x] for x in equation.fixed)
    prefix = equation.prefix(equation.out)
    return (
        levels,
        extents,
        rows_of_prefix(equation.out[:prefix], letters.levels, letters.extents) if prefix else 0,
    )
