"""Hashes of keys: the numbers of Thinc, which are those of MurmurHash."""

import numpy as np
import pytest
import varlen as vl
from doors import ODD, refuses
from hypothesis import given
from hypothesis import strategies as st
from oracles import scatter as plain
from oracles import verbs as oracle
from varlen import ops
from varlen.testing import strategies

KEYS = np.array([1, 2, 3, 2**64 - 1, 0], np.uint64)
# What Thinc's NumpyOps gives for them.
GRAMS = {
    1: [
        10357027354812746030,
        14362838344389764114,
        5173830478357570162,
        4219408603045787357,
        8217090173679840641,
    ],
    2: [2346165840139155392, 16863871380863422640, 10844049991725708142, 13250651954294221093],
    3: [3968991871514447549, 10465004727236788384, 2793499992347334612],
    5: [16631216038738421395],
    6: [],
}
HASHES = {
    0: [
        [4211459146, 4457399, 3547175942, 1032506804],
        [1819721896, 3725074592, 1401649061, 3845513878],
        [2991098636, 1530746937, 3052067929, 2674590204],
        [448458099, 2699342458, 1800029871, 1763775177],
        [3428303819, 685728695, 3303603794, 4065689084],
    ],
    2**32 - 1: [
        [180552405, 499527447, 1281644803, 1570502297],
        [914764262, 610107693, 2777239627, 988946716],
        [3240959832, 1028167095, 3509598122, 740422385],
        [88181733, 672240216, 4087153151, 3796020537],
        [3379968066, 2350167928, 3358923416, 3283558021],
    ],
}


def test_hashes_are_those_of_thinc():
    for n, want in GRAMS.items():
        result = ops.ngrams(n, KEYS)
        assert result.tolist() == want
        assert result.dtype == np.uint64
    for seed, want in HASHES.items():
        result = ops.hash(KEYS, seed)
        assert result.tolist() == want
        assert result.dtype == np.uint32


keys = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=12)


@given(keys, st.integers(0, 2**32 - 1))
def test_hash_is_the_oracles(ids, seed):
    result = ops.hash(np.array(ids, np.uint64), seed)
    assert result.shape == (len(ids), 4)
    assert result.tolist() == [plain.murmur128(key, seed) for key in ids]


@given(st.data(), strategies.lengths(), st.integers(1, 9))
def test_ngrams_stay_in_their_sequence(data, lengths, n):
    drawn = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=sum(lengths), max_size=sum(lengths)))
    array = np.array(drawn, np.uint64)
    want = [
        [plain.murmur64(row[t : t + n]) for t in range(len(row) - n + 1)]
        for row in oracle.nest(drawn, [lengths])
    ]
    assert ops.ngrams(n, array, lengths=lengths).to_list() == want
    ragged = ops.ngrams(n, vl.Ragged(array, [[len(lengths)], lengths]))
    assert ragged.to_list() == [want]
    assert ops.ngrams(n, array).tolist() == [
        plain.murmur64(drawn[t : t + n]) for t in range(len(drawn) - n + 1)
    ]


def test_ids_of_any_dtype_are_their_numbers():
    for kind in ("int8", "uint8", "int32", "int64", ">i8", ">u8", "uint16"):
        assert ops.hash(np.array([1, 2, 3], kind), 0).tolist() == HASHES[0][:3]
        assert ops.ngrams(2, np.array([1, 2, 3], kind)).tolist() == GRAMS[2][:2]
    for result in ODD.values():
        assert ops.hash(result([1, 2, 3]), 0).tolist() == HASHES[0][:3]
    assert ops.hash(np.array([], np.uint64), 0).shape == (0, 4)
    assert ops.ngrams(1, np.array([], np.uint64)).tolist() == []


def test_hashes_are_the_same_for_any_threads():
    ids = np.random.default_rng(0).integers(0, 2**63, 300_000, dtype=np.uint64)
    lengths = [0, 100_000, 1, 199_999]
    before, found = vl.num_threads(), []
    try:
        for threads in (1, 3):
            vl.set_num_threads(threads)
            found.append(ops.hash(ids, 7).tobytes() + ops.ngrams(3, ids, lengths=lengths).values.tobytes())
    finally:
        vl.set_num_threads(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("door", [lambda x: ops.hash(x, 0), lambda x: ops.ngrams(1, x)])
@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (np.array([0.5]), TypeError, "expected integers, got dtype float64"),
        (np.array([True]), TypeError, "expected integers, got dtype bool"),
        (np.array([[1]]), ValueError, "expected one dimension, got 2"),
        (np.array([3, -1]), ValueError, "-1|element 1|position 1"),
    ],
)
def test_bad_keys_are_refused(door, given, error, text):
    refuses(door, given, error, f"(ids|keys).*({text})")


def test_bad_numbers_are_refused():
    for n, error in ((0, ValueError), (-1, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="n: "):
            ops.ngrams(n, KEYS)
    for seed, error in ((-1, ValueError), (2**32, OverflowError), ("1", TypeError)):
        with pytest.raises(error, match="seed: "):
            ops.hash(KEYS, seed)
    with pytest.raises(ValueError, match="lengths: add up to 4"):
        ops.ngrams(1, KEYS, lengths=[4])


def test_hashes_of_tensors_are_tensors():
    torch = pytest.importorskip("torch")
    ids = np.array([3, 1, 2**62], np.int64)
    for tensor in (torch.tensor(ids), torch.tensor(ids[:2]).int()):
        whole = tensor.numpy()
        assert torch.equal(ops.hash(tensor, 7), torch.from_numpy(ops.hash(whole, 7)))
        assert torch.equal(ops.ngrams(2, tensor), torch.from_numpy(ops.ngrams(2, whole)))
        r = ops.ngrams(1, vl.Ragged(tensor, [len(tensor)]))
        assert torch.equal(r.values, torch.from_numpy(ops.ngrams(1, whole)))
    with pytest.raises(ValueError, match=r"ids: .*-1"):
        ops.hash(torch.tensor([-1]), 0)
