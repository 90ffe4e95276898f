"""A damaged file gives an error or values, the same mapped and read, and never anything else."""

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_io_file import content, entries
from varlen import io


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("damage") / "undamaged.nrt"
    io.save(path, entries(6, seed=3), row_ids="id")
    return path.read_bytes()


def everything(path, mmap):
    """What a reader may ask of a file; the text of the first error, or all that was read."""
    try:
        source = io.open_shards(path, mmap=mmap)
        out = [len(source), source.names, source.row_ids, source.depth]
        out += [content(source.read(row)) for row in range(min(len(source), 8))]
        out.append(content(source.read_many(np.arange(len(source))[::-1], 0, 2)))
        source.validate()
        out.append([content(joint) for joint in source.joints])
        source.prefetch(np.arange(len(source)))
    except ValueError as error:
        return "refused", type(error).__name__
    return "read", repr(out)


# Where bounds lie single bytes matter most: a high one makes a number negative or huge, a low one decreasing.
flips = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), min_size=1, max_size=3)


@settings(max_examples=400, deadline=None)
@given(flips=flips, in_data=st.booleans())
@example(flips=[(0.0, 128)], in_data=True)
def test_flipped_bytes_are_refused_or_read_alike(undamaged, tmp_path_factory, flips, in_data):
    raw = bytearray(undamaged)
    start = 8 + int.from_bytes(raw[:8], "little") if in_data else 0
    for where, bits in flips:
        raw[start + int(where * (len(raw) - start))] ^= bits
    path = tmp_path_factory.mktemp("d") / "a.nrt"
    path.write_bytes(raw)
    mapped, read = everything(path, True), everything(path, False)
    if mapped[0] == "read":
        assert read == mapped
    else:
        assert read[0] == "refused"


@settings(max_examples=200, deadline=None)
@given(
    outer=st.lists(st.integers(-3, 9), max_size=4),
    inner=st.lists(st.integers(-3, 9) | st.sampled_from([2**63 - 1, -(2**63), 2**32]), max_size=6),
    total=st.integers(0, 6),
)
def test_any_bounds_are_refused_or_nest(tmp_path_factory, outer, inner, total):
    path = tmp_path_factory.mktemp("b") / "a.nrt"
    tensors = {
        "dim1/bounds": np.array(outer, np.int64),
        "dim2/bounds": np.array(inner, np.int64),
        "dim2/x": np.arange(total),
    }
    safetensors.numpy.save_file(tensors, path)
    edges = [0, *outer]
    nests = len(outer) == 0 or (outer == sorted(outer) and outer[0] >= 0)
    nests = nests and (inner == sorted(inner) and (not inner or inner[0] >= 0))
    nests = nests and edges[-1] == len(inner) and (inner[-1] if inner else 0) == total
    for mmap in (True, False):
        assert everything(path, mmap)[0] == ("read" if nests else "refused")


def test_an_undamaged_file_is_read(undamaged, tmp_path):
    path = tmp_path / "a.nrt"
    path.write_bytes(undamaged)
    assert everything(path, True) == everything(path, False)
    assert everything(path, True)[0] == "read"
