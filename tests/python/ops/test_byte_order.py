"""Arrays in the other byte order: every example of the documentation gives the same numbers of them."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import pkgutil
import types

import numpy as np
import pytest
import varlen as vl

PACKAGES = (
    "data",
    "dims",
    "joint",
    "lod",
    "ops",
    "returnn",
    "sequence",
    "tf",
    "thinc",
    "transforms",
    "types",
)
MAKERS = ("arange", "array", "asarray", "eye", "full", "linspace", "ones", "ones_like", "zeros", "zeros_like")


def swapped(x):
    """The same array in the other byte order."""
    is_number = isinstance(x, np.ndarray) and x.dtype.itemsize > 1 and x.dtype.kind in "iufcMm"
    return x.astype(x.dtype.newbyteorder("S")) if is_number else x


class OtherNumpy(types.ModuleType):
    """NumPy whose new arrays are in the other byte order."""

    def __getattr__(self, name):
        found = getattr(np, name)
        return (lambda *args, **kwargs: swapped(found(*args, **kwargs))) if name in MAKERS else found


def modules(package):
    found = importlib.import_module(f"varlen.{package}")
    return [found.__name__, *(m.name for m in pkgutil.walk_packages(found.__path__, f"{found.__name__}."))]


def examples_of(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # of a library that is not installed
        pytest.skip(str(error))
    return [
        test for test in doctest.DocTestFinder(exclude_empty=True).find(module, globs={}) if test.examples
    ]


def run(source, globs):
    """What an expression of an example gives; None of statements."""
    source = source.replace("import numpy as np\n", "\n")
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            code = compile(source.strip(), "example", "eval")
        except SyntaxError:
            exec(compile(source, "example", "exec"), globs)
            return None
        return eval(code, globs)


def numbers(result):
    """The arrays that a result is made of, in order."""
    if isinstance(result, (tuple, list)):
        return [x for each in result for x in numbers(each)]
    if isinstance(result, dict):
        return [x for each in result.values() for x in numbers(each)]
    if isinstance(result, (vl.Ragged, vl.Data)):
        return numbers(result.values)
    return [result] if isinstance(result, (np.ndarray, np.number, int, float)) else []


def compare(test):
    plain = {"np": np, "vl": vl, "__name__": "example"}
    other = {"np": OtherNumpy("numpy"), "vl": vl, "__name__": "example"}
    for example in test.examples:
        if example.exc_msg is not None or "+SKIP" in example.source:
            continue
        try:
            expected = numbers(run(example.source, plain))
        except (NameError, ImportError, RuntimeError):  # it needs a library or a device
            return
        found = numbers(run(example.source, other))
        assert len(found) == len(expected), example.source
        for x, y in zip(found, expected, strict=True):
            assert np.asarray(x).dtype.newbyteorder("=") == np.asarray(y).dtype, example.source
            if np.asarray(y).dtype.kind in "fc":  # NumPy adds some of these in another order
                np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5, err_msg=example.source)
            else:
                if np.asarray(x).dtype == object:
                    x, y = np.concatenate(list(x)), np.concatenate(list(y))
                np.testing.assert_array_equal(x, y, err_msg=example.source)


@pytest.mark.parametrize("name", [name for package in PACKAGES for name in modules(package)])
def test_arrays_in_the_other_byte_order_give_what_the_examples_give(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for test in examples_of(name):
        compare(test)


RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=shape).astype("f4") for shape in ((20,), (1, 1, 1), (1, 1, 1), (3, 2))]


def added(table, places, rows):
    table = table.copy()
    vl.ops.scatter_add(table, places, rows)
    return table


def scattered(block, index, updates):
    return vl.sequence_scatter(block, vl.Ragged(index, [2, 1]), updates)


# Verbs of several arrays, which need not have one byte order.
SEVERAL = {
    "insert_rows": (
        lambda x, at, rows: vl.ops.insert_rows(x, at, rows=rows),
        (np.arange(5.0), np.array([1, 3]), np.array([7.0, 8.0])),
    ),
    "scatter_add": (added, (np.ones((3, 1)), np.array([0, 2, 0]), np.array([[1.0], [5.0], [2.0]]))),
    "sequence_scatter": (scattered, (np.ones((2, 3)), np.array([0, 2, 1]), np.array([1.0, 5.0, 2.0]))),
    "lstm": (lambda *given: vl.ops.lstm_forward_inference(*given, [2, 1]), tuple(STATES)),
    "where": (
        lambda a, b: vl.where(vl.Ragged(np.array([True, False]), [2]), vl.Ragged(a, [2]), vl.Ragged(b, [2])),
        (np.array([1.0, 2.0]), np.array([3.0, 4.0])),
    ),
    "concat": (
        lambda a, b: vl.ops.concatenate([vl.Ragged(a, [2]), vl.Ragged(b, [2])]),
        (np.ones(2), np.zeros(2)),
    ),
    "einsum": (
        lambda a, b: vl.ops.einsum("btk,btm->bkm", a, b, lengths={"t": [2, 1]}),
        (np.ones((3, 2)), np.arange(6.0).reshape(3, 2)),
    ),
}


@pytest.mark.parametrize("verb", SEVERAL)
def test_arrays_of_one_call_may_differ_in_byte_order(verb):
    call, arrays = SEVERAL[verb]
    expected = numbers(call(*arrays))
    for each in range(len(arrays)):
        found = numbers(call(*[swapped(x) if k == each else x for k, x in enumerate(arrays)]))
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-6)


def test_a_table_in_the_other_byte_order_that_cannot_be_written_is_refused():
    table = swapped(np.ones(3))
    table.flags.writeable = False
    with pytest.raises(ValueError, match=r"^table: is read-only"):
        vl.ops.scatter_add(table, [0], np.ones(1))


@pytest.mark.parametrize("kind", ["f4", "i8", "M8[s]"])
def test_data_dicts_keep_numbers_of_the_other_byte_order(kind, tmp_path):
    values = np.array([1, 2, 3]).astype(kind)
    batch = vl.dims.DataDict({"x": vl.Data(swapped(values), [vl.Dim("b", 3)])})
    batch.save(tmp_path / "x.nrt")
    np.testing.assert_array_equal(vl.dims.DataDict.load(tmp_path / "x.nrt")["x"].values, values)
