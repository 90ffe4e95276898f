"""What the page on RETURNN's Data and Dim says, statement by statement."""

import numpy as np
import pytest
import varlen as vl
from varlen import dims
from varlen.dims import FeatureDim, SpatialDim, batch_dim
from varlen.returnn import TensorDict

TIME = SpatialDim("time", [3, 0, 2])
SOURCE = SpatialDim("encoder", [2, 2, 1])
FEATURE = FeatureDim("feature", 4)


@pytest.fixture
def x():
    return vl.Data(np.arange(20.0).reshape(5, 4), [batch_dim, TIME, FEATURE], name="x")


@pytest.fixture
def energy():
    return vl.Data(np.arange(8.0), [batch_dim, TIME, SOURCE])


def test_data_has_a_dim_for_each_axis(x):
    assert x.dims == (batch_dim, TIME, FEATURE)
    assert repr(x) == "Data('x', [batch(3), time(0 to 3), feature(4)], float64)"


def test_axes_are_objects_and_no_strings():
    assert vl.Dim("time") != vl.Dim("time")


def test_batch_time_and_feature_axes_are_known(x):
    assert (x.batch_dim, x.time_dim, x.feature_dim) == (batch_dim, TIME, FEATURE)


def test_shape_itself_is_known(x):
    assert x.ndim == 3
    assert x.to_padded().shape == (3, 3, 4)


def test_lengths_are_one_for_each_sequence(x):
    assert x.lengths("T").tolist() == [3, 0, 2]


def test_several_axes_may_have_lengths(energy):
    assert energy.lengths(TIME).tolist() == [3, 0, 2]
    assert energy.lengths(SOURCE).tolist() == [2, 2, 1]
    assert [len(row) for row in energy.to_list()] == [3, 0, 2]


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_dtype_is_known(dtype):
    assert vl.Data(np.zeros(2, dtype), [vl.Dim("two", 2)]).dtype == dtype


def test_strings_are_bytes_with_one_more_dim():
    words = [[b"the", b"cat"], [b"a"]]
    rows = [[list(word) for word in row] for row in words]
    text = vl.Data.from_list(rows, [batch_dim, vl.Dim("words"), vl.Dim("bytes")], dtype="uint8")
    assert [[bytes(word) for word in row] for row in text.to_list()] == words


def test_classes_are_integers_with_their_number_and_vocabulary():
    letters = FeatureDim("letters", vocab=["a", "b", "c"])
    labels = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=letters)
    assert labels.sparse
    assert labels.sparse_dim.size == 3
    assert labels.vocab.labels == ("a", "b", "c")
    with pytest.raises(TypeError, match="positions of a sparse_dim are integers"):
        vl.Data(np.array([2.0, 0.0]), [vl.Dim("two", 2)], sparse_dim=letters)


def test_beam_has_scores_and_sources_to_trace_back():
    beam, words = vl.Dim(2, name="beam"), vl.Dim(3, name="words")
    start = vl.Dim(1, name="start")
    first = dims.Beam(start, dims.zeros([batch_dim.bind(1), start]))
    scores = vl.Data(np.log([[[0.2, 0.3, 0.5]]]), [batch_dim.bind(1), start, words])
    hypotheses, word = first.grow(scores, words, beam)
    assert word.to_list() == [[2, 1]]
    assert word.sparse_dim == words
    assert hypotheses.backtrace([word]).to_list() == [[[2], [1]]]


def test_data_says_whether_it_is_there_for_inference(x):
    labels = x.copy(available_for_inference=False)
    assert x.available_for_inference
    assert not labels.available_for_inference
    assert list(dims.DataDict({"x": x, "labels": labels}).for_inference()) == ["x"]


def test_order_of_axes_does_not_matter(x):
    moved = x.transpose([FEATURE, batch_dim, TIME])
    weight = vl.Data(np.arange(8.0).reshape(4, 2), [FEATURE, FeatureDim("out", 2)])
    one, other = dims.dot(x, weight, FEATURE), dims.dot(moved, weight, FEATURE)
    assert one.transpose(["B", "T", "F"]).to_list() == other.transpose(["B", "T", "F"]).to_list()
    assert (x + moved).transpose(x.dims).to_list() == (x + x).to_list()


def test_axes_may_change_their_order_for_free(x):
    time_major = x.time_major()
    assert time_major.dims == (TIME, batch_dim, FEATURE)
    assert time_major.values is x.values


def test_dim_has_a_size_or_none(x):
    assert FEATURE.size == 4
    assert TIME.size is None


def test_lengths_may_have_any_shape():
    assert vl.Dim("steps", lengths=3).lengths == 3
    over = vl.Dim("words").bind([2, 1, 3, 1, 4], [batch_dim.bind(3), TIME])
    assert over.over == (batch_dim, TIME)
    beam = vl.Dim("beam", 2)
    both = vl.Dim("said").bind(np.array([[1, 2], [3, 0], [1, 1]]), [batch_dim.bind(3), beam])
    assert both.lengths.shape == (3, 2)


def test_dim_has_a_vocabulary_and_a_kind():
    letters = FeatureDim("letters", vocab=["a", "b"])
    assert letters.vocab["b"] == 1
    assert (batch_dim.kind, TIME.kind, FEATURE.kind) == ("batch", "spatial", "feature")


def test_out_dim_may_be_given(x):
    both = SpatialDim("both")
    joined = dims.concat((x, TIME), (x, TIME), out_dim=both)
    assert joined.dims == (batch_dim, both, FEATURE)
    assert joined.lengths(both).tolist() == [6, 0, 4]


def test_sums_and_products_do_not_commute():
    a, b = SpatialDim("a"), SpatialDim("b")
    assert a + b != b + a
    assert a * b != b * a


def test_identities_of_the_algebra_hold():
    a, b, c = SpatialDim("a"), SpatialDim("b"), SpatialDim("c")
    assert 2 * a == a + a
    assert 2 * a != a * 2
    assert (a + b) * c == a * c + b * c
    assert a * b // b == a


def test_all_dims_of_the_batch_are_equal():
    assert vl.Dim(name="rows", kind="batch") == batch_dim


def test_extern_data_of_a_config_is_what_batches_are_made_by():
    input_seq_dim = SpatialDim("input-seq-len")
    input_feat_dim = FeatureDim("input-feature", 40)
    target_seq_dim = SpatialDim("target-seq-len")
    target_classes_dim = FeatureDim("target-classes", 1000)
    extern_data = {
        "data": {"dim_tags": [batch_dim, input_seq_dim, input_feat_dim]},
        "classes": {"dim_tags": [batch_dim, target_seq_dim], "sparse_dim": target_classes_dim},
    }
    batch = TensorDict(extern_data).collate(
        [{"data": np.zeros((n, 40)), "classes": np.arange(m)} for n, m in ((3, 2), (5, 1))]
    )
    assert batch["data"].lengths(input_seq_dim).tolist() == [3, 5]
    assert batch["classes"].lengths(target_seq_dim).tolist() == [2, 1]
    assert batch["classes"].sparse_dim == target_classes_dim


def test_axes_are_told_by_dims_or_words(x):
    assert x.sum(TIME).to_list() == x.sum("T").to_list() == x.sum("stag:time").to_list()
    assert x.sum("F").dims == (batch_dim, TIME)


def test_shape_of_a_result_is_verified(x):
    assert dims.reduce(x, "sum", TIME, out_shape={batch_dim, FEATURE}).ndim == 2
    with pytest.raises(dims.OutShapeError, match="'time' is missing"):
        dims.reduce(x, "sum", TIME, out_shape={batch_dim, TIME, FEATURE})


def test_softmax_goes_over_the_default_time_or_a_dim_that_is_named(x, energy):
    assert dims.softmax(x).sum("T").values.tolist() == [[1.0] * 4, [0.0] * 4, [1.0] * 4]
    weights = dims.softmax(energy, "stag:encoder")
    np.testing.assert_allclose(weights.sum(SOURCE).values, 1.0)


def test_reduce_takes_a_mode_and_an_axis(energy):
    assert dims.reduce(energy, "max", "stag:encoder").to_list() == [[1, 3, 5], [], [6, 7]]


def test_dot_goes_over_any_dims(x, energy):
    torch = pytest.importorskip("torch")
    keys = vl.Data(torch.ones(5, 4, dtype=torch.float64), [batch_dim, SOURCE, FEATURE])
    scores = dims.dot(x.torch(), keys, FEATURE)
    assert scores.dims_set == {batch_dim, TIME, SOURCE}
    assert dims.dot(dims.softmax(scores, SOURCE), keys, SOURCE).dims_set == {batch_dim, TIME, FEATURE}
    assert dims.dot(x, energy, [batch_dim, TIME]).dims_set == {FEATURE, SOURCE}


def test_matching_by_parts_of_names_is_refused_where_it_is_ambiguous(energy):
    with pytest.raises(dims.AmbiguousAxisError, match="'time' or 'encoder'"):
        energy.axis("stag:e")


def test_default_axes_are_refused_where_they_are_ambiguous(energy):
    with pytest.raises(dims.AmbiguousAxisError, match="'T' may be 'time' or 'encoder'"):
        dims.softmax(energy)
    assert dims.softmax(energy.copy(time_dim=SOURCE)).dims == energy.dims


def test_order_of_merged_dims_is_that_which_is_asked_for():
    two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    x = vl.Data(np.arange(6).reshape(2, 3), [two, three])
    for data in (x, x.transpose([three, two])):
        assert dims.merge_dims(data, [two, three]).to_list() == [0, 1, 2, 3, 4, 5]
        assert dims.merge_dims(data, [three, two]).to_list() == [0, 3, 1, 4, 2, 5]


def test_dims_of_results_are_the_same_wherever_they_are_made(x):
    longer = dims.pad(x, TIME, 1, 1)
    assert longer.dims[1] == 1 + TIME + 1
    assert dims.slice(longer, longer.dims[1], 1, -1).dims == x.dims


def test_axes_of_fixed_size_have_dims_too():
    other = FeatureDim("other", 4)
    one, two = (vl.Data(np.zeros(4), [dim]) for dim in (FEATURE, other))
    with pytest.raises(ValueError, match="broadcast"):
        one + two
