"""The examples of upstream's READMEs, of the newest and of the first generation, with the import changed."""

import doctest
import importlib.metadata
import re

import pytest


def test_examples_of_the_newest_readme(capsys):
    try:
        text = importlib.metadata.distribution("nested_ragged_tensors").read_text("METADATA")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("nested_ragged_tensors is not installed")
    text = text.replace("nested_ragged_tensors.ragged_numpy", "varlen.joint").replace("\n```\n", "\n\n```\n")
    test = doctest.DocTestParser().get_doctest(text, {}, "README", "README", 0)
    # J["T"] is a view of the key here.
    test.examples = [example for example in test.examples if example.source.strip() != 'J["T"]']
    assert len(test.examples) >= 10
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(test, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out


@pytest.fixture
def names():
    names = {}
    exec("from varlen.joint import *", names)
    return names


SCHEMA = {"T": int, "id": int, "val": float}


def test_first_readme_rows_of_a_joint_dict(names):
    np, Joint = names["np"], names["JointNestedRaggedTensorDict"]
    J = Joint(
        {
            "T": [[1, 2, 3], [4, 5], [6, 7]],
            "id": [[[1, 2, 3], [3, 4], [1, 2]], [[3], [3, 2, 2]], [[], [8, 9]]],
            "val": [[[1, 0.2, 0], [3.1, 0], [1, 2.2]], [[3], [3.3, 2, 0]], [[], [1.0, 0]]],
        },
        schema=SCHEMA,
    )
    assert len(J) == 3
    dense = J[1].to_dense()
    assert dense.keys() == {"T", "id", "val", "dim1/mask"}
    assert repr(dense["T"]) == "array([4, 5])"
    assert repr(dense["id"]) == "array([[3, 0, 0],\n       [3, 2, 2]])"
    assert repr(dense["val"]) == "array([[3. , 0. , 0. ],\n       [3.3, 2. , 0. ]])"
    assert repr(dense["dim1/mask"]) == "array([[ True, False, False],\n       [ True,  True,  True]])"
    dense = J[2].to_dense()
    assert repr(dense["id"]) == "array([[0, 0],\n       [8, 9]])"
    assert repr(dense["val"]) == "array([[0., 0.],\n       [1., 0.]])"
    dense = J[np.array([0, 2])].to_dense()
    assert dense["T"].tolist() == [[1, 2, 3], [6, 7, 0]]
    assert dense["id"].tolist() == [[[1, 2, 3], [3, 4, 0], [1, 2, 0]], [[0, 0, 0], [8, 9, 0], [0, 0, 0]]]
    assert dense["val"][1].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_first_readme_save_and_load(names):
    import tempfile

    Joint, Path = names["JointNestedRaggedTensorDict"], names["Path"]
    J = Joint({"T": [[1, 2, 3], [4, 5]], "id": [[[1, 2], [3], [4]], [[5], []]]}, schema=SCHEMA)
    with tempfile.TemporaryDirectory() as folder:
        fp = Path(folder) / "tensors.pt"
        J.save(fp)
        J2 = Joint.load(fp)
    # The folder is gone: what was loaded is not.
    assert J.keys() == J2.keys()
    for key, tensor in J.tensors.items():
        if key.endswith(("/lengths", "/bounds")):
            assert (tensor == J2.tensors[key]).all()
        else:
            assert len(tensor) == len(J2.tensors[key])
            for v1, v2 in zip(tensor, J2.tensors[key], strict=True):
                assert (v1 == v2).all()


def test_first_readme_unsqueeze_and_stack(names):
    np, Joint = names["np"], names["JointNestedRaggedTensorDict"]
    J = Joint(
        {
            "T": [1, 2],
            "id": [[[1, 2, 3], [3, 4], [1, 2]], [[3], [3, 2, 2]]],
            "val": [[[1.0, 0.2, 0.0], [3.1, 0.0], [1.0, 2.2]], [[3], [3.3, 2, 0]]],
        },
        schema=SCHEMA,
    )
    dense = J.unsqueeze(dim=0).to_dense()
    assert repr(dense["T"]) == "array([[1, 2]])"
    assert dense["id"].tolist() == [[[[1, 2, 3], [3, 4, 0], [1, 2, 0]], [[3, 0, 0], [3, 2, 2], [0, 0, 0]]]]
    assert dense["val"].shape == (1, 2, 3, 3)
    stacked = Joint.vstack([J[0], J[1]])
    for key, array in J.to_dense().items():
        np.testing.assert_array_equal(stacked.to_dense()[key], array)


def test_first_readme_concatenate(names):
    Joint = names["JointNestedRaggedTensorDict"]
    J1 = Joint(
        {"T": [[1, 2, 3], [4, 5]], "id": [[[1, 2, 3], [3, 4], [1, 2]], [[3], [3, 2, 2]]]}, schema=SCHEMA
    )
    J2 = Joint({"T": [[6, 7, 8, 9]], "id": [[[3], [3, 2, 2], [1], [1]]]}, schema=SCHEMA)
    dense = Joint.concatenate([J1, J2]).to_dense()
    assert dense["T"].tolist() == [[1, 2, 3, 0], [4, 5, 0, 0], [6, 7, 8, 9]]
    assert dense["id"][2].tolist() == [[3, 0, 0], [3, 2, 2], [1, 0, 0], [1, 0, 0]]


def test_first_readme_data_model(names):
    Joint = names["JointNestedRaggedTensorDict"]
    J = Joint(
        {
            "tens_1": [0, 1, 2],
            "tens_2": [[1, 2], [3], [4, 5, 6]],
            "tens_3": [[[], [3, 0]], [[3, 4, 5]], [[], [], [2]]],
            "tens_4": [[[], [1, 2]], [[1, 8, 0]], [[], [], [1]]],
        }
    )
    assert J.tensors["dim1/bounds"].tolist() == [2, 3, 6]
    assert J.tensors["dim2/bounds"].tolist() == [0, 2, 5, 5, 5, 6]
    text = "Inconsistent lengths! tens_2 has 2 rows at dim 0, tens_1 has 3"
    with pytest.raises(ValueError, match=re.escape(text)):
        Joint({"tens_1": [0, 1, 2], "tens_2": [[1, 2], [4, 5, 6]]})
