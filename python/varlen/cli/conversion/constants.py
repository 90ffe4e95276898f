"""Columns with one value per record, which a long table repeats for each event: ``--constant``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from varlen._core import Joint, Level
from varlen.cli.conversion.places import RowPlace
from varlen.cli.conversion.words import Vocabularies
from varlen.cli.conversion.wrong import Findings
from varlen.errors import file_error, no_column_error, value_error, with_fields

__all__ = ["first_values"]

_MOST = 20  # records of a piece that are named


def first_values(
    joint: Joint,
    constants: Sequence[str],
    groups: Sequence[str],
    words: Vocabularies,
    locate: Callable[[int], RowPlace],
    findings: Findings,
) -> Joint:
    """The joint with the constant keys at dim 0, one value per record.

    A record with several values of a key goes into the findings: `locate` gives the places of its rows.
    """
    if not constants:
        return joint
    names = [name for name in joint.names if any(name == c or name.startswith(f"{c}.") for c in constants)]
    for name in constants:
        if not any(key == name or key.startswith(f"{name}.") for key in names):
            raise no_column_error("--constant", name, joint.names)
    first = np.arange(len(joint) + 1)
    for dim in range(1, len(groups) + 1):
        first = joint.level(dim).offsets[first]
    record_of = Level.from_offsets(first).row_ids
    values, dims = [], []
    for name, dim in zip(joint.names, joint.dims, strict=True):
        flat = joint.values(name)
        if name in names:
            if dim != len(groups):
                raise value_error("--constant", f"{name!r} holds lists; one value an event is expected")
            _check(name, flat, first[:-1], record_of, joint, groups[0], words, locate, findings)
            flat, dim = flat[first[:-1]], 0
        values.append(flat)
        dims.append(dim)
    return Joint(joint.names, dims, values, [joint.level(d) for d in range(1, joint.depth + 1)], len(joint))


def _check(
    name: str,
    flat: np.ndarray,
    first: npt.NDArray[np.int64],
    record_of: npt.NDArray[np.int64],
    joint: Joint,
    group: str,
    words: Vocabularies,
    locate: Callable[[int], RowPlace],
    findings: Findings,
) -> None:
    expected = flat[first][record_of]
    differs = expected != flat
    if flat.dtype.kind in "fmM":
        differs &= ~((expected != expected) & (flat != flat))  # NaN and NaT are what they are
    rows = np.flatnonzero(differs.reshape(len(flat), math.prod(flat.shape[1:])).any(1))
    rows = rows[np.unique(record_of[rows], return_index=True)[1]]  # the first of each record
    for row in rows[:_MOST].tolist():
        record = int(record_of[row])
        one, other = (_value_text(name, flat[i], words) for i in (int(first[record]), row))
        who = _value_text(group, joint.values(group)[record], words)
        fault = f"{other}, but {one} before in the record of {group} {who}"
        place = locate(row)
        error = file_error(place.file.path, fault, name, place.name)
        findings.add(with_fields(error, row=place.row, advice="--constant needs one value per record"))
    if len(rows) > _MOST:
        findings.leave_rest()


def _value_text(name: str, value: Any, words: Vocabularies) -> str:
    if name in words:
        return repr(words.words_of(name)[int(value)])
    return str(value) if value.dtype.kind in "mM" else repr(value.tolist())
