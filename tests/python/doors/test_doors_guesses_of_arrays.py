"""First guesses of people who know NumPy and awkward: each works, or names what does."""

import numpy as np
import pytest
import varlen as vl
from numpy.testing import assert_equal

NAMES = {
    "np": np,
    "vl": vl,
    "r": vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]),
    "full": vl.Ragged([3, 1, 4, 1, 5], [3, 2]),
    "f": vl.Ragged([3, np.nan, 4, 1, 5], [3, 0, 2]),
    "q": vl.Ragged.from_list([[[3, 1], [4]], [], [[1, 5, 9]]]),
}

NAN = float("nan")

WORK = {
    "r[r > 1]": [[3, 4], [], [5]],
    "r[(r > 1) & (r < 5)]": [[3, 4], [], []],
    "r[~(r > 1)]": [[1], [], [1]],
    "r[r.argsort()]": [[1, 3, 4], [], [1, 5]],
    "r[r.argsort(descending=True)]": [[4, 3, 1], [], [5, 1]],
    "r[np.argsort(r)]": [[1, 3, 4], [], [1, 5]],
    "r[r == r.max(empty=0)]": [[4], [], [5]],
    "r[r.lengths > 1]": [[3, 1, 4], [1, 5]],
    "r[r.count() > 1]": [[3, 1, 4], [1, 5]],
    "r[np.array([True, False, True])]": [[3, 1, 4], [1, 5]],
    "r[np.isin(r, [1, 3])]": [[3, 1], [], [1]],
    "r[vl.Ragged.from_list([[0, 1], [], [-1]])]": [[3, 1], [], [5]],
    "full[:, 0]": [3, 1],
    "full[:, -1]": [4, 5],
    "full[..., 0]": [3, 1],
    "full[:, [0, 1]]": [[3, 1], [1, 5]],
    "full[:, [0, -1]]": [[3, 4], [1, 5]],
    "r[:, :2]": [[3, 1], [], [1, 5]],
    "r[:, ::-1]": [[4, 1, 3], [], [5, 1]],
    "r[:, 1:]": [[1, 4], [], [5]],
    "r[0, 1]": 1,
    "r[[0, 2], [1, 0]]": [1, 1],
    "r[[0, 2], -1]": [4, 5],
    "r[np.ix_([0, 2], [0, 1])]": [[3, 1], [1, 5]],
    "r[:, np.newaxis]": [[[3, 1, 4]], [[]], [[1, 5]]],
    "r[..., None]": [[[3], [1], [4]], [], [[1], [5]]],
    "r[None]": [[[3, 1, 4], [], [1, 5]]],
    "q[q > 1]": [[[3], [4]], [], [[5, 9]]],
    "q[..., 0]": [[3, 4], [], [1]],
    "q[:, :, 0]": [[3, 4], [], [1]],
    "q[0, 1, 0]": 4,
    "q[q.lengths > 0]": [[[3, 1], [4]], [[1, 5, 9]]],
    "q[q.max(empty=0) > 3]": [[[4]], [], [[1, 5, 9]]],
    "np.sum(r)": 14,
    "np.sum(r, axis=1)": [8, 0, 6],
    "np.sum(r, axis=-1)": [8, 0, 6],
    "np.sum(r, axis=1, keepdims=True)": [[8], [0], [6]],
    "np.sum(r, axis=1, where=r > 1)": [7, 0, 5],
    "np.max(r)": 5,
    "np.max(r, axis=1, initial=0)": [4, 0, 5],
    "np.sort(r)": [[1, 3, 4], [], [1, 5]],
    "np.sort(r)[:, ::-1]": [[4, 3, 1], [], [5, 1]],
    "np.unique(r)": [1, 3, 4, 5],
    "np.median(r, axis=1)": [3, NAN, 3],
    "np.percentile(full, [25, 75], axis=1)": [[2, 2], [3.5, 4]],
    "np.nanmean(f, axis=1)": [3.5, NAN, 3],
    "np.nanmax(f)": 5,
    "np.isnan(f).any(axis=1)": [True, False, False],
    "np.isin(r, [1, 3])": [[True, True, False], [], [True, False]],
    "np.where(r > 1, r, 0)": [[3, 0, 4], [], [0, 5]],
    "np.stack(np.where(r > 1))": [[0, 0, 2], [0, 2, 1]],
    "np.concatenate([r, full])": [[3, 1, 4], [], [1, 5], [3, 1, 4], [1, 5]],
    "np.concatenate([r, r], axis=1)": [[3, 1, 4, 3, 1, 4], [], [1, 5, 1, 5]],
    "np.hstack([r, r])": [[3, 1, 4, 3, 1, 4], [], [1, 5, 1, 5]],
    "np.vstack([full, full])": [[3, 1, 4], [1, 5], [3, 1, 4], [1, 5]],
    "np.cumsum(r, axis=1)": [[3, 4, 8], [], [1, 6]],
    "np.diff(r)": [[-2, 3], [], [4]],
    "np.histogram(r, bins=3)[0]": [2, 1, 2],
    "np.digitize(r, [2, 4])": [[1, 0, 2], [], [0, 2]],
    "np.searchsorted([2, 4], r)": [[1, 0, 1], [], [0, 2]],
    "np.repeat(r, 2, axis=1)": [[3, 3, 1, 1, 4, 4], [], [1, 1, 5, 5]],
    "np.take_along_axis(r, r.argsort(), axis=1)": [[1, 3, 4], [], [1, 5]],
    "np.any(r > 4, axis=1)": [False, False, True],
    "np.count_nonzero(r > 1, axis=1)": [2, 0, 1],
    "np.average(full, axis=1, weights=full)": [3.25, 13 / 3],
    "np.clip(r, 1, 3)": [[3, 1, 3], [], [1, 3]],
    "np.add(r, 1)": [[4, 2, 5], [], [2, 6]],
    "np.add.reduce(r, axis=1)": [8, 0, 6],
    "np.full_like(r, 7)": [[7, 7, 7], [], [7, 7]],
    "np.array_equal(r, r)": True,
    "np.asarray(full[:1])": [[3, 1, 4]],
    "np.ravel(r)": [3, 1, 4, 1, 5],
    "np.flip(r, axis=1)": [[4, 1, 3], [], [5, 1]],
    "np.argmax(full, axis=1)": [2, 1],
    "r * [1, 2, 3]": [[3, 1, 4], [], [3, 15]],
    "r * np.array([1, 2, 3])[:, None]": [[3, 1, 4], [], [3, 15]],
    "full - full.min()": [[2, 0, 3], [0, 4]],
    "r.sum(axis=1)": [8, 0, 6],
    "r.tolist()": [[3, 1, 4], [], [1, 5]],
    "5 in r": True,
}

REFUSED = {
    "r[:, 0]": (IndexError, r"sequence 1 of length 0; r\.first\(empty=\.\.\.\) fills, r\[r\.lengths > 0\]"),
    "r[:, -1]": (IndexError, r"r\.last\(empty=\.\.\.\)"),
    "r[[0, 1], [0, 0]]": (IndexError, "index 0 is out of range for sequence 1 of length 0"),
    "r[[[0, 1], [], [0]]]": (IndexError, r"varlen.Ragged.from_list\(key\).*r.gather and r.boolean_mask"),
    "r[np.ones((3, 3), bool)]": (IndexError, r"r.gather and r.boolean_mask"),
    "r[r > 1, 0]": (IndexError, r"r\[mask\]\[:, 0\], or r.boolean_mask and r.gather"),
    "r[:, [True, False]]": (IndexError, r"r\.boolean_mask\(mask\)"),
    "r[r * 1.0]": (IndexError, "float64 is no index; .*boolean_mask"),
    "r[q > 1]": (ValueError, "mask: has 3 axes, X has 2"),
    "r['x']": (IndexError, "not by str"),
    "np.max(r, axis=1)": (ValueError, r"sequence 1 is empty; .*r\.max\(empty=\.\.\.\), or pass initial="),
    "np.cumsum(r)": (TypeError, r"use r\.cumsum\(\)"),
    "np.bincount(r)": (TypeError, r"use r\.bincount\(\)"),
    "np.add.at(r, 0, 1)": (TypeError, r"np\.add\.at .* use r\[key\] = "),
    "np.add.reduceat(r, [0])": (TypeError, r"np\.add\.reduceat .* use r\.sum\(\)"),
    "np.asarray(r)": (ValueError, r"sequence 1 has length 0, .*use to_dense\(\) to pad, or \.values"),
    "np.reshape(r, 5)": (ValueError, r"begin with \(3, None\), or -1 for all rows end to end, got \(5,\)$"),
    "np.split(r, 2, axis=1)": (TypeError, r"use r\[:, a:b\]"),
    "r.clip(1, 3)": (AttributeError, r"use numpy\.clip\(r"),
    "r.median()": (AttributeError, r"use numpy\.median\(r, axis=1\)"),
    "r.T": (AttributeError, r"use \.to_dense\(\)\.T"),
    "r.ravel()": (AttributeError, r"use \.values"),
    "r.nonzero()": (AttributeError, r"use numpy\.nonzero\(r\)"),
    "r.take([0])": (AttributeError, r"use r\[indices\]"),
    "r.layout": (AttributeError, r"use \.values and \.levels"),
    "bool(r)": (ValueError, r"use len\(\), equals\(\)"),
}


def plain(x):
    return x.to_list() if isinstance(x, vl.Ragged) else x.tolist() if hasattr(x, "tolist") else x


@pytest.mark.parametrize("guess", WORK)
def test_a_guess_at_arrays_works(guess):
    assert_equal(plain(eval(guess, dict(NAMES))), WORK[guess])


@pytest.mark.parametrize("guess", REFUSED)
def test_a_guess_at_arrays_that_cannot_work_names_what_does(guess):
    kind, text = REFUSED[guess]
    with pytest.raises(kind, match=text):
        eval(guess, dict(NAMES))


@pytest.mark.parametrize(
    "guess", ["ak.num(r)", "ak.sum(r, axis=1)", "ak.Array(r)", "ak.flatten(r)", "ak.to_list(r)"]
)
def test_awkward_takes_a_ragged(guess):
    ak = pytest.importorskip("awkward")
    want = {"ak.num(r)": [3, 0, 2], "ak.sum(r, axis=1)": [8, 0, 6], "ak.flatten(r)": [3, 1, 4, 1, 5]}
    result = eval(guess, {**NAMES, "ak": ak})
    assert ak.to_list(result) == want.get(guess, [[3, 1, 4], [], [1, 5]])
