"""A list that contains itself is an error, wherever lists are read."""

from __future__ import annotations

import subprocess
import sys

import pytest

READERS = {
    "from_list": "vl.Ragged.from_list(a)",
    "from_lists": "_core.from_lists(a)",
    "from_lists_of_others": "_core.from_lists([a, object()])",
    "from_words": "_core.from_words(a, {})",
    "erase": "vl.sequence_erase(r, a)",
    "asarray": "vl.thinc.asarray(a)",
    "list2dense": "_core.list2dense(a)",
    "list2ragged": "_core.list2ragged([a])",
    "list2padded": "vl.ops.list2padded(a)",
    "pad": "vl.ops.pad(a)",
    "joint": "vl.JointNestedRaggedTensorDict({'x': a})",
    "collate": "vl.data.Collate()([{'x': a}])",
    "level": "vl.Level(a)",
    "index": "r[a]",
    "operand": "r + a",
    "sequence_pad": "vl.sequence_pad(r, a)",
    "fill": "r.to_dense(fill=a)",
    "reduce": "vl.ops.reduce_sum(a, [2])",
    "by": "r.shift(a)",
    "empty": "r.max(empty=a)",
    "batch": "vl.Dataset(vl.JointNestedRaggedTensorDict({'x': [[1], [2]]})).batch(a)",
}
PROGRAM = """
import faulthandler
import numpy as np, varlen as vl
from varlen import _core
r = vl.Ragged.from_list([[1, 2], [3]])
once, twice, deep, mixed = [], [], [], [[1.5]]
once.append(once)
twice += [twice, twice]
inner = [deep]
deep += [(inner,), (inner,)]
mixed += [mixed, mixed]
for name, read in {readers!r}.items():
    for a in (once, twice, deep, mixed):
        faulthandler.dump_traceback_later(20, exit=True)
        try:
            eval(read)
        except (ValueError, TypeError, IndexError) as error:
            assert not isinstance(error, RecursionError)
            continue
        raise SystemExit(name + ": no error")
faulthandler.cancel_dump_traceback_later()
chain = []
for _ in range(200_000):
    chain = [chain]
for read in (vl.Ragged.from_list, _core.from_lists, vl.thinc.asarray, lambda a: vl.sequence_erase(r, a)):
    try:
        read(chain)
    except (ValueError, TypeError):
        continue
    raise SystemExit("deep: no error")
while chain:  # Python's own way to drop it recurses
    chain = chain.pop()
print("done")
"""


def test_no_reader_of_lists_hangs_on_one_that_contains_itself():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(readers=READERS)], capture_output=True, text=True, timeout=300
    )
    assert run.stdout.endswith("done\n"), run.stdout[-500:] + run.stderr[-2000:]


@pytest.mark.parametrize("name", ["from_list", "asarray", "erase", "level", "list2padded"])
def test_the_error_says_that_the_list_contains_itself(name):
    import varlen as vl
    from varlen import _core

    a: list = []
    a += [a, a]
    r = vl.Ragged.from_list([[1, 2], [3]])
    with pytest.raises(ValueError, match="a list that contains itself"):
        eval(READERS[name], {"vl": vl, "_core": _core, "a": a, "r": r})


def test_lists_that_are_shared_but_hold_no_cycle_are_read():
    import varlen as vl

    row = [1, 2]
    assert vl.Ragged.from_list([row, row, [row[0]]]).to_list() == [[1, 2], [1, 2], [1]]
    assert vl.thinc.asarray([row, row]).tolist() == [row, row]
