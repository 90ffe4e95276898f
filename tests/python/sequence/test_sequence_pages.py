"""The examples of Paddle's pages on `sequence_expand` and on recurrent layers, with the import changed."""

import inspect

import numpy as np
import pytest
import varlen as vl
from nested import deeper, levels_above, raised
from varlen import lod as nn
from varlen import sequence as base
from varlen.lod import LoDTensor, create_lod_tensor

CPU = None  # the place, which is not looked at


def test_case_1_of_sequence_expand():
    x = create_lod_tensor(np.array([["a"], ["b"], ["c"], ["d"]]), [[2, 2]], CPU)
    y = create_lod_tensor(np.zeros((8, 1)), [[2, 2], [3, 3, 1, 1]], CPU)
    out = nn.sequence_expand(x, y, ref_level=0)
    assert out.recursive_sequence_lengths() == [[2, 2, 2, 2]]
    assert out.values.tolist() == [["a"], ["b"], ["a"], ["b"], ["c"], ["d"], ["c"], ["d"]]
    assert out.values.shape == (8, 1)


def test_case_2_of_sequence_expand():
    x = np.array([["a"], ["b"], ["c"]])
    y = create_lod_tensor(np.zeros((5, 1)), [[2, 0, 3]], CPU)
    out = nn.sequence_expand(x, y, ref_level=-1)
    assert out.tolist() == [["a"], ["a"], ["c"], ["c"], ["c"]]
    assert out.shape == (5, 1)
    assert nn.sequence_expand_as(x, y).recursive_sequence_lengths() == [[2, 0, 3]]
    # Two levels deeper the sequences of one row each stay in those that they came from.
    rows = deeper(vl.Ragged(x, [1, 1, 1]))
    below = nn.sequence_expand(rows, deeper(y), ref_level=-1)
    assert below.values.tolist() == out.tolist()
    assert [level.lengths.tolist() for level in below.levels] == [[1, 0, 3], [2, 0, 0, 3], [1] * 5]


@pytest.mark.parametrize("tensors", [False, True])
def test_the_program_of_sequence_expand(tensors):
    np_data = np.array([[1], [2], [3], [4]]).astype("float32")
    if tensors:
        np_data = pytest.importorskip("torch").from_numpy(np_data)
    x_lod_tensor = create_lod_tensor(np_data, [[2, 2]], CPU)
    assert x_lod_tensor.lod() == [[0, 2, 4]]
    assert x_lod_tensor.values.tolist() == [[1], [2], [3], [4]]

    np_data = np.array([[1], [2], [3], [4], [5], [6], [7], [8]]).astype("float32")
    y_lod_tensor = create_lod_tensor(np_data, [[2, 2], [3, 3, 1, 1]], CPU)
    assert y_lod_tensor.lod() == [[0, 2, 4], [0, 3, 6, 7, 8]]

    out = nn.sequence_expand(x=x_lod_tensor, y=y_lod_tensor, ref_level=0)
    assert out.lod() == [[0, 2, 4, 6, 8]]
    assert out.values.shape == (8, 1)
    assert out.values.dtype == x_lod_tensor.values.dtype
    assert out.values.ravel().tolist() == [1, 2, 1, 2, 3, 4, 3, 4]

    for ref_level in (2, -2):
        below = nn.sequence_expand(deeper(x_lod_tensor), deeper(y_lod_tensor), ref_level)
        assert below.lod()[2:] == out.lod()
        assert below.values.tolist() == out.values.tolist()
        assert below.levels[0] == levels_above(2)[0]
        assert below.levels[1].lengths.tolist() == [2 * n for n in levels_above(2)[1].lengths]


def test_the_format_of_the_page_on_recurrent_layers():
    # Three sentences of 2, 3 and 4 words are a batch of 9, with the offsets 0, 2, 5, 9.
    sentences = create_lod_tensor(np.arange(9.0)[:, None], [[2, 3, 4]], CPU)
    assert sentences.lod() == [[0, 2, 5, 9]]
    assert sentences.seq_pos().to_list() == [[0, 2, 5]]
    # Of two dims: the outer starts, then for each of them those inside; a vector fewer for each dim less.
    nested = sentences.add_level([2, 1])
    start_poses = nested.seq_pos().to_list()
    assert start_poses == [[0, 5], [0, 2], [0]]
    assert LoDTensor.from_seq_pos(nested.values, start_poses, dim=2).equals(nested)
    assert nested[0].seq_pos().to_list() == start_poses[1:2]
    assert LoDTensor.from_seq_pos(nested[0].values, start_poses[1:2], dim=1).equals(nested[0])
    # An op that knows of no sequences works on the rows, which keep theirs.
    fc = vl.Ragged(nested.values @ np.ones((1, 3)), levels=nested.levels)
    assert fc.levels == nested.levels
    assert fc.shape == (2, None, None, 3)


def recurrent(x, memory, level):
    """The page's layer by its own functions: a step adds what it is given to its memory."""
    sorted_seqs = base.sort_by_length(x, level)
    steps = base.segment_inputs(x, sorted_seqs)
    state = base.init_memories(memory, sorted_seqs)
    outputs = []
    for t, step in enumerate(steps):
        state = base.shrink(state, t, sorted_seqs) + step
        outputs.append(state)
    return sorted_seqs, steps, base.concat_outputs(outputs, sorted_seqs)


def test_the_layer_of_the_page_on_recurrent_layers():
    # Drawn there as rows of four, two and three marks.
    x = vl.Ragged(np.array([1, 2, 3, 4, 10, 20, 100, 200, 300]), [4, 2, 3])
    memory = np.array([1000, 2000, 3000])
    wanted = [[1001, 1003, 1006, 1010], [2010, 2030], [3100, 3300, 3600]]
    for r, level in ((x, 0), (deeper(x), 2)):
        sorted_seqs, steps, outputs = recurrent(r, memory, level)
        assert sorted_seqs.items == [(0, 4), (2, 3), (1, 2)]
        assert base.max_sequence_len(sorted_seqs) == len(steps) == 4
        assert [step.tolist() for step in steps] == [[1, 100, 10], [2, 200, 20], [3, 300], [4]]
        assert base.init_memories(memory, sorted_seqs).tolist() == [1000, 3000, 2000]
        assert outputs.levels == r.levels
        assert (outputs if r is x else raised(outputs)).to_list() == wanted
        result, _ = base.rnn(lambda step, h: h + step, r, memory, level=level)
        assert result.equals(outputs)


def test_the_layer_of_the_page_steps_over_sub_sequences():
    # Three paragraphs of 2, 1 and 3 sentences: a step is a sentence of each that still has one.
    x = vl.Ragged(np.arange(11), [[2, 1, 3], [2, 1, 3, 1, 0, 4]])
    for r, level in ((x, 0), (deeper(x), 2)):
        sorted_seqs = base.sort_by_length(r, level)
        steps = base.segment_inputs(r, sorted_seqs)
        assert [step.to_list() for step in steps] == [
            [[6], [0, 1], [3, 4, 5]],
            [[], [2]],
            [[7, 8, 9, 10]],
        ]
        outputs = [vl.Ragged(10 * step.values, levels=step.levels) for step in steps]
        result = base.concat_outputs(outputs, sorted_seqs)
        assert result.levels == r.levels
        assert result.values.tolist() == (10 * x.values).tolist()


@pytest.mark.parametrize(
    "signature",
    [
        "sequence_concat(input, name=None)",
        "sequence_enumerate(input, win_size, pad_value=0, name=None)",
        "sequence_expand(x, y, ref_level=-1, name=None)",
        "sequence_expand_as(x, y, name=None)",
        "sequence_first_step(input)",
        "sequence_last_step(input)",
        "sequence_mask(x, maxlen=None, dtype='int64', name=None)",
        "sequence_pad(x, pad_value, maxlen=None, name=None)",
        "sequence_pool(input, pool_type, is_test=False, pad_value=0.0)",
        "sequence_reshape(input, new_dim)",
        "sequence_reverse(x, name=None)",
        "sequence_scatter(input, index, updates, name=None)",
        "sequence_slice(input, offset, length, name=None)",
        "sequence_softmax(input, use_cudnn=False, name=None)",
        "sequence_unpad(x, length, name=None)",
        "im2sequence(input, filter_size=1, stride=1, padding=0, input_image_size=None, out_stride=1, "
        "name=None)",
        "lod_append(x, level)",
        "lod_reset(x, y=None, target_lod=None)",
    ],
)
def test_arguments_come_as_they_do_there(signature):
    name = signature.partition("(")[0]
    every = inspect.signature(getattr(vl, name)).parameters.values()
    known = [each.replace(annotation=each.empty) for each in every if each.kind is not each.KEYWORD_ONLY]
    assert f"{name}({', '.join(map(str, known))})" == signature
