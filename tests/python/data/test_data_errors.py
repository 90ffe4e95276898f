"""Bad input that workers and other processes meet: errors come back as the records that they are."""

from __future__ import annotations

import copy
import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import building
import numpy as np
import pytest
import varlen as vl
from varlen.data import Collate, IterableDataset

torch = pytest.importorskip("torch")
from torch.utils.data import DataLoader  # noqa: E402

DS = vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]], "y": [[0.5, 1.0], [2.0]]}))


class Samples(torch.utils.data.Dataset):
    """Samples of a list, of which a loader makes one batch."""

    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


def of_samples(samples, **options):
    return lambda: (Samples(samples), {"batch_size": len(samples), "collate_fn": Collate(**options)})


def of_rows(rows, **options):
    return lambda: (DS, {"batch_sampler": [rows], "collate_fn": DS.collator(**options)})


def of_batches(batches, **options):
    return lambda: (IterableDataset(DS, batches=batches, **options), {"batch_size": None})


def of_indices(indices):
    return lambda: (DS, {"sampler": indices, "batch_size": None})


# What a loader is made of, the class of the error, and what it says of itself.
BAD = {
    "nested deeper": (of_samples([{"x": [1, 2]}, {"x": [[1]]}]), ValueError, "samples[1]['x']"),
    "nested deeper in a tuple": (of_samples([([1],), ([[1]],)]), ValueError, "samples"),
    "a key less": (of_samples([{"x": [1], "y": 2}, {"x": [1]}]), (ValueError, KeyError), "samples"),
    "a key more": (of_samples([{"x": [1]}, {"x": [1], "y": 2}]), (ValueError, KeyError), "samples"),
    "a tuple longer": (of_samples([([1], 2), ([1],)]), ValueError, "samples"),
    "another kind": (of_samples([{"x": [1]}, [1]]), (ValueError, TypeError), "samples"),
    "words beside numbers": (of_samples([{"x": [1]}, {"x": ["a"]}]), (ValueError, TypeError), "samples"),
    "an object": (of_samples([{"x": [1]}, {"x": [object()]}]), (ValueError, TypeError), "samples"),
    "a null": (of_samples([{"x": [1]}, {"x": [None]}]), (ValueError, TypeError), "samples"),
    "another width": (of_samples([{"x": np.ones((2, 3))}, {"x": np.ones((2, 4))}]), ValueError, "samples"),
    "more axes": (of_samples([{"x": np.ones(2)}, {"x": np.ones((2, 4))}]), ValueError, "samples"),
    "a number too large": (of_samples([{"x": [1]}, {"x": [2**70]}]), (OverflowError, ValueError), "samples"),
    "a fill too large": (of_samples([{"x": np.int8([1])}], fill=300), ValueError, "samples"),
    "a fill of no key": (of_samples([{"x": [1]}], fill={"z": 1}), KeyError, "fill"),
    "a dtype of no key": (of_samples([{"x": [1]}], dtype={"z": "f4"}), KeyError, "dtype"),
    "a dtype that loses": (of_samples([{"x": [1.5]}], dtype="i4"), (ValueError, TypeError), ""),
    "keys of arrays": (of_samples([np.ones(2)], keys=["x"]), TypeError, "keys"),
    "a masked array": (of_samples([{"x": np.ma.masked_equal([1, 2], 2)}]), ValueError, "samples"),
    "a row beyond": (of_rows([0, 7]), IndexError, "rows"),
    "a row below": (of_rows([-3]), IndexError, "rows"),
    "a row of text": (of_rows(["x"]), (TypeError, ValueError, IndexError), "rows"),
    "a broken row": (of_rows([0.5]), (TypeError, ValueError, IndexError), "rows"),
    "rows of two axes": (of_rows([[0, 1]]), (TypeError, ValueError, IndexError), ""),
    "too many bytes of rows": (of_rows([0, 1], max_bytes=1), ValueError, ""),
    "an index beyond": (of_indices([0, 9]), IndexError, ""),
    "an index of text": (of_indices(["none"]), KeyError, ""),
    "a batch beyond": (of_batches([[0], [9]]), IndexError, "rows"),
    "a batch of text": (of_batches([["x"]]), (TypeError, ValueError, IndexError), "rows"),
    "too many bytes of batches": (of_batches([[0, 1]], max_bytes=1), ValueError, ""),
}


def error_of(make, **how):
    dataset, options = make()
    with pytest.raises(Exception) as raised:  # noqa: PT011  # each has its own
        list(DataLoader(dataset, **options, **how))
    return raised.value


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("name", BAD)
def test_errors_of_workers_of_a_loader_are_the_records_that_they_were(name):
    make, kind, argument = BAD[name]
    here, there = error_of(make), error_of(make, num_workers=1)
    assert isinstance(here, kind)
    assert isinstance(there, type(here))
    assert getattr(here, "argument", "").startswith(argument)
    assert vars(there) == vars(here)
    assert "reason" in vars(there)
    assert here.reason in str(there)


@pytest.mark.deep
@pytest.mark.usefixtures("short_waits")
def test_errors_of_spawned_workers_are_records_too():
    error = error_of(BAD["a row beyond"][0], num_workers=1, multiprocessing_context="spawn")
    assert isinstance(error, IndexError)
    assert error.argument == "rows"


def raise_for(number):
    if number == 0:
        vl.Level([1, -1])
    if number == 1:
        vl.ops.reduce_sum(np.ones(3), [1, 1])
    if number == 2:
        DS.batch([0, 5])
    if number == 3:
        vl.ops.reduce_sum(np.array([100, 100], np.int8), [2], dtype=np.int8, overflow="raise")


def test_errors_of_other_processes_are_records():
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        for number, kind in enumerate((ValueError, ValueError, IndexError, OverflowError)):
            with pytest.raises(kind) as here:
                raise_for(number)
            with pytest.raises(kind) as there:
                pool.submit(raise_for, number).result()
            assert vars(there.value)["reason"] == here.value.reason
            assert str(there.value) == str(here.value)
            for again in (copy.copy(here.value), pickle.loads(pickle.dumps(here.value))):
                assert vars(again) == vars(here.value)


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_a_build_name_the_partition_and_what_is_wrong_there(tmp_path, workers):
    paths = []
    for number in range(3):
        paths.append(tmp_path / f"{number}.txt")
        paths[-1].write_text(str(number))
    with pytest.raises(RuntimeError, match=r"^partition 2: ") as raised:
        vl.io.build(paths, building.words_of_two, tmp_path / "out", workers=workers)
    error = raised.value
    assert error.context.startswith("partition 2")
    assert "expected a list or an array, got str" in error.reason


LINES = {
    "true beside numbers": (['{"a": [2]}', '{"a": [true]}'], 2),
    "numbers beside true": (['{"a": true}', '{"a": false}', '{"a": 0}'], 3),
    "true among numbers": (['{"a": [1, true]}'], 1),
    "true beside floats": (['{"a": 0.5}', '{"a": true}'], 2),
    "words beside numbers": (['{"a": [1]}', '{"a": ["x"]}'], 2),
    "nested deeper": (['{"a": [1]}', '{"a": [[1]]}'], 2),
    "no object": (['{"a": [1]}', "3"], 2),
    "a null": (['{"a": [1]}', '{"a": null}'], 2),
}


@pytest.mark.parametrize("name", LINES)
def test_errors_of_a_conversion_name_file_line_and_column(name, tmp_path, capsys):
    from varlen.cli import main

    lines, line = LINES[name]
    (tmp_path / "a.jsonl").write_text("\n".join(lines) + "\n")
    assert main(["convert", str(tmp_path / "a.jsonl"), str(tmp_path / "a.nrt")]) != 0
    said = capsys.readouterr().err
    assert f"a.jsonl, line {line}: " in said
    assert not (tmp_path / "a.nrt").exists()
    assert all(json.loads(text) is not None for text in lines)
