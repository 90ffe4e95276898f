"""What Ragged stands on in the core: rows and slices at once, kinds, missing parts, cycles."""

import gc
import weakref

import numpy as np
import pytest
import varlen as vl
from varlen import _core


class Own(vl.Ragged):
    """With a dict of its own, and no slots."""


def test_what_is_picked_is_of_the_same_kind():
    r = Own(np.arange(6), [[2, 1], [2, 0, 4]])
    r.note = "kept"
    assert [type(x) for x in (r[0], r[1:], r[[0]], r.cumsum(), r[0][:1])] == [Own] * 5
    assert not hasattr(r[1:], "note")
    assert type(r[0][0]) is np.ndarray


def test_an_index_beyond_64_bits_is_out_of_range():
    with pytest.raises(IndexError, match="index 18446744073709551616 is out of range"):
        vl.Ragged([1], [1])[2**64]


def test_ints_of_other_kinds_go_through_python():
    r = vl.Ragged([3, 1, 4], [2, 1])
    assert r[np.int16(-1)].tolist() == r[np.array(1)].tolist() == [4]
    assert [x.tolist() for x in reversed(r)] == [[4], [3, 1]]


def test_an_object_without_its_parts_says_so():
    empty = object.__new__(vl.Ragged)
    for use in (lambda: empty[0], lambda: empty[:], lambda: len(empty), lambda: empty.values):
        with pytest.raises(AttributeError, match=r"_values|_levels"):
            use()
    with pytest.raises(TypeError, match="expected values and levels"):
        vl.Ragged._make(1)


def test_values_that_changed_their_length_are_refused():
    r = vl.Ragged(np.arange(3), [2, 1])
    r._values = np.arange(2)
    for use in (lambda: r[0], lambda: r[1:]):
        with pytest.raises(ValueError, match="level 0 covers 3 rows, but there are 2"):
            use()


def test_cycles_are_collected_and_types_kept_alive():
    r = Own(np.arange(3), [2, 1])
    r.self = r
    gone = weakref.ref(r)
    del r
    gc.collect()
    assert gone() is None
    assert issubclass(vl.Ragged, _core.RaggedBase)
    kind = type("Short", (vl.Ragged,), {})
    part = kind([1, 2], [1, 1])[1:]
    del kind
    gc.collect()
    assert type(part).__name__ == "Short"
    assert part.to_list() == [[2]]
