"""Thinc's page on sequences with `varlen.thinc` in place of `thinc.api`: examples, statements, tables."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from varlen import thinc
from varlen.thinc import (
    LSTM,
    Linear,
    Padded,
    Ragged,
    chain,
    get_current_ops,
    list2padded,
    list2ragged,
    padded2list,
    ragged2list,
    with_array,
    with_flatten,
    with_padded,
)


def sequences():
    ops = get_current_ops()
    return [ops.alloc2f(7, 5) + 1, ops.alloc2f(2, 5) + 2, ops.alloc2f(4, 5) + 3]


def test_example_of_padded():
    padded = get_current_ops().list2padded(sequences())
    assert padded.data.shape == (7, 3, 5)
    assert (padded.data[:, 0] == 1).all()
    assert (padded.data[:4, 1] == 3).all()
    assert (padded.data[:2, 2] == 2).all()
    assert list(padded.indices) == [0, 2, 1]
    assert isinstance(padded[0], Padded)
    assert padded[0].data.shape == (7, 1, 5)


def test_example_of_ragged():
    list2ragged_model = list2ragged()
    ragged = list2ragged_model.predict(sequences())
    assert type(ragged) is Ragged
    assert ragged.data.shape == (13, 5)
    assert ragged.data.shape[0] == ragged.lengths.sum()
    assert ragged.lengths.dtype == np.int32
    assert (ragged.data[:7] == 1).all()
    assert (ragged.data[7:9] == 2).all()
    assert (ragged.data[9:] == 3).all()
    assert type(ragged[0]) is Ragged
    assert ragged[0].data.shape == (7, 5)
    model = Linear(6, 5).initialize()
    output = model.predict(ragged.data)
    ragged_out = Ragged(output, ragged.lengths)
    assert ragged_out.data.shape == (13, 6)
    assert ragged_out.data.dtype == np.float32


def test_example_of_ragged_with_more_axes():
    ops = get_current_ops()
    ragged3d = list2ragged().predict([ops.alloc3f(5, 6, 7), ops.alloc3f(10, 6, 7)])
    assert ragged3d.data.shape == (15, 42)
    assert ragged3d.dataXd.shape == (15, 6, 7)


def test_padded_gives_items_and_slices_of_the_batch_and_its_active_sequences():
    padded = get_current_ops().list2padded(sequences())
    assert isinstance(padded[1:3], Padded)
    assert [x.shape for x in get_current_ops().padded2list(padded[1:3])] == [(2, 5), (4, 5)]
    assert padded.size_at_t.tolist() == [3, 3, 2, 2, 1, 1, 1]
    for t, size in enumerate(padded.size_at_t):
        assert (padded.data[t, :size] > 0).all()
        assert not padded.data[t, size:].any()
    assert {padded.size_at_t.dtype, padded.lengths.dtype, padded.indices.dtype} == {np.dtype(np.int32)}


def test_with_array_hands_the_data_on_without_a_copy():
    ragged, seen = list2ragged().predict(sequences()), []
    model = with_array(thinc.Model("watch", lambda model, X, is_train: (seen.append(X) or X, None)))
    result = model.predict(ragged)
    assert type(result) is Ragged
    assert result.lengths is ragged.lengths
    assert np.shares_memory(seen[0], ragged.data)


@pytest.mark.parametrize("enter", [list2padded, list2ragged])
def test_networks_begin_and_end_with_lists_and_lose_both_in_training(enter):
    leave = {list2padded: padded2list, list2ragged: ragged2list}[enter]
    layer = thinc.with_padded(LSTM(4, 5))
    model = chain(enter(), layer, leave()).initialize(X=sequences())
    want = model.predict(sequences())
    assert [y.shape for y in want] == [(7, 4), (2, 4), (4, 4)]
    inside = layer.predict(enter().predict(sequences()))
    assert type(inside) is (Padded if enter is list2padded else Ragged)
    for one, other in zip(leave().predict(inside), want, strict=True):
        np.testing.assert_array_equal(one, other)


def test_with_flatten_gives_nested_lists_back_with_arrays_divided_as_needed():
    words = [[np.ones((2, 3), "f"), np.ones((1, 3), "f")], [], [np.ones((4, 3), "f")]]
    model = with_flatten(with_array(Linear(2, 3))).initialize(X=words)
    Y, backprop = model.begin_update(words)
    assert [[y.shape for y in inner] for inner in Y] == [[(2, 2), (1, 2)], [], [(4, 2)]]
    assert [[d.shape for d in inner] for inner in backprop(Y)] == [[(2, 3), (1, 3)], [], [(4, 3)]]


# The ops that the tables of the page name, by what they take and give.
CONVERSIONS = {
    "list2padded": (list, Padded),
    "padded2list": (Padded, list),
    "list2ragged": (list, Ragged),
    "ragged2list": (Ragged, list),
}
KINDS = pytest.mark.parametrize("kind", [list, Ragged, Padded])


def given(kind):
    ops = get_current_ops()
    make = {list: list, Ragged: ops.list2ragged, Padded: ops.list2padded}
    return make[kind](sequences())


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_of_the_tables_are_ops_and_layers(name):
    before, after = CONVERSIONS[name]
    result = getattr(get_current_ops(), name)(given(before))
    Y, backprop = getattr(thinc, name)().begin_update(given(before))
    assert type(result) is type(Y) is after
    assert type(backprop(Y)) is before
    for r in (Y, result):
        if after is not list:
            assert r.lengths.dtype == np.int32
            np.testing.assert_array_equal(r.data, result.data)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max"])
def test_reductions_of_the_tables_are_ops_and_layers(name):
    X = given(Ragged)
    result = getattr(get_current_ops(), name)(X.data, X.lengths)
    Y, backprop = getattr(thinc, name)().begin_update(X)
    if name == "reduce_max":
        result, which = result
        assert (which.shape, which.dtype) == ((3, 5), np.int32)
    assert (result.shape, result.dtype) == ((3, 5), np.float32)
    assert Y.dtype == np.float32
    np.testing.assert_array_equal(Y, result)
    dX = backprop(Y)
    assert type(dX) is Ragged
    assert dX.lengths.dtype == np.int32


@KINDS
@pytest.mark.parametrize("name", ["with_padded", "with_ragged", "with_list"])
def test_transforms_of_the_tables_give_the_kind_that_came(name, kind):
    inside = {"with_padded": Padded, "with_ragged": Ragged, "with_list": list}[name]
    seen = []

    def forward(model, X, is_train):
        seen.append(type(X))
        return X, lambda dY: seen.append(type(dY)) or dY

    X = given(kind)
    Y, backprop = getattr(thinc, name)(thinc.Model("watch", forward)).begin_update(X)
    assert type(Y) is type(backprop(Y)) is kind
    assert seen == [inside, inside]


@pytest.mark.parametrize("name", ["LSTM", "PyTorchLSTM"])
def test_layers_of_the_tables_run_over_sequences(name):
    if name == "PyTorchLSTM":
        pytest.importorskip("torch")
    model = getattr(thinc, name)(4, 5)
    model = (with_padded(model) if name == "LSTM" else model).initialize()
    for kind in (list, Ragged, Padded):
        Y, backprop = model.begin_update(given(kind))
        assert type(Y) is type(backprop(Y)) is kind


def test_the_page_holds_where_nothing_of_thinc_is_installed():
    """All other tests of the file, in a process that cannot import it."""
    if "thinc_hidden" in sys.modules:
        pytest.skip("this is that process")
    here = Path(__file__)
    path = os.pathsep.join([str(here.parent), *filter(None, sys.path)])
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "thinc_hidden",
            "-p",
            "no:cacheprovider",
            "-n",
            "0",
            here,
        ],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped" in done.stdout
