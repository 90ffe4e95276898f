"""What ops on sequences are given is read however it comes, or refused by name and number."""

import numpy as np
import pytest
import varlen as vl
from varlen import Level, sequence

R = vl.Ragged([1, 2, 3], [2, 1])
MASKED = np.ma.array([1, 1], mask=[True, False])
BLOCK = np.arange(8.0).reshape(2, 2, 2)
HUGE = 2**61


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("offset", lambda: vl.sequence_slice(R, MASKED, 1)),
        ("length", lambda: vl.sequence_slice(R, 0, MASKED)),
        ("length", lambda: vl.sequence_unpad(BLOCK, MASKED)),
        ("length", lambda: vl.sequence_unpad(BLOCK, (MASKED, [1, 1]))),
        ("tokens", lambda: vl.sequence_erase(R, MASKED)),
        ("mask", lambda: sequence.split_lod_tensor(R, np.ma.array([True, False], mask=[True, False]))),
        ("mask", lambda: sequence.merge_lod_tensor(R[:1], R[1:], R, MASKED.astype(bool))),
        ("input_image_size", lambda: vl.im2sequence(np.ones((1, 1, 2, 2)), input_image_size=MASKED[None])),
        ("pad_value", lambda: vl.sequence_pad(R, np.ma.array(1, mask=True))),
        ("pad_value", lambda: vl.sequence_enumerate(R, 2, np.ma.array(1, mask=True))),
        ("x", lambda: vl.sequence_mask(MASKED)),
    ],
)
def test_masked_arrays_are_refused(argument, call):
    with pytest.raises(TypeError, match=f"^{argument}: expected an array without a mask"):
        call()


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        (np.array([0, 2**64 - 1], np.uint64), f"sequence 1 has {2**64 - 1}, which does not fit 63 bits"),
        (np.array([[0], [2**63]], np.uint64), f"sequence 1 has {2**63}, which does not fit 63 bits"),
        ([0, 2**64], f"sequence 1 has {2**64}, which does not fit 63 bits"),
        ([-1, 2**64 - 1], f"sequence 1 has {2**64 - 1}, which does not fit 63 bits"),
        ([-(2**63) - 1, 0], f"sequence 0 has -{2**63 + 1}, which does not fit 63 bits"),
        (2**64, f"{2**64}, which does not fit 63 bits"),
    ],
)
def test_numbers_beyond_63_bits_are_said_as_given(numbers, text):
    with pytest.raises(OverflowError, match=f"^offset: {text}"):
        vl.sequence_slice(R, numbers, 1)
    with pytest.raises(OverflowError, match=f"^length: {text}"):
        vl.sequence_unpad(np.ones((2, 2)), numbers)


def test_numbers_of_levels_beyond_63_bits_are_said_as_given():
    for length, text in (
        ([[0], [2**64]], "length: sequence 1 has 1844"),
        (([1, 2], [2**64, 1, 2]), r"length\[1\]: sequence 0 has 1844"),
    ):
        with pytest.raises(OverflowError, match=f"^{text}"):
            vl.sequence_unpad(BLOCK, length)


def test_numbers_that_are_no_integers_are_refused():
    for numbers in ([0, 0.5], [True, False], ["a", "b"], [None, 1]):
        with pytest.raises(TypeError, match=r"^offset: expected integers, got "):
            vl.sequence_slice(R, numbers, 1)
    with pytest.raises(ValueError, match=r"^offset: not a rectangle of numbers"):
        vl.sequence_slice(R, [[0], [0, 1]], 1)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"^offset: expected integers, got float32"):
        vl.sequence_slice(R, torch.ones(2).bfloat16(), 1)


@pytest.mark.parametrize(
    "length",
    [
        ([1, 2], [1, 2, 1]),
        [[1, 2], [1, 2, 1]],
        (vl.Ragged([1, 2], [2]), vl.Ragged([1, 2, 1], [3])),
        (np.array([[1], [2]]), np.array([[1], [2], [1]])),
        (vl.Ragged(np.array([[1], [2]]), [1, 1]), Level([1, 2, 1])),
        (Level([1, 2]), Level([1, 2, 1])),
    ],
)
def test_lengths_of_levels_are_read_however_they_come(length):
    result = vl.sequence_unpad(BLOCK, length)
    assert result.to_list() == [[[0]], [[4, 5], [6]]]
    back = sequence.backprop_sequence_unpad(result, BLOCK, length)
    assert back.tolist() == [[[0, 0], [0, 0]], [[4, 5], [6, 0]]]


def test_lengths_of_one_level_are_read_however_they_come():
    wanted = vl.sequence_unpad(BLOCK, [1, 2])
    for length in (
        Level([1, 2]), (Level([1, 2]),), [[1], [2]], ([1], [2]), [np.array([1]), np.array([2])], ([1, 2],)
    ):  # fmt: skip
        assert vl.sequence_unpad(BLOCK, length).equals(wanted)
    assert vl.sequence_unpad(BLOCK[:1], ([1], [2])).levels == (Level([1]), Level([2]))
    assert vl.sequence_unpad(BLOCK[:0], []).levels == (Level([]),)
    assert vl.sequence_unpad(BLOCK[:0], ([], [])).levels == (Level([]), Level([]))
    with pytest.raises(ValueError, match=r"^length: expected 2 numbers, one a sequence, got 3"):
        vl.sequence_unpad(BLOCK, Level([1, 1, 1]))
    with pytest.raises(ValueError, match=r"^length\[1\]: sequence 2 has -1, expected 0 or more"):
        vl.sequence_unpad(BLOCK, ([1, 2], [1, 2, -1]))
    with pytest.raises(TypeError, match=r"^length\[1\]: expected integers, got float64"):
        vl.sequence_unpad(BLOCK, ([1, 2], [1, 2, 0.5]))


def test_masks_are_made_of_floats_of_any_width():
    torch = pytest.importorskip("torch")
    for dtype in (torch.bfloat16, torch.float16, torch.float8_e5m2, torch.float64):
        result = vl.sequence_mask(torch.tensor([2.0, 0.5]).to(dtype))
        assert result.tolist() == [[1, 1], [1, 0]]
    with pytest.raises(ValueError, match=r"^x: the length at \(0,\) is nan"):
        vl.sequence_mask(torch.tensor([float("nan")]).bfloat16())


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("y", lambda: vl.sequence_expand(np.ones(1), Level([HUGE]))),
        ("y", lambda: vl.sequence_expand(np.ones((1, 8)), Level([HUGE // 16]))),
        ("y", lambda: vl.sequence_expand(vl.Ragged(np.ones(8), [8]), Level([HUGE]))),
        (
            "y",
            lambda: vl.sequence_expand(vl.Ragged(np.empty((2**41, 0), "u1"), [2**40] * 2), Level([2**22, 1])),
        ),
        ("y", lambda: sequence.backprop_sequence_expand([], vl.Ragged(np.ones(8), [8]), Level([HUGE]))),
        ("y", lambda: vl.sequence_expand_as([1.0], vl.Ragged(np.empty((HUGE, 0), np.uint8), [HUGE]))),
        ("maxlen", lambda: vl.sequence_mask([1, 2], HUGE)),
        ("x", lambda: vl.sequence_mask([HUGE])),
        ("maxlen", lambda: vl.sequence_pad(R, 0, HUGE)),
        ("win_size", lambda: vl.sequence_enumerate(R, HUGE)),
        ("win_size", lambda: vl.sequence_enumerate(vl.Ragged([1], [[1], [1]]), 2**44, level=0)),
    ],
)
def test_sizes_beyond_memory_are_said_of_what_was_given(argument, call):
    with pytest.raises((ValueError, OverflowError), match=f"^{argument}: ") as info:
        call()
    assert "max_len" not in str(info.value)


def test_errors_of_parts_name_the_argument():
    times = vl.Ragged(np.array([1], "M8[s]"), [1])
    with pytest.raises(TypeError, match=r"^input: no dtype holds int64 and datetime64"):
        vl.sequence_concat([vl.Ragged([1], [1]), times])
    with pytest.raises(TypeError, match=r"^parts: no dtype holds int64 and datetime64"):
        sequence.merge_lod([R, times])
    with pytest.raises(ValueError, match=r"^parts: expected at least one part, got none"):
        sequence.merge_lod([])
    with pytest.raises(ValueError, match=r"^parts: part 1 has rows of shape \(2,\)"):
        sequence.merge_lod([R, vl.Ragged(np.ones((1, 2)), [1])])
    with pytest.raises(ValueError, match=r"^input: part 1 has 1 sequences, the first has 2"):
        sequence.backprop_sequence_concat([1.0] * 4, [R, vl.Ragged([1], [1])])


def test_places_of_nothing_need_no_dtype():
    block = np.ones((2, 4))
    index = vl.Ragged([], [0, 0])
    assert np.array_equal(vl.sequence_scatter(block, index, np.zeros(0)), block)
    assert sequence.backprop_sequence_scatter(block, index)[1].lengths.tolist() == [0, 0]
    torch = pytest.importorskip("torch")
    result = vl.sequence_scatter(torch.tensor(block), index, torch.zeros(0, dtype=torch.float64))
    assert np.array_equal(result.numpy(), block)


def test_reshape_names_the_first_sequence_that_does_not_divide():
    with pytest.raises(ValueError, match=r"^new_dim: sequence 0 has 1 rows of 1, not rows of 3"):
        vl.sequence_reshape(vl.Ragged(np.zeros((5, 1)), [1, 3, 1]), 3)


@pytest.mark.parametrize("inner", [(), (1,), (2,), (0,)])
def test_windows_of_no_rows_have_gradients_of_none(inner):
    r = vl.Ragged(np.zeros((0, *inner)), [0, 0])
    back = sequence.backprop_sequence_enumerate(vl.sequence_enumerate(r, 2), r, 2)
    assert back.equals(r)
    r = vl.Ragged(np.zeros((2, 0)), [2])
    assert sequence.backprop_sequence_enumerate(vl.sequence_enumerate(r, 2), r, 2).equals(r)
