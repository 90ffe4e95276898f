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
    out: Any = None,
) -> Any:
    """The sum of products that steps say."""
    values = list(operands)
    for k, (equation, first, second, is_sum) in enumerate(steps):
        to = out if k == len(steps) - 1 else None
        x = values[first]
        ragged = tuple([levels[letter] for letter in equation.ragged[1:]])
        if is_sum and _is_real_float(x.dtype):
            values[first] = backend.reduce("sum", x, ragged[0], 0, to)
            continue
        pair = [x] if second < 0 else [*backend.promote_pair(x, values[second])]
        fixed = tuple([extents[letter] for letter in equation.fixed])
        values[first] = backend.einsum(equation, pair, ragged, fixed, to)
    return values[0]


def steps_of(terms: tuple[str, ...], out: str, ragged: str) -> tuple[Step, ...]:
    """How the operands of an equation are contracted from the left.

    `ragged` is the letter of sequences and the ragged ones behind it; "" where none is ragged. Steps of the
    same equation are made once.
    """
    return (_steps_of if tracing.is_tracing() else _known_steps_of)(terms, out, ragged)


def _steps_of(terms: tuple[str, ...], out: str, ragged: str) -> tuple[Step, ...]:
    if len(terms) == 1:
        return (_step((terms[0], out), 0, -1, ragged),)
    steps = []
    first = terms[0]
    for k in range(1, len(terms)):
        second = terms[k]
        later = set(out).union(*terms[k + 1 :])
        alone = "".join([letter for letter in first if letter in later or letter in second])
        if alone != first:
            steps.append(_step((first, alone), 0, -1, ragged))
        other = "".join([letter for letter in second if letter in later or letter in alone])
        if other != second:
            steps.append(_step((second, other), k, -1, ragged))
        first = out if k == len(terms) - 1 else _product_layout(alone, other, later, ragged)
        steps.append(_step((alone, other, first), 0, k, ragged))
    return tuple(steps)


_known_steps_of = lru_cache(maxsize=512)(_steps_of)


def _step(terms: tuple[str, ...], first: int, second: int, letters: str) -> Step:
    """The step of terms, the last of which comes out."""
    ragged = "".join([x for x in letters[1:] if any(x in term for term in terms)])
    sequences = letters[:1] if ragged else ""
    fixed = dict.fromkeys(x for term in terms for x in term if x not in ragged and x != sequences)
    term, out = terms[0], terms[-1]
    equation = Equation(terms[:-1], out, sequences + ragged, "".join(fixed))
    is_sum = second < 0 and len(ragged) == 1 and term[:2] == equation.ragged and out == term[0] + term[2:]
    return Step(equation, first, second, is_sum)


def _product_layout(first: str, second: str, later: set[str], ragged: str) -> str:
    """What a product that others follow is laid as."""
    kept = [letter for letter in dict.fromkeys(first + second) if letter in later]
    if any(letter in ragged[1:] for letter in kept):
        kept = [ragged[0], *(letter for letter in kept if letter != ragged[0])]
    return "".join(kept)


def _is_real_float(dtype: Any) -> bool:
    """Whether the kernel of sums keeps the dtype."""
    kind = getattr(dtype, "kind", None)
    return bool(dtype.is_floating_point) if kind is None else kind == "f" and dtype.itemsize <= 8
