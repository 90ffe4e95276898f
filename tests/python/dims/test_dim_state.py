"""Dims outside of where they were made: pickles, tables in files, threads, forks."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from varlen import Dim, io
from varlen.dims import FeatureDim, LengthMismatchError, batch_dim, read_dims, write_dims

time = Dim("time", lengths=[3, 0, 2])
labels = FeatureDim("labels", vocab=["a", "b"])
inner = Dim("inner", lengths=[1, 2, 3, 4, 5], over=[batch_dim, time])


def samples():
    return [
        time,
        Dim("free"),
        2 * time + 1,
        (time // 3) * 2 + inner,
        time.ceildiv_left(2).div_left(3),
        time * (labels + 1) - 2,
        Dim("one", lengths=4),
        batch_dim,
        Dim(5, kind="batch", name="rows"),
        labels,
        inner.copy(name="other", match_priority=3),
        1000 * (time + labels),
        time - time,
    ]


def known(dim):
    lengths = None if dim.lengths is None else dim.lengths.tolist()
    return dim.name, dim.kind, dim.size, lengths, dim.over, dim.vocab, dim.match_priority


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_a_pickle_is_equal_where_the_original_lives(protocol):
    dims = samples()
    again = pickle.loads(pickle.dumps(dims, protocol))
    assert again == dims
    assert [known(dim) for dim in again] == [known(dim) for dim in dims]
    assert again[0].level is again[2].derived_from.level


def test_a_pickle_is_one_dim_in_another_process():
    """The same pickle twice, and another one of the same dim, give equal dims; of the batch there is one."""
    texts = [pickle.dumps([time, 2 * time + 1, batch_dim]), pickle.dumps(time + 1), write_dims([time])]
    code = (
        "import pickle, sys, varlen\n"
        "a, b, c = pickle.loads(sys.stdin.buffer.read())\n"
        "mine = varlen.Dim('time')\n"
        "x, y, batch = pickle.loads(a)\n"
        "assert (x, y, batch) == tuple(pickle.loads(a))\n"
        "assert x + 1 == pickle.loads(b) and y == 2 * x + 1 and x != mine\n"
        "assert varlen.dims.read_dims(c) == [x]\n"
        "assert batch == varlen.dims.batch_dim\n"
        "assert y.lengths.tolist() == [7, 1, 5]\n"
    )
    subprocess.run([sys.executable, "-c", code], input=pickle.dumps(texts), check=True, timeout=60)


def test_a_declared_dim_is_pickled_as_what_it_stands_for():
    out = Dim("out")
    out.declare_same_as(2 * time)
    again = pickle.loads(pickle.dumps(out))
    assert again == out == 2 * time
    assert again.lengths.tolist() == [6, 0, 4]
    assert again.name == "out"


def test_a_table_holds_what_a_pickle_holds():
    dims = samples()
    again = read_dims(write_dims(dims))
    assert again == dims
    assert [known(dim) for dim in again] == [known(dim) for dim in dims]


def test_a_table_has_lengths_and_parts_once():
    text = write_dims([time, time + 1, 2 * time, time])
    table = json.loads(text)
    assert table["lengths"].count([3, 0, 2]) == 1
    assert sum(factor[2] == "time" for factor in table["factors"]) == 1
    one, more, twice, again = read_dims(text)
    assert one.level is more.derived_from.level is again.level
    assert (twice + one).lengths.tolist() == [9, 0, 6]


def test_a_table_travels_in_the_metadata_of_a_file(tmp_path):
    path = tmp_path / "a.safetensors"
    io.save(path, {"x": np.arange(5)}, metadata={"dims": write_dims([time, 2 * time])})
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    one, two = read_dims(header["__metadata__"]["dims"])
    assert (one, two) == (time, 2 * time)


@pytest.mark.parametrize(
    "damage",
    [
        lambda t: t | {"version": 2},
        lambda t: t | {"dims": [99]},
        lambda t: t | {"dims": [-1]},
        lambda t: t | {"dims": "x"},
        lambda t: t | {"lengths": [[-1]]},
        lambda t: t | {"lengths": [[1.5]]},
        lambda t: t | {"words": [[[1, 0, 0]]]},
        lambda t: t | {"words": [["x"]]},
        lambda t: t | {"words": [[1, 2**70]]},
        lambda t: t | {"words": []},
        lambda t: t | {"factors": [["power", 0, 0]]},
        lambda t: t | {"factors": [["name", "xx", "a", "spatial", -1, None]]},
        lambda t: t | {"factors": [["name", "1" * 60, "a", "spatial", -1, None]]},
        lambda t: t | {"factors": [["name", "0", "a", "spatial", -1, None]]},
        lambda t: t | {"factors": [["name", "1f", 3, "spatial", -1, None]]},
        lambda t: t | {"factors": [["name", "1f", "a", "square", -1, None]]},
        lambda t: t | {"factors": [["quotient", "up", 0, 0]]},
        lambda t: t | {"all": [[0, [], 3, 0]]},
        lambda t: t | {"all": [[0, [[0, [], 7]], None, 0]]},
        lambda t: [t],
        lambda t: {},
    ],
)
def test_a_damaged_table_is_refused(damage):
    table = json.loads(write_dims([2 * time + 1]))
    with pytest.raises(ValueError, match="text: expected a table of dims"):
        read_dims(json.dumps(damage(table)))


def test_a_table_is_text():
    with pytest.raises(TypeError, match="text: expected str, got bytes"):
        read_dims(b"{}")
    with pytest.raises(ValueError, match="text: expected a table of dims"):
        read_dims("{")
    with pytest.raises(ValueError, match="text: expected a table of dims"):
        read_dims("[" * 100_000)


def test_a_name_in_use_with_another_size_is_refused():
    text = write_dims([labels])
    table = json.loads(text)
    for factor in table["factors"]:
        factor[4:] = [3, None]
    with pytest.raises(ValueError, match="the dim 'labels' is known with another size or kind"):
        read_dims(json.dumps(table))


def test_tables_with_other_lengths_are_compared():
    """Two files of one schema: the names are equal, and lengths that disagree are seen when they meet."""
    schema = Dim("schema")
    (a,), (b,) = (read_dims(write_dims([schema.bind(lengths)])) for lengths in ([1, 2], [1, 3]))
    assert a == b == schema
    with pytest.raises(LengthMismatchError, match="row 1 of 'schema' has length 2 in one and 3 in the other"):
        a + b


def test_many_threads_build_the_same_dims():
    p, q = Dim("p"), Dim("q", lengths=[1, 2])
    expected = 2 * (p + q) * q
    wrong = []

    def build(number):
        for i in range(300):
            own = Dim("own", lengths=[i, number])
            built = p * q + q * q + (p + q) * q
            if (
                built != expected
                or own + built - built != own
                or (own + q).lengths.tolist() != [i + 1, number + 2]
            ):
                wrong.append(number)
            if i % 50 == 0:
                fresh = Dim("fresh")
                fresh.declare_same_as(own + p)
                if fresh * q != (own + p) * q:
                    wrong.append(number)

    threads = [threading.Thread(target=build, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_children_of_a_fork_have_names_of_their_own():
    """Dims of a child that come back to its parent are no dims of the parent's own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def child():
        theirs.send((time + 1, [Dim("new") for _ in range(10)]))

    process = context.Process(target=child)
    process.start()
    mine = [Dim("new") for _ in range(10)]
    known_there, new_there = ours.recv()
    process.join()
    assert known_there == time + 1
    assert not any(a == b for a in mine for b in new_there)
    assert len({dim._id for dim in mine + new_there}) == 20
