"""Products of operands by letters, two and two from the left, where all is known: nothing is checked here."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from varlen import tracing
from varlen.backends.equation import Equation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from varlen._core import Level
    from varlen.backends.table import Backend
    from varlen.backends.values import Output


class Step(NamedTuple):
    """A product of two operands, or a sum within one, which takes the place of the first."""

    equation: Equation
    first: int
    second: int  # below 0: there is none
    is_sum: bool  # of the rows of each sequence, which a kernel of its own adds up


def contract(
    backend: Backend,
    steps: tuple[Step, ...],
    operands: list[Any],
    levels: Mapping[str, Level],
    extents: Mapping[str, Any],
    out: Output | None = None,
) -> Any:
    """The sum of products that steps say."""
    values = list(operands)
    for k, (equation, first, second, is_sum) in enumerate(steps):
        target = out if k == len(steps) - 1 else None
        x = values[first]
        nest = tuple([levels[letter] for letter in equation.ragged[1:]])
        if is_sum and _is_real_float(x.dtype):
            values[first] = backend.reduce("sum", x, nest[0], 0, target)
            continue
        pair = [x] if second < 0 else [*backend.promote_pair(x, values[second])]
        sizes = tuple([extents[letter] for letter in equation.fixed_letters])
        values[first] = backend.einsum(equation, pair, nest, sizes, target)
    return values[0]


def steps_of(terms: tuple[str, ...], out: str, letters: str) -> tuple[Step, ...]:
    """How the operands of an equation are contracted from the left.

    `ragged` is the letter of sequences and the ragged ones behind it; "" where none is ragged. Steps of the
    same equation are made once.
    """
    return (_steps_of if tracing.is_tracing() else _known_steps_of)(terms, out, letters)


def _steps_of(terms: tuple[str, ...], out: str, letters: str) -> tuple[Step, ...]:
    if len(terms) == 1:
        return (_step((terms[0], out), 0, -1, letters),)
    steps = []
    first = terms[0]
    for k in range(1, len(terms)):
        second = terms[k]
        later = set(out).union(*terms[k + 1 :])
        layout = "".join([letter for letter in first if letter in later or letter in second])
        if layout != first:
            steps.append(_step((first, layout), 0, -1, letters))
        other = "".join([letter for letter in second if letter in later or letter in layout])
        if other != second:
            steps.append(_step((second, other), k, -1, letters))
        first = out if k == len(terms) - 1 else _product_layout(layout, other, later, letters)
        steps.append(_step((layout, other, first), 0, k, letters))
    return tuple(steps)


_known_steps_of = lru_cache(maxsize=512)(_steps_of)


def _step(terms: tuple[str, ...], first: int, second: int, letters: str) -> Step:
    """The step of terms, the last of which comes out."""
    ragged_letters = "".join([x for x in letters[1:] if any(x in term for term in terms)])
    sequences = letters[:1] if ragged_letters else ""
    static_letters = dict.fromkeys(
        x for term in terms for x in term if x not in ragged_letters and x != sequences
    )
    term, out = terms[0], terms[-1]
    equation = Equation(terms[:-1], out, sequences + ragged_letters, "".join(static_letters))
    is_sum = (
        second < 0 and len(ragged_letters) == 1 and term[:2] == equation.ragged and out == term[0] + term[2:]
    )
    return Step(equation, first, second, is_sum)


def _product_layout(first: str, second: str, later: set[str], letters: str) -> str:
    """What a product that others follow is laid as."""
    layout = [letter for letter in dict.fromkeys(first + second) if letter in later]
    if any(letter in letters[1:] for letter in layout):
        layout = [letters[0], *(letter for letter in layout if letter != letters[0])]
    return "".join(layout)


def _is_real_float(dtype: Any) -> bool:
    """Whether the kernel of sums keeps the dtype."""
    kind = getattr(dtype, "kind", None)
    return bool(dtype.is_floating_point) if kind is None else kind == "f" and dtype.itemsize <= 8
