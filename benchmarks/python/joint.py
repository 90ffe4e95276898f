"""Many joint dicts to one: concatenate and stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

KEYS = {"time": 1, "kind": 1, "code": 2, "value": 2, "flag": 2}


def _parts(case: Case) -> list[dict[str, np.ndarray]]:
    """Joint dicts of two levels and five keys: 64 of 168 KB each, or single rows of a dict of that size."""
    parts = []
    for i in range(case.size(64, 5)):
        outer = sample.lengths(case.size(16, 3), 24, seed=i)
        inner = sample.lengths(int(outer.sum()), 16, seed=i + 1000)
        counts = {1: int(outer.sum()), 2: int(inner.sum())}
        rng = np.random.default_rng(i)
        kinds = {
            "time": np.float64,
            "kind": np.int32,
            "code": np.int64,
            "value": np.float64,
            "flag": np.int64,
        }
        part = {"dim1/bounds": np.cumsum(outer), "dim2/bounds": np.cumsum(inner)}
        for key, dim in KEYS.items():
            part[f"dim{dim}/{key}"] = rng.integers(0, 9, counts[dim]).astype(kinds[key])
        parts.append(part)
    return parts


def _joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """The reference, and what NumPy does by hand: a concatenate a key, ends moved by what came before."""
    result = {}
    for key in parts[0]:
        if key.endswith("/bounds"):
            before = np.cumsum([0, *(int(part[key][-1]) for part in parts[:-1])])
            result[key] = np.concatenate([part[key] + b for part, b in zip(parts, before, strict=True)])
        else:
            result[key] = np.concatenate([part[key] for part in parts])
    return result


def _contenders(case: Case, parts: list[dict[str, np.ndarray]]) -> None:
    out = {key: case.buffer(array.shape, array.dtype) for key, array in _joined(parts).items()}
    whole = {key: array.copy() for key, array in _joined(parts).items()}

    def into_kept() -> None:
        for key, array in whole.items():
            yardstick.memcpy(out[key], array)

    def into_fresh() -> None:
        for array in whole.values():
            yardstick.memcpy(np.empty_like(array), array)

    case.yardstick("memcpy", into_kept)
    case.yardstick("memcpy into fresh memory", into_fresh)
    case.over("memcpy", 1.1, less_us=20)


@row("concat", "concatenate 64 joint dicts of 5 keys")
def _(case: Case) -> None:
    parts = _parts(case)
    case.reference = _joined(parts)
    _contenders(case, parts)

    @case.contender("varlen", show=lambda joint: dict(joint.tensors))
    def _() -> Any:
        import varlen

        joints = [varlen.JointNestedRaggedTensorDict(processed_tensors=part) for part in parts]
        return varlen.JointNestedRaggedTensorDict.concatenate, joints

    case.contender("numpy by hand")(lambda: (_joined, parts))

    @case.contender("numba", needs="numba")
    def _() -> Any:
        return _by_numba(parts)

    @case.contender("upstream", needs="nested_ragged_tensors", show=lambda joint: dict(joint.tensors))
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return Joint.concatenate, [Joint(processed_tensors=part) for part in parts]


@row("stack", "stack 64 joint dicts of 5 keys")
def _(case: Case) -> None:
    parts = _parts(case)
    events = np.cumsum([len(part["dim1/bounds"]) for part in parts])
    moved = dict(_joined(parts).items())
    case.reference = {
        "dim1/bounds": events,
        **{f"dim{int(key[3]) + 1}{key[4:]}": v for key, v in moved.items()},
    }
    _contenders(case, parts)

    def by_hand(given: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        result = {f"dim{int(key[3]) + 1}{key[4:]}": v for key, v in _joined(given).items()}
        result["dim1/bounds"] = np.cumsum([len(part["dim1/bounds"]) for part in given])
        return result

    @case.contender("varlen", show=lambda joint: dict(joint.tensors))
    def _() -> Any:
        import varlen

        joints = [varlen.JointNestedRaggedTensorDict(processed_tensors=part) for part in parts]
        return varlen.JointNestedRaggedTensorDict.vstack, joints

    case.contender("numpy by hand")(lambda: (by_hand, parts))

    @case.contender("upstream", needs="nested_ragged_tensors", show=lambda joint: dict(joint.tensors))
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict as Joint

        return Joint.vstack, [Joint(processed_tensors=part) for part in parts]


def _by_numba(parts: list[dict[str, np.ndarray]]) -> Any:
    """NumPy's concatenate for the values, which no loop beats, and a kernel for the ends."""
    from . import by_hand

    def joined() -> dict[str, np.ndarray]:
        result = {}
        for key in parts[0]:
            arrays = [part[key] for part in parts]
            result[key] = np.concatenate(arrays)
            if key.endswith("/bounds"):
                by_hand.move_ends(result[key], np.fromiter(map(len, arrays), np.int64, len(arrays)))
        return result

    return joined
