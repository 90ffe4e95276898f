"""Upstream's own examples, with our class in the place of theirs, and its answers beside ours."""

import doctest

import numpy as np
import pytest
import varlen.joint
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_data import same
from varlen.joint import JointNestedRaggedTensorDict as Joint

upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy")

# How the other library works inside, which nobody calls.
INSIDE = {"_slice", "_slice_single", "_get_slice_indices", "_get_slice_indices_internal"}
INSIDE |= {"_row_length_from_out_indices", "_bounds_check_int", "_get_lengths_and_values"}

FOUND = [
    test
    for test in doctest.DocTestFinder(exclude_empty=True).find(upstream, "upstream", globs={})
    if test.examples and test.name.split(".")[-1] not in INSIDE
]


@pytest.mark.parametrize("test", FOUND, ids=lambda test: test.name)
def test_examples_of_upstream_run(test, capsys):
    test.globs = {name: getattr(varlen.joint, name) for name in varlen.joint.__all__}
    # J["T"] is a view of the key here, and infinities are floats like others.
    test.examples = [
        example
        for example in test.examples
        if example.source.strip() != 'J["T"]' and not (example.exc_msg and "np.inf" in example.source)
    ]
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(test, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out


def test_star_import_gives_what_upstreams_did():
    ours, theirs = {}, {}
    exec("from varlen.joint import *", ours)
    exec("from nested_ragged_tensors.ragged_numpy import *", theirs)
    used = {"np", "Path", "itertools", "re", "warnings", "is_ndim_list", "pprint_dense"}
    used |= {"JointNestedRaggedTensorDict", "NP_FLOAT_TYPES", "NP_INT_TYPES", "NP_UINT_TYPES", "NUM_T"}
    assert used <= ours.keys()
    assert used <= theirs.keys()
    for name in ("NP_FLOAT_TYPES", "NP_INT_TYPES", "NP_UINT_TYPES"):
        assert ours[name] == theirs[name]
    from varlen.joint import load_file, safe_open, save_file

    assert {load_file, safe_open, save_file} == {theirs[n] for n in ("load_file", "safe_open", "save_file")}


@st.composite
def raws(draw):
    lengths = draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), min_size=1, max_size=4))
    number = st.one_of(st.integers(0, 70000), st.floats(-100, 100, width=32), st.booleans())
    leaf = draw(st.sampled_from([st.integers(-5, 70000), st.floats(-100, 100, width=32), number]))
    return {
        "a": [[draw(leaf) for _ in row] for row in lengths],
        "b": [[[draw(leaf) for _ in range(n)] for n in row] for row in lengths],
    }


def agree(ours, theirs):
    assert ours.keys() == theirs.keys()
    assert set(ours.tensors) == set(theirs.tensors)
    for name, array in theirs.tensors.items():
        assert ours.tensors[name].dtype == array.dtype, name
        np.testing.assert_array_equal(ours.tensors[name], array, err_msg=name)


@settings(max_examples=60)
@given(raws(), st.data())
def test_answers_are_upstreams(raw, data):
    ours, theirs = Joint(raw), upstream.JointNestedRaggedTensorDict(raw)
    assert ours.schema == theirs.schema
    assert repr(ours) == repr(theirs)
    n = len(raw["a"])
    i = data.draw(st.integers(-n, n - 1))
    a, b = sorted(data.draw(st.tuples(st.integers(0, n - 1), st.integers(1, n))))
    picked = np.array(data.draw(st.lists(st.integers(-n, n - 1), min_size=1, max_size=4)))
    side = data.draw(st.sampled_from(["left", "right"]))
    changes = (
        lambda J: J[i],
        lambda J: J[a:b],
        lambda J: J[i, 0:1],
        lambda J: J[i, 0],
        lambda J: J[picked],
        lambda J: J.flatten(),
        lambda J: J.unsqueeze(0),
        lambda J: type(J).vstack([J[int(k)] for k in picked]),
        lambda J: type(J).concatenate([J, J]),
    )
    for change in changes:
        mine, other = change(ours), change(theirs)
        agree(mine, other)
        if mine.max_n_dims > 0 and len(mine):
            same(mine.to_dense(padding_side=side), other.to_dense(padding_side=side))
