"""Objects of the core: pickled, copied, and in which interpreters."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import varlen as vl
from varlen import _core

PROGRAM = """
import copy, pickle, tempfile, os
import numpy as np, varlen as vl
from varlen import _core

path = os.path.join(tempfile.mkdtemp(), "a.nrt")
J = vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]})
J.save(path)
mapped = _core.MappedFile(path)
core = _core.Joint(["x"], [1], [np.arange(3)], [_core.Level([2, 1])])
batcher = _core.Batcher([core], [""], None, None, ["x"], [1], [np.zeros(1, int)], [None], {})
objects = {
    "Bits": _core.Bits(np.concatenate(_core.encode_bits(np.arange(9))), 9, 8),
    "Header": mapped.header,
    "MappedFile": mapped,
    "FileReader": _core.FileReader(path, None, mapped.header.data_start),
    "Batcher": batcher,
    "StagedBatch": _core.StagedBatch(batcher, [1, 0]),
    "Dim": _core.Dim("time", lengths=[2, 1]),
    "Level": _core.Level([2, 1]),
    "Shape": _core.Shape([_core.Dim(2, name="two"), _core.Dim("time", lengths=3)]),
    "Joint": core,
    "RaggedBase": _core.RaggedBase._make(np.arange(3), (_core.Level([2, 1]),)),
}
known = {n for n, t in vars(_core).items() if isinstance(t, type)}
elsewhere = {"DeviceArray", "PinnedMemory"}  # which need kernels of devices: test_device, test_data_staging
assert known == {*objects, *elsewhere}, known
for name, value in objects.items():
    ways = [lambda v, p=p: pickle.loads(pickle.dumps(v, p)) for p in range(6)] + [copy.copy, copy.deepcopy]
    for k, way in enumerate(ways):
        try:
            again = way(value)
        except TypeError as error:
            assert name not in ("Dim", "Level", "Joint", "Shape"), (name, k, error)
            assert name == "RaggedBase" or f"cannot pickle '{name}' object" in str(error), error
        else:
            assert type(again) is type(value), (name, k)
print("done")
"""


def test_every_object_of_the_core_is_pickled_and_copied_or_a_type_error():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert run.stdout == "done\n", run.stdout + run.stderr[-2000:]


@pytest.mark.parametrize("protocol", range(6))
def test_a_level_is_the_same_after_any_protocol(protocol):
    level = vl.Level([3, 0, 2])
    assert pickle.loads(pickle.dumps(level, protocol)) == level
    assert copy.deepcopy(level) == level


CHAIN = """
import varlen as vl

first = last = vl.Level([1])
unit = vl.Level([1])
for _ in range(300_000):
    last = last.compose(unit)
del last
print(first.compose(unit).total)
del first
print("freed")
"""


def test_a_chain_of_composed_levels_longer_than_the_stack_is_freed():
    run = subprocess.run([sys.executable, "-c", CHAIN], capture_output=True, text=True, timeout=120)
    assert run.stdout == "1\nfreed\n", (run.returncode, run.stderr[-2000:])


def test_a_subinterpreter_gets_an_import_error():
    code = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
child = interpreters.create()
program = '''
import warnings
warnings.simplefilter("ignore")
try:
    import varlen
except ImportError as error:
    print("ImportError:", error, flush=True)
else:
    print("imported", flush=True)
'''
interpreters.run_string(child, program)
import varlen
assert len(varlen.Level([1])) == 1
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr[-2000:]
    assert "ImportError:" in run.stdout


def test_the_module_names_the_main_interpreter():
    assert _core.__name__ == "varlen._core"
    assert np.asarray(_core.Level([1]).offsets).tolist() == [0, 1]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["i2", "u2", "i4", "u4", "i8", "u8"])
def test_a_level_is_made_of_integers_of_either_byte_order(kind, order):
    dtype = np.dtype(order + kind)
    for step in (1, 2, -1):
        lengths = np.array([3, 0, 1, 258, 5, 0], dtype)[::step]
        ends = np.cumsum(lengths, dtype=np.int64)
        want = [0, *ends.tolist()]
        assert _core.Level(lengths).offsets.tolist() == want
        assert _core.Level.from_lengths(lengths).offsets.tolist() == want
        assert _core.Level.from_bounds(ends.astype(dtype)).offsets.tolist() == want
        assert _core.Level.from_offsets(np.array(want, dtype)).offsets.tolist() == want
        row_ids = np.repeat(np.arange(len(lengths)), lengths.astype(np.int64)).astype(dtype)
        assert _core.Level.from_row_ids(row_ids, len(lengths)).offsets.tolist() == want
