"""Sums of products by letters, some of which are as long as each sequence says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import _core, tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, as_mapping, check_output
from varlen.backends import backend_of
from varlen.backends.equation import in_graph, nested_levels, prefix_of, rows_of_prefix
from varlen.backends.values import as_values
from varlen.errors import instance_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.ops.contraction import Step, contract, steps_of
from varlen.ops.support.inputs import as_level
from varlen.ops.support.outputs import ragged_like

if TYPE_CHECKING:
    from collections.abc import Mapping

    from varlen.backends.values import Lengths, Output, Rows, SequencesLike
    from varlen.levels import Levels


def einsum(
    equation: str,
    *operands: Any,
    lengths: Mapping[str, Lengths | Level | int] | None = None,
    out: Output | None = None,
) -> Rows:
    """Sum products over named axes, as `numpy.einsum`, sequence by sequence and without padding.

    Parameters
    ----------
    equation
        The letters of each operand, "->", and those of the result: "btd,bsd->bts". The length of a ragged
        letter differs from sequence to sequence. A term with ragged letters begins with the letter of the
        sequences, here b. Letters that the result lacks are summed.
    *operands
        Arrays, tensors or Ragged. An operand with ragged letters is laid row by row in the order of its
        letters, one sequence behind the other: the letters up to its last ragged one are one axis, and those
        behind have an axis each. With t ragged "bthd" is (total of t, h, d); with t and s ragged "bhts" is
        (sum of h t s,). A Ragged brings the lengths of the letters behind b, a level for each.
    lengths
        For each ragged letter (n,) integers, or a `Level`. An int gives the length of a static letter that no
        axis gives. A Ragged does not show the length of s in "bts" for a sequence where t is 0: it counts as
        0, unless `lengths` gives it.
    out
        A C-contiguous array of the result's shape and dtype, which is filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The sums, laid out by the same rule, in the common dtype of the operands. If an operand is a Ragged
        and the result has ragged letters, a Ragged with a level for each letter after b, up to the last
        ragged one. For "bts" these are the lengths of t, and those of s once for each t, so its `softmax`
        runs over s.

    Raises
    ------
    TypeError
        An operand does not hold numbers.
    ValueError
        The equation cannot be read, a letter appears twice in a term, a letter has no length, or lengths
        differ; the message names the operands, the sequence and the numbers.

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
    if not isinstance(equation, str):
        raise instance_error("equation", "a str", equation)
    by_letter = {} if lengths is None else as_mapping(lengths, "lengths", "letters to lengths")
    kinds = tuple([(letter, _is_number(n)) for letter, n in by_letter.items()])
    read = _read if tracing.is_tracing() else _cached_read
    reading = read(
        equation,
        tuple([(len(x._levels), x._values.ndim) if isinstance(x, RaggedBase) else None for x in operands]),
        kinds,
    )
    values = [
        x._values if isinstance(x, RaggedBase) else _values_of(x, name)
        for x, name in zip(operands, reading.names, strict=True)
    ]
    model, outer_levels, nests = _nests_of(reading, operands)
    levels, extents = _measure(reading, values, nests, by_letter, kinds)
    backend = backend_of(*values)
    if out is not None:
        check_output(out, *operands, *by_letter.values())
    array = next((x for x in values if not isinstance(x, np.ndarray)), None)
    if array is not None:
        values = [backend.like(x, array) if isinstance(x, np.ndarray) else x for x in values]
    result = contract(backend, reading.steps, values, levels, extents, out)
    if model is None:
        return result
    if reading.prefix:
        return ragged_like(model, result, (*outer_levels, *nested_levels(reading.prefix, levels, extents)))
    if outer_levels and reading.sequences in reading.out:
        if reading.out[0] != reading.sequences:
            raise value_error(
                "equation", f"{reading.out} must begin with {reading.sequences} if there are more levels"
            )
        return ragged_like(model, result, outer_levels)
    return result


def _is_number(value: object) -> bool:
    """Whether it says how long a static letter is."""
    return type(value) is not Level and isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class _Nest(NamedTuple):
    """The levels that a Ragged brings."""

    operand: int
    letters: str  # those that its innermost levels are of
    new: tuple[int, ...]  # places of letters of which nothing else says how long they are


class _Reading(NamedTuple):
    """What an equation says of operands of some kinds, before any length is known."""

    terms: tuple[str, ...]
    out: str
    names: tuple[str, ...]  # what errors call the operands
    steps: tuple[Step, ...]
    sequences: str  # the letter of them; "" where none is ragged
    prefix: str  # the letters of the result that are one axis
    prefixes: tuple[str, ...]  # and of each operand
    axes: tuple[int, ...]  # how many each operand has
    sizes: tuple[tuple[str, int, int], ...]  # a letter, and the operand and axis that show how long it is
    said_by: dict[str, str]  # what says first how long a letter is
    nests: tuple[_Nest, ...]  # in the order of the operands
    sorted_nests: tuple[int, ...]  # those with one level say how long their letter is
    hidden: tuple[tuple[int, str], ...]  # letters that the rows of an operand alone show
    open_operands: tuple[int, ...]  # operands of which the rows are still to be counted


def _terms_of(equation: str) -> tuple[tuple[str, ...], str]:
    """The terms of an equation, and what comes out."""
    text = "".join(equation.split())
    operands, arrow, out = text.partition("->")
    if not arrow:
        raise value_error("equation", f"{equation!r} has no output", "write its letters after '->'")
    terms = tuple(operands.split(","))
    for term in (*terms, out):
        for k, letter in enumerate(term):
            if not (letter.isascii() and letter.isalpha()):
                raise value_error(
                    "equation", f"expected letters, ',' and '->', got {letter!r} in {equation!r}"
                )
            if letter in term[:k]:
                raise value_error(
                    "equation", f"{letter} stands twice in {term!r}; einsum takes no diagonals here"
                )
    for letter in out:
        if not any(letter in term for term in terms):
            raise value_error("equation", f"output letter {letter} appears in no operand")
    return terms, out


def _read(
    equation: str, kinds: tuple[tuple[int, int] | None, ...], lengths: tuple[tuple[str, bool], ...]
) -> _Reading:
    """An equation with operands, of each Ragged its levels and axes, and the letters that `lengths` has."""
    terms, out = _terms_of(equation)
    if len(kinds) != len(terms):
        raise value_error("equation", f"has {len(terms)} terms, but {len(kinds)} operands were given")
    ragged_letters: list[str] = []
    said_by: dict[str, str] = {}
    static: set[str] = set()
    for letter, is_number in lengths:
        if letter not in {x for term in terms for x in term}:
            raise value_error("lengths", f"no operand has {letter!r}")
        said_by[letter] = "lengths"
        if is_number:
            static.add(letter)
        else:
            ragged_letters.append(letter)
    _sequences_of(terms, out, ragged_letters)
    names = tuple([f"operands[{k}]" for k in range(len(terms))])
    counts = {k: _levels_of(names[k], terms[k], *kind) for k, kind in enumerate(kinds) if kind is not None}
    axes, letter_axes = [], []
    for k, term in enumerate(terms):
        prefix = counts[k] + 1 if k in counts else prefix_of(term, ragged_letters)
        axes.append(len(term) - prefix + (prefix > 0))
        for axis, letter in enumerate(term[prefix:], axes[k] - len(term) + prefix):
            letter_axes.append((letter, k, axis))
            static.add(letter)
            said_by.setdefault(letter, names[k])
    nests = [_Nest(k, terms[k][1 : count + 1], ()) for k, count in counts.items()]
    order = sorted(range(len(nests)), key=lambda j: len(nests[j].letters))
    for j in order:
        nest = nests[j]
        new = [at for at, x in enumerate(nest.letters) if x not in ragged_letters and x not in static]
        nests[j] = nest._replace(new=tuple(new))
        for place in new:
            ragged_letters.append(nest.letters[place])
            said_by[nest.letters[place]] = names[nest.operand]
    sequences = _sequences_of(terms, out, ragged_letters)
    prefixes = tuple([term[: prefix_of(term, ragged_letters)] for term in terms])
    letters = {*static, *ragged_letters, sequences}
    hidden = []
    for k, term in enumerate(terms):
        unknown = [x for x in prefixes[k] if x not in letters]
        for letter in unknown:
            if len(unknown) > 1:
                raise _unknown(names[k], term, letter)
            hidden.append((k, letter))
            letters.add(letter)
    for letter in sorted({x for term in terms for x in term}):
        if letter not in letters:
            raise value_error("lengths", f"the length of {letter} is unknown; add it to lengths=")
    nest_letters = sequences + "".join(ragged_letters)
    return _Reading(
        terms,
        out,
        names,
        steps_of(terms, out, nest_letters),
        sequences,
        out[: prefix_of(out, ragged_letters)],
        prefixes,
        tuple(axes),
        tuple(letter_axes),
        said_by,
        tuple(nests),
        tuple(order),
        tuple(hidden),
        tuple([k for k, x in enumerate(prefixes) if x and counts.get(k, 0) + 1 < len(x)]),
    )


_cached_read = lru_cache(maxsize=512)(_read)


def _unknown(name: str, term: str, letter: str) -> ValueError:
    return value_error(
        name, f"the length of {letter} in {term!r} is unknown", f"give lengths={{{letter!r}: ...}}"
    )


def _levels_of(name: str, term: str, levels: int, ndim: int) -> int:
    """How many levels of a Ragged are those of letters."""
    count = len(term) - ndim
    if not 1 <= count <= levels:
        raise value_error(
            name,
            f"{term!r} has {len(term)} letters, but a Ragged of {levels} levels and "
            f"rows of {ndim - 1} axes {ndim + 1} to {ndim + levels}",
        )
    return count


def _values_of(operand: object, argument: str) -> Any:
    """An array of any axes, of none too."""
    if type(operand) is np.ndarray and operand.ndim:
        return as_values(operand, argument)
    if isinstance(operand, (int, float, complex)):
        return np.asarray(operand)
    is_scalar = getattr(operand, "ndim", 1) == 0 and hasattr(operand, "dtype")
    if is_scalar:
        return np.asarray(operand) if isinstance(operand, np.generic) else operand
    return as_values(operand, argument)


def _sequences_of(terms: tuple[str, ...], result: str, levels: list[str]) -> str:
    """The letter that counts sequences: the first of all terms with ragged letters."""
    first, owner = "", ""
    for term in (*terms, result) if levels else ():
        ragged_letters = [letter for letter in term if letter in levels]
        if not ragged_letters:
            continue
        if term[0] in levels:
            raise value_error(
                "equation",
                f"{term!r} must begin with the letter of the sequences, "
                f"because {ragged_letters[0]} is ragged",
            )
        if first and term[0] != first:
            raise value_error(
                "equation",
                f"terms with ragged letters must begin with the same letter, that of the sequences, "
                f"but {owner!r} begins with {first} and {term!r} with {term[0]}",
            )
        first, owner = term[0], term
    return first


def _nests_of(reading: _Reading, operands: tuple[Any, ...]) -> tuple[Any, Levels, list[Levels]]:
    """The container that the result follows, the levels above those of letters, and those of each nest."""
    model: Any = None
    outer_levels: Levels = ()
    nests: list[Levels] = []
    for k, letters, _ in reading.nests:
        own = operands[k]._levels
        place = len(own) - len(letters)
        outer = own[:place]
        if model is None:
            model, outer_levels = operands[k], outer
        elif (outer_levels or outer) and not same_levels(outer_levels, outer):
            difference = describe_difference(outer_levels, outer)
            raise value_error(f"operands[{k}]", f"nests differently from the one before: {difference}")
        nests.append(own[place:])
    return model, outer_levels, nests


def _measure(
    reading: _Reading,
    values: list[Any],
    nests: list[Levels],
    lengths: Mapping[str, Any],
    kinds: tuple[tuple[str, bool], ...],
) -> tuple[dict[str, Level], dict[str, Any]]:
    """The level of each ragged letter, and how long the others are, that of sequences among them."""
    levels: dict[str, Level] = {}
    extents: dict[str, Any] = {}
    for letter, is_number in kinds:
        length = lengths[letter]
        if is_number:
            extents[letter] = as_int(length, f"lengths[{letter!r}]", 0)
        else:
            levels[letter] = as_level(length)
    shapes = [x.shape for x in values]
    for k, axes in enumerate(reading.axes):
        if len(shapes[k]) != axes:
            prefix = reading.prefixes[k]
            one = f", of which {prefix!r} is one" if prefix else ""
            raise value_error(
                f"operands[{k}]",
                f"expected {axes} axes for {reading.terms[k]!r}{one}, got shape {tuple(shapes[k])}",
            )
    for letter, k, axis in reading.sizes:
        extent = shapes[k][axis]
        size = extents.setdefault(letter, extent)
        if size is not extent and not _is_same(size, extent):
            raise value_error(
                f"operands[{k}]", f"{letter} is {extent} long, that of {reading.said_by[letter]} {size}"
            )
    for j in reading.sorted_nests:
        _measure_nest(reading, reading.nests[j], nests[j], levels, extents)
    if reading.sequences:
        _count_sequences(reading, levels, extents)
    for k, letter in reading.hidden:
        rows = rows_of_prefix(reading.prefixes[k], levels, extents)
        if rows == 0 or shapes[k][0] % rows:
            raise _unknown(reading.names[k], reading.terms[k], letter)
        extents[letter] = shapes[k][0] // rows
    for k in () if tracing.is_tracing() else reading.open_operands:
        prefix = reading.prefixes[k]
        rows = rows_of_prefix(prefix, levels, extents)
        if rows != shapes[k][0]:
            raise value_error(
                f"operands[{k}]", f"has {shapes[k][0]} rows for {prefix!r}, the lengths add up to {rows}"
            )
    return levels, extents


def _measure_nest(
    reading: _Reading, nest: _Nest, own: Levels, levels: dict[str, Level], extents: Mapping[str, Any]
) -> None:
    """The lengths that a Ragged brings; ValueError where those of its letters are others."""
    letters = nest.letters
    for place in nest.new:
        levels[letters[place]] = own[0] if place == 0 else _lengths_of_units(own[: place + 1])
    if tracing.is_tracing() or (len(own) == 1 and levels.get(letters) is own[0]):
        return
    for letter in letters:
        if letter in levels and len(levels[letter]) != len(own[0]):
            raise value_error(
                f"operands[{nest.operand}]",
                f"has {len(own[0])} sequences for {letter}, {reading.said_by[letter]} {len(levels[letter])}",
            )
    targets = [levels[x] if x in levels else extents[x] for x in letters]
    difference = _core.nest_difference(own, targets)
    if difference is not None:
        place, unit, i = difference
        expected = targets[place] if letters[place] not in levels else targets[place].lengths[i]
        raise value_error(
            f"operands[{nest.operand}]",
            f"{letters[place]} of {reading.terms[nest.operand]!r} is "
            f"{own[place].lengths[unit]} long in sequence {i}, "
            f"that of {reading.said_by[letters[place]]} {expected}",
            row=i,
        )


def _lengths_of_units(levels: Levels) -> Level:
    """The lengths that the innermost units of each sequence have; 0 where there is none."""
    if not tracing.is_tracing():
        return _core.lengths_of_units(levels)
    units: Any = None
    for level in levels[:-1]:
        row_ids = in_graph(level).row_ids
        units = row_ids if units is None else units[row_ids]
    lengths = in_graph(levels[-1]).lengths
    result: Any = tracing.level_of(tracing.tensors.last_of_units(lengths, units, tracing.count_of(levels[0])))
    return result  # type: ignore[no-any-return]


def _count_sequences(reading: _Reading, levels: Mapping[str, Level], extents: dict[str, Any]) -> None:
    """Refuse counts of sequences that differ."""
    first, count = "", 0
    for letter, level in levels.items():
        own_count = tracing.count_of(level)
        if not first:
            first, count = letter, own_count
        elif not _is_same(own_count, count):
            raise value_error("lengths", f"{letter} has {own_count} sequences, {first} has {count}")
    sequences = reading.sequences
    if not _is_same(extents.setdefault(sequences, count), count):
        raise value_error(
            f"{reading.said_by[sequences]}",
            f"has {extents[sequences]} sequences on {sequences}, the lengths of {first} are {count}",
        )


def _is_same(a: SequencesLike, b: SequencesLike) -> bool:
    """Whether two numbers are the same; those of a graph are looked at when it runs."""
    return tracing.is_tracing() or bool(a == b)
